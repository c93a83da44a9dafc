#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#
# Plays the scenarios under `netstall trace` and compares what it names with what they know.
#
#   score.sh [--attach WAY] [--label LABEL] [--quick] [--only PATTERN] [--keep DIR] [--record]
#
# --attach  forces a way (fentry, kprobe, tracepoint); a way that this kernel refuses is one `skip`
# --quick   the scenarios marked quick; --only: those whose name matches (then nothing is compared with the record), or `matrix`,
#           which is all of them
# --keep    leaves of each scenario with a wrong name its truth, its report and the pairs there
# --record  writes tests/scenarios/recorded/WAY-KERNEL[-quick] instead of comparing with it; if it is there, it keeps the lower
#           values of both
#
# Prints a line for each scenario, `ok`, `not ok NAME: why` or `skip`, then behind `#` the confusion matrix and each cause, then one
# line for them all, LABEL/matrix, and `end LABEL`. A scenario fails when it does not make its own stalls, the matrix when the
# precision or recall of a cause falls below the recorded one. Exit status 1 if any failed.
set -uo pipefail
cd "$(dirname "$0")/../.."

ATTACH=() LABEL=score QUICK='' ONLY='' KEEP='' RECORD='' WAY=
while [ $# -gt 0 ]; do
    case $1 in
    --attach) ATTACH=(-C "attach=$2") WAY=$2 && shift ;;
    --label) LABEL=$2 && shift ;;
    --quick) QUICK=1 ;;
    --only) ONLY=$2 && shift ;;
    --keep) KEEP=$2 && shift ;;
    --record) RECORD=1 ;;
    *) echo "score.sh: no option $1" >&2 && exit 64 ;;
    esac
    shift
done
[ "$ONLY" != matrix ] || ONLY=

. tests/live/lib.sh
# The truth itself says what the machine added.
judge_machine() { :; }
SCENE=${SCENE:-build/tests/scenarios/scene}
here=tests/scenarios
SCENE_LIMIT=${SCENE_LIMIT:-$([ -n "$QUICK" ] && echo 180 || echo 60)} # seconds; then it hangs
AT_ONCE=${AT_ONCE:-5} # scenes under one netstall: most of them sleep nearly all the time

[ "$(id -u)" = 0 ] || { echo "skip $LABEL: tracing needs root" && exit 0; }
if ! said=$("$NETSTALL" doctor "${ATTACH[@]}"); then
    echo "skip $LABEL: $(grep '^Tracing is not possible' <<<"$said")"
    exit 0
fi

# Where it is a module; the qdisc's comes by itself.
modprobe -q tun 2>/dev/null

WORK=$(mktemp -d)
trap 'rm -rf "$WORK"' EXIT
: >"$WORK/pairs"
: >"$WORK/savings"

# Scenes are played several at once, each in a folder of its own, $SCRATCH/NAME; what cannot be played leaves the reason in
# its file "skip" or "fail", and the others go on.
left_out() { [ -e "$SCRATCH/$1/skip" ] || [ -e "$SCRATCH/$1/fail" ]; }

# start_scene NAME: it waits at its gate then.
start_scene() {
    local here=$SCRATCH/$1
    mkdir "$here" && mkfifo "$here/gate"
    timeout "$SCENE_LIMIT" "$SCENE" "$1" <"$here/gate" >"$here/truth" 2>"$here/err" &
    SCENE_PID[$1]=$!
    exec {GATE}>"$here/gate"
    GATES[$1]=$GATE
}

# await_scene NAME: its targets join TARGETS.
await_scene() {
    local target status
    if await_line '^ready' "$SCRATCH/$1/truth" "${SCENE_PID[$1]}"; then
        target=$(field target "$(grep '^ready' "$SCRATCH/$1/truth")")
        TARGETS=${TARGETS:+$TARGETS,}$target
        return
    fi
    wait "${SCENE_PID[$1]}"
    status=$?
    tail -n 1 "$SCRATCH/$1/err" >"$SCRATCH/$1/$([ $status = 77 ] && echo skip || echo fail)"
}

open_scene() { echo go >&"${GATES[$1]}"; }

