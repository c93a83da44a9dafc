# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# shellcheck shell=bash
#
# offwake's options are those of bcc's offwaketime: the same letters, long names, units and meanings. And the files it writes.

ALONE_CASES+=" offwake_options offwake_all "

# profile_at_once: the profiles of $PROFILES (NAME: OPTIONS, a line each) of one run of tests/workload/nofp.c, all attached
# before its gate opens; folded stacks in $SCRATCH/NAME.folded. The program's threads: itself and `rounds`, each 5 kinds of
# waits of 20 ms in turn; `long-sleep`, one wait as long as all of these together.
profile_at_once() {
    local name options pids=() pid
    start_at_gate "$WORKLOADS/nofp" --rounds 6 --wait 20 --gate
    while IFS=: read -r name options; do
        # shellcheck disable=SC2086
        "$NETSTALL" offwake ${options//PID/$GATED} >"$SCRATCH/$name.folded" 2>"$SCRATCH/$name.err" &
        pids+=($!)
    done <<<"$PROFILES"
    while IFS=: read -r name _; do
        wait_for "$WAIT_LIMIT" has_line 'netstall: .*Ctrl-C' "$SCRATCH/$name.err" || fail "$name: $(head -c 300 "$SCRATCH/$name.err")"
    done <<<"$PROFILES"
    open_gate
    for pid in "${pids[@]}"; do
        # The target ends, and offwake with it.
        wait_for 60 gone "$pid" || fail "offwake did not end with its target"
        wait "$pid" || fail "offwake ended with status $?: $(tail -qn 1 "$SCRATCH"/*.err | tr '\n' ' ')"
    done
}
# Without its wait at the gate, which began before some of them.
sum_of_profile() { awk '!/;fgets;|fifo_pipe_read/ { us += $NF } END { print us + 0 }' "$SCRATCH/$1.folded"; }
folded_with() { grep -c "$2" "$SCRATCH/$1.folded"; }
expect_folded() { # expect_folded NAME REGEX OPERATOR NUMBER
    expect "the lines of $1 with $2" "$(folded_with "$1" "$2")" "$3" "$4"
}

case_offwake_options() {
    local TRUTH_STALLS=0 TRUTH_EXCHANGES=0
    local name all
    PROFILES="all:-p PID
least:-p PID -m 200000
most:--pid=PID --max-block-time=199999
thread:-t PID,PID -f
user:-p PID -U
kernel:-p PID --kernel-stacks-only
delimited:-p PID -d --svg $SCRATCH/wakes.svg --pprof $SCRATCH/wakes.pb.gz
state:-p PID --state 4 --stack-storage-size 1024"
    profile_at_once
    for name in all least most thread user kernel state; do
        tests/profile/folded.py "$SCRATCH/$name.folded" >/dev/null 2>"$SCRATCH/said" || fail "$name: $(cat "$SCRATCH/said")"
    done
    all=$(sum_of_profile all)
    # Three threads, 600 ms each, and main() at the end for those that are not done.
    expect "the blocked time, us" "$all" '>=' 1700000
    expect_folded least 'long_leaf' '>=' 1
    expect_folded least 'poll_leaf' '==' 0
    expect_folded most 'poll_leaf' '>=' 2
    expect_folded most 'long_leaf' '==' 0
    expect "the sum of short and long waits" "$(($(sum_of_profile least) + $(sum_of_profile most)))" '>=' "0.97 * $all"
    expect "the sum of short and long waits" "$(($(sum_of_profile least) + $(sum_of_profile most)))" '<=' "1.03 * $all"
    expect_folded thread '^nofp/' '>=' 5
    expect_folded thread '^\(rounds\|long-sleep\)' '==' 0
    expect_folded user '\(^\|;\)poll_leaf;' '>=' 2
    expect_folded user ';do_syscall_64;' '==' 0
    expect_folded kernel ';do_syscall_64;' '>=' 2
    expect_folded kernel ';\(main\|poll_leaf\|_start\);' '==' 0
    tests/profile/folded.py --delimited "$SCRATCH/delimited.folded" >/dev/null 2>"$SCRATCH/said" || fail "delimited: $(cat "$SCRATCH/said")"
    expect_folded delimited ';-;entry_SYSCALL_64_after_hwframe;do_syscall_64;.*;--;' '>=' 2
    expect_folded all ';-;' '==' 0
    expect_folded state . '==' 0
    expect_is "the files' modes" "$(stat -c %a "$SCRATCH/wakes.svg" "$SCRATCH/wakes.pb.gz" | tr '\n' ' ')" '600 600 '
    expect_is "the SVG's frames of one thread" "$(grep -c '<title>long-sleep$' "$SCRATCH/wakes.svg")" 1
    ! command -v xmllint >/dev/null || xmllint --noout "$SCRATCH/wakes.svg" || fail "the SVG is no XML"
    ! command -v go >/dev/null ||
        grep -q 'thread:\[long-sleep\]' <(go tool pprof -raw "$SCRATCH/wakes.pb.gz" 2>/dev/null) ||
        fail "pprof does not read the profile"
}

# On a terminal it is a list for people; a duration ends it, before a program too.
case_offwake_terminal() {
    local terminal
    command -v script >/dev/null || skip "no script(1)"
    script -qec "$NETSTALL offwake --no-color -- sleep 0.2" /dev/null >"$SCRATCH/list" || fail "$(tail -n 2 "$SCRATCH/list")"
    has_line 'sleep/[0-9]* .*1 wait' "$SCRATCH/list" || fail "it says $(tail -n 8 "$SCRATCH/list")"
    has_line 'waits for  *the end of the sleep it asked for' "$SCRATCH/list" || fail "it says $(tail -n 8 "$SCRATCH/list")"
    for terminal in xterm dumb; do
        TERM=$terminal script -qec "'$NETSTALL' report tests/golden/recordings/v1-linux-7.2.nsr" /dev/null >"$SCRATCH/$terminal"
    done
    expect "coloured places on a terminal" "$(grep -c $'\e' "$SCRATCH/xterm")" '>' 0
    expect_is "coloured places where TERM is dumb" "$(grep -c $'\e' "$SCRATCH/dumb")" 0
    # What pushes the headline out of sight has it below again.
    for terminal in 24 200; do
        TERM=dumb script -qec "stty rows $terminal; '$NETSTALL' report tests/golden/recordings/v1-linux-7.2.nsr" /dev/null >"$SCRATCH/rows"
        expect_is "headlines on $terminal rows" "$(grep -c '^nagle-delack: 3 of 4' "$SCRATCH/rows")" $((terminal > 100 ? 1 : 2))
    done
    "$NETSTALL" offwake -f --duration 0.5 -- sleep 60 >"$SCRATCH/folded" 2>"$SCRATCH/err" &
    wait_for 60 gone $! || fail "the duration did not end it"
    tests/profile/folded.py "$SCRATCH/folded" >/dev/null || fail "no folded stacks: $(cat "$SCRATCH/err")"
    start_profile -f -p $$
    kill -INT "$PROFILE_PID"
    end_profile # by Ctrl-C
}

refused_offwake() { # refused_offwake STATUS REGEX OPTIONS...: one sentence, before anything is watched
    local status=$1 said=$2 got
    shift 2
    "$NETSTALL" offwake "$@" >"$SCRATCH/out" 2>"$SCRATCH/err"
    got=$?
    expect_is "the status of offwake $*" "$got" "$status"
    has_line "$said" "$SCRATCH/err" || fail "offwake $*: $(cat "$SCRATCH/err")"
    [ ! -s "$SCRATCH/out" ] || fail "offwake $* printed something"
}

case_offwake_bad_options() {
    refused_offwake 64 'exclude each other' -u -k
    refused_offwake 64 'exclude each other' -U -K
    refused_offwake 64 'no target: .*-a' 1
    refused_offwake 64 'no target: .*-a' -k 1
    refused_offwake 64 '-a and a target exclude each other' -a -p $$ 1
    refused_offwake 64 '-a and a target exclude each other' --all 1 -- true
    refused_offwake 64 '-M must not be less' -p $$ -m 20 -M 10
    refused_offwake 64 'whole number' -p $$ -m 1ms
    refused_offwake 64 'whole number' -p $$ --stack-storage-size 0
    refused_offwake 64 'whole number' -p $$ --state S
    refused_offwake 64 'whole number from 1 to 8' -p $$ --depth 9
    refused_offwake 64 'duration' -p $$ 0
    refused_offwake 64 'at most 5 tids' -t 1,2,3,4,5,6
    refused_offwake 64 'exclude each other' -p $$ -f --json
    refused_offwake 2 'cannot write to /nowhere/x: No such file' -p $$ --svg /nowhere/x 1
    "$NETSTALL" offwake -h >"$SCRATCH/help" || fail "-h is no help"
    has_line '^ *-M, --max-block-time=US' "$SCRATCH/help" || fail "-h does not say what -M is"
}

# All of the machine, but for netstall: neither itself nor the process that opens files for it.
case_offwake_all() {
    local own
    start_profile -a --json 1
    own=$(ps -o pid= --ppid "$PROFILE_PID" | tr -s ' \n' ,)
    [[ $own =~ [0-9] ]] || fail "netstall has no process that opens files"
    end_profile
    expect_is "chains of netstall's own" "$(profile "[.chains[] | select(.pid | IN($PROFILE_PID${own%,}))] | length")" 0
    expect "processes seen" "$(profile '[.chains[].pid] | unique | length')" '>=' 2
}

# A full disk is told, and costs no other output.
case_offwake_full_disk() {
    local TRUTH_STALLS=0 TRUTH_EXCHANGES=0
    "$NETSTALL" offwake --svg /dev/full --pprof /dev/full -f -- sleep 0.2 >"$SCRATCH/folded" 2>"$SCRATCH/err"
    expect_is "the status" $? 2
    expect "the files told of" "$(grep -c 'not everything could be written to /dev/full: No space' "$SCRATCH/err")" '==' 2
    tests/profile/folded.py "$SCRATCH/folded" >/dev/null || fail "the folded stacks are not whole"
}
