#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#
# The one file of `make static`: its size, that it needs nothing, and that it does its main job in a root that has nothing.
#
#   static.sh       NIGHTLY=1: built again in another folder it has the same bytes
#
# Root, but for the first ones. A line for each, `ok static/NAME`, `not ok static/NAME: why` or `skip static/NAME: why`; exit status 1
# if any failed.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 2

MOST=$((6 << 20)) # bytes
LABEL=static
. tests/judge.sh

said=$(make -s -j2 static 2>&1 >/dev/null)
judge build "${said%%$'\n'*}" [ -z "$said" ]
FILE=$(find build -maxdepth 1 -name "netstall-*-linux-$(uname -m)")
[ -x "$FILE" ] || exit 1
judge size "it has $(stat -c %s "$FILE") bytes" [ "$(stat -c %s "$FILE")" -le $MOST ]
judge libraries "it wants $(readelf -lW "$FILE" | grep -o 'INTERP\|DYNAMIC' | paste -sd' ')" \
    eval '! readelf -lW "$FILE" | grep -q "INTERP\|DYNAMIC"'
notes() { readelf -n "$1" 2>/dev/null | grep 'Build ID'; }
judge debug_file "the .debug is of another build" [ "$(notes "$FILE")" = "$(notes "$FILE.debug")" ]

# /proc and /sys are all there is: no library, no user, no device.
in_nothing() {
    unshare -m sh -c 'mount -t proc proc "$0/proc" && mount --bind /sys "$0/sys" && exec chroot "$0" /netstall "$@"' "$root" "$@"
}
root=$(mktemp -d) || exit 2
trap 'rm -rf "$root"' EXIT
mkdir "$root/proc" "$root/sys" && cp "$FILE" "$root/netstall"
if [ "$(id -u)" != 0 ] || ! in_nothing --version >"$root/said" 2>&1; then
    echo "skip static/nothing_else: no root of our own can be had: $(head -n 1 "$root/said" 2>/dev/null)"
else
    in_nothing doctor >"$root/doctor" 2>&1
    judge doctor "$(tail -n 1 "$root/doctor")" grep -q '^Tracing is possible' "$root/doctor"
    in_nothing demo >"$root/said" 2>&1
    judge demo "$(grep -m 1 ^netstall "$root/said")" grep -q '^nagle-delack: ' "$root/said"
    judge call_sites "$(grep -m 1 'write:' "$root/said")" grep -q 'first write:  at client__step' "$root/said"
fi

if [ -n "${NIGHTLY:-}" ]; then
    other=$(mktemp -d)
    trap 'rm -rf "$root" "$other"' EXIT
    git ls-files -z | xargs -0 cp --parents -t "$other" -- && make -s -C "$other" -j2 static COMMIT="$(git rev-parse --short=12 HEAD)" >"$root/said" 2>&1
    judge reproducible "$(cmp "$FILE" "$other/$FILE" 2>&1) $(tail -n 1 "$root/said")" cmp -s "$FILE" "$other/$FILE"
fi
exit $failed
