#!/usr/bin/env bats
# Walltime mode: exec-harness alone, exec and run. In one file, for there is one pair of FIFOs a
# machine, and times want it quiet.
# shellcheck disable=SC1003,SC2016,SC2030,SC2031,SC2034,SC2154 # variables of bats; texts for other shells

load helper

setup() {
	enabled WALLTIME
	folder=$BATS_TEST_TMPDIR/profile
	cd "$BATS_TEST_TMPDIR" || return 1
}

quick=(--warmup-time 0 --max-rounds)

# wall WORD...: exec, without a profile unless the words ask for one
wall() {
	"$CODSPEED_BIN" exec -m walltime --enable-profiler=false --profile-folder "$folder" "$@"
}

# timed FILTER: of the results
timed() {
	jq -r "$1" "$folder/results.json"
}

# rounds FILTER: of the harness's own record
rounds() {
	jq -r "$1" "$folder"/rounds-*.json
}

harness() {
	env CODSPEED_PROFILE_FOLDER="$folder" "$CODSPEED_BIN" exec-harness -m walltime "$@"
}

# says TEXT: standard error has it
says() {
	[[ $stderr == *"$1"* ]] || {
		printf 'not in: %s\n' "$stderr" >&2
		return 1
	}
}

# ---- The harness ----

