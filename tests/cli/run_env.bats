#!/usr/bin/env bats
# run: the command's environment, and which Python accepts PYTHONMALLOC.
# shellcheck disable=SC2016,SC2030,SC2031,SC2154 # $rc and others are of entry.bash

load helper
load ../fixtures/entry

setup() {
	enabled RUN
	entry_setup
	export -nf bats_readlinkf 2>/dev/null || true # names of this kind have a test of their own
}

teardown() {
	nothing_left
}

# What is ours, valgrind's, or of the shell that starts a command: not the user's.
foreign='^(PYTHONHASHSEED|PYTHON_PERF_JIT_SUPPORT|ARCH|CODSPEED_ENV|CODSPEED_RUNNER_MODE'
foreign+='|CODSPEED_PROFILE_FOLDER|PYTHONMALLOC|PATH|LD_LIBRARY_PATH|LD_PRELOAD|GLIBC(PP|XX)_FORCE_NEW|_)='

# Of `env -0` on standard input, the user's variables.
users() {
	grep -azvE "$foreign" | sort -z
}

# The command sees the environment of this shell, byte for byte.
kept() {
	env -0 | users >expected
	plain env -0
	equal "$rc" 0
	users <"$out" >actual
	cmp expected actual || {
		diff -a <(tr '\0' '\n' <expected) <(tr '\0' '\n' <actual) | cut -c 1-200
		return 1
	} >&2
}

# value NAME: in the command's environment, as the last `plain env -0` has it
value() {
	sed -zn "s/^$1=//p" "$out" | tr -d '\0'
}

@test "environment: what is added" {
	plain env -0
	equal "$(value CODSPEED_ENV)" runner
	equal "$(value CODSPEED_RUNNER_MODE)" instrumentation
	equal "$(value CODSPEED_PROFILE_FOLDER)" "$folder"
	equal "$(value PYTHONHASHSEED)" 0
	equal "$(value PYTHON_PERF_JIT_SUPPORT)" 0
	equal "$(value ARCH)" "$(uname -m)"
	if command -v node >/dev/null; then # the wrapper stands in front of it
		[[ $(value PATH) == "$TMPDIR"/codspeed.*:"$PATH" ]]
	else
		equal "$(value PATH)" "$PATH"
	fi
}

@test "environment: the folder is absolute" {
	rc=0
	"$CODSPEED_BIN" run --profile-folder p --json /dev/null --allow-empty -- env -0 >"$out" 2>"$err" ||
		rc=$?
	equal "$rc" 0
	equal "$(value CODSPEED_PROFILE_FOLDER)" "$PWD/p"
}

@test "environment: values of every kind are kept" {
	export V_QUOTES='mixed '\''single'\'' "double" `tick` back\slash \\ \n'
	export V_LINES=$'line one  \n\tline two\t \n\nlast \n'
	export V_SHELL='* ? [a] | > < && || ; & # ~ !'
	export V_DOLLAR='$HOME ${HOME} $((1+1)) $(id) $$'
	export V_UTF8=$'gr\xc3\xbc\xc3\x9f \xe2\x80\x8b zero width'
	export V_CONTROL=$'\033[31m\001\002\177'
	export V_STYLES='a'\''b'\''"c"'
	export V_EMPTY=''
	export V_BLANKS='   '
	export V_BYTES=$'\xff\xfe\x80'
	export V_EQUALS='=a==b='
	kept
}

# A shell drops variables that it could not name itself: by hand it is the same.
@test "environment: names of every kind are kept" {
	if [ "$(head -c 2 "$(command -v valgrind)")" = '#!' ]; then
		skip "this valgrind is a shell script, which drops names that are no identifiers"
	fi
	exported() { echo; }
	export -f exported
	env 'with.dot=1' 'with-dash=2' '1digit=3' $'b\xff=4' "$CODSPEED_BIN" run --profile-folder \
		"$folder" --json /dev/null --allow-empty -- env -0 >"$out" 2>"$err"
	for entry in 'with.dot=1' 'with-dash=2' '1digit=3' $'b\xff=4'; do
		grep -azqxF -- "$entry" "$out" || {
			echo "$entry is lost" >&2
			return 1
		}
	done
	grep -azq '^BASH_FUNC_exported%%=' "$out"
	kept
}

@test "environment: five thousand variables, and a long one" {
	for ((i = 0; i < 5000; i++)); do
		export "MANY_$i=value $i"
	done
	LONG=$(head -c 100000 /dev/zero | tr '\0' x)
	export LONG
	kept
}

@test "environment: shell text sees the same" {
	export V=$'a "b" \'c\' $(d)\n\xff'
	plain 'printf "%s" "$V"'
	printf '%s' "$V" | cmp - "$out"
}

@test "environment: none at all but PATH" {
	rc=0
	env -i PATH="$PATH" TMPDIR="$TMPDIR" "$CODSPEED_BIN" run --profile-folder "$folder" --json /dev/null \
		--allow-empty -- env -0 >"$out" 2>"$err" || rc=$?
	equal "$rc" 0
	# PWD is what the shell sets that Debian's valgrind is a script of
	equal "$(users <"$out" | tr '\0' '\n' | grep -v ^PWD=)" "TMPDIR=$TMPDIR"
}

