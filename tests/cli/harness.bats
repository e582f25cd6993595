#!/usr/bin/env bats
# exec-harness, called as the runner calls it: its command line, its list of commands, its statuses.
# shellcheck disable=SC2016,SC2030,SC2031,SC2034,SC2154 # variables of simulation.bash and of bats

load helper
load ../fixtures/simulation

burn=$FIXTURES/burn-musl # starts quickly

setup() {
	need valgrind
	folder=$BATS_TEST_TMPDIR/profile
	mkdir "$folder"
	runner_env=(CODSPEED_ENV=runner CODSPEED_RUNNER_MODE=instrumentation
		CODSPEED_PROFILE_FOLDER="$folder")
	ln -s "$CODSPEED_BIN" "$BATS_TEST_TMPDIR/exec-harness"
	harness_bin=$BATS_TEST_TMPDIR/exec-harness
}

harness() {
	env "${runner_env[@]}" "$harness_bin" "$@"
}

# record FILTER: of the record that it left
record() {
	jq -r "$1" "$folder/simulation.json"
}

# refused STATUS TEXT WORD...: nothing is run, and one line says why; standard input is passed on
refused() {
	local expected=$1 text=$2

	shift 2
	run --separate-stderr -"$expected" harness "$@"
	[ -z "$output" ]
	[[ ${stderr_lines[0]} == "exec-harness: error: "*"$text"* ]] || {
		echo "$stderr" >&2
		return 1
	}
	[ ! -e "$folder/simulation.json" ]
}

# ---- Statuses ----

@test "status: the command's own" {
	for wanted in 0 1 7 125 255; do
		run --separate-stderr harness "$burn" 100 $wanted
		equal "$status" $wanted
	done
	equal "$(record '[.benchmarks[].status] | join(" ")')" "0 1 7 125 255"
}

@test "status: 128 and the signal for a killed command" {
	for signal in 9 11 15; do
		run --separate-stderr harness --name s$signal sh -c "kill -$signal \$\$"
		equal "$status" $((128 + signal))
	done
	equal "$(record '[.benchmarks[].signal] | join(" ")')" "9 11 15"
	equal "$(record '[.benchmarks[].status] | join(" ")')" "137 139 143"
}

@test "status: one that is allowed is no failure, and is recorded" {
	run --separate-stderr -3 harness --ignore-failure=1,4 --name a "$burn" 100 3
	run --separate-stderr -0 harness --ignore-failure --name b "$burn" 100 3
	run --separate-stderr -0 harness -i=3 --name c "$burn" 100 3
	run --separate-stderr -143 harness -i --name d sh -c 'kill $$'
	equal "$(record '[.benchmarks[] | "\(.status)/\(.processes[0].status)"] | join(" ")')" \
		"3/3 0/3 0/3 143/143"
}

@test "status: 127 and 126 as a shell would" {
	refused 127 "nosuchprogram: command not found" nosuchprogram
	refused 127 "$BATS_TEST_TMPDIR/none: command not found" "$BATS_TEST_TMPDIR/none"
	refused 126 "/etc/passwd: not executable" /etc/passwd
	refused 126 "$BATS_TEST_TMPDIR" "$BATS_TEST_TMPDIR"
}

@test "status: 125 for its own failures" {
	refused 125 "no command is given"
	refused 125 "the command is empty" ''
	refused 125 "the command is empty" ' '
	refused 125 "'--nosuch'" --nosuch "$burn"
	refused 125 "how many rounds" -m walltime --max-time 0 "$burn" 100
	refused 125 memory -m memory "$burn" 100
	refused 125 "'nosuch'" -m nosuch "$burn" 100
	runner_env+=(PATH="$BATS_TEST_TMPDIR")
	run --separate-stderr env "${runner_env[@]}" "$harness_bin" "$burn" 100
	equal "$status" 125
	[[ $stderr == *"valgrind is not installed"* ]]
}

# ---- The command line ----

@test "words: options end at the first word" {
	harness --name n "$FIXTURES/words" --name x -h -- --version >"$BATS_TEST_TMPDIR/output"
	equal "$(sed -n '2,6p' "$BATS_TEST_TMPDIR/output" | tr '\n' ' ')" \
		"[--name] [x] [-h] [--] [--version] "
	equal "$(record .benchmarks[0].name)" n
}

@test "words: behind -- everything is the command" {
	mkdir "$BATS_TEST_TMPDIR/bin"
	ln -s "$FIXTURES/words" "$BATS_TEST_TMPDIR/bin/--foo"
	ln -s "$FIXTURES/words" "$BATS_TEST_TMPDIR/bin/-"
	runner_env+=(PATH="$BATS_TEST_TMPDIR/bin:$PATH")
	equal "$(harness -- --foo bar)" "[--foo]"$'\n[bar]\n'"in $PWD"
	equal "$(harness - -)" $'[-]\n[-]\n'"in $PWD"
}

