#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#
# Plays the scenarios under `netstall trace` and compares what it names with what they know.
#
#   score.sh [--attach WAY] [--label LABEL] [--quick] [--only PATTERN] [--keep DIR] [--again DIR] [--record [--lower REASON]]
#
# --attach  forces a way (fentry, kprobe, tracepoint); a way that this kernel refuses is one `skip` (WAY_IS_SURE=1: is not looked for)
# --quick   the scenarios marked quick; --only: those whose name matches (then nothing is compared with the record), or `matrix`
#           or `machine`, which is all of them
# --keep    leaves of each scenario with a wrong name its truth, its report and the pairs there
# --again   of `matrix` only what was at fault in the run that left DIR: these causes, by the scenarios that had to do with them
# --record  writes tests/scenarios/recorded/WAY-KERNEL[-quick] instead of comparing with it. What is recorded is never lowered
#           unless --lower says why: the reason is written beside the value. A cause that did not run keeps its record.
#
# NETSTALL_DAY: of all scenarios those of that day (tests/day.awk); the cause that one makes is its class.
#
# Prints a line for each scenario, `ok`, `not ok NAME: why` or `skip`, then behind `#` the confusion matrix and each cause, then one
# line for them all, LABEL/matrix, one for what was skipped because the machine was slow, LABEL/machine, and `end LABEL`. A scenario
# fails when it does not make its own stalls, the matrix when the precision or recall of a cause is too low for chance (bars.awk),
# or when a recorded cause is absent. Exit status 1 if any failed.
set -uo pipefail
cd "$(dirname "$0")/../.."

ATTACH=() LABEL=score QUICK='' ONLY='' KEEP='' AGAIN='' RECORD='' LOWER='' WAY=
while [ $# -gt 0 ]; do
    case $1 in
    --attach) ATTACH=(-C "attach=$2") WAY=$2 && shift ;;
    --label) LABEL=$2 && shift ;;
    --quick) QUICK=1 ;;
    --only) ONLY=$2 && shift ;;
    --keep) KEEP=$2 && shift ;;
    --again) AGAIN=$2/matrix && shift ;;
    --record) RECORD=1 ;;
    --lower) LOWER=$2 && shift ;;
    *) echo "score.sh: no option $1" >&2 && exit 64 ;;
    esac
    shift
done
[ "$ONLY" = matrix ] && [ -s "$AGAIN/causes" ] && [ -s "$AGAIN/scenes" ] || AGAIN=
[[ $ONLY != @(matrix|machine) ]] || ONLY=

. tests/live/lib.sh
# The truth itself says what the machine added.
judge_machine() { :; }
# That a report agrees with itself is looked at on a real machine: the analysis is the same, and Python takes seconds to start.
# shellcheck disable=SC2317 # end_trace calls it
[ -z "$QUICK" ] || contradictions() { :; }
SCENE=${SCENE:-build/tests/scenarios/scene}
here=tests/scenarios
SCENE_LIMIT=${SCENE_LIMIT:-$([ -n "$QUICK" ] && echo 180 || echo 60)} # seconds; then it hangs
LEAST_STALLS=8              # of each cause: what makes fewer is played again
MACHINE_SKIPS=3             # at most so many scenes of a run are skipped because the machine was slow
LANES=${LANES:-2}           # so many netstalls at a time
AT_ONCE=${AT_ONCE:-5}       # scenes under one netstall: most of them sleep nearly all the time
# On an emulated machine netstall takes 10 s to start. There are 8 stalls of each cause there too: the rows promise less than they make.
[ -z "$QUICK" ] || LEAST_STALLS=6 LANES=1 AT_ONCE=8

[ "$(id -u)" = 0 ] || { echo "skip $LABEL: tracing needs root" && exit 0; }
if [ -z "${WAY_IS_SURE:-}" ] && ! said=$("$NETSTALL" doctor "${ATTACH[@]}"); then
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
# its file "skip" or "fail", or "machine" where that was slow, and the others go on.
left_out() { [ -e "$SCRATCH/$1/skip" ] || [ -e "$SCRATCH/$1/machine" ] || [ -e "$SCRATCH/$1/fail" ]; }

