#!/usr/bin/env bats
# exec -m simulation: users, file rights, capabilities, and systems that may not be written to.
# shellcheck disable=SC2016,SC2030,SC2031,SC2034,SC2154 # variables of simulation.bash and of bats

load helper
load ../fixtures/simulation

turn=6 # instructions of a turn of burn()

setup() {
	need valgrind
	# bats' own folders are closed to other users
	open=$(mktemp -d)
	chmod 755 "$open"
	cp "$CODSPEED_BIN" "$open/codspeed"
	cp "$FIXTURES/burn-musl" "$open/burn"
	cp "$FIXTURES/hop-musl" "$open/hop"
	mkdir "$open/home"
	chmod 777 "$open/home"
}

teardown() {
	[ -n "$open" ] || return 0
	end_own "$open"
	rm -rf "$open"
}

# COMMAND as a user without any right, in a folder of its own
as_user() {
	(cd "$open/home" && env -i PATH="$PATH" TMPDIR="$open/home" setpriv --reuid=65534 --regid=65534 \
		--clear-groups "$@")
}

need_user() {
	need root setpriv
	as_user test -x "$open/codspeed" -a -x "$(command -v valgrind)" ||
		require_or_skip setpriv "another user cannot be taken on here"
}

@test "user: everything works without any right" {
	need_user
	as_user "$open/codspeed" exec -m simulation --profile-folder p --json r.json -- \
		"$open/hop" 2 100000
	result=$open/home/r.json
	equal "$(field .status)" ok
	equal "$(field '.notes | length')" 0
	close_to "$(field .metrics.instructions)" $((turn * 300000)) 20000
	equal "$(jq '.benchmarks[0].processes[0].images | length' "$open/home/p/simulation.json")" 3
}

@test "user: with no new privileges, and without the bounding set" {
	need_user
	for option in --no-new-privs --bounding-set=-all; do
		as_user setpriv $option "$open/codspeed" exec -m simulation --json r.json -- \
			"$open/hop" 2 100000
		result=$open/home/r.json
		equal "$(field '.status, .notes[]')" ok
		close_to "$(field .metrics.instructions)" $((turn * 300000)) 20000
	done
}

@test "folder: one that cannot be written is told before anything runs" {
	need_user
	mkdir "$open/closed"
	for folder in "$open/closed" "$open/closed/new"; do
		run --separate-stderr as_user "$open/codspeed" exec -m simulation \
			--profile-folder "$folder" -- sh -c "echo ran"
		[ "$status" -eq 1 ]
		[ -z "$output" ]
		[[ $stderr == *"$folder"*"Permission denied"* ]]
		equal "${#stderr_lines[@]}" 1
	done
	[ -z "$(ls -A "$open/closed")" ]
}

@test "folder: one that cannot be read, or whose old results cannot be removed" {
	need_user
	mkdir "$open/unread"
	chmod 733 "$open/unread"
	run --separate-stderr as_user "$open/codspeed" exec -m simulation \
		--profile-folder "$open/unread" -- sh -c "echo ran"
	[ "$status" -eq 1 ]
	[ -z "$output" ]
	[[ $stderr == *"$open/unread"*"Permission denied"* ]]
	mkdir "$open/old"
	touch "$open/old/12.out"
	run --separate-stderr as_user "$open/codspeed" exec -m simulation \
		--profile-folder "$open/old" -- sh -c "echo ran"
	[ "$status" -eq 1 ]
	[ -z "$output" ]
	[[ $stderr == *"$open/old"*"Permission denied"* ]]
	[ -e "$open/old/12.out" ]
}

@test "folder: a temporary folder that cannot be written" {
	need_user
	run --separate-stderr as_user env TMPDIR="$open" "$open/codspeed" exec -m simulation \
		-- sh -c "echo ran"
	[ "$status" -eq 1 ]
	[ -z "$output" ]
	[[ $stderr == *"$open"*"--profile-folder"*"Permission denied"* ]]
}

@test "home: unreadable, read-only, not there" {
	need_user
	mkdir "$open/locked"
	chmod 700 "$open/locked"
	for home in "$open/locked" "$open" "$open/none" ""; do
		run --separate-stderr as_user env HOME="$home" XDG_CONFIG_HOME="$home" \
			"$open/codspeed" exec -m simulation --profile-folder p -- "$open/burn" 1000
		[ "$status" -eq 0 ]
		[[ $stderr != *error* && $stderr != *warning* ]]
	done
}

@test "directory: a working directory that cannot be written, and one that is gone" {
	need_user
	(
		cd "$open"
		env -i PATH="$PATH" setpriv --reuid=65534 --regid=65534 --clear-groups \
			"$open/codspeed" exec -m simulation --profile-folder "$open/home/p" -- "$open/burn" 1000
	)
	run --separate-stderr bash -c 'mkdir "$1/gone"; cd "$1/gone"; rmdir "$1/gone"
		"$1/codspeed" exec -m simulation --profile-folder "$1/home/q" -- "$1/burn" 1000' - "$open"
	[ "$status" -eq 0 ]
	equal "$(jq -r '.benchmarks[0].status' "$open/home/q/results.json")" ok
}

