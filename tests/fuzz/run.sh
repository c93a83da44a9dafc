#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#
# Runs fuzzers, two at a time, each for FUZZ_SECONDS (5).
#
#   run.sh [NAME...]     fuzz_NAME.c; without a name all that there are
#
# A fuzzer begins with what is in corpus/NAME (bytes that once were a finding, and others of interest), and with what seeds.sh makes
# of the tests. What it discovers it adds to build/fuzz/corpus/NAME, for the next run here. A line `libFuzzer options: ...` in its
# source is passed on.
#
# One line each: `ok fuzz/NAME: ...` or `not ok fuzz/NAME: why`; behind a # follow what it had said, and the input, which stays in
# $KEPT/fuzz/NAME (build/failed). Put that input into corpus/NAME with the repair. Exit status 1 if any failed.
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 2

BUILT=build/fuzz/tests/fuzz
KEPT=${KEPT:-build/failed}

# fuzz NAME
fuzz() {
    local program=$BUILT/fuzz_$1 corpus=build/fuzz/corpus/$1 kept=$KEPT/fuzz/$1 options status=0 runs input
    local log=$kept/log
    rm -rf "$kept" && mkdir -p "$corpus" "$kept" "tests/fuzz/corpus/$1" || exit 2
    tests/fuzz/seeds.sh "$1" "$corpus" || { echo "not ok fuzz/$1: seeds.sh failed" && exit 1; }
    read -ra options < <(sed -n 's/.*libFuzzer options: //p' "tests/fuzz/fuzz_$1.c")
    # One input has 25 s, so that a busy machine is no finding. A reader that hangs is one: nothing else ends it.
    timeout -k 5 $((FUZZ_SECONDS + 120)) "$program" -max_total_time="$FUZZ_SECONDS" -timeout=25 -max_len=16384 -print_final_stats=1 \
        -artifact_prefix="$kept/" "${options[@]}" "$corpus" "tests/fuzz/corpus/$1" >"$log" 2>&1 </dev/null || status=$?
    rmdir --ignore-fail-on-non-empty "tests/fuzz/corpus/$1"
    runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
    if [ $status = 0 ] && [ "${runs:-0}" -gt 0 ]; then
        echo "ok fuzz/$1: $runs inputs, $(find "$corpus" -type f | wc -l) kept"
        rm -r "$kept"
        return
    fi
    input=$(find "$kept" -type f ! -name log -printf '%p\n' | head -n 1)
    echo "not ok fuzz/$1: status $status, $(grep -m 1 '^SUMMARY: ' "$log" || tail -n 1 "$log"); input: ${input:-none}"
    grep -v '^#[0-9]' "$log" | tail -n 60 | sed 's/^/# /'
    # Where it cannot be fetched from, it is in the log.
    [ -z "$input" ] || { echo "# base64 of the input, the first 6,000 B:" && head -c 6000 "$input" | base64 -w 120 | sed 's/^/#   /'; }
    return 1
}

export FUZZ_SECONDS=${FUZZ_SECONDS:-5} KEPT
if [ "${1:-}" = --one ]; then # NAME: how this script calls itself
    fuzz "$2"
    exit
fi
if [ $# = 0 ]; then
    # shellcheck disable=SC2046
    set -- $(printf '%s\n' tests/fuzz/fuzz_*.c | sed 's|.*/fuzz_||; s|\.c$||')
fi
printf '%s\n' "$@" | xargs -P 2 -I '{}' tests/fuzz/run.sh --one '{}' || exit 1
