#!/usr/bin/env bats
# exec -m simulation: the exact cost of a command and of everything it starts.
# shellcheck disable=SC2016,SC2030,SC2031,SC2034,SC2154 # variables of simulation.bash and of bats

load helper
load ../fixtures/simulation

turn=6 # instructions of a turn of burn()

setup() {
	need valgrind
}

# What a user would type by hand.
callgrind_options=(
	--tool=callgrind --command-line-only=yes --trace-children=yes
	'--trace-children-skip=*esbuild,*.rustup-wrapped'
	--cache-sim=yes '--I1=32768,8,64' '--D1=32768,8,64' '--LL=8388608,16,64'
	--compress-strings=no --combine-dumps=yes --dump-line=no --collect-systime=nsec
	--read-inline-info=yes --instr-atstart=yes
	--dump-before=fork --dump-before=_Fork --dump-before=vfork --dump-before=clone
	--dump-before=clone3 --dump-before=execve --dump-before=execveat
)

# metrics_of FOLDER: instructions, hits and cycles of all dumps in it, by simulation.md section 5.
metrics_of() {
	awk '
		/^events:/ { for (i = 2; i <= NF; i++) column[$i] = i }
		/^totals:/ { for (name in column) sum[name] += $column[name] }
		END {
			ram = sum["ILmr"] + sum["DLmr"] + sum["DLmw"]
			ll = sum["I1mr"] + sum["D1mr"] + sum["D1mw"] - ram
			l1 = sum["Ir"] + sum["Dr"] + sum["Dw"] - ll - ram
			print sum["Ir"], l1, ll, ram, l1 + 5 * ll + 35 * ram
		}' "$1"/*.out
}

# by_hand COMMAND...: the metrics under callgrind without us; output to a pipe, as with us.
by_hand() {
	local hand=$folder.hand added

	mkdir "$hand"
	mapfile -t added < <("${plain_env[@]}" "$CODSPEED_BIN" exec -m simulation --print-env \
		--profile-folder "$folder")
	[ "${#added[@]}" -gt 5 ]
	"${plain_env[@]}" "${added[@]}" setarch -R valgrind "${callgrind_options[@]}" \
		--callgrind-out-file="$hand/%p.out" --log-file="$hand/%p.log" -- "$@" \
		</dev/null 2>&1 | cat >/dev/null
	metrics_of "$hand"
}

# same_by_hand COMMAND...: our metrics are those by hand, to the instruction.
same_by_hand() {
	measure "$@"
	equal "$(field '.metrics | [.instructions, .l1_hits, .ll_hits, .ram_hits, .estimated_cycles]
		| join(" ")')" "$(by_hand "$@")"
}

# difference LESS MORE COMMAND...: what the command costs more with the word MORE in the place of @
# than with the word LESS, in $difference. Both of one length, or the stack shifts.
difference() {
	local less=$1 more=$2 before

	shift 2
	[ "${#less}" -eq "${#more}" ]
	measure "${@//@/$less}"
	before=$ir
	measure "${@//@/$more}"
	difference=$((ir - before))
}

# grows_by INSTRUCTIONS LESS MORE COMMAND...: it is exactly this. Tried twice: a shell writes down
# process ids, which may gain or lose a digit between two runs.
grows_by() {
	local expected=$1

	shift
	difference "$@"
	[ "$difference" -eq "$expected" ] || difference "$@"
	equal "$difference" "$expected"
}

@test "exact: a dynamic program costs what callgrind says by hand" {
	need setarch
	same_by_hand "$FIXTURES/burn" 100000
	same_by_hand seq 1 1000
}

@test "exact: static programs, of glibc and of musl" {
	need setarch
	same_by_hand "$FIXTURES/burn-static" 100000
	same_by_hand "$FIXTURES/burn-musl" 100000
	close_to "$ir" $((turn * 100000)) 5000 # nothing but the loop
}

@test "exact: a stripped static program, whose start-up is unknown" {
	need setarch strip
	strip -o "$BATS_TEST_TMPDIR/burn" "$FIXTURES/burn-musl"
	same_by_hand "$BATS_TEST_TMPDIR/burn" 100000
	equal "$(field .metrics.startup_instructions)" null
}

@test "exact: a program and its forks cost the sum of the dumps by hand" {
	need setarch
	same_by_hand "$FIXTURES/ferry" 200000 100000
}

