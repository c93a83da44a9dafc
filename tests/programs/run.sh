#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#
# Real programs (Debian's) under `netstall trace`, with a driver that keeps its own clock and knows what they did.
#
#   run.sh [--only PATTERN] [--open] [--keep DIR] [--list]
#
# Two cases at a time (CASES_AT_ONCE). NETSTALL_DAY: of all programs those of that day (tests/day.awk).
#
# --only   those that match, by NAME or NAME.VIEW, where the view is what is traced: client, server or both
# --open   also the views that netstall still names wrong, which the file `open` lists
# --keep   leaves the driver's word, the report and the terminal's text of each view that is wrong there
# One line a view: `ok programs/NAME.VIEW`, `not ok ...: why` or `skip ...: why`; behind the last a line `programs/machine`, not ok
# where more than $MACHINE_SKIPS views were skipped because the machine was busy, and `end programs`. Status 1 if any failed.
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 2

LABEL=programs ONLY='*' OPEN='' KEPT=''
MACHINE_SKIPS=3
here=tests/programs
while [ $# -gt 0 ]; do
    case $1 in
    --only) ONLY=$2 && shift ;;
    --open) OPEN=1 ;;
    --keep) KEPT=$2 && shift ;;
    --list) exec /usr/bin/python3 $here/driver.py --list ;;
    *) echo "run.sh: no option $1" >&2 && exit 64 ;;
    esac
    shift
done

# The line of all views needs all of them.
[ "$ONLY" != machine ] || ONLY='*'

. tests/live/lib.sh
# The driver says how long the programs waited for a CPU.
judge_machine() { :; }

export MADE=${MADE:-$PWD/build/tests/programs}
WORK=$(mktemp -d)
chmod 755 "$WORK" # PostgreSQL does not run as root
export PGDATA_MADE=$WORK/pgdata
trap 'rm -rf "$WORK"' EXIT

[ "$(id -u)" = 0 ] || { echo "skip programs: tracing needs root" && exit 0; }
if ! said=$("$NETSTALL" doctor); then
    echo "skip programs: $(grep '^Tracing is not possible' <<<"$said")"
    exit 0
fi

# What has to be compiled, where its compiler is installed.
mkdir -p "$MADE"
! command -v go >/dev/null || [ "$MADE/goserver" -nt $here/server.go ] || go build -o "$MADE/goserver" $here/server.go
! command -v go >/dev/null || [ "$MADE/goresolve" -nt $here/resolve.go ] || go build -o "$MADE/goresolve" $here/resolve.go
! command -v javac >/dev/null || [ "$MADE/Resolve.class" -nt $here/Resolve.java ] || javac -d "$MADE" $here/Server.java $here/Resolve.java

# views_of NAME: those that are wanted.
views_of() {
    local one
    for one in "${ALL[@]}"; do
        # shellcheck disable=SC2053
        [[ ${one%.*} == "$1" && ($1 == $ONLY || $one == $ONLY) ]] || continue
        [ -z "$OPEN" ] && grep -qxF "$one" $here/open || echo "${one##*.}"
    done
}

# What netstall is told to trace in a view.
targets_of() {
    case $1 in
    client) echo "-p $(field client "$ready")" ;;
    server) echo "-p $(field server "$ready")${children:+ --children}" ;;
    both) echo "-p $(field client "$ready"),$(field server "$ready")${children:+ --children}" ;;
    esac
}

# play NAME VIEW...: all views at once, each by a netstall of its own.
play() {
    local all=$SCRATCH name=$1 view ready children
    declare -A tracers
    mkfifo "$all/gate"
    /usr/bin/python3 $here/driver.py "$name" "$all" <"$all/gate" >"$all/driver" 2>"$all/driver.err" &
    DRIVER=$!
    exec {GATE}>"$all/gate"
    if ! await_line '^ready' "$all/driver" $DRIVER; then
        wait $DRIVER
        [ $? = 77 ] && skip "$(tail -n 1 "$all/driver.err")"
        fail "the programs did not start: $(tail -n 1 "$all/driver.err")"
    fi
    ready=$(grep '^ready' "$all/driver")
    children=$(field children "$ready")
    for view in "${@:2}"; do
        mkdir "$all/$view"
        # shellcheck disable=SC2046
        "$NETSTALL" trace --json $(targets_of "$view") >"$all/$view/trace" 2>"$all/$view/trace.err" &
        tracers[$view]=$!
    done
    for view in "${!tracers[@]}"; do
        await_line 'netstall: tracing' "$all/$view/trace.err" "${tracers[$view]}" ||
            fail "netstall did not attach: $(head -c 400 "$all/$view/trace.err")"
    done
    echo go >&"$GATE"
    wait_for 30 gone $DRIVER || fail "the driver did not end"
    wait $DRIVER || fail "the driver failed: $(tail -n 1 "$all/driver.err")"
    for view in "${!tracers[@]}"; do
        SCRATCH=$all/$view TRACE_PID=${tracers[$view]}
        end_trace
        SCRATCH=$all
        tail -n 1 "$all/driver" | /usr/bin/python3 $here/judge.py "$view" "$all/$view/report" >"$all/$view/wrong" 2>&1
        [ $? != 77 ] || mv "$all/$view/wrong" "$all/$view/machine"
    done
}

