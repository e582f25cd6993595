#!/usr/bin/env bats
# run: exec-harness called inside an entrypoint is measured as alone, beside benchmarks with a URI.
# shellcheck disable=SC2016,SC2030,SC2031,SC2154 # $rc and others are of entry.bash

load helper
load ../fixtures/entry

setup() {
	enabled RUN EXEC_HARNESS
	entry_setup
	mkdir "$BATS_TEST_TMPDIR/bin"
	ln -s "$CODSPEED_BIN" "$BATS_TEST_TMPDIR/bin/exec-harness"
	PATH=$BATS_TEST_TMPDIR/bin:$PATH
	burn=$FIXTURES/burn-musl
}

teardown() {
	nothing_left
}

turn=6 # instructions of a turn of burn()

# near URI TURNS: so many of them, and the start of a small static program
near() {
	local got

	got=$(figure "$1")
	if [ -z "$got" ] || [ "$got" -lt $((turn * $2)) ] || [ "$got" -gt $((turn * $2 + 5000)) ]; then
		echo "$1: ${got:-nothing} for $2 turns" >&2
		return 1
	fi
}

# without_start URI: its figure but for the start-up, which depends on the environment's size
without_start() {
	figure "$1" 'metrics | .instructions - .startup_instructions'
}

@test "harness: called through a link on PATH from a script" {
	cat >script <<-'END'
		#!/bin/sh
		for i in 1 2 3; do :; done
		exec-harness "$FIXTURES/burn-musl" 100000
	END
	chmod +x script
	entry -- ./script
	equal "$rc" 0
	equal "$(jq '.benchmarks | length' "$result")" 1
	near "exec_harness::$burn 100000" 100000
}

@test "harness: the figure is that of exec" {
	codspeed exec -m simulation --json alone.json --profile-folder p -- "$FIXTURES/burn" 100000 >"$out"
	entry -- 'exec-harness "$FIXTURES/burn" 100000'
	uri="exec_harness::$FIXTURES/burn 100000"
	inside=$(without_start "$uri")
	cp alone.json "$result"
	equal "$inside" "$(without_start "$uri")"
}

@test "harness: by a path, and as an applet of codspeed" {
	entry -- '"$CODSPEED_BIN" exec-harness --name path -- "$FIXTURES/burn-musl" 1000
"$BATS_TEST_TMPDIR/bin/exec-harness" --name link -- "$FIXTURES/burn-musl" 2000'
	equal "$rc" 0
	near exec_harness::path 1000
	near exec_harness::link 2000
}

@test "harness: a copy of the binary under its own name" {
	rm "$BATS_TEST_TMPDIR/bin/exec-harness"
	cp "$CODSPEED_BIN" "$BATS_TEST_TMPDIR/bin/exec-harness"
	entry -- 'exec-harness --name copy "$FIXTURES/burn-musl" 1000'
	equal "$rc" 0
	near exec_harness::copy 1000
}

@test "harness: the whole command, without a shell" {
	entry -- exec-harness --name only "$burn" 1000
	equal "$rc" 0
	near exec_harness::only 1000
}

@test "harness: a copy as the whole command, and one behind env" {
	mkdir copy
	cp "$CODSPEED_BIN" copy/exec-harness
	entry -- copy/exec-harness --name copy "$burn" 1000
	equal "$rc" 0
	near exec_harness::copy 1000
	entry -- env A=1 exec-harness --name env "$burn" 1000
	equal "$rc" 0
	near exec_harness::env 1000
}

@test "harness: one in the background is waited for" {
	entry -- 'exec-harness --name background "$FIXTURES/burn-musl" 300000 & exit 0'
	equal "$rc" 0
	near exec_harness::background 300000
}

@test "harness: one that is still there a while after the command is ended, and named" {
	entry -- 'exec-harness --name first "$FIXTURES/burn-musl" 1000; exec-harness sleep 4333 & sleep 1'
	gone 'sleep 4333'
	near exec_harness::first 1000
	says "$err" 'still running'
}

@test "harness: the time limit ends it and its benchmark" {
	entry --timeout 3s -- 'exec-harness --name first "$FIXTURES/burn-musl" 1000; exec-harness sleep 4334; :'
	equal "$rc" 1
	gone 'sleep 4334'
	near exec_harness::first 1000
}

