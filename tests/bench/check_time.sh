#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#
# What `netstall check -- PROGRAM` adds to the program's wall time: PROGRAM alone and under check, in turns.
#
# Settings (environment): RUNS=15 PROGRAM=true NETSTALL=build/netstall
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 2

RUNS=${RUNS:-15}
PROGRAM=${PROGRAM:-true}
NETSTALL=${NETSTALL:-build/netstall}

scratch=$(mktemp -d) || exit 2
trap 'rm -rf "$scratch"' EXIT

# timed COMMAND...: its wall time in ms; its output is dropped.
timed() {
    local begin=$EPOCHREALTIME status
    "$@" >"$scratch/out" 2>"$scratch/err"
    status=$?
    [ $status = 0 ] || { echo "check_time: status $status of $*: $(tail -n 1 "$scratch/err")" >&2 && exit 2; }
    awk -v b="$begin" -v e="$EPOCHREALTIME" 'BEGIN { printf "%.1f\n", (e - b) * 1000 }'
}

# "median (least..most)" of the numbers in a file.
spread() { sort -n "$1" | awk '{ v[NR] = $1 } END { printf "%.0f ms (%.0f..%.0f)", v[int((NR + 1) / 2)], v[1], v[NR] }'; }

[ "$(id -u)" = 0 ] || { echo "check_time: tracing needs root" >&2 && exit 2; }
for ((run = 0; run < RUNS; run++)); do
    # shellcheck disable=SC2086 # words
    timed $PROGRAM >>"$scratch/alone" && timed "$NETSTALL" check --allow-no-traffic -- $PROGRAM >>"$scratch/check" || exit 2
done
echo "\`$PROGRAM\` alone: $(spread "$scratch/alone"); under check: $(spread "$scratch/check"); $RUNS runs each, in turns. $(uname -sr)"
