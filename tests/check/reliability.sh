#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#
# How often is `netstall check` wrong? Programs that know their own truth are checked many times in a row, with every CPU
# kept busy by a hog, and without.
#
#   reliability.sh [--runs N] [--limit SECS] [--attach WAY] [--loads "idle busy"] [--keep DIR] [PROGRAM...]
#
# A program that holds nothing back has to end with status 0 (another one is a false failure), one that stalls with status
# 1 and nagle-delack named (0 is a miss). 3 is inconclusive: never wrong, but of no use. Of each run that did not end as it
# has to, the reasons are printed behind a #, and with --keep everything is kept. Exit status 1 if there was one, 2 if
# nothing could be tried. After --limit no further run is begun, and the table tells how many there were.
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 2

NETSTALL=${NETSTALL:-build/netstall}
EXCHANGE=${EXCHANGE:-build/tests/workload/exchange}
RUN_LIMIT=${RUN_LIMIT:-120} # seconds
RUNS=50 LIMIT=100000 LOADS="busy idle" KEEP='' ATTACH=() PROGRAMS=()

# What is checked: the status that it has to have, and the command.
declare -A wanted=([nodelay]=0 [single]=0 [paced]=0 [late-server]=0 [http]=0 [split]=1 [timed]=0 [timed-x1.5]=0 [timed-x2.5]=1)
declare -A commands=(
    [nodelay]="$EXCHANGE --mode nodelay -n 300"       # two writes, TCP_NODELAY
    [single]="$EXCHANGE --mode single -n 300"         # one write
    [paced]="$EXCHANGE --mode paced -n 25"            # delayed-ACK timers that run out and delay nobody
    [late-server]="$EXCHANGE --mode late-server -n 8" # 40 ms waits of another cause
    [http]="tests/check/http_session.sh 40"           # an epoll server, a Python client
    [split]="$EXCHANGE --mode split -n 8"
    [timed]="tests/check/timed.py 4" # beside a baseline of it, made on an idle machine; then slower than that
    [timed-x1.5]="tests/check/timed.py 6"
    [timed-x2.5]="tests/check/timed.py 10"
)
order=(nodelay single paced late-server http split timed timed-x1.5 timed-x2.5)

usage() { echo "usage: ${0##*/} [--runs N] [--limit SECS] [--attach WAY] [--loads \"idle busy\"] [--keep DIR] [${order[*]}]..." >&2 && exit 64; }
while [ $# -gt 0 ]; do
    case $1 in
    --runs) RUNS=${2:?} && shift ;;
    --attach) ATTACH=(-C "attach=${2:?}") && shift ;;
    --limit) LIMIT=${2:?} && shift ;;
    --loads) LOADS=${2:?} && shift ;;
    --keep) KEEP=${2:?} && shift ;;
    -*) usage ;;
    *) [ -n "${commands[$1]:-}" ] || usage && PROGRAMS+=("$1") ;;
    esac
    shift
