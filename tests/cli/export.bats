#!/usr/bin/env bats
# export: a simulation's profile for other tools.

load helper

setup() {
	enabled EXPORT
	need jq
	cd "$BATS_TEST_TMPDIR" || return 1
	mkdir p
}

# export OPTION... FOLDER
export_() {
	rc=0
	codspeed export "$@" >out 2>err || rc=$?
	err=$(<err)
}

# dump LINE...: a profile folder with one benchmark `b` of these functions
dump() {
	{
		printf '%s\n' '# callgrind format' 'version: 1' 'creator: callgrind-3.19.0' 'pid: 7' 'cmd: x' \
			'part: 1' 'desc: Trigger: Client Request: t.c::b' 'positions: line' 'events: Ir' '' 'ob=/x'
		printf '%s\n' "$@"
	} >p/7.out
}

# stacks: the lines of folded stacks without the first frame
stacks() {
	sed -n 's/^b \[estimate\];//p' out
}

@test "folded: costs go to callers in proportion" {
	# f has cost 40, of which 30 in calls of a and 10 in calls of b; half of it is g's
	dump fn=main '1 1' cfn=a 'calls=1 1' '1 35' cfn=b 'calls=1 1' '1 20' \
		fn=a '1 5' cfn=f 'calls=3 1' '1 30' fn=b '1 10' cfn=f 'calls=1 1' '1 10' \
		fn=f '1 20' cfn=g 'calls=4 1' '1 20' fn=g '1 20' '' 'totals: 56'
	export_ --folded p
	equal "$rc" 0
	[[ $err == *estimates* ]]
	equal "$(stacks | sort)" "main 1
main;a 5
main;a;f 15
main;a;f;g 15
main;b 10
main;b;f 5
main;b;f;g 5"
}

@test "folded: cycles are cut, and nothing is lost" {
	dump fn=main '1 1' cfn=a 'calls=1 1' '1 30' \
		fn=a '1 10' cfn=b 'calls=2 1' '1 20' fn=b '1 20' cfn=a 'calls=1 1' '1 15' '' 'totals: 31'
	export_ --folded p
	equal "$rc" 0
	equal "$(awk '{ sum += $NF } END { print sum }' out)" 31
	run ! grep -q 'a;b;a;' out
	grep -q 'main;a;b;a ' out
}

@test "folded: levels of recursion are frames, and names hold no separators" {
	dump 'fn=f' '1 10' "cfn=f'2" 'calls=1 1' '1 5' "fn=f'2" '1 5' 'fn=x;y z' '1 3' '' 'totals: 18'
	export_ --folded p
	equal "$(stacks)" $'f 10\nf;f 5\nx:y z 3'
}

@test "folded: recorded benchmarks of an integration" {
	cp "$DATA/callgrind_plain.out" p/4242.out
	export_ --folded --benchmark 'sum[3]' p
	equal "$rc" 0
	equal "$(cat out)" 'sum[3] [estimate];main 3
sum[3] [estimate];main;__codspeed_root_frame__run 8
sum[3] [estimate];main;__codspeed_root_frame__run;__memcpy_avx_unaligned 7
sum[3] [estimate];main;__codspeed_root_frame__run;sum 33
sum[3] [estimate];main;__codspeed_root_frame__run;sum;sum 10'
	export_ --folded p
	equal "$(cut -d ' ' -f 1 out | sort -u)" $'sum[10]\nsum[3]'
}

@test "folded and callgrind: a tree sums up to its instructions" {
	need valgrind callgrind_annotate
	enabled EXEC
	TMPDIR=$PWD codspeed exec --profile-folder p --json r.json -- sh -c 'seq 1 1000 | sort -n | wc -l' >/dev/null
	instructions=$(jq '.benchmarks[0].metrics.instructions' r.json)
	export_ --folded p
	equal "$(awk '{ sum += $NF } END { printf "%d\n", sum }' out)" "$instructions"
	grep -q '^sh -c seq 1 1000 | sort -n | wc -l \[estimate\];' out
	export_ --callgrind -o tree.out p
	equal "$rc" 0
	callgrind_annotate tree.out >annotated
	equal "$(sed -n 's/ (100.0%).*PROGRAM TOTALS$//p' annotated | tr -d ,)" "$instructions"
	grep -q '^Events recorded:  Ir Dr Dw I1mr D1mr D1mw ILmr DLmr DLmw$' annotated
	grep -q '_dl_relocate_object \[.*ld-linux' annotated
}

@test "callgrind: the very numbers, calls and names" {
	cp "$DATA/callgrind_plain.out" p/4242.out
	export_ --callgrind --benchmark src/demo.c::sum\[3\] p
	equal "$rc" 0
	equal "$(sed -n '/^fn=(6)/,/^$/p' out)" "fn=(6)
0 33 3 3 0 0 0
cob=(4)
cfn=(7) sum'2
calls=1 0
0 10 0 0 0 0 0"
	equal "$(tail -n 1 out)" 'totals: 61 7 7 2 1 1'
	equal "$(sed -n 's/^events: //p' out)" 'Ir Dr Dw I1mr D1mr ILmr'
}

@test "callgrind: names of objects and functions are numbered apart" {
	dump 'fn=/x' '1 10' 'fn=y' '1 1' '' 'totals: 11'
	export_ --callgrind p
	grep -qx 'ob=(\(.*\)) /x' out
	grep -qx 'fn=(\(.*\)) /x' out
}

@test "refused: several benchmarks, none of that name, results without raw data" {
	cp "$DATA/callgrind_plain.out" p/4242.out
	export_ --callgrind p
	equal "$rc" 1
	[[ $err == *'--benchmark among sum[3], sum[10]'* ]]
	export_ --folded --benchmark none p
	equal "$rc" 1
	[[ $err == *"no benchmark 'none', but sum[3], sum[10]"* ]]
	export_ --folded "$DATA/result_simulation.json"
	equal "$rc" 1
	[[ $err == *'no profile folder'* ]]
	mkdir empty
	export_ --folded empty
	equal "$rc" 1
	export_ --folded none
	equal "$rc" 1
	for options in '' '--folded --callgrind'; do
		# shellcheck disable=SC2086
		export_ $options p
		equal "$rc" 2
	done
}
