#!/usr/bin/env bats
# memtrack: how it ends, by itself and by signals, and what it refuses.
# shellcheck disable=SC2009,SC2016,SC2154 # ps: the states; variables of bats and of memory.bash

load helper
load ../fixtures/memory

setup() {
	need_memtrack
	PATH=$PATH:/usr/sbin
	need bpftool setpriv
	out=$BATS_TEST_TMPDIR/out
	mkdir "$out"
	# a number that only this test's processes have in their command lines
	long=9$(printf '%09d' $((RANDOM * RANDOM % 1000000000)))
	tree=$FIXTURES/heap_tree
}

teardown() {
	local id

	for id in $(pgrep -f " $long"); do
		kill -KILL "$id" 2>/dev/null || :
	done
}

# start COMMAND...: in the background, as a shell's job would be; the id in $pid, which measures by
# now, with $probes.
start() {
	local i

	for ((i = 0; i < 600; i++)); do
		env --default-signal=INT "$@" >"$BATS_TEST_TMPDIR/output" 2>"$BATS_TEST_TMPDIR/errors" 3>&- &
		pid=$!
		for ((; i < 600; i++)); do
			sleep 0.1
			kill -0 "$pid" 2>/dev/null || break
			if pgrep -f "heap_tree leaf $long" >/dev/null; then
				sleep 0.5
				probes=$(probes_of "$pid")
				[ -n "$probes" ]
				return
			fi
		done
		wait "$pid" || :
		grep -qE 'measures|tracks' "$BATS_TEST_TMPDIR/errors" || return 1
	done
	return 1
}

# Nothing of a run is there two seconds later: no stopped process, no probe, no watchdog, no lock.
nothing_left() {
	local i left

	for ((i = 0; i < 20; i++)); do
		left=$(ps -eo stat,args | grep -E "^T.* $long|^[^Z].*memtrack track .* $long" |
			grep -v grep) || :
		# shellcheck disable=SC2086 # numbers
		[ -z "$(probes_left $probes)" ] || left+=' probes'
		[ -n "$left" ] || return 0
		sleep 0.1
	done
	echo "$left" >&2
	return 1
}

# ended SIGNAL: the status is that of the signal.
ended() {
	local code=0

	wait "$pid" || code=$?
	equal "$code" $((128 + $(kill -l "$1")))
}

