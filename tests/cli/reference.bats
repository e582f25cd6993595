#!/usr/bin/env bats
# completion and manual: the same options as the help, in forms that shells and man take.
# shellcheck disable=SC2016

load helper

setup() {
	enabled COMPLETION MANUAL FEATURE_INSTALL
	cd "$BATS_TEST_TMPDIR" || return
}

# The options of a command, one a line, as each form has them; --[no-]x as it stands.
of_help() {
	codspeed "$1" --help | sed -n 's/^  \(-.,\|   \) --\([][a-z0-9-]*\).*/\2/p' | sed 's/\[$//' | sort
}

of_bash() {
	codspeed completion bash |
		awk -v name="$1" '$1 == name || $1 == name ")" { on = 1 } on { print } on && /;;$/ && /^\t\t;;/ { exit }' |
		sed -n "s/^\t\toptions='\(.*\)'$/\1/p" | tr ' ' '\n' | sed -n 's/^--//p' | sort
}

of_zsh() {
	codspeed completion zsh |
		awk -v name="$1" 'match($0, "^\t" name "[|)]") { on = 1 } on { print } on && /^\t\t;;/ { exit }' |
		sed -n "s/^\t\t\t'\**--\([a-z0-9-]*\).*/\1/p" | sort
}

of_fish() {
	codspeed completion fish |
		sed -n "s/^complete -c codspeed -n '__fish_seen_subcommand_from $1[ '].* -l \([a-z0-9-]*\).*/\1/p" | sort
}

of_manual() {
	codspeed manual | sed 's/\\-/-/g' |
		awk -v name="$1" '/^\.S[SH]/ { on = $0 ~ "[ \"]" name "\"$" } on { print }' |
		sed -n 's/.*\\fB--\([][a-z0-9-]*\)\\fR.*/\1/p' | sort
}

# --[no-]x as the two options that it is
spelled() {
	sed 's/^\[no-\]\(.*\)/\1\nno-\1/' | sort
}

@test "reference: help, completions and manual have the same options of every command" {
	for name in $(codspeed --list); do
		help=$(of_help "$name")
		[ -n "$help" ]
		equal "$(of_manual "$name")" "$help"
		help=$(spelled <<<"$help")
		equal "$(of_bash "$name")" "$help"
		equal "$(of_zsh "$name")" "$help"
		equal "$(of_fish "$name")" "$help"
	done
}

@test "reference: every command is in each of them" {
	for name in $(codspeed --list) help; do
		grep -q "positional='\(.* \)\?${name}[ ']" <(codspeed completion bash)
		grep -q "'$name:" <(codspeed completion zsh)
		grep -q -- "-f -a $name -d" <(codspeed completion fish)
	done
	for name in $(codspeed --list); do
		equal "$(codspeed manual | sed 's/\\-/-/g' | grep -cE "^\.SS \"(codspeed )?$name\"$")" 1
	done
}

# bash_offers WORD...: what bash offers for the last word
bash_offers() {
	codspeed completion bash >script.bash
	bash -c '
		source ./script.bash
		COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
		_codspeed
		printf "%s\n" "${COMPREPLY[@]}"' bash "$@"
}

@test "bash: options, values, lists, fixed words, commands" {
	enabled EXEC MEMTRACK
	equal "$(bash_offers codspeed exec --work)" --working-directory
	equal "$(bash_offers codspeed x --work)" --working-directory
	equal "$(bash_offers /opt/codspeed exec -m sim)" simulation
	equal "$(bash_offers codspeed exec --mode = mem)" memory
	equal "$(bash_offers codspeed exec --mode =)" "$(bash_offers codspeed exec --mode '')"
	equal "$(bash_offers codspeed exec --mode simulation,me)" simulation,memory
	equal "$(bash_offers codspeed completion f)" fish
	equal "$(bash_offers codspeed compl)" completion
	equal "$(bash_offers codspeed --lis)" --list
	equal "$(bash_offers codspeed exec --name '')" ''
	mkdir folder
	touch file
	equal "$(bash_offers codspeed exec --profile-folder f)" folder
	equal "$(bash_offers codspeed exec --json f)" $'file\nfolder'
	bash_offers codspeed exec -- ech | grep -qx echo
	equal "$(bash_offers codspeed help compl)" completion
	equal "$(bash_offers codspeed exec -- echo --wor)" ''
	equal "$(bash_offers exec-harness --nam)" --name
}

