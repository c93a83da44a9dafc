#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#
# Random programs with a known truth under `netstall trace`: what each end's report says of its requests, against what the programs
# logged (play.py makes and plays them, judge.py compares).
#
#   run.sh [--seeds A-B] [--listed] [--new N] [--only PATTERN] [--keep DIR] [-v]
#
# Without an option the fixed ones, the file `cases`: a seed that was wrong is added there, with its plan. Two at a time (CASES_AT_ONCE).
#
# --seeds   the programs of these seeds instead
# --listed  also each listed view that is wrong (the file `wrong`) ten times (LISTED_RUNS): one that is right each time must be taken out
# --new     also those of N seeds that nobody has run; it prints the first. Of their views as many have to be right as the file `rate`
#           says, but for chance (tests/scenarios/bars.awk)
# --only    those that match, by SEED, SEED.VIEW, listed-SEED.VIEW, `rate` or `machine`, which is all
# --keep    leaves the logs and reports of each seed with a view that is wrong there
# -v        what was true and what was said of each view
# One line a view, `ok random/SEED.VIEW`, `not ok ...: what differs` or `skip ...: why`. A view in the file `wrong` is `ok ...: listed`
# where it is wrong by the kinds that are listed, and is named behind `# no longer wrong` where it is right. Behind them random/machine,
# not ok where more than $MACHINE_SKIPS views were skipped because the machine was busy, a summary, and `end random`.
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 2

MACHINE_SKIPS=8 # of some 35 views: what is left still has each kind of step and each view
LISTED_RUNS=${LISTED_RUNS:-10}
here=tests/random
ONLY='*' KEPT='' SEEDS='' LISTED='' NEW=0 VERBOSE=''
while [ $# -gt 0 ]; do
    case $1 in
    --seeds) SEEDS=$2 && shift ;;
    --listed) LISTED=1 ;;
    --new) NEW=$2 && shift ;;
    --only) ONLY=$2 && shift ;;
    --keep) KEPT=$2 && shift ;;
    -v) VERBOSE=-v ;;
    *) echo "run.sh: no option $1" >&2 && exit 64 ;;
    esac
    shift
done

export NETSTALL=${NETSTALL:-build/netstall} RANDOM_PROGRAM=${RANDOM_PROGRAM:-build/tests/random/random}
[ "$(id -u)" = 0 ] || { echo "skip random: tracing needs root" && exit 0; }
if ! said=$("$NETSTALL" doctor); then
    echo "skip random: $(grep '^Tracing is not possible' <<<"$said")"
    exit 0
fi
WORK=$(mktemp -d)
trap 'rm -rf "$WORK"' EXIT
failed=0

# play_one NAME SEED|PLAN...: prints the lines of its views.
play_one() {
    local name=$1 folder=$WORK/play.$1 list=$here/wrong status
    shift
    [ -z "$SEEDS" ] || list=/dev/null
    mkdir "$folder"
    /usr/bin/python3 $here/play.py "$folder" "$@" >"$folder/said" 2>&1
    status=$?
    case $status in
    0)
        /usr/bin/python3 $here/judge.py $VERBOSE --list $list "${name%%-*}" "$folder" 2>&1
        status=$?
        ;;
    77) echo "skip random/${name%%-*}: $(tail -n 1 "$folder/said")" && status=0 ;;
    *) echo "not ok random/${name%%-*}: it could not be played: $(tail -n 1 "$folder/said")" ;;
    esac
    if [ -n "$KEPT" ] && [ $status != 0 ]; then
        mkdir -p "$KEPT" && rm -rf "${KEPT:?}/$name" && cp -r "$folder" "$KEPT/$name"
    fi
    rm -rf "$folder"
}

