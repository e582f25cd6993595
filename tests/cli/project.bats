#!/usr/bin/env bats
# codspeed.yml: where it is found, what of it runs, what is told when it is wrong.
# shellcheck disable=SC2016,SC2030,SC2031,SC2154 # $rc and others are of entry.bash

load helper
load ../fixtures/entry

setup() {
	enabled RUN EXEC
	entry_setup
	mkdir "$BATS_TEST_TMPDIR/bin"
	ln -s "$CODSPEED_BIN" "$BATS_TEST_TMPDIR/bin/exec-harness"
	PATH=$BATS_TEST_TMPDIR/bin:$PATH
	burn=$FIXTURES/burn-musl
}

teardown() {
	nothing_left
}

# listed_run [OPTION]...: run the project's benchmarks
listed_run() {
	rc=0
	rm -f "$result"
	case " $* " in
	*' -m '*) ;;
	*) set -- -m simulation "$@" ;;
	esac
	"$CODSPEED_BIN" run --profile-folder "$folder" --json "$result" "$@" >"$out" 2>"$err" 3>&- || rc=$?
}

# measured: exec something small; for what the project's file makes of it
measured() {
	rc=0
	"$CODSPEED_BIN" exec -m simulation --profile-folder "$folder" -- true \
		>"$out" 2>"$err" 3>&- || rc=$?
}

# one_error TEXT: status 2, and a single line with it
one_error() {
	equal "$rc" 2
	equal "$(grep -c error: "$err")" 1
	says "$err" "codspeed: error: $1"
}

# ---- What runs ----

@test "run: the commands as one part, then each entrypoint" {
	cat >codspeed.yml <<-E
		benchmarks:
		  - entrypoint: |
		      exec-harness --name third \
		        $burn 3000
		  - name: first
		    exec: $burn 1000
		  - exec: "'$burn' 2000"
	E
	listed_run
	equal "$rc" 0
	equal "$(listed)" "ok exec_harness::first
ok exec_harness::$burn 2000
ok exec_harness::third"
	says "$err" 'part 1 of 2, simulation: 2 commands of codspeed.yml'
	equal "$(ls "$folder")" $'results.json\nsimulation-0\nsimulation-1'
	cmp "$folder/results.json" "$result"
	equal "$(jq -r '.run.command, .run.working_directory, .run.modes[]' "$result")" \
		"the benchmarks of codspeed.yml"$'\n'"$PWD"$'\nsimulation'
	equal "$(grep -c '^Benchmark' "$out")" 1
	"$CODSPEED_BIN" show "$folder" >again
	diff <(sed -n '/^Benchmark/,$p' "$out") again
}

@test "run: a single part leaves no folders of parts" {
	echo "benchmarks: [{exec: $burn 1000, name: one}]" >codspeed.yml
	listed_run
	equal "$rc" 0
	equal "$(listed)" 'ok exec_harness::one'
	[ ! -d "$folder/simulation-0" ]
	says_not "$err" 'part 1'
	echo "benchmarks: [{entrypoint: 'exec-harness --name two $burn 1000'}]" >codspeed.yml
	listed_run
	equal "$(listed)" 'ok exec_harness::two'
}

@test "run: the figures are those of exec" {
	echo "benchmarks: [{exec: $burn 100000, name: one}, {exec: $burn 200000, name: two}]" >codspeed.yml
	listed_run
	one=$(figure exec_harness::one)
	"$CODSPEED_BIN" exec -m simulation --json "$result" --profile-folder "$folder" --name one -- \
		"$burn" 100000 >/dev/null
	difference=$((one - $(figure exec_harness::one)))
	[ "${difference#-}" -le 300 ] # the environment's length
}

@test "run: --bench chooses by id or name" {
	cat >codspeed.yml <<-E
		benchmarks:
		  - {id: a, name: first, exec: $burn 1000}
		  - {id: b, name: second, exec: $burn 2000}
		  - {id: c, entrypoint: exec-harness --name third $burn 3000}
	E
	listed_run --bench second
	equal "$(listed)" 'ok exec_harness::second'
	listed_run --bench c --bench=a
	equal "$(listed)" $'ok exec_harness::first\nok exec_harness::third'
	listed_run --bench secnd
	one_error "codspeed.yml has no benchmark with the id or name 'secnd'; did you mean 'second'?"
	rc=0
	codspeed run --bench a -- true 2>"$err" || rc=$?
	one_error '--bench chooses among'
}