@test "bash: loads without a word under set -eu" {
	codspeed completion bash >script.bash
	run bash -euc 'source ./script.bash; complete -p codspeed'
	[ "$status" -eq 0 ]
	[[ $output == *"-F _codspeed codspeed" ]]
}

@test "fish: options and their values" {
	need fish
	enabled EXEC
	export HOME=$BATS_TEST_TMPDIR
	codspeed completion fish >codspeed.fish
	fish -n codspeed.fish
	offers() {
		fish -c 'source codspeed.fish; complete -C "$argv[1]"' "$1" | cut -f 1
	}
	equal "$(offers 'codspeed exec --work')" --working-directory
	equal "$(offers 'codspeed exec -m simula')" simulation
	equal "$(offers 'codspeed completion z')" zsh
	equal "$(offers 'codspeed exe')" $'exec\nexec-harness'
	equal "$(offers 'codspeed help compl')" completion
	offers 'codspeed exec -- ech' | grep -qx echo
	offers 'codspeed exec -m memory -- codspeed compl' | grep -qx completion
}

@test "zsh: the script is one, and defines the function" {
	need zsh
	codspeed completion zsh >_codspeed
	zsh -n _codspeed
	run zsh -fc 'compdef() { print -- "$@" }; source ./_codspeed; whence -w _codspeed'
	equal "$output" $'_codspeed codspeed\n_codspeed: function'
}

@test "zsh: what follows -- is completed as a command of its own" {
	need zsh
	codspeed completion zsh >_codspeed
	run zsh -fc 'compdef() { :; }; _normal() { print -- "$CURRENT $words" }; source ./_codspeed
		words=(-- sort -n) CURRENT=3; _codspeed_command; words=(sort -n) CURRENT=2; _codspeed_command'
	equal "$output" $'2 sort -n\n2 sort -n'
}

@test "zsh: help offers the names of commands" {
	need zsh
	codspeed completion zsh >_codspeed
	run zsh -fc 'compdef() { :; }; _arguments() { state=rest words=(help ""); return 1 }
		_describe() { print -- "$1: ${#names}" }; source ./_codspeed; service=codspeed; _codspeed'
	equal "$output" "command: $(($(codspeed --list | wc -l) + 1))"
}

@test "help: says what a DURATION is where there is one, and so does the manual" {
	enabled EXEC SHOW
	codspeed exec --help | grep -q '^DURATION: seconds, or with a unit'
	! codspeed show --help | grep -q DURATION || false
	codspeed manual | grep -q '^DURATION: seconds, or with a unit'
}

@test "manual: tells of all modes" {
	for mode in simulation walltime memory; do
		codspeed manual | sed -n '/^\.SH DESCRIPTION/,/^\.PP/p' | grep -q "$mode mode"
	done
}

@test "manual: man has nothing to say about it" {
	need man
	codspeed manual >codspeed.1
	run man --warnings -l codspeed.1
	[ "$status" -eq 0 ]
	[[ $output != *warning* ]]
	man -l codspeed.1 | col -b >text
	grep -q 'codspeed exec \[OPTION\]... -- COMMAND' text
	grep -q 'EXIT STATUS' text
	run grep '\\f' text
	[ -z "$output" ]
}

@test "reference: usage" {
	for words in completion 'completion csh' 'completion bash zsh' 'manual x'; do
		# shellcheck disable=SC2086
		run --separate-stderr codspeed $words
		equal "$status" 2
		[ -z "$output" ]
	done
	run --separate-stderr bash -c '"$CODSPEED_BIN" manual >/dev/full'
	equal "$status" 1
}