@test "words: the version has the form that upstream's tools read" {
	run --separate-stderr harness --version
	[ "$status" -eq 0 ]
	[[ $output =~ ^exec-harness\ [0-9]+\.[0-9]+\.[0-9]+$ ]]
}

@test "names: the words, or what is given; any bytes" {
	harness "$burn" 100 'a  b' "it's"
	harness --name 'x [y] ::z é' "$burn" 100
	harness --name $'bad \xff \\ \n' "$burn" 100
	equal "$(record .benchmarks[0].uri)" "exec_harness::$burn 100 a  b it's"
	equal "$(record .benchmarks[1].uri)" "exec_harness::x [y] ::z é"
	codspeed show --json - "$folder" >"$BATS_TEST_TMPDIR/r.json"
	equal "$(jq '.benchmarks[2].uri' "$BATS_TEST_TMPDIR/r.json")" \
		'"exec_harness::bad \\xff \\\\ \n"'
}

@test "names: a long one is cut where no character is split, and that is told" {
	long=$(printf 'é%.0s' {1..600}) # 1200 bytes
	run --separate-stderr harness --name "x$long" "$burn" 100
	[ "$status" -eq 0 ]
	[[ $stderr == *"longer than 924 bytes"* ]]
	for key in name uri; do
		cut=$(record ".benchmarks[0].$key")
		cut=${cut#exec_harness::}
		equal "$cut" "x$(printf 'é%.0s' {1..461})" # 923 bytes: the next one would not fit
	done
	rm "$folder/simulation.json"
	run --separate-stderr harness --name "$(printf 'n%.0s' {1..924})" "$burn" 100
	[ -z "$stderr" ]
	equal "$(record '.benchmarks[0].uri | length')" $((924 + 14))
}

# ---- The list on standard input ----

@test "list: upstream's own payloads" {
	cd "$BATS_TEST_TMPDIR"
	ln -s "$FIXTURES/words" bench
	run --separate-stderr harness - <"$DATA/exec_harness_stdin.json"
	[ "$status" -eq 0 ]
	[[ $output == *$'[./bench]\n[--n]\n[1000]\n[a b]\n'* ]]
	equal "$(record '[.benchmarks[].uri] | join(",")')" \
		"exec_harness::nap,exec_harness::./bench --n 1000 a b"
	run --separate-stderr harness - <"$DATA/exec_harness_stdin_minimal.json"
	[ "$status" -eq 0 ]
	equal "$(record '.benchmarks[2].name')" true
}

@test "list: wrong ones are refused whole, with the place" {
	runner_env+=(PATH="$BATS_TEST_TMPDIR/bin:$PATH")
	mkdir "$BATS_TEST_TMPDIR/bin"
	ln -s "$burn" "$BATS_TEST_TMPDIR/bin/a"
	tried=0
	while IFS=$'\t' read -r json outcome; do
		tried=$((tried + 1))
		case $outcome in
		error:* | *"error when"*)
			run --separate-stderr harness - <<<"$json"
			[ "$status" -eq 125 ] || { echo "$json: $status" >&2 && false; }
			equal "${#stderr_lines[@]}" 1
			[[ $stderr == "exec-harness: error: "* ]]
			[ ! -e "$folder/simulation.json" ]
			;;
		ok:*)
			run --separate-stderr harness - <<<"$json"
			equal "$status" 0
			equal "$(record '.benchmarks[0].uri')" exec_harness::a
			rm "$folder/simulation.json"
			;;
		*) false ;;
		esac
	done <"$DATA/exec_harness_stdin_invalid.tsv"
	[ "$tried" -ge 11 ]
}

@test "list: what is not JSON, or not text" {
	refused 125 "standard input" - <<<'[{"command": ["a"]'
	refused 125 "standard input" - <<<''
	refused 125 "standard input" - <<<'[{"command": ["a"]}] x'
	refused 125 "standard input" - < <(printf '[{"command": ["a\xff"]}]')
	refused 125 "standard input" - <<<'[{"command": ["a", 1]}]'
	refused 125 "" - <<<'[{"command": [" "]}]'
	refused 125 "" - <<<'[{"command": ["a"], "command": ["b"]}]'
	refused 125 "" - <<<'[{"command": ["true\u0000x"]}]'
	refused 125 "" - </
	# the second is wrong: the first is not run either
	refused 125 "" - <<<'[{"command": ["echo", "ran"]}, {"command": []}]'
}

