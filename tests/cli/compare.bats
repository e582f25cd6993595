#!/usr/bin/env bats
# compare: verdicts and exit codes on results made by hand.

load helper
load ../fixtures/made

setup() {
	enabled COMPARE
	need jq
	cd "$BATS_TEST_TMPDIR" || return 1
	export MACHINE=. # of made
}

# compare [OPTION]... FILE...: the status in $rc, the table in $out, messages in $err
compare() {
	rc=0
	codspeed compare "$@" >out 2>err || rc=$?
	out=$(<out) err=$(<err)
}

# row NAME: what the table says of it, blanks squeezed
row() {
	grep "^$1 " out | tr -s ' ' | sed 's/ $//'
}

# refused STATUS TEXT...: one line on standard error that has all of them
refused() {
	equal "$rc" "$1"
	equal "$(wc -l <err)" 1
	shift
	for text; do
		[[ $err == *"$text"* ]] || {
			echo "$err" >&2
			return 1
		}
	done
}

# ---- Verdicts ----

@test "verdicts: exact differences of a simulation" {
	made base.json "$(simulated same 1000)" "$(simulated up 1000)" "$(simulated down 1000)" "$(simulated gone 5)"
	made head.json "$(simulated same 1000)" "$(simulated up 1001)" "$(simulated down 900)" "$(simulated added 7)"
	compare base.json head.json
	equal "$rc" 0
	equal "$(row same)" 'same instructions 1,000 1,000 0 +0.00% unchanged'
	equal "$(row up)" 'up instructions 1,000 1,001 +1 +0.10% regressed'
	equal "$(row down)" 'down instructions 1,000 900 -100 -10.00% improved'
	equal "$(row gone)" 'gone instructions 5 - missing'
	equal "$(row added)" 'added instructions - 7 new'
	equal "$(tail -n 1 out)" '1 regressed, 1 missing, 1 new, 1 improved, 1 unchanged'
}

@test "verdicts: memory, and what its leading metric does not tell" {
	made base.json "$(in_memory a 100 1000)" "$(in_memory b 100 1000)"
	made head.json "$(in_memory a 150 1000)" "$(in_memory b 100 2000)"
	compare base.json head.json
	equal "$rc" 0
	equal "$(row a)" 'a peak_bytes 100 150 +50 +50.00% regressed'
	equal "$(row b)" 'b peak_bytes 100 100 0 +0.00% unchanged'
	[[ $(row '') == *'total_bytes 1,000 2,000 +1,000 +100.00% regressed'* ]]
}

@test "verdicts: a threshold" {
	made base.json "$(simulated a 1000)" "$(simulated b 1000)" "$(simulated c 1000)"
	made head.json "$(simulated a 1020)" "$(simulated b 1021)" "$(simulated c 979)"
	compare --threshold 2% base.json head.json
	[[ $(row a) == *unchanged ]]
	[[ $(row b) == *regressed ]]
	[[ $(row c) == *improved ]]
}

@test "verdicts: growth from 0, and the largest numbers" {
	made base.json "$(in_memory a 0 0)" "$(in_memory b 1 18446744073709551615)"
	made head.json "$(in_memory a 5 0)" "$(in_memory b 100 0)"
	sed -i 's/18446744073709552000/18446744073709551615/' base.json
	compare --all-metrics base.json head.json
	equal "$rc" 0
	equal "$(row a)" 'a peak_bytes 0 5 +5 from 0 regressed'
	equal "$(row b)" 'b peak_bytes 1 100 +99 x100 regressed'
	[[ $(row '') == *'total_bytes 18,446,744,073,709,551,615 0 -18,446,744,073,709,551,615 -100.00% improved'* ]]
}

@test "verdicts: a benchmark that failed cannot be compared" {
	made base.json "$(simulated a 1000)"
	made head.json "$(simulated a 1000 | jq -c '.status = "failed" | .notes = ["exit status 3"]')"
	compare base.json head.json
	equal "$rc" 5
	[[ $(row a) == *'not comparable' ]]
	[[ $out == *'failed in head.json'* ]]
	[[ $err == *'1 of 1 benchmarks cannot be compared'* ]]
}

