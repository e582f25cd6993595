#!/usr/bin/env bats
# Baselines of runs in several modes, memory among them.

load helper

setup() {
	enabled BASELINE MEMTRACK
	need valgrind jq root
	cd "$BATS_TEST_TMPDIR" || return 1
	export TMPDIR=$BATS_TEST_TMPDIR
	mkdir .git
}

@test "several modes: one result is kept and compared, whatever the parts" {
	local run=(codspeed exec -m "simulation,memory" --pin-dispatch --name sort)

	seq 100 >few
	seq 3000 >many
	"${run[@]}" --save main -- sort -n few >/dev/null
	equal "$(jq -c '[.benchmarks[].mode]' .codspeed/main.json)" '["simulation","memory"]'
	[[ $(jq -r .system.glibc_tunables .codspeed/main.json) == *-AVX2* ]]
	equal "$(jq '.system.valgrind_options | length' .codspeed/main.json)" 4
	: >summary
	rc=0
	GITHUB_STEP_SUMMARY=$PWD/summary "${run[@]}" --baseline main --save next \
		--fail-above instructions=1%,total_bytes=1% -- sort -n many >out 2>err || rc=$?
	equal "$rc" 4
	equal "$(grep -c '^### ' summary)" 1
	equal "$(grep -c 'the limit is 1%' err)" 2
	equal "$(tail -n 1 out)" '2 regressed'
	[ -s .codspeed/next.json ]
	"${run[@]}" --quiet --baseline main -- sort -n few >out
	equal "$(wc -l <out)" 200 # the command's own
}
