#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#
# What it takes to show a recording: records a second, memory, and instructions for each record, which no other load of the machine
# changes (valgrind's lackey counts them in a shorter one).
#
#   replay.sh     $NETSTALL, $EXCHANGE; SECONDS_EACH: how long the recorded run is (5)
set -eu

cd "$(dirname "$0")/../.."
NETSTALL=${NETSTALL:-build/netstall} EXCHANGE=${EXCHANGE:-build/tests/workload/exchange} SECONDS_EACH=${SECONDS_EACH:-5}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# made SECONDS EXCHANGES FILE
made() {
    "$NETSTALL" record --all -o "$3" -- timeout "$1" "$EXCHANGE" --mode nodelay --connections 16 -n "$2" >/dev/null 2>&1 || [ -s "$3" ]
}
counted() { valgrind --tool=lackey --basic-counts=yes "$NETSTALL" report "$1" 2>&1 >/dev/null | sed -n 's/.*guest instrs: *//p' | tr -d ,; }
records() { "$NETSTALL" report --json "$1" | tail -n 1 | gojq .completeness.events; }

made "$SECONDS_EACH" 0 "$scratch/long"
read -r seconds kib < <(TIMEFORMAT=; /usr/bin/time -f '%U %M' "$NETSTALL" report "$scratch/long" 2>&1 >/dev/null | tail -n 1)
all=$(records "$scratch/long")
echo "replay: $all records, $(stat -c %s "$scratch/long") B: $seconds s of CPU, $(gojq -n "$all / $seconds / 1e6 * 100 | round / 100") million a second, $((kib / 1024)) MiB"
if command -v valgrind >/dev/null; then
    made 60 1000 "$scratch/short"
    made 60 3000 "$scratch/longer"
    more=$(($(records "$scratch/longer") - $(records "$scratch/short")))
    echo "replay: $((($(counted "$scratch/longer") - $(counted "$scratch/short")) / more)) instructions a record (each step of a copy by rep is one)"
fi
