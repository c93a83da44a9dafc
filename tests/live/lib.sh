# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# shellcheck shell=bash
#
# What the live cases share: a workload that waits at a gate, netstall attached to it, the
# workload's own word (TRUTH) beside netstall's report (REPORT).

# Debian's own programs come first: the python3 of a version manager is a shell script that takes longer than a whole trace.
PATH=/usr/sbin:/usr/bin:/sbin:/bin:$PATH

NETSTALL=${NETSTALL:-build/netstall}
WORKLOADS=${WORKLOADS:-build/tests/workload}
EXCHANGE=${EXCHANGE:-$WORKLOADS/exchange}
export NETSTALL EXCHANGE # shells that a case starts want them too
WAIT_LIMIT=${WAIT_LIMIT:-60} # seconds; a load takes long in an emulated machine

fail() { echo "$*" >"$SCRATCH/why"; exit 1; }
skip() { echo "$*" >"$SCRATCH/why"; exit 77; }

# What is called while something is waited for starts no process: in an emulated machine each costs a tenth of a second, of
# the time that the one waited for needs.
exec {NEVER}<> <(:)
pause() { read -r -t "$1" -u "$NEVER" _ || true; }

# wait_for SECONDS COMMAND...: until it succeeds. Each look costs, in an emulated machine.
wait_for() {
    local looks=50 each=0.02 limit i
    [ -z "${QUICK:-}" ] || looks=10 each=0.1
    limit=$(($1 * looks))
    shift
    for ((i = 0; i < limit; i++)); do
        "$@" && return 0
        pause $each
    done
    return 1
}

# has_line REGEX FILE
has_line() {
    local line
    [ -r "$2" ] || return 1
    while IFS= read -r line || [ -n "$line" ]; do
        [[ ! $line =~ $1 ]] || return 0
    done <"$2"
    return 1
}
gone() { ! kill -0 "$1" 2>/dev/null; }

# await_line REGEX FILE PID: until the process has said so. False: it ended before, or said nothing for WAIT_LIMIT seconds.
says_or_ends() { has_line "$1" "$2" || gone "$3"; }
await_line() { wait_for "$WAIT_LIMIT" says_or_ends "$@" && has_line "$1" "$2"; }

# Not through a pipe: ldd that is ended by grep -q is a pipe that failed.
is_sanitized() { [[ $(ldd "$NETSTALL") == *libasan* ]]; }

# field NAME LINE: the value of NAME=value.
field() { [[ ! " $2" =~ [^[:alnum:]_]$1=([^[:space:]]*) ]] || echo "${BASH_REMATCH[1]}"; }

# start_exchange [PREFIX...] -- OPTIONS...: the workload, waiting at its gate. Sets CLIENT, SERVER, PORT, EXCHANGE_PID.
start_exchange() {
    local prefix=()
    while [ "$1" != -- ]; do
        prefix+=("$1")
        shift
    done
    shift
    rm -f "$SCRATCH/gate" "$SCRATCH/exchange" && mkfifo "$SCRATCH/gate" # nor is what an earlier one said read
    "${prefix[@]}" "$EXCHANGE" --gate stdin "$@" <"$SCRATCH/gate" >"$SCRATCH/exchange" 2>"$SCRATCH/exchange.err" &
    EXCHANGE_PID=$!
    exec {GATE}>"$SCRATCH/gate"
    await_line '^ready' "$SCRATCH/exchange" "$EXCHANGE_PID" ||
        fail "the workload did not start: $(cat "$SCRATCH/exchange.err")"
    local ready
    ready=$(grep '^ready' "$SCRATCH/exchange")
    CLIENT=$(field client_pid "$ready") SERVER=$(field server_pid "$ready") PORT=$(field port "$ready")
}

open_gate() { echo go >&"$GATE"; }

# Waits for the workload's last word and sets TRUTH_*.
end_exchange() {
    wait_for "${1:-120}" gone "$EXCHANGE_PID" || fail "the workload did not end"
    wait "$EXCHANGE_PID" || fail "the workload failed: $(cat "$SCRATCH/exchange.err")"
    exec {GATE}>&-
    local truth
    truth=$(grep '^done' "$SCRATCH/exchange") || fail "the workload said nothing at its end"
    TRUTH_EXCHANGES=$(field exchanges "$truth") TRUTH_STALLS=$(field stalls "$truth")
    TRUTH_MEDIAN_US=$(field median_us "$truth")
}