@test "run: a failed benchmark does not keep the others from running" {
	cat >codspeed.yml <<-E
		benchmarks:
		  - {name: bad, exec: $burn 1000 3}
		  - {name: good, exec: $burn 2000}
		  - {entrypoint: exit 4}
		  - {entrypoint: exec-harness --name last $burn 3000}
	E
	listed_run
	equal "$rc" 1
	equal "$(listed)" $'failed exec_harness::bad\nok exec_harness::good\nok exec_harness::last'
	says "$err" 'exit status 4'
}

@test "run: --quiet tells what failed, as exec does" {
	printf 'benchmarks:\n  - {name: bad, exec: %s 1000 3}\n' "$burn" >codspeed.yml
	run --separate-stderr codspeed run -m simulation -q --profile-folder "$folder"
	equal "$status" 1
	[ -z "$output" ]
	[[ $stderr == *"error: bad: failed: exit status 3"* ]]
}

@test "run: one name for two benchmarks of different parts" {
	cat >codspeed.yml <<-E
		benchmarks:
		  - {name: x, exec: $burn 1000}
		  - {entrypoint: exec-harness --name x $burn 3000}
	E
	listed_run
	equal "$rc" 1
	equal "$(listed)" 'ok exec_harness::x'
	says "$err" 'exec_harness::x was measured already'
}

@test "run: standard input is a file for each part, a pipe for none" {
	cat >codspeed.yml <<-'E'
		benchmarks:
		  - {entrypoint: "exec-harness --name a true; wc -c >a"}
		  - {entrypoint: "exec-harness --name b true; wc -c >b"}
	E
	echo 1234567 >input
	listed_run <input
	equal "$rc" 0
	equal "$(cat a b)" $'8\n8'
	{ cat input; : >written; } | {
		until [ -e written ]; do sleep 0.01; done
		listed_run
		cp "$err" told
	}
	equal "$(cat a b)" $'0\n0'
	says told 'standard input is a pipe'
}

@test "run: JSON alone on standard output" {
	echo "benchmarks: [{entrypoint: 'exec-harness --name a echo x'}, {exec: echo y}]" >codspeed.yml
	"$CODSPEED_BIN" run -m simulation --profile-folder "$folder" --json - >"$out" 2>"$err"
	equal "$(jq '.benchmarks | length' "$out")" 2
	says "$err" x
}

@test "run: nothing to run" {
	listed_run
	one_error 'there is no command, and no codspeed.yml here or above'
	for text in '' 'benchmarks: []' 'options: {max-time: 1}'; do
		echo "$text" >codspeed.yml
		listed_run
		one_error 'there is no command, and codspeed.yml lists no benchmarks'
	done
	echo "targets: [{exec: 'true'}]" >codspeed.yml
	listed_run
	one_error 'there is no command'
	says "$err" "codspeed.yml:1:1: unknown key 'targets', ignored; did you mean 'benchmarks'?"
}

@test "run: ended by a signal it keeps what it has, and runs no more parts" {
	cat >codspeed.yml <<-E
		benchmarks:
		  - {name: first, exec: $burn 1000}
		  - {entrypoint: exec-harness --name second sleep 60}
		  - {entrypoint: exec-harness --name third $burn 1000}
	E
	"$CODSPEED_BIN" run -m simulation --profile-folder "$folder" --json "$result" >"$out" 2>"$err" 3>&- &
	wait_for "$err" 'part 2 of 3'
	sleep 0.5
	kill -TERM $!
	rc=0
	wait $! || rc=$?
	equal "$rc" 143
	says "$out" first
	says_not "$err" 'part 3'
	gone 'sleep 60$'
}

@test "run: --timeout ends each part's command" {
	cat >codspeed.yml <<-E
		benchmarks:
		  - {entrypoint: exec-harness --name second sleep 60}
		  - {name: first, exec: $burn 1000}
	E
	listed_run --timeout 2s
	equal "$rc" 1
	says "$err" 'timed out'
	[[ $(listed) == *'ok exec_harness::first'* ]]
}

