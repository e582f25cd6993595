#!/usr/bin/env bats
# memory mode for a user who is not root: the capable copy at work, and what it must not lend.
# shellcheck disable=SC2009,SC2016,SC2030,SC2031,SC2034,SC2086,SC2154 # variables of the fixtures, some
# numbers, and of bats; ps: the states

load helper
load ../fixtures/memory
load ../fixtures/user

setup() {
	PATH=$PATH:/usr/sbin
	need_memtrack
	enabled SETCAP_HELPER SETUP EXEC_HARNESS
	user_setup
	need_file_caps
	for name in heap_blocks heap_tree heap_events peek self; do
		cp "$FIXTURES/$name" "$open/$name"
	done
	blocks=$open/heap_blocks
	# a number that only this test's processes have in their command lines
	long=9$(printf '%09d' $((RANDOM * RANDOM % 1000000000)))
}

teardown() {
	local id

	if [ -n "${long:-}" ]; then
		for id in $(pgrep -f " $long"); do
			kill -KILL "$id" 2>/dev/null || :
		done
	fi
	user_teardown
	[ ! -e /tmp/runner.ctl.fifo ]
}

# as_user_memory OPTION... -- COMMAND...: exec -m memory by the user; the result in $result
as_user_memory() {
	local code=0

	result=$home/r.json
	patiently as_user "$codspeed" exec -m memory --profile-folder "$home/p" --json "$result" "$@" ||
		code=$?
	cat "$BATS_TEST_TMPDIR/errors" >&2
	return $code
}

# tracked COMMAND...: the copy itself, by the user
tracked() {
	patiently as_user "$copy" track -o "$home" -- "$@"
}

# start COMMAND...: in the background by the user, until the tree has begun
start() {
	local i

	for ((i = 0; i < 300; i++)); do
		as_user "$@" >"$BATS_TEST_TMPDIR/output" 2>"$BATS_TEST_TMPDIR/errors" 3>&- &
		pid=$!
		for ((; i < 300; i++)); do
			sleep 0.1
			kill -0 $pid 2>/dev/null || break
			! pgrep -f "^$open/heap_tree leaf $long" >/dev/null || return 0
		done
		grep -qE 'measures|tracks' "$BATS_TEST_TMPDIR/errors" || return 1
	done
	return 1
}

# The watchdog has the same command line, and no child.
memtrack_pid() {
	local id

	for id in $(pgrep -f "^[^ ]*codspeed-memtrack track .* $long"); do
		! pgrep -P "$id" >/dev/null || echo "$id"
	done
}

watchdog_pid() {
	pgrep -P "$(memtrack_pid)" -f codspeed-memtrack
}

# nothing_left: of the run two seconds later
nothing_left() {
	local i left

	for ((i = 0; i < 40; i++)); do
		left=$(ps -eo stat,args | grep -E "^T.* $long|^[^Z].* $long" | grep -v grep) || return 0
		sleep 0.1
	done
	echo "$left" >&2
	return 1
}

# ---- At work ----

@test "user: the figures are those of root" {
	install
	as_user_memory -- "$blocks" 1000 >/dev/null
	[ ! -s "$BATS_TEST_TMPDIR/errors" ]
	mv "$result" "$open/user.json"
	patiently "$codspeed" exec -m memory --profile-folder "$open/p" --json "$open/root.json" -- \
		"$blocks" 1000 >/dev/null
	metrics='.benchmarks[0] | .status, .notes, .metrics'
	[ "$(jq '.benchmarks[0].metrics.allocations' "$open/user.json")" -ge 1000 ]
	equal "$(jq -c "$metrics" "$open/user.json")" "$(jq -c "$metrics" "$open/root.json")"
	equal "$(stat -c %u "$home/p/results"/*.msgpack | sort -u)" $USER_ID
}

