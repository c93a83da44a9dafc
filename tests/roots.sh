#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#
# Where the static file and the package run: in roots of Debian 11, 12 and 13, which are made for it from the mirror of this machine's
# apt. The kernel is this machine's; other kernels are tests/vm's.
#
#   roots.sh [SUITE...]     bullseye bookworm trixie; root, the network, and some five minutes
#
# A line for each, `ok roots/NAME`, `not ok roots/NAME: why` or `skip roots/NAME: why`; exit status 1 if any failed.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 2
. "$PWD/scripts/apt-sources.sh"

[ $# -gt 0 ] || set -- bullseye bookworm trixie
LABEL=roots
. tests/judge.sh
[ "$(id -u)" = 0 ] || { echo "skip roots: it takes root" && exit 0; }
command -v mmdebstrap >/dev/null || { echo "skip roots: mmdebstrap is not installed, see scripts/deps.sh" && exit 0; }

# /tmp may be one that runs no programs.
work=$(mktemp -d /var/tmp/netstall-roots.XXXXXX) || exit 2
trap 'rm -rf --one-file-system "$work"' EXIT
root=$work/root said=$work/said
# in_root COMMAND...: its mounts end with it.
in_root() {
    # shellcheck disable=SC2016 # the inner shell's
    timeout 300 unshare --mount --propagation private sh -c '
        mount --bind "$0" "$0" && mount -t proc proc "$0/proc" && mount --rbind /sys "$0/sys" && mount --rbind /dev "$0/dev" &&
        exec chroot "$0" env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C \
            DEBIAN_FRONTEND=noninteractive "$@"' "$root" "$@" >"$said" 2>&1 </dev/null
}
# What is there, but for what apt and dpkg keep of their own work.
list_files() { find "$root" -xdev -path "$root/var/lib/dpkg" -prune -o -path "$root/var/lib/apt" -prune -o -path "$root/var/cache" -prune -o \
    -path "$root/var/log" -prune -o -print | sort; }

make_root() { # make_root SUITE
    rm -rf --one-file-system "$root"
    { source_lines "" "$1" && source_lines -security "$1-security"; } >"$work/sources"
    # Older releases leave the mirrors: the archive alone, where there are no security updates.
    mmdebstrap --variant=minbase "$1" "$root" "$work/sources" >"$said" 2>&1 || {
        rm -rf --one-file-system "$root"
        source_lines "" "$1" >"$work/sources"
        mmdebstrap --variant=minbase "$1" "$root" "$work/sources" >"$said" 2>&1
    }
}

test_static() { # test_static RELEASE
    cp "$file" "$root/usr/local/bin/netstall-static"
    in_root netstall-static doctor
    judge "$1/static-doctor" "$(tail -n 1 "$said")" grep -q '^Tracing is possible' "$said"
    in_root netstall-static demo
    judge "$1/static-demo" "$(grep -m 1 ^netstall "$said")" grep -q '^nagle-delack: ' "$said"
    rm "$root/usr/local/bin/netstall-static"
}

test_package() { # test_package RELEASE
    cp "$deb" "$root/root/netstall.deb"
    in_root apt-get -qq update
    list_files >"$work/before"
    in_root apt-get -qq -y install --no-install-recommends /root/netstall.deb
    judge "$1/deb-install" "$(tail -n 1 "$said")" [ -x "$root/usr/bin/netstall" ]
    in_root netstall doctor --self-test
    judge "$1/deb-self-test" "$(tail -n 1 "$said")" grep -q '^Self-test passed' "$said"
    in_root apt-get -qq -y purge --autoremove netstall
    judge "$1/deb-purge" "$(tail -n 1 "$said")" [ ! -e "$root/usr/bin/netstall" ]
    list_files >"$work/after"
    judge "$1/deb-leaves-nothing" "$(diff "$work/before" "$work/after" | grep '^[<>]' | head -n 3 | sed "s|$root||" | paste -sd' ')" \
        cmp -s "$work/before" "$work/after"
}

make -s -j2 static >"$said" 2>&1
file=$(find build -maxdepth 1 -name "netstall-*-linux-$(uname -m)")
[ -x "$file" ] || { echo "not ok roots/static: $(tail -n 1 "$said")" && exit 1; }
make -s deb >"$said" 2>&1
status=$?
judge deb-build "$(tail -n 1 "$said")" [ $status = 0 ]
deb=$(find build/deb -maxdepth 1 -name 'netstall_*.deb')
judge deb-lintian "$(grep -m 1 '^[EWI]: ' "$said")" [ "$(grep -c '^[EW]: ' "$said")" = 0 ]

for suite; do
    case $suite in bullseye) release=11 ;; bookworm) release=12 ;; trixie) release=13 ;; *) release=$suite ;; esac
    if ! make_root "$suite"; then
        echo "skip roots/$release: no root of $suite can be had: $(grep -m 1 -E '^E: |404' "$said")"
        continue
    fi
    test_static "$release"
    # The package is built here: releases before this one have older libraries.
    [ "$release" = 11 ] || [ ! -f "$deb" ] || test_package "$release"
done
exit $failed
