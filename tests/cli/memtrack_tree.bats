#!/usr/bin/env bats
# memtrack: process trees, threads, namespaces, and what comes in great numbers.
# shellcheck disable=SC2016,SC2034 # for shells inside; OPTIONS is of memory.bash

load helper
load ../fixtures/memory

setup() {
	need_memtrack
	tree=$FIXTURES/heap_tree
}

# The figures are the program's own, and nobody says anything.
same_count() {
	local told

	told=$(track "$@") || return
	events=$(echo "$BATS_TEST_TMPDIR"/track.*/events)
	[ ! -s "$BATS_TEST_TMPDIR/errors" ] || return
	equal "$(counted 7000 7999)" "$(tail -n 1 <<<"$told")" || return
	rm -r "$BATS_TEST_TMPDIR"/track.*
}

@test "fork: children without exec" {
	for build in '' -static -musl; do
		same_count "$tree$build" fork 20
	done
}

@test "fork: children free what they have inherited" {
	same_count "$tree" inherit 4
}

@test "spawn: 200 children, of any kind of parent and child" {
	same_count "$tree" spawn 200 "$tree-musl" leaf 100
	same_count "$tree-musl" spawn 200 "$tree" leaf 100
	same_count "$tree" vfork 200 "$tree-static" leaf 100
}

@test "spawn: 500 short processes" {
	same_count "$tree" spawn 500 "$tree" leaf 100
}

@test "spawn: a static program in a grandchild" {
	same_count sh -c "sh -c '$tree-musl leaf 1000; :'"
	same_count sh -c "env $tree-static leaf 1000; :"
}

@test "threads: 64 at once" {
	for build in '' -static -musl; do
		same_count "$tree$build" threads 1000
	done
}

@test "threads: 2000, one after the other" {
	same_count "$tree" short-threads 2000
}

@test "threads: an exec in one that is not the first" {
	same_count "$FIXTURES/start" thread "$tree-musl" leaf 1000
}

@test "signals: a timer that interrupts does not matter" {
	same_count "$tree" signals 50000
}

@test "left: a child that ends soon after the command is waited for" {
	same_count "$tree" linger 300
}

@test "left: a child that stays is named, whatever its name is" {
	cp "$tree" "$BATS_TEST_TMPDIR/memtrack-guard" # as a process of memtrack's own is called
	track "$BATS_TEST_TMPDIR/memtrack-guard" linger 3000 >/dev/null
	grep -q 'warning: still running after the command ended: memtrack-guard (pid ' \
		"$BATS_TEST_TMPDIR/errors"
	equal "$(counted 7000 7999)" '100 100 704950 1'
}

@test "namespaces: the command in one of its own" {
	need unshare
	same_count unshare --pid --fork "$tree" fork 20
	same_count unshare --user --map-root-user --pid --fork --mount-proc "$tree-musl" fork 20
}

