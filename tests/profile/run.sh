#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#
# What `netstall offwake` writes, read by those it is written for: profiles of tests/unit/render/profile_fixture.h.
#
#   run.sh     $BUILD: where the tests were built
#
# Lines `ok NAME`, `not ok NAME: why`, `skip NAME: why`. Exit status 1 if any failed.
set -u
cd "$(dirname "$0")/../.."

build=${BUILD:-build}
made=$build/tests/profile
program=$build/tests/unit/render/test_profile
failed=0
mkdir -p "$made"

# said NAME STATUS: what a check has come to; what it said stands in $made/said.
said() {
    case $2 in
    0) echo "ok profile/$1" ;;
    77) echo "skip profile/$1: $(head -c 200 "$made/said")" ;;
    *)
        echo "not ok profile/$1: $(head -c 500 "$made/said" | tr '\n' ' ')"
        failed=1
        ;;
    esac
}

# The blocked time by the JSON, in whole us.
us() { gojq '.totals.blocked_ms * 1000 | round' "$made/$1.json"; }
most_hops() { gojq '[.chains[].wakers | length] | max // 0' "$made/$1.json"; }

for name in $("$program" --list); do
    for format in json folded pprof svg; do
        "$program" --dump $format "$name" >"$made/$name.$format" || { echo "not ok profile/$name: no $format" && exit 1; }
        # The same profile, the same bytes.
        "$program" --dump $format "$name" | cmp - "$made/$name.$format" >"$made/said" 2>&1 || said "$name-$format" 1
    done
    options=(--sum "$(us "$name")" --hops "$(most_hops "$name")")
    case $name in
    demo) options+=(--cause) ;;
    deep | hostile) options+=(--delimited) ;;
    esac
    tests/profile/folded.py "${options[@]}" "$made/$name.folded" >"$made/said" 2>&1
    said "$name-folded" $?
    timeout 120 tests/profile/pprof.py "$made/$name.pprof" "$made/$name.json" >"$made/said" 2>&1
    said "$name-pprof" $?
done
exit $failed