@test "folder: parts of an earlier run go, other files stay" {
	echo "benchmarks: [{exec: $burn 1000, name: a}, {entrypoint: exec-harness --name b $burn 1000}]" >codspeed.yml
	listed_run
	touch "$folder/mine" "$folder/simulation-1/mine"
	mkdir "$folder/simulation-x"
	listed_run --bench a
	equal "$rc" 0
	equal "$(find "$folder/simulation-1" "$folder/simulation-x" -type f)" "$folder/simulation-1/mine"
	[ -e "$folder/mine" ]
	[ ! -e "$folder/simulation-0" ]
}

# ---- Limits and modes ----

@test "limits: the benchmark's, else the file's; in exec the command line's, else the file's" {
	enabled WALLTIME
	cat >codspeed.yml <<-'E'
		options: {warmup-time: 0, max-rounds: 3}
		benchmarks:
		  - {name: a, exec: "true", options: {max-rounds: "4"}}
		  - {name: b, exec: "true"}
	E
	listed_run -m walltime
	equal "$(jq -c '[.benchmarks[].metrics.rounds]' "$result")" '[4,3]'
	timed=(codspeed exec -m walltime --profile-folder "$folder" --json "$result")
	"${timed[@]}" -- true >/dev/null 2>&1
	equal "$(jq '.benchmarks[0].metrics.rounds' "$result")" 3
	"${timed[@]}" --max-rounds 2 -- true >/dev/null 2>&1
	equal "$(jq '.benchmarks[0].metrics.rounds' "$result")" 2
}

@test "modes: simulation and walltime, joined by URI" {
	enabled WALLTIME
	cat >codspeed.yml <<-'E'
		options: {warmup-time: 0, max-rounds: 3}
		benchmarks:
		  - {name: a, exec: "true"}
		  - {name: b, exec: "sleep 0.01"}
	E
	listed_run -m simulation,walltime
	equal "$rc" 0
	equal "$(jq -r '.benchmarks[] | .mode + " " + .uri' "$result")" "simulation exec_harness::a
simulation exec_harness::b
walltime exec_harness::a
walltime exec_harness::b"
	grep -qE '^Benchmark +Instructions +Est. cycles +Median$' "$out"
	equal "$(grep -cE '^[ab] ' "$out")" 2
	[ -d "$folder/walltime-1" ]
	equal "$(jq -c '[.benchmarks[2:][].metrics.rounds]' "$result")" '[3,3]'
	codspeed exec -m walltime,simulation --max-rounds 2 --profile-folder "$folder" --json "$result" -- true \
		>/dev/null 2>&1
	equal "$(jq -c '[.benchmarks[] | [.mode, .metrics.rounds]]' "$result")" '[["walltime",2],["simulation",null]]'
}

# ---- Where it is found ----

@test "found: four names, in this order, plain files only" {
	mkdir codspeed.yaml
	for name in codspeed.yaml codspeed.yml .codspeed.yaml .codspeed.yml; do
		[ -d "$name" ] || echo "wrong: $name" >"$name"
	done
	measured
	says "$err" 'codspeed.yml:1:1: unknown key'
	rmdir codspeed.yaml
	mkfifo codspeed.yaml
	measured
	says "$err" 'codspeed.yml:1:1: unknown key'
	rm codspeed.yaml codspeed.yml
	measured
	says "$err" '.codspeed.yaml:1:1: unknown key'
	rm .codspeed.yaml
	measured
	says "$err" '.codspeed.yml:1:1: unknown key'
}

@test "found: upward inside a repository, not past its root, nowhere else" {
	echo 'wrong: outside' >codspeed.yml
	mkdir -p repository/.git repository/a/b other
	(cd other && measured && says_not "$err" unknown)
	(cd repository && measured && says_not "$err" unknown)
	(cd repository/a/b && measured && says_not "$err" unknown)
	echo 'wrong: root' >repository/codspeed.yml
	(cd repository/a/b && measured && says "$err" ' ../../codspeed.yml:1:1: unknown key')
	echo 'wrong: near' >repository/a/.codspeed.yml
	(cd repository/a/b && measured && says "$err" ' ../.codspeed.yml:1:1: unknown key')
	rmdir repository/.git
	echo 'gitdir: elsewhere' >repository/.git # of a worktree
	rm repository/a/.codspeed.yml
	(cd repository/a && measured && says "$err" ' ../codspeed.yml:1:1')
}

