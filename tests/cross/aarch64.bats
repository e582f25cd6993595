#!/usr/bin/env bats
# The binary for AArch64, on an emulated processor: what it prints is what the native one prints.
#
#	AARCH64_BIN   the program under test (absolute)

load ../cli/helper
load ../fixtures/memory

setup() {
	need qemu-aarch64-static
	: "${AARCH64_BIN:=$REPO/build/aarch64/codspeed}"
	[ -x "$AARCH64_BIN" ] || require_or_skip kernels "$AARCH64_BIN was not built"
}

cross() {
	qemu-aarch64-static "$AARCH64_BIN" "$@"
}

# as APPLET ARGUMENT...: under that name
as() {
	local applet=$1

	shift
	ln -sf "$AARCH64_BIN" "$BATS_TEST_TMPDIR/$applet"
	qemu-aarch64-static "$BATS_TEST_TMPDIR/$applet" "$@"
}

@test "aarch64: it is a static program for that processor" {
	run readelf -hl "$AARCH64_BIN"
	[[ $output == *AArch64* ]]
	[[ $output != *INTERP* ]]
}

@test "aarch64: version, help and names" {
	equal "$(cross --version)" "$(codspeed --version)"
	equal "$(cross --help)" "$(codspeed --help)"
	equal "$(cross --list)" "$(codspeed --list)"
	for command in exec run show memtrack exec-harness; do
		equal "$(cross help $command)" "$(codspeed help $command)"
	done
	equal "$(as exec-harness --version)" "exec-harness $(codspeed --version | cut -d ' ' -f 2)"
}

@test "aarch64: recorded results are shown the same" {
	for folder in profile_tree profile_fork profile_memory; do
		cp -r "$DATA/$folder" "$BATS_TEST_TMPDIR/"
		equal "$(cross show --top 5 "$BATS_TEST_TMPDIR/$folder")" \
			"$(codspeed show --top 5 "$BATS_TEST_TMPDIR/$folder")"
		cross show --json "$BATS_TEST_TMPDIR/cross.json" "$BATS_TEST_TMPDIR/$folder" >/dev/null
		codspeed show --json "$BATS_TEST_TMPDIR/native.json" "$BATS_TEST_TMPDIR/$folder" >/dev/null
		diff <(json "$BATS_TEST_TMPDIR/native.json" .benchmarks) \
			<(json "$BATS_TEST_TMPDIR/cross.json" .benchmarks)
	done
}

@test "aarch64: unknown commands, damaged input and wrong places are refused the same" {
	echo 'events: none' >"$BATS_TEST_TMPDIR/1.out"
	for words in 'shwo' 'show /nothing' "show $BATS_TEST_TMPDIR" 'exec' 'exec -m nothing -- true' \
		'exec-harness' 'exec-harness --max-time x -- true' 'memtrack track'; do
		# shellcheck disable=SC2086 # words
		run codspeed $words
		expected_status=$status expected_output=$output
		[ "$expected_status" -ne 0 ]
		# shellcheck disable=SC2086 # words
		run cross $words
		equal "$status" "$expected_status"
		equal "$output" "$expected_output"
	done
}

@test "aarch64: memtrack says that BPF is missing" {
	code=0
	patiently cross memtrack track -o "$BATS_TEST_TMPDIR" -- true || code=$?
	equal $code 125
	cat "$BATS_TEST_TMPDIR/errors" >&2
	# the emulator has none
	grep -q 'cannot track the heap.*not implemented' "$BATS_TEST_TMPDIR/errors"
}
