#!/usr/bin/env bats
# exec -m simulation: places, systems and programs that trip up others.
# shellcheck disable=SC2016,SC2030,SC2031,SC2034,SC2154 # variables of simulation.bash and of bats

load helper
load ../fixtures/simulation

turn=6 # instructions of a turn of burn()
burn=$FIXTURES/burn-musl

setup() {
	need valgrind
	errors=$BATS_TEST_TMPDIR/errors
	output_file=$BATS_TEST_TMPDIR/output
}

# a valgrind of our own in front of the real one; its script on standard input
fake_valgrind() {
	mkdir -p "$BATS_TEST_TMPDIR/bin"
	cat >"$BATS_TEST_TMPDIR/bin/valgrind"
	chmod +x "$BATS_TEST_TMPDIR/bin/valgrind"
	PATH=$BATS_TEST_TMPDIR/bin:$PATH
	plain_env=(env -i PATH="$PATH")
}

# a PATH with valgrind alone; Debian's is a script that calls a program beside it
valgrind_alone() {
	local from

	from=$(command -v valgrind)
	mkdir "$BATS_TEST_TMPDIR/alone"
	ln -s "$from"* "$BATS_TEST_TMPDIR/alone"
	rm -f "$BATS_TEST_TMPDIR/alone/valgrind-"*
	plain_env=(env -i PATH="$BATS_TEST_TMPDIR/alone")
}

# ---- Paths ----

awkward="a b:c'd\"e%p%%\$x,y*?[z]\\"

@test "paths: an awkward name for every folder at once" {
	base=$BATS_TEST_TMPDIR/$awkward
	mkdir -p "$base/tmp" "$base/cwd"
	cp "$CODSPEED_BIN" "$base/codspeed"
	cp "$burn" "$base/burn"
	cd "$base/cwd"
	TMPDIR=$base/tmp "$base/codspeed" exec -m simulation --profile-folder "$base/p" \
		--json "$base/r.json" -- "$base/burn" 100000
	result=$base/r.json
	equal "$(field .status)" ok
	close_to "$(field .metrics.instructions)" $((turn * 100000)) 5000
	equal "$(dumped "$base/p")" "$(field .metrics.instructions)"
	equal "$(find "$base/tmp" "$base/cwd" -mindepth 1)" ""
}

@test "paths: space, colon, quote and percent, one at a time" {
	for name in 'a b' a:b "a'b" a%pb a%b a%%b; do
		mkdir -p "$BATS_TEST_TMPDIR/$name/tmp"
		cd "$BATS_TEST_TMPDIR/$name"
		TMPDIR=$PWD/tmp codspeed exec -m simulation --json r.json -- "$burn" 1000
		result=r.json
		equal "$(field .status)" ok
		equal "$(find tmp -name results.json -size +0 | wc -l)" 1
	done
}

@test "bytes: arguments, path, directory and environment that are not UTF-8" {
	dir=$BATS_TEST_TMPDIR/d$'\xff'
	mkdir "$dir"
	cp "$FIXTURES/words" "$dir/w"$'\xfe'
	cd "$dir"
	WORD=$'v\xffx' codspeed exec -m simulation --profile-folder p --json r.json -- \
		"./w"$'\xfe' $'a\xff\xfeb' 'back\slash' >out
	printf '[./w\xfe]\n[a\xff\xfeb]\n[back\\slash]\nin %s\nword v\xffx\n' "$PWD" >expected
	head -n 5 out | cmp - expected
	result=r.json
	equal "$(field .name)" './w\xfe a\xff\xfeb back\\slash'
	equal "$(field .uri)" 'exec_harness::./w\xfe a\xff\xfeb back\\slash'
	iconv -f UTF-8 -t UTF-8 r.json >/dev/null
	iconv -f UTF-8 -t UTF-8 p/simulation.json >/dev/null
	sed 1,5d out | iconv -f UTF-8 -t UTF-8 >/dev/null
	[[ $(jq -r .run.working_directory r.json) == *'/d\xff' ]]
}

@test "bytes: printf shows what arrived" {
	sim printf '%s' $'a\xff\xfeb' >"$output_file"
	equal "$(head -c 4 "$output_file" | od -An -tx1)" " 61 ff fe 62"
}

# ---- Programs ----

@test "programs: busybox, static" {
	need busybox
	head -c 100000 "$FIXTURES/burn-static" >"$BATS_TEST_TMPDIR/file"
	sim busybox sha256sum "$BATS_TEST_TMPDIR/file" >"$output_file"
	equal "$(head -n 1 "$output_file")" "$(sha256sum "$BATS_TEST_TMPDIR/file")"
	[ "$(field .metrics.instructions)" -gt 500000 ]
	equal "$(field .metrics.startup_instructions)" null
}

