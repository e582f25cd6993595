#!/usr/bin/env bats
# run: words and shell text, statuses, output, what is left.
# shellcheck disable=SC2016,SC2030,SC2031,SC2154 # $rc and others are of entry.bash

load helper
load ../fixtures/entry

setup() {
	enabled RUN
	entry_setup
}

teardown() {
	nothing_left
}

# ---- Several words: a program and its arguments ----

@test "words: they arrive byte for byte" {
	words=(printf '[%s]\n' 'a b' '$HOME' "it's" '' '*' '"' '`id`' '$(id)' '\n' '&&' ';' '|' '#' '~'
		-- --json $'line\nfeed' $'a\xff\xfeb' $'\x01\x1b[0m' 'gr'$'\xc3\xbc''n' ' ' 'a=b')
	plain "${words[@]}"
	equal "$rc" 0
	"${words[@]}" | cmp - "$out"
}

@test "words: ten thousand of them, and a long one" {
	mapfile -t many < <(seq 1 10000)
	long=$(head -c 100000 /dev/zero | tr '\0' x)
	plain sh -c 'echo $# "${#1}"' sh "$long" "${many[@]}"
	equal "$rc" 0
	equal "$(<"$out")" "10001 100000"
}

@test "words: no shell looks at them" {
	plain echo 'a && exit 3'
	equal "$rc" 0
	equal "$(<"$out")" 'a && exit 3'
	plain echo a '&&' exit 3 '>' file
	equal "$rc" 0
	equal "$(<"$out")" 'a && exit 3 > file'
	[ ! -e file ]
}

@test "words: a shell of one's own" {
	plain sh -c 'exit 42'
	equal "$rc" 1
	says "$err" 'exit status 42'
	plain bash -c 'echo "$0|$1"' 'a b' 'c  d'
	equal "$(<"$out")" 'a b|c  d'
}

@test "words: cargo codspeed becomes cargo-codspeed" {
	program cargo-codspeed <<<'#!/bin/sh
printf "own:" && printf "[%s]" "$@" && echo'
	program cargo <<<'#!/bin/sh
echo cargo "$@"'
	PATH=$BATS_TEST_TMPDIR/bin:$PATH
	plain cargo codspeed run 'a b'
	equal "$(<"$out")" 'own:[run][a b]'
	plain cargo build codspeed
	equal "$(<"$out")" 'cargo build codspeed'
	plain echo cargo codspeed
	equal "$(<"$out")" 'cargo codspeed'
}

# ---- One word: shell text ----

@test "text: several commands" {
	plain 'echo a; echo b'
	equal "$(<"$out")" $'a\nb'
	plain 'echo a && echo b || echo c'
	equal "$(<"$out")" $'a\nb'
}

@test "text: several lines, with and without semicolons" {
	plain 'echo one
echo two;
if true; then
	echo three
fi'
	equal "$rc" 0
	equal "$(<"$out")" $'one\ntwo\nthree'
}

@test "text: a change of directory and an exported variable last" {
	plain "mkdir deep && cd deep
pwd
export V='x y'
sh -c 'echo \"\$V\"; pwd'"
	equal "$(<"$out")" "$PWD/deep
x y
$PWD/deep"
}

@test "text: quotes inside quotes, an ampersand and an escaped dollar" {
	plain 'echo "it'\''s \"quoted\" & \$HOME" '\''and "more" $x'\'
	equal "$(<"$out")" 'it'\''s "quoted" & $HOME and "more" $x'
}

@test "text: substitution" {
	plain 'echo "$(echo "a  b" "$(echo "c  d")")" $((6 * 7)) `echo tick`'
	equal "$(<"$out")" 'a  b c  d 42 tick'
}

@test "text: bash where there is one" {
	need bash
	plain 'a=(x y z); echo "${a[1]} ${BASH_VERSION:+bash}"; [[ abc == a* ]] && echo yes'
	equal "$(<"$out")" $'y bash\nyes'
}