@test "setuid: a program with such rights is refused, with the remedy" {
	need root setcap
	for kind in u+s g+s cap; do
		cp "$FIXTURES/burn-musl" "$open/special"
		if [ $kind = cap ]; then
			setcap cap_net_raw+p "$open/special" ||
				require_or_skip setcap "no file capabilities here" || return 1
		else
			chmod $kind "$open/special"
		fi
		run --separate-stderr "$open/codspeed" exec -m simulation --profile-folder "$open/p" -- \
			"$open/special" 1000
		[ "$status" -eq 1 ]
		[[ $stderr == *"$open/special: valgrind cannot run a program with the setuid or setgid bit or with file capabilities"*copy* ]]
		rm "$open/special"
	done
}

@test "setuid: a child with such rights is refused by valgrind, and that is told" {
	need root
	cp "$FIXTURES/burn-musl" "$open/special"
	chmod u+s "$open/special"
	plain_env=(env -i PATH="$PATH")
	sim sh -c "$open/special 1000; exit 0" >/dev/null 2>"$BATS_TEST_TMPDIR/errors" || :
	[[ $(field '.notes[]') == *"$open/special"*setuid* ]]
}

@test "capabilities: our own binary with some measures as well, and exactly" {
	need_user
	need setcap
	setcap cap_bpf,cap_perfmon+p "$open/codspeed" ||
		require_or_skip setcap "no file capabilities here" || return 1
	"$open/codspeed" exec -m simulation --profile-folder "$open/p" --json "$open/home/r.json" -- \
		"$open/hop" 2 100000
	result=$open/home/r.json
	equal "$(field '.status, .notes[]')" ok
	rm "$result"
	# AT_SECURE, and not to be traced until the next exec
	as_user "$open/codspeed" exec -m simulation --json r.json -- "$open/hop" 2 100000
	equal "$(field '.status, .notes[]')" ok
	close_to "$(field .metrics.instructions)" $((turn * 300000)) 20000
	for option in --no-new-privs --bounding-set=-all; do
		run as_user setpriv $option "$open/codspeed" --version
		[ "$status" -eq 0 ]
		as_user setpriv $option "$open/codspeed" exec -m simulation --json r.json -- \
			"$open/hop" 2 100000
		equal "$(field '.status, .notes[]')" ok
	done
}

@test "capabilities: the death of a capable runner takes the tree along" {
	need_user
	need setcap pgrep
	setcap cap_bpf,cap_perfmon+p "$open/codspeed" ||
		require_or_skip setcap "no file capabilities here" || return 1
	nap=$((200000 + $$))
	as_user "$open/codspeed" exec -m simulation --profile-folder "$open/home/p" -- \
		sh -c ": >begun; sleep $nap; :" >/dev/null 2>&1 \
		3>&- 4>&- &
	for _ in {1..50}; do [ -e "$open/home/begun" ] && break || sleep 0.1; done
	sleep 0.5
	kill -KILL "$(pgrep -o -f "^$open/codspeed exec .* sleep $nap")"
	gone "sleep $nap"
}

@test "read-only: a system that may not be written to, but for one folder" {
	need root unshare
	unshare -m true || require_or_skip unshare "no mount namespaces here" || return 1
	run --separate-stderr unshare -m sh -c '
		mount -t tmpfs none "$1/home" && mount -o remount,bind,ro / || exit 99
		! touch "$1/x" 2>/dev/null || exit 98
		cd / && TMPDIR=$1/home "$1/codspeed" exec -m simulation --json - -- "$1/burn" 1000' \
		- "$open"
	[ "$status" -lt 98 ] || require_or_skip unshare "no read-only root here" || return 1
	[ "$status" -eq 0 ]
	equal "$(jq -r '.benchmarks[0].status' <<<"$output")" ok
}

@test "minimal root: exec and exec-harness say what they lack" {
	need root chroot
	root=$open/root
	mkdir "$root"
	cp "$CODSPEED_BIN" "$root/codspeed"
	cp "$FIXTURES/burn-musl" "$root/burn"
	for variables in "" "PATH=/"; do
		# shellcheck disable=SC2086
		run --separate-stderr env -i $variables "$(command -v chroot)" "$root" /codspeed exec \
			-m simulation -- /burn 1000
		[ "$status" -eq 3 ]
		[[ $stderr == "codspeed: error: "*"valgrind is not installed"* ]]
	done
	run --separate-stderr env -i "$(command -v chroot)" "$root" /codspeed exec-harness \
		-m simulation /burn 1000
	[ "$status" -eq 125 ]
	[[ $stderr == *"not instrumented"* ]]
	equal "$(ls "$root")" $'burn\ncodspeed'
}
