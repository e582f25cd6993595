#!/usr/bin/env bats
# memtrack: every entry point of every allocator, to the call and to the byte.
# shellcheck disable=SC2034 # OPTIONS is of memory.bash

load helper
load ../fixtures/memory

setup() {
	need_memtrack
}

# need_fixture NAME: skip where the allocator or the compiler was not there to build it
need_fixture() {
	[ -x "$FIXTURES/$1" ] || require_or_skip allocators "$1 was not built"
}

@test "blocks: glibc, musl, static and dynamic" {
	for build in '' -static -musl; do
		same_lines "$FIXTURES/heap_blocks$build" 1000
		equal "$(counted 1 1000 | cut -d' ' -f 2)" 500
		equal "$(lines | awk '{ n += $2 } END { print NR, n }')" '1500 500500'
	done
}

@test "calls: glibc" {
	same_lines "$FIXTURES/heap_calls" 100
}

@test "calls: static glibc" {
	same_lines "$FIXTURES/heap_calls-static" 20
}

@test "calls: static musl" {
	same_lines "$FIXTURES/heap_calls-musl" 20
}
for_all() {
	local allocator

	for allocator in jemalloc jemalloc-a mimalloc tcmalloc tcmalloc-a; do
		need_fixture "$1-$allocator"
		"$2" "$FIXTURES/$1-$allocator" "${@:3}" || {
			echo "$allocator" >&2
			return 1
		}
	done
}
