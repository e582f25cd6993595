#!/usr/bin/env bats
# show: the results of an earlier run, from a folder or a file of any origin.
# shellcheck disable=SC2016,SC2030,SC2031,SC2154 # $rc and others are of entry.bash

load helper
load ../fixtures/entry

setup() {
	enabled SHOW
	entry_setup
}

teardown() {
	chmod -R u+rwX "$BATS_TEST_TMPDIR" 2>/dev/null || true
	nothing_left
}

# show PATH [OPTION]...
show() {
	rc=0
	"$CODSPEED_BIN" show "$@" >"$out" 2>"$err" || rc=$?
}

# one_error TEXT...: a single line on standard error that has all of them, nothing on standard output
one_error() {
	equal "$rc" 1
	[ ! -s "$out" ]
	equal "$(wc -l <"$err")" 1
	says "$err" 'codspeed: error: '
	for text; do
		says "$err" "$text"
	done
}

# ---- Its own folders ----

@test "show: a folder of exec prints what exec printed" {
	codspeed exec --profile-folder "$folder" --json "$result" -- sh -c \
		'"$FIXTURES/ferry-musl" 1000 2000; :' >printed
	show "$folder"
	equal "$rc" 0
	cmp printed "$out"
	[ ! -s "$err" ]
	show "$folder" --json again.json
	cmp again.json "$result"
}

@test "show: a folder of run prints what run printed" {
	"$CODSPEED_BIN" run --profile-folder "$folder" --json "$result" -- \
		'"$FIXTURES/entry_loop-musl" a::b 1000 c 2000 a::b 3000 >/dev/null' >printed
	show "$folder"
	equal "$rc" 0
	cmp printed "$out"
	show "$folder" --json again.json
	cmp again.json "$result"
}

@test "show: with --top, what the run prints with it" {
	"$CODSPEED_BIN" run --profile-folder "$folder" --top 3 -- \
		'"$FIXTURES/entry_fork-musl" within >/dev/null' >printed
	show --top 3 "$folder"
	equal "$rc" 0
	cmp printed "$out"
	says "$out" turn
}

@test "show: a failed benchmark is shown, and shown again" {
	codspeed exec --profile-folder "$folder" -- "$FIXTURES/burn-musl" 1000 3 >printed || true
	show "$folder"
	equal "$rc" 0 # showing has worked
	cmp printed "$out"
	says "$out" 'exit status 3'
}

@test "show: a result file" {
	"$CODSPEED_BIN" run --profile-folder "$folder" --json "$result" -- \
		'"$FIXTURES/entry_loop-musl" a::b 1000 >/dev/null' >printed
	show "$result"
	equal "$rc" 0
	cmp printed "$out"
	show "$folder/results.json"
	cmp printed "$out"
	show --json - "$result"
	cmp "$result" "$out"
}

@test "show: a folder that was moved, with a trailing slash, relative" {
	"$CODSPEED_BIN" run --profile-folder "$folder" -- \
		'"$FIXTURES/entry_fork-musl" within >/dev/null' >printed
	mv "$folder" moved
	show moved/
	equal "$rc" 0
	cmp printed "$out"
}

@test "show: a folder whose dumps were removed shows what was saved" {
	"$CODSPEED_BIN" run --profile-folder "$folder" -- \
		'"$FIXTURES/entry_loop-musl" a::b 1000 >/dev/null' >printed
	rm "$folder"/*.out
	show "$folder"
	equal "$rc" 0
	cmp printed "$out"
}

@test "show: needs no HOME, no PATH, no TMPDIR and no valgrind" {
	cp -r "$DATA/profile_tree" p
	rc=0
	env -i "$CODSPEED_BIN" show p >"$out" 2>"$err" || rc=$?
	equal "$rc" 0
	says "$out" 19,543
}

# ---- Folders of others ----

@test "show: a folder that upstream's runner left" {
	mkdir p
	cp "$DATA/callgrind_plain.out" p/4242.out
	: >p/runner.log
	: >p/valgrind.4242.log
	show p --json r.json
	equal "$rc" 0
	says "$out" 'sum[3]'
	says "$out" 'sum[10]'
	cp r.json "$result"
	equal "$(figure 'src/demo.c::sum[3]')" 61
	equal "$(figure 'src/demo.c::sum[3]' metrics.l1_hits)" 72
	equal "$(figure 'src/demo.c::sum[3]' metrics.ll_hits)" 2
	equal "$(figure 'src/demo.c::sum[3]' metrics.ram_hits)" 1
	equal "$(figure 'src/demo.c::sum[3]' metrics.estimated_cycles)" 117
	equal "$(figure 'src/demo.c::sum[10]')" 145
	# it says that process 4250 was started, whose dump is not there
	equal "$(listed)" $'ok src/demo.c::sum[3]\nincomplete src/demo.c::sum[10]'
}

@test "show: compressed names make no difference" {
	mkdir plain compressed
	cp "$DATA/callgrind_plain.out" plain/4242.out
	cp "$DATA/callgrind_compressed.out" compressed/4242.out
	show plain --json plain.json
	show compressed --json compressed.json
	jq '.benchmarks | map(del(.notes))' plain.json >expected
	jq '.benchmarks | map(del(.notes))' compressed.json | cmp expected -
}

@test "show: recorded folders" {
	show "$DATA/profile_fork"
	equal "$rc" 0
	says "$out" 3,000,214
	show "$DATA/profile_replaced"
	says "$out" 200,020
	says "$out" 400,020
	show "$DATA/profile_tree"
	says "$out" 19,543
	says "$out" 12,229
}

@test "show: a spawned process counts for its benchmark" {
	mkdir p
	cp "$DATA/callgrind_plain.out" p/4242.out
	sed -e 's/^pid: .*/pid: 4250/' -e '/^desc: Spawned/d' -e '/^part: 2$/,$d' p/4242.out >p/4250.out
	sed -n '/^part: 2$/,/^totals:/p' p/4242.out | sed 's/Client Request: .*/Program termination/' >>p/4250.out
	show p --json "$result"
	equal "$rc" 0
	equal "$(listed)" $'ok src/demo.c::sum[3]\nok src/demo.c::sum[10]'
	equal "$(figure 'src/demo.c::sum[10]')" $((145 + 61))
}

