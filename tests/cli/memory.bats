#!/usr/bin/env bats
# exec and run in memory mode: figures, results, failures, the lock.
# shellcheck disable=SC2016,SC2017,SC2030,SC2031,SC2034,SC2154 # variables of entry.bash and memory.bash

load helper
load ../fixtures/entry
load ../fixtures/memory

setup() {
	enabled RUN EXEC_HARNESS
	memory_entry_setup
}

teardown() {
	local id

	for id in $(pgrep -f -- "--profile-folder $BATS_TEST_TMPDIR/"); do
		kill -KILL "$id" 2>/dev/null || :
	done
	nothing_left
	[ ! -e /tmp/runner.ctl.fifo ]
	[ ! -e /tmp/runner.ack.fifo ]
}

# entry_memory [OPTION]... -- COMMAND...: as entry() of simulation
entry_memory() {
	rc=0
	rm -f "$result"
	patiently "$CODSPEED_BIN" run -m memory --profile-folder "$folder" --json "$result" "$@" \
		>"$out" 3>&- || rc=$?
	err=$BATS_TEST_TMPDIR/errors
}

# The shell that starts a benchmark is measured with it, so it is given time to come to its wait.
quiet='harness() { (sleep 0.3; exec exec-harness "$@"); }
'

metrics='metrics | [.peak_bytes, .total_bytes, .allocations, .frees, .leaked_bytes, .leaked_blocks,
	.temporary_allocations] | join(" ")'

# expected N MARK: those of `heap_blocks N`, for an even N up to 1000. The second mark comes while
# the odd sizes live.
expected() {
	local n=$1 mark=44441

	echo $((n / 2 * (n / 2) + mark)) $((n * (n + 1) / 2 + 2 * mark)) $((n + 2)) $((n / 2 + 2)) \
		$((n / 2 * (n / 2))) $((n / 2)) $((n / 2 + 2))
}

# minus FIGURES FIGURES
minus() {
	paste <(tr ' ' '\n' <<<"$1") <(tr ' ' '\n' <<<"$2") | awk '{ print $1 - $2 }'
}

@test "sudo: the command is run by who called, and reaches the FIFOs" {
	place=$(mktemp -d /tmp/sudo.XXXXXX) # the tests' own folder is closed to others
	chmod 755 "$place"
	cp "$CODSPEED_BIN" "$place/codspeed"
	cp "$blocks" "$place/blocks"
	CODSPEED_BIN=$place/codspeed SUDO_UID=65534 SUDO_GID=65534 \
		memory sh -c 'id -u; exec "$0" 10' "$place/blocks" >"$BATS_TEST_TMPDIR/told"
	rm -r "$place"
	equal "$(head -n 1 "$BATS_TEST_TMPDIR/told")" 65534
	[ "$(field '.metrics.allocations')" -ge 10 ]
}

@test "sudo: the command has all groups of who called" {
	need unshare
	{ cat /etc/group; echo codspeed-test:x:424242:nobody; } >"$BATS_TEST_TMPDIR/group"
	patiently unshare -m sh -c 'mount --bind "$1/group" /etc/group && exec env SUDO_UID=65534 \
		SUDO_GID=65534 "$CODSPEED_BIN" memtrack track -o "$1" -- id -G' sh "$BATS_TEST_TMPDIR" \
		>"$BATS_TEST_TMPDIR/told"
	equal "$(cat "$BATS_TEST_TMPDIR/told")" '65534 424242'
}

@test "exec: the figures are the program's, and nothing else's" {
	for build in '' -static -musl; do
		memory "$blocks$build" 0 >/dev/null # static glibc has a few blocks of its own at its start
		start=$(field ".$metrics")
		memory "$blocks$build" 1000 >/dev/null
		equal "$(field .status)" ok
		equal "$(field '.notes | length')" 0
		equal "$(minus "$(field ".$metrics")" "$start")" \
			"$(minus "$(expected 1000)" "$(expected 0)")"
	done
	for build in '' -musl; do
		memory "$blocks$build" 1000 >/dev/null
		equal "$(field ".$metrics")" "$(expected 1000)"
	done
}