@test "programs: a static Go program, with its threads" {
	need go
	printf 'package main\nimport "fmt"\nfunc main() { fmt.Println("hello") }\n' \
		>"$BATS_TEST_TMPDIR/hello.go"
	(cd "$BATS_TEST_TMPDIR" && GO111MODULE=off GOFLAGS='' CGO_ENABLED=0 \
		GOCACHE="${XDG_CACHE_HOME:-$HOME/.cache}/go-build" go build -o hello hello.go)
	plain_env+=(GODEBUG=asyncpreemptoff=1)
	sim "$BATS_TEST_TMPDIR/hello" >"$output_file"
	equal "$(head -n 1 "$output_file")" hello
	equal "$(field .status)" ok
	[ "$(field .metrics.instructions)" -gt 100000 ]
	# without it a failed assertion of callgrind's own may end the program
	plain_env[-1]=GODEBUG=
	run sim "$BATS_TEST_TMPDIR/hello"
	if [ "$status" -ne 0 ]; then
		[[ $output == *Assertion*asyncpreemptoff=1* ]]
	fi
}

@test "programs: /proc/self/exe leads to the program" {
	measure "$FIXTURES/self"
	equal "$(head -n 3 "$output_file")" "$("$FIXTURES/self")"
}

@test "programs: one that executes /proc/self/exe works, or is told why not" {
	run sim "$FIXTURES/self" exec
	if [ "$status" -eq 0 ]; then
		[[ $output == *"same file 1"* ]]
	else
		equal "$status" 1
		[[ $output == */proc/self/exe*"valgrind itself"* ]]
	fi
}

@test "programs: code that is written while it runs" {
	measure "$FIXTURES/rewrite" 200
	equal "$(head -n 1 "$output_file")" 20100
}

@test "programs: node computes, and keeps the user's options" {
	need node
	plain_env+=(NODE_OPTIONS="--max-old-space-size=512 --title='a  b'")
	sim node -p 'let s = 0; for (let i = 0; i < 1e5; i++) s += i; s + process.env.NODE_OPTIONS' \
		>"$output_file"
	[[ $(head -n 1 "$output_file") == "4999950000--max-old-space-size=512 --title='a  b'"* ]]
	equal "$(field .status)" ok
	[ "$(field .metrics.instructions)" -gt 100000000 ]
}

@test "programs: python has a fixed hash seed" {
	need python3
	python=$(python3 -c 'import sys; print(sys.executable)')
	sim "$python" -S -c 'print(hash("x"))' >"$output_file"
	equal "$(head -n 1 "$output_file")" "$(PYTHONHASHSEED=0 "$python" -c 'print(hash("x"))')"
}

@test "programs: codspeed itself is told that it is measured already" {
	run --separate-stderr sim "$CODSPEED_BIN" exec -m simulation \
		--profile-folder "$BATS_TEST_TMPDIR/inner" -- "$burn" 1000
	[ "$status" -eq 1 ]
	[[ $stderr == *"codspeed: error: "*valgrind* ]]
	[ ! -e "$BATS_TEST_TMPDIR/inner/results.json" ]
}

# ---- Instructions that valgrind does not know ----

@test "instructions: cpuid hides what valgrind lacks" {
	measure "$FIXTURES/avx512" guarded
	equal "$(head -n 1 "$output_file")" narrow
}

@test "instructions: an unknown one is told, with place and remedy" {
	run sim "$FIXTURES/avx512" always
	[ "$status" -eq 1 ]
	[[ $output == *"killed by signal 4 (Illegal instruction)"* ]]
	note=$(grep -o 'valgrind lacks the instruction.*' <<<"$output" | head -n 1)
	[[ $note == *"vpxord (avx512.c:"* ]]
	[[ $note == *"without -march=native"* ]]
	equal "$(grep -o 0x <<<"$note" | wc -l)" 1
	# valgrind's own words, without any switch, and without its banner
	[[ $output == *"unhandled instruction bytes: 0x62 0xF1"* ]]
	[[ $output != *Copyright* && $output != *callgrind_control* ]]
}

@test "instructions: in a grandchild whose end is ignored" {
	code=0
	sim sh -c "$FIXTURES/avx512 always; true" >"$output_file" 2>"$errors" || code=$?
	grep -q 'unhandled instruction bytes: 0x62 0xF1' "$errors"
	[[ $(field '.notes[]') == *"valgrind lacks the instruction"* ]]
	equal "$(find "$folder" -name 'valgrind.*.log' | wc -l)" 2
	# natively it would have gone on: what was measured is another program
	equal "$(field .status)" incomplete
	equal "$code" 1
}

# ---- Descriptors ----

