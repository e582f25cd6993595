#!/usr/bin/env bats
# What kind of file the program is: it must run anywhere, alone.

@test "build: static, with no interpreter and no library" {
	run readelf --program-headers --dynamic "$CODSPEED_BIN"
	[ "$status" -eq 0 ]
	[[ $output != *INTERP* ]]
	[[ $output != *'(NEEDED)'* ]]
}

@test "build: no path to libraries" {
	run readelf --dynamic "$CODSPEED_BIN"
	[ "$status" -eq 0 ]
	[[ $output != *RPATH* && $output != *RUNPATH* ]]
}

@test "build: a build id" {
	run readelf --notes "$CODSPEED_BIN"
	[ "$status" -eq 0 ]
	[[ $output =~ Build\ ID:\ [0-9a-f]{40} ]]
}