@test "list: two of one name are refused" {
	refused 125 "same name: $burn 100" - <<<"[{\"command\": [\"$burn\", \"100\"]},
		{\"command\": [\"$burn\", \"100\"]}]"
	refused 125 "same name: n" - <<<"[{\"command\": [\"$burn\", \"1\"], \"name\": \"n\"},
		{\"command\": [\"$burn\", \"2\"], \"name\": \"n\"}]"
	run --separate-stderr harness - <<<"[{\"command\": [\"$burn\", \"1\"], \"name\": \"n\"},
		{\"command\": [\"$burn\", \"1\"], \"name\": \"m\"}]"
	[ "$status" -eq 0 ]
	equal "$(record '[.benchmarks[].name] | join(" ")')" "n m"
}

@test "list: one that fails does not stop the others" {
	list() {
		jq -n --arg burn "$burn" '[["one", $burn, "100000"], ["two", $burn, "100", "3"],
			["three", "nosuchprogram"], ["four", $burn, "100", "5"], ["five", $burn, "200000"]]
			| map({name: .[0], command: .[1:]})'
	}
	run --separate-stderr harness - < <(list)
	[ "$status" -eq 3 ] # the first failure's
	[[ $stderr == *"nosuchprogram: command not found"* ]]
	equal "$(record '[.benchmarks[] | select(.status >= 0) | "\(.name) \(.status)"] | join(",")' |
		sed 's/,three 127//')" "one 0,two 3,four 5,five 0"
	# and each has its own figures
	codspeed show "$folder" >"$BATS_TEST_TMPDIR/table" || :
	codspeed show --json - "$folder" >"$BATS_TEST_TMPDIR/r.json" || :
	[ "$(jq '.benchmarks[] | select(.name == "five").metrics.instructions' "$BATS_TEST_TMPDIR/r.json")" \
		-gt 1200000 ]
	close_to "$(jq '.benchmarks[] | select(.name == "one").metrics.instructions' \
		"$BATS_TEST_TMPDIR/r.json")" 600000 5000
}

@test "list: commands find an exhausted standard input" {
	run --separate-stderr harness - <<<'[{"command": ["wc", "-c"]}]'
	equal "$output" 0
}

@test "list: many commands at once" {
	jq -n --arg burn "$burn" '[range(12) | {command: [$burn, "\(1000 * (. + 1))"]}]' |
		harness -
	equal "$(record '.benchmarks | length')" 12
	equal "$(find "$folder" -name '[0-9]*.out' | wc -l)" 12
}

# ---- Where it refuses to run ----

@test "alone: not without the runner" {
	for missing in CODSPEED_ENV CODSPEED_PROFILE_FOLDER; do
		run --separate-stderr env "${runner_env[@]}" env -u $missing "$harness_bin" "$burn" 100
		equal "$status" 125
		[[ $stderr == "exec-harness: error: not instrumented: "*"start it through codspeed"* ]]
		equal "${#stderr_lines[@]}" 1
	done
	runner_env[0]=CODSPEED_ENV=other
	refused 125 "not instrumented" "$burn" 100
}

@test "alone: not under a foreign valgrind" {
	cd "$BATS_TEST_TMPDIR"
	for tool in none callgrind; do
		run --separate-stderr env "${runner_env[@]}" valgrind --tool=$tool \
			--log-file="$BATS_TEST_TMPDIR/log" "$harness_bin" "$burn" 100
		equal "$status" 125
		[[ $stderr == *"error: not instrumented: "*"valgrind"* ]]
		[ ! -e "$folder/simulation.json" ]
	done
}

@test "alone: not without a folder that can be written" {
	runner_env[2]=CODSPEED_PROFILE_FOLDER=
	refused 125 "CODSPEED_PROFILE_FOLDER is not set" "$burn" 100
	runner_env[2]=CODSPEED_PROFILE_FOLDER=$BATS_TEST_TMPDIR/none
	refused 125 "$BATS_TEST_TMPDIR/none" "$burn" 100
	touch "$BATS_TEST_TMPDIR/file"
	runner_env[2]=CODSPEED_PROFILE_FOLDER=$BATS_TEST_TMPDIR/file
	refused 125 "$BATS_TEST_TMPDIR/file" "$burn" 100
}

@test "called: by its own name and as a word of codspeed" {
	harness "$burn" 100000
	env "${runner_env[@]}" "$CODSPEED_BIN" exec-harness "$burn" 100000
	equal "$(record '[.benchmarks[].processes[0].images[0].measured] == [true, true]')" true
	close_to "$(dumped "$folder")" 1200000 10000
}

@test "called: a broken codspeed.yml in the working directory disturbs nothing" {
	cd "$BATS_TEST_TMPDIR"
	printf '\t{{{\xff' >codspeed.yml
	run --separate-stderr harness "$burn" 100
	[ "$status" -eq 0 ]
	[ -z "$stderr" ]
}