@test "start-up: what runs before main, and no more" {
	local program start

	measure "$FIXTURES/burn" 100000
	start=$(field .metrics.startup_instructions)
	close_to "$((ir - start))" $((turn * 100000)) 5000 # and what runs after it
	measure "$FIXTURES/burn" 900000
	equal "$(field .metrics.startup_instructions)" "$start"
}

@test "fork: the parent's cost is counted once" {
	for build in '' -static -musl; do
		grows_by $((turn * 100000)) 200000 300000 "$FIXTURES/ferry$build" @ 100000
		grows_by $((turn * 100000)) 200000 300000 "$FIXTURES/ferry$build" 100000 @
		equal "$(field '.processes | length')" 2
		close_to "$(field '.processes[1].instructions')" $((turn * 300000)) 20000
	done
}

@test "fork: a chain of forks without exec" {
	grows_by $((turn * 100000 * 6)) 200000 300000 "$FIXTURES/chain" 5 @
	equal "$(field '.processes | length')" 6
	# each one is the child of the one before
	equal "$(field '[.processes[1:][].ppid] == [.processes[:-1][].pid]')" true
	close_to "$(field '.processes[5].instructions')" $((turn * 300000)) 20000
}

@test "start: fork, vfork, posix_spawn, system, popen" {
	for way in fork vfork spawn; do
		grows_by $((turn * 100000)) 200000 300000 "$FIXTURES/start" $way "$FIXTURES/burn" @
		equal "$(field '.processes | length')" 2
		equal "$(field '.processes[1].ppid == .processes[0].pid')" true
		equal "$(field '.processes[1].command')" "$FIXTURES/burn 300000"
	done
	for way in system popen; do
		grows_by $((turn * 100000)) 200000 300000 "$FIXTURES/start" $way "$FIXTURES/burn @"
		close_to "$ir" $((turn * 300000)) 1500000
	done
}

@test "start: a static program that starts a static program" {
	for start in '-static fork' '-static spawn' '-musl fork'; do
		grows_by $((turn * 100000)) 200000 300000 "$FIXTURES/start${start% *}" "${start#* }" \
			"$FIXTURES/burn-musl" @
		close_to "$ir" $((turn * 300000)) 100000
	done
}

# musl's posix_spawn() goes through __clone, assembly without a size, which callgrind cannot name.
@test "start: posix_spawn of static musl misses a few instructions, and is marked" {
	sim "$FIXTURES/start-musl" spawn "$FIXTURES/burn-musl" 200000
	[[ $(field '.notes[0]') == 'lower bound: '* ]]
	close_to "$(field .metrics.instructions)" $((turn * 200000)) 100000
}

@test "start: a fork by the bare system call repeats nothing, or is marked" {
	measure "$FIXTURES/start" fork "$FIXTURES/burn" 100000
	sim "$FIXTURES/start" syscall "$FIXTURES/burn" 100000
	close_to "$(field .metrics.instructions)" "$ir" 5000 ||
		[[ $(field '.notes[]') == "upper bound: "* ]]
	[ "$(field .metrics.instructions)" -ge "$ir" ] ||
		[[ $(field '.notes[]') == "lower bound: "*"start syscall "* ]]
}

@test "fork: a stripped static program's child repeats its parent, and is marked" {
	need strip
	strip -o "$BATS_TEST_TMPDIR/ferry" "$FIXTURES/ferry-musl"
	sim "$BATS_TEST_TMPDIR/ferry" 200000 100000
	[[ $(field '.notes[]') == "upper bound: "*"/ferry 200000 100000 (pid "* ]]
	close_to "$(field .metrics.instructions)" $((turn * 500000)) 20000
}

@test "exec in place: a stripped static program's cost before it is lost, and that is told" {
	need strip
	strip -o "$BATS_TEST_TMPDIR/hop" "$FIXTURES/hop-musl"
	sim "$BATS_TEST_TMPDIR/hop" 1 100000
	[[ $(field '.notes[]') == "lower bound: "*"/hop 1 100000 (pid "* ]]
	close_to "$(field .metrics.instructions)" $((turn * 100000)) 20000
}

@test "exec in place: every image of a process counts" {
	for build in '' -musl; do
		grows_by $((turn * 100000 * 4)) 200000 300000 "$FIXTURES/hop$build" 3 @
		equal "$(field '.processes | length')" 1
		equal "$(jq '.benchmarks[0].processes[0].images | length' "$folder/simulation.json")" 4
	done
}