@test "descriptors: a program that closes all of them is counted" {
	for what in range loop standard; do
		sim "$FIXTURES/fds-musl" $what 100000 >"$output_file" </dev/null
		equal "$(field .status)" ok
		[ "$(field .metrics.instructions)" -gt $((turn * 100000)) ]
	done
}

@test "descriptors: none of ours is visible" {
	# what the caller leaves open is there, as without us
	list() {
		exec 5>"$BATS_TEST_TMPDIR/kept"
		"$@" "$FIXTURES/fds" list </dev/null 2>/dev/null | grep '^[0-9]* '
	}
	list >"$BATS_TEST_TMPDIR/plain"
	list sim >"$BATS_TEST_TMPDIR/seen"
	grep -qx "5 $BATS_TEST_TMPDIR/kept" "$BATS_TEST_TMPDIR/seen"
	# valgrind has its log open, and more at the upper end
	equal "$(awk '$1 < 1000 && $2 !~ /valgrind\.[0-9]*\.log$/ { print $1 }' "$BATS_TEST_TMPDIR/seen")" \
		"$(awk '{ print $1 }' "$BATS_TEST_TMPDIR/plain")"
	run grep -E 'valgrind\.[0-9]*\.log$|simulation\.json|results\.json' "$BATS_TEST_TMPDIR/plain"
	[ "$status" -eq 1 ]
}

@test "descriptors: an enormous limit" {
	need prlimit
	most=$(cat /proc/sys/fs/nr_open)
	if ! prlimit --nofile="$most:$most" true 2>/dev/null; then
		most=$(ulimit -Hn)
		[ "$most" -gt 65536 ] || require_or_skip nofile "the limit of descriptors cannot be raised" ||
			return 1
	fi
	prlimit --nofile="$most:$most" "$CODSPEED_BIN" exec -m simulation \
		--profile-folder "$BATS_TEST_TMPDIR/p" -- sh -c 'ulimit -Sn' >"$output_file"
	[ "$(head -n 1 "$output_file")" -le 65536 ]
	[ "$(head -n 1 "$output_file")" -gt 60000 ]
}

@test "descriptors: a small limit is left alone" {
	need prlimit
	prlimit --nofile=512:1024 "$CODSPEED_BIN" exec -m simulation \
		--profile-folder "$BATS_TEST_TMPDIR/p" -- sh -c 'ulimit -Sn' >"$output_file"
	close_to "$(head -n 1 "$output_file")" 512 20 # valgrind keeps a few for itself
}

# ---- What is forbidden ----

@test "forbidden: address randomisation that cannot be switched off" {
	run --separate-stderr "$FIXTURES/deny" personality true
	[ "$status" -eq 0 ] || require_or_skip seccomp "no seccomp filters here" || return 1
	plain_env+=("$FIXTURES/deny" personality)
	sim "$burn" 100000 >"$output_file" 2>"$errors"
	equal "$(grep -c 'randomisation cannot be switched off' "$errors")" 1
	equal "$(field .status)" ok
	[[ $(field '.notes[]') == *"address randomisation was on"* ]]
	close_to "$(field .metrics.instructions)" $((turn * 100000)) 5000
}

@test "forbidden: no setarch is needed" {
	valgrind_alone
	run --separate-stderr sim "$burn" 100000
	[ "$status" -eq 0 ]
	[[ $output != *randomisation* && -z $stderr ]]
}

@test "forbidden: without ptrace the logs tell the tree, and the figure is a lower bound" {
	run --separate-stderr "$FIXTURES/deny" ptrace true
	[ "$status" -eq 0 ] || require_or_skip seccomp "no seccomp filters here" || return 1
	plain_env+=("$FIXTURES/deny" ptrace)
	sim sh -c "$burn 200000; env A=1 $burn 300000; $FIXTURES/ferry-musl 100000 400000" \
		>"$output_file" 2>"$errors"
	equal "$(grep -c 'cannot follow processes here (ptrace: Operation not permitted)' "$errors")" 1
	equal "$(field .status)" ok
	[[ $(field '.notes[]') == *"lower bound"* ]]
	equal "$(field '.processes | length')" 5
	close_to "$(field .metrics.instructions)" $((turn * 1000000)) 600000
	equal "$(field .metrics.instructions)" "$(dumped "$folder")"
	equal "$(field '[.processes[].command | contains("\\")] | any')" false
	equal "$(field '.processes[0].ppid')" 0
	equal "$(field '[.processes[1:][].ppid] | unique | length')" 2
	run sim sh -c 'exit 3'
	[ "$status" -eq 1 ]
	[[ $output == *"exit status 3"* ]]
}

# ---- Systems ----

