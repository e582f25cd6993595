#!/usr/bin/env bats
# The node wrapper, alone and in an entrypoint run.
# shellcheck disable=SC2016,SC2030,SC2031,SC2154 # $rc and others are of entry.bash

load helper
load ../fixtures/entry

setup() {
	enabled NODE
	entry_setup
	need node
	real=$(command -v node)
	wrapper=$BATS_TEST_TMPDIR/wrapper
	mkdir "$wrapper"
	ln -s "$CODSPEED_BIN" "$wrapper/node"
	PATH=$wrapper:$PATH
}

teardown() {
	nothing_left
}

# ---- Alone ----

@test "node: an ordinary script runs once" {
	cat >once.js <<-'END'
		require("fs").appendFileSync("runs", "x");
		console.log("done");
	END
	run --separate-stderr node once.js
	[ "$status" -eq 0 ]
	equal "$output" 'done'
	equal "$stderr" ''
	equal "$(<runs)" x
}

@test "node: arguments arrive intact" {
	# without an integration in it, -e runs once, too
	words=('a b' '' '$HOME' "it's" '*' '--inspect-brk' $'line\nfeed' '-')
	run --separate-stderr node -e 'for (const w of process.argv.slice(1)) console.log(JSON.stringify(w))' \
		-- "${words[@]}"
	[ "$status" -eq 0 ]
	equal "$output" "$("$real" -e \
		'for (const w of process.argv.slice(1)) console.log(JSON.stringify(w))' -- "${words[@]}")"
}

@test "node: arguments that are not UTF-8" {
	cat >args.js <<-'END'
		process.stdout.write(require("fs").readFileSync("/proc/self/cmdline"));
	END
	node args.js $'a\xff\xfe' b >"$out"
	printf 'args.js\0a\xff\xfe\0b\0' >expected
	tail -c "$(stat -c %s expected)" "$out" | cmp - expected
}

@test "node: the status is node's" {
	for code in 0 1 42 255; do
		run node -e "process.exit($code)"
		[ "$status" -eq "$code" ]
	done
	run node -e 'process.kill(process.pid, "SIGTERM")'
	[ "$status" -eq 143 ]
	run node -e 'syntax error here'
	[ "$status" -eq 1 ]
	[[ $output == *SyntaxError* ]]
	run node ./no-such-file.js
	[ "$status" -eq 1 ]
}

@test "node: standard input is the script's" {
	echo 'console.log("from stdin")' >in
	equal "$(node <in)" 'from stdin'
	equal "$(echo text | node -e 'process.stdin.on("data", d => console.log("got", String(d).trim()))')" \
		'got text'
}

@test "node: --version and --help are node's" {
	equal "$(node --version)" "$("$real" --version)"
	equal "$(node --help | head -n 3)" "$("$real" --help | head -n 3)"
}

# What codspeed-node does: it leaves the flags it needs and stops.
introspecting() {
	cat >flags.js <<-'END'
		const fs = require("fs");
		const path = process.env.__CODSPEED_NODE_CORE_INTROSPECTION_PATH__;
		fs.appendFileSync("runs", "x");
		if (path) {
			fs.writeFileSync(path, process.env.ANSWER ||
				JSON.stringify({ flags: ["--no-opt", "--stack-size=500"] }));
			process.exit(0);
		}
		console.log(JSON.stringify([process.execArgv, process.argv.slice(2)]));
		process.exit(Number(process.env.CODE || 0));
	END
}

@test "node: a script that asks for flags runs a second time with them" {
	introspecting
	run --separate-stderr node --title=mine flags.js 'a b' ''
	[ "$status" -eq 0 ]
	equal "$output" '[["--no-opt","--stack-size=500","--title=mine"],["a b",""]]'
	equal "$(<runs)" xx
	CODE=42 run --separate-stderr node flags.js
	[ "$status" -eq 42 ]
}

@test "node: no flags are wanted" {
	introspecting
	ANSWER='{"flags": []}' run --separate-stderr node flags.js
	[ "$status" -eq 0 ]
	equal "$output" '[[],[]]'
	equal "$(<runs)" xx
}