@test "text: sh where there is no bash" {
	valgrind_in_bin
	ln -s "$(command -v sh)" "$BATS_TEST_TMPDIR/bin/sh"
	PATH=$BATS_TEST_TMPDIR/bin plain 'echo "$0 ${BASH_VERSION:-plain}"; exit 42'
	equal "$rc" 1
	equal "$(<"$out")" 'sh plain'
	says "$err" 'exit status 42'
}

@test "text: no shell at all is told; words need none" {
	valgrind_in_bin
	PATH=$BATS_TEST_TMPDIR/bin plain 'echo x'
	equal "$rc" 1
	says "$err" 'there is no shell (bash or sh) on PATH'
	PATH=$BATS_TEST_TMPDIR/bin plain /bin/echo x
	equal "$rc" 0
	equal "$(<"$out")" x
}

@test "text: cargo codspeed where it is a command" {
	program cargo-codspeed <<<'#!/bin/sh
echo "own:$*"'
	program cargo <<<'#!/bin/sh
echo "cargo:$*"'
	PATH=$BATS_TEST_TMPDIR/bin:$PATH
	plain 'cargo codspeed build && cargo  codspeed run
echo "cargo codspeed" cargo codspeed # cargo codspeed
cargo build; RUSTFLAGS=-g cargo codspeed run'
	equal "$(<"$out")" 'own:build
own:run
cargo codspeed cargo codspeed
cargo:build
own:run'
}

@test "text: standard input is the command's" {
	echo 'from outside' | {
		"$CODSPEED_BIN" run --profile-folder "$folder" --json /dev/null --allow-empty -- \
			'read -r line; echo "got $line"' >"$out" 2>"$err"
	}
	equal "$(<"$out")" 'got from outside'
}

# ---- Statuses ----

@test "status: 0 is 0" {
	for text in 'exit 0' true 'false || true' 'exit 0; exit 1'; do
		plain "$text"
		equal "$rc" 0
		says_not "$err" error
	done
}

@test "status: another one is 1, and told" {
	for code in 1 42 255; do
		plain "exit $code"
		equal "$rc" 1
		says "$err" "the command failed: exit status $code"
	done
	plain 'true && exit 42'
	says "$err" 'exit status 42'
	plain 'ls; exit 1'
	equal "$rc" 1
	plain 'exit 1; ls'
	equal "$rc" 1
}

@test "status: a signal is told by name" {
	plain 'kill -TERM $$'
	equal "$rc" 1
	says "$err" 'killed by signal 15 (Terminated)'
}

@test "status: a program that is not there" {
	plain no-such-program a
	equal "$rc" 1
	says "$err" 'no-such-program: command not found'
	plain ./no-such-file a
	equal "$rc" 1
	says "$err" ./no-such-file
	touch not-executable
	plain ./not-executable a
	equal "$rc" 1
	says "$err" ./not-executable
	plain no-such-program # as shell text
	equal "$rc" 1
	says "$err" 'exit status 127'
}

@test "status: an empty command is a usage error before anything happens" {
	for words in '' '  ' $'\n\t'; do
		run --separate-stderr codspeed run --profile-folder "$folder" -- "$words"
		[ "$status" -eq 2 ]
		[ -z "$output" ]
		[[ ${stderr_lines[0]} == *'command is empty' ]]
		[ ! -e "$folder" ]
	done
	run --separate-stderr codspeed run
	[ "$status" -eq 2 ]
	run --separate-stderr codspeed run --
	[ "$status" -eq 2 ]
	run --separate-stderr codspeed run -- '' a b
	[ "$status" -eq 2 ]
}

# ---- No benchmark ----

@test "empty: no benchmark is an error that has the usual causes" {
	program pytest <<<'#!/bin/sh
echo "3 passed, 0 benchmarked"'
	PATH=$BATS_TEST_TMPDIR/bin:$PATH
	entry -- pytest -n 2 t.py
	equal "$rc" 1
	equal "$(<"$out")" '3 passed, 0 benchmarked'
	says "$err" 'no benchmark was found'
	says "$err" 'needs --codspeed'
	says "$err" 'xdist: use -n 0'
	says "$err" 'another plugin'
	says "$err" 'codspeed exec -m simulation'
	says "$err" --allow-empty
}