done
[ ${#PROGRAMS[@]} -gt 0 ] || PROGRAMS=("${order[@]}")
[ -z "$KEEP" ] || mkdir -p "$KEEP" || exit 2

hogs=()
scratch=$(mktemp -d) || exit 2
clean_up() {
    stop_hogs
    rm -rf "$scratch"
}
trap clean_up EXIT
trap 'exit 130' INT TERM

# One for each CPU that we may use, at no lower a priority than what is checked.
start_hogs() {
    local i n
    for ((i = 0; i < $(nproc); i++)); do
        # Not beyond our own end, however that comes.
        (while kill -0 $$ 2>/dev/null; do for ((n = 0; n < 20000; n++)); do :; done; done) &
        hogs+=($!)
    done
}

stop_hogs() {
    [ ${#hogs[@]} -eq 0 ] || { kill "${hogs[@]}" && wait "${hogs[@]}"; } 2>/dev/null
    hogs=()
}

# check_once PROGRAM: leaves out, err, json; sets status.
check_once() {
    local options=()
    [[ $1 != timed* ]] || options=(--baseline "$scratch/baseline")
    rm -f "$scratch"/{out,err,json}
    # shellcheck disable=SC2086 # words
    timeout -k 5 "$RUN_LIMIT" "$NETSTALL" check "${ATTACH[@]}" "${options[@]}" --json "$scratch/json" -- ${commands[$1]} \
        >"$scratch/out" 2>"$scratch/err" </dev/null
    status=$?
}

# Did it end as it has to? A failure has to name the right cause, or the requests that take longer, and no other.
as_wanted() {
    local over='[.gates[] | select(.state == "over") | .name]' right
    if [[ $1 = timed* ]]; then right="$over == [] and any(.baseline.requests[]; .worse)"; else right="$over == [\"nagle-delack\"]"; fi
    [ "$status" = "${wanted[$1]}" ] && { [ "$status" = 0 ] || gojq -e "$right" "$scratch/json" >/dev/null; }
}

tell_reasons() { # PROGRAM LOAD RUN
    echo "# $1, $2, run $3: status $status instead of ${wanted[$1]}"
    { head -n 25 "$scratch/out" && tail -n 5 "$scratch/err"; } | sed 's/^/#   /'
    [ -z "$KEEP" ] || { mkdir -p "$KEEP/$1-$2-$3" && cp "$scratch"/{out,err,json} "$KEEP/$1-$2-$3/" 2>/dev/null; }
}

row='%-12s %-5s %5s  %8s %8s %8s %8s  %s\n'
wrong=0
declare -A count # PROGRAM:COLUMN

# check_program PROGRAM LOAD RUN
check_program() {
    local column=others
    check_once "$1"
    case $status in 0 | 1 | 3) column=$status ;; esac
    count[$1:$column]=$((${count[$1:$column]:-0} + 1)) count[$1:runs]=$3
    as_wanted "$1" && return
    count[$1:wrong]=$((${count[$1:wrong]:-0} + 1)) wrong=$((wrong + 1))
    tell_reasons "$@"
}

# In turns, so that what the machine does meanwhile is the same for all.
check_all() { # LOAD
    local run program
    count=()
    for ((run = 1; run <= RUNS; run++)); do
        for program in "${PROGRAMS[@]}"; do
            [ "$SECONDS" -lt "$LIMIT" ] || break 2
            check_program "$program" "$1" "$run"
        done
    done
    for program in "${PROGRAMS[@]}"; do
        run=${count[$program:runs]:-0}
        # shellcheck disable=SC2059 # the format is ours
        printf "$row" "$program" "$1" "$run" "${count[$program:0]:-0}" "${count[$program:1]:-0}" "${count[$program:3]:-0}" \
            "${count[$program:others]:-0}" "${wanted[$program]}: $((run - ${count[$program:wrong]:-0})) of $run"
    done
}

[ "$(id -u)" = 0 ] || { echo "tracing needs root" >&2 && exit 2; }
"$NETSTALL" doctor "${ATTACH[@]}" >"$scratch/doctor" || { cat "$scratch/doctor" >&2 && exit 2; }
echo "# $(grep '^Tracing is possible' "$scratch/doctor") $(uname -sr), $(nproc) CPUs"
# shellcheck disable=SC2059
printf "$row" program load runs "status 0" "status 1" "status 3" others "as it has to"
# shellcheck disable=SC2086 # words
[[ " ${PROGRAMS[*]}" != *" timed"* ]] || "$NETSTALL" check "${ATTACH[@]}" --save-baseline "$scratch/baseline" -- ${commands[timed]} >"$scratch/out" 2>&1 || { cat "$scratch/out" >&2 && exit 2; }
for load in $LOADS; do
    [ "$load" = idle ] || start_hogs
    check_all "$load"
    stop_hogs
done
[ $wrong = 0 ]