# play_all FILE: each line is NAME SEED or NAME PLAN; what is said is in the order of the lines, in FILE.said.
declare -A running=()
play_all() {
    local name plan pid
    while read -r name plan; do
        if [ ${#running[@]} -ge "${CASES_AT_ONCE:-2}" ]; then
            wait -n -p pid "${!running[@]}"
            unset "running[$pid]"
        fi
        # shellcheck disable=SC2086 # words
        play_one "$name" $plan </dev/null >"$WORK/said.$name" &
        running[$!]=$name
    done <"$1"
    while [ ${#running[@]} -gt 0 ]; do
        wait -n -p pid "${!running[@]}"
        unset "running[$pid]"
    done
    while read -r name plan; do cat "$WORK/said.$name"; done <"$1" >"$1.said"
}

# What is in a file of lines, without its comments.
lines_of() { grep -vE '^(#|$)' "$1"; }

# summary FILE: how many views were right, by view and by kind of fault. A seed that could not be played counts as a view.
summary() {
    awk '
        /^(ok|not ok) random\// {
            name = $0; sub(/^(not )?ok random\/[0-9]+\.?/, "", name); sub(/:.*/, "", name)
            if (!(name in all)) order[++views] = name
            all[name]++; n++
            if (/^ok/ && !/: listed as wrong: /) { right[name]++; good++; next }
            text = $0; sub(/^[^:]*: (listed as wrong: )?/, "", text)
            count = split(text, part, "; ")
            for (i = 1; i <= count; i++) { sub(/ .*/, "", part[i]); if (!(part[i] in kind)) kinds[++k] = part[i]; kind[part[i]]++ }
        }
        END {
            printf "# random: %d of %d views are right", good, n
            for (i = 1; i <= views; i++) printf "%s %s %d of %d", i == 1 ? ":" : ",", order[i] == "" ? "played" : order[i], right[order[i]], all[order[i]]
            for (i = 1; i <= k; i++) printf "%s %s %d", i == 1 ? "; wrong:" : ",", kinds[i], kind[kinds[i]]
            print ""
        }' "$1"
}

wanted() { # NAME: is it, or a view of it, one that matches?
    # shellcheck disable=SC2053
    [[ $1 == $ONLY || $1 == ${ONLY%.*} || $ONLY == "*" ]]
}

# ---- the fixed ones, or those of the seeds that are asked for ----

[ "$ONLY" != machine ] || { ONLY='*' LISTED='' NEW=0; }
: >"$WORK/cases"
if [ -n "$SEEDS" ]; then
    for ((seed = ${SEEDS%-*}; seed <= ${SEEDS#*-}; seed++)); do echo "$seed $seed"; done
else
    lines_of $here/cases
fi | while read -r name plan; do ! wanted "$name" || echo "$name $plan"; done >"$WORK/cases"
play_all "$WORK/cases"
while IFS= read -r line; do
    name=${line#*random/}
    # shellcheck disable=SC2053
    [[ $line == "#"* || $ONLY != *.* || ${name%%:*} == $ONLY ]] || continue
    echo "$line"
    [[ $line != "not ok"* ]] || failed=1
done <"$WORK/cases.said"
[ ! -s "$WORK/cases" ] || summary "$WORK/cases.said"
if [ "$ONLY" = '*' ] && [ -z "$SEEDS" ]; then
    slow=$(sed -n 's/^skip random\/\([^:]*\):.*/\1/p' "$WORK/cases.said" | paste -sd' ')
    if [ "$(wc -w <<<"$slow")" -le $MACHINE_SKIPS ]; then
        echo "ok random/machine: $(wc -w <<<"$slow") views skipped because it was busy"
    else
        echo "not ok random/machine: at most $MACHINE_SKIPS views may be skipped because it was busy: $slow"
        failed=1
    fi
fi

# ---- what is listed as wrong: is it still? ----

if [ -n "$LISTED" ] || [[ $ONLY == listed-* ]]; then
    lines_of $here/wrong | while read -r view _; do
        # shellcheck disable=SC2053
        [[ listed-$view != $ONLY ]] || echo "$view"
    done >"$WORK/views"
    sed 's/\..*//' "$WORK/views" | sort -un | while read -r seed; do
        plan=$(lines_of $here/cases | sed -n "s/^$seed //p")
        for ((i = 0; i < LISTED_RUNS; i++)); do echo "$seed-$i $plan"; done
    done >"$WORK/again"
    play_all "$WORK/again"
    while read -r view; do
        right=$(grep -c "^ok random/$view$" "$WORK/again.said")
        wrong=$(grep -cE "^(not ok random/$view:|ok random/$view: listed)" "$WORK/again.said")
        if [ "$wrong" = 0 ] && [ "$right" -ge $((LISTED_RUNS / 2)) ]; then
            echo "not ok random/listed-$view: right in $right of $right runs, remove it from $here/wrong"
            failed=1
        else
            echo "ok random/listed-$view: wrong in $wrong of $((right + wrong)) runs"
        fi
    done <"$WORK/views"
fi

# ---- new ones ----

if [ "$NEW" -gt 0 ] && [[ $ONLY == @(rate|'*') ]]; then
    # Of each day its own.
    first=$((100000 + ($(date +%s) / 86400) % 1000000 * 1000))
    echo "# random: new seeds $first-$((first + NEW - 1)): tests/random/run.sh --seeds $first-$((first + NEW - 1)) plays them again"
    for ((seed = first; seed < first + NEW; seed++)); do echo "$seed $seed"; done >"$WORK/new"
    play_all "$WORK/new"
    grep -v '^ok' "$WORK/new.said" | sed 's/^/# /'
    summary "$WORK/new.said"
    right=$(grep -c '^ok' "$WORK/new.said") all=$(grep -cE '^(not )?ok' "$WORK/new.said")
    if text=$(awk -v quick=1 -f tests/scenarios/bars.awk $here/rate <(awk "BEGIN { print \"views 1\", $right / ($all + !$all), $all, 0 }")) &&
        [ "$all" -gt "$NEW" ]; then
        echo "ok random/rate: ${text#*views: }"
    else
        echo "not ok random/rate: ${text#*views: }"
        failed=1
    fi
fi
echo "end random"
exit $failed