# ---- What cannot be shown ----

@test "show: an empty folder" {
	mkdir p
	show p
	one_error p 'no benchmark'
	show -- p
	one_error 'no benchmark'
}

@test "show: a folder of a run without benchmarks" {
	codspeed run --profile-folder "$folder" -- true >/dev/null 2>&1 || true
	show "$folder"
	one_error "$folder" 'no benchmark'
}

@test "show: nothing there" {
	show none
	one_error 'none: No such file or directory'
	show none/below/results.json
	one_error none/below
	show ''
	[ "$rc" -ne 0 ]
	equal "$(wc -l <"$err")" 1
}

@test "show: usage" {
	show --top 3
	equal "$rc" 2
	show a b
	equal "$rc" 2
	show --top -1 .
	equal "$rc" 2
	show --qqq .
	equal "$rc" 2
}

@test "show: a folder that may not be read" {
	need nonroot
	cp -r "$DATA/profile_fork" p
	chmod 0 p
	show p
	one_error p 'ermission denied'
}

# As another user, where the tests run as root.
@test "show: a folder of another user" {
	need root setpriv
	cp -r "$DATA/profile_fork" p
	cp "$CODSPEED_BIN" codspeed
	chmod 755 "$BATS_RUN_TMPDIR" "$BATS_RUN_TMPDIR"/test "$BATS_TEST_TMPDIR" . 2>/dev/null || true
	chmod 700 p
	rc=0
	setpriv --reuid 65534 --regid 65534 --clear-groups ./codspeed show p >"$out" 2>"$err" || rc=$?
	one_error p 'ermission denied'
	chmod 755 p
	chmod 600 p/100.out
	rc=0
	setpriv --reuid 65534 --regid 65534 --clear-groups ./codspeed show p >"$out" 2>"$err" || rc=$?
	equal "$rc" 1
	says "$err" 100.out
	says "$err" 'ermission denied'
}

@test "show: devices and programs are no results" {
	show /dev/null
	one_error /dev/null
	show "$CODSPEED_BIN"
	one_error "$CODSPEED_BIN"
	touch empty
	show empty
	one_error empty
}

@test "show: a result file through a pipe" {
	show <(cat "$DATA/result_simulation.json")
	equal "$rc" 0
	says "$out" 1,235,024
}

@test "show: a FIFO among the dumps does not hang it" {
	cp -r "$DATA/profile_fork" p
	mkfifo p/102.out
	rc=0
	timeout 5 "$CODSPEED_BIN" show p >"$out" 2>"$err" || rc=$?
	[ "$rc" -ne 124 ]
	says "$out" 3,000,214
	says "$err" p/102.out
}

# ---- Damage ----

@test "damage: a dump that is cut off makes its benchmark incomplete" {
	mkdir p
	head -n 100 "$DATA/callgrind_plain.out" >p/4242.out # in the middle of the third part
	show p --json "$result"
	equal "$(listed)" 'incomplete src/demo.c::sum[3]'
	says "$out" incomplete
	[[ $(figure 'src/demo.c::sum[3]' 'notes | join(" ")') == *4242.out* ]]
}

@test "damage: cut anywhere it is told, and never a crash" {
	mkdir p
	size=$(stat -c %s "$DATA/profile_fork/100.out")
	for ((at = 0; at < size; at += 97)); do
		head -c "$at" "$DATA/profile_fork/100.out" >p/100.out
		show p --json "$result"
		[ "$rc" -le 1 ]
		[ -s "$err" ] || [ -s "$out" ]
		if [ "$rc" -eq 0 ]; then
			[[ $(listed) == 'incomplete fork::within' || $at -gt $((size - 1000)) ]]
		else
			says "$err" 'codspeed: error'
		fi
	done
}

