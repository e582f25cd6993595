#!/usr/bin/env bats
# baseline, and exec and run with --save and --baseline.
# shellcheck disable=SC2016,SC2030,SC2031

load helper
load ../fixtures/made

setup() {
	enabled BASELINE
	need jq
	cd "$BATS_TEST_TMPDIR" || return 1
	export MACHINE=. TMPDIR=$BATS_TEST_TMPDIR
	burn=$FIXTURES/burn-musl
	mkdir -p repo/sub/deeper
	mkdir repo/.git
}

# cs ARGUMENT...: the status in $rc, its streams in the files out and err beside the repository
cs() {
	rc=0
	codspeed "$@" >"$BATS_TEST_TMPDIR/out" 2>"$BATS_TEST_TMPDIR/err" </dev/null || rc=$?
	out=$(<"$BATS_TEST_TMPDIR/out") err=$(<"$BATS_TEST_TMPDIR/err")
}

# store NAME BENCHMARK...: a baseline made by hand
store() {
	mkdir -p repo/.codspeed
	made "repo/.codspeed/$1.json" "${@:2}"
}

@test "list: names, and what is in them" {
	store main "$(simulated a 1)" "$(simulated b 2)"
	store "an older one" "$(in_memory a 1 1)"
	cd repo/sub/deeper
	cs baseline list
	equal "$rc" 0
	equal "$(sed -e 1,2d -e 's/ *CPU A$//' <<<"$out" | tr -s ' ')" \
		$'an older one 2026-01-01T00:00:00Z 1\nmain 2026-01-01T00:00:00Z 2'
}

@test "list: a damaged one hides no other" {
	store main "$(simulated a 1)"
	echo '{' >repo/.codspeed/bad.json
	cd repo
	cs baseline list
	equal "$rc" 1
	[[ $out == *main* ]]
	[[ $err == *bad.json:2:1* ]]
}

@test "list: none" {
	cd repo
	cs baseline list
	equal "$rc" 0
	[[ $err == *'there is no baseline'* ]]
}

@test "show and rm" {
	store main "$(simulated a 1234567)"
	cd repo
	cs baseline show main
	equal "$rc" 0
	[[ $out == *1,234,567* ]]
	cs baseline show --json - main
	equal "$(jq '.benchmarks[0].metrics.instructions' <<<"$out")" 1234567
	cs baseline rm main
	equal "$rc" 0
	[ ! -e .codspeed/main.json ]
	cs baseline rm main
	equal "$rc" 1
	[[ $err == *"there is no baseline 'main'"* ]]
}

@test "names: near ones are suggested, and none leads out of the store" {
	store main "$(simulated a 1)"
	made repo/outside.json "$(simulated a 1)"
	cd repo
	cs baseline show mian
	equal "$rc" 1
	[[ $err == *"did you mean 'main'"* ]]
	for name in ../outside .hidden '' a/b; do
		cs baseline rm "$name"
		equal "$rc" 1
		equal "$(wc -l <../err)" 1
	done
	[ -e outside.json ]
	cs baseline show
	equal "$rc" 2
	cs baseline lists
	equal "$rc" 2
	[[ $err == *"did you mean 'list'"* ]]
}

@test "compare: by names of the store, and with the newest" {
	store main "$(simulated a 100)"
	MACHINE='.run.started = "2026-01-02T00:00:00Z"' store feature "$(simulated a 110)"
	store older "$(simulated a 500)"
	cd repo/sub
	cs compare main feature
	equal "$rc" 0
	[[ $out == *+10.00%* ]]
	cs compare main
	[[ $out == 'Base main, head feature'*+10.00%* ]]
	cs compare --store ../.codspeed main feature
	[[ $out == *+10.00%* ]]
	cs baseline rm feature older
	cs compare main
	equal "$rc" 1
	[[ $err == *'nothing to compare main with'* ]]
}

@test "exec: --save writes what --json writes, at the repository's root" {
	need valgrind
	cd repo/sub/deeper
	cs exec --save main --json result.json -- "$burn" 1000
	equal "$rc" 0
	cmp result.json ../../.codspeed/main.json
	[[ $err == *'holds a path'*--name* ]]
	equal "$(ls ../../.codspeed)" main.json
}