@test "verdicts: the same URI in two modes is two benchmarks" {
	made base.json "$(simulated a 1000)" "$(in_memory a 100 1000)"
	made head.json "$(in_memory a 100 1000)" "$(simulated a 1001)"
	compare base.json head.json
	equal "$(tail -n 1 out)" '1 regressed, 1 unchanged'
}

@test "verdicts: nothing in common is no success" {
	made base.json "$(simulated a 1000)"
	made head.json "$(simulated b 1000)"
	compare --fail-above instructions=1% base.json head.json
	equal "$rc" 5
	[[ $err == *'base.json and head.json have no benchmark in common'* ]]
	made none.json
	compare none.json none.json
	equal "$rc" 5
	equal "$(tail -n 1 out)" 'nothing to compare'
}

# ---- Wall time ----

@test "walltime: apart, and within each other" {
	made base.json "$(timed slow 100 101 102 103 104)" "$(timed even 100 101 102 103 104)"
	made head.json "$(timed slow 200 202 204 206 208)" "$(timed even 101 100 102 104 103)"
	compare base.json head.json
	equal "$rc" 0
	# 2 of the 252 orders are as extreme: p = 0.0079; ratios from 200 / 104 to 208 / 100
	equal "$(row slow)" 'slow median_ns 102 204 +100.00% +92.31% to +108.00% 0.0079 regressed'
	[[ $(row even) == *unchanged ]]
	[[ $out == *'Mann-Whitney rank test'* ]]
	compare head.json base.json
	[[ $(row slow) == *improved ]]
}

@test "walltime: a clear difference below the threshold is none" {
	made base.json "$(timed a 1000 1001 1002 1003 1004)"
	made head.json "$(timed a 1005 1006 1007 1008 1009)"
	compare base.json head.json
	[[ $(row a) == *regressed ]]
	compare --threshold 1% base.json head.json
	[[ $(row a) == *unchanged ]]
}

@test "walltime: too few rounds allow no verdict" {
	made base.json "$(timed a 100 101 102 103)"
	made head.json "$(timed a 200 201 202 203 204)"
	compare base.json head.json
	equal "$rc" 5
	[[ $(row a) == *'not comparable' ]]
	[[ $out == *'4 and 5 rounds'* ]]
	compare -q base.json head.json
	equal "$rc" 5
	[[ $err == *'a: '*'rounds, a rank test needs 5 of each (--min-rounds)'* ]]
}

# ---- Machines ----

@test "machines: a flag that changes dispatch, and one that valgrind hides" {
	made base.json "$(simulated a 1000)"
	MACHINE='.system.cpu_flags = ["avx", "sse2"]' made head.json "$(simulated a 1100)"
	compare base.json head.json
	equal "$rc" 5
	[[ $(row a) == *'not comparable' ]]
	[[ $out == *'CPU flags: -avx2'* ]]
	MACHINE='.system.cpu_flags = ["avx", "avx2", "sse2"] | .system.cpu_model = "CPU B"' \
		made head.json "$(simulated a 1100)"
	compare base.json head.json
	equal "$rc" 0
	[[ $(row a) == *regressed ]]
}

@test "machines: libc, valgrind and its options make a simulation another one" {
	made base.json "$(simulated a 1000)"
	for MACHINE in '.system.libc = "musl"' '.system.valgrind = "3.20.0"' \
		'.system.valgrind_options = []' '.system.arch = "aarch64"' '.system.glibc_tunables = "x=1"'; do
		made head.json "$(simulated a 1000)"
		compare base.json head.json
		equal "$rc" 5
	done
	MACHINE='.system.kernel = "6.2.0" | .run.host = "other" | .system.cores = 8'
	made head.json "$(simulated a 1000)"
	compare base.json head.json
	equal "$rc" 0
}

@test "machines: memory is comparable across processors and libraries" {
	made base.json "$(in_memory a 100 100)"
	MACHINE='.system.cpu_flags = [] | .system.libc = "musl" | .system.kernel = "7"' \
		made head.json "$(in_memory a 100 100)"
	compare base.json head.json
	equal "$rc" 0
}

