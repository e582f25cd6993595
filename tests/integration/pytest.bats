#!/usr/bin/env bats
# Benchmarks of pytest-codspeed, the newest and one of 2024.
# shellcheck disable=SC2030,SC2031,SC2154 # $rc and others are of entry.bash

load integration

setup() {
	integration_setup
	cp "$REPO/tests/integration/python/bench_costs.py" .
	# pip's compiler of caches must not be part of a figure, or of the repository
	export PYTHONDONTWRITEBYTECODE=1
}

teardown() {
	integration_teardown
}

# with VERSION: have that one on PATH
with() {
	installed "pytest_$1"
	PATH=$INTEGRATIONS/pytest_$1/bin:$PATH
}

names='bench_costs.py::test_once
bench_costs.py::test_twice
bench_costs.py::test_marked
bench_costs.py::test_blocks[1]
bench_costs.py::test_blocks[3]
bench_costs.py::TestNames::test_of[a b]
bench_costs.py::TestNames::test_of[c::d[e]]
bench_costs.py::TestNames::test_of[\\xfc]
bench_costs.py::test_starts_a_program'

pytest=(pytest -q -p no:cacheprovider bench_costs.py)

simulate() {
	in_mode simulation "$@"
	succeeded
	equal "$(jq -r '.benchmarks[].uri' "$result")" "$names"
	equal "$(jq '[.benchmarks[].status == "ok"] | all' "$result")" true
	is_multiple bench_costs.py::test_twice bench_costs.py::test_once 2 5
	is_multiple bench_costs.py::test_marked bench_costs.py::test_once 1 10
	# an addition to a small number is at least ten instructions, and a call of len() no loop
	[ "$(figure bench_costs.py::test_once)" -gt 20000 ]
	[ "$(figure 'bench_costs.py::TestNames::test_of[a b]')" -lt 20000 ]
	is_multiple 'bench_costs.py::test_blocks[3]' 'bench_costs.py::test_blocks[1]' 3 20
	# what a stock valgrind cannot, it says, and of the others nothing
	[[ $(figure bench_costs.py::test_starts_a_program 'notes[]') == 'lower bound: it starts processes'* ]]
	equal "$(jq '[.benchmarks[].notes[]] | length' "$result")" 1
}

@test "pytest, current, simulation: names and costs" {
	with current
	simulate -- "${pytest[@]}" --codspeed
	says "$out" '9 benchmarked'
}

@test "pytest, current, simulation: two runs are equal within a hundredth" {
	with current
	in_mode simulation -- "${pytest[@]}" -k once
	succeeded
	before=$(figure bench_costs.py::test_once)
	in_mode simulation -- "${pytest[@]}" -k once
	succeeded
	[ "$(figure bench_costs.py::test_once)" -le $((before * 101 / 100)) ]
	[ "$(figure bench_costs.py::test_once)" -ge $((before * 99 / 100)) ]
}

@test "pytest, current, simulation: the functions of the interpreter are named" {
	with current
	in_mode simulation --top 5 -- "${pytest[@]}" -k once
	succeeded
	[[ $(figure bench_costs.py::test_once 'functions[].name') == *Py* ]]
}

@test "pytest, 2024, simulation: names and costs" {
	with 2024
	simulate -- "${pytest[@]}" --codspeed
	says "$out" '9 benchmarked'
}

@test "pytest, simulation: a run by python -m, from a shell text" {
	with current
	in_mode simulation -- 'cd . && python -m pytest -q -p no:cacheprovider bench_costs.py -k twice'
	succeeded
	equal "$(listed)" 'ok bench_costs.py::test_twice'
}

@test "pytest, simulation: workers of pytest-xdist, and pytest-timeout" {
	with current
	in_mode simulation -- "${pytest[@]}" -n 2 --timeout 300
	succeeded
	equal "$(jq -r '.benchmarks[].uri' "$result" | sort)" "$(sort <<<"$names")"
	is_multiple bench_costs.py::test_twice bench_costs.py::test_once 2 5
}

@test "pytest: a failing test is a failing run, and what was measured stays" {
	with current
	cat >>bench_costs.py <<-'END'


		def test_wrong(benchmark):
		    assert benchmark(burn, 10) == 1
	END
	in_mode simulation -- "${pytest[@]}" -k 'once or wrong'
	equal "$rc" 1
	says "$err" 'exit status 1'
	[ "$(figure bench_costs.py::test_once)" -gt 20000 ]
}

@test "pytest: no test has a benchmark" {
	with current
	in_mode simulation -- "${pytest[@]}" --collect-only
	equal "$rc" 1
	says "$err" 'no benchmark was found'
	need_memtrack
	in_mode memory -- "${pytest[@]}" --collect-only
	equal "$rc" 1
	says "$err" 'but no benchmark was run'
}

# ---- Memory ----

@test "pytest, current, memory: names, and what a benchmark allocates to the byte" {
	need_memtrack
	with current
	in_mode memory -- "${pytest[@]}" --codspeed
	succeeded
	equal "$(jq -r '.benchmarks[].uri' "$result")" "$names"
	size=$(((1 << 20) + 1))
	equal "$(heap 'bench_costs.py::test_blocks[1]')" "$size $size 1 0"
	equal "$(heap 'bench_costs.py::test_blocks[3]')" "$((3 * size)) $((3 * size)) 3 0"
}

# blocks_of URI SIZE: number and bytes of the blocks from this size on
blocks_of() {
	figure "$1" "histogram | map(select(.[0] >= $2)) | map(\"\(.[1]) \(.[2])\") | .[]"
}

@test "pytest, memory: workers of pytest-xdist are exact or marked" {
	need_memtrack
	with current
	in_mode memory -- "${pytest[@]}" -n 2 -k 'blocks or once'
	# There is one window for both. Where they meet in it, or their requests mix on the way, it
	# is said; which of it happens here is chance.
	size=$(((1 << 20) + 1))
	for count in 1 3; do
		uri="bench_costs.py::test_blocks[$count]"
		case $(figure "$uri" 'status + " " + (.notes | length | tostring)') in
		# what the other worker allocates meanwhile is counted, too: small blocks
		'ok 0') equal "$(blocks_of "$uri" $((1 << 20)))" "$count $((count * size))" ;;
		'') says "$err" 'warning:' ;;
		esac
	done
}

@test "pytest, 2024, memory: it is too old, and the message says so" {
	need_memtrack
	with 2024
	in_mode memory -- "${pytest[@]}" --codspeed
	equal "$rc" 1
	says "$err" 'pytest-codspeed 4.3.0'
}

# ---- Walltime ----

@test "pytest, walltime: names and times, of the newest and of 2024" {
	enabled WALLTIME
	for version in current 2024; do
		(
			with $version
			in_mode walltime -- "${pytest[@]}" --codspeed --codspeed-max-time=0.5 -k 'once or twice'
			succeeded
			equal "$(listed)" $'ok bench_costs.py::test_once\nok bench_costs.py::test_twice'
			is_multiple bench_costs.py::test_twice bench_costs.py::test_once 2 30 metrics.min_ns
			# an addition takes a nanosecond at least, and a millisecond on no machine
			[ "$(figure bench_costs.py::test_once metrics.min_ns)" -gt 2000 ]
			[ "$(figure bench_costs.py::test_once metrics.min_ns)" -lt 2000000 ]
			[ "$(figure bench_costs.py::test_once metrics.rounds)" -gt 3 ]
		)
	done
}