@test "found: --config is that file, by any name" {
	mkdir sub
	echo "benchmarks: [{exec: $burn 1000, name: chosen}]" >sub/some.file
	echo 'wrong: 1' >codspeed.yml
	listed_run --config sub/some.file
	equal "$(listed)" 'ok exec_harness::chosen'
	says_not "$err" unknown
	listed_run --config none.yml
	one_error 'cannot open none.yml: No such file'
	listed_run --config sub
	one_error 'sub is not a plain file'
	codspeed run -m simulation --allow-empty --config sub/some.file -- true 2>"$err" >/dev/null
	says "$err" '--config has no effect'
}

@test "found: only run and exec read it" {
	echo '{{{' >codspeed.yml
	measured
	one_error 'codspeed.yml:1:'
	listed_run
	one_error 'codspeed.yml:1:'
	codspeed run -m simulation --allow-empty --profile-folder "$folder" -- true
	codspeed config schema >/dev/null
	codspeed exec --help >/dev/null
}

# ---- The working directory ----

@test "directory: relative to the file, wherever codspeed is started" {
	mkdir -p repository/.git repository/sub elsewhere
	cat >repository/codspeed.yml <<-'E'
		options: {working-directory: sub}
		benchmarks:
		  - {name: a, exec: "sh -c 'pwd; echo $PWD'"}
	E
	for start in repository repository/sub; do
		(cd "$start" && listed_run)
		equal "$(sed 2q "$out")" "$PWD/repository/sub"$'\n'"$PWD/repository/sub"
		equal "$(jq -r .run.working_directory "$result")" "$PWD/repository/sub"
	done
	(cd elsewhere && listed_run --config ../repository/codspeed.yml)
	equal "$(sed 1q "$out")" "$PWD/repository/sub"
	ln -s ../repository/codspeed.yml elsewhere/linked.yml
	listed_run --config elsewhere/linked.yml
	equal "$(sed 1q "$out")" "$PWD/repository/sub"
	listed_run --config repository/codspeed.yml --working-directory elsewhere
	equal "$(sed 1q "$out")" "$PWD/elsewhere"
	sed -i '/^options/d' repository/codspeed.yml
	(cd repository/sub && listed_run)
	equal "$(sed 1q "$out")" "$PWD/repository"
	echo "{options: {working-directory: $PWD/elsewhere}, benchmarks: [{exec: pwd}]}" >repository/codspeed.yml
	listed_run --config repository/codspeed.yml
	equal "$(sed 1q "$out")" "$PWD/elsewhere"
}

@test "directory: one that is missing is named, with its place" {
	printf 'options:\n  working-directory: none\nbenchmarks: [{exec: pwd}]\n' >codspeed.yml
	listed_run
	one_error "codspeed.yml:2:22: working-directory: $PWD/none: No such file or directory"
	touch none
	listed_run
	one_error "codspeed.yml:2:22: working-directory: $PWD/none: Not a directory"
	measured # has a directory of its own
	equal "$rc" 0
}

# ---- What is wrong ----

@test "wrong: every kind of it gets one line" {
	bomb='a: &a [x,x,x,x,x,x,x,x,x]'
	for i in b c d e f g h i j; do
		last=${last:-a}
		bomb+=$'\n'"$i: &$i [*$last,*$last,*$last,*$last,*$last,*$last,*$last,*$last,*$last]"
		last=$i
	done
	printf '%s\nbenchmarks: *j\n' "$bomb" >codspeed.yml
	listed_run
	one_error 'codspeed.yml:'
	head -c 2000000 /dev/zero | tr '\0' '[' >codspeed.yml
	listed_run
	one_error 'codspeed.yml: larger than 1048576 bytes'
	truncate -s 100G codspeed.yml
	listed_run
	one_error 'codspeed.yml: larger than 1048576 bytes'
	head -c 100000 /dev/zero | tr '\0' '[' >codspeed.yml
	listed_run
	one_error 'codspeed.yml:1:65: more than 64 levels deep'
	printf 'options:\n  max-time: "a\xff"\n' >codspeed.yml
	listed_run
	one_error 'codspeed.yml:2:15: not UTF-8'
	printf 'a: b\0\n' >codspeed.yml
	listed_run
	one_error 'codspeed.yml:1:5: a control character'
	printf 'options: {max-rounds: 3}\noptions: {}\n' >codspeed.yml
	listed_run
	one_error "codspeed.yml:2:1: the key 'options' stands on line 1 already"
	head -c 3000 /dev/urandom >codspeed.yml
	listed_run
	one_error 'codspeed.yml:'
}