@test "empty: an integration that has announced itself is named" {
	entry -- "$FIXTURES/entry_loop"
	equal "$rc" 1
	says "$err" 'none through entry-test 1.2.3'
}

@test "empty: --allow-empty makes it no error" {
	entry --allow-empty -- "$FIXTURES/entry_loop"
	equal "$rc" 0
	equal "$(jq '.benchmarks | length' "$result")" 0
	says_not "$err" error
}

@test "empty: --allow-empty forgives no failure" {
	entry --allow-empty -- 'exit 3'
	equal "$rc" 1
	says "$err" 'exit status 3'
	says_not "$err" 'Usual causes'
	entry -- 'exit 3' # and no second error that leads away from the first
	equal "$rc" 1
	says "$err" 'exit status 3'
	says_not "$err" 'Usual causes'
}

@test "empty: the temporary profile folder goes" {
	run --separate-stderr codspeed run -m simulation -- true
	[ "$status" -eq 1 ]
	equal "$(ls -A "$TMPDIR")" ""
	run --separate-stderr codspeed run -m simulation -- 'exit 3'
	[ "$status" -eq 1 ]
	equal "$(ls -A "$TMPDIR")" ""
}

@test "folder: with benchmarks the temporary one stays and is told" {
	run --separate-stderr codspeed run -m simulation -- "$FIXTURES/entry_loop-musl" a::b 1000
	[ "$status" -eq 0 ]
	path=$(sed -n 's/^codspeed: profile folder: //p' <<<"$stderr")
	[[ $path == "$TMPDIR"/profile.??????????.out ]]
	equal "$(stat -c %a "$path")" 700
	[ -s "$path/results.json" ]
	equal "$(ls "$TMPDIR")" "${path##*/}"
	rm -r "$path"
}

@test "folder: a relative one is the runner's, wherever the command goes" {
	mkdir elsewhere
	run --separate-stderr codspeed run --profile-folder new/folder --json r.json \
		--working-directory elsewhere -- "$FIXTURES/entry_loop-musl" a::b 1000
	[ "$status" -eq 0 ]
	[ -s new/folder/results.json ]
	[ -s r.json ]
	equal "$(ls -A elsewhere)" ""
}

@test "folder: a file in the way" {
	touch file
	run --separate-stderr codspeed run --profile-folder file -- true
	[ "$status" -eq 1 ]
	[[ ${stderr_lines[0]} == *"$PWD/file"* ]]
	run --separate-stderr codspeed run --profile-folder file/below -- true
	[ "$status" -eq 1 ]
	[[ ${stderr_lines[0]} == *"$PWD/file"* ]]
}

# ---- Paths ----

@test "paths: awkward names for every folder at once" {
	enabled EXEC_HARNESS
	# shellcheck disable=SC2089,SC2090 # as a name, not as words
	base=$BATS_TEST_TMPDIR/"a b:c'd\"e%p%%\$x,y*?[z]\\"
	mkdir -p "$base/tmp" "$base/cwd"
	cp "$CODSPEED_BIN" "$base/codspeed"
	cp "$FIXTURES/entry_loop-musl" "$FIXTURES/burn-musl" "$base/"
	export base
	cd "$base/cwd"
	TMPDIR=$base/tmp "$base/codspeed" run --profile-folder "$base/p" --json "$result" -- \
		'"$base/entry_loop-musl" a::b 1000; "$base/codspeed" exec-harness --name h "$base/burn-musl" 1000
pwd' >"$out" 2>"$err"
	equal "$(listed | sort)" $'ok a::b\nok exec_harness::h'
	equal "$(figure a::b)" 2020
	equal "$(sed -n 2p "$out")" "$base/cwd"
	equal "$(ls -A "$base/tmp")$(ls -A "$base/cwd")" ""
}

