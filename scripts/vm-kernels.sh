#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#
# Fetches Debian's kernels for the test VMs and unpacks them, without installing anything.
#
#   vm-kernels.sh [-v] [SERIES...]      a series is 6.1, say, or arm64-6.1; without any, the four that netstall is tested on
#
# A kernel that is there already is kept, without a word (with -v, it is named). To get a newer one, remove its folder.
# Each becomes $NETSTALL_VM_CACHE/SERIES (the default cache is build/vm in the work tree):
#   vmlinuz, lib/modules/RELEASE, and `package`, which names the Debian package and its version
#
# The packages come from the mirrors that this machine's apt uses, checked with the key rings that it trusts them with,
# but through lists and folders of our own, so that the machine's apt is left as it was.
set -euo pipefail

default_series=(5.10 6.1 6.12 7.2)
archive_suites=(bookworm bookworm-backports trixie-backports)
security_suites=(bookworm-security bullseye-security)

self=${0##*/}
top=$(realpath "$(dirname "$0")/..")
# shellcheck source=scripts/apt-sources.sh
. "$top/scripts/apt-sources.sh"
die() { echo "$self: $*" >&2; exit 1; }
usage() { echo "usage: $self [-v] [SERIES...]" >&2; exit 64; }
machine=amd64 # as Debian calls that of the series at hand

# ---- where the packages come from ----------------------------------------------------------------------------------

# Makes $work/apt.conf, with which apt knows our suites and this machine's packages, and touches nothing outside $work.
make_apt_conf() {
    rm -rf "$work/apt"
    mkdir -p "$work"/apt/lists/partial "$work"/apt/cache/archives/partial
    {
        source_lines "" "${archive_suites[@]}"
        source_lines -security "${security_suites[@]}"
    } >"$work/sources.list"
    [ -s "$work/sources.list" ] || die "this machine's apt has no source for Debian itself, so no kernel can be fetched"
    # The hooks that the machine's apt runs after an update are cleared: they are about its own lists.
    cat >"$work/apt.conf" <<-EOF
		#clear APT::Architectures;
		#clear APT::Update;
		APT::Architecture "$machine";
		APT::Sandbox::User "root";
		Acquire::Languages "none";
		Acquire::Retries "2";
		Dir::State "$work/apt";
		Dir::State::Lists "$work/apt/lists";
		Dir::State::status "/dev/null";
		Dir::Cache "$work/apt/cache";
		Dir::Etc::SourceList "$work/sources.list";
		Dir::Etc::SourceParts "/dev/null";
		Dir::Etc::Preferences "/dev/null";
		Dir::Etc::PreferencesParts "/dev/null";
	EOF
}

# ---- one kernel ----------------------------------------------------------------------------------------------------

# Prints the name of the newest kernel package of series $1, if there is one.
newest_image() {
    local series=${1#*-}
    apt-cache -c "$work/apt.conf" pkgnames "linux-image-$series." |
        grep -E "^linux-image-${series//./\\.}\.[0-9.]+(-[0-9]+|\+deb[0-9.]+)-cloud-$machine$" | sort -V | tail -n 1 || true
}

# Prints the packages that hold the files of kernel image package $1: itself, and from 7.1 on those it was split into.
image_packages() {
    local release=${1#linux-image-}
    echo "$1"
    apt-cache -c "$work/apt.conf" show --no-all-versions "$1" |
        grep -oE "^Depends:.*" | grep -oE "linux-(base|binary|modules)-${release//+/\\+}" | sort -u || true
}

# unpack RELEASE: makes $work/kernel of the packages in $work/debs.
unpack() {
    local release=$1 deb file
    for deb in "$work"/debs/*.deb; do
        dpkg-deb -x "$deb" "$work/root"
    done
    mkdir -p "$work/kernel/lib/modules"
    for file in "$work/root/boot/vmlinuz-$release" "$work/root/usr/lib/modules/$release/vmlinuz"; do
        [ ! -f "$file" ] || mv "$file" "$work/kernel/vmlinuz"
    done
    for file in "$work/root/lib/modules/$release" "$work/root/usr/lib/modules/$release"; do
        [ ! -d "$file" ] || mv "$file" "$work/kernel/lib/modules/"
    done
    [ -f "$work/kernel/vmlinuz" ] && depmod -b "$work/kernel" "$release"
}

# Fetches the newest kernel of series $1 into the cache.
fetch() {
    local image version names
    image=$(newest_image "$1")
    if [ -z "$image" ]; then
        fetch_failed "$1"
        return 1
    fi
    rm -rf "$work/debs" "$work/root" "$work/kernel"
    mkdir "$work/debs"
    mapfile -t names < <(image_packages "$image")
    if ! (cd "$work/debs" && apt-get -qq -c "$work/apt.conf" download "${names[@]}") 2>>"$work/log"; then
        fetch_failed "$1"
        return 1
    fi
    version=$(dpkg-deb -f "$work/debs/${image}"_*.deb Version)
    if ! unpack "${image#linux-image-}" 2>>"$work/log"; then
        echo "$self: kernel $1: $image $version holds no kernel where one is expected" >&2
        return 1
    fi
    echo "$image $version" >"$work/kernel/package"
    rm -rf "${cache:?}/$1"
    mv "$work/kernel" "$cache/$1"
    echo "kernel $1: $image $version"
}

# Says why series $1 could not be had: apt's first error, or else that nobody has it.
fetch_failed() {
    local why
    why=$(grep -m 1 -E '^[EW]: ' "$work/log") || why="no package linux-image-${1#*-}.*-cloud-$machine in the suites asked"
    echo "$self: kernel $1 could not be fetched: $why" >&2
}

cached() { [ -f "$cache/$1/package" ]; }

# Prints those of the named series that are not in the cache.
not_cached() {
    local series
    for series; do
        if ! cached "$series"; then
            echo "$series"
        elif [ -n "$verbose" ]; then
            echo "kernel $series: $(<"$cache/$series/package")" >&2
        fi
    done
}

# ---- the run -------------------------------------------------------------------------------------------------------

verbose=
while getopts v option; do
    case $option in
    v) verbose=1 ;;
    *) usage ;;
    esac
done
shift $((OPTIND - 1))
[ $# -gt 0 ] || set -- "${default_series[@]}"
for series; do
    [[ $series =~ ^(arm64-)?[0-9]+\.[0-9]+$ ]] || usage
done

cache=${NETSTALL_VM_CACHE:-$top/build/vm}
mkdir -p "$cache"
cache=$(realpath "$cache")

mapfile -t todo < <(not_cached "$@")
[ ${#todo[@]} -gt 0 ] || exit 0
for tool in apt-get apt-cache dpkg-deb depmod flock; do
    command -v "$tool" >/dev/null || die "$tool is missing (scripts/deps.sh vm)"
done

# One at a time: another run may just be fetching what this one lacks.
exec {lock}>"$cache/lock"
flock "$lock"
verbose=
mapfile -t todo < <(not_cached "$@")
[ ${#todo[@]} -gt 0 ] || exit 0

work=$(mktemp -d "$cache/fetch.XXXXXX")
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

failed=0 known=''
for series in "${todo[@]}"; do
    machine=amd64
    [[ $series != *-* ]] || machine=${series%-*}
    if [ "$known" != "$machine" ]; then
        make_apt_conf
        # A suite that is out of reach costs its own kernels only; what went wrong is in the log if one turns out to be missing.
        apt-get -qq -c "$work/apt.conf" update 2>"$work/log" || true
        known=$machine
    fi
    fetch "$series" || failed=1
done
exit "$failed"
