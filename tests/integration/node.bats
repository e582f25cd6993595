#!/usr/bin/env bats
# Benchmarks of tinybench and vitest, through CodSpeed's plugins.
# shellcheck disable=SC2030,SC2031,SC2154 # $rc and others are of entry.bash

load integration

setup() {
	integration_setup
	enabled NODE
	installed node
	ln -s "$INTEGRATIONS/node/node_modules" node_modules
	cp "$REPO"/tests/integration/node/*.mjs .
}

teardown() {
	integration_teardown
}

tinybench='ok costs.mjs::numbers::fib 15
ok costs.mjs::numbers::fib 20
ok costs.mjs::numbers::a block
ok costs.mjs::numbers::a larger block
ok costs.mjs::numbers::a [b] :: ü "c"'

vitest='ok costs.bench.mjs::loops::once
ok costs.bench.mjs::loops::twice
ok costs.bench.mjs::a block
ok costs.bench.mjs::a larger block'

# Of this size there is one block, and node's own around it are of others.
blocks_are_exact() {
	equal "$(figure "$1a block" 'histogram[] | select(.[0] == 1048576) | "\(.[1]) \(.[2])"')" \
		"1 $((1 << 20))"
	equal "$(figure "$1a larger block" 'histogram[] | select(.[0] >= 1048576) | "\(.[1]) \(.[2])"')" \
		"1 $((3 << 20))"
}

@test "tinybench, simulation: names and costs" {
	in_mode simulation -- node costs.mjs
	succeeded
	says "$out" 'done with flags'
	equal "$(grep -c Measured "$out")" 5 # the first run stopped early
	equal "$(listed)" "$tinybench"
	small=$(figure 'costs.mjs::numbers::fib 15')
	large=$(figure 'costs.mjs::numbers::fib 20')
	# fib(15) makes 1 973 calls, fib(20) 21 891; a call is tens of instructions
	[ "$large" -gt $((21891 * 10)) ]
	[ "$large" -lt $((21891 * 2000)) ]
	# 11.09 times the calls, on top of what a benchmark costs at least
	[ "$large" -gt $((small * 6)) ]
	[ "$large" -lt $((small * 12)) ]
	[ "$(figure 'costs.mjs::numbers::a [b] :: ü "c"')" -lt "$small" ]
}

@test "tinybench, memory: names, and what a benchmark allocates to the byte" {
	need_memtrack
	in_mode memory -- node costs.mjs
	succeeded
	equal "$(listed)" "$tinybench"
	blocks_are_exact costs.mjs::numbers::
}

@test "vitest, simulation: names and costs" {
	in_mode simulation -- node_modules/.bin/vitest bench --run
	succeeded
	equal "$(listed)" "$vitest"
	is_multiple costs.bench.mjs::loops::twice costs.bench.mjs::loops::once 2 10
	[ "$(figure costs.bench.mjs::loops::once)" -gt $((20000 * 10)) ]
	[ "$(figure 'costs.bench.mjs::a larger block')" -gt "$(figure 'costs.bench.mjs::a block')" ]
}

@test "vitest, memory: names, and what a benchmark allocates to the byte" {
	need_memtrack
	in_mode memory -- node_modules/.bin/vitest bench --run
	succeeded
	equal "$(listed)" "$vitest"
	blocks_are_exact costs.bench.mjs::
}

@test "vitest, simulation: by npm, which starts further programs" {
	echo '{"scripts": {"bench": "vitest bench --run -t once"}}' >package.json
	in_mode simulation -- npm run bench
	succeeded
	equal "$(listed)" 'ok costs.bench.mjs::loops::once'
}

@test "tinybench, walltime: names and times" {
	enabled WALLTIME
	in_mode walltime -- node costs.mjs
	succeeded
	equal "$(listed)" "$tinybench"
	is_multiple 'costs.mjs::numbers::fib 20' 'costs.mjs::numbers::fib 15' 11.09 30 metrics.min_ns
	[ "$(figure 'costs.mjs::numbers::fib 20' metrics.min_ns)" -gt 20000 ]
	[ "$(figure 'costs.mjs::numbers::fib 20' metrics.rounds)" -gt 3 ]
}

@test "vitest, walltime: names and times" {
	enabled WALLTIME
	in_mode walltime -- node_modules/.bin/vitest bench --run -t loops
	succeeded
	equal "$(listed)" "$(head -n 2 <<<"$vitest")"
	is_multiple costs.bench.mjs::loops::twice costs.bench.mjs::loops::once 2 30 metrics.min_ns
}
