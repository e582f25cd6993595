#!/usr/bin/env bats
# status: each mode tried in miniature.
# shellcheck disable=SC2030,SC2031,SC2154 # variables of entry.bash

load helper
load ../fixtures/entry

setup() {
	enabled STATUS EXEC_HARNESS
	entry_setup
}

teardown() {
	nothing_left
}

# status [OPTION]...
status() {
	rc=0
	"$CODSPEED_BIN" status "$@" >"$out" 2>"$err" || rc=$?
}

@test "status: simulation works, and its figure is told" {
	LC_ALL=C.UTF-8 status -m simulation --check
	equal "$rc" 0
	grep -qE "^  ✓ simulation  'ls /': Instructions [0-9,]+, valgrind [0-9.]+" "$out"
	[ ! -s "$err" ]
	says_not "$out" remedy
	says "$out" "codspeed $("$CODSPEED_BIN" --version | cut -d ' ' -f 2)"
}

@test "status: without valgrind it says what to do" {
	PATH=/nowhere status -m simulation
	equal "$rc" 0
	grep -qE '^  (✗|-) simulation .*valgrind is not installed' "$out"
	grep -q "remedy: install the package 'valgrind'" "$out"
	PATH=/nowhere status -m simulation --check
	equal "$rc" 3
}

@test "status: as JSON, in order, each mode once" {
	status -m simulation,simulation --json -
	equal "$rc" 0
	equal "$(jq -r '.version, (.modes[] | .mode, .works, .remedy), .project.file' "$out")" \
		$'1\nsimulation\ntrue\nnull\nnull'
	PATH=/nowhere status --json result.json -m simulation
	says "$out" Modes
	equal "$(jq -r '.modes[0].works' result.json)" false
	status --json none/x -m simulation
	equal "$rc" 1
}

@test "status: all modes, those that are not built in too" {
	PATH=/nowhere status
	equal "$rc" 0
	equal "$(sed '1,/^Modes/d; /remedy/d' "$out" | awk '{ print $2 }')" $'simulation\nwalltime\nmemory'
}

@test "status: the project's file and the shell's modes" {
	PATH=/nowhere status -m simulation
	says "$out" 'no codspeed.yml here'
	echo 'benchmarks: [{exec: a}, {exec: b}]' >codspeed.yml
	PATH=/nowhere status -m simulation
	says "$out" 'codspeed.yml: 2 benchmarks'
	echo '{' >codspeed.yml
	PATH=/nowhere status -m simulation --json -
	equal "$rc" 0
	[[ $(jq -r .project.error "$out") == codspeed.yml:2:1:* ]]
	if grep -qx '#define ENABLE_USE 1' "$CONFIG_H"; then
		codspeed use memory 2>/dev/null
		PATH=/nowhere status -m simulation
		says "$out" "modes of this shell ('codspeed use'): memory"
		rm -r "$TMPDIR"/codspeed-*
	fi
}

@test "status: ended by a signal it leaves nothing" {
	program valgrind <<-E
		#!/bin/sh
		case "\$*" in *--callgrind-out-file*) touch started; exec sleep 50 ;; esac
		exec $(command -v valgrind) "\$@"
	E
	PATH=$BATS_TEST_TMPDIR/bin:$PATH "$CODSPEED_BIN" status -m simulation >"$out" 2>"$err" 3>&- &
	for ((i = 0; i < 100; i++)); do
		[ ! -e started ] || break
		sleep 0.1
	done
	kill -TERM $!
	rc=0
	wait $! || rc=$?
	[ "$rc" -gt 128 ]
	gone 'sleep 50$'
}

@test "status: usage" {
	status x
	equal "$rc" 2
	status -m bogus
	equal "$rc" 2
}
