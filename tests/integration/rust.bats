#!/usr/bin/env bats
# Benchmarks that cargo-codspeed runs, of divan and of criterion.
# shellcheck disable=SC2030,SC2031,SC2154 # $rc and others are of entry.bash

load integration

setup() {
	integration_setup
	installed rust
	PATH=$INTEGRATIONS/rust/tool/bin:$PATH
	cd "$INTEGRATIONS/rust" || return
}

teardown() {
	integration_teardown
}

divan=benches/by_divan.rs
criterion=benches/by_criterion.rs::benches

names="ok $criterion::blocks::a block
ok $criterion::loops::loops[10000]
ok $criterion::loops::loops[20000]
ok $divan::blocks[1]
ok $divan::blocks[3]
ok $divan::once
ok $divan::twice"

# The loop is of 9 instructions a turn, or as many as the compiler makes; the harness adds some.
costs() {
	local once twice

	for once in "$divan::once" "$criterion::loops::loops[10000]"; do
		twice=${once/once/twice} twice=${twice/10000/20000}
		[ "$(figure "$once")" -ge 30000 ]
		[ "$(figure "$once")" -le 300000 ]
		# ten thousand turns more are ten thousand times the same
		equal $((($(figure "$twice") - $(figure "$once")) % 10000)) 0
		is_multiple "$twice" "$once" 2 1
	done
}

@test "cargo-codspeed, simulation: names and costs of divan and criterion" {
	in_mode simulation -- cargo codspeed run
	succeeded
	equal "$(listed | LC_ALL=C sort)" "$names"
	costs
	first=$(jq -c '[.benchmarks[] | select(.uri | test("once|twice|loops"))]' "$result")
	in_mode simulation -- 'cargo codspeed run'
	succeeded
	equal "$(jq -c '[.benchmarks[] | select(.uri | test("once|twice|loops"))]' "$result")" "$first"
}

@test "cargo-codspeed, simulation: the functions are named" {
	in_mode simulation --top 1 -- cargo codspeed run
	succeeded
	[[ $(figure "$divan::once" 'functions[0].name') == *::Bencher::* ]] # the loop is inlined there
}

@test "cargo-codspeed, simulation: built and run in one shell text" {
	in_mode simulation -- 'cargo codspeed build --offline && cargo codspeed run --bench by_divan'
	succeeded
	equal "$(jq '.benchmarks | length' "$result")" 4
}

@test "cargo-codspeed, memory: a block is a block, to the byte" {
	need_memtrack
	in_mode memory -- cargo codspeed run
	succeeded
	equal "$(listed | LC_ALL=C sort)" "$names"
	equal "$(heap "$criterion::blocks::a block")" '12345 12345 1 1'
	equal "$(heap "$divan::blocks[1]")" '12345 12345 1 1'
	equal "$(heap "$divan::blocks[3]")" '12345 37035 3 3'
	# nothing is not nothing said
	equal "$(heap "$divan::once")" '0 0 0 0'
	equal "$(figure "$divan::once" 'notes[0]')" 'no heap call was seen in its window'
}

@test "cargo-codspeed: benchmarks that are not built are an error, in its words" {
	in_mode simulation -- cargo codspeed run --bench no_such
	equal "$rc" 1
	says "$err" 'No benchmarks found'
	says "$err" 'exit status 1'
}

@test "cargo-codspeed, walltime: names and times of divan and criterion" {
	enabled WALLTIME
	in_mode walltime -- cargo codspeed run -m walltime
	succeeded
	equal "$(listed | LC_ALL=C sort)" "$names"
	is_multiple "$divan::twice" "$divan::once" 2 30 metrics.min_ns
	is_multiple "$criterion::loops::loops[20000]" "$criterion::loops::loops[10000]" 2 30 \
		metrics.min_ns
}