@test "exec: outside of a repository the store is here; --store elsewhere" {
	need valgrind
	mkdir plain
	cd plain
	cs exec --save main -- "$burn" 1000
	[ -e .codspeed/main.json ]
	cs exec --store there --save main --working-directory / -- "$burn" 1000
	[ -e there/main.json ]
}

@test "exec: --baseline compares, gates decide, every report is written" {
	need valgrind
	cd repo
	cs exec --name b --save main -- "$burn" 10000
	cs exec --name b --baseline main --fail-above instructions=1% -- "$burn" 10000
	equal "$rc" 0
	[[ $out == *unchanged* ]]
	cs exec --name b --baseline main --fail-above instructions=1% --save other \
		--json r.json --markdown r.md -- "$burn" 20000
	equal "$rc" 4
	[[ $out == *regressed* ]]
	[[ $err == *'b: instructions is'*'the limit is 1%'* ]]
	[ -s r.json ] && [ -s r.md ] && [ -s .codspeed/other.json ]
	[[ $out == *'  burn [burn-musl]'* ]]
}

@test "exec: a largest value needs no baseline, a growth does" {
	need valgrind
	cd repo
	cs exec --fail-above instructions=1000 -- "$burn" 10000
	equal "$rc" 4
	cs exec --fail-above instructions=1000000000 -- "$burn" 10000
	equal "$rc" 0
	cs exec --fail-above instructions=1% -- "$burn" 10000
	equal "$rc" 2
	[[ $err == *--baseline* ]]
}

@test "exec: neither a failed run nor one above its limit replaces the baseline" {
	need valgrind
	cd repo
	cs exec --name b --save main -- "$burn" 10000
	cp .codspeed/main.json ../kept
	cs exec --name b --save main -- "$burn" 10000 3
	equal "$rc" 1
	cmp .codspeed/main.json ../kept
	cs exec --name b --baseline main --save main --fail-above instructions=1% -- "$burn" 20000
	equal "$rc" 4
	cmp .codspeed/main.json ../kept
	[[ $err == *'not kept'* ]]
}

@test "exec: no baseline of that name is told before anything runs" {
	need valgrind
	cd repo
	cs exec --baseline main -- touch ran
	equal "$rc" 1
	[[ $err == *"there is no baseline 'main'"* ]]
	[ ! -e ran ]
	cs exec --save a/b -- touch ran
	equal "$rc" 2
	[ ! -e ran ]
}

@test "exec: --quiet leaves standard output to the command; --json - to JSON" {
	need valgrind
	cd repo
	cs exec --name b --save main -- "$burn" 10000
	cs exec -q --name b --baseline main -- echo hi
	equal "$out" hi
	cs exec --name b --baseline main --json - -- "$burn" 10000
	equal "$(jq -r '.benchmarks[0].name' <<<"$out")" b
}

@test "exec: the step summary has the results" {
	need valgrind
	cd repo
	: >summary
	GITHUB_STEP_SUMMARY=$PWD/summary cs exec --name b -- "$burn" 10000
	equal "$rc" 0
	grep -q '^| <code>b</code> | [0-9,]* |' summary
}

@test "run: --save and --baseline" {
	need valgrind
	enabled RUN
	cd repo
	cs run --save main -- "$FIXTURES/entry_loop-musl a::b 1000 a::c 1000 >/dev/null"
	equal "$rc" 0
	cs run --baseline main --fail-above instructions=3% -- \
		"$FIXTURES/entry_loop-musl a::b 1000 a::d 1000 >/dev/null"
	equal "$rc" 0
	[[ $out == *'1 missing, 1 new, 1 unchanged' ]]
	cs run --baseline main --fail-above instructions=3% -- "$FIXTURES/entry_loop-musl a::b 2000 >/dev/null"
	equal "$rc" 4
}

@test "run: a shard without benchmarks, which is allowed, has nothing to compare" {
	need valgrind
	enabled RUN
	store main "$(simulated a 1)"
	cd repo
	cs run --allow-empty --baseline main --fail-above instructions=1% -- true
	equal "$rc" 0
	[[ $out == *'1 missing' ]]
}

# ---- The project's file ----

