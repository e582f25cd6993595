#!/usr/bin/env bats
# ab: two commands measured in turn.
# shellcheck disable=SC2030,SC2031

load helper

setup() {
	enabled AB
	need valgrind jq
	cd "$BATS_TEST_TMPDIR" || return 1
	mkdir t
	export TMPDIR=$PWD/t
	burn=$FIXTURES/burn-musl
}

teardown() {
	equal "$(ls -A "$BATS_TEST_TMPDIR/t")" ''
}

# ab ARGUMENT...
ab() {
	rc=0
	codspeed ab "$@" >out 2>err </dev/null || rc=$?
	out=$(<out) err=$(<err)
}

# row METRIC
row() {
	grep " $1 " out | tr -s ' '
}

@test "ab: a deterministic program is compared exactly, in every metric" {
	ab --rounds 2 -- "$burn 10000" -- "$burn 20000"
	equal "$rc" 0
	[[ $(row instructions) == *' +60,000 +'*'% regressed' ]]
	[[ $(row l1_hits) == *regressed ]]
	[[ $(row startup_instructions) == *unchanged ]]
	[[ $out == *'+60,000  burn [burn-musl]'* ]]
	[[ $out == "Base A: $burn 10000, head B: $burn 20000"* ]]
	ab --rounds 1 -- "$burn 10000" -- "$burn 10000"
	[[ $(row instructions) == *' 0 +0.00% unchanged' ]]
}

@test "ab: words, and text that needs a shell" {
	ab --rounds 1 -- "$burn" 10000 -- "$burn" 20000
	[[ $(row instructions) == *regressed ]]
	ab --rounds 1 -- "'$burn' 10000; true" -- "'$burn' 10000; true"
	equal "$rc" 0
	[[ $(row instructions) == *unchanged ]]
}

# a program whose rounds differ: a file counts them
noisy() {
	cat >"$1" <<-END
		#!/bin/sh
		read -r n <"\$0.n"
		echo \$((n + 1)) >"\$0.n"
		exec $burn \$(($2 + n % 3 * $3))
	END
	chmod +x "$1"
	echo 0 >"$1.n"
}

@test "ab: rounds that differ are tested in pairs" {
	noisy a 10000 10
	noisy b 20000 10
	ab --rounds 8 -- ./a -- ./b
	equal "$rc" 0
	# all of 8 pairs one way: 2 of 256 signs
	[[ $(row instructions) == *' 0.0078 regressed' ]]
	[[ $out == *'Wilcoxon signed-rank test over pairs'* ]]
	equal "$(cat a.n)" 8
	noisy c 10000 10
	echo 1 >c.n
	noisy d 10000 10
	ab --rounds 9 -- ./c -- ./d
	[[ $(row instructions) == *unchanged ]]
	ab --rounds 3 -- ./a -- ./b
	equal "$rc" 5
	[[ $(row instructions) == *'not comparable' ]]
	[[ $out == *'--rounds 8 at least'* ]]
}

@test "ab: gates" {
	ab --rounds 1 --fail-above instructions=10% -- "$burn 10000" -- "$burn 20000"
	equal "$rc" 4
	[[ $err == *'the limit is 10%'* ]]
	ab --rounds 1 --fail-above instructions=10% -- "$burn 20000" -- "$burn 10000"
	equal "$rc" 0
	noisy a 10000 10
	noisy b 20000 10
	ab --rounds 8 --fail-above instructions=10%,ram_hits=1000% -- ./a -- ./b
	equal "$rc" 4
	equal "$(wc -l <err)" 1
}

@test "ab: the commands' output is dropped, or shown; one step summary" {
	: >summary
	GITHUB_STEP_SUMMARY=$PWD/summary ab --rounds 2 -- 'echo one' -- 'echo two'
	[[ $out != *one$'\n'* ]]
	equal "$(grep -c '^### ' summary)" 1
	ab --rounds 1 --show-output -q -- 'echo one' -- 'echo two'
	equal "$out" $'one\ntwo'
}

@test "ab: what codspeed.yml says is for the project's benchmarks" {
	cat >codspeed.yml <<-END
		options:
		  min-rounds: 5
		  fail-above: instructions=1
		benchmarks:
		  - exec: ls
	END
	ab --rounds 1 -- "$burn 10000" -- "$burn 20000"
	equal "$rc" 0
	[[ $(row instructions) == *regressed ]]
}

@test "ab: a command that fails" {
	ab --rounds 3 -- "$burn 10" -- "$burn 10 3"
	equal "$rc" 1
	[[ $err == *"B: $burn 10 3 failed:"*"exit status 3"* ]]
	[ -z "$out" ]
	ab --rounds 3 -- none -- true
	equal "$rc" 1
	[[ $err == *'none: command not found'* ]]
}

@test "ab: a signal ends it, and leaves nothing" {
	"$CODSPEED_BIN" ab --rounds 3 -- 'sleep 60' -- true >out 2>err &
	pid=$!
	for ((i = 0; i < 100; i++)); do
		pgrep -P "$pid" >/dev/null && break
		sleep 0.1
	done
	sleep 1
	kill -TERM "$pid"
	rc=0
	wait "$pid" || rc=$?
	equal "$rc" 143
}

@test "ab: usage" {
	for arguments in '' '-- true' '-- true --' '-- -- true' 'true -- true' '--rounds 0 -- true -- true'; do
		# shellcheck disable=SC2086
		ab $arguments
		equal "$rc" 2
	done
}
