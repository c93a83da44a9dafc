#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#
# The live tests, on the kernel at hand: workloads that know their own truth, traced.
#
#   run.sh [--attach WAY] [--label LABEL] [--quick] [--only PATTERN] [--cases FILE]
#
# --attach  forces a way (fentry, kprobe, tracepoint); a way that this kernel refuses is one `skip` (WAY_IS_SURE=1: is not looked for)
# --quick   the cases that depend on the kernel, with fewer exchanges and no latencies: for emulated machines
# --only    those whose name matches, as 'split*' or '@(medley|netns)'
# --cases   those of this file, in place of all beside this script
# Four cases run at a time (CASES_AT_ONCE), each with what it starts and where it writes of its own. Those that measure the CPUs or the
# machine, or take all of it, are listed in ALONE_CASES, and run behind the others, one by one.
# Beside others a case has no tolerance for a machine that is short of CPUs. If it fails there and the CPUs were short, that
# counts neither way, and it runs once more among those that run alone.
# A trace is recorded too in each fifth case, and the recording compared; with NIGHTLY=1 in all.
# NETSTALL_DAY: of all cases those of that day (tests/day.awk), and all of EACH_RUN. A class are three or more of a file whose names
# begin with the same word, the others of a file, and those that run alone.
# One line a case: `ok LABEL/NAME`, `not ok LABEL/NAME: why`, `skip LABEL/NAME: why`; behind the last `end LABEL`. Status 1 if any
# failed; what such a case had written is kept in $KEEP/LABEL/NAME, if KEEP is set.
set -uo pipefail
cd "$(dirname "$0")/../.."

ATTACH=() LABEL=live QUICK='' ONLY='*' CASES=() NETSTALL_DAY=${NETSTALL_DAY:-all}
while [ $# -gt 0 ]; do
    case $1 in
    --attach) ATTACH=(-C "attach=$2") && shift ;;
    --label) LABEL=$2 && shift ;;
    --quick) QUICK=1 ;;
    --only) ONLY=$2 && shift ;;
    --cases) CASES=("$2") && shift ;;
    *) echo "run.sh: no option $1" >&2 && exit 64 ;;
    esac
    shift
done
# Exchanges of a case; of the workload's stalls, the share that has to be found, that has to be found when many programs
# compete, and whose whole chain has to be seen. An emulated machine is slow by itself, so that some of the workload's
# slow exchanges are not held up by anybody, and a server that reads late acknowledges without its timer (a true `nagle`):
# there a majority has to do, and OTHERS stalls may have another cause.
MANY=120 FEW=20 GOOD=20000 FOUND=0.99 MOST=0.9 PROVEN=0.99 OTHERS=0 SLOW_MACHINE=none
slow_machine() { FOUND=0.75 MOST=0.5 PROVEN=0.75 OTHERS=2 SLOW_MACHINE=slow; }
if [ -n "$QUICK" ]; then
    MANY=40 FEW=16 GOOD=2000
    slow_machine
fi
TRACE_OPTIONS=()
CASE_LIMIT=${CASE_LIMIT:-${NIGHTLY:+1200}} # what is done to each call of a start, each night, takes more
CASE_LIMIT=${CASE_LIMIT:-300}              # seconds
# An emulated machine has enough to do with one.
[ -z "$QUICK" ] || CASES_AT_ONCE=1
CASES_AT_ONCE=${CASES_AT_ONCE:-4} ALONE_CASES=' ' COMPANY=''
# What nothing else would see: rights, privacy, what is lost, the gate's word, what comes by a way.
EACH_RUN=' no_privilege capabilities_dropped recording_is_private hostile_name lost_records_are_shown outputs_are_no_roots
    recordings_are_read_as_the_caller check_within check_over way_records way_loads prove_is_set_back medley target_exits '

# What a kernel can get wrong; options and bad input are the same on all of them. Files of cases add theirs.
QUICK_CASES=" medley prove_is_set_back split nodelay split_new_socket all_counts_every_write many_writers netns pid_namespace
    sites sites_library_opened_later holds_zero_window holds_pacing holds_cork_then_nagle holds_many_writes_later holds_nodelay_midway
    requests_split requests_late_server requests_many_connections requests_of_both_ends requests_of_short_connections http
    check_reliability check_one_bad_among_many thousands_of_connections wait_poll_many
    offwake_handover offwake_stall offwake_uring offwake_without_frame_pointers
    offwake_beside_another_tracer "

