#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#
# What `netstall trace` adds to an io_uring operation of its target: CPU time of the program for each operation, the BPF
# programs in it included, alone and watched, in turns. Both ends of an exchange are on one CPU, netstall on another.
#
# The machine may be shared and noisy, so no two runs are compared but those of a pair, one right after the other; the result is
# the median of the pairs' ratios. `control` compares a run alone with a run alone.
#
# Settings (environment): PAIRS=9 OPTIONS='' CPU=0 TOOL_CPU=1 NETSTALL=build/netstall URING=build/tests/workload/uring
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 2

PAIRS=${PAIRS:-9} OPTIONS=${OPTIONS:-} CPU=${CPU:-0}
TOOL_CPU=${TOOL_CPU:-$(($(nproc) > 1 ? 1 : 0))}
NETSTALL=${NETSTALL:-build/netstall}
URING=${URING:-build/tests/workload/uring}

die() { echo "uring_cost: $*" >&2; exit 2; }
[ "$(id -u)" = 0 ] || die "tracing needs root"
[ -x "$URING" ] || die "$URING is not built: make bench builds it"
scratch=$(mktemp -d) || exit 2
program='' tracer=''
trap '[ -z "$program$tracer" ] || kill $program $tracer 2>/dev/null; wait; rm -rf "$scratch"' EXIT
trap 'exit 130' INT TERM
mkfifo "$scratch/gate"

said() { grep -q "$1" "$scratch/$2" 2>/dev/null; }
wait_until() { # COMMAND...: at most 30 s
    local tries
    for ((tries = 0; tries < 600; tries++)); do
        "$@" && return 0
        sleep 0.05
    done
    return 1
}

# one_run alone|watched OPTIONS...: prints ns of CPU time for each operation.
one_run() {
    local how=$1
    shift
    : >"$scratch/out" && : >"$scratch/err"
    taskset -c "$CPU" "$URING" --gate stdin "$@" <"$scratch/gate" >"$scratch/out" &
    program=$!
    exec 7>"$scratch/gate"
    wait_until said '^ready' out || die "the workload did not start"
    if [ "$how" = watched ]; then
        # shellcheck disable=SC2086 # words
        taskset -c "$TOOL_CPU" "$NETSTALL" trace -p "$(sed -n 's/^ready client_pid=\([0-9]*\).*/\1/p' "$scratch/out")" $OPTIONS \
            >/dev/null 2>"$scratch/err" &
        tracer=$!
        wait_until said 'netstall: tracing' err || die "netstall did not attach: $(head -n 1 "$scratch/err")"
    fi
    echo >&7
    exec 7>&-
    wait "$program" || die "the workload failed"
    program=''
    [ -z "$tracer" ] || wait "$tracer" || die "netstall failed: $(tail -n 1 "$scratch/err")"
    tracer=''
    sed -n 's/^done.* cpu_ns_per_op=\([0-9]*\).*/\1/p' "$scratch/out"
}

# compare WHAT SECOND OPTIONS...: PAIRS of a run alone and one as SECOND says, and their row.
compare() {
    local what=$1 second=$2 pair
    shift 2
    : >"$scratch/pairs"
    for ((pair = 0; pair < PAIRS; pair++)); do
        echo "$(one_run alone "$@") $(one_run "$second" "$@")" >>"$scratch/pairs"
    done
    awk -v what="$what" -v second="$second" '
        function middle(values, n,    i, j, value) {
            for (i = 2; i <= n; i++) {
                value = values[i]
                for (j = i - 1; j > 0 && values[j] > value; j--)
                    values[j + 1] = values[j]
                values[j + 1] = value
            }
            return values[int((n + 1) / 2)]
        }
        NF == 2 && $1 > 0 { n++; alone[n] = $1; with[n] = $2; ratio[n] = $2 / $1; added[n] = $2 - $1 }
        END {
            if (!n) { print what ": failed"; exit 1 }
            m = middle(ratio, n)
            printf "%-28s %-8s %9d %9d %9d   %6.3f (%.3f..%.3f)\n", what, second == "alone" ? "control" : "", middle(alone, n),
                middle(with, n), middle(added, n), m, ratio[1], ratio[n]
        }' "$scratch/pairs" || exit 1
}

echo "CPU time of the program for each io_uring operation, alone and under netstall trace${OPTIONS:+ $OPTIONS}: $PAIRS pairs, medians. $(uname -srm)"
printf '%-28s %-8s %9s %9s %9s   %6s\n' '' '' 'ns alone' 'ns with' 'added' 'ratio (least..most)'
for second in alone watched; do
    compare "NOP, one by one" $second --mode nop -n 400000
    compare "NOP, 32 at a time" $second --mode nop -n 3000000 --batch 32
    compare "SEND or RECV, echo exchange" $second --mode echo -n 15000
done