@test "damage: lines that do not add up" {
	mkdir p
	sed 's/^totals: 61 /totals: 62 /' "$DATA/callgrind_plain.out" >p/4242.out
	show p
	equal "$rc" 1
	says "$err" 4242.out
	says "$err" 'sum up to 61'
}

@test "damage: what is no callgrind file spoils no other" {
	mkdir p
	cp "$DATA/callgrind_plain.out" p/4242.out
	head -c 5000 /dev/urandom >p/4243.out
	: >p/4244.out
	mkdir p/4245.out
	show p --json "$result"
	equal "$rc" 0
	equal "$(figure 'src/demo.c::sum[3]' status)" ok
	says "$err" 4243.out
	says "$err" 4245.out
}

@test "damage: a dump of a tree that is gone, empty or cut" {
	cp -r "$DATA/profile_tree" p
	rm p/101.out
	show p --json "$result"
	equal "$(jq -r '.benchmarks[0].status' "$result")" incomplete
	says "$out" 101.out
	: >p/101.out
	show p --json "$result"
	equal "$(jq -r '.benchmarks[0].status' "$result")" incomplete
	head -c 2000 "$DATA/profile_tree/101.out" >p/101.out
	show p --json "$result"
	equal "$(jq -r '.benchmarks[0].status' "$result")" incomplete
	says "$out" 101.out
}

@test "damage: simulation.json" {
	cp -r "$DATA/profile_tree" p
	echo '{ "version": 1, "benchmarks": [' >p/simulation.json
	show p
	one_error p/simulation.json:2:1
	: >p/simulation.json
	show p
	one_error p/simulation.json
	echo '[]' >p/simulation.json
	show p
	one_error p/simulation.json
	printf '{"version": 1, "benchmarks": [{"uri": "\xff"}]}' >p/simulation.json
	show p
	one_error p/simulation.json:1:
}

@test "damage: results.json" {
	"$CODSPEED_BIN" run --profile-folder "$folder" -- '"$FIXTURES/entry_loop-musl" a::b 1000' >/dev/null
	head -c 100 "$folder/results.json" >cut.json
	show cut.json
	one_error cut.json:
	cp cut.json "$folder/results.json"
	show "$folder"
	one_error "$folder/results.json:"
}

# ---- Versions and names ----

@test "version: newer files are refused by name" {
	"$CODSPEED_BIN" run --profile-folder "$folder" --json "$result" -- \
		'"$FIXTURES/entry_loop-musl" a::b 1000' >/dev/null
	jq '.version = 2' "$result" >new.json
	show new.json
	one_error new.json 'version 2 is newer'
	cp new.json "$folder/results.json"
	show "$folder"
	one_error "$folder/results.json" 'version 2 is newer'
	cp -r "$DATA/profile_tree" p
	jq '.version = 3' p/simulation.json >new.json
	cp new.json p/simulation.json
	show p
	one_error p/simulation.json 'version 3 is newer'
}

@test "names: dumps that lead out of the folder are refused" {
	cp -r "$DATA/profile_tree" p
	cp "$DATA/profile_tree/101.out" outside.out
	for name in ../outside.out "$PWD/outside.out" sub/101.out . .. ''; do
		jq --arg name "$name" '.benchmarks[0].processes[1].images[0].dumps = [$name]' \
			"$DATA/profile_tree/simulation.json" >p/simulation.json
		show p
		one_error p/simulation.json 'benchmarks[0].processes[1].images[0].dumps[0]'
	done
}

@test "names: nothing in a recorded file steers the terminal" {
	cp -r "$DATA/profile_tree" p
	# shellcheck disable=SC1003
	jq '.benchmarks[0].name = "\u001b[2J" | .benchmarks[0].processes[0].images[0].command = "\u001b]0;x\u0007"' \
		"$DATA/profile_tree/simulation.json" >p/simulation.json
	sed -i $'s/burn/b\033[31mrn/' p/100.out p/101.out
	show p --top 5
	equal "$rc" 0
	says_not "$out" $'\033'
	says_not "$out" $'\007'
}

@test "options: JSON to a file that cannot be written" {
	cp -r "$DATA/profile_fork" p
	show p --json none/r.json
	equal "$rc" 1
	says "$err" none/r.json
	show p --json /dev/full
	equal "$rc" 1
}

@test "output: a full disk, and a reader that left" {
	cp -r "$DATA/profile_fork" p
	rc=0
	"$CODSPEED_BIN" show p >/dev/full 2>"$err" || rc=$?
	equal "$rc" 1
	says "$err" 'cannot write to standard output'
	bash -c 'set -o pipefail; "$1" show p 2>"$2" | true' - "$CODSPEED_BIN" "$err" || true
	says_not "$err" bug
}
