#!/usr/bin/env bats
# exec -m simulation: how it ends: children that stay, signals, time limits. Nothing is left behind.
# shellcheck disable=SC2016,SC2030,SC2031,SC2034,SC2154 # variables of simulation.bash and of bats

load helper
load ../fixtures/simulation

turn=6 # instructions of a turn of burn()
burn=$FIXTURES/burn-musl

setup() {
	need valgrind pgrep
	errors=$BATS_TEST_TMPDIR/errors
	export TMPDIR=$BATS_TEST_TMPDIR/tmp
	mkdir "$TMPDIR"
	# a number that only this test sleeps for, to find its processes by
	nap=$((100000 + $$ * 10 + BATS_TEST_NUMBER))
}

teardown() {
	end_own "$BATS_TEST_TMPDIR"
}

# begin OPTION... -- COMMAND...: exec in the background, its id in $runner; goes on when a file
# that the command makes is there. Signals are as for a program started from a terminal.
begin() {
	env --default-signal=INT,QUIT "$CODSPEED_BIN" exec -m simulation --profile-folder "$TMPDIR/p" \
		"$@" >"$BATS_TEST_TMPDIR/output" 2>"$errors" </dev/null 3>&- 4>&- &
	runner=$!
	for _ in {1..100}; do
		[ ! -e "$TMPDIR/begun" ] || return 0
		sleep 0.1
	done
	return 1
}

# A command that sleeps with a child of its own, once it has told that it began.
sleeper() {
	echo "sleep $nap & : >'$TMPDIR/begun'; wait"
}

# ended_by STATUS: the runner ends so, long before the command would, and all that it started with it.
ended_by() {
	local code=0 began=$SECONDS

	wait "$runner" || code=$?
	equal "$code" "$1"
	[ $((SECONDS - began)) -le 15 ]
	gone "sleep $nap"
}

# nothing_left: no trace but the profile folder
nothing_left() {
	rm -f "$TMPDIR/begun"
	equal "$(ls -A "$TMPDIR")" p
	run find "$TMPDIR/p" ! -type d ! -name '*.out' ! -name '*.log' ! -name '*.json'
	[ -z "$output" ]
}

# ---- Children that stay ----

@test "children: one that outlives its parent is waited for, told, and ended" {
	began=$SECONDS
	# captured: the reader waits for the end of the pipe, which the child holds
	output=$(sim sh -c "sleep $nap & $burn 300000" 2>"$errors")
	[ $((SECONDS - began)) -le 15 ]
	gone "sleep $nap"
	[[ $(<"$errors") == *"still running after the benchmark ended: "*"sleep $nap (pid "* ]]
	[[ $output == *"sleep $nap (pid "*"still running when the benchmark had ended"* ]]
	result=$(compgen -G "$BATS_TEST_TMPDIR/profile.*.json")
	equal "$(field .status)" ok
	[ "$(instructions "^$burn")" -ge $((turn * 300000)) ]
	[ "$(instructions "sleep $nap")" -gt 100000 ] # its dump was written
}

@test "children: a daemon of its own session that holds the output" {
	began=$SECONDS
	output=$(sim "$FIXTURES/linger" 120 2>"$errors")
	[ $((SECONDS - began)) -le 15 ]
	gone "linger 120"
	[[ $output == left* ]]
	[[ $(<"$errors") == *"linger 120 (pid "* ]]
	result=$(compgen -G "$BATS_TEST_TMPDIR/profile.*.json")
	equal "$(field '.processes | length')" 3
	equal "$(field '[.processes[1:][].ppid] == [.processes[:-1][].pid]')" true
}

@test "children: one that does not listen is killed, and its cost is missing" {
	code=0
	sim sh -c "sh -c 'trap \"\" TERM; sleep $nap; sleep $nap' & sleep 0.5; $burn 1000" \
		>/dev/null 2>"$errors" || code=$?
	gone "sleep $nap"
	equal "$code" 1
	equal "$(field .status)" incomplete
	[ "$(field .metrics.instructions)" -gt 100000 ]
	equal "$(field '[.processes[] | select(.instructions == null)] | length > 0')" true
}

@test "children: one that ends by itself soon after is counted in full" {
	run --separate-stderr sim sh -c "$burn 300000 & exit 0"
	[ "$status" -eq 0 ]
	[ -z "$stderr" ]
	result=$(compgen -G "$BATS_TEST_TMPDIR/profile.*.json")
	equal "$(field '.notes | length')" 0
	close_to "$(instructions "^$burn")" $((turn * 300000)) 20000
}