@test "paths: bytes that are not UTF-8" {
	enabled EXEC_HARNESS
	base=$BATS_TEST_TMPDIR/d$'\xff'
	mkdir -p "$base/w"
	cp "$FIXTURES/entry_loop-musl" "$base/"
	rc=0
	"$CODSPEED_BIN" run --profile-folder "$base/p" --json "$result" --working-directory "$base/w" -- \
		../entry_loop-musl a::b 1000 >"$out" 2>"$err" || rc=$?
	equal "$rc" 0
	equal "$(jq -r .run.working_directory "$result")" "$(realpath "$BATS_TEST_TMPDIR")/d\\xff/w"
	iconv -f UTF-8 -t UTF-8 "$result" >/dev/null
}

# ---- Working directory ----

@test "directory: the command runs there, and PWD says so" {
	mkdir 'a b'
	entry --allow-empty --working-directory 'a b' -- 'pwd; echo "$PWD"; /bin/pwd'
	equal "$rc" 0
	here=$PWD/'a b'
	equal "$(<"$out")" "$here"$'\n'"$here"$'\n'"$here"
	entry --allow-empty --working-directory 'a b' -- sh -c 'echo x >file'
	[ -s 'a b/file' ]
}

@test "directory: a relative program is looked for there" {
	mkdir there
	cp "$FIXTURES/entry_loop-musl" there/program
	entry --working-directory there -- ./program a::b 1000
	equal "$rc" 0
	as_announced 50
	cp there/program beside
	entry --working-directory there -- ../beside a::b 1000
	equal "$rc" 0
	as_announced 50
	entry --working-directory there -- ./beside a::b 1000 # of here, not of there
	equal "$rc" 1
}

@test "directory: the one it is started in otherwise" {
	plain pwd -P
	equal "$(<"$out")" "$(pwd -P)"
}

@test "directory: missing, or a file" {
	run --separate-stderr codspeed run --working-directory none -- true
	[ "$status" -eq 2 ]
	[[ ${stderr_lines[0]} == *"--working-directory none: No such file or directory" ]]
	touch file
	run --separate-stderr codspeed run --working-directory file -- true
	[ "$status" -eq 2 ]
	[[ ${stderr_lines[0]} == *"file: "?"ot a directory"* ]]
}

# ---- Output ----

@test "output: both streams pass unchanged, apart from each other" {
	head -c 300000 /dev/urandom >bytes
	printf 'x%.0s' {1..3000} >line
	plain 'cat bytes; cat line >&2; printf "no newline"; printf "\r\rprogress\r" >&2'
	equal "$rc" 0
	{
		cat bytes
		printf 'no newline'
	} | cmp - "$out"
	head -c 3000 "$err" | cmp - line
	says "$err" $'\r\rprogress\r'
}

@test "output: group markers and colours of the command are the command's" {
	plain printf '::group::x\n\033[31mred\033[0m\n::endgroup::\n##[section]y\n'
	equal "$(<"$out")" $'::group::x\n\033[31mred\033[0m\n::endgroup::\n##[section]y'
}

@test "output: ours is plain where it is no terminal" {
	entry -- "$FIXTURES/entry_loop-musl" a::b 1000
	says_not "$out" $'\033'
	says_not "$err" $'\033'
	CODSPEED_LOG=debug NO_COLOR=1 TERM=dumb entry -- "$FIXTURES/entry_loop-musl" a::b 1000
	equal "$rc" 0
	says_not "$err" $'\033'
	says_not "$err" $'\r'
}

@test "output: a dumb terminal gets no cursor codes" {
	need script
	TERM=dumb script -qec "'$CODSPEED_BIN' run --profile-folder '$folder' -- \
		'$FIXTURES/entry_loop-musl' a::b 1000" /dev/null >"$out" </dev/null
	says "$out" 'Instructions'
	says_not "$out" $'\033'
}

@test "output: --json - leaves standard output to the results" {
	rc=0
	"$CODSPEED_BIN" run --profile-folder "$folder" --json - -- "$FIXTURES/entry_loop-musl" a::b 1000 \
		>"$out" 2>"$err" || rc=$?
	equal "$rc" 0
	equal "$(jq -r '.benchmarks[].uri' "$out")" a::b
	cmp "$out" "$folder/results.json"
	says "$err" '2000 a::b'
}

