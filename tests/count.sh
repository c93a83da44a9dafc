# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# shellcheck shell=bash
#
# Counts the cases of tests, and tells a fault from an unsteady case. Sourced by tests/run.sh, and tested by tests/count_test.sh.
#
# A part is a function run_PART that prints `ok NAME`, `not ok NAME: why` or `skip NAME: why` for each of its cases; all else that it
# prints is shown. Its status is 0, or 1 when a case failed. A part of the kind that may be run again prints `end ...` (or
# `N passed, ...`) as its last line, so that a part which broke off is never taken for a whole one.
#
# A case that hangs on the machine's clock and scheduler (may_run_again) and fails is run again at the end of the run, twice, alone
# (`run_again NAME...`, which the sourcing script defines). When it is right both times it passes, and is listed as unsteady; what
# its first run left stays in $KEPT/NAME. Else it fails, as every other case does at once. More than 1% unsteady cases, of those that
# ran, fail the run. Where more than 1%, and more than five, failed, none is run again: they fail.
#
# A fault that shows in 30% of the runs is right twice in half of the times that it shows. So the file $HISTORY holds how often each
# case was unsteady (tests/history.awk), and one that is so again and again fails the run. Each run begins with $HISTORY, or with
# $HISTORY_NEW where that is newer, writes $HISTORY_NEW and prints it behind `# history:`. Who mends or removes a case takes its line
# out; who has a run to add copies $HISTORY_NEW over $HISTORY. A part of which a fourth ran ($NETSTALL_DAY, $BY_DAY) ran a fourth of a time.
#
# The last lines: `# unsteady: N of N cases: NAME, ...`, `# left running by PART: ...`, `# failed: NAME: why` of each that did, and
# `N passed, N failed, N skipped` alone on its line.