@test "exec: the same in five runs" {
	for _ in 1 2 3 4 5; do
		memory python3 -c 'x = [bytes(1000) for _ in range(10000)]' >/dev/null
		equal "$(field .status)" ok
		[ "$(field .metrics.allocations)" -gt 10000 ]
		[ "$(field .metrics.total_bytes)" -gt 10000000 ]
	done
}

@test "exec: a realloc is one allocation, and the peak is not a sum" {
	memory "$FIXTURES/heap_calls" 1 realloc >/dev/null
	# 124 bytes twice, half as much more each time up to 10 MiB, and at last 1 byte and 20
	total=$((124 + 1 + 20 + 2 * 44441)) count=5
	for ((size = 124; size < 10 << 20; size += size / 2)); do
		total=$((total + size)) count=$((count + 1)) most=$size
	done
	equal "$(field ".$metrics" | cut -d' ' -f 1-6)" "$most $total $count $count 0 0"
}

@test "exec: results.json, the histogram and the timeline agree" {
	memory "$blocks" 1000 >/dev/null
	cmp "$result" "$folder/results.json"
	equal "$(jq -r '.version, .run.modes[], .benchmarks[0].mode' "$result")" $'1\nmemory\nmemory'
	equal "$(field '(.histogram | map(.[1]) | add) == .metrics.allocations')" true
	equal "$(field '(.histogram | map(.[2]) | add) == .metrics.total_bytes')" true
	equal "$(field '(.timeline | map(.[1]) | max) == .metrics.peak_bytes')" true
	equal "$(field '.timeline[-1][1]')" 0 # it has ended
	equal "$(field '.timeline | map(.[0]) | . == sort')" true
	equal "$(field '.metrics | keys_unsorted | join(" ")')" "peak_bytes total_bytes allocations \
frees leaked_bytes leaked_blocks temporary_allocations"
	zstd -qt "$folder"/results/*.MemtrackArtifact.msgpack
	[ -s "$folder/results/ExecutionTimestamps.msgpack" ]
}

@test "exec: a tree counts as one" {
	memory "$FIXTURES/heap_tree" spawn 10 "$FIXTURES/heap_tree-musl" leaf 100 >/dev/null
	[ "$(field .metrics.allocations)" -ge 1000 ]
	memory sh -c "$blocks 100; $blocks-musl 200; :" >/dev/null
	read -r _ _ allocations frees _ <<<"$(field ".$metrics")"
	[ "$allocations" -ge 304 ]
	[ "$frees" -ge 154 ]
}

# within VALUE FROM TO
within() {
	[ "$1" -ge "$2" ] && [ "$1" -le "$3" ] || equal "$1" "$2 to $3"
}

@test "exec: with a process its blocks go: the peak of a tree is no sum" {
	ten=10000000 few=100000 # what C libraries have of their own
	for build in '' -musl; do
		tree=$FIXTURES/heap_tree$build
		memory "$tree" hold 5 >/dev/null
		within "$(field .metrics.peak_bytes)" $ten $((ten + few))
		within "$(field .metrics.leaked_bytes)" $((5 * ten)) $((5 * ten + few))
		equal "$(field '.notes | length')" 0
		memory "$tree" again 4 >/dev/null # programs in one process
		within "$(field .metrics.peak_bytes)" $ten $((ten + few))
		within "$(field .metrics.leaked_bytes)" $((5 * ten)) $((5 * ten + few))
		memory "$tree" headless 0 >/dev/null # not with its first thread
		within "$(field .metrics.peak_bytes)" $((2 * ten)) $((2 * ten + few))
		within "$(field .metrics.leaked_bytes)" 0 $few
	done
	memory sh -c '"$0" again 0; "$0" again 0; "$0" again 0' "$FIXTURES/heap_tree" >/dev/null
	within "$(field .metrics.peak_bytes)" $ten $((ten + few))
	# without the ends: as of a memtrack that does not tell them
	rm "$folder"/results/*.MemtrackSupplement.txt
	codspeed show "$folder" --json "$result" >/dev/null
	within "$(field .metrics.peak_bytes)" $((3 * ten)) $((3 * ten + few))
	[[ $(field '.notes[]') == *'is not known (an old memtrack)'* ]]
}

@test "exec: standard output is the command's, and JSON alone with --json -" {
	patiently "$CODSPEED_BIN" exec -m memory --profile-folder "$folder" -- \
		printf 'a\0b\xff\n' >"$out"
	head -c 5 "$out" | cmp - <(printf 'a\0b\xff\n')
	patiently "$CODSPEED_BIN" exec -m memory --profile-folder "$folder" --json - -- \
		echo text >"$out"
	equal "$(jq .version "$out")" 1
	says "$BATS_TEST_TMPDIR/errors" text
}

@test "exec: the environment is handed on, and added to as it is told" {
	export ODD=$'a=b\nc' EMPTY='' LD_LIBRARY_PATH=/nowhere MALLOC_ARENA_MAX=1 GLIBC_TUNABLES=glibc.malloc.check=0
	memory sh -c "env -0 >'$out'" >/dev/null
	sort -z "$out" | grep -zv '^_=\|^BASH_FUNC' >got
	codspeed exec -m memory --print-env -- true | sed 's/=.*//' >added
	env -0 | sort -z | grep -zv '^_=\|^BASH_FUNC' >own
	comm -z -13 own got | sed -z 's/=.*//' | tr '\0' '\n' >new
	equal "$(sort new | grep -vxFf added)" ''
	equal "$(comm -z -23 own got | tr '\0' '\n')" ''
}

