#!/usr/bin/env bats
# setcap-helper: the capable copy is installed, shown and removed; whom it refuses.
# shellcheck disable=SC2016,SC2030,SC2031,SC2086,SC2154 # variables of user.bash, some numbers, and of bats

load helper
load ../fixtures/user

setup() {
	enabled SETCAP_HELPER
	PATH=$PATH:/usr/sbin
	user_setup
	need_file_caps
}

teardown() {
	user_teardown
}

# owner_mode FILE
owner_mode() {
	stat -c '%u:%g %a' "$1"
}

@test "install: owner, mode, capabilities and place" {
	install
	[[ $copy =~ ^$home/.cache/codspeed/memtrack/[0-9a-f]{40}/codspeed-memtrack$ ]]
	equal "$(owner_mode "$copy")" "0:$USER_ID 750"
	equal "$(getcap "$copy" | sed 's/.* //')" 'cap_perfmon,cap_bpf=p'
	cmp "$copy" "$codspeed"
	equal "$(owner_mode "$home/.cache")" "$USER_ID:$USER_ID 700"
	equal "$(owner_mode "$home/.cache/codspeed")" "$USER_ID:$USER_ID 700"
	equal "$(owner_mode "$home/.cache/codspeed/memtrack")" "0:0 755"
	equal "$(owner_mode "${copy%/*}")" "0:0 755"
	equal "$(ls -A "${copy%/*}")" codspeed-memtrack
	equal "$(getcap "$codspeed")" '' # the main binary never has any
}

@test "install: full for older kernels, and back" {
	install --caps full
	equal "$(getcap "$copy" | sed 's/.* //')" \
		'cap_dac_read_search,cap_sys_admin,cap_perfmon,cap_bpf,cap_checkpoint_restore=p'
	install --caps minimal
	equal "$(getcap "$copy" | sed 's/.* //')" 'cap_perfmon,cap_bpf=p'
}

@test "install: again changes nothing" {
	install
	before=$(stat -c '%i' "$copy")
	touch -d '3 days ago' "$copy"
	install
	grep -q '^already there' "$BATS_TEST_TMPDIR/install"
	equal "$(stat -c '%i' "$copy")" "$before"
	[ "$(stat -c %Y "$copy")" -gt $(($(date +%s) - 1000)) ] # asked for: not old any more
}

@test "install: what was changed is put right" {
	install
	for change in 'chmod 755' 'chown 65534' 'setcap -r' 'setcap cap_bpf,cap_perfmon,cap_kill+ep' \
		'truncate -s 100000' 'chgrp 0'; do
		$change "$copy"
		install
		grep -q '^installed' "$BATS_TEST_TMPDIR/install"
		equal "$(owner_mode "$copy")" "0:$USER_ID 750"
		equal "$(getcap "$copy" | sed 's/.* //')" 'cap_perfmon,cap_bpf=p'
		cmp "$copy" "$codspeed"
	done
}

@test "install: many at once" {
	for i in {1..12}; do
		helper install --uid $USER_ID >"$open/out.$i" 2>&1 3>&- &
	done
	for _ in {1..12}; do wait -n; done
	[ "$(cat "$open"/out.* | grep -c "/codspeed-memtrack$")" -eq 12 ]
	install
	equal "$(ls -A "${copy%/*}")" codspeed-memtrack
}

@test "install: copies of other builds go after a day, with the rights of their links" {
	install
	builds=${copy%/*/*}
	for build in 0123456789abcdef0123 fedcba98765432100123 not-a-build; do
		cp -a "${copy%/*}" "$builds/$build"
		setcap cap_bpf,cap_perfmon+p "$builds/$build/codspeed-memtrack"
	done
	ln "$builds/0123456789abcdef0123/codspeed-memtrack" "$home/kept"
	touch -d '2 days ago' "$builds/0123456789abcdef0123/codspeed-memtrack" \
		"$builds/not-a-build/codspeed-memtrack"
	touch "${copy%/*}/.codspeed-memtrack.0123"
	install
	equal "$(ls "$builds")" "$(printf '%s\n' fedcba98765432100123 not-a-build \
		"$(basename "${copy%/*}")" | sort)"
	equal "$(getcap "$home/kept")" ''
}