@test "children: without ptrace they are told and ended all the same" {
	run "$FIXTURES/deny" ptrace true
	[ "$status" -eq 0 ] || require_or_skip seccomp "no seccomp filters here" || return 1
	plain_env+=("$FIXTURES/deny" ptrace)
	sim sh -c "sleep $nap & $burn 1000" >/dev/null 2>"$errors" || :
	gone "sleep $nap"
	[[ $(<"$errors") == *"sleep $nap"* ]]
}

# ---- Signals to the runner ----

@test "signals: INT, TERM, HUP and QUIT end the tree, then us" {
	for signal in INT:130 TERM:143 HUP:129 QUIT:131; do
		begin -- sh -c "$(sleeper)"
		kill -"${signal%:*}" "$runner"
		ended_by "${signal#*:}"
		nothing_left
		[ -s "$TMPDIR/p/simulation.json" ]
		equal "$(jq -r '.benchmarks[0].status' "$TMPDIR/p/results.json")" failed
	done
}

@test "signals: a benchmark that ignores them is killed" {
	begin -- sh -c "trap '' INT TERM; sleep $nap & : >'$TMPDIR/begun'; sleep $nap; sleep $nap"
	kill -INT "$runner"
	ended_by 130
	nothing_left
}

@test "signals: twice quickly" {
	begin -- sh -c "trap '' INT TERM; sleep $nap & : >'$TMPDIR/begun'; sleep $nap"
	kill -INT "$runner"
	kill -INT "$runner"
	kill -TERM "$runner"
	ended_by 130
	nothing_left
}

@test "signals: to the whole group, as from a terminal" {
	need setsid
	setsid env --default-signal=INT,QUIT "$CODSPEED_BIN" exec -m simulation \
		--profile-folder "$TMPDIR/p" -- sh -c "$(sleeper)" >"$errors" 2>&1 </dev/null 3>&- 4>&- &
	runner=$!
	for _ in {1..100}; do [ -e "$TMPDIR/begun" ] && break || sleep 0.1; done
	kill -INT -- "-$runner"
	ended_by 130
	nothing_left
}

@test "signals: before the benchmark has begun" {
	for delay in 0.01 0.03 0.06 0.1 0.2; do
		run timeout --foreground --preserve-status -s TERM $delay "$CODSPEED_BIN" exec \
			-m simulation --profile-folder "$TMPDIR/p" -- sh -c "$(sleeper)" 3>&- 4>&-
		equal "$status" 143
		gone "sleep $nap"
	done
	# valgrind unlinks its own files some microseconds after it made them
	run find "$TMPDIR" -mindepth 1 -maxdepth 1 ! -name p ! -name begun ! -name 'valgrind_proc_*'
	[ -z "$output" ]
}

@test "signals: one that was ignored before stays so" {
	need nohup
	run --separate-stderr timeout 20 bash -c '
		trap "" HUP
		"$0" exec -m simulation --profile-folder "$TMPDIR/p" -- sh -c "sleep 1; echo done" &
		sleep 0.6
		kill -HUP $!
		wait $!' "$CODSPEED_BIN"
	[ "$status" -eq 0 ]
	[ "${lines[0]}" = "done" ]
}

@test "signals: children are seen to end where the caller ignores SIGCHLD" {
	run --separate-stderr timeout 20 env --ignore-signal=CHLD "$CODSPEED_BIN" exec -m simulation \
		--profile-folder "$TMPDIR/p" -- "$burn" 1000
	[ "$status" -eq 0 ]
	equal "$(jq -r '.benchmarks[0].status' "$TMPDIR/p/results.json")" ok
}

@test "signals: a stopped benchmark can still be ended" {
	begin -- sh -c ": >'$TMPDIR/begun'; kill -STOP \$\$; sleep $nap"
	sleep 0.3
	kill -TERM "$runner"
	ended_by 143
}

@test "signals: a benchmark stops and goes on as without us" {
	begin -- sh -c "echo \$\$ >'$TMPDIR/pid'; : >'$TMPDIR/begun'; kill -STOP \$\$; $burn 300000"
	sleep 0.5
	kill -0 "$runner"
	kill -CONT "$(<"$TMPDIR/pid")"
	rm "$TMPDIR/pid"
	ended_by 0
	equal "$(jq -r '.benchmarks[0].status' "$TMPDIR/p/results.json")" ok
}

@test "signals: the benchmark can end gracefully, and its end counts" {
	begin -- sh -c "trap '$burn 300000; exit 0' TERM; : >'$TMPDIR/begun'; sleep $nap & wait"
	kill -TERM "$runner"
	ended_by 143
	equal "$(jq '[.benchmarks[0].processes[] | select(.command | startswith("'"$burn"'"))
		| .instructions > 1800000] | all' "$TMPDIR/p/results.json")" true
}

