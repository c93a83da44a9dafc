# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# shellcheck shell=bash
#
# Where this machine's apt has Debian from. Sourced by what fetches other releases' packages: scripts/vm-kernels.sh, tests/roots.sh.

# Prints "URI FILE SUITE" of the machine's source for this Debian release, where $1 is "" (the archive) or "-security".
machine_source() {
    local codename
    codename=$(. /etc/os-release && echo "${VERSION_CODENAME:-stable}")
    # shellcheck disable=SC2016 # the variables are apt's
    apt-get indextargets --no-release-info --format '$(RELEASE) $(COMPONENT) $(REPO_URI) $(SOURCESENTRY)' \
        'Created-By: Packages' |
        awk -v suites="$codename$1 stable$1 oldstable$1" '
            BEGIN { n = split(suites, s, " "); for (i = 1; i <= n; i++) wanted[s[i]] = 1 }
            ($1 in wanted) && $2 == "main" && !found { sub(/:[0-9]+$/, "", $4); print $3, $4, $1; found = 1 }'
}

# signed_by URI FILE SUITE: prints the key ring that FILE names for that source, if it names one.
signed_by() {
    local separator='\n'
    case $2 in *.sources) separator= ;; esac # paragraphs there, lines elsewhere
    sed '/^[[:space:]]*#/d' "$2" | awk -v RS="$separator" -v uri="${1%/}" -v suite="$3" '
        {
            hit = 0; key = ""
            for (i = 1; i <= NF; i++) {
                word = $i
                gsub(/[][]/, "", word)
                if (word == suite) hit = 1
                if (tolower(word) == "signed-by:") key = $(i + 1)
                if (tolower(word) ~ /^signed-by=/) key = substr(word, 11)
            }
            if (hit && index($0, uri) && key ~ /^\// && !found) { print key; found = 1 }
        }'
}

# source_lines KIND SUITE...: prints the sources.list lines for these suites of the archive ("") or of "-security".
source_lines() {
    local uri file suite key
    read -r uri file suite < <(machine_source "$1") || return 0
    shift
    key=$(signed_by "$uri" "$file" "$suite")
    printf "deb ${key:+[signed-by=$key] }$uri %s main\n" "$@"
}