@test "exec: show prints what exec printed" {
	memory "$blocks" 100 >all
	sed '/^Malloc\|^Free/d' all >printed
	codspeed show "$folder" >"$out"
	cmp printed "$out"
	codspeed show "$folder" --json again.json >/dev/null
	cmp again.json "$result"
	grep -q 'Peak bytes' printed
}

@test "exec: a failing command is no benchmark" {
	code=0
	memory sh -c 'exit 42' || code=$?
	equal "$code" 1
	says "$BATS_TEST_TMPDIR/errors" 'exit status 42'
	code=0
	memory sh -c 'kill -SEGV $$' || code=$?
	equal "$code" 1
	says "$BATS_TEST_TMPDIR/errors" 'status 139'
	code=0
	memory no-such-program || code=$?
	equal "$code" 1
	says "$BATS_TEST_TMPDIR/errors" 'no-such-program: command not found'
	printf '#!/nowhere/interpreter\n' >stray
	chmod +x stray
	code=0
	memory ./stray || code=$?
	equal "$code" 1
	says "$BATS_TEST_TMPDIR/errors" './stray: its interpreter does not exist'
}

@test "exec: a harness or a memtrack that was killed is named" {
	run ! memory sh -c 'kill -KILL $PPID'
	grep -q 'nothing was measured: the harness was ended by signal 9' "$BATS_TEST_TMPDIR/errors"
	run ! memory sh -c 'kill -KILL $(ps -o ppid= $PPID)'
	grep -q 'nothing was measured: memtrack was ended by signal 9' "$BATS_TEST_TMPDIR/errors"
}

@test "exec: an unknown allocator makes it incomplete" {
	need strip
	strip -o bare "$FIXTURES/heap_calls-musl"
	code=0
	memory ./bare 3 >/dev/null || code=$?
	equal "$code" 1
	equal "$(field .status)" incomplete
	equal "$(field .metrics.allocations)" null
	equal "$(field '.notes[]')" "$PWD/bare is a static program without symbols: its allocations \
cannot be seen"
	says "$BATS_TEST_TMPDIR/errors" 'static program without symbols'
}