@test "output: a reader that leaves ends the command, quietly" {
	cat >endless <<-'END'
		#!/bin/sh
		while echo line; do :; done
	END
	chmod +x endless
	timeout 60 bash -c '"$1" run --profile-folder "$2" --allow-empty -- ./endless 2>"$3" | head -n 1' \
		- "$CODSPEED_BIN" "$folder" "$err" >"$out"
	equal "$(<"$out")" line
	gone "$PWD/endless|sh ./endless"
	says_not "$err" bug
}

@test "output: nobody to write to" {
	rc=0
	"$CODSPEED_BIN" run --profile-folder "$folder" --allow-empty -- 'echo x; echo y >&2' \
		>&- 2>&- <&- || rc=$?
	[ "$rc" -eq 0 ] || [ "$rc" -eq 1 ]
	rc=0
	"$CODSPEED_BIN" run --profile-folder "$folder" -- "$FIXTURES/entry_loop-musl" a::b 1000 \
		>/dev/full 2>"$err" || rc=$?
	equal "$rc" 1
}

# ---- Ends ----

@test "end: a daemon that holds the pipe does not hang us, and is named" {
	began=$SECONDS
	plain '(setsid sleep 4321 &); echo done'
	[ $((SECONDS - began)) -lt 30 ]
	equal "$rc" 0
	equal "$(<"$out")" 'done'
	says "$err" 'still running after the benchmark ended'
	says "$err" 'sleep 4321 (pid '
	gone '^([^ ]*/)?sleep 4321'
}

@test "end: by time" {
	began=$SECONDS
	entry --timeout 1s -- 'echo first; sleep 4322'
	[ $((SECONDS - began)) -lt 30 ]
	equal "$rc" 1
	equal "$(<"$out")" first
	says "$err" 'timed out after 1s'
	gone 'sleep 4322'
}

@test "end: by time, with what was measured before" {
	entry --timeout 3s -- '"$FIXTURES/entry_loop-musl" a::b 1000; sleep 4323'
	equal "$rc" 1
	says "$err" 'timed out after 3s'
	equal "$(listed)" 'ok a::b'
	gone 'sleep 4323'
}

# interrupted SIGNAL: sent to the runner alone while the command sleeps
interrupted() {
	env --default-signal=INT,QUIT "$CODSPEED_BIN" run --profile-folder "$folder" --json "$result" -- \
		'"$FIXTURES/entry_loop-musl" a::b 1000; echo ready; sleep 4324' >"$out" 2>"$err" 3>&- &
	runner=$!
	wait_for "$out" ready
	kill -"$1" "$runner"
	rc=0
	wait "$runner" || rc=$?
	gone 'sleep 4324'
	# of a valgrind that was killed in its first moment
	rm -f "$TMPDIR"/valgrind_proc_*
}

@test "end: SIGTERM to the runner ends everything, results are kept" {
	interrupted TERM
	equal "$rc" 143
	equal "$(listed)" 'ok a::b'
	says_not "$err" bug
}

@test "end: SIGINT and SIGHUP likewise" {
	interrupted INT
	equal "$rc" 130
	equal "$(listed)" 'ok a::b'
	interrupted HUP
	equal "$rc" 129
}

@test "end: SIGKILL to the runner leaves no process" {
	"$CODSPEED_BIN" run --profile-folder "$folder" -- 'echo ready; sleep 4325' >"$out" 2>"$err" 3>&- &
	runner=$!
	wait_for "$out" ready
	kill -KILL "$runner"
	wait "$runner" || true
	gone 'sleep 4325'
	rm -rf "$TMPDIR"/codspeed.* # nobody was left to remove it
}

# ---- Machines ----

@test "machine: no valgrind is exit 3 with the remedy" {
	mkdir "$BATS_TEST_TMPDIR/bin"
	run --separate-stderr env PATH="$BATS_TEST_TMPDIR/bin" "$CODSPEED_BIN" run -m simulation -- \
		/bin/true
	[ "$status" -eq 3 ]
	[ "${#stderr_lines[@]}" -eq 1 ]
	[[ $stderr == *"install the package 'valgrind'"* ]]
}