@test "machines: wall time of another machine is never a regression" {
	made base.json "$(timed a 100 101 102 103 104)"
	for MACHINE in '.run.host = "other"' '.system.cpu_model = "CPU B"' '.system.kernel = "6.2.0"' \
		'.system.governor = "powersave"' '.system.cores = 4' '.system.cpu_flags = []'; do
		made head.json "$(timed a 200 202 204 206 208)"
		compare --fail-above median_ns=10% base.json head.json
		equal "$rc" 5
		[[ $(row a) == *'not comparable' ]]
	done
	compare --across-machines base.json head.json
	equal "$rc" 0
	[[ $(row a) == *regressed ]]
	[[ $out == *'other machine'* ]]
}

@test "machines: one that could not say something is another one" {
	made base.json "$(simulated a 1000)"
	MACHINE='del(.system.valgrind)' made head.json "$(simulated a 1000)"
	compare base.json head.json
	equal "$rc" 5
	[[ $out == *'valgrind: 3.19.0, unknown'* ]]
}

# ---- Gates ----

# ten benchmarks, one of them 5 % slower, one 4 % faster
ten() {
	local i benchmarks=()

	for i in 1 2 3 4 5 6 7 8 9 10; do
		benchmarks+=("$(simulated "b$i" "$1")")
	done
	made base.json "${benchmarks[@]}"
	benchmarks[4]=$(simulated b5 1050) benchmarks[7]=$(simulated b8 960)
	made head.json "${benchmarks[@]}"
}

@test "gates: 3% is broken by 5%, 10% is not" {
	ten 1000
	compare --fail-above instructions=3% base.json head.json
	equal "$rc" 4
	[[ $err == *"b5: instructions is 1,050, 5.00% above the base's 1,000; the limit is 3%"* ]]
	equal "$(wc -l <err)" 1
	[[ $(row b8) == *improved ]] # told all the same
	compare --fail-above instructions=10% base.json head.json
	equal "$rc" 0
	compare --fail-above instructions=5% base.json head.json
	equal "$rc" 0
}

@test "gates: relative, absolute, the largest value" {
	ten 1000
	compare --fail-above instructions=+49 base.json head.json
	equal "$rc" 4
	[[ $err == *'50 above the base'*'the limit is +49'* ]]
	compare --fail-above instructions=+50 base.json head.json
	equal "$rc" 0
	compare --fail-above instructions=1049 base.json head.json
	equal "$rc" 4
	compare --fail-above instructions=1050 base.json head.json
	equal "$rc" 0
}

@test "gates: a benchmark's own, and one that is exempt" {
	ten 1000
	compare --fail-above instructions=3% --fail-above b5:instructions=6% base.json head.json
	equal "$rc" 0
	compare --fail-above t.py::b5:instructions=off --fail-above instructions=3% base.json head.json
	equal "$rc" 0
	compare --fail-above b5:instructions=1% base.json head.json
	equal "$rc" 4
}

@test "gates: one of a benchmark that is not there is told" {
	ten 1000
	compare --fail-above b55:instructions=1% --fail-above b5:instructions=6% base.json head.json
	equal "$rc" 0
	equal "$err" "codspeed: warning: --fail-above: there is no benchmark 'b55', its limit has no effect"
}

@test "gates: all that is broken is listed, and every report written first" {
	made base.json "$(simulated a 100)" "$(simulated b 100)" "$(in_memory c 100 100)"
	made head.json "$(simulated a 200)" "$(simulated b 300)" "$(in_memory c 400 100)"
	compare --fail-above instructions=1%,peak_bytes=5% --markdown report.md base.json head.json
	equal "$rc" 4
	equal "$(wc -l <err)" 3
	[[ $out == *regressed* ]]
	[ "$(grep -c '^- ' report.md)" -eq 3 ]
}

@test "gates: a new benchmark has a largest value only" {
	made base.json "$(simulated b 10)"
	made head.json "$(simulated a 100)" "$(simulated b 10)"
	compare --fail-above instructions=0% base.json head.json
	equal "$rc" 0
	compare --fail-above instructions=99 base.json head.json
	equal "$rc" 4
}