@test "system: a user's valgrind options are not ours" {
	plain_env+=(VALGRIND_OPTX=--leak-check=full)
	measure "$burn" 1000
	clean=$ir
	plain_env[-1]=VALGRIND_OPTS=--leak-check=full
	measure "$burn" 1000
	equal "$ir" "$clean"
	mkdir "$BATS_TEST_TMPDIR/cwd"
	cd "$BATS_TEST_TMPDIR/cwd"
	echo --toggle-collect=nothing | tee .valgrindrc >"$BATS_FILE_TMPDIR/.valgrindrc"
	measure "$burn" 1000
	rm "$BATS_FILE_TMPDIR/.valgrindrc"
	equal "$ir" "$clean"
}

@test "system: no bash, no tool, no HOME, nothing but valgrind" {
	valgrind_alone
	run --separate-stderr sim "$burn" 100000
	[ "$status" -eq 0 ]
	[ -z "$stderr" ]
	plain_env+=(HOME=/dev/null XDG_CONFIG_HOME=/dev/null)
	run --separate-stderr sim "$burn" 100000
	[ "$status" -eq 0 ]
	[ -z "$stderr" ]
}

@test "system: HOME that is nowhere" {
	HOME=$BATS_TEST_TMPDIR/none measure "$burn" 100000
	equal "$(sed 1q "$errors")" ""
}

@test "valgrind: none on PATH is told, with the remedy" {
	run --separate-stderr env PATH="$BATS_TEST_TMPDIR" "$CODSPEED_BIN" exec -m simulation \
		--profile-folder "$BATS_TEST_TMPDIR/p" -- "$burn" 1000
	[ "$status" -eq 3 ]
	equal "${#stderr_lines[@]}" 1
	[[ $stderr == *"valgrind is not installed"*"install the package 'valgrind'"* ]]
	[ ! -e "$BATS_TEST_TMPDIR/p" ]
	run env -u PATH "$CODSPEED_BIN" exec -m simulation --profile-folder "$BATS_TEST_TMPDIR/p" -- \
		"$burn" 1000
	[ "$status" -eq 0 ] || [ "$status" -eq 3 ]
}

@test "valgrind: a script around it" {
	fake_valgrind <<-E
		#!/bin/sh
		exec $(command -v valgrind) "\$@"
	E
	measure "$burn" 100000
	close_to "$ir" $((turn * 100000)) 5000
	measure sh -c "exec $burn 100000"
	equal "$(field '.processes | length')" 1
}

@test "valgrind: one that does not run" {
	for text in 'exit 1' 'echo not-a-version' 'kill -9 $$'; do
		fake_valgrind <<<"#!/bin/sh"$'\n'"$text"
		run --separate-stderr sim "$burn" 1000
		[ "$status" -eq 3 ]
		[[ $stderr == *"$BATS_TEST_TMPDIR/bin/valgrind --version"* ]]
	done
	fake_valgrind <<<"no program"
	chmod -x "$BATS_TEST_TMPDIR/bin/valgrind"
	plain_env=(env -i PATH="$BATS_TEST_TMPDIR/bin")
	run --separate-stderr sim "$burn" 1000
	[ "$status" -eq 3 ]
	[[ $stderr == *"valgrind was found on PATH, but may not be executed"* ]]
}

@test "valgrind: one that refuses our options is too old" {
	fake_valgrind <<-'E'
		#!/bin/sh
		[ "$1" != --version ] || exec echo valgrind-3.14.0
		echo "valgrind: Unknown option: --collect-systime=nsec" >&2
		exit 1
	E
	run --separate-stderr sim "$burn" 1000
	[[ $stderr == *"Unknown option: --collect-systime=nsec"* ]]
	[[ $stderr == *3.14.0* ]]
	[[ $stderr == *3.16* ]]
	[ "$status" -eq 3 ]
}

@test "environment: printed as it will be" {
	run --separate-stderr "${plain_env[@]}" "$CODSPEED_BIN" exec -m simulation --print-env \
		--profile-folder "$BATS_TEST_TMPDIR/p" -- true
	[ "$status" -eq 0 ]
	[ -z "$stderr" ]
	[ ! -e "$BATS_TEST_TMPDIR/p" ]
	mapfile -t added <<<"$output"
	[ "${#added[@]}" -gt 5 ]
	"${plain_env[@]}" "$CODSPEED_BIN" exec -m simulation --profile-folder "$BATS_TEST_TMPDIR/p" -- \
		env | sed '/^Benchmark /,$d' >"$BATS_TEST_TMPDIR/seen"
	# valgrind has its own additions; otherwise nothing is new, nothing is gone, and nothing moved
	equal "$(cat "$BATS_TEST_TMPDIR/seen")" \
		"$("${plain_env[@]}" "${added[@]}" valgrind -q --command-line-only=yes --tool=none env)"
}