@test "harness: writes upstream's file, without a runner into .codspeed" {
	"$CODSPEED_BIN" exec-harness "${quick[@]}" 4 --name a -- true
	file=$(echo .codspeed/results/*.json)
	equal "$(jq -r '.benchmarks[0] | [.name, .uri, .stats.rounds, .stats.iter_per_round] | join(" ")' "$file")" \
		"a exec_harness::a 4 1"
	equal "$(jq -r '[.creator.name, .creator.pid, .instrument.type] | join(" ")' "$file")" \
		"exec-harness $(basename "$file" .json) walltime"
	equal "$(tail -c 1 "$file")" "}"
	equal "$(jq -c '.benchmarks[0].config | keys' "$file")" \
		'["max_rounds","max_time_ns","min_round_time_ns","warmup_time_ns"]'
}

@test "harness: a list, each with its own limits" {
	harness - <<-END
		[{"command":["true"],"name":"two","walltime_args":{"warmup_time":"0","max_rounds":2}},
		 {"command":["sh","-c","exit 0"],"walltime_args":{"warmup_time":"0s","max_rounds":3}}]
	END
	equal "$(jq -r '.benchmarks[] | "\(.name) \(.stats.rounds)"' "$folder"/results/*.json)" \
		$'two 2\nsh -c exit 0 3'
}

@test "harness: what the list asks for is checked before anything runs" {
	run --separate-stderr -125 harness - <<-END
		[{"command":["touch","here"],"walltime_args":{"warmup_time":"0","max_rounds":2}},
		 {"command":["true"],"walltime_args":{"max_time":"1s","min_time":"2s"}}]
	END
	says "[1]"
	[ ! -e here ]
}

@test "harness: each round with its time, its use and its status" {
	harness "${quick[@]}" 3 --ignore-failure -- sh -c 'dd if=/dev/zero of=/dev/null bs=8M count=4 2>/dev/null; exit 3'
	equal "$(rounds '.columns | join(" ")')" "start end user_ns system_ns max_rss_bytes minor_faults major_faults voluntary_switches involuntary_switches status"
	equal "$(rounds '.benchmarks[0].rounds | length')" 3
	# 8 MB are in memory at once, and each page of them was asked for
	equal "$(rounds '[.benchmarks[0].rounds[] | .[1] > .[0] and .[4] > 8000000 and .[5] > 2000 and .[9] == 3] | all')" true
}

@test "harness: the time is from before the spawn to the exit" {
	harness "${quick[@]}" 3 -- sleep 0.05
	equal "$(rounds '[.benchmarks[0].rounds[] | .[1] - .[0] >= 50000000 and .[1] - .[0] < 500000000] | all')" true
}

@test "harness: standard input is empty, or a file from its start in every round" {
	seq 1 1000 >numbers
	echo lost | harness "${quick[@]}" 2 -- sh -c 'wc -l >>counts'
	equal "$(tr -d ' ' <counts | tr '\n' ' ')" "0 0 "
	rm counts
	harness "${quick[@]}" 3 --input numbers -- sh -c 'wc -l >>counts'
	equal "$(tr -d ' ' <counts | tr '\n' ' ')" "1000 1000 1000 "
	mkfifo pipe
	run --separate-stderr -125 timeout 5 env CODSPEED_PROFILE_FOLDER="$folder" \
		"$CODSPEED_BIN" exec-harness --input /dev/tty "${quick[@]}" 1 true
	says "--input"
	run --separate-stderr -125 harness --input "$BATS_TEST_TMPDIR" "${quick[@]}" 1 true
	says "not a plain file"
}

@test "harness: output is shown, dropped, drained or kept" {
	noisy=(sh -c 'echo out; echo err >&2')
	run --separate-stderr harness "${quick[@]}" 2 -- "${noisy[@]}"
	equal "$output" $'out\nout'
	equal "$stderr" $'err\nerr'
	for where in null pipe kept; do
		run --separate-stderr harness "${quick[@]}" 2 --name "$where" --output "$where" -- "${noisy[@]}"
		equal "$output$stderr" ""
	done
	equal "$(<kept)" $'out\nout'
}

@test "harness: a writer of much does not wait for the drain" {
	harness "${quick[@]}" 2 --output pipe -- dd if=/dev/zero bs=1M count=64 status=none
	equal "$(rounds '.benchmarks[0].outcome')" ok
}

@test "harness: a failing round names itself, and the status is the command's" {
	run --separate-stderr -3 harness --warmup-time 10ms --max-rounds 2 -- sh -c 'exit 3'
	says "exit status 3 in round 1 of the warm-up"
	run --separate-stderr -3 harness "${quick[@]}" 5 --name later -- \
		sh -c 'echo >>tries; [ $(wc -l <tries) -lt 3 ] || exit 3'
	says "exit status 3 in round 3 of measuring"
	equal "$(ls "$folder/results")" ""
}

@test "harness: failures are tolerated as listed, signals only by their number" {
	harness "${quick[@]}" 2 -i -- sh -c 'exit 3'
	harness "${quick[@]}" 2 --ignore-failure=1,3 -- sh -c 'exit 3'
	run -3 harness "${quick[@]}" 2 --ignore-failure=1,4 -- sh -c 'exit 3'
	run -137 harness "${quick[@]}" 2 -i -- sh -c 'kill -9 $$'
	harness "${quick[@]}" 2 -i=137 -- sh -c 'kill -9 $$'
	run --separate-stderr -125 harness "${quick[@]}" 2 -i=256 -- true
	says "at most 255"
}

@test "harness: a round that takes too long is ended and has failed" {
	SECONDS=0
	run --separate-stderr -125 harness "${quick[@]}" 2 --round-timeout 100ms -- sleep 60.25
	says "took longer than 100ms in round 1"
	run --separate-stderr -125 harness "${quick[@]}" 2 --timeout 50ms -- sleep 60.25
	says "took longer than 50ms in round 1"
	run --separate-stderr -125 harness "${quick[@]}" 2 --timeout soon -- true
	says "soon"
	run --separate-stderr -125 harness "${quick[@]}" 2 --round-timeout 100ms -- \
		sh -c 'trap "" TERM; while :; do sleep 60.25; done'
	[ "$SECONDS" -lt 10 ]
	run pgrep -f 'sleep 60.25$'
	[ "$status" -ne 0 ]
}

@test "harness: prepare before each round, cleanup once, and neither is timed" {
	harness "${quick[@]}" 3 --prepare 'sleep 1; echo prepare >>log' --cleanup 'echo cleanup >>log' \
		-- sh -c 'echo round >>log'
	equal "$(tr '\n' ' ' <log)" "prepare round prepare round prepare round cleanup "
	equal "$(rounds '[.benchmarks[0].rounds[] | .[1] - .[0] < 900000000] | all')" true
	harness "${quick[@]}" 2 --prepare 'sleep 64.25 &' -- true
	[[ $(jq -r '.benchmarks[0].notes[0]' "$(ls -t "$folder"/rounds-*.json | head -n 1)") == \
		"2 processes in all were still running after --prepare, before the round, and ended: sleep (pid "* ]]
	run --separate-stderr -7 harness "${quick[@]}" 3 --prepare 'exit 7' -- touch ran
	says "--prepare ended with exit status 7 in round 1"
	[ ! -e ran ]
}

@test "harness: an interrupted run is cleaned up after, and its results are there before" {
	harness --warmup-time 0 --max-rounds 1000 --cleanup 'sleep 0.5; ls profile >after' -- \
		sh -c 'echo >>count; exec sleep 0.05' 2>err &
	pid=$!
	while [ ! -e count ] || [ "$(wc -l <count)" -lt 4 ]; do sleep 0.02; done
	kill -TERM "$(pgrep -P $pid -f exec-harness || echo $pid)"
	wait $pid || :
	grep -q rounds- after
	[[ $(<err) != *cleanup* ]]
	run --separate-stderr -0 harness "${quick[@]}" 1 --cleanup 'exit 7' -- true
	says "true: --cleanup ended with exit status 7"
	[[ $stderr != *round* ]]
}

@test "harness: rounds run on the processors that were asked for" {
	need nproc
	harness "${quick[@]}" 1 --cpu 0 -- sh -c 'nproc >count'
	equal "$(<count)" 1
	run --separate-stderr -125 harness "${quick[@]}" 1 --cpu 1023 -- true
	says "--cpu 1023"
	run --separate-stderr -125 harness "${quick[@]}" 1 --cpu 1-0 -- true
	says "--cpu"
}

@test "harness: processes that a round leaves are ended and told" {
	harness "${quick[@]}" 2 -- sh -c 'sleep 61.25 & sleep 61.25 & true'
	[[ $(rounds '.benchmarks[0].notes | join(" ")') == *"4 processes in all were still running"*"sleep (pid "* ]]
	run pgrep -f 'sleep 61.25$'
	[ "$status" -ne 0 ]
}

@test "harness: interrupted, it keeps what it has" {
	harness --warmup-time 0 --max-rounds 1000 -- sh -c 'echo >>count; exec sleep 0.05' &
	pid=$!
	while [ ! -e count ] || [ "$(wc -l <count)" -lt 4 ]; do sleep 0.02; done
	harness_pid=$(pgrep -P $pid -f exec-harness || echo $pid)
	kill -TERM "$harness_pid"
	status=0
	wait $pid || status=$?
	equal "$status" 143
	equal "$(rounds '.benchmarks[0].outcome')" interrupted
	[ "$(jq '.benchmarks[0].stats.rounds' "$folder"/results/*.json)" -ge 3 ]
}

@test "harness: nothing of ours is open in a round" {
	# of its three standard ones only the numbers are the same
	"$FIXTURES/fds" list | sed 's/^\([012]\) .*/\1/' | sort >native
	"$CODSPEED_BIN" exec -m walltime --walltime-profiler sampler --profile-folder "$folder" \
		"${quick[@]}" 1 -- sh -c '"$0" list >fds' "$FIXTURES/fds"
	sed 's/^\([012]\) .*/\1/' fds | sort | diff native -
}

@test "harness: builtins and shell text are told what they need" {
	run --separate-stderr -127 harness "${quick[@]}" 1 -- cd /
	says "shell builtin"
	run --separate-stderr -127 harness "${quick[@]}" 1 -- 'sleep 2; true'
	says "sh -c"
}

# ---- exec ----

@test "exec: a table, and JSON with every round" {
	run --separate-stderr wall "${quick[@]}" 5 --json out.json -- true
	equal "$status" 0
	[[ ${lines[0]} == Benchmark*"Mean (95%)"*Median*Min*Max*Stdev*Rounds*Outliers*"Max RSS" ]]
	[[ ${lines[2]} == true*±*"5"* ]]
	equal "$(jq -c '.benchmarks[0].metrics | keys_unsorted' out.json)" \
		'["mean_ns","median_ns","min_ns","max_ns","stdev_ns","q1_ns","q3_ns","rounds","outliers","user_ns","system_ns","max_rss_bytes"]'
	equal "$(jq '.benchmarks[0].rounds | length' out.json)" 5
	equal "$(jq -r '.benchmarks[0] | (.rounds | min) == .metrics.min_ns and (.rounds | max) == .metrics.max_ns' out.json)" true
	equal "$(jq -r '.benchmarks[0] | [.mode, .status] | join(" ")' out.json)" "walltime ok"
	cmp out.json "$folder/results.json"
}

@test "exec: files are named from where codspeed is started" {
	mkdir sub
	echo hi >in.txt
	wall "${quick[@]}" 1 --working-directory sub --input in.txt --output out.txt -- sh -c 'cat; pwd'
	equal "$(<out.txt)" "hi"$'\n'"$PWD/sub"
}

@test "exec: a failed command is in the table, and exit 1" {
	run --separate-stderr -1 wall "${quick[@]}" 5 -- sh -c 'exit 3'
	[[ $output == *"! failed: the command ended with exit status 3 in round 1 of measuring"* ]]
	equal "$(timed '.benchmarks[0].status')" failed
	equal "$(timed '.benchmarks[0].metrics.mean_ns')" null
}

@test "exec: a failed command is told once where no table is wanted" {
	run --separate-stderr -1 wall -q "${quick[@]}" 1 -- sh -c 'exit 3'
	equal "$stderr" "codspeed: error: sh -c exit 3: the command ended with exit status 3 in round 1 of measuring"
}

@test "exec: several modes tell what went wrong also where no table is wanted" {
	need valgrind
	run --separate-stderr -1 "$CODSPEED_BIN" exec -q -m simulation,walltime --enable-profiler=false \
		--profile-folder "$folder" "${quick[@]}" 1 -- sh -c 'kill -9 $$'
	equal "$output" ''
	says "failed: killed by signal 9"
	says "exit status 137"
}

@test "exec: short commands get many rounds, in nanoseconds" {
	wall --warmup-time 0.1s --max-time 1s -- "$FIXTURES/burn-musl" 100 >/dev/null
	[ "$(timed '.benchmarks[0].metrics.rounds')" -gt 100 ] # 10,000 where nothing else runs
	equal "$(timed '[.benchmarks[0].rounds[] % 1000] | unique | length > 50')" true
}

@test "exec: names, output and the environment arrive as they are" {
	nasty=$'a b\'"$(x)\\\n\xff'
	run --separate-stderr env NASTY="$nasty" 'DOT.NAME%%=1' EMPTY= "$CODSPEED_BIN" exec -m walltime \
		--enable-profiler=false --profile-folder "$folder" "${quick[@]}" 1 --name $'n\xff\\' \
		--json - -- bash -c 'printf %s "$NASTY" >nasty; tr "\0" "\n" </proc/$$/environ >env; echo "$1" >word' bash "a b  c"
	equal "$status" 0
	printf %s "$nasty" | cmp - nasty
	grep -qFx 'DOT.NAME%%=1' env
	grep -qFx EMPTY= env
	equal "$(<word)" "a b  c"
	equal "$(timed '.benchmarks[0].name')" 'n\xff\\'
	equal "$(jq -r '.benchmarks[0].name' "$folder"/results/*.json)" 'n\xff\\'
}

@test "exec: without -m and without a valgrind it is walltime, with a note" {
	mkdir bin
	for name in sh true; do ln -s "$(type -P $name)" bin/$name; done
	run --separate-stderr env PATH="$PWD/bin" "$CODSPEED_BIN" exec --profile-folder "$folder" "${quick[@]}" 2 -- true
	equal "$status" 0
	says "install valgrind"
	equal "$(timed '.benchmarks[0].mode')" walltime
}

@test "exec: advice stands below the row, unless it is not wanted" {
	wall --warmup-time 50ms --max-rounds 50 -- "$FIXTURES/burn-musl" 1 >with
	grep -q '  note: a round (.*let a round do more work' with
	wall --warmup-time 50ms --max-rounds 50 --no-advice -- "$FIXTURES/burn-musl" 1 >without
	run ! grep note without
}

@test "exec: SIGINT shows what was measured, and nothing stays" {
	wall --warmup-time 0 --max-rounds 1000 -- sh -c 'echo >>count; sleep 0.05; true' >out 2>err &
	pid=$!
	while [ ! -e count ] || [ "$(wc -l <count)" -lt 4 ]; do sleep 0.02; done
	runner=$(pgrep -P $pid || echo $pid)
	kill -TERM "${runner%%$'\n'*}"
	status=0
	wait $pid || status=$?
	equal "$status" 143
	grep -q '! incomplete: interrupted by a signal after' out
	equal "$(timed '.benchmarks[0].status')" incomplete
	[ ! -e /tmp/runner.ctl.fifo ]
}

@test "exec: what a terminal sends to all of us reaches the command once, and it may clean up" {
	need python3
	cat >terminal.py <<-'END'
		import os, pty, sys, time
		pid, fd = pty.fork()
		if pid == 0:
		    os.execv(sys.argv[1], sys.argv[1:])
		while not os.path.exists("ready"):
		    time.sleep(0.02)
		os.write(fd, b"\x03")
		try:
		    while os.read(fd, 65536):
		        pass
		except OSError:
		    pass
		sys.exit(-os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
	END
	run -2 python3 terminal.py "$CODSPEED_BIN" exec -m walltime --enable-profiler=false \
		--profile-folder "$folder" "${quick[@]}" 1000 -- \
		bash -c 'trap "sleep 0.5; echo cleaned >>log; exit 1" INT; touch ready; for ((;;)); do sleep 0.1; done'
	equal "$(<log)" cleaned
}

@test "exec: a killed runner leaves no round behind" {
	wall --warmup-time 0 --max-rounds 1000 -- sleep 62.25 >out 2>err &
	pid=$!
	until pgrep -f 'sleep 62.25$' >/dev/null; do sleep 0.02; done
	pkill -KILL -P $pid 2>/dev/null || :
	kill -KILL $pid 2>/dev/null || :
	wait $pid || :
	for _ in $(seq 100); do
		pgrep -f '^sleep 62.25$' >/dev/null || break
		sleep 0.05
	done
	run pgrep -f '^sleep 62.25$'
	[ "$status" -ne 0 ]
}

@test "exec: limits that contradict are told before anything runs" {
	run --separate-stderr -2 wall --min-rounds 5 --max-rounds 3 -- touch here
	says "min-rounds (5) is above max-rounds (3)"
	[ ! -e here ]
	run --separate-stderr -2 wall --max-time=-5 -- true
	says "cannot be negative"
	run --separate-stderr -2 wall --max-time inf -- true
}

@test "exec: the options are in the help, other modes take them" {
	run codspeed exec --help
	[[ $output == *"walltime"*"--warmup-time"*"--ignore-failure"* ]]
}

# ---- Profiles ----

# hot_profile BACKEND: what it says of a program whose loop is known
hot_profile() {
	"$CODSPEED_BIN" exec -m walltime --walltime-profiler "$1" --profile-folder "$folder" \
		--warmup-time 50ms --max-time 200ms -- "$FIXTURES/burn-static" 20000000 >/dev/null
	grep -q '^burn-static;.*burn [0-9]*$' "$folder/profile-1.folded"
	# nearly all of its time is in there, and none of ours
	awk '{ n += $NF } /burn [0-9]*$/ { b += $NF } END { exit b < n * 0.8 }' "$folder/profile-1.folded"
	run ! grep -q exec-harness "$folder/profile-1.folded"
}

@test "profile: by perf" {
	need perf
	hot_profile perf
}

@test "profile: by the sampler, also of another user" {
	hot_profile sampler
	need root
	other=$(mktemp -d /tmp/walltime.XXXXXX)
	chmod 777 "$other"
	folder=$other/profile
	run --separate-stderr setpriv --reuid 65534 --regid 65534 --clear-groups "$CODSPEED_BIN" exec -m walltime \
		--walltime-profiler sampler --profile-folder "$folder" --warmup-time 50ms --max-time 200ms \
		-- "$FIXTURES/burn-static" 20000000
	[ -s "$folder/profile-1.folded" ] || status=no-profile
	rm -rf "$other"
	equal "$status" 0
	equal "$stderr" "codspeed: profiles: $folder/profile-1.folded"
}

@test "profile: short rounds are measured before they are sampled" {
	"$CODSPEED_BIN" exec -m walltime --walltime-profiler sampler --profile-folder "$folder" \
		--warmup-time 300ms --max-rounds 5 -- sh -c 'echo >>count' >/dev/null
	equal "$(timed '.benchmarks[0].metrics.rounds')" 5
	[ "$(wc -l <count)" -gt 10 ]
}

@test "profile: where none is possible, one warning, and the times are there" {
	mkdir bin
	ln -s "$(type -P true)" bin/true
	# a seccomp filter answers perf_event_open with EPERM
	run --separate-stderr env PATH="$PWD/bin" "$FIXTURES/deny" perf_event_open "$CODSPEED_BIN" exec \
		-m walltime --profile-folder "$folder" "${quick[@]}" 3 -- true
	equal "$status" 0
	equal "$(grep -c 'no profile is taken' <<<"$stderr")" 1
	equal "$(timed '.benchmarks[0].metrics.rounds')" 3
}

# ---- run ----

# entry JSON...: an integration that leaves these files
entry() {
	rm -rf files
	mkdir files
	for text; do
		number=$((number + 1))
		printf %s "$text" >"files/$number.json"
	done
	run --separate-stderr "$CODSPEED_BIN" run -m walltime --enable-profiler=false \
		--profile-folder "$folder" -- sh -c 'mkdir -p "$CODSPEED_PROFILE_FOLDER/results" && cp files/* "$CODSPEED_PROFILE_FOLDER/results" 2>/dev/null; true'
}

head='{"creator":{"name":"pytest-codspeed","version":"4.5.0","pid":1},"instrument":{"type":"walltime"}'

@test "run: results of other integrations are shown" {
	entry "$(<"$DATA/walltime/results_pytest_walltime.4244.json")" \
		"$(<"$DATA/walltime/results_node_walltime.4246.json")"
	equal "$status" 0
	equal "$(timed '[.benchmarks[] | "\(.uri) \(.metrics.mean_ns) \(.metrics.max_ns)"] | join(",")')" \
		"tests/t.py::test_a 150 201,a.js::b 150 201"
}

@test "run: results are validated" {
	run --separate-stderr -1 "$CODSPEED_BIN" run -m walltime --enable-profiler=false --profile-folder "$folder" -- true
	entry
	equal "$status" 1
	entry "$head"',"benchmarks":[]}'
	equal "$status" 1
	says "pytest-codspeed 4.5.0 ran, but measured no benchmark"
	entry "$head"',"benchmarks":[' # cut short
	equal "$status" 1
	says ".json:1:"
	entry "$(<"$DATA/walltime/results_pytest_memory.4245.json")"
	equal "$status" 1
	says "analysis"
	entry "$(<"$DATA/walltime/results_pytest_walltime.4244.json")" "$head"',"benchmarks":[]}'
	equal "$status" 1
	says "1 of 2 result files hold no benchmark"
}

@test "run: exec-harness in a script, and rounds from its markers" {
	ln -s "$CODSPEED_BIN" exec-harness
	run --separate-stderr "$CODSPEED_BIN" run -m walltime --walltime-profiler sampler \
		--profile-folder "$folder" -- \
		sh -c './exec-harness --warmup-time 0 --max-rounds 3 --name one true; ./exec-harness --warmup-time 0 --max-rounds 4 --name two true'
	equal "$status" 0
	equal "$(timed '[.benchmarks[] | "\(.name) \(.rounds | length)"] | join(" ")')" "one 3 two 4"
	rm "$folder"/rounds-*.json "$folder/results.json"
	run codspeed show --json shown.json "$folder"
	equal "$(jq -r '[.benchmarks[] | "\(.name) \(.rounds | length)"] | join(" ")' shown.json)" "one 3 two 4"
}

@test "run: rounds of several iterations are told in times of one" {
	ln -s "$CODSPEED_BIN" exec-harness
	codspeed run -m walltime --walltime-profiler sampler --profile-folder "$folder" -- \
		./exec-harness --warmup-time 0 --max-rounds 3 --name one true
	before=$(timed '[.benchmarks[0].rounds[] / 10 | floor] | tostring')
	rm "$folder"/rounds-*.json "$folder/results.json"
	file=$(echo "$folder"/results/*.json)
	jq '.benchmarks[0].stats |= (with_entries(if .key | endswith("_ns") then .value /= 10 else . end)
		| .iter_per_round = 10)' "$file" >tenth.json
	cp tenth.json "$file"
	codspeed show --json shown.json "$folder"
	equal "$(jq '.benchmarks[0].rounds | tostring' -r shown.json)" "$before"
	# where rounds had different numbers of iterations, markers do not tell what one took
	jq '.benchmarks[0].stats.iter_per_round = 5' tenth.json >"$file"
	codspeed show --json shown.json "$folder"
	equal "$(jq '.benchmarks[0].rounds | length' shown.json)" 0
}

@test "run: a daemon that is left behind does not hold it up" {
	ln -s "$CODSPEED_BIN" exec-harness
	SECONDS=0
	run --separate-stderr "$CODSPEED_BIN" run -m walltime --enable-profiler=false --profile-folder "$folder" -- \
		'(setsid sleep 63.25 &) ; ./exec-harness --warmup-time 0 --max-rounds 2 true'
	equal "$status" 0
	[ "$SECONDS" -lt 15 ]
	says "sleep (pid "
	run pgrep -f 'sleep 63.25$'
	[ "$status" -ne 0 ]
}

@test "run: hooks of a benchmark machine go around it" {
	need root unshare
	cat >hook <<-'END'
		#!/bin/sh
		echo "$(basename "$0") $*" >>"$HOOKS"
		case $0 in *wrap*) exec "$@" ;; esac
	END
	chmod +x hook
	export HOOKS=$PWD/hooks
	run --separate-stderr unshare -m sh -ec '
		mount -t tmpfs none /usr/local/bin
		for name in pre wrap post; do cp hook /usr/local/bin/codspeed-$name-bench; done
		"$0" exec -m walltime --enable-profiler=false --warmup-time 0 --max-rounds 2 --profile-folder "$1" -- true
		CODSPEED_ISOLATION=false "$0" exec -m walltime --enable-profiler=false --warmup-time 0 --max-rounds 2 --profile-folder "$1" -- true
	' "$CODSPEED_BIN" "$folder"
	equal "$status" 0
	equal "$(cut -d ' ' -f 1 hooks | tr '\n' ' ')" "codspeed-pre-bench codspeed-wrap-bench codspeed-post-bench "
	equal "$(timed '.benchmarks[0].metrics.rounds')" 2
}

@test "run: root under systemd measures in a scope, in place and with its environment" {
	need root unshare
	cat >systemd-run <<-'END'
		#!/bin/sh
		printf '%s\n' "$@" >"$GIVEN"
		while [ "$1" != -- ]; do shift; done
		shift
		exec "$@"
	END
	chmod +x systemd-run
	export GIVEN=$PWD/given
	run --separate-stderr unshare -m sh -ec '
		mkdir -p layer/upper layer/work
		mount -t tmpfs none layer
		mkdir layer/upper layer/work
		cp systemd-run layer/upper
		mount -t overlay none -o lowerdir=/usr/bin,upperdir=layer/upper,workdir=layer/work /usr/bin
		mount -t tmpfs none /run
		mkdir -p /run/systemd/system
		exec "$0" exec -m walltime --enable-profiler=false --warmup-time 0 --max-rounds 2 \
			--profile-folder "$1" -- sh -c "echo \$GIVEN >here"
	' "$CODSPEED_BIN" "$folder"
	[[ $stderr != *"mount: "* ]] || skip "no overlay here"
	equal "$status" 0
	equal "$(sed '/^--$/q' given | tr '\n' ' ')" \
		"--quiet --slice=codspeed.slice --scope --same-dir --uid=0 --gid=0 -- "
	equal "$(<here)" "$GIVEN"
}

@test "run: isolation that is asked for and cannot be had is told" {
	[ ! -e /run/systemd/system ] || skip "systemd runs here"
	run --separate-stderr env CODSPEED_ISOLATION=true "$CODSPEED_BIN" exec -m walltime \
		--enable-profiler=false --profile-folder "$folder" "${quick[@]}" 2 -- true
	equal "$status" 0
	says "systemd does not run here"
}

# ---- show ----

# ---- What others do with it ----

@test "ab: two commands by their times" {
	enabled AB
	run --separate-stderr codspeed ab -m walltime --rounds 8 -- 'sleep 0.02' -- 'sleep 0.06'
	equal "$status" 0
	[[ $output == *median_ns* && $output != *'not comparable'* ]]
}

@test "show: a walltime folder, with and without results.json" {
	wall "${quick[@]}" 3 --name shown -- true >/dev/null
	first=$(timed '.benchmarks[0].metrics')
	run codspeed show --json one.json "$folder"
	equal "$(jq '.benchmarks[0].metrics' one.json)" "$first"
	rm "$folder/results.json"
	run codspeed show --json two.json "$folder"
	equal "$(jq '.benchmarks[0].metrics' two.json)" "$first"
	[[ $output == *shown* ]]
}