@test "gates: growth from 0 is above any percentage" {
	made base.json "$(in_memory a 0 0)"
	made head.json "$(in_memory a 1 0)"
	compare --fail-above peak_bytes=1000% base.json head.json
	equal "$rc" 4
}

@test "gates: wall time grows where the rank test agrees" {
	made base.json "$(timed a 100 101 102 103 104)" "$(timed b 100 300 100 300 100)"
	made head.json "$(timed a 120 121 122 123 124)" "$(timed b 300 100 400 101 301)"
	compare --fail-above median_ns=10% base.json head.json
	equal "$rc" 4
	equal "$(wc -l <err)" 1
	[[ $err == *a:\ median_ns* ]]
	compare --fail-above median_ns=25% base.json head.json
	equal "$rc" 0
}

@test "gates: a broken one says more than what is not comparable" {
	made base.json "$(simulated a 100)" "$(simulated b 100)"
	made head.json "$(simulated a 200)" "$(simulated b 100 | jq -c '.status = "incomplete"')"
	compare --fail-above instructions=1% base.json head.json
	equal "$rc" 4
	compare --fail-above instructions=100% base.json head.json
	equal "$rc" 5
}

@test "gates: what is none" {
	made a.json
	for limit in '' instructions instructions= instruction=1% instructions=1x instructions=-1% \
		instructions=1e3% instructions=nan% instructions=% instructions=.5% instructions=99999999999999999999 \
		:instructions=1% 'instructions=1%,' peak_bytes=++1; do
		compare --fail-above "$limit" a.json a.json
		equal "$rc" 2
		[[ $err == *fail-above* ]]
	done
	compare --fail-above instruction=1% a.json a.json
	[[ $err == *"did you mean 'instructions'"* ]]
}

# ---- Why ----

@test "functions: the biggest change first" {
	made base.json "$(simulated a 1000 main=500 parse=400 cold=100)"
	made head.json "$(simulated a 1150 main=500 parse=570 fresh=80)"
	compare base.json head.json
	equal "$(grep -A 3 '^a ' out | tail -n 3)" "  +170  parse [prog]
  -100  cold [prog]
  +80  fresh [prog]"
	compare --explain 1 base.json head.json
	[[ $out != *cold* ]]
	compare --explain 0 base.json head.json
	[[ $out != *parse* ]]
}

@test "functions: a list that is cut says at least how much" {
	made base.json "$(simulated a 1000 main=500 parse=100)"
	made head.json "$(simulated a 1350 main=500 fresh=450)"
	compare base.json head.json
	[[ $out == *'at least +350  fresh [prog]'* ]]
	[[ $out != *' parse '* ]] # it may have cost 100 still
}

# ---- Reports ----

@test "report: the step summary is appended to, and never above its limit" {
	made base.json "$(simulated a 100)"
	made head.json "$(simulated a 200)"
	echo before >summary
	GITHUB_STEP_SUMMARY=$PWD/summary compare base.json head.json
	equal "$rc" 0
	equal "$(head -n 1 summary)" before
	grep -q '^| <code>a</code> | instructions | 100 | 200 | +100 (+100.00%) | \*\*regressed\*\* |$' summary
	head -c $((1024 * 1024 - 100)) /dev/zero | tr '\0' x >summary
	GITHUB_STEP_SUMMARY=$PWD/summary compare base.json head.json
	equal "$(stat -c %s summary)" $((1024 * 1024 - 100))
	GITHUB_STEP_SUMMARY=$PWD/none/summary compare base.json head.json
	equal "$rc" 1
	[[ $err == *GITHUB_STEP_SUMMARY* ]]
	[[ $out == *regressed* ]]
}