@test "user: a tree, threads, an entrypoint" {
	install
	as_user_memory -- "$open/heap_tree" spawn 10 "$open/heap_tree" leaf 100 >/dev/null
	[ "$(field .metrics.allocations)" -ge 1000 ]
	equal "$(field .status)" ok
	result=$home/q.json
	as_user ln -s "$codspeed" "$home/exec-harness"
	patiently as_user env PATH="$home:$PATH" "$codspeed" run -m memory --profile-folder "$home/q" \
		--json "$result" -- "exec-harness --name one $blocks 100 >/dev/null
exec-harness --name two $blocks 200 >/dev/null"
	equal "$(jq -r '.benchmarks[] | .name + " " + .status' "$result")" $'one ok\ntwo ok'
	# nothing of the harness is in it, though it is another file than memtrack's
	equal "$(jq '.benchmarks[0].metrics.allocations' "$result")" 102
}

@test "user: the command has no right whatsoever" {
	install
	tracked grep -E '^(Cap|NoNewPrivs|Uid)' /proc/self/status >"$BATS_TEST_TMPDIR/out"
	for set in Inh Prm Eff Amb; do
		grep -qx "Cap$set:	0000000000000000" "$BATS_TEST_TMPDIR/out"
	done
	grep -qx "Uid:	$USER_ID	$USER_ID	$USER_ID	$USER_ID" "$BATS_TEST_TMPDIR/out"
	as_user_memory -- sh -c 'cat /proc/$$/status; ls -l /proc/$$/fd' >"$BATS_TEST_TMPDIR/out"
	for set in Inh Prm Eff Amb; do
		grep -qx "Cap$set:	0000000000000000" "$BATS_TEST_TMPDIR/out"
	done
	run ! grep -E 'bpf|socket|eventfd' "$BATS_TEST_TMPDIR/out" # nor a descriptor of memtrack's
}