# A dynamic program is whole when its libc is: the one whose allocator cannot be found is not.
@test "exec: what memtrack could not look into makes the benchmark incomplete" {
	need strip
	strip -o bare "$FIXTURES/heap_calls-musl"
	strip -o dynamic "$FIXTURES/heap_blocks"
	memory ./dynamic 100 >/dev/null
	equal "$(field .status)" ok
	code=0
	memory sh -c './bare 3; exec "$0" 100' "$blocks" >/dev/null || code=$?
	equal "$code" 1
	equal "$(field .status)" incomplete
	[ "$(field .metrics.allocations)" -ge 102 ]
	equal "$(field '.notes[]')" "$PWD/bare is a static program without symbols: its allocations \
cannot be seen"
	codspeed show "$folder" --json again.json >/dev/null || :
	cmp again.json "$result"
	# 32 bits: exit(0) by int 0x80
	printf '%b' '\x7fELF\x01\x01\x01\0\0\0\0\0\0\0\0\0\x02\0\x03\0\x01\0\0\0\x54\x80\x04\x08\x34\0\0\0' \
		'\0\0\0\0\0\0\0\0\x34\0\x20\0\x01\0\0\0\0\0\0\0\x01\0\0\0\0\0\0\0\0\x80\x04\x08\0\x80\x04\x08' \
		'\x60\0\0\0\x60\0\0\0\x05\0\0\0\0\x10\0\0\x31\xc0\x40\x31\xdb\xcd\x80\x90\x90\x90\x90\x90' >old
	chmod +x old
	./old || skip "this kernel runs no 32-bit programs"
	memory sh -c './old; exec "$0" 100' "$blocks" >/dev/null || :
	equal "$(field .status)" incomplete
	equal "$(field '.notes[]')" "$PWD/old is a 32-bit program: its allocations cannot be seen"
}

# Go's own heap is not one of malloc: figures of C stay exact, and the rest is no gap.
@test "exec: a Go program is remarked on" {
	need go
	export GOCACHE=$BATS_TEST_TMPDIR/cache HOME=$BATS_TEST_TMPDIR GO111MODULE=off GOTOOLCHAIN=local
	cat >c.go <<-'END'
		package main
		/*
		#include <stdlib.h>
		static void *get(int n) { return malloc(n); }
		*/
		import "C"
		import "sync"
		func deep(n int) int {
			var room [256]int
			room[n%256] = n
			if n == 0 {
				C.free(C.get(777777))
				return 0
			}
			return deep(n-1) + room[n%256]
		}
		func main() {
			var all sync.WaitGroup
			for i := 0; i < 1000; i++ {
				all.Add(1)
				go func() { deep(100); all.Done() }()
			}
			all.Wait()
		}
	END
	printf 'package main\nfunc main() { b := make([]byte, 1000000); println(len(b)) }\n' >own.go
	go build -ldflags '-s -w' -o own own.go
	memory sh -c './own; exec "$0" 100' "$blocks" >/dev/null 2>&1
	equal "$(field .status)" ok
	equal "$(field '.notes[]')" "$PWD/own is a Go program: only what it allocates by C is counted"
	memory ./own >/dev/null || :
	equal "$(field .status)" incomplete # it is no zero
	CGO_ENABLED=1 go build -o c c.go || skip "this Go links no C"
	for _ in 1 2 3; do # on stacks that move
		memory ./c >/dev/null
		equal "$(field .status)" ok
		equal "$(field '[.histogram[] | select(.[0] == 1048576)][0] | .[1]')" 1000
	done
}

@test "run: what was measured before is whole" {
	need strip
	strip -o bare "$FIXTURES/heap_calls-musl"
	entry_memory -- 'exec-harness --name one "$FIXTURES/heap_blocks" 100 >/dev/null
./bare 3 >/dev/null
exec-harness --name two "$FIXTURES/heap_blocks" 100 >/dev/null'
	equal "$rc" 1
	equal "$(listed)" $'ok exec_harness::one\nincomplete exec_harness::two'
}

