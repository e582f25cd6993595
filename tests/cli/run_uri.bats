#!/usr/bin/env bats
# run: benchmarks that report through client requests, as a CodSpeed integration does.
# shellcheck disable=SC2016,SC2030,SC2031,SC2154 # $rc and others are of entry.bash

load helper
load ../fixtures/entry

setup() {
	enabled RUN
	entry_setup
	loop=$FIXTURES/entry_loop
}

teardown() {
	nothing_left
}

# The part at a fork or an exec contains the C library's own work.
around=10000

@test "uri: the cost of the body and nothing else" {
	for kind in '' -static -musl; do
		entry -- "$loop$kind" a::one 100000
		equal "$rc" 0
		as_announced 50
	done
}

@test "uri: another turn is two more instructions" {
	entry -- "$loop-musl" a::x 1000 a::y 1001 a::z 501000
	equal $(($(figure a::y) - $(figure a::x))) 2
	equal $(($(figure a::z) - $(figure a::x))) 1000000
}

@test "uri: what comes before the first window costs nothing" {
	entry -- 'for i in 1 2 3; do "$FIXTURES/burn-musl" 1000000; done; "$FIXTURES/entry_loop" a::b 1000'
	equal "$rc" 0
	as_announced 50
}

@test "uri: two runs are equal" {
	entry -- "$loop" a::one 1000 a::two 2000
	jq .benchmarks "$result" >first
	entry -- "$loop" a::one 1000 a::two 2000
	jq .benchmarks "$result" | cmp - first
}

@test "uri: several, in the order of their first report" {
	entry -- "$loop-musl" a::c 1000 a::a 2000 a::b 3000 a::a 4000
	equal "$(listed)" $'ok a::c\nok a::a\nok a::b'
	as_announced 100
	equal "$(figure a::a 'notes[0]')" 'ran 2 times; the figures are the sum'
	equal "$(figure a::c 'notes | length')" 0
}

@test "uri: hundreds" {
	words=()
	for ((i = 1; i <= 100; i++)); do
		words+=("a::bench[$i]" "$i")
	done
	entry -- "$loop-musl" "${words[@]}"
	equal "$rc" 0
	as_announced 50
}

@test "uri: the result says what it is" {
	entry -- "$loop-musl" dir/file.py::Class::test 1000
	equal "$(figure dir/file.py::Class::test name)" test
	equal "$(figure dir/file.py::Class::test mode)" simulation
	equal "$(figure dir/file.py::Class::test status)" ok
	equal "$(figure dir/file.py::Class::test metrics.startup_instructions)" null
	equal "$(figure dir/file.py::Class::test 'processes | length')" 0
	equal "$(jq -r .version "$result")" 1
	equal "$(jq -r .run.modes[0] "$result")" simulation
	cmp "$result" "$folder/results.json"
}

@test "uri: L1, LL and RAM hits make up all accesses" {
	entry -- "$loop-musl" a::b 100000
	# an instruction fetch each, and the few reads and writes of the requests
	all=$(figure a::b 'metrics | .l1_hits + .ll_hits + .ram_hits')
	[ "$all" -ge "$(figure a::b)" ]
	[ "$all" -le $(($(figure a::b) + 50)) ]
	equal "$(figure a::b 'metrics | .l1_hits + 5 * .ll_hits + 35 * .ram_hits')" \
		"$(figure a::b metrics.estimated_cycles)"
}

@test "uri: --top names the function" {
	entry --top 3 -- "$loop-musl" a::b 100000
	says "$out" turn
	equal "$(figure a::b 'functions[0].name')" turn
	[ "$(figure a::b 'functions[0].self')" -ge 200000 ]
	[ "$(figure a::b 'functions | length')" -le 3 ]
}

# ---- Names ----