# How long some thread of this machine has waited for a CPU, in all, us; 0 where the kernel does not tell.
cpu_pressure_us() { sed -n 's/^some .*total=//p' /proc/pressure/cpu 2>/dev/null | grep . || echo 0; }
now_us() { echo $(($(date +%s%N) / 1000)); }

# What the host has taken of this machine's CPUs, in all, us: a program's own clocks take that for time in which it was blocked.
stolen_us() { awk '$1 == "cpu" { print $9 * 10000 }' /proc/stat; }

# What judge_machine judges begins here.
watch_machine() { TRACE_PRESSURE=$(cpu_pressure_us) TRACE_STOLEN=$(stolen_us) TRACE_START=$(now_us); }

# When the CPUs were short for more than a tenth of the time of the trace, some of the workload's exchanges were slow by that
# alone: then the tolerances of a slow machine hold (run.sh), which let pass waits that nobody held up, but no wrong cause. Beside
# other cases they do not: one that fails by that is run again alone.
judge_machine() {
    local short=$(($(cpu_pressure_us) - TRACE_PRESSURE)) time=$(($(now_us) - TRACE_START))
    [ -z "$QUICK" ] && [ $((10 * short)) -gt "$time" ] || return 0
    [ -z "${COMPANY:-}" ] || { touch "$SCRATCH/short-of-cpus" && return; }
    echo "# $LABEL: threads waited for a CPU $((100 * short / time))% of the time: tolerances of a slow machine"
    slow_machine
}

RECORDED=() CASE='' # of a trace that is recorded too, its options; of cases, the one at hand

# Is what the case at hand traces recorded too, and compared? Each fifth, by its name. In emulated machines, where all takes its time,
# one is enough.
is_recorded() {
    [ -z "${NIGHTLY:-}${KEEPS_RECORDING:-}" ] || return 0
    if [ -n "$QUICK" ]; then [ "$CASE" = medley ]; else [ $(($(cksum <<<"$CASE" | cut -d' ' -f1) % 5)) = 0 ]; fi
}

# start_trace OPTIONS...: netstall, attached when this returns. Sets TRACE_PID.
start_trace() {
    watch_machine
    rm -f "$SCRATCH/trace.err"
    RECORDED=()
    ! is_recorded || RECORDED=(--record "$SCRATCH/recording")
    SHOWN=$(printf '%s\n' "$@" | grep -E '^--(connections|events)=' | paste -sd' ')
    "$NETSTALL" trace "${ATTACH[@]}" --json "${RECORDED[@]}" "$@" >"$SCRATCH/trace" 2>"$SCRATCH/trace.err" &
    TRACE_PID=$!
    await_line 'netstall: tracing' "$SCRATCH/trace.err" "$TRACE_PID" ||
        fail "netstall did not attach: $(head -c 400 "$SCRATCH/trace.err")"
}

