#!/usr/bin/env bats
# Go's own commands below the runner. Its benchmarks need a program that no registry has: what that
# says to the runner is replayed in recorded.bats.
# shellcheck disable=SC2030,SC2031,SC2154 # $rc and others are of entry.bash

load integration

setup() {
	integration_setup
	enabled GO EXEC_HARNESS
	command -v go >/dev/null || require_or_skip integrations "go is not installed"
	ln -s "$CODSPEED_BIN" "$BATS_TEST_TMPDIR/exec-harness"
	PATH=$BATS_TEST_TMPDIR:$PATH
	export GOFLAGS="-mod=mod -buildvcs=false" GOCACHE=$BATS_FILE_TMPDIR/cache GOTOOLCHAIN=local GOTELEMETRY=off
	cat >go.mod <<-'END'
		module costs
		go 1.19
	END
	cat >main.go <<-'END'
		package main

		import "fmt"

		func main() {
			total := 0
			for i := 0; i < 1000; i++ {
				total += i
			}
			fmt.Println(total)
		}
	END
	script='go env GOOS && go build -o costs . && go vet . && go run . && GODEBUG=asyncpreemptoff=1 exec-harness --name costs ./costs'
}

teardown() {
	integration_teardown
}

built() {
	succeeded
	equal "$(sed -n 1,3p "$out")" $'linux\n499500\n499500'
	equal "$(listed)" 'ok exec_harness::costs'
}

@test "go, simulation: env, build, vet and run work, and what is built can be measured" {
	in_mode simulation -- "$script"
	built
	[ "$(figure exec_harness::costs)" -gt 10000 ]
}

@test "go, memory: env, build, vet and run work" {
	need_memtrack
	in_mode memory -- "${script/ && GODEBUG*/}"
	equal "$rc" 1
	says "$err" 'no CodSpeed integration looked for the runner'
	equal "$(sed -n 1,2p "$out")" $'linux\n499500'
}

@test "go, walltime: env, build, vet and run work, and what is built can be measured" {
	enabled WALLTIME
	in_mode walltime -- "${script/--name/--max-rounds 3 --name}"
	built
	[ "$(figure exec_harness::costs metrics.min_ns)" -gt 100000 ]
}

@test "go: its tests are refused where they cannot be measured" {
	in_mode simulation -- go test ./...
	equal "$rc" 1
	says "$err" "'go test' can be measured in walltime mode only"
}