end_scene() {
    local status=0
    wait "${SCENE_PID[$1]}" || status=$?
    GATE=${GATES[$1]}
    exec {GATE}>&-
    case $status in
    0) ;;
    77) tail -n 1 "$SCRATCH/$1/err" >"$SCRATCH/$1/skip" ;;
    124) echo "the scene did not end within $SCENE_LIMIT s" >"$SCRATCH/$1/fail" ;;
    *) echo "the scene failed: $(tail -n 1 "$SCRATCH/$1/err")" >"$SCRATCH/$1/fail" ;;
    esac
}

# truth_json NAME: the scene's stalls, ms.
truth_json() {
    awk '/^stall / {
        for (i = 2; i <= NF; i++) { split($i, part, "="); value[part[1]] = part[2] }
        printf "%s{\"from\":%.6f,\"to\":%.6f,\"queued\":%.6f,\"tid\":%d,\"cause\":\"%s\"}", comma, value["start_ns"] / 1e6,
            value["end_ns"] / 1e6, value["queued_ns"] / 1e6, value["tid"], value["cause"]
        comma = ","
    }
    BEGIN { printf "[" } END { print "]" }' "$SCRATCH/$1/truth"
}

# judge_truth NAME: the scene made the stalls that it is there for, as its row says. The machine's own take from them.
judge_truth() {
    local cause=${CAUSE[$1]} made took machine file=$SCRATCH/$1/fail
    # How long a disk takes is the disk's affair.
    [ "$cause" != disk ] || file=$SCRATCH/$1/skip
    [ "$cause" != none ] || return 0
    read -r made took machine <<<"$(awk -v wanted="$cause" '
        { for (i = 2; i <= NF; i++) { split($i, part, "="); value[part[1]] = part[2] } }
        /^stall / && value["cause"] == wanted { made++; took += value["end_ns"] - value["start_ns"] }
        /^stall / && (value["cause"] == "runqueue" || value["cause"] == "unclear") { machine++ }
        END {
            time = value["end_ns"] - value["begin_ns"]
            printf "%d %.3f %d", made, (time > 0 ? took / time : 0), machine
        }' "$SCRATCH/$1/truth")"
    # An emulated machine takes its time also beside the stalls.
    awk "BEGIN { exit !($made + $machine >= ${COUNT[$1]} && ($took >= ${SHARE[$1]} || $machine || ${QUICK:-0})) }" ||
        echo "it made $made stalls of $cause that took $took of its time, wanted ${COUNT[$1]} and ${SHARE[$1]}" >"$file"
}

# judge_verdict NAME: what the report leads with, and how long its requests took. A machine that is short of CPUs makes
# verdicts of its own.
judge_verdict() {
    local truth=$SCRATCH/$1/truth verdict
    verdict=$(grep '^verdict' "$truth") || return 0
    awk '/^request / {
            split($2, start, "="); split($4, end, "=")
            printf "%s%.6f", comma, (end[2] - start[2]) / 1e6
            comma = ","
        }
        BEGIN { printf "[" } END { print "]" }' "$truth" >"$SCRATCH/$1/requests"
    gojq -r --slurpfile requests "$SCRATCH/$1/requests" --arg cause "$(field cause "$verdict")" --argjson part_ns "$(field part_ns "$verdict")" \
        --argjson queued_ns "$(field queued_ns "$verdict")" --arg says "$(sed -n 's/^says //p' "$truth")" \
        --arg role "$(field role "$verdict")" --arg never "$(sed -n 's/^never //p' "$truth")" \
        --arg part "$(sed -n 's/^part //p' "$truth")" --argjson emulated "$([ -n "$QUICK" ] && echo true || echo false)" \
        -f $here/verdict.jq "$SCRATCH/report" >"$SCRATCH/$1/verdict" || return 1
    [ -s "$SCRATCH/$1/verdict" ] || return 0
    if grep -q '^busy' "$SCRATCH/$1/verdict"; then
        sed 's/^busy: //; s/$/;/' "$SCRATCH/$1/verdict" >"$SCRATCH/$1/skip"
    else
        sed 's/$/;/' "$SCRATCH/$1/verdict" >"$SCRATCH/$1/fail"
    fi
}

