#!/usr/bin/env bats
# exec -m simulation: what goes in and comes out, and what is said when something is wrong.
# shellcheck disable=SC2016,SC2030,SC2031,SC2034,SC2154 # variables of simulation.bash and of bats

load helper
load ../fixtures/simulation

setup() {
	need valgrind
	errors=$BATS_TEST_TMPDIR/errors
}

burn=$FIXTURES/burn-musl # starts quickly

# refused STATUS TEXT [OPTION]... -- COMMAND...: nothing is run, one message says why
refused() {
	local expected=$1 text=$2

	shift 2
	run --separate-stderr codspeed exec -m simulation \
		--profile-folder "$BATS_TEST_TMPDIR/refused" "$@" </dev/null
	equal "$status" "$expected"
	[ -z "$output" ]
	[[ $stderr == *"$text"* ]] || {
		echo "$stderr" >&2
		return 1
	}
}

@test "input: standard input reaches the command" {
	equal "$(echo hi | sim cat 2>"$errors" | head -n 1)" hi
	head -c 300000 /dev/urandom >"$BATS_TEST_TMPDIR/file"
	sim wc -c <"$BATS_TEST_TMPDIR/file" >"$BATS_TEST_TMPDIR/output"
	equal "$(head -n 1 "$BATS_TEST_TMPDIR/output")" 300000
	equal "$(sim cat </dev/null 2>"$errors" | head -n 1 | cut -c 1-9)" Benchmark
	sim cat <&- >"$BATS_TEST_TMPDIR/output"
}

@test "output: the two streams stay apart, and the table comes last" {
	run --separate-stderr sim sh -c 'echo one; echo two >&2; echo three'
	[ "$status" -eq 0 ]
	[ "${lines[0]}" = one ]
	[ "${lines[1]}" = three ]
	[[ ${lines[2]} == Benchmark* ]]
	[ "$stderr" = two ]
}

@test "output: 20 MB of any bytes pass unchanged, through little memory" {
	# the command is a child of the harness, and that one of the runner
	script='"$0" 20000000
		harness=$PPID
		runner=$(sed -n "s/^PPid:[^0-9]*//p" /proc/$harness/status)
		sed -n "s/^VmHWM:[^0-9]*//p" /proc/$harness/status /proc/$runner/status >&2'
	plain=$("$FIXTURES/flood" 20000000 | cksum)
	sim sh -c "$script" "$FIXTURES/flood-musl" 2>"$errors" | head -c 20000000 | cksum >"$errors.sum"
	equal "$(cat "$errors.sum")" "$plain"
	equal "$(wc -l <"$errors")" 2
	while read -r peak unit; do
		equal "$unit" kB
		[ "$peak" -gt 100 ]
		[ "$peak" -lt 6000 ]
	done <"$errors"
}

@test "output: a slow reader gets everything" {
	sim "$FIXTURES/flood-musl" 400000 2>"$errors" | { sleep 1; head -c 400000 | cksum; } \
		>"$errors.sum"
	equal "$(cat "$errors.sum")" "$("$FIXTURES/flood" 400000 | cksum)"
}

@test "output: a reader that goes away ends the command, not us" {
	gone_reader() {
		timeout 30 bash -c '"$@" | head -c 10 >&2; exit ${PIPESTATUS[0]}' - "$@" 2>/dev/null
	}
	for endless in yes "$FIXTURES/flood-musl 0"; do
		# shellcheck disable=SC2086
		run gone_reader $endless
		native=$status
		[ "$native" -ne 0 ]
		# shellcheck disable=SC2086
		run gone_reader "$CODSPEED_BIN" exec -m simulation --profile-folder "$BATS_TEST_TMPDIR/p" \
			-- $endless
		equal "$status" 1
		equal "$(jq -r '.benchmarks[0] | "\(.status) \(.processes[0].status)"' \
			"$BATS_TEST_TMPDIR/p/results.json")" "failed $native"
	done
}

