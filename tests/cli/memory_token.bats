#!/usr/bin/env bats
# memory mode by a BPF token: as root of a user namespace, without any right outside.
# shellcheck disable=SC2030,SC2031,SC2034,SC2086,SC2154 # variables of memory.bash and of bats

load helper
load ../fixtures/memory

cmds=delegate_cmds=map_create:prog_load:btf_load
maps=delegate_maps=hash:array:ringbuf:task_storage
progs=delegate_progs=socket_filter:kprobe:tracing
attachs=delegate_attachs=cgroup_inet_ingress:trace_raw_tp:trace_uprobe_multi
any='delegate_cmds=any delegate_maps=any delegate_progs=any delegate_attachs=any'

setup() {
	need_memtrack
	open=$(mktemp -d)
	chmod 755 "$open"
	mkdir "$open/out" "$open/bpf"
	chmod 777 "$open/out"
	cp "$CODSPEED_BIN" "$open/codspeed"
	cp "$FIXTURES/token" "$FIXTURES/heap_blocks" "$FIXTURES/heap_tree" "$open"
	blocks=$open/heap_blocks
	"$open/token" 64321 "$open/bpf" $any -- true 2>/dev/null ||
		require_or_skip token "no BPF tokens here" || return 1
}

teardown() {
	[ -z "${open:-}" ] || rm -rf "$open"
}

# delegated OPTION... -- COMMAND...
delegated() {
	(cd "$open/out" && patiently env TMPDIR="$open/out" "$open/token" 64321 "$open/bpf" "$@")
}

# memtrack_says: the errors of memtrack with these options; its status is 125
memtrack_says() {
	run -125 delegated "$@" -- "$open/codspeed" memtrack track -o . -- "$blocks" 10
	sed -n 's/.*error: memory mode needs the right to load BPF programs: //p' \
		"$BATS_TEST_TMPDIR/errors" | sed 's/: [a-z]*: cannot load .*//'
}

@test "token: the figures are those of root" {
	delegated $any -- "$open/codspeed" exec -m memory --profile-folder p --json token.json -- \
		"$blocks" 1000 >/dev/null
	result=$open/root.json
	patiently "$open/codspeed" exec -m memory --profile-folder "$open/p" --json "$result" -- \
		"$blocks" 1000 >/dev/null
	figures='.benchmarks[0] | .status, .notes, .metrics'
	equal "$(jq -c "$figures" "$open/out/token.json")" "$(jq -c "$figures" "$result")"
	[ "$(field .metrics.allocations)" -ge 1000 ]
	equal "$(stat -c %u "$open/out/p/results"/*.msgpack | sort -u)" 64321
}

@test "token: the least that is delegated, with sessions and without" {
	for more in '' :trace_uprobe_session; do
		CODSPEED_LOG=debug delegated $cmds $maps $progs $attachs$more -- \
			"$open/codspeed" memtrack track -o . -- "$open/heap_tree" spawn 3 "$open/heap_tree" leaf 10 \
			>/dev/null
		grep -q 'debug: uprobes: ' "$BATS_TEST_TMPDIR/errors"
		[ -n "$more" ] || grep -q 'debug: uprobes: multi' "$BATS_TEST_TMPDIR/errors"
	done
	equal "$(find "$open/out" -name '*.MemtrackArtifact.msgpack' | wc -l)" 2
}

@test "token: what a partial one lacks is named" {
	equal "$(memtrack_says $maps $progs $attachs)" \
		"the BPF token of $open/bpf lacks delegate_cmds=map_create:prog_load:btf_load"
	equal "$(memtrack_says $cmds delegate_maps=hash:array:ringbuf $progs $attachs)" \
		"the BPF token of $open/bpf lacks delegate_maps=task_storage"
	equal "$(memtrack_says delegate_cmds=map_create:prog_load $maps $progs $attachs)" \
		"the BPF token of $open/bpf lacks delegate_cmds=btf_load"
	equal "$(memtrack_says $cmds $maps delegate_progs=kprobe $attachs)" \
		"the BPF token of $open/bpf lacks delegate_progs=socket_filter:tracing"
	run -3 delegated $cmds $maps -- "$open/codspeed" exec -m memory -- "$blocks" 10
	grep -q "lacks delegate_progs=socket_filter:kprobe:tracing delegate_attachs=" \
		"$BATS_TEST_TMPDIR/errors"
}

@test "token: without one the namespace is named" {
	run -125 delegated empty -- "$open/codspeed" memtrack track -o . -- "$blocks" 10
	grep -q 'in a user namespace that takes a BPF token' "$BATS_TEST_TMPDIR/errors"
}

@test "token: a variable that names no folder is none, one without a mount is said" {
	for path in '' /nowhere "$blocks"; do
		LIBBPF_BPF_TOKEN_PATH=$path patiently "$open/codspeed" memtrack track -o "$open/out" -- true
		run -3 env LIBBPF_BPF_TOKEN_PATH="$path" TMPDIR="$open/out" setpriv --reuid=64321 --regid=64321 \
			--clear-groups "$open/codspeed" exec -m memory -- true
		[[ $output == *'it needs root, or a copy'* ]]
	done
	LIBBPF_BPF_TOKEN_PATH=$open/bpf run -125 patiently "$open/codspeed" memtrack track -o "$open/out" \
		-- true
	grep -q "no bpffs is mounted on $open/bpf" "$BATS_TEST_TMPDIR/errors"
}
