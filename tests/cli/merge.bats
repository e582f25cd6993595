#!/usr/bin/env bats
# merge: the shards of a CI matrix.
# shellcheck disable=SC2030,SC2031

load helper
load ../fixtures/made

setup() {
	enabled MERGE
	need jq
	cd "$BATS_TEST_TMPDIR" || return 1
	export MACHINE=.
}

merge() {
	rc=0
	codspeed merge "$@" >out 2>err || rc=$?
	err=$(<err)
}

@test "merge: the order of the shards does not matter" {
	MACHINE='.run.started = "2026-01-03T00:00:00Z" | .run.duration_ns = 5 | .run.modes = ["simulation"]' \
		made one.json "$(simulated b 2)" "$(simulated a 1)"
	MACHINE='.run.host = "other" | .run.modes = ["memory"] | .system.kernel = "7"' \
		made two.json "$(in_memory a 3 3)"
	made three.json
	merge -o x.json one.json two.json three.json
	equal "$rc" 0
	merge three.json two.json one.json
	cmp x.json out
	equal "$(jq -c '[.benchmarks[] | [.name, .mode]]' out)" '[["a","simulation"],["a","memory"],["b","simulation"]]'
	equal "$(jq -c '[.run.started, .run.duration_ns, .run.host, .run.modes, .system.kernel]' out)" \
		'["2026-01-01T00:00:00Z",7,"several",["memory","simulation"],"several"]'
	merge one.json
	equal "$(jq -c '[.run.host, .system.cpu_model]' out)" '["h","CPU A"]'
}

@test "merge: the same benchmark twice" {
	made one.json "$(simulated a 1)"
	made two.json "$(simulated a 2)"
	merge one.json two.json
	equal "$rc" 1
	equal "$(wc -l <err)" 1
	[[ $err == *'t.py::a (simulation) stands in one.json and in two.json'* ]]
	[ ! -s out ]
	merge --replace one.json two.json
	equal "$(jq '.benchmarks[0].metrics.instructions' out)" 2
	merge --replace two.json one.json
	equal "$(jq '.benchmarks[0].metrics.instructions' out)" 1
	made twice.json "$(simulated a 1)" "$(simulated a 2)"
	merge --replace twice.json
	equal "$rc" 1
	[[ $err == *'stands there twice'* ]]
}

@test "merge: every missing shard is listed" {
	made one.json "$(simulated a 1)"
	echo x >bad.json
	merge one.json none-1.json bad.json none-2.json
	equal "$rc" 1
	[[ $err == *none-1.json*bad.json*none-2.json*'3 of 4 files'* ]]
	[ ! -s out ]
}

@test "merge: machines whose figures cannot be compared" {
	made one.json "$(simulated a 1)" "$(in_memory m 1 1)"
	MACHINE='.system.cpu_flags = ["sse2"]' made two.json "$(simulated b 1)"
	merge one.json two.json
	equal "$rc" 5
	[[ $err == *'one.json and two.json (simulation): CPU flags: -avx -avx2'* ]]
	merge -o both.json --across-machines one.json two.json
	equal "$rc" 0
	rc=0
	codspeed compare both.json both.json >out || rc=$? # several machines equal nothing
	equal "$rc" 5
	MACHINE='.system.cpu_flags = ["sse2"]' made two.json "$(in_memory b 1 1)"
	merge one.json two.json
	equal "$rc" 0
}

@test "merge: as a baseline" {
	made one.json "$(simulated a 1)"
	merge --store s --save main one.json
	equal "$rc" 0
	[ ! -s out ]
	equal "$(jq '.benchmarks | length' s/main.json)" 1
}

@test "merge: usage" {
	merge
	equal "$rc" 2
	merge --save a/b x.json
	equal "$rc" 2
}
