# shellcheck shell=bash
# integration.bash - what the tests of real integrations share
# shellcheck disable=SC2154 # variables of entry.bash

load ../cli/helper
load ../fixtures/entry
load ../fixtures/memory

: "${INTEGRATIONS:=$REPO/build/integration}"

# installed NAME: go on only where scripts/integrations could install it
installed() {
	local why="scripts/integrations has not run"

	[ ! -e "$INTEGRATIONS/$1.why" ] || why=$(<"$INTEGRATIONS/$1.why")
	[ -e "$INTEGRATIONS/$1.state" ] || require_or_skip integrations "$1: $why"
}

# integration_setup: a repository of its own, to whose folder names of benchmarks are relative
integration_setup() {
	enabled RUN
	entry_setup
	mkdir .git
}

# integration_teardown: neither a file nor a FIFO is left
integration_teardown() {
	# node's compile cache and pytest's folders are theirs
	rm -rf "$TMPDIR"/node-compile-cache "$TMPDIR"/pytest-of-*
	nothing_left
	[ -n "${rc-}" ] || return 0 # nothing was run: those there are of another
	[ ! -e /tmp/runner.ctl.fifo ]
	[ ! -e /tmp/runner.ack.fifo ]
}

# in_mode MODE [OPTION]... -- COMMAND...: as entry(), in any mode
in_mode() {
	local mode=$1

	shift
	rc=0
	rm -f "$result"
	patiently "$CODSPEED_BIN" run -m "$mode" --profile-folder "$folder" --json "$result" "$@" \
		>"$out" 3>&- </dev/null || rc=$?
	err=$BATS_TEST_TMPDIR/errors
}

# succeeded: it did, and nobody complained
succeeded() {
	if [ "$rc" -ne 0 ] || grep -q 'error:' "$err"; then
		cat "$out" "$err" >&2
		return 1
	fi
}

# is_multiple URI URI FACTOR PERCENT [FIELD]: the first costs FACTOR times the second, give or take
is_multiple() {
	local large small

	large=$(figure "$1" "${5:-metrics.instructions}")
	small=$(figure "$2" "${5:-metrics.instructions}")
	if ! awk -v l="$large" -v s="$small" -v f="$3" -v p="$4" \
		'BEGIN { exit !(s > 0 && l >= s * f * (1 - p / 100) && l <= s * f * (1 + p / 100)) }'; then
		echo "$1: $large is not $3 times $2: $small" >&2
		return 1
	fi
}

# heap URI: "PEAK TOTAL ALLOCATIONS FREES"
heap() {
	figure "$1" 'metrics | [.peak_bytes, .total_bytes, .allocations, .frees] | join(" ")'
}