@test "node: an answer that cannot be read is told" {
	introspecting
	for answer in '{' '[]' '{"flags": 1}' '{"flags": [1]}' '{}'; do
		ANSWER=$answer run --separate-stderr node flags.js
		[ "$status" -eq 125 ]
		[ "${#stderr_lines[@]}" -eq 1 ]
		[[ $stderr == 'node: error: '*codspeed-node* ]]
	done
}

@test "node: a first run that fails is not repeated" {
	cat >fails.js <<-'END'
		require("fs").writeFileSync(process.env.__CODSPEED_NODE_CORE_INTROSPECTION_PATH__, "{}");
		process.exit(3);
	END
	run --separate-stderr node fails.js
	[ "$status" -eq 3 ]
}

@test "node: the variable of a wrapper above is not for this one" {
	__CODSPEED_NODE_CORE_INTROSPECTION_PATH__=$PWD/above run --separate-stderr node -e \
		'require("fs").writeFileSync(process.env.__CODSPEED_NODE_CORE_INTROSPECTION_PATH__, "")'
	[ "$status" -eq 0 ]
	[ ! -e above ]
}

@test "node: the wrapper does not find itself" {
	mkdir second third
	ln "$CODSPEED_BIN" second/node 2>/dev/null || cp "$CODSPEED_BIN" second/node
	ln -s "$PWD/second/node" third/node
	for path in "$wrapper:$PWD/second:$wrapper:$PWD/third:$PATH" "$PWD/second:$PATH" "$wrapper:$wrapper:$PATH"; do
		PATH=$path run --separate-stderr timeout 60 node -e 'console.log("once")'
		[ "$status" -eq 0 ]
		equal "$output" once
	done
}

@test "node: two copies of the wrapper do not call each other for ever" {
	mkdir copy
	cp "$CODSPEED_BIN" copy/node
	PATH=$wrapper:$PWD/copy:$wrapper:$PATH run --separate-stderr timeout 10 node -e 'console.log("once")'
	[ "$status" -eq 0 ]
	equal "$output" once
}

@test "node: none behind the wrapper is 127" {
	run -127 --separate-stderr env PATH="$wrapper" "$wrapper/node" -e 1
	[ "$status" -eq 127 ]
	[ "${#stderr_lines[@]}" -eq 1 ]
	[[ $stderr == 'node: error: node is not on PATH'* ]]
}

@test "node: an interrupted script ends, and nothing is left" {
	node -e 'console.log("ready"); setInterval(() => {}, 1000) // 4341' >"$out" 3>&- &
	pid=$!
	wait_for "$out" ready
	kill -TERM $pid
	rc=0
	wait $pid || rc=$?
	[ "$rc" -eq 143 ]
	gone '// 4341'
}

# ---- In an entrypoint run ----

@test "node: an entrypoint finds the wrapper first, in a private directory" {
	PATH=${PATH#*:}
	plain 'command -v node; node -e "console.log(process.execPath)"; d=$(dirname "$(command -v node)")
stat -c %a "$d"; ls "$d" | grep node'
	equal "$rc" 0
	[[ $(sed -n 1p "$out") == "$TMPDIR"/codspeed.*/node ]]
	equal "$(sed -n 2p "$out")" "$(realpath "$real")"
	equal "$(sed -n 3p "$out")" 700
	equal "$(sed -n 4p "$out")" node
}

@test "node: the wrapper is found with a TMPDIR that no PATH can name" {
	mkdir "$TMPDIR/a b:c'd"
	PATH=${PATH#*:}
	TMPDIR="$TMPDIR/a b:c'd" plain 'command -v node; node -e "console.log(1)"'
	equal "$rc" 0
	found=$(sed -n 1p "$out")
	[[ $found == /*/codspeed.*/node ]] # and not the real one
	[ ! -e "${found%/*}" ]
	equal "$(sed -n 2p "$out")" 1
	rmdir "$TMPDIR/a b:c'd"
}

@test "node: an entrypoint that has none finds none" {
	valgrind_in_bin
	ln -s "$(command -v sh)" "$BATS_TEST_TMPDIR/bin/sh"
	PATH=$BATS_TEST_TMPDIR/bin plain 'command -v node || echo "none"; node -e 1; echo "status $?"'
	equal "$(<"$out")" $'none\nstatus 127'
}
