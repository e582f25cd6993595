#!/bin/sh
# SPDX-License-Identifier: MIT
# gen-applets.sh - collect the registration lines in the heads of core/ and applets/ sources
#
#	scripts/gen-applets.sh DIR
#
# Writes into DIR:
#	config.in            every //config: block, for Kconfig and gen-config.sh
#	applet_prototypes.h  the main functions
#	applet_rows.h        initialisers of `struct applet` (core/applet.h), sorted by name; no row
#	                     at all when everything is off, which gnu11 takes as an empty array
#	needs.mk             NEEDS-FILE := SYMBOLS of the libraries whose headers a file includes: it
#	                     is compiled only where these are on
#
# The lines, all in the comment block that opens the file:
#	//config:...       Kconfig text
#	//command:IF_X(COMMAND("name", alias or NULL, x_main, PRIV_DROP, "summary" or NULL))
#	//applet:IF_X(APPLET("name", x_main, PRIV_DROP, "summary" or NULL))
#	//usage:...        of the row (or adjoining rows) above; several lines are joined
#	//example:...      the same
set -eu
export LC_ALL=C

out=${1:?usage: gen-applets.sh DIR}
cd "$(dirname "$0")/.."
mkdir -p "$out"
tmp=$(mktemp -d "$out/.gen.XXXXXX")
trap 'rm -rf "$tmp"' EXIT

# File names hold no blanks here: they end up in make variables.
# shellcheck disable=SC2046
awk -v dir="$tmp" '
function oops(text) {
	printf "%s:%d: %s\n", FILENAME, FNR, text > "/dev/stderr"
	failed = 1
}

# A C string literal. By hand: awks disagree on backslashes in gsub().
function literal(text,    i, c, s) {
	for (i = 1; i <= length(text); i++) {
		c = substr(text, i, 1)
		s = s (c == "\n" ? "\\n" : c == "\"" || c == "\\" ? "\\" c : c)
	}
	return "\"" s "\""
}

function claim(name) {
	if (name in owner)
		oops("the name \"" name "\" is already taken by " owner[name])
	owner[name] = FILENAME
}