@test "links: a replaced or removed copy leaves no rights in hard links of it" {
	install --caps full
	ln "$copy" "$home/kept"
	install --caps minimal
	equal "$(getcap "$home/kept")" ''
	ln "$copy" "$home/kept2"
	install # with a link it is made anew
	equal "$(getcap "$home/kept2")" ''
	[ -n "$(getcap "$copy")" ]
	ln "$copy" "$home/kept3"
	helper remove --uid $USER_ID
	equal "$(getcap "$home/kept3")" ''
}

@test "links: other files keep theirs, whatever name a user has given them" {
	builds=$home/.cache/codspeed/memtrack
	as_user mkdir -p "$builds/0123456789abcdef"
	for mode in 755 750; do
		cp /bin/true "$open/ping"
		chmod $mode "$open/ping"
		setcap cap_net_raw,cap_bpf+p "$open/ping"
		ln "$open/ping" "$builds/0123456789abcdef/codspeed-memtrack"
		touch -d '3 days ago' "$open/ping"
		install
		[ ! -e "$builds/0123456789abcdef/codspeed-memtrack" ]
		ln -f "$open/ping" "$copy"
		install
		cmp "$codspeed" "$copy"
		[ -n "$(getcap "$open/ping")" ]
		as_user mkdir -p "$builds/0123456789abcdef"
		rm "$open/ping"
	done
}

@test "remove: everything of ours goes, nothing else" {
	install
	touch "$home/.cache/other"
	helper remove --uid $USER_ID
	equal "$(find "$home" -mindepth 1 | sort)" \
		"$(printf '%s\n' "$home/.cache" "$home/.cache/codspeed" "$home/.cache/other")"
	run helper remove --uid $USER_ID
	[ "$status" -eq 0 ]
	equal "$output" 'removed 0 copies'
}

@test "status: installed or not, for the user and for root" {
	run as_user "$codspeed" setcap-helper status
	[ "$status" -eq 3 ]
	[[ $output == "not installed: $home/.cache/codspeed/memtrack/"* ]]
	install
	run as_user "$codspeed" setcap-helper status
	[ "$status" -eq 0 ]
	equal "$output" "installed: $copy (cap_perfmon,cap_bpf)"
	run helper status --uid $USER_ID
	[ "$status" -eq 0 ]
	equal "$output" "installed: $copy (cap_perfmon,cap_bpf)"
}

@test "home: of root, below a link of root's, without a way, in /var/cache where there is none" {
	mkdir "$home/.cache"
	chmod 755 "$home/.cache" # of root, as an image build leaves it
	install
	equal "$copy" "$home/.cache/codspeed/memtrack/$(basename "${copy%/*}")/codspeed-memtrack"
	as_user "$copy" --version
	ln -s "$open" "$open/link"
	chown -h 0 "$open/link"
	user_entry "$open/link/home"
	install
	grep -q '^already there' "$BATS_TEST_TMPDIR/install"
	as_user "$codspeed" setcap-helper status
	for none in /nonexistent/home / '' "$open/passwd/x"; do
		user_entry "$none"
		install
		[[ $copy == /var/cache/codspeed/memtrack/$USER_ID/*/codspeed-memtrack ]]
		as_user "$copy" --version
		helper remove --uid $USER_ID
		equal "$(ls -A "$open/cache")" ''
	done
}

@test "user: without a password entry" {
	grep -v codspeed-test "$open/passwd" >"$open/passwd.new"
	cat "$open/passwd.new" >"$open/passwd"
	helper install --uid $USER_ID --gid 4711 >"$open/out"
	copy=$open/cache/$(sed 's|^installed /var/cache/||' "$open/out")
	equal "$(owner_mode "$copy")" "0:4711 750"
}

# ---- Whom and what it refuses ----

# refused TEXT: install fails and says so; nothing was written outside
refused() {
	run helper install --uid $USER_ID
	[ "$status" -ne 0 ]
	[[ $output == *"$1"* ]] || {
		echo "$output" >&2
		return 1
	}
}