@test "user: memtrack itself keeps little, and in effect nothing" {
	install
	start "$copy" track -o "$home" -- "$open/heap_tree" leaf "$long"
	id=$(memtrack_pid)
	threads=0
	for status in /proc/"$id"/task/*/status /proc/"$(watchdog_pid)"/status; do
		grep -qx 'CapEff:	0000000000000000' "$status"
		grep -qx 'CapInh:	0000000000000000' "$status"
		prm=$(sed -n 's/^CapPrm:\t//p' "$status")
		threads=$((threads + (16#$prm == 16#c000000000)))
		[[ $prm == 0000000000000000 || $prm == 000000c000000000 ]]
	done
	equal "$threads" 1 # the watcher alone
	kill -TERM "$id"
	nothing_left
}

@test "user: the environment reaches the command byte by byte" {
	install
	export ODD=$'a=b\nc' EMPTY='' LD_LIBRARY_PATH=/nowhere MALLOC_ARENA_MAX=1 \
		GLIBC_TUNABLES=glibc.malloc.check=0 TMPDIR=/x LIBBPF_BPF_TOKEN_PATH=/nowhere TZ=:/etc/passwd
	given=(ODD="$ODD" EMPTY= LD_LIBRARY_PATH=/nowhere LD_PRELOAD= MALLOC_ARENA_MAX=1
		GLIBC_TUNABLES=glibc.malloc.check=0 LD_BIND_NOW=1 TZ=:/etc/passwd
		LIBBPF_BPF_TOKEN_PATH=/nowhere 'no-identifier=1')
	patiently as_user env "${given[@]}" "$copy" track -o "$home" -- env -0 >"$BATS_TEST_TMPDIR/got"
	as_user env "${given[@]}" env -0 >"$BATS_TEST_TMPDIR/own"
	cmp "$BATS_TEST_TMPDIR/got" "$BATS_TEST_TMPDIR/own"
}

@test "user: a token in the environment is not taken by the copy" {
	install
	mkdir "$open/token"
	CODSPEED_LOG=trace patiently as_user env LIBBPF_BPF_TOKEN_PATH="$open/token" "$copy" \
		track -o "$home" -- true
	run ! grep libbpf: "$BATS_TEST_TMPDIR/errors" # whose words may hold addresses of the kernel
	# while one without rights of its own does take it, and says that it is none
	run patiently as_user env LIBBPF_BPF_TOKEN_PATH="$open/token" "$codspeed" memtrack \
		track -o "$home" -- true
	[ "$status" -eq 125 ]
}

# ---- Without the copy ----

@test "setup: what is missing and what to do is said, and setup does it" {
	run -3 as_user "$codspeed" exec -m memory -- true
	[[ $output == *"codspeed setup --mode memory"*"'$codspeed setcap-helper install --uid $USER_ID'"* ]]
	equal "${#lines[@]}" 1
	run -3 as_user "$codspeed" setup status
	[[ ${lines[0]} == 'memory: not ready'* && ${lines[1]} == 'not installed: '* ]]
	run -3 as_user env PATH=/nowhere "$codspeed" setup
	[[ $output == *"there is no sudo; have root run: $codspeed setcap-helper install --uid $USER_ID"* ]]
	install
	for words in 'setup status' 'setup' 'setup --mode memory' 'setup -m memory'; do
		# shellcheck disable=SC2086
		run -0 as_user "$codspeed" $words
		[[ $output == 'memory: ready'* ]]
	done
	run -0 "$codspeed" setup
	[[ $output == 'memory: ready, this user has the rights' ]]
	run -0 "$codspeed" setup -m simulation
	run -2 "$codspeed" setup other
}

# by_sudo COMMAND...: as the user, with a sudo that is configured by RULE; without a terminal
by_sudo() {
	echo "$RULE" >"$open/sudoers"
	chmod 440 "$open/sudoers"
	cp /etc/shadow "$open/shadow"
	echo 'codspeed-test:*:19000:0:99999:7:::' >>"$open/shadow"
	# shellcheck disable=SC2016
	unshare -m bash -c 'mount --bind "$1/sudoers" /etc/sudoers && mount --bind "$1/shadow" /etc/shadow &&
		shift && exec "$@"' - "$open" setsid -w bash -c "$(declare -p open home USER_ID)
$(declare -f inside as_user); as_user \"\$@\"" - "$@"
}

@test "setup: by sudo, which is asked once" {
	need sudo setsid
	RULE='codspeed-test ALL=(ALL) NOPASSWD: ALL' run -0 by_sudo "$codspeed" setup
	[[ $output == *'sudo installs a copy of codspeed with these, for your user alone'* ]]
	[[ $output == *'memory: ready' ]]
	as_user_memory -- "$blocks" 10 >/dev/null
	helper remove --uid $USER_ID >/dev/null
	RULE='root ALL=(ALL) ALL' run -3 by_sudo "$codspeed" setup
	[[ $output == *"have root run: $codspeed setcap-helper install --uid $USER_ID"* ]]
	equal "$(find "$home" -name codspeed-memtrack)" ''
}

@test "setup: a copy that cannot be trusted is not used" {
	install
	for spoil in 'chown 64322' 'chmod 757' 'chmod 4750' 'truncate -s 1000' 'setcap -r' 'replace'; do
		if [ "$spoil" = replace ]; then
			cp --remove-destination /bin/true "$copy" && chgrp $USER_ID "$copy" && chmod 750 "$copy" &&
				setcap cap_bpf,cap_perfmon+p "$copy"
		else
			$spoil "$copy"
		fi
		run -3 as_user "$codspeed" exec -m memory -- true
		[[ $output == *'memory mode is not possible here'*"$copy"* ]]
		install
	done
	as_user_memory -- "$blocks" 10 >/dev/null
}

@test "setup: a main binary that carries capabilities by hand is refused, with the remedy" {
	install
	setcap cap_bpf,cap_perfmon+p "$codspeed"
	run -3 as_user "$codspeed" exec -m memory -- true
	[[ $output == *"$codspeed itself carries capabilities: remove them"* ]]
	run -3 as_user "$codspeed" setup status
	tracked true # the copy is as good as ever
	# memtrack itself runs, and lends as little as the copy
	patiently as_user "$codspeed" memtrack track -o "$home" -- grep CapPrm /proc/self/status \
		>"$BATS_TEST_TMPDIR/out"
	equal "$(<"$BATS_TEST_TMPDIR/out")" 'CapPrm:	0000000000000000'
}

@test "setup: a place that a hostile environment names is not looked at" {
	install
	as_user cp "$codspeed" "$home/fake"
	for name in HOME XDG_CACHE_HOME XDG_CONFIG_HOME TMPDIR CODSPEED_SELF_EXE; do
		as_user mkdir -p "$home/$name/.cache/codspeed" "$home/$name/codspeed"
	done
	patiently as_user env HOME="$home/HOME" XDG_CACHE_HOME="$home/XDG_CACHE_HOME" \
		CODSPEED_SELF_EXE=/bin/false "$codspeed" exec -m memory --profile-folder "$home/p" -- \
		"$blocks" 10 >/dev/null
	equal "$(jq -r '.benchmarks[0].status' "$home/p/results.json")" ok
	helper remove --uid $USER_ID >/dev/null
	run -3 as_user env HOME="$home/HOME" "$codspeed" exec -m memory -- true
	[[ $output != *"$home/HOME"* ]]
}

# ---- The copy and rights that do not reach it ----

@test "rights: what keeps them away is named, by the runner and by memtrack" {
	install
	cut() {
		run -3 "$@" "$codspeed" exec -m memory -- true
		[[ $output == *"$reason"* ]]
		run -125 "$@" "$copy" track -o "$home" -- true
		[[ $output == *"$reason"* ]]
		equal "${#lines[@]}" 1
	}
	reason=no_new_privs cut as_user setpriv --no-new-privs
	reason='cap_perfmon,cap_bpf is not in the bounding set' cut inside setpriv --bounding-set=-all \
		--reuid=$USER_ID --regid=$USER_ID --clear-groups
	reason='mounted with nosuid' cut inside bash -c 'mount --bind "$1" "$1" &&
		mount -o remount,bind,nosuid "$1" && shift && exec "$@"' - "$home" \
		setpriv --reuid=$USER_ID --regid=$USER_ID --clear-groups
	# and everything else works all the same
	as_user setpriv --no-new-privs "$copy" --version
	inside setpriv --bounding-set=-all --reuid=$USER_ID --regid=$USER_ID --clear-groups "$copy" --version
}

@test "rights: under strace they are gone, which is said" {
	need strace
	install
	run -125 as_user strace -f -o /dev/null "$copy" track -o "$home" -- true
	[[ $output == *'traces this one'* ]]
}

@test "rights: the kinds of probes that each set of capabilities allows" {
	install
	tracked true
	run -125 patiently as_user "$copy" track --uprobes perf -o "$home" -- true
	grep -q "setcap-helper install --caps full" "$BATS_TEST_TMPDIR/errors"
	install --caps full
	for kind in perf multi; do
		CODSPEED_LOG=debug patiently as_user "$copy" track --uprobes $kind -o "$home" -- "$blocks" 100 \
			>/dev/null
		grep -q "uprobes: $kind," "$BATS_TEST_TMPDIR/errors"
	done
}

@test "rights: of the larger set nothing stays that these probes do not take" {
	install --caps full
	start "$copy" track -o "$home" -- "$open/heap_tree" leaf "$long"
	for status in /proc/"$(memtrack_pid)"/task/*/status; do
		grep -qx 'CapEff:	0000000000000000' "$status"
		grep -qxE 'CapPrm:	(0000000000000000|000001c000000000)' "$status"
	done
	kill -TERM "$(memtrack_pid)"
	nothing_left
}