@test "output: closed descriptors" {
	for closed in '<&-' '>&-' '2>&-' '<&- >&- 2>&-'; do
		run bash -c "\"\$@\" $closed" - "$CODSPEED_BIN" exec -m simulation \
			--profile-folder "$BATS_TEST_TMPDIR/p" -- "$burn" 1000
		[ "$status" -le 1 ]
		equal "$(jq -r '.benchmarks[0].status' "$BATS_TEST_TMPDIR/p/results.json")" ok
		[ "$(jq '.benchmarks[0].metrics.instructions' "$BATS_TEST_TMPDIR/p/results.json")" -gt 6000 ]
		rm -r "$BATS_TEST_TMPDIR/p"
	done
}

@test "output: standard output that cannot be written is told, once and plainly" {
	[ -c /dev/full ] || skip "no /dev/full"
	run --separate-stderr bash -c '"$@" >/dev/full' - "$CODSPEED_BIN" exec -m simulation \
		--profile-folder "$BATS_TEST_TMPDIR/p" -- "$burn" 1000
	equal "$status" 1
	equal "$stderr" "codspeed: error: cannot write to standard output: No space left on device"
	equal "$(jq -r '.benchmarks[0].status' "$BATS_TEST_TMPDIR/p/results.json")" ok
}

@test "output: no control codes where there is no terminal" {
	for setting in TERM=xterm TERM=dumb NO_COLOR=1 COLUMNS=0 CODSPEED_LOG=debug FORCE_COLOR=1; do
		run env "$setting" "$CODSPEED_BIN" exec -m simulation \
			--profile-folder "$BATS_TEST_TMPDIR/p" -- "$burn" 1000 2>&1
		[ "$status" -eq 0 ]
		[[ $output != *[$'\e\r\a\b']* ]]
		[[ $output == *"$burn 1000"* ]]
	done
}

@test "output: a terminal of no width, and of any kind" {
	need script stty
	for kind in xterm dumb; do
		run env TERM=$kind script -qec "stty cols 0; '$CODSPEED_BIN' exec -m simulation \
			--profile-folder '$BATS_TEST_TMPDIR/p' -- '$FIXTURES/burn' 100000" /dev/null </dev/null
		[ "$status" -eq 0 ]
		[[ $output == *"Estimated cycles"* ]]
		if [ $kind = dumb ]; then
			[[ $output != *$'\e'* ]]
		fi
	done
}

@test "output: group markers and control codes of the command are its own" {
	format='::group::x\n\e[31mred\e[0m\r\n##[endgroup]\0\b\7end\n'
	# shellcheck disable=SC2059
	printf "$format" >"$BATS_TEST_TMPDIR/plain"
	sim printf "$format" 2>"$errors" | head -c "$(wc -c <"$BATS_TEST_TMPDIR/plain")" |
		cmp - "$BATS_TEST_TMPDIR/plain"
}

@test "output: control codes in a name do not reach the terminal" {
	OPTIONS=(--name $'red \e[31m and\nmore\t')
	run --separate-stderr sim "$burn" 1000
	[ "$status" -eq 0 ]
	[[ $output != *$'\e'* ]]
	[[ $output == *'red \x1b[31m and\x0amore\x09'* ]]
	result=$(compgen -G "$BATS_TEST_TMPDIR/profile.*.json")
	equal "$(field '.name | tojson')" '"red \u001b[31m and\nmore\t"'
}

@test "output: all lines of a command that fails are shown" {
	run --separate-stderr sim sh -c 'seq 1 150; seq 151 300 >&2; exit 7'
	[ "$status" -eq 1 ]
	equal "${lines[*]:0:150}" "$(seq 1 150 | tr '\n' ' ' | sed 's/ $//')"
	equal "${stderr_lines[*]:0:150}" "$(seq 151 300 | tr '\n' ' ' | sed 's/ $//')"
	[[ $output$stderr == *"exit status 7"* ]]
}