@test "namespaces: memtrack in one" {
	need unshare
	# as root: the ids are those of the namespace
	mkdir "$BATS_TEST_TMPDIR/inside"
	patiently unshare --pid --fork --mount-proc "$CODSPEED_BIN" memtrack track \
		-o "$BATS_TEST_TMPDIR/inside" -- "$tree" fork 20 >"$BATS_TEST_TMPDIR/told"
	events=$BATS_TEST_TMPDIR/events
	record=$(echo "$BATS_TEST_TMPDIR"/inside/*.MemtrackArtifact.msgpack)
	zstd -qdc "$record" >"$events"
	equal "$(counted 7000 7999)" "$(<"$BATS_TEST_TMPDIR/told")"
	[ "$(basename "$record" .MemtrackArtifact.msgpack)" -lt 100 ]
	# realloc too
	patiently unshare --pid --fork --mount-proc "$CODSPEED_BIN" memtrack track \
		-o "$BATS_TEST_TMPDIR/inside" -- "$FIXTURES/heap_calls" 5 realloc >"$BATS_TEST_TMPDIR/told"
	zstd -qdc "$(find "$BATS_TEST_TMPDIR/inside" -newer "$events" -name '*.msgpack' | tail -n 1)" \
		>"$events.2"
	events=$events.2
	sed 's/^Free .*/Free/' "$BATS_TEST_TMPDIR/told" | diff - <(lines)
}

@test "namespaces: one inside memtrack's, whose ids cannot be told, fails the run" {
	need unshare
	mkdir "$BATS_TEST_TMPDIR/inside"
	run -125 patiently unshare --pid --fork --mount-proc "$CODSPEED_BIN" memtrack track \
		-o "$BATS_TEST_TMPDIR/inside" -- unshare --pid --fork "$tree" fork 5
	grep -q 'record is incomplete: .* threads' "$BATS_TEST_TMPDIR/errors"
	[ -z "$(find "$BATS_TEST_TMPDIR/inside" -name '*.msgpack')" ]
}

@test "parents: su and runuser stop when their child does, and go on" {
	need su runuser
	for i in 1 2 3; do # a new file each time, at which the child is stopped
		cp "$tree-static" "$BATS_TEST_TMPDIR/one$i"
		cp "$tree-static" "$BATS_TEST_TMPDIR/two$i"
		same_count timeout 20 runuser -u root -- "$BATS_TEST_TMPDIR/one$i" leaf 100
		same_count timeout 20 su -s /bin/sh root -c "'$BATS_TEST_TMPDIR/two$i' leaf 100"
	done
}

@test "left: orphans that have ended are no zombies, and are not told" {
	same_count bash -c 'for i in {1..100}; do (: &); done; sleep 0.5
		[ "$(ps -o stat= --ppid "$PPID" | grep -c ^Z)" -eq 0 ] || echo zombies >&2
		exec "$0" leaf 100' "$tree"
}

@test "numbers: two million pairs on one core, nothing is lost" {
	need taskset
	OPTIONS=(--ring-size 1)
	same_count taskset -c 0 "$tree" leaf 2000000
	patiently taskset -c 0 "$CODSPEED_BIN" memtrack track --ring-size 1 -o "$BATS_TEST_TMPDIR" -- \
		"$tree" leaf 500000
	events=$BATS_TEST_TMPDIR/events
	zstd -qdc "$BATS_TEST_TMPDIR"/*.msgpack >"$events"
	equal "$(counted 7000 7999)" "500000 500000 3749750000 1"
}

@test "numbers: few descriptors" {
	(ulimit -n 64 && same_count "$tree" spawn 20 "$tree-musl" leaf 100)
}

@test "names: a command whose name holds blanks and a parenthesis" {
	cp "$tree" "$BATS_TEST_TMPDIR/a) S (b c"
	same_count "$BATS_TEST_TMPDIR/a) S (b c" fork 5
}

@test "files: a program that was replaced while it runs" {
	cp "$tree-musl" "$BATS_TEST_TMPDIR/program"
	same_count sh -c "exec 3<'$BATS_TEST_TMPDIR/program'; rm '$BATS_TEST_TMPDIR/program'
		exec /proc/self/fd/3 leaf 1000"
}

@test "dlopen: an allocator without section headers is found through its dynamic segment" {
	lib=/usr/lib/x86_64-linux-gnu/libjemalloc.so.2
	[ -e "$lib" ] || require_or_skip jemalloc "libjemalloc is not installed"
	cp "$lib" "$BATS_TEST_TMPDIR/bare.so"
	# e_shoff; e_shnum and e_shstrndx
	printf '\0\0\0\0\0\0\0\0' | dd of="$BATS_TEST_TMPDIR/bare.so" bs=1 seek=40 conv=notrunc status=none
	printf '\0\0\0\0' | dd of="$BATS_TEST_TMPDIR/bare.so" bs=1 seek=60 conv=notrunc status=none
	same_lines env LD_PRELOAD="$BATS_TEST_TMPDIR/bare.so" "$FIXTURES/heap_blocks" 100
}

# What cannot be probed fails the run, whenever it comes.
@test "damage: a libc that is not understood fails the run, at its very end, too" {
	need gcc
	echo 'int __libc_start_main(void) { return 0; } void *malloc(unsigned long n) { return (void *)(n - n); }
		void free(void *p) { (void)p; }' |
		gcc -w -fno-builtin -shared -fPIC -o "$BATS_TEST_TMPDIR/damaged.so" -x c -
	for before in : "$tree fork 5"; do
		rm -rf "$BATS_TEST_TMPDIR/out"
		mkdir "$BATS_TEST_TMPDIR/out"
		code=0
		patiently "$CODSPEED_BIN" memtrack track -o "$BATS_TEST_TMPDIR/out" -- \
			sh -c "$before; $FIXTURES/heap_load at-once $BATS_TEST_TMPDIR/damaged.so; :" || code=$?
		equal "$code" 125
		grep -q 'damaged.so is a libc without' "$BATS_TEST_TMPDIR/errors"
		[[ $(echo "$BATS_TEST_TMPDIR"/out/*Artifact*) == *.incomplete ]]
	done
}

# Some supervisors let every child go on that they see stopped.
@test "parents: one that sends SIGCONT all the time: what is missing is told" {
	need gcc
	cd "$BATS_TEST_TMPDIR"
	gcc -o continues -xc - <<-'END'
		#include <signal.h>
		#include <sys/wait.h>
		#include <unistd.h>
		int main(int argc, char **argv)
		{
			pid_t child = fork();
			int status;

			if (child == 0)
				return execv(argv[1], argv + 1);
			while (!waitpid(child, &status, WNOHANG))
				kill(child, SIGCONT);
			return argc > 1 ? status : 1;
		}
	END
	track sh -ec 'for i in $(seq 100); do cp "$0" x$i; ./continues ./x$i leaf 10; done' "$tree-musl"
	[ "$(counted 7000 7999)" = '1000 1000 7049500 100' ] ||
		grep -q 'let go on by others (SIGCONT), [0-9]* times: calls may be missing' errors
}