. tests/live/lib.sh
[ ${#CASES[@]} -gt 0 ] || CASES=(tests/live/*.sh)
for file in "${CASES[@]}"; do
    # shellcheck disable=SC1090
    case ${file##*/} in lib.sh | run.sh) ;; *) . "$file" ;; esac
done

# All files are read into one shell.
twice=$(sed -n 's/^\([a-z0-9_]*\)() *{.*/\1/p' "${CASES[@]}" | sort | uniq -d)
[ -z "$twice" ] || { echo "not ok $LABEL: two cases or helpers are called $twice, and one would hide the other" && exit 1; }

[ "$(id -u)" = 0 ] || { echo "skip $LABEL: tracing needs root" && exit 0; }

if [ -z "${WAY_IS_SURE:-}" ] && ! said=$("$NETSTALL" doctor "${ATTACH[@]}"); then
    echo "skip $LABEL: $(grep '^Tracing is not possible' <<<"$said")"
    exit 0
fi

end_case() {
    local pids command
    pids=$(jobs -p)
    # shellcheck disable=SC2086
    [ -z "$pids" ] || kill $pids 2>/dev/null
    wait 2>/dev/null
    for command in "${CLEANUP[@]}"; do
        $command 2>/dev/null
    done
}

# The processes that $1 started, and those that these started, itself included.
family() {
    local child
    echo "$1"
    # shellcheck disable=SC2046
    for child in $(ps -o pid= --ppid "$1"); do family "$child"; done
}

# A case that does not end is a fault of netstall or of the case: says where each of its processes waits, and ends them.
end_hung_case() {
    local pid
    pause "$CASE_LIMIT"
    for pid in $(family "$1"); do
        [ -r "/proc/$pid/stack" ] || continue # it was of family() itself
        echo "# $LABEL: $2 hangs: $pid $(tr '\0' ' ' <"/proc/$pid/cmdline" | head -c 150): $(tr '\n' ' ' <"/proc/$pid/stack" 2>/dev/null)"
    done
    echo "did not end within $CASE_LIMIT s" >"$SCRATCH/why"
    # shellcheck disable=SC2046
    kill -KILL $(family "$1") 2>/dev/null
}

# What a case that failed had before it, by process and cause: where it is run by others, nobody can ask again.
show_report() {
    [ -s "$SCRATCH/report" ] || return 0
    echo "# $LABEL: $1: stalls: $(gojq -r '[(.stalls // [])[] | {duration_ms, kind: ("\(.cause) of \(.pid)" +
            (if .exact then "" else " inexact" end) + (if .missing then " (missing \(.missing))" else "" end))}]
        | group_by(.kind) | map("\(length) \(.[0].kind), \(map(.duration_ms) | "\(min | round) to \(max | round)") ms") | join("; ")' \
        "$SCRATCH/report" 2>&1 | head -c 3000 | tr '\n' ' '); lost: $(gojq -c '.completeness.lost_by_kind?' "$SCRATCH/report")"
}

# keep DIR: what a failed case had written, but for FIFOs, and files too big to be brought out of a VM.
keep() {
    find "$SCRATCH" ! -type d \( ! -type f -o -size +20M \) -delete
    mkdir -p "$1" && cp -r "$SCRATCH/." "$1"
}

failed=0 BESIDE=$(mktemp -d)
trap 'rm -rf "$BESIDE"' EXIT

