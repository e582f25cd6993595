#!/usr/bin/env bats
# Several modes in one call: parts one after the other, one result, one table.
# shellcheck disable=SC2016,SC2030,SC2031,SC2154 # variables of entry.bash and memory.bash

load helper
load ../fixtures/entry
load ../fixtures/memory

setup() {
	enabled RUN EXEC
	memory_entry_setup
}

teardown() {
	nothing_left
}

# alone COMMAND...: again, from the start, for as long as somebody else measures on this machine; its
# output in $out, what it says in $err, its status in $rc.
alone() {
	local i

	for ((i = 0; i < 600; i++)); do
		rc=0
		"$@" >"$out" 2>"$err" 3>&- || rc=$?
		grep -qE 'measures on this machine|tracks memory on this machine' "$err" "$out" || break
		rm -rf "$TMPDIR"/profile.*
		sleep 0.1
	done
}

# modes COMMAND [OPTION]...: exec or run
modes() {
	alone "$CODSPEED_BIN" "$1" --profile-folder "$folder" --json "$result" "${@:2}"
}

identities() {
	jq -r '.benchmarks[] | .status + " " + .mode + " " + .uri' "$result"
}

@test "modes: exec in two gives one result and one table" {
	modes exec -m simulation,memory --name both -- "$blocks" 100
	equal "$rc" 0
	equal "$(identities)" $'ok simulation exec_harness::both\nok memory exec_harness::both'
	equal "$(jq -r '.run.modes[], .run.command' "$result")" $'simulation\nmemory\n'"$blocks 100"
	equal "$(jq -c '.system | .valgrind, .valgrind_options' "$result")" \
		"$(jq -c '.system | .valgrind, .valgrind_options' "$folder/simulation-0/results.json")"
	equal "$(ls "$folder")" $'memory-1\nresults.json\nsimulation-0'
	equal "$(grep -c '^Benchmark' "$out")" 1
	grep -qE '^Benchmark +Instructions +Est. cycles +Peak bytes +Allocations$' "$out"
	equal "$(grep -c '^both ' "$out")" 1
	cmp "$folder/results.json" "$result"
	"$CODSPEED_BIN" show "$folder" >again
	diff <(sed -n '/^Benchmark/,$p' "$out") again
	"$CODSPEED_BIN" show "$folder/memory-1" | grep -q 'Leaked blocks'
}

@test "modes: the figures are those of each mode alone" {
	modes exec -m memory,simulation --name both -- "$blocks" 100
	equal "$(identities)" $'ok memory exec_harness::both\nok simulation exec_harness::both'
	[ -d "$folder/memory-0" ]
	together=$(jq -c '.benchmarks[0].metrics' "$result")
	modes exec -m memory --name both -- "$blocks" 100
	equal "$(jq -c '.benchmarks[0].metrics' "$result")" "$together"
	[ ! -e "$folder/memory-0" ]
}

@test "modes: run, by the environment and by the session" {
	export CODSPEED_RUNNER_MODE=simulation,memory
	modes run -- exec-harness --name a "$blocks" 10
	equal "$(identities)" $'ok simulation exec_harness::a\nok memory exec_harness::a'
	unset CODSPEED_RUNNER_MODE
	enabled USE
	"$CODSPEED_BIN" use memory,simulation 2>/dev/null
	modes run -- exec-harness --name a "$blocks" 10
	rm -r "$TMPDIR"/codspeed-*
	equal "$(identities)" $'ok memory exec_harness::a\nok simulation exec_harness::a'
}

@test "modes: a project's benchmarks, each in each mode" {
	cat >codspeed.yml <<-E
		benchmarks:
		  - {name: a, exec: $blocks 10}
		  - {name: b, exec: $blocks 20}
		  - {entrypoint: exec-harness --name c $blocks 30}
	E
	modes run -m simulation,memory
	equal "$rc" 0
	equal "$(identities | cut -d ' ' -f 2-)" "simulation exec_harness::a
simulation exec_harness::b
memory exec_harness::a
memory exec_harness::b
simulation exec_harness::c
memory exec_harness::c"
	equal "$(find "$folder" -mindepth 1 -maxdepth 1 -type d -printf '%f\n' | sort)" \
		$'memory-1\nmemory-3\nsimulation-0\nsimulation-2'
	equal "$(sed -n '/^Benchmark/,/^$/p' "$out" | grep -cE '^[abc] ')" 3
}

@test "modes: one that fails does not take the others' results" {
	modes exec -m simulation,memory --name both -- "$FIXTURES/burn-musl" 1000 3
	equal "$rc" 1
	equal "$(jq -r '.benchmarks[0] | .mode + " " + .status' "$result")" 'simulation failed'
	valgrind_in_bin
	program valgrind <<<'#!/bin/sh'$'\n''exit 1'
	modes exec -m simulation,memory --name both -- "$blocks" 10
	equal "$rc" 3
	equal "$(identities)" 'ok memory exec_harness::both'
}

@test "modes: limits hold for the whole, and a baseline keeps it" {
	modes exec -m simulation,memory --store "$PWD/kept" --save base --name both -- "$blocks" 10
	equal "$rc" 0
	[ ! -e "$folder/simulation-0/kept" ]
	modes exec -m simulation,memory --store "$PWD/kept" --baseline base --fail-above allocations=0% \
		--name both -- "$blocks" 1000
	equal "$rc" 4
	equal "$(grep -c 'error:' "$err")" 1
	equal "$(identities)" $'ok simulation exec_harness::both\nok memory exec_harness::both'
}

@test "modes: options of the run reach each part, wrong ones are told once" {
	mkdir place
	modes exec -m simulation,memory --working-directory place --pin-dispatch --top 1 \
		-- sh -c 'echo "$PWD ${GLIBC_TUNABLES%%=*}"'
	equal "$rc" 0
	equal "$(grep -c "^$PWD/place glibc" "$out")" 2
	equal "$(jq -r .run.working_directory "$result")" "$PWD/place"
	grep -q Percent "$out"
	modes exec -m simulation,memory --working-directory none -- true
	equal "$rc" 2
	equal "$(grep -c error: "$err")" 1
}

@test "modes: JSON alone on standard output" {
	alone "$CODSPEED_BIN" exec -m simulation,memory --json - -- sh -c 'echo from the command'
	equal "$(jq '.benchmarks | length' "$out")" 2
	equal "$(grep -c '^from the command' "$err")" 2
	rm -r "$TMPDIR"/profile.*
}

@test "status: memory mode is tried, too" {
	enabled STATUS
	alone "$CODSPEED_BIN" status -m memory --json -
	equal "$(jq -r '.modes[0].works' "$out")" true
	[[ $(jq -r '.modes[0].detail' "$out") == "'ls /': Peak bytes "* ]]
}
