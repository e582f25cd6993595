#!/usr/bin/env bats
# memtrack: files that change, or make room for others, while their programs are measured.
# shellcheck disable=SC2016,SC2034 # for shells inside; OPTIONS is of memory.bash

load helper
load ../fixtures/memory

setup() {
	need_memtrack
	export GLIBC_TUNABLES=glibc.rtld.optional_static_tls=8000 # for jemalloc in a plugin
	cd "$BATS_TEST_TMPDIR"
}

@test "file: a program is overwritten in place between its runs" {
	ln -s "$FIXTURES/heap_tree-static" a
	ln -s "$FIXTURES/heap_tree-musl" b
	track sh -ec 'for i in 1 2; do cat a >x; chmod +x x; ./x leaf 100; cat b >x; ./x leaf 100; done'
	[ ! -s errors ]
	equal "$(counted 7000 7999)" '400 400 2819800 4'
}

@test "file: a library is overwritten in place" {
	built heap_plugin-jemalloc.so
	ln -s "$FIXTURES/heap_plugin-jemalloc.so" a
	ln -s "$FIXTURES/heap_plugin.so" b
	track sh -ec 'for from in a b a b; do cat $from >x.so; "$0" plugin ./x.so; done' \
		"$FIXTURES/heap_load"
	[ ! -s errors ]
	equal "$(counted 7700 7700)" '16000 16000 123200000 4'
}

@test "file: its inode number becomes another program's" {
	track sh -ec 'cp "$0" x; stat -c %i x >before; ./x || :; rm x
		cp "$1" x; stat -c %i x >after; ./x leaf 100' \
		"$FIXTURES/bare-musl" "$FIXTURES/heap_tree-musl"
	[ ! -s errors ]
	equal "$(counted 7000 7999)" '100 100 704950 1'
	cmp -s before after || require_or_skip inodes 'this file system does not use inode numbers again'
}

@test "file: attributes change, which is no change" {
	cp "$FIXTURES/heap_tree-static" x
	track sh -ec './x leaf 100; chmod 700 x; ./x leaf 100; ln x y; ./y leaf 100'
	[ ! -s errors ]
	equal "$(counted 7000 7999)" '300 300 2114850 3'
}

# A lease cannot be had while somebody may write.
@test "file: written to while it was probed, where nothing can be done: the run fails, and says so" {
	built heap_plugin-jemalloc.so
	cp "$FIXTURES/heap_plugin-jemalloc.so" x.so
	code=0
	track sh -ec 'exec 3<>x.so; "$0" plugin ./x.so; printf x >>x.so; "$0" plugin ./x.so' \
		"$FIXTURES/heap_load" || code=$?
	[ $code -ne 0 ]
	grep -q 'x.so was written to while it was probed, and may crash now: replace the file instead' errors
}

# A program that is known is not stopped for; its loader, which is musl's allocator, has to be looked at.
@test "file: a loader is opened for writing between runs of a program" {
	need musl-gcc
	cp "$(readlink -f /lib/ld-musl-x86_64.so.1)" ld.so
	musl-gcc -D_GNU_SOURCE -w -o x "$BATS_TEST_DIRNAME/../fixtures/heap_tree.c" \
		-Wl,-dynamic-linker,"$PWD/ld.so"
	track sh -ec './x leaf 100; exec 3<>ld.so; exec 3>&-; ./x leaf 100; cat ld.so >y; cat y >ld.so
		./x leaf 100'
	[ ! -s errors ]
	equal "$(counted 7000 7999)" '300 300 2114850 3'
}

@test "file: a library is opened for writing while a process uses it: that is told" {
	built heap_plugin-jemalloc.so
	cp "$FIXTURES/heap_plugin-jemalloc.so" x.so
	track env LD_PRELOAD=./x.so bash -ec 'exec 3<>x.so; exec 3>&-; :'
	grep -q "$PWD/x.so was opened for writing while process [0-9]* used it: its calls in there are not recorded any more" errors
	[ "$(wc -l <errors)" -eq 1 ]
}
