#!/usr/bin/env bats
# Images that hold nothing but codspeed: what needs no more works, what does says what is missing.
# shellcheck disable=SC2154 # image is of image.bash

load helper
load ../fixtures/image

setup() {
	make_image
}

@test "image: version, help and names" {
	equal "$(inside '' /codspeed --version)" "$(codspeed --version)"
	equal "$(inside '' /codspeed --help)" "$(codspeed --help)"
	equal "$(inside '' /codspeed --list)" "$(codspeed --list)"
	equal "$(inside '' /exec-harness --version)" "exec-harness ${VERSION:=$(codspeed --version |
		cut -d ' ' -f 2)}"
	equal "$(inside 'ro few nobody' /codspeed --version)" "codspeed $VERSION"
}

@test "image: links are made without /proc" {
	mkdir "$image/bin"
	inside '' /codspeed --install -s /bin
	[ -L "$image/bin/exec-harness" ]
	equal "$(inside '' /bin/exec-harness --version)" "$(inside '' /exec-harness --version)"
}

@test "image: simulation says that valgrind is missing" {
	for command in 'exec -m simulation' 'run -m simulation'; do
		# shellcheck disable=SC2086 # words
		run -3 inside '' /codspeed $command -- /heap_blocks-musl 1
		[[ $output == *"valgrind is not installed"*"install the package 'valgrind'"* ]]
	done
}

@test "image: wall time takes /proc, /tmp and /dev/null, and what is missing is named" {
	need jq mknod
	for missing in 'proc:/tmp' 'tmp:/proc' 'proc tmp:/dev/null'; do
		run -1 inside "${missing%:*}" /codspeed exec --max-rounds 2 -- /heap_blocks-musl 1
		[[ $output == *"${missing#*:}"* ]]
		rmdir "$image"/proc "$image"/tmp 2>/dev/null || :
	done
	mkdir "$image/dev"
	mknod -m 666 "$image/dev/null" c 1 3
	inside 'proc tmp' /codspeed exec --max-rounds 2 --json /result -- /heap_blocks-musl 1
	equal "$(jq -c '.benchmarks[0] | [.mode, .status]' "$image/result")" '["walltime","ok"]'
}

@test "image: show, in a read-only root, few descriptors, a user without a name" {
	need jq
	cp -r "$DATA/profile_tree" "$image/profile"
	expected=$(env -i "$CODSPEED_BIN" show "$image/profile")
	[ -n "$expected" ]
	for words in '' ro few nobody 'ro few nobody' 'proc sys tmp'; do
		equal "$(inside "$words" /codspeed show /profile)" "$expected"
	done
	inside 'ro few nobody' /codspeed show --json - /profile 2>/dev/null |
		jq -e '.benchmarks[0].metrics.instructions > 0' >/dev/null
}

@test "image: standard descriptors are closed" {
	cp -r "$DATA/profile_tree" "$image/profile"
	codspeed show --json "$BATS_TEST_TMPDIR/expected" "$image/profile" >/dev/null
	run -1 inside closed /codspeed show --json /result /profile # nobody sees the table
	diff <(jq '.benchmarks' "$BATS_TEST_TMPDIR/expected") <(jq '.benchmarks' "$image/result")
	[ ! -e "$image/dev" ]
}

@test "image: what is not there is named" {
	run -1 inside '' /codspeed show /nothing
	[[ $output == *'/nothing'*'No such file'* ]]
	run -1 inside ro /codspeed show --json /result /nothing
	[[ $output == *'/nothing'* ]]
}

@test "image: HOME is a file, a read-only folder, nothing" {
	cp -r "$DATA/profile_tree" "$image/profile"
	expected=$(codspeed show "$image/profile" | tail -n +2)
	for home in /codspeed / /nothing ''; do
		equal "$(HOME=$home codspeed show "$image/profile" | tail -n +2)" "$expected"
	done
	run -0 env -u HOME -u XDG_CONFIG_HOME "$CODSPEED_BIN" show "$image/profile"
}
