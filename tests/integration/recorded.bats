#!/usr/bin/env bats
# Integrations that no package registry has, by recorded exchanges with the runner: Google Benchmark
# of codspeed-cpp, and what codspeed-go's tests say. tests/integration/record has recorded them.
# shellcheck disable=SC2030,SC2031,SC2154 # $rc and others are of entry.bash

load integration

setup() {
	integration_setup
	exchanges=$DATA/exchanges
}

teardown() {
	integration_teardown
}

@test "codspeed-cpp, memory: names, and a block to the byte" {
	need_memtrack
	for build in '' -static -musl; do
		in_mode memory -- timeout 60 "$FIXTURES/replay$build" "$exchanges/cpp_memory.txt"
		succeeded
		equal "$(listed)" $'ok ::once\nok ::twice\nok ::block'
		equal "$(heap ::block)" '12345 12345 1 1'
		equal "$(heap ::once)" '0 0 0 0'
	done
}

@test "codspeed-cpp, simulation: by client requests" {
	ENTRY_INTEGRATION='codspeed-cpp 2.3.0' in_mode simulation -- \
		"$FIXTURES/entry_loop-musl" ::once 10000 ::twice 20000
	succeeded
	equal "$(listed)" $'ok ::once\nok ::twice'
	is_multiple ::twice ::once 2 1
}

@test "codspeed-go, memory: it is not made for it, and the message says so" {
	need_memtrack
	in_mode memory -- timeout 60 "$FIXTURES/replay" "$exchanges/go_memory.txt"
	equal "$rc" 1
	says "$err" 'the integration codspeed-go 1.2.0 is not known to work in memory mode'
	says_not "$err" 'command failed'
}

@test "codspeed-go, walltime: the whole exchange is answered as it was" {
	enabled WALLTIME
	in_mode walltime -- timeout 60 "$FIXTURES/replay" "$exchanges/go_walltime.txt"
	equal "$rc" 1
	says_not "$err" 'answer' # of replay.c
	says_not "$err" 'command failed'
	says "$err" 'left no results'
	for name in BenchmarkFibonacci10 BenchmarkSleep::100ms; do
		grep -q "fib/fib_test.go::$name" "$folder/ExecutionTimestamps.msgpack"
	done
}