@test "exec in place: from a thread that is not the first" {
	for build in '' -musl; do
		difference 200000 300000 "$FIXTURES/start$build" thread "$FIXTURES/burn-musl" @
		close_to "$difference" $((turn * 100000)) 5000 # how far the first one comes differs
		equal "$(field '.processes | length')" 1
		equal "$(field '.processes[0].command')" "$FIXTURES/burn-musl 300000"
		equal "$(jq '.benchmarks[0].processes[0].images | length' "$folder/simulation.json")" 2
	done
}

@test "threads: every thread counts" {
	for build in '' -musl; do
		difference 200000 300000 "$FIXTURES/threads$build" 4 @
		close_to "$difference" $((turn * 400000)) 5000 # waits for a lock differ
		close_to "$ir" $((turn * 1200000)) 200000
		equal "$(field '.processes | length')" 1
	done
}

@test "signals: a child that dies by a default action is counted in full" {
	for signal in 15 6 10; do
		measure "$FIXTURES/victim" $signal 300000
		equal "$(field '.processes[1].status')" $((128 + signal))
		close_to "$(field '.processes[1].instructions')" $((turn * 300000)) 20000
	done
}

@test "signals: a child that is killed outright makes the benchmark incomplete" {
	code=0
	sim "$FIXTURES/victim" 9 300000 || code=$?
	equal "$code" 1
	equal "$(field .status)" incomplete
	equal "$(field '.processes[1].instructions')" null
	equal "$(field '.processes[1].status')" 137
	[[ $(field '.notes[]') == "cost missing: "*"victim 9 300000 (pid "*killed* ]]
	[ "$(field .metrics.instructions)" -gt 50000 ] # the parent's own cost is there
}

# five_equal COMMAND...: five runs, one set of metrics
five_equal() {
	local first=

	for _ in 1 2 3 4 5; do
		measure "$@"
		first=${first:-$(field .metrics)}
		equal "$(field .metrics)" "$first" || return 1
	done
}

@test "spread: five runs are equal in every metric" {
	printf '%s\n' pear fig apple fig >"$BATS_TEST_TMPDIR/words"
	five_equal seq 1 1000
	five_equal sort "$BATS_TEST_TMPDIR/words"
	# a shell writes down process ids, which may gain a digit on the way
	five_equal sh -c 'seq 1000 | wc -l' || five_equal sh -c 'seq 1000 | wc -l'
}

@test "shell: background jobs and their shell add up" {
	measure sh -c "$FIXTURES/burn 200000 & $FIXTURES/burn 100000 & wait"
	close_to "$ir" $((turn * 300000)) 1200000
	equal "$(field '.processes | length')" 3
	equal "$(field '.processes[0].ppid')" 0
	equal "$(field '[.processes[1:][].ppid] == [.processes[0].pid, .processes[0].pid]')" true
	equal "$(field '[.processes[].status] | join(" ")')" "0 0 0"
	equal "$(field '[.processes[].instructions] | add')" "$ir"
}

@test "shell: many at once, each with an exec in place" {
	measure sh -c "for i in 1 2 3 4 5 6 7 8 9 10; do $FIXTURES/hop-musl 1 100000 & done; wait"
	close_to "$ir" $((turn * 2000000)) 500000
	equal "$(field '.processes | length')" 11
	equal "$(field '[.processes[1:][].instructions | . > 1200000 and . < 1250000] | all')" true
	equal "$(jq '[.benchmarks[0].processes[].images[]] | length' "$folder/simulation.json")" 31
}

@test "shell: subshells repeat nothing" {
	measure sh -c 'i=0; while [ $i -lt 40 ]; do (:); i=$((i + 1)); done'
	equal "$(field '.processes | length')" 41
	equal "$(field '[.processes[1:][].instructions | . < 20000] | all')" true
}

@test "shell: a benchmark is named after its command" {
	measure sh -c "exec $FIXTURES/burn-musl 1000"
	equal "$(field .name)" "sh -c exec $FIXTURES/burn-musl 1000"
	equal "$(field .uri)" "exec_harness::sh -c exec $FIXTURES/burn-musl 1000"
	OPTIONS=(--name quick)
	measure sh -c "exec $FIXTURES/burn-musl 1000"
	equal "$(field .name)" quick
	equal "$(field .uri)" exec_harness::quick
}