@test "codspeed.yml: limits for all, for one, and one that is exempt" {
	need valgrind
	enabled RUN
	cd repo
	cat >codspeed.yml <<-END
		options:
		  fail-above: |
		    instructions=3%, ram_hits=off
		    second:instructions=200%
		benchmarks:
		  - name: first
		    exec: ./work 1
		  - name: second
		    exec: ./work 2
		  - name: noisy
		    exec: ./work 3
		    fail-above: instructions=off
	END
	ln -s "$burn" burn
	printf '#!/bin/sh\nexec ./burn $(cat "n$1")\n' >work
	chmod +x work
	for i in 1 2 3; do echo 10000 >n$i; done
	cs run --save main # growth is not looked at without a baseline
	equal "$rc" 0
	for i in 2 3; do echo 20000 >n$i; done
	cs run --baseline main
	equal "$rc" 0
	echo 20000 >n1
	cs run --baseline main --save next --json r.json
	equal "$rc" 4
	equal "$(grep -c 'the limit is' <<<"$err")" 1
	[[ $err == *'first: instructions is'*'the limit is 3%'* ]]
	cs compare main next
	equal "$rc" 4
	cs compare --fail-above first:instructions=300% main next # the command line wins
	equal "$rc" 0
	sed -i 's/instructions=off/instruction=off/' codspeed.yml
	cs run
	equal "$rc" 2
	[[ $err == *codspeed.yml:*"did you mean 'instructions'"* ]]
}

# ---- The fingerprint ----

@test "fingerprint: what figures depend on is in the result" {
	need valgrind
	cd repo
	GLIBC_TUNABLES=glibc.malloc.perturb=1 cs exec --json r.json -- "$burn" 1000
	equal "$(jq -c '.system.valgrind_options' r.json)" \
		'["--cache-sim=yes","--I1=32768,8,64","--D1=32768,8,64","--LL=8388608,16,64"]'
	equal "$(jq -r .system.glibc_tunables r.json)" glibc.malloc.perturb=1
	equal "$(jq -r '.system | has("governor")' r.json)" true
	equal "$(jq -r .system.kernel r.json)" "$(uname -r)"
}

# Two processors stand for each other by what glibc is told to leave alone.
@test "pin-dispatch: another processor, the same instructions" {
	need valgrind
	grep -qw avx2 /proc/cpuinfo || skip "this processor has no AVX2"
	cd repo
	copy=$FIXTURES/copy
	tail='.benchmarks[0].metrics | .instructions - .startup_instructions'
	cs exec --json any.json -- "$copy" 2000
	GLIBC_TUNABLES=glibc.cpu.hwcaps=-AVX2 cs exec --json old.json -- "$copy" 2000
	[ "$(jq "$tail" any.json)" -ne "$(jq "$tail" old.json)" ]
	cs exec --pin-dispatch --json any.json -- "$copy" 2000
	GLIBC_TUNABLES=glibc.cpu.hwcaps=-AVX2,-ERMS cs exec --pin-dispatch --json old.json -- "$copy" 2000
	equal "$(jq "$tail" any.json)" "$(jq "$tail" old.json)"
	[[ $(jq -r .system.glibc_tunables any.json) == *-AVX2* ]]
	# nothing is taken that the base architecture does not have
	equal "$(jq -r '.benchmarks[0].functions[].name | select(test("avx|evex|sse3|sse4|erms|fma|bmi"))' any.json)" ''
	jq -e '.benchmarks[0].functions | any(.name | test("mem.*_sse2"))' any.json
	cs exec --pin-dispatch --print-env -- "$copy"
	[[ $out == *GLIBC_TUNABLES=*-AVX2* ]]
}

@test "pin-dispatch: pinned results of two processors are comparable, others are not" {
	pin=$(codspeed exec --pin-dispatch --profile-folder p --print-env -- true | sed -n 's/^GLIBC_TUNABLES=//p')
	MACHINE=".system.glibc_tunables = \"$pin\"" made base.json "$(simulated a 100)"
	MACHINE=".system.glibc_tunables = \"$pin\" | .system.cpu_flags = []" made head.json "$(simulated a 100)"
	cs compare base.json head.json
	equal "$rc" 0
	made head.json "$(simulated a 100)"
	cs compare base.json head.json
	equal "$rc" 5
	[[ $out == *'dispatch: pinned, not pinned'* ]]
}