@test "wrong: limits are checked before anything runs, and in exec" {
	echo 'options: {warmup-time: 1 fortnight}' >codspeed.yml
	measured
	one_error "codspeed.yml:1:24: invalid value '1 fortnight' for warmup-time: "
	echo 'options: {min-rounds: 9, max-rounds: 3}' >codspeed.yml
	measured
	one_error 'codspeed.yml:1:10: limits: min-rounds (9) is above max-rounds (3)'
	echo 'options: {max-rounds: 3}' >codspeed.yml
	rc=0
	codspeed exec -m simulation --min-rounds 9 -- touch ran >"$out" 2>"$err" || rc=$?
	one_error 'limits, here or in codspeed.yml: min-rounds (9) is above max-rounds (3)'
	[ ! -e ran ]
}

@test "names: a path of this checkout is told" {
	cp "$burn" here
	echo "benchmarks: [{exec: $PWD/here 1000}, {exec: ./here 1000}, {exec: $burn 1000}, {name: x, exec: $PWD/here 1}]" >codspeed.yml
	listed_run
	equal "$rc" 0
	equal "$(grep -c warning: "$err")" 1
	says "$err" "codspeed.yml:1:14: the benchmark's name holds the path $PWD/here, so"
	rm codspeed.yml
	keep=(exec -m simulation --profile-folder "$folder" --store "$PWD/kept" --save x)
	codspeed "${keep[@]}" -- "$PWD/here" 1000 2>"$err" >/dev/null
	says "$err" "the benchmark's name holds the path $PWD/here, so"
	codspeed "${keep[@]}" --name x -- "$PWD/here" 1000 2>"$err" >/dev/null
	says_not "$err" warning
}

# ---- The schema ----

@test "schema: a validator takes what the parser takes" {
	need python3
	enabled CONFIG
	/usr/bin/python3 -c 'import jsonschema, yaml' 2>/dev/null ||
		require_or_skip python3-jsonschema 'python3-jsonschema or python3-yaml is not installed'
	codspeed config schema >schema.json
	cat >check.py <<-'E'
		import json, sys, yaml, jsonschema
		schema = json.load(open("schema.json"))
		jsonschema.Draft202012Validator.check_schema(schema)
		validator = jsonschema.Draft202012Validator(schema)
		for name in sys.argv[1:]:
		    valid = validator.is_valid(yaml.safe_load(open(name)) or {})
		    print(name, "valid" if valid else "invalid")
	E
	cp "$DATA/project/full.yml" good1.yml
	echo 'options: {warmup-time: 0, max-time: 1.5, max-rounds: "20"}' >good2.yml
	echo 'benchmarks: [{exec: a, entrypoint: null, name: 5}]' >good3.yml
	: >good4.yml
	echo 'benchmarks: [{exec: a, entrypoint: b}]' >bad1.yml
	echo 'benchmarks: [{name: a}]' >bad2.yml
	echo 'benchmarks: [{exec: 5}]' >bad3.yml
	echo 'options: {max-rounds: 1.5}' >bad4.yml
	echo 'options: {warmup-time: -1}' >bad5.yml
	echo 'options: 3' >bad6.yml
	/usr/bin/python3 check.py good?.yml bad?.yml >verdicts
	equal "$(grep -c '^good.* valid' verdicts)" 4
	equal "$(grep -c '^bad.* invalid' verdicts)" 6
	for name in good?.yml; do # the parser's verdict
		rc=0
		codspeed exec -m simulation --profile-folder "$folder" --config "$name" -- true >/dev/null 2>"$err" || rc=$?
		equal "$rc" 0
	done
	for name in bad?.yml; do
		rc=0
		codspeed exec -m simulation --config "$name" -- true >/dev/null 2>"$err" || rc=$?
		equal "$rc" 2
	done
}