@test "exec: --timeout ends the command" {
	SECONDS=0 code=0
	OPTIONS=(--timeout 1s)
	memory sleep 4343 || code=$?
	equal "$code" 1
	says "$BATS_TEST_TMPDIR/errors" 'timed out after 1s'
	[ "$SECONDS" -lt 100 ]
	gone 'sleep 4343'
}

@test "run: several benchmarks, each with its own" {
	entry_memory -- "$quiet"'harness --name one "$FIXTURES/heap_blocks" 100 >/dev/null
harness --name two "$FIXTURES/heap_blocks-musl" 200 >/dev/null
"$FIXTURES/heap_blocks" 600 >/dev/null; echo between
harness --name three "$FIXTURES/heap_blocks" 300 >/dev/null'
	equal "$rc" 0
	equal "$(listed)" $'ok exec_harness::one\nok exec_harness::two\nok exec_harness::three'
	equal "$(figure exec_harness::one "$metrics")" "$(expected 100)"
	equal "$(figure exec_harness::two "$metrics")" "$(expected 200)"
	equal "$(figure exec_harness::three "$metrics")" "$(expected 300)"
	equal "$(sed 1q "$out")" between
	codspeed show "$folder" >shown
	sed 1d "$out" | cmp - shown
}

@test "run: what outlives a benchmark is ended, and not counted in the next" {
	entry_memory -- "$quiet"'exec-harness --name one sh -c "setsid \"$FIXTURES/heap_tree\" leaf 900000001 >/dev/null 2>&1 & \
setsid sh -c \"trap : TERM; sleep 4344; sleep 4344\" >/dev/null 2>&1 & \"$FIXTURES/heap_blocks\" 100" >/dev/null
harness --name two "$FIXTURES/heap_blocks" 100 >/dev/null'
	equal "$rc" 0
	equal "$(figure exec_harness::two "$metrics")" "$(expected 100)"
	[ "$(figure exec_harness::one metrics.allocations)" -gt 1000 ]
	says "$err" 'still running after the benchmark ended: heap_tree'
	gone 'leaf 900000001'
	gone 'sleep 4344'
}

@test "exec: a child that ends soon after its parent is waited for" {
	memory "$FIXTURES/heap_tree" linger 300 >/dev/null
	equal "$(field '.notes | length')" 0
	[ "$(field .metrics.allocations)" -ge 200 ] # the second half comes after its parent's end
	says_not "$BATS_TEST_TMPDIR/errors" running
}

@test "run: of benchmarks that overlap those are told, and no others" {
	entry_memory -- 'exec-harness --name one sleep 0.6 || echo one failed & sleep 0.3
exec-harness --name two "$FIXTURES/heap_blocks" 100 >/dev/null; wait
exec-harness --name three "$FIXTURES/heap_blocks" 100 >/dev/null'
	equal "$(figure exec_harness::two 'notes[]')" \
		'another benchmark started before it had stopped: the figures are of both'
	equal "$(figure exec_harness::three 'notes | length')" 0
	equal "$(listed)" $'ok exec_harness::two\nok exec_harness::three'
	says "$out" 'one failed'
}

# A memtrack that stands still: nobody waits for it longer than clients do, and its late answers are
# not taken for those to later requests.
@test "run: a memtrack that does not answer in time fails the benchmark, not the next" {
	entry_memory -- "$quiet"'blocks() { harness --name "$1" "$FIXTURES/heap_blocks" 100 >/dev/null; }
blocks one
kill -STOP $PPID; blocks two; blocks two; kill -CONT $PPID
blocks three; "$FIXTURES/heap_blocks" 600 >/dev/null; blocks four'
	equal "$rc" 0
	equal "$(listed)" $'ok exec_harness::one\nok exec_harness::three\nok exec_harness::four'
	for name in one three four; do
		equal "$(figure exec_harness::$name "$metrics")" "$(expected 100)"
	done
	says "$err" 'memtrack does not answer'
}