run_case() {
    local name=$1 status case_pid began=$SECONDS
    CASE=$1
    SCRATCH=$(mktemp -d)
    # A subshell of its own: what a case started ends with it, what it set is gone.
    (
        CLEANUP=() OWN=$BASHPID
        trap end_case EXIT
        "case_$name"
        exit 0
    ) </dev/null &
    case_pid=$!
    end_hung_case "$case_pid" "$name" &
    wait "$case_pid"
    status=$?
    kill $! 2>/dev/null
    wait 2>/dev/null
    case $status in
    0) echo "ok $LABEL/$name" ;;
    77) echo "skip $LABEL/$name: $(head -c 300 "$SCRATCH/why" | tr '\n' ' ')" ;;
    *)
        if [ -e "$SCRATCH/short-of-cpus" ]; then
            echo "# $LABEL: $name failed beside others that took the CPUs, and runs again alone: $(head -c 300 "$SCRATCH/why" | tr '\n' ' ')"
            touch "$BESIDE/$name.again"
        else
            echo "not ok $LABEL/$name: $(head -c 500 "$SCRATCH/why" 2>/dev/null | tr '\n' ' ')"
            show_report "$name"
            [ -z "${KEEP:-}" ] || keep "$KEEP/$LABEL/$name"
        fi
        failed=1
        ;;
    esac
    rm -rf "$SCRATCH"
    echo "$name${COMPANY:+ beside} $((SECONDS - began))" >>"$BESIDE/.took"
}

# took_longest KIND: of the cases that ran alone or beside others, with their seconds.
took_longest() {
    awk -v kind="$1" '(NF == 3) == (kind == "beside") { sum += $NF; n++; print $NF, $1 }
        END { if (n) print "99999 " n " " kind ", " sum " s" }' "$BESIDE/.took" | sort -rn |
        awk -v label="$LABEL" '{ if (NR == 1) { sub(/^99999 /, ""); printf "# %s: %s:", label, $0 } else if (NR <= 16) printf " %s %s", $2, $1 } END { print "" }'
}

# The one of `running` that ends first: what it said, in one piece.
end_one() {
    local pid name
    wait -n -p pid "${!running[@]}"
    name=${running[$pid]}
    unset "running[$pid]"
    cat "$BESIDE/$name"
    ! grep -q '^not ok' "$BESIDE/$name" || failed=1
    [ ! -e "$BESIDE/$name.again" ] || alone+=("$name")
}

# run_beside NAME...: several at a time.
run_beside() {
    local name
    local -A running=()
    for name; do
        [ ${#running[@]} -lt "$CASES_AT_ONCE" ] || end_one
        COMPANY=1 run_case "$name" >"$BESIDE/$name" &
        running[$!]=$name
    done
    while [ ${#running[@]} -gt 0 ]; do end_one; done
}

# Those that are wanted, by their files.
cases_of() {
    local day=$NETSTALL_DAY
    [ "$ONLY" = '*' ] && [ -z "$QUICK" ] || day=all
    awk -v alone="${ALONE_CASES//$'\n'/ }" -v each="${EACH_RUN//$'\n'/ }" '
        function is_in(list) { return index(" " list " ", " " name " ") }
        /^case_[a-z0-9_]*\(\)/ {
            name = $0; sub(/^case_/, "", name); sub(/\(.*/, "", name)
            word[++n] = FILENAME ":" name; sub(/_.*/, "", word[n]); of_word[word[n]]++
            file[n] = FILENAME; names[n] = name
        }
        END {
            for (i = 1; i <= n; i++) {
                name = names[i]
                print is_in(each) ? name : is_in(alone) ? "alone" : of_word[word[i]] < 3 ? file[i] : word[i], name
            }
        }' "${CASES[@]}" | awk -v day="$day" -f tests/day.awk
}

beside=() alone=()
for name in $(cases_of); do
    [ -z "$QUICK" ] || [[ $QUICK_CASES =~ [[:space:]]$name[[:space:]] ]] || continue
    # shellcheck disable=SC2053
    [[ $name == $ONLY ]] || continue
    if [[ $ALONE_CASES =~ [[:space:]]$name[[:space:]] ]]; then alone+=("$name"); else beside+=("$name"); fi
done
if [ "$CASES_AT_ONCE" -gt 1 ] && [ ${#beside[@]} -gt 1 ]; then
    run_beside "${beside[@]}"
else
    alone=("${beside[@]}" "${alone[@]}")
fi
for name in "${alone[@]}"; do run_case "$name"; done
[ -n "$QUICK" ] || [ ! -s "$BESIDE/.took" ] || { took_longest beside && took_longest alone; }
echo "end $LABEL"
exit $failed
