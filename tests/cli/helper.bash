# shellcheck shell=bash
# helper.bash - what every command-line test takes for granted; `load helper` on top of the file.
#
#	CODSPEED_BIN           the program under test (absolute)
#	FIXTURES               compiled test programs
#	DATA                   recorded inputs
#	CODSPEED_TEST_REQUIRE  words of `need`, by commas or blanks, that must not be skipped

bats_require_minimum_version 1.5.0

REPO=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
: "${CODSPEED_BIN:=$REPO/codspeed}"
: "${FIXTURES:=$REPO/build/fixtures}"
: "${DATA:=$REPO/tests/data}"
: "${CONFIG_H:=$REPO/build/gen/config.h}"
export CODSPEED_BIN FIXTURES DATA

# The environment of whoever runs the tests must not reach the options.
for helper_name in "${!CODSPEED_@}"; do
	case $helper_name in
	CODSPEED_BIN | CODSPEED_TEST_REQUIRE) ;;
	*) unset "$helper_name" ;;
	esac
done
unset helper_name GITHUB_STEP_SUMMARY NO_COLOR

codspeed() {
	"$CODSPEED_BIN" "$@"
}

# require_or_skip WORD REASON: skip, unless CODSPEED_TEST_REQUIRE says that WORD is here.
require_or_skip() {
	case " ${CODSPEED_TEST_REQUIRE//,/ } " in
	*" $1 "* | *" all "*)
		echo "required by CODSPEED_TEST_REQUIRE, but: $2" >&2
		return 1
		;;
	esac
	skip "$2"
}

# need WORD...: go on only with what is named. `root`, `nonroot` and `ptrace` are states of this
# process, any other word is a command.
need() {
	local word

	for word; do
		case $word in
		root) [ "$(id -u)" -eq 0 ] || require_or_skip root "not root" || return 1 ;;
		nonroot) [ "$(id -u)" -ne 0 ] || require_or_skip nonroot "root" || return 1 ;;
		ptrace)
			[ "$(cat /proc/sys/kernel/yama/ptrace_scope 2>/dev/null || echo 0)" -le 1 ] ||
				require_or_skip ptrace "ptrace is restricted (yama)" || return 1
			;;
		*)
			command -v "$word" >/dev/null ||
				require_or_skip "$word" "$word is not installed" || return 1
			;;
		esac
	done
}

# equal VALUE EXPECTED
equal() {
	if [ "$1" != "$2" ]; then
		printf '%q instead of %q\n' "$1" "$2" >&2
		return 1
	fi
}

# gone PATTERN: no process with such a command line is left within 5 seconds
gone() {
	local i

	for ((i = 0; i < 50; i++)); do
		pgrep -f "$1" >/dev/null || return 0
		sleep 0.1
	done
	pgrep -af "$1" >&2
	# or the test itself would wait for them
	while read -r i; do
		kill -KILL "$i" 2>/dev/null || true
	done < <(pgrep -f "$1")
	return 1
}

# enabled SYMBOL...: skip where the configuration leaves the feature out.
enabled() {
	local symbol

	for symbol; do
		if [ -e "$CONFIG_H" ] && ! grep -qx "#define ENABLE_$symbol 1" "$CONFIG_H"; then
			skip "$symbol is not configured"
		fi
	done
}

# json FILE|- FILTER [JQ-OPTION]...: a value of a JSON file, or of standard input.
json() {
	local file=$1 filter=$2

	shift 2
	[ "$file" != - ] || file=/dev/stdin
	jq -r "$@" "$filter" "$file"
}