@test "run: the end of memtrack is the end of the run, at once" {
	SECONDS=0
	entry_memory -- 'trap "" TERM; exec-harness --name one true; kill -KILL $PPID
exec-harness --name two true || exec-harness --name three true'
	equal "$rc" 1
	[ "$SECONDS" -lt 15 ] || equal $SECONDS 'less than 15'
}

@test "run: no benchmark is an error with its cause" {
	entry_memory -- 'echo nothing'
	equal "$rc" 1
	says "$err" 'no CodSpeed integration'
	equal "$(<"$out")" nothing
	entry_memory --allow-empty -- 'exit 3'
	equal "$rc" 1
	says "$err" 'exit status 3'
	entry_memory --allow-empty -- 'echo nothing'
	equal "$rc" 0
}

@test "run: the entrypoint's own failure is told, the figures stay" {
	entry_memory -- "$quiet"'harness --name one "$FIXTURES/heap_blocks" 100 >/dev/null; exit 5'
	equal "$rc" 1
	says "$err" 'exit status 5'
	equal "$(figure exec_harness::one "$metrics")" "$(expected 100)"
}

# ---- The lock ----

# until_there FILE: a command under way has created it
until_there() {
	local i

	for ((i = 0; i < 300; i++)); do
		[ ! -e "$1" ] || return 0
		sleep 0.1
	done
	return 1
}

@test "lock: a simulation during a memory run is refused, and says why" {
	memory sh -c "touch under-way; sleep 2" >/dev/null 3>&- &
	pid=$!
	until_there under-way
	for command in 'exec -m simulation' 'run -m simulation'; do
		code=0
		# shellcheck disable=SC2086
		codspeed $command -- "$FIXTURES/burn" 1000 >"$out" 2>&1 || code=$?
		equal "$code" 3
		says "$out" 'tracks memory on this machine'
		[[ $(<"$out") =~ process\ [0-9]+ ]]
		kill -0 "${BASH_REMATCH[0]#process }"
	done
	run -125 codspeed memtrack track -- true
	wait $pid
}

@test "lock: a memory run during a simulation is refused, and says why" {
	codspeed exec -m simulation --profile-folder "$folder" -- sh -c 'touch under-way; sleep 2' \
		>/dev/null 2>&1 3>&- &
	pid=$!
	until_there under-way
	run -3 codspeed exec -m memory -- "$blocks" 10
	[[ $output == *'measures on this machine'* ]]
	run -125 codspeed memtrack track -- true
	[[ $output == *'measures on this machine'* ]]
	wait $pid
}

@test "lock: who has probes has it, even when the runner was killed" {
	need bpftool
	for ((i = 0; i < 600; i++)); do
		"$CODSPEED_BIN" exec -m memory --profile-folder "$folder" -- \
			sh -c "touch '$PWD/under-way'; exec '$FIXTURES/heap_tree' leaf 900000001" >"$out" 2>&1 3>&- &
		pid=$!
		while kill -0 $pid 2>/dev/null && [ ! -e under-way ]; do sleep 0.1; done
		[ ! -e under-way ] || break
	done
	sleep 0.3
	probes=$(probes_of $pid)
	[ -n "$probes" ]
	kill -KILL $pid
	# all the time until it is to be had there are no probes
	for ((i = 0; i < 100; i++)); do
		if flock -n -x /tmp true; then
			sleep 0.3 # the kernel frees programs a little later
			# shellcheck disable=SC2086 # numbers
			equal "$(probes_left $probes)" ''
			break
		fi
		sleep 0.05
	done
	[ "$i" -lt 100 ]
	gone 'leaf 900000001'
	# the FIFOs that it had no time to remove do not matter, and a simulation takes them away
	[ -e /tmp/runner.ctl.fifo ]
	patiently "$CODSPEED_BIN" exec -m simulation -- true >"$out"
	[ ! -e /tmp/runner.ctl.fifo ]
	[ ! -e /tmp/runner.ack.fifo ]
	memory "$blocks" 10 >/dev/null
	equal "$(field .status)" ok
}