@test "json: standard output is JSON alone" {
	sim_json=$BATS_TEST_TMPDIR/out.json
	codspeed exec -m simulation --profile-folder "$BATS_TEST_TMPDIR/p" --json - -- \
		sh -c 'echo said; echo more >&2' >"$sim_json" 2>"$errors"
	equal "$(jq -s 'length' "$sim_json")" 1
	cmp "$sim_json" "$BATS_TEST_TMPDIR/p/results.json"
	grep -qx said "$errors"
	grep -qx more "$errors"
	run grep -c Benchmark "$errors"
	[ "$output" = 0 ]
}

@test "json: a file has the bytes of results.json" {
	sim "$burn" 1000
	cmp "$result" "$folder/results.json"
	equal "$(jq -r '.version' "$result")" 1
	equal "$(tail -c 2 "$result" | od -An -c | tr -d ' ')" '}\n'
	# stable but for what changes by nature
	first=$(jq 'del(.run) | del(.benchmarks[].processes)' "$result")
	sim "$burn" 1000
	equal "$(jq 'del(.run) | del(.benchmarks[].processes)' "$result")" "$first"
}

@test "json: a run that fails leaves no earlier result in its place" {
	cd "$BATS_TEST_TMPDIR"
	codspeed exec -m simulation --profile-folder p --json r.json -- "$burn" 1000 >/dev/null 2>&1
	ln -s r.json link
	for name in link r.json; do
		[ -s $name ]
		run -1 codspeed exec -m simulation --profile-folder p --json $name -- no-such-program
		[ ! -s r.json ]
		[ -L link ]
		codspeed exec -m simulation --profile-folder p --json $name -- "$burn" 1000 >/dev/null 2>&1
	done
	echo '{"mine": 1}' >other.json # of somebody else: only a result replaces it
	run -1 codspeed exec -m simulation --profile-folder p --json other.json -- no-such-program
	equal "$(<other.json)" '{"mine": 1}'
}

@test "json: a device, a pipe, a link stay what they are" {
	cd "$BATS_TEST_TMPDIR"
	mkfifo pipe
	timeout 20 cat pipe >received &
	timeout 20 "$CODSPEED_BIN" exec -m simulation --profile-folder p --json pipe -- "$burn" 1000
	[ -p pipe ]
	wait $!
	cmp received p/results.json
	echo old >target
	ln -s target link
	codspeed exec -m simulation --profile-folder p --json link -- "$burn" 1000
	[ -L link ]
	cmp target p/results.json
	codspeed exec -m simulation --profile-folder p --json /dev/fd/1 -- true >out
	cmp <(jq . p/results.json) <(sed -n '/^{/,/^}/p' out | jq .)
	# never with the real one: as root it would be gone for the whole machine
	if [ "$(id -u)" -eq 0 ] && mknod null c 1 3 && : 2>/dev/null >null; then
		codspeed exec -m simulation --profile-folder p --json null -- "$burn" 1000
		[ -c null ]
	fi
}

@test "json: a file that cannot be written fails the run and loses nothing" {
	run --separate-stderr codspeed exec -m simulation --profile-folder "$BATS_TEST_TMPDIR/p" \
		--json "$BATS_TEST_TMPDIR/none/x.json" -- "$burn" 1000
	[ "$status" -eq 1 ]
	[[ $stderr == *"$BATS_TEST_TMPDIR/none/x.json: No such file or directory"* ]]
	[[ $output == *"$burn 1000"* ]]
	equal "$(jq -r '.benchmarks[0].status' "$BATS_TEST_TMPDIR/p/results.json")" ok
}

@test "failure: a command's status is told, and its results are kept" {
	run --separate-stderr sim "$burn" 300000 3
	[ "$status" -eq 1 ]
	[[ $output == *"exit status 3"* ]]
	[[ $output == *1,80* ]] # 300,000 turns of 6 instructions
	run sim sh -c 'kill -SEGV $$'
	[ "$status" -eq 1 ]
	[[ $output == *"killed by signal 11 (Segmentation fault)"* ]]
	run sim false
	[ "$status" -eq 1 ]
	for result in "$BATS_TEST_TMPDIR"/profile.*.json; do
		equal "$(field .status)" failed
		[ "$(field .metrics.instructions)" -gt 100000 ]
	done
}

