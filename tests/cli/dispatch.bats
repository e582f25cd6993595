#!/usr/bin/env bats
# The front door: names, links, help, exit codes.
# shellcheck disable=SC2013,SC2016

load helper

# First line of standard error.
first_error() {
	# shellcheck disable=SC2154 # set by bats
	echo "${stderr_lines[0]}"
}

# Whether the applet of this name answers to argv[0], as the help says.
by_own_name() {
	codspeed --help | sed -n '/^Applets/,/^$/p' | grep -q "^  $1 "
}

# An empty root folder with nothing but the program.
minimal_root() {
	need root chroot
	root=$BATS_TEST_TMPDIR/root
	mkdir -p "$root/bin"
	cp "$CODSPEED_BIN" "$root/codspeed"
}

# COMMAND in that root, with an empty environment.
in_root() {
	env -i "$(command -v chroot)" "$root" "$@"
}

@test "dispatch: version" {
	for option in --version -V; do
		run --separate-stderr codspeed "$option"
		[ "$status" -eq 0 ]
		[[ $output =~ ^codspeed\ [0-9]+\.[0-9]+\.[0-9]+$ ]]
		[ -z "$stderr" ]
	done
}

@test "dispatch: help on standard output" {
	for option in --help -h help; do
		run --separate-stderr codspeed "$option"
		[ "$status" -eq 0 ]
		[[ $output == "Usage: codspeed "* ]]
		[ -z "$stderr" ]
	done
}

@test "dispatch: no command is a usage error that shows the help" {
	run --separate-stderr codspeed
	[ "$status" -eq 2 ]
	[ -z "$output" ]
	[[ $stderr == "Usage: codspeed "* ]]
}

@test "dispatch: an unknown command is refused in one line" {
	run --separate-stderr codspeed qqqqqq
	[ "$status" -eq 2 ]
	[ -z "$output" ]
	[ "$(first_error)" = "codspeed: error: unknown command 'qqqqqq'" ]
	[ "${stderr_lines[1]}" = "try 'codspeed --help'" ]
	[ "${#stderr_lines[@]}" -eq 2 ]
}

@test "dispatch: a mistyped command is recognised" {
	enabled EXEC
	run --separate-stderr codspeed exce -- ls
	[ "$status" -eq 2 ]
	[[ $(first_error) == "codspeed: error: unknown command 'exce', did you mean 'exec'"* ]]
	run --separate-stderr codspeed help exce
	[ "$status" -eq 2 ]
	[[ $(first_error) == *"did you mean 'exec'"* ]]
}

@test "dispatch: an unknown option before the command" {
	run --separate-stderr codspeed --hepl
	[ "$status" -eq 2 ]
	[ "$(first_error)" = "codspeed: error: unknown option '--hepl', did you mean '--help'?" ]
}

@test "dispatch: the alias of a command" {
	enabled EXEC
	run --separate-stderr codspeed x --help
	[ "$status" -eq 0 ]
	[[ $output == "Usage: codspeed exec "* ]]
	run codspeed --list
	[[ $'\n'$output$'\n' != *$'\nx\n'* ]]
}

@test "dispatch: a renamed binary is the runner" {
	ln -s "$CODSPEED_BIN" "$BATS_TEST_TMPDIR/bench"
	run --separate-stderr "$BATS_TEST_TMPDIR/bench" --version
	[ "$status" -eq 0 ]
	[[ $output == "codspeed "* ]]
}

@test "dispatch: a command's name in argv[0] is the runner" {
	enabled EXEC
	ln -s "$CODSPEED_BIN" "$BATS_TEST_TMPDIR/exec"
	run --separate-stderr "$BATS_TEST_TMPDIR/exec" --help
	[[ $output == "Usage: codspeed COMMAND"* ]]
}

@test "dispatch: an empty argv" {
	run --separate-stderr bash -c 'exec -a "" "$CODSPEED_BIN"'
	[ "$status" -eq 2 ]
	[[ $stderr == "Usage: codspeed "* ]]
}

@test "dispatch: an applet by its own name" {
	enabled EXEC_HARNESS
	ln -s "$CODSPEED_BIN" "$BATS_TEST_TMPDIR/exec-harness"
	run --separate-stderr "$BATS_TEST_TMPDIR/exec-harness" --version
	[ "$status" -eq 0 ]
	[[ $output =~ ^exec-harness\ [0-9]+\.[0-9]+\.[0-9]+$ ]]
	run --separate-stderr "$BATS_TEST_TMPDIR/exec-harness" --help
	[ "$status" -eq 0 ]
	[[ $output == "Usage: exec-harness "* ]]
	run --separate-stderr codspeed exec-harness --help
	[ "$status" -eq 0 ]
	[[ $output == "Usage: codspeed exec-harness "* ]]
}