# ---- What the copy must not lend ----

@test "attack: no other applet, by whatever name it is called" {
	install
	as_user ln -s "$copy" "$home/codspeed"
	as_user ln -s "$copy" "$home/exec-harness"
	as_user ln -s "$copy" "$home/setcap-helper"
	for name in codspeed exec-harness setcap-helper; do
		for way in "$home/$name" "-a $name $copy" "-a /x/$name $copy"; do
			for words in 'exec -m simulation -- true' 'exec-harness true' 'setcap-helper status' \
				'--list' '--install .' 'show x' 'run -- true'; do
				run -1 as_user bash -c "exec $way $words"
				[[ $output == *'runs nothing else'* ]]
			done
		done
	done
	ln "$copy" "$home/other-name" # which a user can make, too, where hard links are not protected
	run as_user "$home/other-name" exec -m simulation -- grep Cap /proc/self/status
	[[ $output != *000000c0* ]]
}

@test "attack: other users have no part in it" {
	install
	chmod 755 "$home" "$home/.cache" "$home/.cache/codspeed"
	run ! as_other "$copy" --version
	[[ $output == *'Permission denied'* ]]
	run as_other cat "$copy"
	[ "$status" -eq 1 ]
	[[ $output == *'Permission denied'* ]]
}

@test "attack: memtrack can neither be traced nor read by its user" {
	install
	start "$copy" track -o "$home" -- "$open/heap_tree" leaf "$long"
	id=$(memtrack_pid)
	for task in /proc/"$id"/task/*; do
		run -0 as_user "$open/peek" "${task##*/}"
		equal "$output" tried
	done
	for child in $(pgrep -P "$id" -f codspeed-memtrack); do # the watchdog
		run -0 as_user "$open/peek" "$child"
		equal "$output" tried
	done
	run ! as_user cat "/proc/$id/environ"
	kill -TERM "$id"
	nothing_left
}