end_play() {
    local pids
    pids=$(jobs -p)
    # shellcheck disable=SC2086
    [ -z "$pids" ] || kill $pids 2>/dev/null
    wait 2>/dev/null
}

run_case() {
    local name=$1 status view views failed=0
    mapfile -t views < <(views_of "$name")
    [ ${#views[@]} -gt 0 ] || return 0
    SCRATCH=$(mktemp -d -p "$WORK")
    ( trap end_play EXIT; play "$name" "${views[@]}"; exit 0 ) </dev/null 2>"$SCRATCH/err"
    status=$?
    case $status in
    0) ;;
    77) echo "skip programs/$name: $(head -c 300 "$SCRATCH/why")" ;;
    *) echo "not ok programs/$name: $(cat "$SCRATCH"/why "$SCRATCH"/*/why "$SCRATCH/err" 2>/dev/null | head -c 400 | tr '\n' ' ')" && failed=1 ;;
    esac
    for view in "${views[@]}"; do
        if [ -e "$SCRATCH/$view/machine" ]; then
            echo "skip programs/$name.$view: $(cat "$SCRATCH/$view/machine")"
            echo "$name.$view" >>"$WORK/slow"
        fi
        [ -e "$SCRATCH/$view/wrong" ] || continue
        if [ ! -s "$SCRATCH/$view/wrong" ]; then
            echo "ok programs/$name.$view"
        else
            echo "not ok programs/$name.$view: $(head -c 600 "$SCRATCH/$view/wrong" | tr '\n' ' ')" && failed=1
        fi
    done
    if [ -n "$KEPT" ]; then
        for view in "$SCRATCH"/*/wrong; do
            [ -s "$view" ] || continue
            rm -rf "${KEPT:?}/$name" && mkdir -p "$KEPT/$name" && cp -r "$SCRATCH"/{client,server,both,driver,*.log} "$KEPT/$name/" 2>/dev/null
        done
    fi
    chmod -R u+rwX "$SCRATCH" 2>/dev/null
    rm -rf "$SCRATCH"
    return $failed
}

# The one of `running` that ends first: what it said, in one piece.
failed=0
declare -A running=()
end_one() {
    local pid
    wait -n -p pid "${!running[@]}" || failed=1
    cat "$WORK/${running[$pid]}"
    unset "running[$pid]"
}

mapfile -t ALL < <(/usr/bin/python3 $here/driver.py --list)
day=$([ "$ONLY" = '*' ] && echo "${NETSTALL_DAY:-all}")
for name in $(printf '%s\n' "${ALL[@]%.*}" | uniq | sed 's/^/program &/' | awk -v day="$day" -f tests/day.awk); do
    [ ${#running[@]} -lt "${CASES_AT_ONCE:-2}" ] || end_one
    run_case "$name" >"$WORK/$name" &
    running[$!]=$name
done
while [ ${#running[@]} -gt 0 ]; do end_one; done
if [ "$ONLY" = '*' ]; then
    mapfile -t slow < <(cat "$WORK/slow" 2>/dev/null)
    if [ ${#slow[@]} -le $MACHINE_SKIPS ]; then
        echo "ok programs/machine: ${#slow[@]} views skipped because it was busy"
    else
        echo "not ok programs/machine: ${#slow[@]} views skipped because it was busy, at most $MACHINE_SKIPS may be: ${slow[*]}"
        failed=1
    fi
fi
echo "end programs"
exit $failed
