#!/usr/bin/env bats
# The go wrapper, in front of a go that only tells how it was called.
# shellcheck disable=SC2030,SC2031,SC2154 # $rc and others are of entry.bash

load helper
load ../fixtures/entry

setup() {
	enabled GO
	entry_setup
	wrapper=$BATS_TEST_TMPDIR/wrapper
	mkdir "$wrapper"
	ln -s "$CODSPEED_BIN" "$wrapper/go"
	for name in go codspeed-go-runner; do
		program $name <<-'END'
			#!/bin/bash
			printf '%s' "${0##*/}"
			printf ' [%s]' "$@"
			echo
			exit "${CODE:-0}"
		END
	done
	PATH=$wrapper:$BATS_TEST_TMPDIR/bin:$PATH
}

teardown() {
	nothing_left
}

# wrapped MODE WORD...: the wrapper as in a run of that mode
wrapped() {
	local mode=$1

	shift
	CODSPEED_ENV=runner CODSPEED_RUNNER_MODE=$mode run --separate-stderr go "$@"
}

@test "go: what is no test is go's own, in every mode" {
	for mode in instrumentation memory walltime ''; do
		for word in build env version vet generate tool testing tests; do
			wrapped "$mode" $word 'a b' '' -x
			[ "$status" -eq 0 ]
			equal "$output" "go [$word] [a b] [] [-x]"
			equal "$stderr" ''
		done
	done
	wrapped memory
	equal "$output" 'go []'
	CODE=3 wrapped memory build
	[ "$status" -eq 3 ]
}

@test "go: test is handed to CodSpeed's runner in walltime mode" {
	wrapped walltime test -bench . './a b/...'
	[ "$status" -eq 0 ]
	equal "$output" 'codspeed-go-runner [test] [-bench] [.] [./a b/...]'
	CODE=5 wrapped walltime test
	[ "$status" -eq 5 ]
}

@test "go: test in another mode is refused with the remedy" {
	for mode in instrumentation memory ''; do
		wrapped "$mode" test ./...
		[ "$status" -eq 125 ]
		equal "$output" ''
		[ "${#stderr_lines[@]}" -eq 1 ]
		[[ $stderr == "go: error: 'go test' "*'-m walltime'* ]]
	done
}

@test "go: the runner is not installed unasked, but named" {
	rm "$BATS_TEST_TMPDIR/bin/codspeed-go-runner"
	CODSPEED_GO_RUNNER_VERSION=1.2.1 CODSPEED_RUNNER_MODE=walltime run -127 --separate-stderr go test
	[[ $stderr == 'go: error: '*'codspeed-go-runner 1.2.1'*'not on PATH'* ]]
}

@test "go: run keeps its symbols in walltime mode" {
	wrapped walltime run . x
	equal "$output" 'go [run] [-work] [-ldflags=-s=false -w=false] [.] [x]'
	wrapped memory run . x
	equal "$output" 'go [run] [.] [x]'
}

@test "go: none behind the wrapper is 127" {
	run -127 --separate-stderr env PATH="$wrapper" "$wrapper/go" env
	[[ $stderr == 'go: error: go is not on PATH'* ]]
}

@test "go: two copies of the wrapper do not call each other for ever" {
	mkdir copy
	cp "$CODSPEED_BIN" copy/go
	PATH=$wrapper:$PWD/copy:$wrapper:$PATH run --separate-stderr timeout 10 go env
	[ "$status" -eq 0 ]
	equal "$output" 'go [env]'
}

@test "go: an entrypoint finds the wrapper first, and go is not traced" {
	PATH=${PATH#*:}
	cat >"$BATS_TEST_TMPDIR/bin/go" <<-'END'
		#!/bin/sh
		grep -q callgrind /proc/$$/maps && echo traced "$@" || echo native "$@" "${LD_PRELOAD-unset}"
	END
	plain 'go env; command -v go; exec go version'
	equal "$rc" 0
	equal "$(sed -n 1p "$out")" 'native env unset'
	[[ $(sed -n 2p "$out") == "$TMPDIR"/codspeed.*/go ]]
	equal "$(sed -n 3p "$out")" 'native version unset'
	plain go env
	equal "$(<"$out")" 'native env unset'
	plain 'go test ./...'
	equal "$rc" 1
	says "$err" "'go test' can be measured in walltime mode only"
}