# request_ms TRUTH [stalled]: the median request from its first write on, ms; where some of them had a stall, of those. To connect is
# another cause's time, and what is saved of it is no part of what is stated for this one.
request_ms() {
    awk -v stalled_only="${2:-}" '
        { for (i = 2; i <= NF; i++) { split($i, part, "="); value[part[1]] = part[2] } }
        /^stall / { stalls++; from[stalls] = value["start_ns"]; to[stalls] = value["end_ns"] }
        /^request / { requests++; start[requests] = value["written_ns"]; end[requests] = value["end_ns"] }
        END {
            for (r = 1; r <= requests; r++)
                for (s = 1; s <= stalls; s++)
                    if (from[s] < end[r] && to[s] > start[r]) { stalled[r] = 1; any = stalled_only }
            for (r = 1; r <= requests; r++)
                if (!any || stalled[r]) printf "%.3f\n", (end[r] - start[r]) / 1e6
        }' "$1" | sort -n | awk '{ ms[NR] = $1 } END { print NR ? ms[int((NR + 1) / 2)] : "" }'
}

# judge_advice NAME: what is saved when the advice is followed, beside what the verdict says. An advice in vain saves nothing.
judge_advice() {
    local before after stated fault=''
    # What is saved is a time, and on an emulated machine times wander.
    [ "${FOLLOWS[$1]}" != - ] && [ -z "$QUICK" ] || return 0
    echo go | timeout "$SCENE_LIMIT" "$SCENE" -f "$1" >"$SCRATCH/$1/followed" 2>"$SCRATCH/$1/err" ||
        { echo "with its advice followed: $(tail -n 1 "$SCRATCH/$1/err")" >"$SCRATCH/$1/fail" && return; }
    before=$(request_ms "$SCRATCH/$1/truth" stalled) after=$(request_ms "$SCRATCH/$1/followed")
    stated=$(gojq -r '.verdict.saves_ms // "none"' "$SCRATCH/report")
    fault=$(awk -v before="$before" -v after="$after" -v stated="$stated" -v vain="$([ "${FOLLOWS[$1]}" = vain ] && echo 1)" 'BEGIN {
        saved = before - after
        if (vain && saved > 0.2 * before) printf "what is advised in vain saves %.1f of %.1f ms", saved, before
        if (!vain && stated == "none") print "it does not say what is saved"
        if (!vain && stated != "none" && (stated - saved > 0.2 * saved + 1 || saved - stated > 0.2 * saved + 1))
            printf "%.1f ms are to be saved, following saves %.1f of %.1f ms", stated, saved, before
    }')
    echo "$1 ${FOLLOWS[$1]} $before $after $stated" >"$SCRATCH/$1/saving"
    [ -z "$fault" ] || echo "$fault;" >>"$SCRATCH/$1/fail"
}

compare_scene() { # NAME
    local truth=$SCRATCH/$1/truth done
    done=$(grep '^done' "$truth") || { echo "the scene said nothing at its end" >"$SCRATCH/$1/fail" && return; }
    gojq -r --argjson truth "$(truth_json "$1")" --argjson begin_ns "$(field begin_ns "$done")" \
        --argjson until_ns "$(field end_ns "$done")" --argjson pids "[$(field pids "$(grep '^ready' "$truth")")]" \
        --argjson alone "$alone" --arg makes "${CAUSE[$1]}" --argjson emulated "$([ -n "$QUICK" ] && echo true || echo false)" -f $here/match.jq "$SCRATCH/report" >"$SCRATCH/$1/pairs" ||
        echo "the report does not compare" >"$SCRATCH/$1/fail"
}

