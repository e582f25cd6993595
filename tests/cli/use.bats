#!/usr/bin/env bats
# use and show: the modes of a shell session.
# shellcheck disable=SC2016

load helper

setup() {
	enabled USE SHOW
	cd "$BATS_TEST_TMPDIR" || return
	unset XDG_RUNTIME_DIR
	export TMPDIR=$PWD
	store=$TMPDIR/codspeed-$(id -u)
}

# shell TEXT: by a shell of its own, a session of its own
shell() {
	setsid -w bash -c "codspeed() { \"\$CODSPEED_BIN\" \"\$@\"; }; $1; :" 2>errors
}

@test "use: one mode, several, words and lists" {
	equal "$(shell 'codspeed use memory; codspeed show')" memory
	[ ! -s errors ]
	equal "$(shell 'codspeed use simulation memory; codspeed show')" $'simulation\nmemory'
	equal "$(shell 'codspeed use memory,simulation memory; codspeed show')" $'memory\nsimulation'
	equal "$(shell 'codspeed use simulation; codspeed use memory; codspeed show')" memory
	equal "$(shell 'codspeed use instrumentation; codspeed show')" simulation
	grep -q "'instrumentation' is deprecated" errors
}

@test "use: nothing set, and what is wrong" {
	equal "$(shell 'codspeed show')" ''
	grep -q 'no mode is set for this shell' errors
	for words in '' bogus 'memory,' 'memory bogus' '--mode memory'; do
		equal "$(shell "codspeed use $words; echo \$?")" 2
	done
	[ ! -e "$store" ]
}

@test "use: shells and scripts inside have it, others have not" {
	equal "$(shell 'codspeed use memory; bash -c "\"\$CODSPEED_BIN\" show; :"')" memory
	equal "$(shell 'codspeed use memory; (codspeed show)')" memory
	equal "$(shell 'codspeed use memory; bash -c "\"\$CODSPEED_BIN\" use simulation; \"\$CODSPEED_BIN\" show; :"
		codspeed show')" $'simulation\nmemory'
	shell 'codspeed use memory'
	equal "$(shell 'codspeed show')" ''
}

@test "use: a shell that becomes the program keeps what was set for it" {
	equal "$(shell 'bash -c "\"\$CODSPEED_BIN\" use memory; exec \"\$CODSPEED_BIN\" show"')" memory
}

@test "use: says what it was bound to where that will not last" {
	shell 'bash -c "\"\$CODSPEED_BIN\" use memory; :"'
	grep -q 'set for process [0-9]* and what it starts' errors
}

@test "use: run and exec take it, the option and the environment win" {
	enabled EXEC
	need valgrind
	asked() {
		shell "codspeed use memory; $1 codspeed exec $2 --print-env -- true" |
			sed -n 's/^CODSPEED_RUNNER_MODE=//p'
	}
	enabled MEMTRACK
	equal "$(asked '' '')" memory
	equal "$(asked '' '-m simulation')" instrumentation
	equal "$(asked 'CODSPEED_RUNNER_MODE=simulation' '')" instrumentation
	equal "$(asked 'CODSPEED_RUNNER_MODE=' '')" memory
}

@test "store: private, and cleaned of processes that ended" {
	shell 'codspeed use memory'
	equal "$(stat -c %a "$store")" 700
	equal "$(find "$store" -type f -printf '%m\n')" 600
	shell 'codspeed use memory'
	equal "$(find "$store" -type f | wc -l)" 1
}

@test "store: a process that took another's id has nothing of it" {
	equal "$(shell 'codspeed use memory
		sed -i "s/\"started\":[0-9]*/\"started\":1/" "'"$store"'"/modes.$$.json; codspeed show')" ''
	grep -q 'no mode is set' errors
}

@test "store: what is damaged is told and left out" {
	for text in '' '{' '{}' '{"started":1,"modes":"bogus"}' '{"started":1,"modes":["memory"]}' '[]'; do
		equal "$(shell 'codspeed use memory; printf %s '"'$text'"' >"'"$store"'"/modes.$$.json
			codspeed show; echo $?')" 0
		grep -q "warning: what 'codspeed use' has set is left out: " errors
	done
}

@test "store: a folder that others may enter, or a link, is not used" {
	mkdir -m 755 "$store"
	equal "$(shell 'codspeed use memory; echo $?')" 1
	grep -q "$store is open to others; remove it" errors
	rmdir "$store"
	mkdir -m 700 elsewhere
	ln -s elsewhere "$store"
	equal "$(shell 'codspeed use memory; echo $?')" 1
	equal "$(ls elsewhere)" ''
	equal "$(shell 'codspeed show')" ''
	grep -q 'left out' errors
}

@test "store: XDG_RUNTIME_DIR comes first" {
	mkdir run
	XDG_RUNTIME_DIR=$PWD/run shell 'codspeed use memory'
	[ -d "run/codspeed-$(id -u)" ]
	[ ! -e "$store" ]
	XDG_RUNTIME_DIR='' shell 'codspeed use memory'
	[ -d "$store" ]
	XDG_RUNTIME_DIR=$PWD/none shell 'codspeed use memory'
	grep -q "cannot make $PWD/none/" errors
}
