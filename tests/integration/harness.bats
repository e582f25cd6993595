#!/usr/bin/env bats
# exec-harness inside an entrypoint script, beside other integrations.
# shellcheck disable=SC2030,SC2031,SC2154 # $rc and others are of entry.bash

load integration

setup() {
	integration_setup
	enabled EXEC_HARNESS
	ln -s "$CODSPEED_BIN" "$BATS_TEST_TMPDIR/exec-harness"
	PATH=$BATS_TEST_TMPDIR:$PATH
	cat >bench.sh <<-'END'
		#!/bin/sh
		set -e
		"$FIXTURES/burn-musl" 5000000
		exec-harness --max-rounds 5 --name small "$FIXTURES/burn-musl" 1000000
		exec-harness --max-rounds 5 "$FIXTURES/burn-musl" 2000000
		echo "[{\"command\": [\"$FIXTURES/heap_blocks\", \"100\"], \"name\": \"first\",
			\"walltime_args\": {\"max_rounds\": 5}},
			{\"command\": [\"$FIXTURES/heap_blocks\", \"200\"], \"name\": \"second\",
			\"walltime_args\": {\"max_rounds\": 5}}]" | exec-harness - >/dev/null
	END
	chmod +x bench.sh
}

teardown() {
	integration_teardown
}

@test "exec-harness, simulation: in a script, by arguments and by a list" {
	in_mode simulation -- ./bench.sh
	succeeded
	large=$(jq -r '.benchmarks[1].uri' "$result")
	equal "$(listed)" "ok exec_harness::small
ok $large
ok exec_harness::first
ok exec_harness::second"
	[[ $large == *'burn-musl 2000000' ]]
	difference=$(($(figure "$large") - $(figure exec_harness::small)))
	equal $((difference / 1000000)) 6 # a turn is 6 instructions
	[ $((difference % 1000000)) -lt 1000 ]
}

@test "exec-harness, memory: in a script, by arguments and by a list" {
	need_memtrack
	in_mode memory -- ./bench.sh
	succeeded
	equal "$(jq '.benchmarks | length' "$result")" 4
	# heap_blocks N: N blocks of 1 to N bytes, and two marks of 44441
	for pair in first:100 second:200; do
		n=${pair#*:}
		total=$((n * (n + 1) / 2 + 2 * 44441))
		equal "$(figure "exec_harness::${pair%:*}" 'metrics | "\(.total_bytes) \(.allocations)"')" \
			"$total $((n + 2))"
	done
}

@test "exec-harness: beside pytest, in one run" {
	installed pytest_current
	PATH=$INTEGRATIONS/pytest_current/bin:$PATH
	export PYTHONDONTWRITEBYTECODE=1
	cp "$REPO/tests/integration/python/bench_costs.py" .
	in_mode simulation -- './bench.sh && pytest -q -p no:cacheprovider bench_costs.py -k "once or twice"'
	succeeded
	equal "$(jq '.benchmarks | length' "$result")" 6
	is_multiple bench_costs.py::test_twice bench_costs.py::test_once 2 5
}

@test "exec-harness, walltime: in a script, by arguments and by a list" {
	enabled WALLTIME
	in_mode walltime -- ./bench.sh
	succeeded
	equal "$(jq '.benchmarks | length' "$result")" 4
	[ "$(figure exec_harness::small metrics.min_ns)" -gt 100000 ] # a million turns
}
