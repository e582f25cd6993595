#!/usr/bin/env bats
# exec -m simulation: the exact cost of a command and of everything it starts.
# shellcheck disable=SC2154

load helper
load ../fixtures/simulation

# A turn of burn() and of everything that repeats it.
turn=8

setup() {
	need valgrind
}

# The options of ours.md section 2, written out once more: what a user would type by hand.
callgrind_options=(
	--tool=callgrind --command-line-only=yes --trace-children=yes
	'--trace-children-skip=*esbuild,*.rustup-wrapped'
	--cache-sim=yes --I1=32768,8,64 --D1=32768,8,64 --LL=8388608,16,64
	--compress-strings=no --combine-dumps=yes --dump-line=no --collect-systime=nsec
	--read-inline-info=yes --instr-atstart=yes
	--dump-before=fork --dump-before=_Fork --dump-before=vfork --dump-before=clone
	--dump-before=clone3 --dump-before=execve --dump-before=execveat
)

# by_hand COMMAND...: the Ir of one program under callgrind, its output a pipe as with us.
by_hand() {
	local hand=$folder.hand added

	mkdir "$hand"
	mapfile -t added < <("${plain_env[@]}" "$CODSPEED_BIN" exec -m simulation --print-env \
		--profile-folder "$folder")
	[ "${#added[@]}" -gt 5 ]
	"${plain_env[@]}" "${added[@]}" setarch -R valgrind "${callgrind_options[@]}" \
		--callgrind-out-file="$hand/%p.out" --log-file="$hand/%p.log" -- "$@" \
		</dev/null 2>&1 | cat >/dev/null
	awk '/^totals:/ { sum += $2 } END { print sum }' "$hand"/*.out
}

# same_as_by_hand COMMAND...: all nine events, not only the instructions
same_as_by_hand() {
	local measured

	measured=$(sim_ir "$@")
}

# check_by_hand COMMAND...
check_by_hand() {
	ir "$@" >"$BATS_TEST_TMPDIR/ir"
	equal "$(cat "$BATS_TEST_TMPDIR/ir")" "$(by_hand "$@")"
}

@test "exact: a dynamic program costs what callgrind says by hand" {
	need setarch
	check_by_hand "$FIXTURES/burn" 100000
	check_by_hand seq 1 1000
}