@test "attack: files of others are not written, whatever -o names" {
	install
	mkdir "$open/closed"
	chmod 755 "$open/closed"
	run -125 as_user "$copy" track -o "$open/closed" -- true
	[[ $output == *'cannot be written'* ]]
	run -125 as_user "$copy" track -o /root -- true
	echo precious >"$open/precious"
	chmod 666 "$open/precious" # writable even, and still not through a link
	as_user mkdir "$home/out"
	read -r _ _ _ _ last </proc/loadavg # the next processes will have the next numbers
	as_user python3 -c 'import os, sys
for pid in range(int(sys.argv[2]), int(sys.argv[2]) + 3000):
    for end in "", ".incomplete":
        os.symlink(sys.argv[1], "out/%d.MemtrackArtifact.msgpack%s" % (pid, end))' \
		"$open/precious" "$last"
	patiently as_user "$copy" track -o "$home/out" -- true
	equal "$(<"$open/precious")" precious
	equal "$(find "$home/out" -type f -name '*.msgpack' -user $USER_ID | wc -l)" 1
	equal "$(ls -A "$open/closed")" ''
}

@test "attack: --control takes no descriptor but a socket" {
	install
	as_user sh -c 'echo precious >file'
	run -125 as_user bash -c "exec '$copy' track --control 4 -o . -- true 3<>file"
	[[ $output == *'hands over a socket'* ]]
	for number in 1 4 100 2147483647 2147483648 18446744073709551615; do
		run -125 as_user "$copy" track --control $number -o . -- true </dev/null
	done
	equal "$(<"$home/file")" precious
}

@test "attack: limits, closed descriptors, no environment, no arguments" {
	install
	patiently as_user bash -c "exec '$copy' track -o . -- true <&- >&- 2>&-"
	run -125 patiently as_user bash -c "ulimit -n 12; exec '$copy' track -o . -- true"
	patiently as_user bash -c "ulimit -n 64; exec '$copy' track -o . -- true"
	patiently as_user bash -c "ulimit -l 64; exec '$copy' track -o . -- true" # C07
	patiently as_user bash -c "ulimit -c unlimited; exec '$copy' track -o . -- true"
	run patiently as_user bash -c "ulimit -f 0; exec '$copy' track -o . -- '$blocks' 1000"
	[ "$status" -eq 125 ] || [ "$status" -eq $((128 + $(kill -l XFSZ))) ]
	run as_user "$open/self" "$copy"
	patiently as_user env -i "$copy" track -o "$home" -- /bin/true
	nothing_left
}

@test "attack: the setuid bit on any of our files lends nothing" {
	cp "$codspeed" "$open/setuid"
	chmod 4755 "$open/setuid"
	ln -s setuid "$open/memtrack"
	run as_user "$open/memtrack" track -o "$home" -- id -u
	[ "$status" -eq 125 ]
	run -1 as_user "$open/setuid" setcap-helper install --uid $USER_ID
	[[ $output == *'needs root'* ]]
	chmod 2755 "$open/setuid"
	run -1 as_user "$open/setuid" setcap-helper install --uid $USER_ID
}

# ---- Other users' processes in the tree ----