# start_scene NAME: it waits at its gate then.
start_scene() {
    local here=$SCRATCH/$1
    mkdir "$here" && mkfifo "$here/gate"
    timeout "$SCENE_LIMIT" "$SCENE" "${1%.[0-9]}" <"$here/gate" >"$here/truth" 2>"$here/err" &
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

# ran_json NAME: how long the scene's threads ran in each request, ms.
ran_json() {
    awk '/^request / {
        for (i = 2; i <= NF; i++) { split($i, part, "="); value[part[1]] = part[2] }
        printf "%s{\"from\":%.6f,\"to\":%.6f,\"ran\":%.6f}", comma, value["start_ns"] / 1e6, value["end_ns"] / 1e6, value["ran_ns"] / 1e6
        comma = ","
    }
    BEGIN { printf "[" } END { print "]" }' "$SCRATCH/$1/truth"
}

# judge_truth NAME: the scene made the stalls that it is there for, as its row says. The machine's own take from them.
judge_truth() {
    local cause=${CAUSE[$1]} made took machine file=$SCRATCH/$1/fail
    # How long a disk takes is the disk's affair.
    [ "$cause" != disk ] || file=$SCRATCH/$1/machine
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
        sed 's/^busy: //; s/$/;/' "$SCRATCH/$1/verdict" >"$SCRATCH/$1/machine"
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
    no_longer
    wait_turn "$1"
    echo go | timeout "$SCENE_LIMIT" "$SCENE" -f "${1%.[0-9]}" >"$SCRATCH/$1/followed" 2>"$SCRATCH/$1/err" ||
        { echo "with its advice followed: $(tail -n 1 "$SCRATCH/$1/err")" >"$SCRATCH/$1/fail" && return; }
    end_turn
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
    ran_json "$1" >"$SCRATCH/$1/ran"
    gojq -r --argjson truth "$(truth_json "$1")" --slurpfile ran "$SCRATCH/$1/ran" --argjson begin_ns "$(field begin_ns "$done")" \
        --argjson until_ns "$(field end_ns "$done")" --argjson pids "[$(field pids "$(grep '^ready' "$truth")")]" \
        --argjson alone "$alone" --arg makes "${CAUSE[$1]}" --argjson emulated "$([ -n "$QUICK" ] && echo true || echo false)" -f $here/match.jq "$SCRATCH/report" >"$SCRATCH/$1/pairs" ||
        echo "the report does not compare" >"$SCRATCH/$1/fail"
}

# wait_turn NAME: scenes with a verdict go ahead of other programs. What takes a CPU plays when no other such scene does. Who waits for
# that is not overtaken; and that netstall starts beside it does not matter.
wait_turn() {
    case ${COMPANY[$1]} in turn) flock "$DOOR" && flock "$TURN" ;; own) flock "$DOOR" && flock -s "$TURN" ;; esac
    flock -u "$DOOR"
}
end_turn() { flock -u "$TURN"; }

# What works beside scenes that play gives way to them, and to ksoftirqd, which carries their packets; a neighbour of one that plays alone
# would leave it nothing.
give_way() { [ "$LANES" = 1 ] || [ "${COMPANY[${BATCH[0]}]}" = alone ] || renice -n 19 "$BASHPID" >"$SCRATCH/renice"; }
# shellcheck disable=SC2046 # numbers
no_longer() { [ "$LANES" = 1 ] || renice -n 0 "$BASHPID" $(ls "/proc/$TRACE_PID/task" 2>/dev/null) >"$SCRATCH/renice" 2>&1; }

