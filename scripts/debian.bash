# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# debian.bash - Debian's packages of any release, from the mirror that this machine already uses;
# to be sourced. apt gets folders of its own, so neither root nor a change to the system is needed.

debian_keyring=/usr/share/keyrings/debian-archive-keyring.gpg

# The URI that this machine's apt uses for Debian's main component. Third parties may use Debian's
# release names too, so a URI that ends like Debian's own comes first.
debian_mirror() {
	local codename uri files=()

	# shellcheck source=/dev/null
	codename=$(. /etc/os-release && echo "${VERSION_CODENAME:-stable}")
	for uri in /etc/apt/sources.list /etc/apt/sources.list.d/*.{list,sources}; do
		if [ -r "$uri" ]; then files+=("$uri"); fi
	done
	[ "${#files[@]}" -gt 0 ] || return 1
	awk -v codename="$codename" '
		function consider(uri, suites, components) {
			if ((" " suites " ") !~ (" (" codename "|stable|oldstable|testing|sid) ") ||
			    (" " components " ") !~ / main / || uri ~ /^cdrom:/)
				return
			if (uri ~ /\/debian\/?$/ && good == "")
				good = uri
			if (other == "")
				other = uri
		}
		function stanza() {
			if (enabled)
				consider(field["uris"], field["suites"], field["components"])
			split("", field)
			enabled = 1
		}
		FNR == 1 { stanza() }
		FILENAME ~ /\.list$/ {
			if ($1 != "deb" && $1 != "deb-src")
				next
			sub(/\[[^]]*\]/, "")
			components = ""
			for (i = 4; i <= NF; i++)
				components = components " " $i
			consider($2, $3, components)
			next
		}
		/^[ \t]*$/ { stanza(); next }
		/^#/ { next }
		/^[^ \t]/ {
			key = tolower($1)
			sub(/:.*/, "", key)
			sub(/^[^:]*:[ \t]*/, "")
			field[key] = $0
			if (key == "enabled" && tolower($0) ~ /^(no|false|0)/)
				enabled = 0
			next
		}
		{ field[key] = field[key] " " $0 }
		END {
			stanza()
			uri = good != "" ? good : other
			sub(/^[ \t]+/, "", uri)
			sub(/[ \t].*/, "", uri)
			if (uri == "")
				exit 1
			print uri
		}' "${files[@]}"
}

# apt_sources FOLDER TYPE RELEASE [ARCH]: what apt_in takes from: deb or deb-src of a release
apt_sources() {
	local folder=$1 type=$2 release=$3 options='' uri

	uri=$(debian_mirror) || return 1
	if [ -r "$debian_keyring" ]; then options="signed-by=$debian_keyring"; fi
	if [ -n "${4:-}" ]; then options+=" arch=$4"; fi
	mkdir -p "$folder/lists/partial" "$folder/cache/archives/partial"
	echo "$type ${options:+[$options] }$uri $release main" >"$folder/sources.list"
}

# apt_in FOLDER PROGRAM ARGUMENT...: a program of apt that keeps everything in this folder
apt_in() {
	local folder=$1 program=$2

	shift 2
	"$program" -o "Dir::State=$folder" -o "Dir::State::lists=$folder/lists" \
		-o Dir::State::status=/var/lib/dpkg/status -o "Dir::Cache=$folder/cache" \
		-o "Dir::Etc::sourcelist=$folder/sources.list" -o Dir::Etc::sourceparts=- \
		-o APT::Sandbox::User=root -o Acquire::Languages=none \
		-o Acquire::IndexTargets::deb::DEP-11::DefaultEnabled=false "$@"
}