@test "report: 20 000 regressions are cut to 1 MiB, the first ones stay" {
	jq -nc --argjson n 1000 "[range(20000) | {uri: \"t::\(.)\", name: \"benchmark \(.)\", mode: \"simulation\",
		status: \"ok\", notes: [], metrics: {instructions: \$n}}]" >many
	made base.json
	jq --slurpfile b many '.benchmarks = $b[0]' base.json >one.json
	jq '.benchmarks |= map(.metrics.instructions = 2000)' one.json >two.json
	compare --quiet --fail-above instructions=1% --markdown report.md one.json two.json
	equal "$rc" 4
	[ "$(stat -c %s report.md)" -le $((1024 * 1024)) ]
	[ "$(stat -c %s report.md)" -gt $((1000 * 1024)) ]
	grep -q '<code>benchmark 0</code>' report.md
	grep -q 'more benchmarks found no room here' report.md
	equal "$(wc -l <err)" 20000
	[ -z "$out" ]
}

@test "report: names are no markup and steer no terminal" {
	made base.json
	made head.json "$(simulated $'<b>|`x`\e[2J' 5)"
	compare --markdown report.md base.json head.json
	[[ $out != *$'\e'* ]]
	grep -q '<code>&#60;b&#62;&#124;&#96;x&#96;&#92;x1b&#91;2J</code>' report.md
}

@test "report: colours are for terminals, and NO_COLOR is honoured" {
	need script
	made base.json "$(simulated a 100)"
	made head.json "$(simulated a 200)"
	command=$(printf '%q ' "$CODSPEED_BIN" compare base.json head.json)
	TERM=xterm script -qec "$command" /dev/null </dev/null >typed
	grep -q $'\e\\[31mregressed' typed
	NO_COLOR=1 TERM=xterm script -qec "$command" /dev/null </dev/null >typed
	run ! grep -q $'\e' typed
	compare base.json head.json
	[[ $out != *$'\e'* ]]
}

@test "report: the table fits the terminal" {
	need script stty
	made base.json "$(simulated "a benchmark with a name that is longer than any terminal is wide, or so" 1000000)"
	made head.json "$(simulated "a benchmark with a name that is longer than any terminal is wide, or so" 2000000)"
	for width in 120 80 60 40; do
		TERM=xterm NO_COLOR=1 LC_ALL=C script -qec "stty cols $width; $(printf '%q ' "$CODSPEED_BIN" compare \
			base.json head.json)" /dev/null </dev/null | tr -d '\r' | sed 1,2d >typed
		[ "$(sed '/^Simulation:/,$d' typed | awk '{ print length($0) }' | sort -n | tail -n 1)" -le "$width" ]
		grep -q regressed typed
	done
}

# ---- Input ----

@test "input: what is no result gets one line" {
	made good.json "$(simulated a 100)"
	echo '{' >bad.json
	compare good.json bad.json
	refused 1 bad.json:2:1
	sed 's/"version": 1/"version": 2/' good.json >bad.json
	compare bad.json good.json
	refused 1 bad.json 'version 2 is newer'
	sed 's/: 100,/: NaN,/' good.json >bad.json
	compare good.json bad.json
	refused 1 bad.json:
	sed 's/: 100,/: 1e30,/' good.json >bad.json
	compare good.json bad.json
	refused 1 bad.json 'benchmarks[0].metrics.instructions'
	sed 's/: 100,/: -1,/' good.json >bad.json
	compare good.json bad.json
	refused 1 bad.json 'must not be negative'
	compare good.json none.json
	refused 1 none.json
	: >bad.json
	compare good.json bad.json
	refused 1 'bad.json: is empty'
}

@test "input: a benchmark that stands there twice" {
	made good.json "$(simulated a 100)"
	made twice.json "$(simulated a 100)" "$(simulated b 100)" "$(simulated a 200)"
	compare good.json twice.json
	refused 1 'twice.json: benchmarks[2]: t.py::a (simulation) stands there twice' 'benchmarks[0]'
	compare twice.json good.json
	refused 1 twice.json
}

@test "input: unknown keys are ignored" {
	made a.json "$(simulated a 100 | jq -c '.later = {x: [1]} | .metrics.later = 7')"
	MACHINE='.later = 1 | .system.later = "x"' made b.json "$(simulated a 100)"
	compare a.json b.json
	equal "$rc" 0
	[[ $(row a) == *unchanged ]]
}

@test "input: usage" {
	compare
	equal "$rc" 2
	compare a b c
	equal "$rc" 2
	compare --threshold 2 a b
	equal "$rc" 2
}