@test "refuses: links on the way, whoever they lead to" {
	mkdir "$open/elsewhere"
	for link in .cache .cache/codspeed .cache/codspeed/memtrack; do
		rm -rf "$home/.cache"
		as_user mkdir -p "$(dirname "$home/$link")"
		as_user ln -s "$open/elsewhere" "$home/$link"
		refused 'is a symbolic link'
		run as_user "$codspeed" setcap-helper status
		[ "$status" -ne 0 ]
	done
	equal "$(ls -A "$open/elsewhere")" ''
	rm -rf "$home/.cache"
	mkdir "$open/other-home"
	as_user true
	ln -s "$open/other-home" "$open/link"
	chown -h $OTHER_ID "$open/link"
	user_entry "$open/link"
	refused 'is a symbolic link'
}

@test "refuses: folders of others, and those that others can write" {
	mkdir "$home/.cache"
	chown $OTHER_ID "$home/.cache"
	refused 'belongs to another user'
	chown $USER_ID:$OTHER_ID "$home/.cache"
	chmod 770 "$home/.cache"
	refused 'can be written by other users'
	chmod 777 "$home/.cache"
	refused 'can be written by every user'
	chmod 700 "$home/.cache"
	chmod 777 "$open"
	refused 'can be written by every user'
	chmod 755 "$open"
	install # and the user's own group may write
	chown $USER_ID:$USER_ID "$home/.cache"
	chmod 775 "$home/.cache"
	install
}

@test "refuses: a group that an access list stands behind" {
	need setfacl
	as_user mkdir "$home/.cache"
	setfacl -m "u:$OTHER_ID:rwx" "$home/.cache" ||
		require_or_skip setfacl "no access lists here" || return 1
	refused 'can be written by other users'
}

