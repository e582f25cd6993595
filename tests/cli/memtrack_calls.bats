#!/usr/bin/env bats
# memtrack: every entry point of every allocator, to the call and to the byte.
# shellcheck disable=SC2016,SC2034 # for shells inside; OPTIONS is of memory.bash

load helper
load ../fixtures/memory

setup() {
	need_memtrack
}

# All but what jemalloc does not have.
common=(malloc calloc realloc realloc_zero reallocarray aligned_alloc memalign posix_memalign valloc
	free strdup usable)

# has_library NAME: in the loader's folders
has_library() {
	ldconfig -p | grep -q "^[[:space:]]*$1 " || require_or_skip allocators "$1 is not installed"
}

@test "blocks: glibc and musl, dynamic and static" {
	for build in '' -static -musl; do
		same_lines "$FIXTURES/heap_blocks$build" 1000
		equal "$(lines | awk '{ n += $2 } END { print NR, n }')" '1500 500500'
	done
}

@test "blocks: libraries of other allocators, linked" {
	for allocator in jemalloc mimalloc tcmalloc; do
		built "heap_blocks-$allocator"
		same_lines "$FIXTURES/heap_blocks-$allocator" 1000
	done
}

@test "blocks: other allocators, linked statically" {
	for allocator in jemalloc-a tcmalloc-a; do
		built "heap_blocks-$allocator"
		same_lines "$FIXTURES/heap_blocks-$allocator" 1000
	done
}

@test "blocks: other allocators, preloaded" {
	for library in libjemalloc.so.2 libmimalloc.so.2 libtcmalloc_minimal.so.4; do
		has_library $library
		same_lines env LD_PRELOAD=$library "$FIXTURES/heap_blocks" 1000
	done
}

@test "calls: glibc and musl" {
	for build in '' -static -musl; do
		same_lines "$FIXTURES/heap_calls$build" 50
	done
}

@test "calls: static and position-independent, and dynamic musl" {
	need gcc musl-gcc
	source=$BATS_TEST_DIRNAME/../fixtures/heap_calls.c
	gcc -D_GNU_SOURCE -w -static-pie -o "$BATS_TEST_TMPDIR/pie" "$source"
	same_lines "$BATS_TEST_TMPDIR/pie" 20
	musl-gcc -D_GNU_SOURCE -w -o "$BATS_TEST_TMPDIR/musl" "$source"
	same_lines "$BATS_TEST_TMPDIR/musl" 20
}

@test "calls: jemalloc" {
	for build in jemalloc jemalloc-a; do
		built "heap_calls-$build"
		same_lines "$FIXTURES/heap_calls-$build" 20 "${common[@]}"
	done
}

@test "calls: mimalloc and tcmalloc" {
	for build in mimalloc tcmalloc tcmalloc-a; do
		built "heap_calls-$build"
		same_lines "$FIXTURES/heap_calls-$build" 20
	done
}

@test "new: all forms, with every allocator" {
	for build in '' -static -jemalloc -jemalloc-a -mimalloc -tcmalloc -tcmalloc-a; do
		built "heap_new$build"
		same_lines "$FIXTURES/heap_new$build" 20
	done
}

# The blocks of the exceptions (136 bytes) and their frees are left out.
@test "new: an exception is caught, and what comes after it is recorded" {
	for build in '' -static -jemalloc -jemalloc-a -tcmalloc -tcmalloc-a; do
		built "heap_new$build"
		track "$FIXTURES/heap_new$build" 20 throw >"$BATS_TEST_TMPDIR/expected"
		[ ! -s "$BATS_TEST_TMPDIR/errors" ]
		diff <(grep Malloc "$BATS_TEST_TMPDIR/expected") <(lines | grep Malloc | grep -v ' 136$')
	done
}

# exceptions BUILD NUMBER: so many blocks of exceptions, and a free for each block.
exceptions() {
	built "heap_new$1"
	track "$FIXTURES/heap_new$1" 20 throw >/dev/null
	equal "$(lines | grep -c 'Malloc 136')" "$2"
	equal "$(lines | grep -c Free)" $(($2 + 60))
}

# Where operator new calls malloc, its forms that do not throw catch an exception inside.
@test "new: exceptions are blocks of their own" {
	for build in '' -static; do
		exceptions "$build" 140
	done
	for build in -jemalloc -jemalloc-a -tcmalloc -tcmalloc-a; do
		exceptions "$build" 80
	done
}

@test "calls: left by siglongjmp, and what comes after it deeper down is recorded" {
	for build in '' -static -musl; do
		track "$FIXTURES/heap_jump$build" 50
		equal "$(counted 777 777)" '500 500 388500 1'
	done
}