# Ends netstall as Ctrl-C does, unless it ended by itself, and keeps its report.
end_trace() {
    local schema damaged
    kill -INT "$TRACE_PID" 2>/dev/null
    wait_for "$WAIT_LIMIT" gone "$TRACE_PID" || fail "netstall did not end at Ctrl-C"
    wait "$TRACE_PID" || fail "netstall ended with status $?: $(tail -n 1 "$SCRATCH/trace.err")"
    judge_machine
    [ ${#RECORDED[@]} = 0 ] || expect_recording
    tail -n 1 "$SCRATCH/trace" >"$SCRATCH/report"
    read -r schema damaged <<<"$(report '"\(.schema) \(.completeness.lost_by_kind.damaged // 0)"')"
    [ "$schema" = netstall.report/1 ] || fail "the last line is no report"
    expect_is "contradictions in the report" "$(contradictions)" ""
    # Records can get lost on a machine that is short of time; that one contradicts itself is a fault of ours.
    expect_is "damaged records" "$damaged" 0
}

# A recording of the run shows the same.
expect_recording() {
    # shellcheck disable=SC2086
    "$NETSTALL" report --json $SHOWN "$SCRATCH/recording" >"$SCRATCH/replayed" 2>"$SCRATCH/replay.err" || fail "$(cat "$SCRATCH/replay.err")"
    expect_is "what report says of the recording" "$(cat "$SCRATCH/replay.err")" ""
    cmp -s "$SCRATCH/trace" "$SCRATCH/replayed" ||
        fail "the recording shows another run: $(diff "$SCRATCH/trace" "$SCRATCH/replayed" | head -n 4 | cut -c1-300)"
}

# What the report says of one thing in two ways; a machine without Python is not asked.
contradictions() {
    ! command -v python3 >/dev/null || python3 "$(dirname "${BASH_SOURCE[0]}")/../schema/agree.py" "$SCRATCH/report" 2>&1 | sed "s|^$SCRATCH/||" | head -n 3 | tr '\n' ' '
}

# Several workloads under one trace, each in a folder of its own, $SCRATCH/NAME: what they are called by, the client's and the
# server's process, the gate.
declare -A CLIENTS SERVERS GATES RUNS

# start_named NAME OPTIONS...: at its gate.
start_named() {
    local all=$SCRATCH name=$1
    shift
    SCRATCH=$all/$name
    mkdir "$SCRATCH"
    start_exchange -- "$@"
    CLIENTS[$name]=$CLIENT SERVERS[$name]=$SERVER GATES[$name]=$GATE RUNS[$name]=$EXCHANGE_PID
    SCRATCH=$all
}

# Their pids, as options take them.
all_clients() { (IFS=, && echo "${CLIENTS[*]}"); }

# trace_named OPTIONS...: the clients of all that were started, from gate to end.
trace_named() {
    start_trace -p "$(all_clients)" "$@"
    end_named
}

# When the trace has begun.
end_named() {
    local name
    for name in "${!GATES[@]}"; do
        echo go >&"${GATES[$name]}"
    done
    for name in "${!RUNS[@]}"; do
        wait_for 180 gone "${RUNS[$name]}" || fail "$name did not end"
        wait "${RUNS[$name]}" || fail "$name failed: $(cat "$SCRATCH/$name/exchange.err")"
        grep '^done' "$SCRATCH/$name/exchange" >"$SCRATCH/$name/done" || fail "$name said nothing at its end"
    done
    end_trace
    TRUTH_STALLS=their TRUTH_EXCHANGES=own
}

# of NAME FIELD: what the program said at its end.
of() { field "$2" "$(cat "$SCRATCH/$1/done")"; }

# start_at_gate PROGRAM ARG...: it waits at its gate, its stdin. Sets GATED (its pid) and GATE; what it says is in $SCRATCH/gated.
start_at_gate() {
    rm -f "$SCRATCH/gate" "$SCRATCH/gated" && mkfifo "$SCRATCH/gate"
    TRUTH_STALLS=no TRUTH_EXCHANGES=its
    "$@" <"$SCRATCH/gate" >"$SCRATCH/gated" 2>"$SCRATCH/gated.err" &
    GATED=$!
    exec {GATE}>"$SCRATCH/gate"
    await_line '^ready' "$SCRATCH/gated" "$GATED" || fail "$1 did not start: $(head -c 300 "$SCRATCH/gated.err")"
}

# start_profile OPTIONS...: offwake, attached when this returns. Sets PROFILE_PID; what it prints goes to $SCRATCH/profile.
start_profile() {
    watch_machine
    rm -f "$SCRATCH/profile.err"
    RECORDED=()
    ! is_recorded || RECORDED=(--record "$SCRATCH/profile.nsr")
    "$NETSTALL" offwake "${RECORDED[@]}" "$@" >"$SCRATCH/profile" 2>"$SCRATCH/profile.err" &
    PROFILE_PID=$!
    PROFILE_SHOWN=(-f)
    for option; do
        case $option in --json) PROFILE_SHOWN[0]=--json ;; --by-cause) PROFILE_SHOWN+=("$option") ;; -d | --delimited) PROFILE_SHOWN+=(-d) ;; esac
    done
    await_line 'netstall: profiling' "$SCRATCH/profile.err" "$PROFILE_PID" ||
        fail "offwake did not attach: $(head -c 400 "$SCRATCH/profile.err")"
}