function add_row(text,    cond, name, rest) {
	if (match(text, /^IF_[A-Z0-9_]+\(/)) {
		cond = substr(text, 1, RLENGTH - 1)
		text = substr(text, RLENGTH + 1)
		sub(/\)[ \t]*$/, "", text)
	}
	if (text !~ /^(COMMAND|APPLET)\("[^"]+",.*[A-Za-z0-9_]+_main,.*\)$/) {
		oops("not a registration line: " $0)
		return
	}
	name = text
	sub(/^[A-Z]+\("/, "", name)
	rest = substr(name, index(name, "\"") + 1)
	name = substr(name, 1, index(name, "\"") - 1)
	claim(name)
	if (text ~ /^COMMAND/ && match(rest, /^, *"[^"]+"/)) {
		alias = substr(rest, 1, RLENGTH - 1)
		sub(/^, *"/, "", alias)
		claim(alias)
	}
	match(rest, /[A-Za-z0-9_]+_main,/)
	prototype["int " substr(rest, RSTART, RLENGTH - 1) "(int argc, char **argv);"]

	# Adjoining rows share the usage that follows them.
	if (described || !count)
		first = count + 1
	described = 0
	count++
	row_name[count] = name
	row_cond[count] = cond
	row_text[count] = text
}

function describe(table, text,    i, known) {
	if (!count || row_file != FILENAME)
		oops("no //command: or //applet: line above")
	described = 1
	for (i = first; i <= count; i++) {
		known = (i in table)
		table[i] = known ? table[i] "\n" text : text
	}
}

function add_config(text,    theme) {
	theme = FILENAME
	if (!sub(/^applets\//, "", theme) || !sub(/\/.*/, "", theme))
		theme = ""
	if (theme != menu) {
		if (menu != "")
			print "\nendmenu\n" > config
		if (theme != "")
			print "menu \"" theme "\"\n" > config
		menu = theme
	}
	if (config_file != FILENAME)
		print "# " FILENAME > config
	config_file = FILENAME
	print text > config
}

function need(symbol,    known) {
	known = needs[FILENAME]
	if (index(known " ", " " symbol " ") == 0)
		needs[FILENAME] = known " " symbol
}

BEGIN {
	config = dir "/config.in"
	printf "" > config
	library["<yyjson.h>"] = "LIB_YYJSON"
	library["<yaml.h>"] = "LIB_YAML"
	library["<zlib.h>"] = "LIB_ZLIB"
	library["<zstd.h>"] = library["<zstd_errors.h>"] = "LIB_ZSTD"
	library["<libelf.h>"] = library["<gelf.h>"] = "LIB_ELF"
	library["<bpf/libbpf.h>"] = library["<bpf/bpf.h>"] = library["<bpf/btf.h>"] = "LIB_BPF"
}

/^#[ \t]*include </ && $2 in library { need(library[$2]) }
/^#[ \t]*include "[^"]+\.skel\.h"/ { need("LIB_BPF") }
FNR == 1 { head = 1 }
!head { next }
# The head ends at the first line of code.
!/^(\/\/|\/\*| \*|$)/ { head = 0; next }
!/^\/\/[a-z]+:/ { next }
{
	key = substr($0, 3, index($0, ":") - 3)
	text = substr($0, index($0, ":") + 1)
	if (key == "config") {
		add_config(text)
	} else if (key == "command" || key == "applet") {
		if (row_file != FILENAME)
			described = 1
		row_file = FILENAME
		add_row(text)
	} else if (key == "usage") {
		describe(usage, text)
	} else if (key == "example") {
		describe(example, text)
	} else {
		oops("unknown registration line //" key ":")
	}
}

END {
	if (failed)
		exit 1
	if (menu != "")
		print "\nendmenu" > config
	for (i = 1; i <= count; i++)
		printf "%s\t%s({ %s .usage = %s, .examples = %s },)\n", row_name[i],
			row_cond[i] != "" ? row_cond[i] : "ALWAYS", row_text[i],
			literal(usage[i]), literal(example[i]) > (dir "/rows")
	for (line in prototype)
		print line > (dir "/prototypes")
	for (file in needs)
		printf "NEEDS-%s :=%s\n", file, needs[file] > (dir "/needs")
}
' $(find core applets -name '*.c' ! -name '.*' | sort) /dev/null

touch "$tmp/rows" "$tmp/prototypes" "$tmp/needs"
{
	echo '/* Generated by scripts/gen-applets.sh: the main functions of all applets. */'
	sort "$tmp/prototypes"
} >"$tmp/applet_prototypes.h"
{
	cat <<'END'
/* Generated by scripts/gen-applets.sh: included between the braces of the applet table. */
#define COMMAND(name_, alias_, main_, privilege_, summary_) .name = name_, .alias = alias_, \
	.kind = APPLET_KIND_COMMAND, .privilege = privilege_, .main = main_, .summary = summary_,
#define APPLET(name_, main_, privilege_, summary_) .name = name_, .alias = NULL, \
	.kind = APPLET_KIND_APPLET, .privilege = privilege_, .main = main_, .summary = summary_,
#define ALWAYS(...) __VA_ARGS__
END
	sort "$tmp/rows" | cut -f 2-
	printf '#undef %s\n' COMMAND APPLET ALWAYS
} >"$tmp/applet_rows.h"
sort "$tmp/needs" >"$tmp/needs.mk"

# An unchanged file keeps its time, or everything would be compiled again.
for name in config.in applet_prototypes.h applet_rows.h needs.mk; do
	cmp -s "$tmp/$name" "$out/$name" || mv "$tmp/$name" "$out/$name"
done