may_run_again() { [[ $1 == @(live|clang/live|san/live|recipes|programs|random|score|vm-*/*)/* ]]; }

KEPT=${KEPT:-build/failed}
HISTORY=${HISTORY:-tests/history}
HISTORY_NEW=${HISTORY_NEW:-build/history}
BY_DAY=${BY_DAY:-live score programs}
passed=0 failed=0 skipped=0
again=()         # cases to be run again
declare -A first # NAME: how it failed first
wrong=()         # each `not ok`, told once more at the end: a thousand lines are between
left=()          # processes that parts have left running, likewise
declare -A ran=() # PART: 1, of what may be run again

ok() { passed=$((passed + 1)) && echo "ok $1"; }
not_ok() {
    failed=$((failed + 1)) wrong+=("$1")
    echo "not ok $1"
}

# Sets `name` to that in a line of a case.
name_of() {
    name=${1#not }
    name=${name#* }
    name=${name%%:*}
}

# Counts the lines of a part. Sets cases, bad (those that failed), ended, and status: the shell may have forgotten that of a process
# which it reads from, so it comes as the last line.
count() {
    local line name
    cases=0 bad=0 ended='' status=none
    while IFS= read -r line || [ -n "$line" ]; do
        case $line in
        "ok "*) ok "${line#ok }" ;;
        "not ok "*)
            bad=$((bad + 1))
            name_of "$line"
            if may_run_again "$name" && [ -z "${first[$name]:-}" ]; then
                again+=("$name") first[$name]=${line#not ok }
                mkdir -p "$KEPT/$name" && echo "$line" >"$KEPT/$name/line"
                echo "# failed, and is run again at the end: ${line#not ok }"
            else
                not_ok "${line#not ok }"
            fi
            ;;
        "skip "*) skipped=$((skipped + 1)) && echo "$line" ;;
        "end "* | [0-9]*" passed, "*) ended=1 && continue ;;
        "part-status "*) status=${line#part-status } && continue ;;
        '') continue ;;
        *) echo "$line" && continue ;;
        esac
        cases=$((cases + 1))
        name_of "$line"
        ! may_run_again "$name" || [ "${line%% *}" = skip ] || ran[${name%/*}]=1
    done
}

# A part, and its status behind it.
run_part() {
    ("run_$1")
    printf '\npart-status %s\n' $?
}

# count_part PART FD: its lines.
count_part() {
    local part=$1 begin=$SECONDS waiting=${#again[@]}
    count <&"$2"
    if [ "$status" = none ] || [ "$status" -gt 1 ] || { [ "$status" = 1 ] && [ "$bad" = 0 ]; }; then
        not_ok "$part: it ended with status $status"
    elif [ "$cases" = 0 ]; then
        not_ok "$part: no case ran"
    elif [ "${#again[@]}" -gt "$waiting" ] && [ -z "$ended" ]; then
        not_ok "$part: it broke off"
    fi
    echo "# $part: $((SECONDS - begin)) s"
}

# end_leftovers PART [RUN]: what it has left running would take the CPUs of the parts behind it. It is told, and ended after two seconds.
export NETSTALL_RUN=$$-$EPOCHSECONDS
end_leftovers() {
    local pid seconds run=${2:-$NETSTALL_RUN}
    for seconds in 0 2; do
        sleep $seconds
        for pid in $(grep -lsz "^NETSTALL_RUN=$run\$" /proc/[0-9]*/environ | grep -o '[0-9]*'); do
            [ -d "/proc/$pid" ] || continue # who looked
            [ $seconds != 0 ] || continue 2
            left+=("left running by $1: $pid $(tr '\0' ' ' <"/proc/$pid/cmdline" | head -c 200)")
            echo "# ${left[-1]}"
            kill -KILL "$pid"
        done
        return
    done
}

# run_parts PART...: one by one. PART,PART...+OTHER... is with others beside them, one by one too: they have what the first ones leave of
# the CPUs (SCHED_IDLE), and are told behind them.
run_parts() {
    local group part parts others others_pid lines said
    for group; do
        IFS=+ read -ra others <<<"$group"
        IFS=, read -ra parts <<<"${others[0]}"
        others=("${others[@]:1}")
        if [ ${#others[@]} -gt 0 ]; then
            said=$(mktemp -d)
            (
                chrt --idle -p 0 "$BASHPID"
                NETSTALL_RUN+=-beside # these go on while what others left is ended
                for other in "${others[@]}"; do run_part "$other" >"$said/$other" 2>&1; done
            ) &
            others_pid=$!
        fi
        for part in "${parts[@]}"; do
            exec {lines}< <(run_part "$part")
            count_part "$part" "$lines"
            exec {lines}<&-
            end_leftovers "$part"
        done
        [ ${#others[@]} = 0 ] || wait "$others_pid"
        for part in "${others[@]}"; do
            exec {lines}<"$said/$part"
            count_part "$part" "$lines"
            exec {lines}<&-
        done
        [ ${#others[@]} = 0 ] || { rm -r "$said" && end_leftovers "${group#*+}" "$NETSTALL_RUN-beside"; }
    done
}

# Runs the cases `again` once more, alone. Those that were right stay, the others fail.
run_once_more() {
    local line name right=()
    declare -A said
    while IFS= read -r line || [ -n "$line" ]; do
        echo "# again: $line"
        name_of "$line"
        # What failed as a whole may be told by its views.
        [[ " ${again[*]} " == *" $name "* ]] || name=${name%.*}
        case $line in
        "ok "*) said[$name]=${said[$name]:-ok} ;;
        "not ok "* | "skip "*) said[$name]=$line ;;
        esac
    done < <(run_again "${again[@]}")
    for name in "${again[@]}"; do
        if [ "${said[$name]:-}" = ok ]; then
            right+=("$name")
        else
            not_ok "${first[$name]}; run again: ${said[$name]:-it did not come to an end}"
        fi
    done
    again=("${right[@]}")
}

# keep_history NAME...: these were unsteady in this run.
keep_history() {
    local old=$HISTORY name
    [ ${#ran[@]} -gt 0 ] && [ -r "$HISTORY" ] || return 0
    [ ! "$HISTORY_NEW" -nt "$HISTORY" ] || old=$HISTORY_NEW
    mkdir -p "$(dirname "$HISTORY_NEW")"
    {
        for name in "${!ran[@]}"; do
            [ "${NETSTALL_DAY:-all}" != all ] && [[ " $BY_DAY " == *" $name "* ]] && echo "fourth $name" || echo "ran $name"
        done
        [ $# = 0 ] || printf 'unsteady %s\n' "$@"
    } | awk -f tests/history.awk "$old" - >"$HISTORY_NEW.now" 2>"$HISTORY_NEW.bad" || { not_ok "history: it cannot be read: $old" && return; }
    mv "$HISTORY_NEW.now" "$HISTORY_NEW"
    sed '/^#/d; s/^/# history: /' "$HISTORY_NEW"
    while IFS= read -r name; do not_ok "history/$name"; done <"$HISTORY_NEW.bad"
}

# The end of the run, and its status.
end_run() {
    local name all begin=$SECONDS list unsteady
    all=$((passed + failed + ${#again[@]}))
    if [ ${#again[@]} -gt $((all < 500 ? 5 : all / 100)) ]; then
        for name in "${again[@]}"; do not_ok "${first[$name]} (one of ${#again[@]}, too many to be run again)"; done
        again=()
    fi
    [ ${#again[@]} = 0 ] || run_once_more
    unsteady=("${again[@]}") # not always wrong
    [ ${#again[@]} = 0 ] || run_once_more
    for name in "${again[@]}"; do ok "$name: unsteady, right twice when run again; see $KEPT/$name"; done
    [ $((100 * ${#again[@]})) -le "$all" ] || not_ok "unsteady: ${#again[@]} of $all cases are more than 1%"
    keep_history "${unsteady[@]}"
    [ "$SECONDS" = "$begin" ] || echo "# again: $((SECONDS - begin)) s"
    list=$(printf ', %s' "${again[@]}")
    echo "# unsteady: ${#again[@]} of $all cases${again:+: ${list#, }}"
    [ ${#left[@]} = 0 ] || printf '# %s\n' "${left[@]}"
    [ "$failed" = 0 ] || printf '# failed: %s\n' "${wrong[@]}"
    echo "$passed passed, $failed failed, $skipped skipped"
    [ "$failed" = 0 ]
}