# whole: the artifact is valid and has what was recorded until then.
whole() {
	local allocations

	zstd -qdc "$out"/*.MemtrackArtifact.msgpack >"$BATS_TEST_TMPDIR/events" || return
	read -r allocations _ < <("$FIXTURES/heap_events" count 7000 7999 <"$BATS_TEST_TMPDIR/events")
	[ "$allocations" -gt 1000 ]
}

@test "signals: SIGINT and SIGTERM end the command, and keep the record" {
	for signal in INT TERM; do
		start "$CODSPEED_BIN" memtrack track -o "$out" -- "$tree" leaf "$long"
		kill -$signal "$pid"
		ended $signal
		whole
		nothing_left
		[ -z "$(pgrep -f " $long")" ]
		rm "$out"/*
	done
}

@test "signals: the whole tree ends" {
	for signal in INT TERM; do
		start "$CODSPEED_BIN" memtrack track -o "$out" -- \
			sh -c "$tree spawn 10000 $tree leaf $long; :"
		kill -$signal "$pid"
		ended $signal
		whole
		nothing_left
		[ -z "$(pgrep -f " $long")" ]
		rm "$out"/*
	done
}

@test "signals: SIGKILL leaves no stopped process and no probe" {
	start "$CODSPEED_BIN" memtrack track -o "$out" -- "$tree" leaf "$long"
	kill -KILL "$pid"
	ended KILL
	nothing_left
	[[ $(echo "$out"/*Artifact*) == *.incomplete ]]
}

# Processes are stopped at each file: kill it while they come by the hundred.
@test "signals: SIGKILL while files are looked at" {
	for delay in 0.00 0.02 0.05 0.1; do
		printf '#!/bin/sh\ni=0\nwhile [ $i -lt 200 ]; do i=$((i + 1)); cp "%s" "%s/p$i"; "%s/p$i" leaf 10; rm "%s/p$i"; done >/dev/null # %s' \
			"$tree" "$BATS_TEST_TMPDIR" "$BATS_TEST_TMPDIR" "$BATS_TEST_TMPDIR" "$long" \
			>"$BATS_TEST_TMPDIR/many"
		start "$CODSPEED_BIN" memtrack track -o "$out" -- sh -c "$tree leaf 1000;
			sh $BATS_TEST_TMPDIR/many & $tree leaf $long"
		sleep $delay
		kill -KILL "$pid"
		ended KILL
		nothing_left
		sleep 0.3
		equal "$(ps -eo stat,args | awk -v path="$BATS_TEST_TMPDIR" '/^T/ && index($0, path)')" ''
		# what the shell left behind goes on, and would still write when bats cleans up
		pkill -KILL -f "^sh $BATS_TEST_TMPDIR/many" || :
		for ((i = 0; i < 50; i++)); do
			pgrep -f "$BATS_TEST_TMPDIR/(many|p[0-9])" >/dev/null || break
			sleep 0.1
		done
	done
}

@test "status: the command's own, and 128 + N for a signal" {
	for code in 0 1 42 255; do
		run -"$code" patiently "$CODSPEED_BIN" memtrack track -o "$out" -- sh -c "exit $code"
	done
	run -139 patiently "$CODSPEED_BIN" memtrack track -o "$out" -- sh -c 'kill -SEGV $$'
	run -143 patiently "$CODSPEED_BIN" memtrack track -o "$out" -- sh -c 'kill -TERM $$'
}

@test "status: a command that is not there, or not a program" {
	cd "$BATS_TEST_TMPDIR"
	touch plain
	run -127 patiently "$CODSPEED_BIN" memtrack track -o "$out" -- no-such-program
	grep -q 'no-such-program: command not found' errors
	run -127 patiently "$CODSPEED_BIN" memtrack track -o "$out" -- ./no-such-file
	run -126 patiently "$CODSPEED_BIN" memtrack track -o "$out" -- ./plain
	run -126 patiently "$CODSPEED_BIN" memtrack track -o "$out" -- "$BATS_TEST_TMPDIR"
	printf '#!/nowhere/interpreter\n' >stray
	printf 'exit 0\n' >bare # execve() takes no script without its first line
	chmod +x stray bare
	for script in ./stray ./bare; do
		run -126 patiently "$CODSPEED_BIN" memtrack track -o "$out" -- $script
		[[ $(<"$BATS_TEST_TMPDIR/errors") == *"cannot execute ./"* ]]
	done
	equal "$(ls -A "$out")" '' # nothing ran: there is no record
	rmdir "$out"
}

@test "status: our own failures are 125" {
	run -125 codspeed memtrack -- true
	run -125 codspeed memtrack track
	run -125 codspeed memtrack track --no-such-option -- true
	run -125 codspeed memtrack track -o "$out/no/such" -- true
	[[ $output == *"$out/no/such cannot be written"* ]]
}

@test "shell text: upstream's form" {
	run -7 patiently "$CODSPEED_BIN" memtrack track "$tree leaf 100; exit 7" -o "$out"
	equal "$output" '100 100 704950 1'
	zstd -qdc "$out"/*.msgpack | "$FIXTURES/heap_events" count 7000 7999 >"$BATS_TEST_TMPDIR/count"
	equal "$(<"$BATS_TEST_TMPDIR/count")" "$output"
}

@test "output: the command's is passed on unchanged, and nothing is added" {
	printf 'a\0b\xff\n' >"$BATS_TEST_TMPDIR/in"
	patiently "$CODSPEED_BIN" memtrack track -o "$out" -- cat <"$BATS_TEST_TMPDIR/in" \
		>"$BATS_TEST_TMPDIR/got"
	cmp "$BATS_TEST_TMPDIR/in" "$BATS_TEST_TMPDIR/got"
	[ ! -s "$BATS_TEST_TMPDIR/errors" ]
}

@test "nothing: a command without any heap call leaves a valid record" {
	track "$FIXTURES/heap_blocks-static" 0 >/dev/null
	zstd -qt "$folder"/*.MemtrackArtifact.msgpack
}

@test "rights: without them the remedy is named" {
	# bats' own folders are closed to other users
	open=$(mktemp -d)
	chmod 777 "$open"
	cp "$CODSPEED_BIN" "$open/codspeed"
	cd "$open"
	user=(setpriv --reuid=65534 --regid=65534 --clear-groups)
	run -125 patiently "${user[@]}" "$open/codspeed" memtrack track -o "$open" -- true
	grep -q 'lacks cap_perfmon,cap_bpf; run it as root' "$BATS_TEST_TMPDIR/errors"
	run -125 patiently setpriv --bounding-set=-all "$open/codspeed" memtrack track -o "$open" -- true
	grep -q 'cap_bpf' "$BATS_TEST_TMPDIR/errors"
	run -3 patiently "${user[@]}" env TMPDIR="$open" "$open/codspeed" exec -m memory -- true
	grep -q 'it needs root, or a copy of codspeed' "$BATS_TEST_TMPDIR/errors"
	chmod 700 "$out"
	run -125 patiently "${user[@]}" "$open/codspeed" memtrack track -o "$out" -- true
	grep -qE 'cannot be written' "$BATS_TEST_TMPDIR/errors"
	rm -rf "$open"
}

@test "empty: a record without any event is whole, and not without a word" {
	track "$CODSPEED_BIN" --version >/dev/null
	equal "$(<"$BATS_TEST_TMPDIR/errors")" \
		"codspeed: warning: no heap call was seen, the record is empty (codspeed's own programs are never recorded)"
	equal "$(wc -c <"$events")" 0
}