@test "setuid: such a program is left alone, and that is said" {
	install
	cp "$open/heap_blocks" "$open/suid"
	chmod u+s "$open/suid"
	result=$home/r.json
	run -1 as_user_memory -- sh -c "$blocks 100; $open/suid 1000; $blocks 200"
	grep -q 'not recorded.*1 programs with rights of their own' "$BATS_TEST_TMPDIR/errors"
	equal "$(field .status)" incomplete
	[[ $(field '.notes[]') == *'not recorded'* ]]
	[ "$(field .metrics.allocations)" -lt 1000 ]
	[ "$(field .metrics.allocations)" -ge 300 ]
	setcap cap_net_raw+p "$open/heap_blocks"
	run -1 as_user_memory -- sh -c "$blocks 1000; exit 0"
	grep -q 'not recorded' "$BATS_TEST_TMPDIR/errors"
}

@test "tree: a program in a mount namespace of the command's, one that is removed at once" {
	as_user unshare -Urm true || skip "no user namespaces for users here"
	install
	cp "$FIXTURES/heap_blocks-musl" "$open/blocks-musl"
	as_user_memory -- unshare -Urm sh -c "mkdir m; mount -t tmpfs none m; cp $open/blocks-musl m/allocs
		m/allocs 1000" >/dev/null
	[ "$(field .metrics.allocations)" -ge 1000 ]
	as_user_memory -- sh -c "cp $open/blocks-musl gone; ./gone 1000; rm gone" >/dev/null
	[ "$(field .metrics.allocations)" -ge 1000 ]
	equal "$(field .status)" ok
}

@test "closed: a program that cannot be read is told, once, and the rest is recorded" {
	install
	cp "$FIXTURES/heap_blocks-musl" "$open/closed"
	chmod 711 "$open/closed"
	result=$home/r.json
	run -1 as_user_memory -- sh -c "$open/closed 100; $open/closed 100; $blocks 200"
	equal "$(grep -c 'process [0-9]* (closed) cannot be looked into.*as root' "$BATS_TEST_TMPDIR/errors")" 1
	equal "$(field .status)" incomplete
	[[ $(field '.notes[]') == *'(closed)'* ]]
	[ "$(field .metrics.allocations)" -ge 200 ]
}

@test "attack: no probe on a file system that a user may serve" {
	[ -c /dev/fuse ] || require_or_skip fuse 'no /dev/fuse here'
	install
	mkdir "$open/m"
	serve() {
		inside env -i PATH="$PATH" "$FIXTURES/fuse_file" "$FIXTURES/heap_blocks-musl" "$open/m" "$@"
	}
	equal "$(serve "$open/m/program" 10)" "$("$FIXTURES/heap_blocks-musl" 10)"
	patiently serve setpriv --reuid=$USER_ID --regid=$USER_ID --clear-groups \
		"$copy" track -o "$home" -- "$open/m/program" 10 >/dev/null
	grep -q "$open/m/program lies on a file system that a user may serve" "$BATS_TEST_TMPDIR/errors"
	equal "$(zstd -qdc "$home"/*.msgpack | wc -c)" 0
	patiently serve "$codspeed" memtrack track -o "$open" -- "$open/m/program" 10 >/dev/null
	[ ! -s "$BATS_TEST_TMPDIR/errors" ]
	[ "$(zstd -qdc "$open"/*.msgpack | wc -c)" -gt 0 ]
}

@test "attack: no probe on an overlay that a user has mounted, but on root's" {
	as_user unshare -Urm true || skip "no user namespaces for users here"
	install
	cp "$FIXTURES/heap_tree-musl" "$open/lower"
	mount='mount -t tmpfs none $0; mkdir $0/l $0/u $0/w $0/m; cp $1 $0/l/x
		mount -t overlay none -o lowerdir=$0/l,upperdir=$0/u,workdir=$0/w,userxattr $0/m'
	mkdir "$home/o" "$open/o"
	tracked unshare -Urm sh -ec "$mount; \$0/m/x leaf 100" "$home/o" "$open/lower"
	grep -q '/o/m/x lies on a file system that a user may serve' "$BATS_TEST_TMPDIR/errors"
	chmod 777 "$home"
	inside sh -ec "$mount"'; shift; exec "$@"' "$open/o" "$open/lower" env -i \
		setpriv --reuid=$USER_ID --regid=$USER_ID --clear-groups "$copy" track -o "$home" -- \
		"$open/o/m/x" leaf 100 2>"$BATS_TEST_TMPDIR/errors"
	[ ! -s "$BATS_TEST_TMPDIR/errors" ]
}