# It ends with its target. A case whose bounds give way on a busy machine calls judge_machine behind it; the others stay strict.
end_profile() {
    wait_for "$WAIT_LIMIT" gone "$PROFILE_PID" || fail "offwake did not end with its target"
    wait "$PROFILE_PID" || fail "offwake ended with status $?: $(tail -n 1 "$SCRATCH/profile.err")"
    [ ${#RECORDED[@]} = 0 ] || "$NETSTALL" report --offwake "${PROFILE_SHOWN[@]}" "$SCRATCH/profile.nsr" 2>/dev/null | cmp -s - "$SCRATCH/profile" ||
        fail "the recording's profile is another: $(diff <("$NETSTALL" report --offwake "${PROFILE_SHOWN[@]}" "$SCRATCH/profile.nsr" 2>&1) "$SCRATCH/profile" | head -n 6)"
}
profile() { gojq -r "$1" "$SCRATCH/profile"; } # of --json

# The causes that TCP itself makes, by their groups. A slow or busy machine adds waits of other causes, of runqueue, peer-app or lock, and
# they are true; one of these it does not add.
TCP_CAUSES="[$(sed -nE 's/^\| \[`([a-z-]+)`\].* \| (your writes|TCP|loss) \| .*/"\1"/p' docs/causes.md | paste -sd,)]"
on_slow_machine() { [ "$SLOW_MACHINE" = none ] && echo false || echo true; }

# Prints a jq definition: does a stall say that TCP made it? Bytes lie in a queue of a slow machine's for so long now and then
# that TCP sends them again: where the socket itself has counted that, it is true. $report: the whole.
made_by_tcp() {
    echo "def made_by_tcp(\$report): . as \$stall | ([.cause] | inside($TCP_CAUSES))
        and ($(on_slow_machine) and (.cause | IN(\"tlp\", \"rto\"))
            and any(\$report.connections[]; .id == \$stall.connection and .retransmitted > 0) | not);"
}

# Stalls that the workload did not ask for, by the causes that it did (a jq list): on a slow machine TCP's alone. The wait at
# the gate is a pipe's.
strange() {
    report "$(made_by_tcp) . as \$report | [.stalls[] | .cause as \$c | select(.exact)
        | select([\$c] | inside($1 + [\"ipc\"]) | not) | select(($(on_slow_machine) | not) or made_by_tcp(\$report))] | length"
}

# Of a short run under a Nagle workload: on a machine that is short of time a single wait of another cause may have been longer.
verdict_is_nagle() {
    local cause
    cause=$(report .verdict.cause)
    [ "$cause" = nagle-delack ] || [ "$SLOW_MACHINE" != none ] || fail "the verdict is $cause, wanted nagle-delack"
    [ "$cause" = nagle-delack ]
}

report() { gojq -r "$1" "$SCRATCH/report"; }
count_of() { report "[.stalls[] | select(.cause == \"$1\")] | length"; }
stall_count() { report '.stalls | length'; }
lost() { report '.completeness.lost'; }

# trace_exchange OPTIONS...: the workload from gate to end under `trace -p CLIENT`; TRACE_OPTIONS adds to it.
trace_exchange() {
    start_exchange -- "$@"
    start_trace -p "$CLIENT" "${TRACE_OPTIONS[@]}"
    open_gate
    end_exchange
    end_trace
}

expect() { # expect WHAT ACTUAL OPERATOR WANTED
    [[ $2 =~ ^-?[0-9.]+(e-?[0-9]+)?$ ]] || fail "$1 is '$2', no number"
    # Both sides are put into the program, so that awk compares numbers: with -v they would be text.
    awk "BEGIN { exit !(($2) $3 ($4)) }" || fail "$1 is $2, wanted $3 $4 (truth: ${TRUTH_STALLS-?} stalls in ${TRUTH_EXCHANGES-?} exchanges)"
}
expect_is() { [ "$2" = "$3" ] || fail "$1 is '$2', wanted '$3'"; }

# Every stall of the workload found, under its cause, and no other. Rarely a whole softirq run is
# invisible to every BPF program, no counter tells (docs/limits.md): the stall is then found by the
# next segment or send and says `exact: false`. One such of another cause is let pass; whatever
# claims to be exact must be right.
# $2: how many of the workload's stalls are of another cause.
expect_all_stalls() {
    local right bound inexact others verdict
    read -r right bound inexact verdict < <(report "[.stalls[] | select(.cause != \"$1\")] as \$others
        | \"\(.stalls | length - (\$others | length)) \([.stalls[] | select(.cause == \"$1\" and (.exact | not))] | length) \([\$others[] | select(.exact | not)] | length) \(.verdict.cause)\"")
    others=$(strange "[\"$1\"]")
    echo "# $LABEL: ${FUNCNAME[1]#case_}: $right of $TRUTH_STALLS stalls found as $1, of these $bound without their ends; $inexact inexact ones of other causes"
    expect "the number of inexact stalls" "$inexact" '<=' 1
    expect "the number of $1 stalls" "$((right + inexact))" '>=' "$FOUND * ($TRUTH_STALLS - ${2:-0})"
    expect "the number of $1 stalls" "$((right + inexact))" '<=' "$TRUTH_EXCHANGES"
    expect "the number of other stalls" "$others" '<=' "${2:-0} + $OTHERS"
    expect_is "the verdict" "$verdict" "$1"
}
expect_no_holds() {
    local cause
    for cause in nagle-delack nagle cork; do
        expect "the number of $cause stalls" "$(count_of $cause)" '==' 0
    done
}