# A return probe would end the program: the kernel expects returns in the order of the calls.
@test "coroutines: a malloc that switches stacks in mid-call lives, and is named" {
	for kind in session multi perf; do
		OPTIONS=(--uprobes "$kind")
		track "$FIXTURES/heap_coroutines" ||
			grep -q 'kernel has no uprobe sessions' "$BATS_TEST_TMPDIR/errors"
		grep -q 'heap_coroutines has a malloc of its own and switches stacks' \
			"$BATS_TEST_TMPDIR/errors"
	done
}

@test "rust: the system's allocator" {
	built heap_rust
	same_lines "$FIXTURES/heap_rust" 20
}

@test "probes: each kind records the same" {
	for kind in session multi perf; do
		OPTIONS=(--uprobes "$kind")
		same_lines "$FIXTURES/heap_calls" 20 || {
			grep -q 'kernel has no uprobe sessions' "$BATS_TEST_TMPDIR/errors"
			continue
		}
		built heap_new-jemalloc
		same_lines "$FIXTURES/heap_new-jemalloc" 20
	done
}

@test "load: an allocator that arrives late, and is used at once" {
	for library in libmimalloc.so.2 libtcmalloc_minimal.so.4; do
		has_library $library
		track "$FIXTURES/heap_load" at-once $library
		equal "$(counted 7500 7500)" '100 100 750000 1'
	done
}

@test "load: two threads, two allocators" {
	has_library libmimalloc.so.2
	has_library libtcmalloc_minimal.so.4
	for _ in 1 2 3; do
		track "$FIXTURES/heap_load" at-once libmimalloc.so.2 libtcmalloc_minimal.so.4
		equal "$(counted 7500 7500)" '200 200 1500000 1'
	done
}

@test "load: a plugin allocates in its constructor, and comes again" {
	track "$FIXTURES/heap_load" plugin "$FIXTURES/heap_plugin.so"
	equal "$(counted 7700 7700)" '4000 4000 30800000 1'
}

@test "load: a plugin with an allocator of its own, and a copy of it" {
	built heap_plugin-jemalloc.so
	cp "$FIXTURES/heap_plugin-jemalloc.so" "$BATS_TEST_TMPDIR/copy.so"
	# jemalloc wants more thread-local storage than the loader has left
	track env GLIBC_TUNABLES=glibc.rtld.optional_static_tls=8000 "$FIXTURES/heap_load" plugin \
		"$FIXTURES/heap_plugin-jemalloc.so" "$BATS_TEST_TMPDIR/copy.so"
	equal "$(counted 7700 7700)" '8000 8000 61600000 1'
}

@test "load: more libraries with allocators than the soft limit has descriptors" {
	local copies=()

	for i in {1..70}; do
		cp "$FIXTURES/heap_pool.so" "$BATS_TEST_TMPDIR/$i.so"
		copies+=("$BATS_TEST_TMPDIR/$i.so")
	done
	ulimit -Sn 64
	track sh -c 'echo "its own limit: $(ulimit -Sn)"; exec "$@"' sh \
		"$FIXTURES/heap_load" plugin "${copies[@]}" >"$BATS_TEST_TMPDIR/said"
	equal "$(cat "$BATS_TEST_TMPDIR/said")" 'its own limit: 64'
	equal "$(counted 6600 6600)" '140000 140000 924000000 1'
}

@test "load: more libraries with allocators than there are descriptors: the run fails, and says so" {
	local copies=() code=0

	for i in {1..70}; do
		cp "$FIXTURES/heap_pool.so" "$BATS_TEST_TMPDIR/$i.so"
		copies+=("$BATS_TEST_TMPDIR/$i.so")
	done
	(ulimit -n 50 && patiently "$CODSPEED_BIN" memtrack track -o "$BATS_TEST_TMPDIR" -- \
		"$FIXTURES/heap_load" plugin "${copies[@]}") || code=$?
	equal "$code" 125
	grep -q 'raise the hard limit of descriptors' "$BATS_TEST_TMPDIR/errors"
}

@test "load: a crafted library, four thousand functions of one name that jump on to the next" {
	need gcc
	{
		printf '.text\n.globl malloc,calloc,realloc\n'
		for name in malloc calloc realloc; do
			printf '.type %s,@function\n%s: ret\n.size %s,1\n' $name $name $name
		done
		for i in {1000..4999}; do
			printf '.type free%d,@function\nfree%d: push %%rbp\npop %%rbp\n' "$i" "$i"
			printf 'jmp free%d\n.size free%d,.-free%d\n' $((i + 1)) "$i" "$i"
		done
		printf '.type free5000,@function\nfree5000: ret\n.size free5000,1\n'
	} >"$BATS_TEST_TMPDIR/chain.s"
	gcc -shared -nostdlib -o "$BATS_TEST_TMPDIR/chain.so" "$BATS_TEST_TMPDIR/chain.s"
	LC_ALL=C sed -i 's/free[1-5][0-9][0-9][0-9]/free\x00\x00\x00\x00/g' "$BATS_TEST_TMPDIR/chain.so"
	[ "$(nm "$BATS_TEST_TMPDIR/chain.so" | grep -c ' t free$')" -eq 4001 ]
	# It is looked at, and has nothing that heap_load can call.
	run -1 track "$FIXTURES/heap_load" plugin "$BATS_TEST_TMPDIR/chain.so"
	[[ $output == *heap_plugin_work* ]]
	[[ $output != *codspeed* ]]
}