@test "dispatch: usage errors name the program and where to find help" {
	enabled EXEC EXEC_HARNESS
	run --separate-stderr codspeed exec --qqqqqq
	[ "$status" -eq 2 ]
	[[ $(first_error) == "codspeed: error: unknown option '--qqqqqq'"* ]]
	[ "${stderr_lines[1]}" = "try 'codspeed exec --help'" ]
	ln -s "$CODSPEED_BIN" "$BATS_TEST_TMPDIR/exec-harness"
	run --separate-stderr "$BATS_TEST_TMPDIR/exec-harness" --qqqqqq
	[ "$status" -eq 125 ]
	[[ $(first_error) == "exec-harness: error: unknown option '--qqqqqq'"*"'--'"* ]]
	[ "${stderr_lines[1]}" = "try 'exec-harness --help'" ]
}

@test "dispatch: an option behind the command's first word asks for --" {
	enabled EXEC
	run --separate-stderr codspeed exec ls -la
	[ "$status" -eq 2 ]
	[[ $(first_error) == *"'codspeed exec -- ls ...'"* ]]
}

@test "dispatch: --list names everything once, sorted" {
	enabled FEATURE_INSTALL
	run --separate-stderr codspeed --list
	[ "$status" -eq 0 ]
	[ "$output" = "$(LC_ALL=C sort -u <<<"$output")" ]
	for name in $(codspeed --help | sed -n 's/^  \([a-z][a-z-]*\) .*/\1/p'); do
		[[ $'\n'$output$'\n' == *$'\n'"$name"$'\n'* ]]
	done
}

@test "dispatch: every command and applet has help and a version" {
	enabled FEATURE_INSTALL
	for name in $(codspeed --list); do
		run --separate-stderr codspeed help "$name"
		[ "$status" -eq 0 ]
		[[ $output == "Usage: codspeed $name"* ]]
		[[ $output == *--help* && $output == *--version* ]]
		[ -z "$stderr" ]
		[ "$output" = "$(codspeed "$name" --help)" ]
		[ "$output" = "$(codspeed "$name" -h)" ]
		run --separate-stderr codspeed "$name" --version
		[ "$status" -eq 0 ]
		if by_own_name "$name"; then
			[[ $output == "$name "* ]]
		else
			[[ $output == "codspeed "* ]]
		fi
	done
}

@test "dispatch: every option in a help text is known, and no line is too long" {
	enabled FEATURE_INSTALL
	for name in $(codspeed --list); do
		help=$(codspeed "$name" --help)
		run awk 'length > 80 && !/^Usage|^  [^ -]/' <<<"$help"
		[ -z "$output" ]
		for option in $(sed -n 's/^  \(-.,\|   \) --\(\[no-\]\)\{0,1\}\([a-z0-9-]*\).*/\3/p' <<<"$help"); do
			[[ $option != help && $option != version ]] || continue
			run --separate-stderr codspeed "$name" "--$option=" --help
			[[ $stderr != *"unknown option"* ]]
		done
	done
}

@test "dispatch: help on a full disk fails" {
	for words in --help "help exec"; do
		[ "$words" = --help ] || enabled EXEC
		# shellcheck disable=SC2086
		run --separate-stderr bash -c '"$CODSPEED_BIN" '"$words"' >/dev/full'
		[ "$status" -eq 1 ]
		[[ $stderr == "codspeed: error: cannot write to standard output"* ]]
	done
}

@test "dispatch: a reader that left is no news" {
	run --separate-stderr bash -c \
		'trap "" PIPE; exec 3> >(exit); wait $!; "$CODSPEED_BIN" --help >&3'
	[ "$status" -eq 1 ]
	[ -z "$stderr" ]
}

@test "dispatch: closed standard descriptors" {
	run bash -c '"$CODSPEED_BIN" --version <&- >&- 2>&-'
	[ "$status" -eq 0 ]
	run bash -c '"$CODSPEED_BIN" --qqqqqq <&- >&- 2>&-'
	[ "$status" -eq 2 ]
}

@test "install: hard links" {
	enabled FEATURE_INSTALL
	cp "$CODSPEED_BIN" "$BATS_TEST_TMPDIR/original"
	mkdir "$BATS_TEST_TMPDIR/bin"
	run --separate-stderr "$BATS_TEST_TMPDIR/original" --install "$BATS_TEST_TMPDIR/bin"
	[ "$status" -eq 0 ]
	[ -z "$output$stderr" ]
	for name in codspeed $(codspeed --list); do
		if [ "$name" != codspeed ] && ! by_own_name "$name"; then
			[ ! -e "$BATS_TEST_TMPDIR/bin/$name" ]
			continue
		fi
		[ ! -L "$BATS_TEST_TMPDIR/bin/$name" ]
		[ "$BATS_TEST_TMPDIR/bin/$name" -ef "$BATS_TEST_TMPDIR/original" ]
	done
	# once more: what is there already is fine, in the other form, too
	"$BATS_TEST_TMPDIR/bin/codspeed" --install "$BATS_TEST_TMPDIR/bin"
	"$BATS_TEST_TMPDIR/bin/codspeed" --install -s "$BATS_TEST_TMPDIR/bin"
	[ ! -L "$BATS_TEST_TMPDIR/bin/codspeed" ]
}