# play OPTIONS: the scenes of BATCH, under one netstall.
play() {
    local name alone=false TARGETS=
    declare -A SCENE_PID GATES
    [ ${#BATCH[@]} -gt 1 ] || alone=true
    for name in "${BATCH[@]}"; do start_scene "$name"; done
    for name in "${BATCH[@]}"; do await_scene "$name"; done
    [ -n "$TARGETS" ] || exit 0
    # shellcheck disable=SC2086
    start_trace -p "$TARGETS" $1
    for name in "${BATCH[@]}"; do left_out "$name" || open_scene "$name"; done
    for name in "${BATCH[@]}"; do left_out "$name" || end_scene "$name"; done
    end_trace
    for name in "${BATCH[@]}"; do
        left_out "$name" || judge_truth "$name"
        left_out "$name" || compare_scene "$name"
        left_out "$name" || judge_verdict "$name" || echo "the report has no verdict to compare" >"$SCRATCH/$name/fail"
        left_out "$name" || judge_advice "$name"
    done
}

end_play() {
    local pids
    pids=$(jobs -p)
    # shellcheck disable=SC2086
    [ -z "$pids" ] || kill $pids 2>/dev/null
    wait 2>/dev/null
}

judge_scene() { # NAME
    local wrong='' right
    if [ -e "$SCRATCH/$1/skip" ]; then
        echo "skip $LABEL/$1: $(head -c 300 "$SCRATCH/$1/skip")"
    elif [ -e "$SCRATCH/$1/fail" ] || [ ! -e "$SCRATCH/$1/pairs" ]; then
        echo "not ok $LABEL/$1: $(cat "$SCRATCH/$1/fail" "$SCRATCH/why" "$SCRATCH/err" 2>/dev/null | head -c 400 | tr '\n' ' ')"
        wrong=all failed=1
    else
        right=$(awk '$1 == $2' "$SCRATCH/$1/pairs" | wc -l)
        wrong=$(awk '$1 != $2 && $1 != "unclear" { n[$1 " as " $2]++ } END { for (k in n) printf "%d %s, ", n[k], k }' "$SCRATCH/$1/pairs")
        sed "s/^/$1 /" "$SCRATCH/$1/pairs" >>"$WORK/pairs"
        [ ! -e "$SCRATCH/$1/saving" ] || cat "$SCRATCH/$1/saving" >>"$WORK/savings"
        echo "ok $LABEL/$1: $right right${wrong:+; wrong: ${wrong%, }}"
    fi
    [ -z "$KEEP" ] || [ -z "$wrong" ] || { rm -rf "${KEEP:?}/$1"; mkdir -p "$KEEP" && cp -r "$SCRATCH/$1" "$KEEP/$1"; cp "$SCRATCH/report" "$KEEP/$1"; }
}

# run_batch OPTIONS
run_batch() {
    [ ${#BATCH[@]} -gt 0 ] || return 0
    SCRATCH=$(mktemp -d -p "$WORK") CASE=${BATCH[0]}
    ( trap end_play EXIT; play "$1"; exit 0 ) </dev/null 2>"$SCRATCH/err"
    for name in "${BATCH[@]}"; do judge_scene "$name"; done
    [ -n "${backend:-}" ] || backend=$(gojq -r .tool.backend "$SCRATCH/report" 2>/dev/null)
    rm -rf "$SCRATCH"
    BATCH=()
}

# A series of kernels has one record: 6.12 of 6.12.117+deb12-cloud-amd64.
record_file() { echo "$here/recorded/${WAY:-$backend}-$(uname -r | sed 's/^\([0-9]*\.[0-9]*\).*/\1/')${QUICK:+-quick}"; }

# What has to be reached at last; a record need not be better, so that one stall more on a bad day does not fail.
bar() {
    case $1 in
    nagle-delack | nagle | cork | peer-app | lock | timer | runqueue | rto) echo 1.0000 ;;
    unknown) ;;
    *) echo 0.9500 ;;
    esac
}

# Of several runs that are recorded the lowest values hold: a record that a bad day does not reach fails for nothing.
record() {
    local file
    file=$(record_file)
    mkdir -p "$here/recorded"
    touch "$file"
    while read -r cause precision recall _; do
        echo "$cause $precision $recall $(bar "$cause") $(sed -n "s/^$cause //p" "$file")"
    done <"$WORK/figures" | awk '
        function lower(a, b) { return b != "" && b < a ? b : a }
        $1 == "unknown" { share = $2 < 0.02 ? 0.02 : $2; old = $NF; printf "unknown %.4f\n", (NF > 2 && old > share ? old : share); next }
        { printf "%s %.4f %.4f\n", $1, lower(lower($2, $4), $5), lower(lower($3, $4), $6) }' >"$file.new"
    mv "$file.new" "$file"
    echo "# recorded in $file"
}

# Two stalls of each cause may be named otherwise than the record allows: rarely a whole softirq run is visible to no program
# (docs/limits.md), and takes the evidence of one with it. An emulated machine is slow in its own ways: there only a fall by
# a quarter more is one.
SLACK=0 STALLS=2
[ -z "$QUICK" ] || SLACK=0.25

compare() {
    local cause precision recall expected named least_precision least_recall file below=''
    file=$(record_file)
    [ -r "$file" ] || { echo "skip $LABEL/matrix: there is no $file; score.sh --record makes it" && return; }
    while read -r cause least_precision least_recall; do
        read -r precision recall expected named <<<"$(sed -n "s/^$cause //p" "$WORK/figures")"
        if [ "$cause" = unknown ]; then
            echo "# $LABEL: unknown: $precision of the stall time, recorded $least_precision"
            awk "BEGIN { exit !($precision <= $least_precision + $SLACK) }" || below+="unknown is $precision of the stall time, recorded $least_precision; "
        elif [ -z "$precision" ]; then
            echo "# $LABEL: $cause: no scenario of it ran"
        else
            echo "# $LABEL: $cause: precision $precision, recall $recall ($expected stalls), recorded $least_precision and $least_recall"
            awk "function reaches(value, stalls, least) { return value + $STALLS / (stalls ? stalls : 1) >= least - $SLACK - 1e-6 }
                BEGIN { exit !(reaches($precision, $named, $least_precision) && reaches($recall, $expected, $least_recall)) }" ||
                below+="$cause has precision $precision, recall $recall, recorded $least_precision and $least_recall; "
        fi
    done <"$file"
    # A cause that was never named before is named wrongly now.
    [ -n "$QUICK" ] || while read -r cause precision rest; do
        grep -q "^$cause " "$file" || below+="$cause is named or expected, and not in the record; "
    done <"$WORK/figures"
    if [ -z "$below" ]; then
        echo "ok $LABEL/matrix: $(grep -c . "$file") causes as in the record"
    else
        echo "not ok $LABEL/matrix: ${below%; }"
        [ -z "$KEEP" ] || { mkdir -p "$KEEP/matrix" && cp "$WORK/pairs" "$KEEP/matrix/"; }
        failed=1
    fi
}

failed=0 BATCH=()
declare -A CAUSE COUNT SHARE FOLLOWS

play_all() {
    local name cause count share when company follows options waiting
    while read -r -u 3 name cause count share when company follows options; do
        [ -z "$QUICK" ] || [ "$when" = quick ] || continue
        [ -n "$ONLY" ] || [ "$when" != open ] || continue
        # shellcheck disable=SC2053
        [ -z "$ONLY" ] || [[ $name == $ONLY ]] || continue
        CAUSE[$name]=$cause COUNT[$name]=$count SHARE[$name]=$share FOLLOWS[$name]=$follows
        if [ "$company" = alone ]; then
            waiting=("${BATCH[@]}") BATCH=("$name")
            run_batch "$options"
            BATCH=("${waiting[@]}")
        else
            BATCH+=("$name")
            [ ${#BATCH[@]} -lt "$AT_ONCE" ] || run_batch ''
        fi
    done 3< <("$SCENE" --list)
    run_batch ''
}

count_pairs() {
    awk -v form=figures -f $here/matrix.awk "$WORK/pairs" >"$WORK/figures"
    echo "# $LABEL: ${WAY:-$backend} on $(uname -r)"
    awk -v form=matrix -f $here/matrix.awk "$WORK/pairs" | sed 's/^/# /'
}

# What following advice saved, beside what was said of it.
print_savings() {
    [ ! -s "$WORK/savings" ] || awk '
        BEGIN { printf "# %-28s %10s %10s %10s %10s\n", "advice followed", "before", "after", "measured", "stated" }
        { printf "# %-28s %10.1f %10.1f %10.1f %10s\n", $1, $3, $4, $3 - $4, $2 == "vain" ? "in vain" : $5 }' "$WORK/savings"
}

play_all
count_pairs
print_savings
if [ -n "$RECORD" ]; then
    record
elif [ -z "$ONLY" ]; then
    compare
fi
echo "end $LABEL"
exit "$failed"