@test "machine: a valgrind that does not run" {
	program valgrind <<<'#!/nonexistent'
	PATH=$BATS_TEST_TMPDIR/bin:$PATH run --separate-stderr codspeed run -- true
	[ "$status" -eq 3 ]
	[[ $stderr == *"$BATS_TEST_TMPDIR/bin/valgrind"* ]]
	program valgrind <<<'#!/bin/sh
echo "cannot execute: wrong architecture" >&2; exit 1'
	PATH=$BATS_TEST_TMPDIR/bin:$PATH run --separate-stderr codspeed run -- true
	[ "$status" -eq 3 ]
	[[ $stderr == *'wrong architecture'* ]]
}

@test "machine: --simulation-track-subprocess needs CodSpeed's valgrind" {
	entry --simulation-track-subprocess -- true
	equal "$rc" 3
	says "$err" "needs CodSpeed's valgrind"
	says "$err" 'codspeed exec'
	[ ! -e "$result" ]
	CODSPEED_SIMULATION_TRACK_SUBPROCESS=true entry -- true
	equal "$rc" 3
	CODSPEED_SIMULATION_TRACK_SUBPROCESS=false entry --allow-empty -- true
	equal "$rc" 0
}

@test "machine: with CodSpeed's valgrind it switches to inherit" {
	program valgrind <<-'END'
		#!/bin/sh
		[ "$1" != --version ] || { echo valgrind-3.26.0.codspeed7; exit; }
		printf '%s\n' "$@" >>options
	END
	PATH=$BATS_TEST_TMPDIR/bin:$PATH
	entry --simulation-track-subprocess -- true # the stand-in runs nothing
	grep -qx -- --instr-atstart=inherit options
	rm options
	entry -- true
	grep -qx -- --instr-atstart=no options
}

@test "machine: valgrind options of the user have no say" {
	echo --instr-atstart=yes >.valgrindrc
	VALGRIND_OPTS='--leak-check=full' entry -- "$FIXTURES/entry_loop-musl" a::b 1000
	equal "$rc" 0
	as_announced 100
}

@test "machine: no HOME, a file for HOME" {
	HOME='' entry -- "$FIXTURES/entry_loop-musl" a::b 1000
	equal "$rc" 0
	rc=0
	env -u HOME -u XDG_CONFIG_HOME "$CODSPEED_BIN" run --profile-folder "$folder" -- \
		"$FIXTURES/entry_loop-musl" a::b 1000 >"$out" || rc=$?
	equal "$rc" 0
	touch file
	HOME=$PWD/file entry -- "$FIXTURES/entry_loop-musl" a::b 1000
	equal "$rc" 0
}

@test "machine: a TMPDIR that is not there" {
	TMPDIR=$BATS_TEST_TMPDIR/none run --separate-stderr codspeed run -- true
	[ "$status" -eq 1 ]
	[[ $stderr == *"$BATS_TEST_TMPDIR/none"* ]]
}

# ---- Options of upstream ----

@test "options: what only an upload needs is accepted without a word" {
	CODSPEED_TOKEN=x CODSPEED_UPLOAD_URL=http://127.0.0.1:9/ entry --skip-upload --skip-setup \
		--token t --repository a/b --provider github -- "$FIXTURES/entry_loop-musl" a::b 1000
	equal "$rc" 0
	says_not "$err" token
}

@test "options: a bare flag does not swallow the command" {
	entry --exclude-allocations --cycle-estimation "$FIXTURES/entry_loop-musl" a::b 1000
	equal "$rc" 0
	as_announced 100
}

@test "options: a mode that nobody knows is exit 2" {
	run --separate-stderr codspeed run -m simulations -- true
	[ "$status" -eq 2 ]
}

@test "options: the old name of the mode works and warns" {
	rc=0
	"$CODSPEED_BIN" run -m instrumentation --profile-folder "$folder" --json "$result" -- \
		"$FIXTURES/entry_loop-musl" a::b 1000 >"$out" 2>"$err" || rc=$?
	equal "$rc" 0
	equal "$(grep -c "'simulation'" "$err")" 1
	equal "$(jq -r '.benchmarks[0].mode' "$result")" simulation
}
