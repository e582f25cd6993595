#!/usr/bin/env bats
# Memory mode in images that hold nothing but codspeed, and around other namespaces.
# shellcheck disable=SC2016,SC2154 # for shells inside; image is of image.bash

load helper
load ../fixtures/memory
load ../fixtures/image

setup() {
	need_memtrack
	make_image
}

# counted_in FOLDER: allocations, frees, bytes and processes of heap_tree's blocks
counted_in() {
	zstd -qdc "$1"/*.MemtrackArtifact.msgpack | "$FIXTURES/heap_events" count 7000 7999
}

@test "image: memory mode with /proc, /sys and /tmp" {
	patiently inside 'proc sys tmp' /codspeed exec -m memory --profile-folder /profile \
		--json /result -- /heap_tree-musl fork 5 >"$BATS_TEST_TMPDIR/said"
	equal "$(counted_in "$image/profile/results")" "$(head -n 1 "$BATS_TEST_TMPDIR/said")"
	jq -e '.benchmarks[0].status == "ok"' "$image/result"
}

@test "image: memory mode in a read-only root" {
	patiently inside 'proc sys tmp ro' /codspeed exec -m memory --json - -- /heap_blocks-musl 100 \
		>"$BATS_TEST_TMPDIR/result"
	# the blocks and the two marks
	equal "$(jq -c '.benchmarks[0].metrics | [.allocations, .frees, .leaked_blocks]' \
		"$BATS_TEST_TMPDIR/result")" '[102,52,50]'
}

@test "image: memory mode without /proc, /sys or /tmp names it" {
	for missing in /proc /sys /tmp; do
		words='proc sys tmp'
		code=0
		patiently inside "${words/${missing#/}/}" /codspeed exec -m memory --profile-folder \
			/profile -- /heap_blocks-musl 1 >/dev/null || code=$?
		equal $code 3
		grep -q "$missing.*mount" "$BATS_TEST_TMPDIR/errors"
		rm -rf "${image:?}/profile"
		rmdir "$image"/proc "$image"/sys "$image"/tmp 2>/dev/null || :
	done
}

@test "image: memtrack alone, without /tmp" {
	mkdir "$image/results"
	patiently inside 'proc sys' /memtrack track -o /results -- /heap_tree-musl fork 5 \
		>"$BATS_TEST_TMPDIR/said"
	equal "$(counted_in "$image/results")" "$(<"$BATS_TEST_TMPDIR/said")"
	[ ! -s "$BATS_TEST_TMPDIR/errors" ]
}

@test "image: memtrack without /proc or /sys names it" {
	for missing in /proc /sys; do
		words='proc sys'
		code=0
		patiently inside "${words/${missing#/}/}" /memtrack track -o / -- /heap_blocks-musl 1 ||
			code=$?
		equal $code 125
		grep -q "$missing.*mount" "$BATS_TEST_TMPDIR/errors"
		rmdir "$image"/proc "$image"/sys 2>/dev/null || :
	done
}

@test "image: sixteen descriptors are too few for memory mode, and it says how many it takes" {
	code=0
	patiently inside 'proc sys few' /memtrack track -o / -- /heap_blocks-musl 1 || code=$?
	equal $code 125
	grep -q 'file descriptors.*ulimit' "$BATS_TEST_TMPDIR/errors"
	code=0
	patiently inside 'proc sys tmp few' /codspeed exec -m memory -- /heap_blocks-musl 1 || code=$?
	[ $code -ne 0 ]
	grep -q 'descriptors' "$BATS_TEST_TMPDIR/errors"
}

@test "image: standard descriptors are closed, and memory mode writes what it should" {
	for _ in {1..600}; do # it cannot say that somebody else measures
		inside 'proc sys tmp closed' /codspeed exec -m memory --profile-folder /profile \
			--json /result -- /heap_blocks-musl 100 || :
		[ ! -s "$image/result" ] || break
		sleep 0.1
	done
	equal "$(jq -c '.benchmarks[0].metrics | [.allocations, .frees, .leaked_blocks]' \
		"$image/result")" '[102,52,50]'
}

@test "image: no shell is needed, and where one word asks for it that is said" {
	code=0
	patiently inside 'proc sys' /memtrack track -o / '/heap_blocks-musl 1' || code=$?
	equal $code 125
	grep -q 'no shell.*words of their own' "$BATS_TEST_TMPDIR/errors"
	code=0
	patiently inside 'proc sys tmp' /codspeed run -m memory '/heap_blocks-musl 1' || code=$?
	equal $code 1
	grep -q 'no shell.*words of their own' "$BATS_TEST_TMPDIR/errors"
}

@test "image: the only shell is busybox's" {
	need busybox
	mkdir "$image/bin"
	cp "$(command -v busybox)" "$image/bin/busybox"
	ln -s busybox "$image/bin/sh"
	patiently inside 'proc sys' /memtrack track -o / '/heap_tree-musl fork 3; exit 0' \
		>"$BATS_TEST_TMPDIR/said"
	equal "$(counted_in "$image")" "$(<"$BATS_TEST_TMPDIR/said")"
}

@test "target: in a mount namespace, a root and a pid namespace of its own" {
	track unshare -mpf --mount-proc sh -c '
		mount -t tmpfs tmpfs /mnt && cp "$1" /mnt/tree && exec chroot /mnt /tree fork 5' sh \
		"$FIXTURES/heap_tree-musl" >"$BATS_TEST_TMPDIR/said"
	equal "$(counted 7000 7999)" "$(<"$BATS_TEST_TMPDIR/said")"
}

@test "target: in a user namespace of its own" {
	track unshare -Urmpf "$FIXTURES/heap_tree-musl" fork 5 >"$BATS_TEST_TMPDIR/said"
	equal "$(counted 7000 7999)" "$(<"$BATS_TEST_TMPDIR/said")"
}

@test "limits: locked memory is of no concern" {
	(
		ulimit -l 64
		track "$FIXTURES/heap_tree-musl" fork 5 >"$BATS_TEST_TMPDIR/said"
		equal "$(counted 7000 7999)" "$(<"$BATS_TEST_TMPDIR/said")"
	)
}