@test "uri: blanks, brackets, colons, quotes, braces" {
	uris=('a b::c d' 't.py::test[a::b-[c]]' 'x::{{closure}}' 'a::"q"' "a::it's" 'a::b=c' 'a::100%p'
		'a::\back' 'a::Trigger: x' 'a::Client Request: y')
	words=()
	for uri in "${uris[@]}"; do
		words+=("$uri" 1000)
	done
	entry -- "$loop-musl" "${words[@]}"
	equal "$rc" 0
	equal "$(jq -r '.benchmarks[].uri' "$result")" \
		"$(printf '%s\n' "${uris[@]}" | sed 's/\\/\\\\/g')"
}

@test "uri: UTF-8 stays, other bytes are escaped" {
	entry -- "$loop-musl" $'gr\xc3\xbc\xc3\x9f::\xf0\x9f\x98\x80' 1000 $'b\xff::c\xfe' 2000
	equal "$rc" 0
	jq -r '.benchmarks[].uri' "$result" >uris
	printf 'gr\xc3\xbc\xc3\x9f::\xf0\x9f\x98\x80\nb\\xff::c\\xfe\n' | cmp - uris
	iconv -f UTF-8 -t UTF-8 "$out" "$result" "$folder/results.json" >/dev/null || {
		# the command's own words are its own
		sed 1,2d "$out" | iconv -f UTF-8 -t UTF-8 >/dev/null
	}
}

@test "uri: nothing in a name steers the terminal" {
	entry -- "$loop-musl" $'a::\033[31mred\007' 1000
	equal "$rc" 0
	sed 1d "$out" >table # the fixture's own line comes first
	says table '\x1b[31mred\x07'
	says_not table $'\033'
}

@test "uri: a long one" {
	uri=long::$(head -c 5000 /dev/zero | tr '\0' x)
	entry -- "$loop-musl" "$uri" 1000
	equal "$rc" 0
	equal "$(listed)" "ok $uri"
}

@test "uri: another integration announces itself; without any it works, too" {
	ENTRY_INTEGRATION='some name with blanks 0.0.1-rc.1' entry -- "$loop-musl" a::b 1000
	as_announced 50
	ENTRY_INTEGRATION='' entry -- "$loop-musl" a::b 1000
	as_announced 50
}

# ---- Forks ----

@test "fork: a part dumped in the window is added, the child's work is not" {
	for kind in '' -static -musl; do
		entry -- "$FIXTURES/entry_fork$kind" within
		equal "$rc" 0
		as_announced $around
	done
}

@test "fork: three of them in a window" {
	entry -- "$FIXTURES/entry_fork" thrice
	as_announced $around
}

@test "fork: between the windows it costs nothing" {
	entry -- "$FIXTURES/entry_fork" outside
	as_announced 50
	equal "$(listed)" $'ok fork::first\nok fork::second'
}

@test "fork: parent and child both report" {
	entry -- "$FIXTURES/entry_fork" reports
	as_announced 50
}

@test "fork: a child born in a window has its own" {
	entry -- "$FIXTURES/entry_fork-musl" inherits
	as_announced $around
}

@test "fork: workers side by side" {
	entry -- 'for i in 1 2 3 4 5 6 7 8; do "$FIXTURES/entry_loop-musl" "w::$i" "${i}000" & done; wait'
	equal "$rc" 0
	as_announced 50
}

@test "fork: one benchmark in several processes is their sum" {
	entry -- 'for i in 1 2 3; do "$FIXTURES/entry_loop-musl" a::b 1000; done'
	as_announced 150
	equal "$(figure a::b 'notes[0]')" 'ran 3 times; the figures are the sum'
}

# ---- Other programs ----

@test "exec: a program started in the window costs its parent's part only" {
	entry -- "$FIXTURES/entry_exec" within "$FIXTURES/burn-musl" 3000000
	equal "$rc" 0
	as_announced $around
	[[ $(figure exec::within 'notes[]') == 'lower bound: '*'codspeed exec'* ]]
	entry -- "$FIXTURES/entry_exec" spawn "$FIXTURES/burn-musl" 3000000
	as_announced $around
	[[ $(figure exec::within 'notes[]') == 'lower bound: '* ]]
}