@test "failure: a command that cannot be run" {
	refused 1 "nosuchprogram: command not found" -- nosuchprogram
	refused 1 "/etc/passwd: not executable" -- /etc/passwd
	refused 1 "$BATS_TEST_TMPDIR/none: command not found" -- "$BATS_TEST_TMPDIR/none"
	refused 1 "nothing was measured" -- nosuchprogram
	[ ! -e "$BATS_TEST_TMPDIR/refused/results.json" ]
	printf '#!%s/no-interpreter\n' "$BATS_TEST_TMPDIR" >"$BATS_TEST_TMPDIR/script"
	chmod +x "$BATS_TEST_TMPDIR/script"
	run sim "$BATS_TEST_TMPDIR/script"
	[ "$status" -eq 1 ]
}

@test "failure: a shell builtin is no command" {
	refused 1 "command not found" -- exit 0
}

@test "usage: no command, an empty one, a blank one" {
	refused 2 "the command is empty"
	refused 2 "the command is empty" --
	refused 2 "the command is empty" -- ''
	refused 2 "the command is empty" -- $' \t\n'
	refused 2 "'--qqqq'" --qqqq -- true
	[ ! -e "$BATS_TEST_TMPDIR/refused" ]
}

@test "arguments: 10 000 of them, all of any kind" {
	sim "$FIXTURES/words" $(seq 1 10000) >"$BATS_TEST_TMPDIR/output" 2>"$errors"
	equal "$(sed -n '10001p' "$BATS_TEST_TMPDIR/output")" '[10000]'
	[ "$(field '.name | length')" -le 924 ]
	[ "$(field '.uri | length')" -le 1024 ]
	grep -q 'longer than 924 bytes' "$errors"
	[ "$(sed -n '10003,$p' "$BATS_TEST_TMPDIR/output" | wc -c)" -lt 10000 ] # the table
}

@test "arguments: options behind the command are the command's" {
	sim "$FIXTURES/words" --json - -m x -- --name=y '' 'a b' "it's" '$HOME' '*' '%p' \
		>"$BATS_TEST_TMPDIR/output"
	equal "$(sed -n '2,12p' "$BATS_TEST_TMPDIR/output" | tr '\n' ' ')" \
		"[--json] [-] [-m] [x] [--] [--name=y] [] [a b] [it's] [\$HOME] [*] "
	equal "$(sed -n '13p' "$BATS_TEST_TMPDIR/output")" '[%p]'
	sim "$FIXTURES/words" - >"$BATS_TEST_TMPDIR/output"
	equal "$(sed -n 2p "$BATS_TEST_TMPDIR/output")" '[-]'
}

@test "folder: results of an earlier run are removed, a user's files are not" {
	p=$BATS_TEST_TMPDIR/p
	codspeed exec -m simulation --profile-folder "$p" -- sh -c "'$burn' 1000 & '$burn' 2000; wait"
	echo mine >"$p/notes.out"
	echo mine >"$p/12x.out"
	mkdir "$p/logs"
	echo '# callgrind format' >"$p/1.2.out"
	run --separate-stderr codspeed exec -m simulation --profile-folder "$p" -- "$burn" 3000
	[ "$status" -eq 0 ]
	[[ $stderr == *"removed "*" files of an earlier run from $p"* ]]
	equal "$(cat "$p/notes.out" "$p/12x.out")" $'mine\nmine'
	[ -d "$p/logs" ]
	[ ! -e "$p/1.2.out" ]
	equal "$(find "$p" -name '[0-9]*.out' ! -name 12x.out | wc -l)" 1
	equal "$(jq '.benchmarks | length' "$p/simulation.json")" 1
	equal "$(jq -r '.benchmarks[].processes[].command' "$p/results.json")" "$burn 3000"
}