# M13: constructors, destructors of threads, atexit(), and a calloc of its own that finds the real one
# by dlsym(), which may call calloc itself.
@test "early and late: before main, in dlsym, at the end of threads and of the program" {
	need gcc g++
	gcc -w -shared -fPIC -o "$BATS_TEST_TMPDIR/interpose.so" -x c - <<-'END'
		#define _GNU_SOURCE
		#include <dlfcn.h>
		#include <stddef.h>
		static char first[4096];
		static void *(*real)(size_t, size_t);
		static int asking;
		void *calloc(size_t n, size_t size)
		{
			if (!real && asking)
				return first;
			asking = 1;
			if (!real)
				real = dlsym(RTLD_NEXT, "calloc");
			return real(n, size);
		}
	END
	g++ -O1 -o "$BATS_TEST_TMPDIR/early" -x c++ - -pthread <<-'END'
		#include <cstdlib>
		#include <pthread.h>
		static void *early;
		static pthread_key_t key;
		struct holder { char *p; holder() : p(new char[7003]) {} ~holder() { delete[] p; } };
		static thread_local holder held;
		__attribute__((constructor)) static void before() { early = malloc(7001); }
		static void after() { free(early); }
		static void *work(void *) { pthread_setspecific(key, malloc(7002)); held.p[0] = 1; return NULL; }
		int main()
		{
			atexit(after);
			pthread_key_create(&key, free);
			for (int i = 0; i < 100; i++) {
				pthread_t id;
				if (pthread_create(&id, NULL, work, NULL))
					return 1;
				pthread_join(id, NULL);
			}
			void *volatile last = calloc(7, 1000);
			free(last);
			return 0;
		}
	END
	for preload in '' "$BATS_TEST_TMPDIR/interpose.so"; do
		track env LD_PRELOAD="$preload" "$BATS_TEST_TMPDIR/early"
		[ ! -s "$BATS_TEST_TMPDIR/errors" ]
		equal "$(counted 7000 7999)" "202 202 $((7000 + 7001 + 100 * (7002 + 7003))) 1"
	done
}

@test "free: of what was never a block" {
	need gcc
	printf '%s\n' '#include <stdlib.h>' 'void free(void *p) { (void)p; }' \
		'int main(void) { free((void *)0xfeadbeefdeadbee0); free(malloc(6500)); return 0; }' \
		>"$BATS_TEST_TMPDIR/wild.c"
	gcc -w -O0 -fno-builtin -o "$BATS_TEST_TMPDIR/wild" "$BATS_TEST_TMPDIR/wild.c"
	track "$BATS_TEST_TMPDIR/wild"
	equal "$(counted 6500 6500)" '1 1 6500 1'
}

@test "stripped: a static program without symbols is named" {
	need gcc strip
	gcc -D_GNU_SOURCE -w -static-pie -o "$BATS_TEST_TMPDIR/heap_calls-pie" \
		"$BATS_TEST_DIRNAME/../fixtures/heap_calls.c"
	for program in "$FIXTURES/heap_calls-static" "$FIXTURES/heap_calls-musl" \
		"$BATS_TEST_TMPDIR/heap_calls-pie"; do
		strip -o "$BATS_TEST_TMPDIR/bare" "$program"
		track "$BATS_TEST_TMPDIR/bare" 3 >/dev/null
		grep -q "warning: $BATS_TEST_TMPDIR/bare .*without symbols" "$BATS_TEST_TMPDIR/errors"
	done
}

@test "stripped: a program with dynamic symbols is recorded" {
	need strip
	strip -o "$BATS_TEST_TMPDIR/bare" "$FIXTURES/heap_calls"
	same_lines "$BATS_TEST_TMPDIR/bare" 20
}

@test "load: a function whose first instruction takes no probe: the run fails, and says so" {
	need gcc
	cd "$BATS_TEST_TMPDIR"
	gcc -shared -fPIC -o x.so -xassembler - <<-'END'
		.globl mi_malloc, mi_free
		.type mi_malloc, @function
		.type mi_free, @function
		mi_malloc: ret
		.size mi_malloc, 1
		mi_free: .byte 0x06, 0x06
		.size mi_free, 2
		.section .note.GNU-stack, "", @progbits
	END
	code=0
	track env LD_PRELOAD="$PWD/x.so" true || code=$?
	[ $code -ne 0 ]
	grep -q 'x.so: cannot attach probes: no probe can stand on an instruction there' errors
	[ "$(wc -l <errors)" -eq 1 ]
}