@test "harness: several times, a list, and a tree, beside benchmarks with a URI" {
	entry -- 'exec-harness --name one "$FIXTURES/burn-musl" 100000
"$FIXTURES/entry_loop-musl" u::first 1000
echo "[{\"command\":[\"$FIXTURES/burn-musl\",\"2000\"],\"name\":\"listed 1\"},
	{\"command\":[\"$FIXTURES/burn-musl\",\"3000\"],\"name\":\"listed 2\"}]" | exec-harness -
exec-harness --name tree "$FIXTURES/ferry-musl" 1000 4000
"$FIXTURES/entry_loop-musl" u::second 5000'
	equal "$rc" 0
	equal "$(listed | sort)" "ok exec_harness::listed 1
ok exec_harness::listed 2
ok exec_harness::one
ok exec_harness::tree
ok u::first
ok u::second"
	near exec_harness::one 100000
	near 'exec_harness::listed 1' 2000
	near 'exec_harness::listed 2' 3000
	near exec_harness::tree 5000
	equal "$(figure exec_harness::tree 'processes | length')" 2
	equal "$(figure u::first)" 2020
	equal "$(figure u::second)" 10020
}

@test "harness: in parallel" {
	entry -- 'for i in 1 2 3 4 5 6; do
	exec-harness --name "p$i" "$FIXTURES/burn-musl" "${i}0000" &
	"$FIXTURES/entry_loop-musl" "u::$i" "${i}000" &
done; wait'
	equal "$rc" 0
	equal "$(jq '.benchmarks | length' "$result")" 12
	for i in 1 2 3 4 5 6; do
		near "exec_harness::p$i" "${i}0000"
		equal "$(figure "u::$i")" "$((i * 2000 + 20))"
	done
}

@test "harness: started by another program, behind env, in the background" {
	cat >start.c <<-'END'
		#include <unistd.h>
		int main(int argc, char **argv) { return argc < 2 || execvp(argv[1], argv + 1); }
	END
	need cc
	cc -o start start.c
	entry -- './start exec-harness --name started "$FIXTURES/burn-musl" 1000
env A=1 exec-harness --name env "$FIXTURES/burn-musl" 2000
nice -n 1 exec-harness --name nice "$FIXTURES/burn-musl" 3000'
	equal "$rc" 0
	near exec_harness::started 1000
	near exec_harness::env 2000
	near exec_harness::nice 3000
}

@test "harness: its output and status are the benchmark's" {
	entry -- 'exec-harness --name fails sh -c "echo out; echo err >&2; exit 7"; echo "status $?"'
	equal "$rc" 1
	equal "$(head -n 2 "$out")" $'out\nstatus 7'
	says "$err" err
	equal "$(listed)" 'failed exec_harness::fails'
	equal "$(figure exec_harness::fails 'notes[0]')" 'exit status 7'
}

@test "harness: one that fails spoils no other" {
	entry -- 'exec-harness --name bad "$FIXTURES/burn-musl" 1000 9
exec-harness --name none no-such-program
exec-harness --name good "$FIXTURES/burn-musl" 1000'
	equal "$rc" 1
	equal "$(figure exec_harness::bad status)" failed
	equal "$(figure exec_harness::good status)" ok
	near exec_harness::good 1000
}

@test "harness: in an environment that was cleared it refuses" {
	entry -- 'env -i PATH="$PATH" exec-harness -m simulation "$FIXTURES/burn-musl" 1000'
	equal "$rc" 1
	says "$err" 'exec-harness: error: not instrumented'
	says "$err" 'exit status 125'
}

@test "harness: alone, and under a foreign valgrind, it refuses" {
	run --separate-stderr "$BATS_TEST_TMPDIR/bin/exec-harness" -m simulation "$burn" 1000
	[ "$status" -eq 125 ]
	[ "${#stderr_lines[@]}" -eq 1 ]
	[[ $stderr == *'not instrumented: start it through codspeed (codspeed exec '* ]]
	CODSPEED_ENV=runner CODSPEED_PROFILE_FOLDER=$PWD run --separate-stderr valgrind -q --tool=none \
		"$BATS_TEST_TMPDIR/bin/exec-harness" -m simulation "$burn" 1000
	[ "$status" -eq 125 ]
	[[ $stderr == *'under a valgrind that codspeed did not start'* ]]
	equal "$(ls -A)" ""
}

@test "harness: the empty LD_PRELOAD that valgrind leaves does not reach the benchmark" {
	# Valgrind puts its own library in front of what is there, with a colon.
	codspeed exec -m simulation --profile-folder p -- sh -c 'echo "[$LD_PRELOAD]"; :' >alone
	entry -- 'exec-harness --name e sh -c "echo \"[\$LD_PRELOAD]\"; :"; :'
	equal "$(listed)" 'ok exec_harness::e'
	equal "$(head -n 1 "$out")" "$(head -n 1 alone)"
}

@test "harness: a runner inside a runner has results of its own" {
	entry -- '"$CODSPEED_BIN" run --json inner.json --profile-folder inner -- "$FIXTURES/entry_loop-musl" in::ner 1000
"$CODSPEED_BIN" exec --json other.json --profile-folder other -- "$FIXTURES/burn-musl" 1000
"$FIXTURES/entry_loop-musl" out::er 2000'
	equal "$rc" 0
	equal "$(listed)" 'ok out::er'
	equal "$(jq -r '.benchmarks[].uri' inner.json other.json)" \
		$'in::ner\n'"exec_harness::$burn 1000"
	says_not "$err" warning
}

# interrupted TEXT: SIGTERM to the runner alone once a benchmark sleeps
interrupted() {
	"$CODSPEED_BIN" run --profile-folder "$folder" --json "$result" -- \
		'exec-harness --name first "$FIXTURES/burn-musl" 1000
exec-harness --name second sh -c "echo ready; sleep 4331"'"$1" >"$out" 2>"$err" 3>&- &
	runner=$!
	wait_for "$out" ready
	kill -TERM "$runner"
	rc=0
	wait "$runner" || rc=$?
	equal "$rc" 143
	gone 'sleep 4331'
	near exec_harness::first 1000
}

@test "harness: SIGTERM to the runner reaches it and its benchmark" {
	interrupted ''
	interrupted '; :'
}