@test "kill: the runner's death takes the tree along" {
	begin -- sh -c "$(sleeper)"
	kill -KILL "$runner"
	ended_by 137
	gone "$TMPDIR/p"
}

@test "kill: also of a tree that ignores signals" {
	begin -- sh -c "trap '' TERM INT HUP; setsid sleep $nap & : >'$TMPDIR/begun'; sleep $nap"
	kill -KILL "$runner"
	ended_by 137
	gone "$TMPDIR/p"
}

@test "kill: the harness's death is told, and takes the tree along" {
	begin -- sh -c "$(sleeper)"
	kill -KILL "$(pgrep -P "$runner")"
	ended_by 1
	gone "$TMPDIR/p"
	grep -q 'killed by signal 9\|nothing was measured' "$errors"
}

@test "kill: the benchmark's death makes it failed and incomplete, never 0" {
	begin -- sh -c "$burn 300000; echo \$\$ >'$TMPDIR/pid'; : >'$TMPDIR/begun'; sleep $nap & wait"
	kill -KILL "$(<"$TMPDIR/pid")"
	rm "$TMPDIR/pid"
	ended_by 1
	grep -q 'killed by signal 9 (Killed)' "$BATS_TEST_TMPDIR/output"
	equal "$(jq -r '.benchmarks[0] | [.status, .processes[0].instructions, .processes[0].status]
		| map(tostring) | join(" ")' "$TMPDIR/p/results.json")" "failed null 137"
}

@test "kill: a child that had forked before makes the benchmark incomplete" {
	code=0
	sim sh -c "sh -c '$burn 1000; echo \$\$ >\"\$0\"; sleep $nap' '$TMPDIR/pid' &
		until [ -s '$TMPDIR/pid' ]; do sleep 0.1; done
		kill -KILL \$(cat '$TMPDIR/pid'); wait; exit 0" >/dev/null 2>"$errors" || code=$?
	equal "$code" 1
	equal "$(field .status)" incomplete
	equal "$(field '.processes[] | select(.status == 137) | .instructions')" null
}

# ---- Time limits ----

@test "timeout: the command is ended, and what there is is kept" {
	began=$SECONDS
	run --separate-stderr codspeed exec -m simulation --profile-folder "$TMPDIR/p" --timeout 1s -- \
		sh -c "$burn 1000; sleep $nap"
	[ "$status" -eq 1 ]
	[ $((SECONDS - began)) -le 15 ]
	gone "sleep $nap"
	[[ $stderr == *"timed out after 1s"* ]]
	equal "$(jq -r '.benchmarks[0].status' "$TMPDIR/p/results.json")" failed
	[ "$(jq '.benchmarks[0].metrics.instructions' "$TMPDIR/p/results.json")" -gt 200000 ]
	nothing_left
}

@test "timeout: a command that ignores it is killed" {
	began=$SECONDS
	run --separate-stderr codspeed exec -m simulation --profile-folder "$TMPDIR/p" --timeout 500ms -- \
		sh -c "trap '' TERM; sleep $nap & sleep $nap; sleep $nap"
	[ "$status" -eq 1 ]
	[ $((SECONDS - began)) -le 15 ]
	gone "sleep $nap"
	[[ $stderr == *"timed out after 500ms"* ]]
	nothing_left
}

@test "timeout: without ptrace the tree ends as well" {
	run "$FIXTURES/deny" ptrace true
	[ "$status" -eq 0 ] || require_or_skip seccomp "no seccomp filters here" || return 1
	run --separate-stderr "$FIXTURES/deny" ptrace "$CODSPEED_BIN" exec -m simulation \
		--profile-folder "$TMPDIR/p" --timeout 500ms -- sh -c "sleep $nap & wait"
	[ "$status" -eq 1 ]
	gone "sleep $nap"
}

@test "timeout: a command that computes, and one that ends in time" {
	run --separate-stderr codspeed exec -m simulation --profile-folder "$TMPDIR/p" --timeout 1s -- \
		"$burn" 100000000000
	[ "$status" -eq 1 ]
	[ "$(jq '.benchmarks[0].metrics.instructions' "$TMPDIR/p/results.json")" -gt 1000000 ]
	run --separate-stderr codspeed exec -m simulation --profile-folder "$TMPDIR/p" --timeout 60s -- \
		"$burn" 1000
	[ "$status" -eq 0 ]
	[[ $stderr != *timed* ]]
}

@test "timeout: must be a time" {
	for value in 0 -1s soon ''; do
		run --separate-stderr codspeed exec -m simulation --timeout="$value" -- "$burn" 1000
		[ "$status" -eq 2 ]
		[[ $stderr == *--timeout* ]]
	done
}