@test "setuid: root in a user namespace of the command's is still the user" {
	as_user unshare -Ur true || skip "no user namespaces for users here"
	install
	as_user_memory -- unshare -Ur "$blocks" 1000 >/dev/null
	[ ! -s "$BATS_TEST_TMPDIR/errors" ]
	[ "$(field .metrics.allocations)" -ge 1000 ]
}

@test "sudo: SIGTERM ends the run, whoever runs in it" {
	need sudo setsid
	install
	RULE='codspeed-test ALL=(ALL) NOPASSWD: ALL' by_sudo "$copy" track -o "$home" -- \
		sudo -n "$open/heap_tree" leaf "$long" >/dev/null 2>&1 3>&- &
	for ((i = 0; i < 100; i++)); do
		sleep 0.1
		! pgrep -f "^$open/heap_tree leaf $long" >/dev/null || break
	done
	kill -TERM "$(memtrack_pid)"
	SECONDS=0 code=0
	wait $! || code=$?
	equal "$code" 143
	[ "$SECONDS" -lt 20 ]
	nothing_left
}

@test "sudo: under it the command is run by who called" {
	need sudo setsid
	RULE='codspeed-test ALL=(ALL) NOPASSWD: ALL' patiently by_sudo sudo -n "$codspeed" exec -m memory \
		--profile-folder "$open/p" -- sh -c "id -u; $blocks 10 >/dev/null" >"$open/out"
	equal "$(head -n 1 "$open/out")" $USER_ID
	equal "$(jq -r '.benchmarks[0].status' "$open/p/results.json")" ok
}

@test "sudo: what it starts is left alone, and nobody stays stopped" {
	need sudo setsid
	install
	RULE='codspeed-test ALL=(ALL) NOPASSWD: ALL' run -1 patiently by_sudo "$codspeed" exec \
		-m memory --profile-folder "$home/p" -- sh -c "$blocks 100; sudo -n $blocks 1000"
	grep -q 'not recorded' "$BATS_TEST_TMPDIR/errors"
	[ "$(jq '.benchmarks[0].metrics.allocations' "$home/p/results.json")" -lt 1000 ]
}

# ---- Ends ----

@test "signals: SIGINT, SIGTERM and SIGKILL of memtrack leave nothing" {
	install
	for signal in INT TERM KILL; do
		start env --default-signal=INT "$copy" track -o "$home" -- "$open/heap_tree" leaf "$long"
		kill -$signal "$(memtrack_pid)"
		code=0
		wait $pid || code=$?
		equal "$code" $((128 + $(kill -l $signal)))
		nothing_left
	done
}

@test "signals: a killed runner takes memtrack and the tree along" {
	install
	start "$codspeed" exec -m memory --profile-folder "$home/p" -- "$open/heap_tree" leaf "$long"
	kill -KILL "$(pgrep -of "codspeed exec .* $long")"
	nothing_left
	rm -f /tmp/runner.ctl.fifo /tmp/runner.ack.fifo
}

@test "two users: each has its own copy" {
	install
	mkdir "$open/other"
	chown $OTHER_ID "$open/other"
	helper install --uid $OTHER_ID >"$open/out"
	other=$(sed 's/^installed //' "$open/out")
	[[ $other == "$open/other/.cache/"* ]]
	run ! as_user "$other" --version
	[[ $output == *'Permission denied'* ]]
	for i in 1 2 3; do
		patiently as_user "$copy" track -o "$home" -- true
		patiently as_other "$other" track -o "$open/other" -- true
	done
	equal "$(find "$open/other" -name '*.msgpack' -user $OTHER_ID | wc -l)" 3
}

@test "simulation: the main binary carries nothing, so that valgrind runs it" {
	need valgrind
	install
	as_user "$codspeed" exec -m simulation --profile-folder "$home/s" -- "$blocks" 10 >/dev/null
	equal "$(jq -r '.benchmarks[0].status' "$home/s/results.json")" ok
	for option in --no-new-privs --bounding-set=-all; do
		inside setpriv $option "$codspeed" --version
	done
}