@test "exec: a program started between the windows costs nothing" {
	entry -- "$FIXTURES/entry_exec-musl" outside "$FIXTURES/burn-musl" 3000000
	as_announced 50
	equal "$(jq '[.benchmarks[].notes[]] | length' "$result")" 0
}

@test "exec: one that fails in the window is part of the benchmark" {
	for kind in '' -musl; do
		entry -- "$FIXTURES/entry_exec$kind" failed
		equal "$rc" 0
		as_announced $around
	done
}

@test "exec: the image before keeps its benchmarks" {
	for kind in '' -static -musl; do
		entry -- "$FIXTURES/entry_exec$kind" replaced
		equal "$rc" 0
		as_announced 50
		equal "$(listed)" $'ok exec::before\nok exec::after'
	done
}

@test "exec: ten images in a row keep theirs" {
	cat >chain <<-'END'
		#!/bin/sh
		[ "$1" -gt 0 ] || exit 0
		exec "$FIXTURES/entry_exec-musl" replaced
	END
	chmod +x chain
	entry -- './chain 1; ./chain 1; ./chain 1'
	equal "$(figure exec::before 'notes[0]')" 'ran 3 times; the figures are the sum'
	as_announced 150
}

@test "exec: a window that another image cuts off belongs to nothing" {
	entry -- "$FIXTURES/entry_exec-musl" inside
	equal "$rc" 0
	equal "$(listed)" 'ok exec::after'
	[ "$(figure exec::after)" -lt 401000 ]
}

# ---- Ends ----

@test "death: what was reported before is kept, the run has failed" {
	for how in exit:'exit status 3' segv:'signal 11' term:'signal 15' kill:'signal 9' \
		killed:'signal 9'; do
		entry -- "$FIXTURES/entry_die" "${how%%:*}"
		equal "$rc" 1
		as_announced 50
		equal "$(listed)" 'ok die::before'
		says "$out" before
		says "$err" "${how#*:}"
		says_not "$err" 'no benchmark'
		nothing_left
	done
}

@test "death: a worker killed before it reports is told" {
	entry -- "$FIXTURES/entry_die" worker
	as_announced 50
	says "$err" 'was killed'
	says "$err" 'entry_die worker (pid '
}

@test "death: a failing command behind the benchmarks" {
	entry -- '"$FIXTURES/entry_loop-musl" a::b 1000; exit 42'
	equal "$rc" 1
	as_announced 50
	says "$err" 'exit status 42'
}

@test "leftovers: results of an earlier run go, other files stay" {
	entry -- "$loop-musl" a::old 1000
	echo mine >"$folder/notes.txt"
	echo mine >"$folder/perf.out"
	entry -- "$loop-musl" a::new 1000
	equal "$(listed)" 'ok a::new'
	equal "$(cat "$folder/notes.txt" "$folder/perf.out")" $'mine\nmine'
	equal "$(compgen -G "$folder/[0-9]*.out" | wc -l)" 1
}

@test "ptrace: forbidden, it is said, and the benchmarks are the same" {
	[ -x "$FIXTURES/deny" ] || skip "there is no fixture that forbids ptrace"
	rc=0
	"$FIXTURES/deny" ptrace "$CODSPEED_BIN" run --profile-folder "$folder" --json "$result" -- \
		"$loop-musl" a::b 1000 >"$out" 2>"$err" || rc=$?
	equal "$rc" 0
	as_announced 50
	says "$err" ptrace
}

@test "aslr: where it cannot be switched off, it is said" {
	[ -x "$FIXTURES/deny" ] || skip "there is no fixture that forbids personality"
	rc=0
	"$FIXTURES/deny" personality "$CODSPEED_BIN" run --profile-folder "$folder" --json "$result" -- \
		"$loop-musl" a::b 1000 >"$out" 2>"$err" || rc=$?
	equal "$rc" 0
	equal "$(grep -c 'address randomisation' "$err")" 1
}