@test "install: symbolic links" {
	enabled FEATURE_INSTALL
	mkdir "$BATS_TEST_TMPDIR/bin"
	cd "$(dirname "$CODSPEED_BIN")"
	run --separate-stderr "./$(basename "$CODSPEED_BIN")" --install -s "$BATS_TEST_TMPDIR/bin"
	[ "$status" -eq 0 ]
	[ -L "$BATS_TEST_TMPDIR/bin/codspeed" ]
	[ "$(readlink "$BATS_TEST_TMPDIR/bin/codspeed")" = "$(realpath "$CODSPEED_BIN")" ]
	[[ $("$BATS_TEST_TMPDIR/bin/codspeed" --version) == "codspeed "* ]]
	"$BATS_TEST_TMPDIR/bin/codspeed" --install --symbolic "$BATS_TEST_TMPDIR/bin"
}

@test "install: another file in the way changes nothing" {
	enabled FEATURE_INSTALL EXEC_HARNESS
	mkdir "$BATS_TEST_TMPDIR/bin"
	echo mine >"$BATS_TEST_TMPDIR/bin/exec-harness"
	run --separate-stderr codspeed --install -s "$BATS_TEST_TMPDIR/bin"
	[ "$status" -eq 1 ]
	[[ $(first_error) == *"$BATS_TEST_TMPDIR/bin/exec-harness exists and is another file" ]]
	[ "$(ls "$BATS_TEST_TMPDIR/bin")" = exec-harness ]
	[ "$(cat "$BATS_TEST_TMPDIR/bin/exec-harness")" = mine ]
}

@test "install: a folder that is missing, or no folder" {
	enabled FEATURE_INSTALL
	run --separate-stderr codspeed --install "$BATS_TEST_TMPDIR/none"
	[ "$status" -eq 1 ]
	[[ $(first_error) == *"$BATS_TEST_TMPDIR/none: No such file or directory" ]]
	touch "$BATS_TEST_TMPDIR/file"
	run --separate-stderr codspeed --install "$BATS_TEST_TMPDIR/file"
	[ "$status" -eq 1 ]
	[[ $(first_error) == *"$BATS_TEST_TMPDIR/file: Not a directory" ]]
	[ ! -e "$BATS_TEST_TMPDIR/none" ]
}

@test "install: usage errors" {
	enabled FEATURE_INSTALL
	for words in --install "--install a b" -s "--list a" "--list --install a"; do
		# shellcheck disable=SC2086
		run --separate-stderr codspeed $words
		[ "$status" -eq 2 ]
		[ "${stderr_lines[1]}" = "try 'codspeed --help'" ]
	done
}

@test "minimal root: the program needs nothing but itself" {
	minimal_root
	run --separate-stderr in_root /codspeed --version
	[ "$status" -eq 0 ]
	run --separate-stderr in_root /codspeed --help
	[ "$status" -eq 0 ]
	[ "$output" = "$(codspeed --help)" ]
	run --separate-stderr in_root /codspeed qqqqqq
	[ "$status" -eq 2 ]
	# without /dev/null, too
	run bash -c 'exec chroot "$1" /codspeed --help <&- >&- 2>&-' - "$root"
	[ "$status" -eq 1 ]
}

@test "minimal root: --list and --install without /proc" {
	enabled FEATURE_INSTALL
	minimal_root
	[ "$(in_root /codspeed --list)" = "$(codspeed --list)" ]
	run --separate-stderr in_root /codspeed --install /bin
	[ "$status" -eq 0 ]
	[ "$root/bin/codspeed" -ef "$root/codspeed" ]
	run --separate-stderr in_root /bin/codspeed --install -s /
	[ "$status" -eq 0 ]
	[ "$(readlink "$root/exec-harness")" = /bin/codspeed ] || enabled EXEC_HARNESS
}

@test "minimal root: a binary that is nowhere to be found is told" {
	enabled FEATURE_INSTALL
	need python3
	minimal_root
	# started through a descriptor: without /proc no path leads to it
	run --separate-stderr python3 -c 'import os, sys
fd = os.open(sys.argv[2], os.O_RDONLY)
os.chroot(sys.argv[1])
os.chdir("/")
os.execve(fd, ["codspeed", "--install", "/bin"], {})' "$root" "$CODSPEED_BIN"
	[ "$status" -eq 1 ]
	[[ $(first_error) == "codspeed: error: cannot find the running binary"* ]]
	[ -z "$(ls "$root/bin")" ]
}