@test "wrappers: each is counted with what it executes in place" {
	measure "$FIXTURES/burn" 300000
	alone=$ir
	for wrapper in "env A=1" "env -i PATH=$PATH" "nice -n5" setsid "taskset -c 0" nohup \
		"chrt -o 0" "stdbuf -oL"; do
		need "${wrapper%% *}"
		# shellcheck disable=SC2086
		measure $wrapper "$FIXTURES/burn" 300000
		close_to "$ir" "$alone" 600000
		[ "$ir" -gt "$((alone + 50000))" ]
		equal "$(field .name)" "$wrapper $FIXTURES/burn 300000"
		equal "$(field '.processes | length')" 1
		equal "$(field '.processes[0].command')" "$FIXTURES/burn 300000"
		equal "$(jq -c '[.benchmarks[0].processes[0].images[].measured]' \
			"$folder/simulation.json")" '[true,true]'
	done
}

@test "environment: a cleared one hides nothing" {
	grows_by $((turn * 100000)) 200000 300000 "$FIXTURES/bare" "$FIXTURES/burn" @
	grows_by $((turn * 100000)) 200000 300000 env -i "$FIXTURES/burn" @
	grows_by $((turn * 100000)) 200000 300000 \
		sh -c "unset LD_PRELOAD; $FIXTURES/burn @; $FIXTURES/bare $FIXTURES/burn-musl 5"
	equal "$(field '.processes | length')" 3
}

@test "scripts: shebangs, scripts as interpreters, none at all" {
	cd "$BATS_TEST_TMPDIR"
	printf '#!/bin/sh\n%s "$1"\n' "$FIXTURES/burn" >plain
	printf '#!%s/plain\n' "$PWD" >second
	printf '%s 300000\n' "$FIXTURES/burn" >none
	printf '#!/usr/bin/env -S sh -e\n%s 300000\n' "$FIXTURES/burn" >split-words
	printf '#!/bin/sh\nexec "%s" "$@"\n' "$FIXTURES/burn" >shim
	chmod +x plain second none split-words shim
	grows_by $((turn * 100000)) 200000 300000 ./plain @
	measure sh -c ./none
	close_to "$ir" $((turn * 300000)) 1200000
	measure ./split-words
	close_to "$ir" $((turn * 300000)) 1600000
	measure ./shim 300000
	close_to "$ir" $((turn * 300000)) 1200000
	equal "$(field '.processes | length')" 1
}

@test "scripts: argv[0] is as without us" {
	ln -s "$FIXTURES/words" "$BATS_TEST_TMPDIR/other-name"
	measure "$BATS_TEST_TMPDIR/other-name" one
	equal "$(sed 2q "$BATS_TEST_TMPDIR/output")" "[$BATS_TEST_TMPDIR/other-name]"$'\n[one]'
	PATH=$BATS_TEST_TMPDIR:$PATH
	plain_env=(env -i PATH="$PATH")
	measure other-name
	equal "$(sed 1q "$BATS_TEST_TMPDIR/output")" "[other-name]"
	measure env other-name
	equal "$(sed 1q "$BATS_TEST_TMPDIR/output" | sed 's|.*/||; s|^\[||')" "other-name]"
}

@test "skipped: a program that valgrind must not trace is named, with the pattern" {
	cp "$FIXTURES/burn-musl" "$BATS_TEST_TMPDIR/esbuild"
	sim sh -c "$BATS_TEST_TMPDIR/esbuild 100000; $FIXTURES/burn-musl 300000"
	[[ $(field '.notes[]') == *"$BATS_TEST_TMPDIR/esbuild 100000"*"*esbuild"* ]]
	equal "$(field '.processes | length')" 3
	close_to "$(field .metrics.instructions)" $((turn * 300000)) 400000
}

@test "python: processes that it starts are counted" {
	need python3
	python=$(python3 -c 'import sys; print(sys.executable)')
	sim "$python" -c "import subprocess as s; [s.run(['$FIXTURES/burn', '300000']) for _ in range(3)]"
	equal "$(field .status)" ok
	equal "$(field '.processes | length')" 4
	close_to "$(instructions '^[^ ]*burn 300000$')" $((turn * 900000)) 9000000
	equal "$(field '[.processes[].instructions] | add')" "$(dumped "$folder")"
}