# play OPTIONS: the scenes of BATCH, under one netstall. A verdict is of one scene.
play() {
    local name alone=false TARGETS=
    declare -A SCENE_PID GATES
    [ ${#BATCH[@]} -gt 1 ] || alone=true
    for name in "${BATCH[@]}"; do start_scene "$name"; done
    for name in "${BATCH[@]}"; do await_scene "$name"; done
    [ -n "$TARGETS" ] || exit 0
    give_way
    # shellcheck disable=SC2086
    start_trace -p "$TARGETS" $1
    no_longer
    for name in "${BATCH[@]}"; do left_out "$name" || { wait_turn "$name" && open_scene "$name"; }; done
    for name in "${BATCH[@]}"; do left_out "$name" || end_scene "$name"; done
    end_turn
    give_way
    end_trace
    for name in "${BATCH[@]}"; do
        left_out "$name" || judge_truth "$name"
        left_out "$name" || compare_scene "$name"
        left_out "$name" || ! $alone || judge_verdict "$name" || echo "the report has no verdict to compare" >"$SCRATCH/$name/fail"
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

# The machine was busy, or only a time or a share is off, and others played beside it: it is played again, alone. No wrong cause is.
was_disturbed() { # NAME
    local verdict=$SCRATCH/$1/verdict
    [ "$LANES" != 1 ] && [[ ${COMPANY[$1]} == @(own|turn) ]] && [ -s "$verdict" ] &&
        { grep -q '^busy' "$verdict" || ! grep -Evq '^(median|p99) request |% of the requests. time, not ' "$verdict"; }
}

# A slow machine took each stall of the cause that it is there for: of it nothing would be known.
made_none() { # NAME
    [[ ${COMPANY[$1]} != alone && ${CAUSE[$1]} != none && -s $SCRATCH/$1/pairs ]] && ! grep -q "^${CAUSE[$1]} " "$SCRATCH/$1/pairs"
}

judge_scene() { # NAME
    local wrong='' right
    if was_disturbed "$1" || made_none "$1"; then
        echo "# $LABEL: $1 is played again alone: $(cat "$SCRATCH/$1/verdict" "$SCRATCH/$1/pairs" 2>/dev/null | head -c 300 | tr '\n' ' ')"
        COMPANY[$1]=alone alone+=("$1 ${OPTIONS[$1]}")
    elif [ -e "$SCRATCH/$1/skip" ]; then
        echo "skip $LABEL/$1: $(head -c 300 "$SCRATCH/$1/skip")"
    elif [ -e "$SCRATCH/$1/machine" ]; then
        echo "skip $LABEL/$1: $(head -c 300 "$SCRATCH/$1/machine")"
        slow+=("$1")
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

# start_batch OPTIONS: in a lane of its own, when one is free.
start_batch() {
    [ ${#BATCH[@]} -gt 0 ] || return 0
    [ ${#lanes[@]} -lt "$LANES" ] || end_batch
    SCRATCH=$(mktemp -d -p "$WORK") CASE=${BATCH[0]}
    # Opened here: a lock that is inherited would be one and the same.
    ( trap end_play EXIT; exec {TURN}>"$WORK/turn" {DOOR}>"$WORK/door"; play "$1"; exit 0 ) </dev/null 2>"$SCRATCH/err" &
    lanes[$!]="$SCRATCH ${BATCH[*]}"
    BATCH=()
}

# The batch that ends first.
end_batch() {
    local pid names name
    wait -n -p pid "${!lanes[@]}"
    read -r SCRATCH names <<<"${lanes[$pid]}"
    unset "lanes[$pid]"
    for name in $names; do judge_scene "$name"; done
    [ -n "${backend:-}" ] || backend=$(gojq -r .tool.backend "$SCRATCH/report" 2>/dev/null)
    rm -rf "$SCRATCH"
}

end_batches() { while [ ${#lanes[@]} -gt 0 ]; do end_batch; done; }

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

# record: what is there already stays, unless it is lowered with a reason; `unknown` is lowered by a higher share.
record() {
    local file
    file=$(record_file)
    mkdir -p "$here/recorded"
    touch "$file"
    while read -r cause precision recall _; do
        echo "$cause $precision $recall $(bar "$cause")"
    done <"$WORK/figures" | awk -v label="$LABEL" -v reason="$LOWER" -f $here/record.awk old=1 "$file" old=0 - >"$file.new" 2>"$WORK/said" &&
        [ -s "$file.new" ] && mv "$file.new" "$file" && echo "# recorded in $file"
    cat "$WORK/said"
}

# keep_faults CAUSE...: the scenarios that have to do with them.
keep_faults() {
    local name
    mkdir -p "$KEEP/matrix" && cp "$WORK/pairs" "$KEEP/matrix/"
    printf '%s\n' "$@" >"$KEEP/matrix/causes"
    {
        awk 'FNR == NR { fault[$1] = 1; next } $2 in fault || $3 in fault { print $1 }' "$KEEP/matrix/causes" "$WORK/pairs"
        for name in "${!CAUSE[@]}"; do [[ " $* " != *" ${CAUSE[$name]} "* ]] || echo "$name"; done
    } | sed 's/\.[0-9]$//' | sort -u >"$KEEP/matrix/scenes"
}

compare() {
    local file faults played=$WORK/bars
    file=$(record_file)
    [ -s "$file" ] || { echo "skip $LABEL/matrix: there is no $file; score.sh --record makes it" && return; }
    awk -v quick="${QUICK:-0}" -f $here/bars.awk "$file" "$WORK/figures" >"$WORK/bars"
    if [ -n "$AGAIN" ]; then
        awk -F'[ :]' 'FNR == NR { fault[$1] = 1; next } $2 in fault' "$AGAIN/causes" "$WORK/bars" >"$WORK/of-faults" && mv "$WORK/of-faults" "$WORK/bars"
        played=$WORK/pairs # of a cause that no scene is of and that is named no more there is no line
    fi
    sed "s|^|# $LABEL: |" "$WORK/bars"
    faults=$(sed -n 's/^fault //p' "$WORK/bars")
    if [ -z "$faults" ] && [ -s "$played" ]; then
        echo "ok $LABEL/matrix: ${AGAIN:+$(paste -sd' ' "$AGAIN/causes"), of }$(grep -vc '^#' "$file") causes as in the record"
    else
        echo "not ok $LABEL/matrix: $(sed ':a; N; $!ba; s/\n/; /g' <<<"$faults")"
        # shellcheck disable=SC2046 # words
        [ -z "$KEEP" ] || keep_faults $(sed -n 's/^fault \([^:]*\):.*/\1/p' "$WORK/bars")
        failed=1
    fi
}

judge_slow_machine() {
    if [ ${#slow[@]} -le $MACHINE_SKIPS ]; then
        echo "ok $LABEL/machine: ${#slow[@]} scenes skipped because it was slow"
    else
        echo "not ok $LABEL/machine: ${#slow[@]} scenes skipped because it was slow, at most $MACHINE_SKIPS may be: ${slow[*]}"
        failed=1
    fi
}

failed=0 BATCH=() slow=()
declare -A lanes=() # PID: folder and scenes
declare -A CAUSE COUNT SHARE FOLLOWS COMPANY OPTIONS
alone=() # scenes and options, to be played behind the others

# scenes: the rows to be played. Of a cause of which they would make too few stalls each comes more than once, as NAME, NAME.2, ...:
# of a few stalls nothing follows.
scenes() {
    local name cause count share when company follows options day=${NETSTALL_DAY:-all}
    [ -z "$ONLY$QUICK$AGAIN$RECORD" ] || day=all
    while read -r name cause count share when company follows options; do
        [ -z "$QUICK" ] || [ "$when" = quick ] || continue
        [ -n "$ONLY" ] || [ "$when" != open ] || continue
        # shellcheck disable=SC2053
        [ -z "$ONLY" ] || [[ $name == ${ONLY%.[0-9]} ]] || continue
        [ -z "$AGAIN" ] || grep -qx "$name" "$AGAIN/scenes" || continue
        echo "$cause $name $cause $count $share $when $company $follows $options"
    done < <("$SCENE" --list) | awk -v day="$day" -f tests/day.awk | awk -v least="$([ -n "$ONLY" ] || echo $LEAST_STALLS)" '
        { line[NR] = $0; total[$2] += $3 }
        END {
            for (i = 1; i <= NR; i++) {
                $0 = line[i]
                name = $1
                print
                # What is followed is followed once.
                for (k = 2; $2 != "none" && (k - 1) * total[$2] < least; k++) { $1 = name "." k; $7 = "-"; print }
            }
        }'
}

# What is about the machine runs behind the others, one by one. The analysis is the same on every kernel, so an emulated machine judges no
# verdicts: what it plays is played beside others, unless it is about the CPUs or their clocks.
play_all() {
    local name cause count share when company follows options waiting i
    while read -r -u 3 name cause count share when company follows options; do
        [ -z "$QUICK" ] || [[ $cause == @(runqueue|pacing) ]] || company=any
        CAUSE[$name]=$cause COUNT[$name]=$count SHARE[$name]=$share FOLLOWS[$name]=$follows
        COMPANY[$name]=$company OPTIONS[$name]=$options
        case $company in
        any)
            BATCH+=("$name")
            [ ${#BATCH[@]} -lt "$AT_ONCE" ] || start_batch ''
            ;;
        own | turn) waiting=("${BATCH[@]}") BATCH=("$name") && start_batch "$options" && BATCH=("${waiting[@]}") ;;
        alone) alone+=("$name $options") ;;
        esac
    done 3< <(scenes)
    start_batch ''
    end_batches
    for ((i = 0; i < ${#alone[@]}; i++)); do
        read -r name options <<<"${alone[i]}"
        BATCH=("$name") && start_batch "$options" && end_batches
    done
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
    [ -n "$AGAIN" ] || judge_slow_machine
fi
echo "end $LABEL"
exit "$failed"