@test "folder: made with its parents, relative to where one stands" {
	mkdir "$BATS_TEST_TMPDIR/here" "$BATS_TEST_TMPDIR/there"
	cd "$BATS_TEST_TMPDIR/here"
	codspeed exec -m simulation --profile-folder a/b/c --json r.json \
		--working-directory "$BATS_TEST_TMPDIR/there" -- "$FIXTURES/words" >out
	grep -qx "in $BATS_TEST_TMPDIR/there" out
	[ -s a/b/c/results.json ]
	[ -s r.json ]
	[ -z "$(ls "$BATS_TEST_TMPDIR/there")" ]
	equal "$(jq -r .run.working_directory r.json)" "$BATS_TEST_TMPDIR/there"
}

@test "folder: a file in its place, a place that is not there" {
	touch "$BATS_TEST_TMPDIR/file"
	run --separate-stderr codspeed exec -m simulation --profile-folder "$BATS_TEST_TMPDIR/file" \
		-- "$burn" 1000
	[ "$status" -eq 1 ]
	[[ $stderr == *"$BATS_TEST_TMPDIR/file: Not a directory"* ]]
	run --separate-stderr env TMPDIR="$BATS_TEST_TMPDIR/none" "$CODSPEED_BIN" exec -m simulation \
		-- "$burn" 1000
	[ "$status" -eq 1 ]
	[[ $stderr == *"$BATS_TEST_TMPDIR/none"*"--profile-folder"* ]]
	refused 2 "$BATS_TEST_TMPDIR/none: No such file or directory" \
		--working-directory "$BATS_TEST_TMPDIR/none" -- "$burn" 1000
	refused 2 "$BATS_TEST_TMPDIR/file: Not a directory" \
		--working-directory "$BATS_TEST_TMPDIR/file" -- "$burn" 1000
}

@test "folder: without one a new one is made, named, and kept for show" {
	export TMPDIR=$BATS_TEST_TMPDIR/tmp
	mkdir "$TMPDIR"
	run --separate-stderr codspeed exec -m simulation -- "$burn" 1000
	[ "$status" -eq 0 ]
	kept=$(sed -n 's/^codspeed: profile folder: //p' <<<"$stderr")
	[[ $kept == "$TMPDIR"/profile.*.out ]]
	equal "$(ls "$TMPDIR")" "$(basename "$kept")"
	[ -s "$kept/results.json" ]
	# and none where nothing was measured
	rm -r "$kept"
	run codspeed exec -m simulation -- nosuchprogram
	equal "$(ls -A "$TMPDIR")" ""
}

@test "folder: two runs side by side do not meet" {
	export TMPDIR=$BATS_TEST_TMPDIR/tmp
	mkdir "$TMPDIR"
	for i in 1 2 3; do
		codspeed exec -m simulation --json "$BATS_TEST_TMPDIR/$i.json" -- "$burn" ${i}00000 &
	done
	wait
	for i in 1 2 3; do
		close_to "$(jq .benchmarks[0].metrics.instructions "$BATS_TEST_TMPDIR/$i.json")" \
			${i}00000*6 5000
	done
}

@test "offline: no token is missed, and --skip-upload is no mistake" {
	run --separate-stderr codspeed exec -m simulation --skip-upload \
		--profile-folder "$BATS_TEST_TMPDIR/p" -- "$burn" 1000
	[ "$status" -eq 0 ]
	[ -z "$stderr" ]
}

@test "mode: the old name, and none at all" {
	run --separate-stderr codspeed exec -m instrumentation \
		--profile-folder "$BATS_TEST_TMPDIR/p" -- "$burn" 1000
	[ "$status" -eq 0 ]
	[[ $stderr == *deprecated* ]]
	run --separate-stderr codspeed exec --profile-folder "$BATS_TEST_TMPDIR/p" -- "$burn" 1000
	[ "$status" -eq 0 ]
	equal "$(jq -r '.benchmarks[0].mode' "$BATS_TEST_TMPDIR/p/results.json")" simulation
	refused 2 "'nosuch'" -m nosuch -- "$burn" 1000
}