@test "replaces: a link, a folder's file, a hard link by the copy's name" {
	install
	echo precious >"$open/precious"
	rm "$copy"
	ln -s "$open/precious" "$copy"
	install
	[ ! -L "$copy" ]
	rm "$copy"
	ln "$open/precious" "$copy"
	install
	equal "$(<"$open/precious")" precious
	equal "$(owner_mode "$open/precious")" "0:0 644"
	equal "$(getcap "$open/precious")" ''
	rm "$copy"
	mkfifo "$copy"
	timeout 10 bash -c "$(declare -f inside); open=$open; inside $codspeed setcap-helper install --uid $USER_ID"
	[ -f "$copy" ]
	rm "$copy"
	mkdir "$copy"
	refused 'cannot rename'
	equal "$(ls -A "${copy%/*}")" codspeed-memtrack # no temporary file is left
}

@test "environment: nothing in it changes the place" {
	mkdir "$open/hostile"
	chmod 777 "$open/hostile"
	inside env HOME="$open/hostile" XDG_CACHE_HOME="$open/hostile" TMPDIR="$open/hostile" \
		SUDO_UID=$OTHER_ID SUDO_GID=$OTHER_ID SUDO_USER=codspeed-other USER=codspeed-other \
		LOGNAME=codspeed-other LD_PRELOAD="$open/hostile/x.so" LD_LIBRARY_PATH="$open/hostile" \
		PATH="$open/hostile" "$codspeed" setcap-helper install --uid $USER_ID >"$open/out"
	[[ $(<"$open/out") == "installed $home/.cache/codspeed/memtrack/"* ]]
	equal "$(ls -A "$open/hostile")" ''
	run as_user env HOME="$open/hostile" XDG_CACHE_HOME="$open/hostile" "$codspeed" \
		setcap-helper status
	[ "$status" -eq 0 ]
	[[ $output == "installed: $home/"* ]]
}

@test "rights: a user can neither install nor remove" {
	install
	for word in install remove; do
		run as_user "$codspeed" setcap-helper $word --uid $USER_ID
		[ "$status" -eq 1 ]
		[[ $output == *'needs root'* ]]
	done
	run helper install
	[ "$status" -eq 2 ]
	[[ $output == *'root needs no copy'* ]]
	[ -e "$copy" ]
}

@test "limits: file size, descriptors, closed standard descriptors" {
	run inside bash -c "ulimit -f 1; exec '$codspeed' setcap-helper install --uid $USER_ID"
	[ "$status" -eq 1 ]
	[[ $output == *'File too large'* ]]
	equal "$(find "$home" -type f)" ''
	run inside bash -c "ulimit -n 9; exec '$codspeed' setcap-helper install --uid $USER_ID"
	[ "$status" -eq 0 ]
	helper remove --uid $USER_ID
	inside bash -c "exec '$codspeed' setcap-helper install --uid $USER_ID <&- >&- 2>&-" || :
	run as_user "$codspeed" setcap-helper status
	[ "$status" -eq 0 ]
	cmp "$codspeed" "$home"/.cache/codspeed/memtrack/*/codspeed-memtrack
}

# Each of these moves between the look and the use, and none must have root write elsewhere.
@test "races: folders exchanged for links while it installs" {
	mkdir "$open/target"
	chmod 755 "$open/target"
	as_user bash -c 'mkdir real
		while [ ! -e stop ]; do
			mv -T .cache real/$RANDOM 2>/dev/null; ln -sfn "$1" .cache 2>/dev/null; rm -f .cache 2>/dev/null
		done' - "$open/target" 3>&- &
	pid=$!
	for _ in {1..60}; do
		helper install --uid $USER_ID >>"$open/out" 2>&1 || :
	done
	as_user touch stop
	wait $pid
	equal "$(ls -A "$open/target")" ''
	equal "$(owner_mode "$open/target")" '0:0 755'
	[ "$(find "$home" -name codspeed-memtrack -user 0 -perm 750 | wc -l)" -gt 0 ]
}

# ---- What keeps rights from working ----

@test "obstacles: each is named" {
	install
	obstacle() {
		run as_user "$@" "$codspeed" setcap-helper status
		[ "$status" -eq 3 ]
	}
	obstacle setpriv --no-new-privs
	[[ $output == *no_new_privs* ]]
	run inside setpriv --reuid=$USER_ID --regid=$USER_ID --clear-groups --bounding-set=-bpf \
		"$codspeed" setcap-helper status
	[ "$status" -eq 3 ]
	[[ $output == *'cap_bpf is not in the bounding set'* ]]
	run inside bash -c 'mount --bind "$1" "$1" && mount -o remount,bind,nosuid "$1" && shift && exec "$@"' - \
		"$home" setpriv --reuid=$USER_ID --regid=$USER_ID --clear-groups "$codspeed" \
		setcap-helper status
	[ "$status" -eq 3 ]
	[[ $output == *'mounted with nosuid'* ]]
	setcap -r "$copy"
	run as_user "$codspeed" setcap-helper status
	[ "$status" -eq 3 ]
	[[ $output == *'the file does not carry cap_perfmon,cap_bpf'* ]]
}

@test "obstacles: a user namespace, a tracer" {
	install
	if as_user unshare -U true; then
		run as_user unshare -U --map-user=$USER_ID --map-group=$USER_ID "$codspeed" setcap-helper \
			status
		[ "$status" -eq 3 ]
		[[ $output == *'user namespace'* ]]
	fi
	need strace
	run as_user strace -f -o /dev/null "$codspeed" setcap-helper status
	[ "$status" -eq 3 ]
	[[ $output == *'traces this one'* ]]
}

@test "obstacles: a file system that refuses the attribute" {
	run inside bash -c 'mount -t ramfs none "$1" && chown "$2:$2" "$1" && "$3" setcap-helper install \
		--uid "$2"; code=$?; find "$1" -type f; exit $code' - "$home" $USER_ID "$codspeed"
	[ "$status" -eq 1 ]
	[[ $output == *'the file system refuses the capabilities'* ]]
	[ "${#lines[@]}" -eq 1 ] # no file is left
}

@test "build id: a folder's name alone makes no copy, nor does a file of the same id" {
	need strip
	install
	builds=${copy%/*/*}
	# another program by this build's name
	cp --remove-destination /bin/true "$copy"
	chgrp $USER_ID "$copy"
	chmod 750 "$copy"
	setcap cap_bpf,cap_perfmon+p "$copy"
	run as_user "$codspeed" setcap-helper status
	[ "$status" -eq 3 ]
	[[ $output == *'is of another build'* ]]
	# the same id and other bytes, as a binary and its stripped form: replaced by what asks for it
	strip -o "$open/stripped" "$codspeed"
	inside "$open/stripped" setcap-helper install --uid $USER_ID >"$open/out"
	grep -qx "installed $copy" "$open/out"
	cmp "$open/stripped" "$copy"
	as_user "$codspeed" setcap-helper status
	install
	cmp "$codspeed" "$copy"
	equal "$(ls "$builds")" "$(basename "${copy%/*}")"
}
