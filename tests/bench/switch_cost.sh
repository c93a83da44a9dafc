#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#
# What `netstall offwake`, or another command, adds to a context switch of its target: a program that does little but switch, alone and profiled,
# in turns. CPU time of the program, the BPF programs in it included.
#
# Settings (environment): RUNS=9 ROUNDS=100000 COMMAND='offwake -f' BY='' OPTIONS='' NETSTALL=build/netstall. Of an exchange by
# UDP, 40 bytes there and back, under trace: COMMAND=trace BY=udp (an exchange has two switches).
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 2

RUNS=${RUNS:-9} ROUNDS=${ROUNDS:-100000} OPTIONS=${OPTIONS:-} COMMAND=${COMMAND:-offwake -f} BY=${BY:-}
NETSTALL=${NETSTALL:-build/netstall}
PINGPONG=${PINGPONG:-build/tests/workload/pingpong}

[ "$(id -u)" = 0 ] || { echo "switch_cost: tracing needs root" >&2 && exit 2; }
scratch=$(mktemp -d) || exit 2
trap 'rm -rf "$scratch"' EXIT
mkfifo "$scratch/gate"

# one_run with|without: the program once; ns a switch to the file of that name.
one_run() {
    local program profiler tries
    # shellcheck disable=SC2086 # a word, or none
    "$PINGPONG" "$ROUNDS" $BY <"$scratch/gate" >>"$scratch/$1" &
    program=$!
    exec 7>"$scratch/gate"
    if [ "$1" = with ]; then
        # shellcheck disable=SC2086 # words
        "$NETSTALL" $COMMAND -p $program $OPTIONS >/dev/null 2>"$scratch/err" &
        profiler=$!
        for ((tries = 0; tries < 300; tries++)); do
            grep -q 'Ctrl-C' "$scratch/err" && break
            kill -0 $profiler 2>/dev/null || break
            sleep 0.1
        done
        grep -q 'Ctrl-C' "$scratch/err" || { echo "switch_cost: $(head -n 1 "$scratch/err")" >&2 && kill $program && exit 2; }
    fi
    echo >&7
    exec 7>&-
    wait $program || exit 2
    [ "$1" = without ] || wait $profiler
}

for ((run = 0; run < RUNS; run++)); do
    one_run without
    one_run with
done
# Of the pairs, what was added.
paste "$scratch/without" "$scratch/with" | awk '{ print $2 - $1 }' >"$scratch/added"
spread() { sort -n "$1" | awk '{ v[NR] = $1 } END { printf "%d ns (%d..%d)", v[int((NR + 1) / 2)], v[1], v[NR] }'; }
echo "a switch: $(spread "$scratch/without") without, $(spread "$scratch/with") with $COMMAND${OPTIONS:+ $OPTIONS}, added $(spread "$scratch/added"); $RUNS pairs"