@test "environment: without PATH the system's own programs are found" {
	ls / >expected
	rc=0
	env -u PATH "$CODSPEED_BIN" run --profile-folder "$folder" --json /dev/null --allow-empty -- 'ls /' \
		>"$out" 2>"$err" || rc=$?
	equal "$rc" 0
	cmp expected "$out"
}

@test "environment: a user's LD_PRELOAD reaches the command" {
	need cc
	echo 'const char here[] = "preloaded";' | cc -shared -fPIC -x c -o preload.so -
	LD_PRELOAD=$PWD/preload.so plain sh -c 'grep -c preload.so /proc/self/maps'
	[ "$(<"$out")" -gt 0 ]
}

@test "environment: --print-env of exec is what is added, one a line" {
	run --separate-stderr codspeed exec -m simulation --print-env --profile-folder p
	[ "$status" -eq 0 ]
	[[ $output == *"CODSPEED_PROFILE_FOLDER=$PWD/p"* ]]
	[[ $output == *"PYTHONHASHSEED=0"* ]]
	[ ! -e p ]
}

# ---- Python ----

# python PREFIX VERSION: an installation whose interpreter tells what it was given
python() {
	mkdir -p "$1/bin" "$1/lib/python$2"
	printf '#!/bin/sh\necho "malloc=${PYTHONMALLOC-unset} $*"\n' >"$1/bin/python$2"
	chmod +x "$1/bin/python$2"
	ln -s "python$2" "$1/bin/python3"
	ln -s python3 "$1/bin/python"
}

# No interpreter but those that a test makes.
no_python() {
	valgrind_in_bin
	for name in bash sh env; do
		ln -sf "$(command -v $name)" "$BATS_TEST_TMPDIR/bin/$name"
	done
	bare=$BATS_TEST_TMPDIR/bin
}

@test "python: an ordinary one gets malloc" {
	no_python
	python ordinary 3.14
	PATH=$PWD/ordinary/bin:$bare plain python3 -c 1
	equal "$(<"$out")" 'malloc=malloc -c 1'
	PATH=$PWD/ordinary/bin:$bare plain 'python -c 1'
	equal "$(<"$out")" 'malloc=malloc -c 1'
}

@test "python: one without the lock does not" {
	no_python
	python threaded 3.14t
	PATH=$PWD/threaded/bin:$bare plain python3 -c 1
	equal "$(<"$out")" 'malloc=unset -c 1'
	PATH=$PWD/threaded/bin:$bare plain 'python3.14t -c 1'
	equal "$(<"$out")" 'malloc=unset -c 1'
	plain "$PWD/threaded/bin/python3.14t" -c 1
	equal "$(<"$out")" 'malloc=unset -c 1'
}

@test "python: two of them on PATH" {
	no_python
	python ordinary 3.12
	python threaded 3.14t
	PATH=$PWD/ordinary/bin:$PWD/threaded/bin:$bare plain python3 -c 1
	equal "$(<"$out")" 'malloc=malloc -c 1'
	PATH=$PWD/ordinary/bin:$PWD/threaded/bin:$bare plain 'python3.14t -c 1'
	equal "$(<"$out")" 'malloc=unset -c 1'
	PATH=$PWD/threaded/bin:$PWD/ordinary/bin:$bare plain python3 -c 1
	equal "$(<"$out")" 'malloc=unset -c 1'
}

@test "python: of a virtual environment" {
	no_python
	python ordinary 3.12
	python threaded 3.14t
	mkdir -p venv/bin project/.venv/bin
	ln -s "$PWD/threaded/bin/python3.14t" venv/bin/python
	ln -s "$PWD/threaded/bin/python3.14t" project/.venv/bin/python
	VIRTUAL_ENV=$PWD/venv PATH=$PWD/venv/bin:$PWD/ordinary/bin:$bare plain python -c 1
	equal "$(<"$out")" 'malloc=unset -c 1'
	rc=0
	PATH=$PWD/ordinary/bin:$bare "$CODSPEED_BIN" run --working-directory project --profile-folder \
		"$folder" --json /dev/null --allow-empty -- .venv/bin/python -c 1 >"$out" 2>"$err" || rc=$?
	equal "$(<"$out")" 'malloc=unset -c 1'
}

@test "python: the user's own setting is kept" {
	no_python
	python ordinary 3.14
	PYTHONMALLOC=pymalloc PATH=$PWD/ordinary/bin:$bare plain python3 -c 1
	equal "$(<"$out")" 'malloc=pymalloc -c 1'
	python threaded 3.14t
	PYTHONMALLOC=mimalloc PATH=$PWD/threaded/bin:$bare plain python3 -c 1
	equal "$(<"$out")" 'malloc=mimalloc -c 1'
}

@test "python: a real one starts" {
	need python3
	# not a shim that is a long script
	plain "$(python3 -c 'import sys; print(sys.executable)')" -c 'import os; print(os.environ["PYTHONHASHSEED"], hash("x") == hash("x"))'
	equal "$rc" 0
	equal "$(<"$out")" '0 True'
}
