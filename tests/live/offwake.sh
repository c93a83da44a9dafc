#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# shellcheck shell=bash disable=SC2034,SC2153,SC2154
#
# The off-CPU profile: time by the workload's own clocks, chains to their end, what is lost.

# They compare times within a few hundredths.
ALONE_CASES+=" offwake_handover offwake_sums offwake_sampled offwake_reference offwake_thousand_threads offwake_filters offwake_program "

HANDOVER=$WORKLOADS/handover

# start_handover ARGUMENTS...: it waits at its gate. Sets HAND, and FIRST, SECOND, THIRD of its threads.
start_handover() {
    local ready
    TRUTH_STALLS=no TRUTH_EXCHANGES=no
    start_at_gate "$HANDOVER" "$@"
    ready=$(grep '^ready' "$SCRATCH/gated")
    HAND=$GATED FIRST=$(field first "$ready") SECOND=$(field second "$ready") THIRD=$(field third "$ready")
}
blocked_in() { field "$1" "$(grep '^done' "$SCRATCH/gated")"; }

# time_of THREAD FUNCTION: us that it was blocked in a call with that function on its user or kernel stack.
time_of() {
    profile "[.chains[] | select(.comm == \"$1\" and ((.kernel + .user) | any(. == \"$2\"))) | .blocked_ms] | add * 1000"
}
# A slow or busy machine takes its time from a wake to the run queue, which neither of the workload's clocks knows.
expect_time() { # expect_time NAME THREAD FUNCTION: within 3% of the workload's own word
    local truth tolerance=0.03 stolen
    [ "$SLOW_MACHINE" = none ] || tolerance=0.15
    truth=$(blocked_in "$1")
    stolen=$(($(stolen_us) - TRACE_STOLEN))
    expect "what $2 was blocked in $3 ($stolen us stolen)" "$(time_of "$2" "$3")" '>=' "(1 - $tolerance) * $truth - $stolen"
    expect "what $2 was blocked in $3" "$(time_of "$2" "$3")" '<=' "(1 + $tolerance) * $truth"
}

case_offwake_handover() {
    start_handover 150
    start_profile -p "$HAND" --json --depth 3
    open_gate
    end_profile
    judge_machine
    [ "$(profile .schema)" = netstall.profile/1 ] || fail "that is no profile"
    expect_time first_sleep_us hand-first hrtimer_nanosleep
    expect_time second_sleep_us hand-second hrtimer_nanosleep
    expect_time third_sleep_us hand-third hrtimer_nanosleep
    expect_time first_recv_us hand-first sk_wait_data
    expect_time second_pipe_us hand-second vfs_read
    expect_time third_futex_us hand-third syscall
    # Nearly all of each hop's time behind whoever had made it wait, and that one's own sleep behind that.
    # A busy machine makes that one late, so that it has not slept before it wakes the other.
    local hop share=0.9
    [ "$SLOW_MACHINE" = none ] || share=$MOST
    for hop in first:hand-third second:hand-first third:hand-second; do
        expect "the share of hand-${hop%%:*}'s waits for ${hop##*:}" "$(profile "[.chains[] | select(.comm == \"hand-${hop%%:*}\")
            | select(.kernel + .user | any(. == \"sk_wait_data\" or . == \"vfs_read\" or . == \"syscall\"))]
            | ([.[] | select(.wakers[0].name == \"${hop##*:}\" and .wakers[0].waited != null
                and (.wakers[1].name // \"\" | startswith(\"irq:\"))) | .blocked_ms] | add) / ([.[].blocked_ms] | add)")" '>=' "$share"
    done
    # On loopback the softirq runs inside the peer's own call: the peer it is.
    grep -q 'do_softirq.*sendto' <(profile '.chains[] | select(.comm == "hand-first") | .wakers[0]
        | select(.name == "hand-third") | .kernel | join(" ")') || fail "no softirq on the stack of the peer that woke"
    expect_is "what was lost" "$(profile '.completeness.complete')" true
}

# As `trace` counts it; and the folded lines are the same time.
case_offwake_sums() {
    start_exchange -- -n 60
    start_trace -p "$CLIENT"
    start_profile -p "$CLIENT" -f
    open_gate
    end_exchange
    end_profile
    end_trace
    # The wait at the gate apart, of which each saw a part.
    local folded traced gate
    folded=$(awk '!/unix_stream|workload__open/ {sum += $NF} END {print sum}' "$SCRATCH/profile")
    gate=$(gojq -s "[.[] | select(.event == \"wait\" and .tgid == $CLIENT and .off_ms == 0) | .wake_ms] | add" "$SCRATCH/trace")
    traced=$(report "([.threads[] | select(.pid == $CLIENT) | .blocked_ms] | add - $gate) * 1000")
    echo "# $LABEL: offwake_sums: $folded us folded, $traced us blocked"
    expect "the sum of the folded us" "$folded" '>=' "0.99 * $traced"
    # Waits whose end no BPF program saw (docs/limits.md) are in both, up to their wake or to the next sleep.
    expect "the sum of the folded us" "$folded" '<=' "1.01 * $traced"
}

# Thousands of short waits a second: some stand for all. How many there were and how long they took is exact all the same, as `trace`
# counts it, and so is where they were, where they are all in one place. One netstall has both views: of two, one stands behind the
# other at each tracepoint, and what the first one takes there is 1 to 2% of such short waits.
case_offwake_sampled() {
    local looked waits blocked traced
    start_exchange -- --mode single --seconds 4
    "$NETSTALL" record "${ATTACH[@]}" --offwake -o "$SCRATCH/both" -p "$CLIENT" 2>"$SCRATCH/profile.err" &
    PROFILE_PID=$!
    await_line 'netstall: profiling' "$SCRATCH/profile.err" "$PROFILE_PID" || fail "netstall did not attach: $(head -c 300 "$SCRATCH/profile.err")"
    open_gate
    end_exchange
    wait_for "$WAIT_LIMIT" gone "$PROFILE_PID" || fail "netstall did not end with its target"
    wait "$PROFILE_PID" || fail "netstall ended with status $?: $(tail -n 1 "$SCRATCH/profile.err")"
    "$NETSTALL" report --json "$SCRATCH/both" 2>"$SCRATCH/err" | tail -n 1 >"$SCRATCH/report"
    "$NETSTALL" report --offwake --json "$SCRATCH/both" >"$SCRATCH/profile" 2>"$SCRATCH/err" || fail "status $?: $(cat "$SCRATCH/err")"
    looked=$(profile .totals.sampled.looked_at) waits=$(profile .totals.sampled.waits)
    [ "$waits" != null ] || fail "no sample was taken of $(profile .totals.waits) waits"
    blocked=$(profile '[.chains[].blocked_ms] | add') traced=$(report "[.threads[] | select(.pid == $CLIENT) | .blocked_ms] | add")
    echo "# $LABEL: offwake_sampled: $looked of $waits looked at, $blocked ms blocked of $traced"
    expect "the waits that were looked at" "$looked" '<=' "0.5 * $waits"
    expect "the time blocked" "$blocked" '>=' "0.999 * $traced"
    expect "the time blocked" "$blocked" '<=' "1.001 * $traced"
    expect "the waits" "$(profile .totals.waits)" '>=' "0.999 * $(report "[.threads[] | select(.pid == $CLIENT) | .voluntary] | add")"
    expect "the waits" "$(profile .totals.waits)" '<=' "1.001 * $(report "[.threads[] | select(.pid == $CLIENT) | .voluntary] | add")"
    # The wait at the gate apart.
    expect "what of it was for the answers" "$(profile '[.chains[] | select(.kernel | any(. == "tcp_recvmsg")) | .blocked_ms] | add')" \
        '>=' "0.9 * $(profile '[.chains[] | select(.kernel | any(. == "unix_stream_recvmsg") | not) | .blocked_ms] | add')"
    start_exchange -- --mode single --seconds 1
    start_profile -p "$CLIENT" --json --exact
    open_gate
    end_exchange
    end_profile
    expect_is "a sample with --exact" "$(profile .totals.sampled)" null
}

# The window ends in a short wait that another one stands for: its place was not looked at, and is not lost.
case_offwake_cut_short() {
    local run
    start_exchange -- --mode single --seconds 60
    open_gate
    for run in 1 2 3 4 5 6; do
        "$NETSTALL" offwake "${ATTACH[@]}" -p "$CLIENT" --json 0.2 >"$SCRATCH/profile" 2>"$SCRATCH/profile.err" ||
            fail "offwake ended with status $?: $(tail -n 1 "$SCRATCH/profile.err")"
        expect_is "stacks lost in run $run" "$(profile '[.chains[] | select(.kernel == ["[lost stack]"]).waits] | add // 0')" 0
    done
    kill "$EXCHANGE_PID"
}

# The same run by an independent program that knows nothing of ours.
case_offwake_reference() {
    command -v bpftrace >/dev/null || skip "bpftrace is not installed"
    start_exchange -- -n 60
    # shellcheck disable=SC2016 # the inner shell's
    unshare --mount sh -c '
        [ -e /sys/kernel/tracing/events ] || mount -t tracefs tracefs /sys/kernel/tracing
        exec bpftrace -B line "$@"' sh tests/live/blocked.bt "$CLIENT" >"$SCRATCH/reference" 2>&1 &
    REFERENCE_PID=$!
    await_line '^ready' "$SCRATCH/reference" "$REFERENCE_PID" ||
        fail "bpftrace did not attach: $(head -c 300 "$SCRATCH/reference")"
    start_profile -p "$CLIENT" -f
    open_gate
    end_exchange
    end_profile
    kill -INT "$REFERENCE_PID"
    wait_for "$WAIT_LIMIT" gone "$REFERENCE_PID" || fail "bpftrace did not end"
    local folded reference
    # Who sleeps already has no beginning there.
    folded=$(awk '!/unix_stream|workload__open/ {sum += $NF} END {print sum}' "$SCRATCH/profile")
    reference=$(awk '$1 == "blocked" { print $2 }' "$SCRATCH/reference")
    echo "# $LABEL: offwake_reference: $folded us folded, $reference us by bpftrace"
    # A wake that one of the two did not see (docs/limits.md) is one of its waits.
    expect "the blocked time" "$folded" '>=' "0.98 * ${reference:-0} - 50000"
    expect "the blocked time" "$folded" '<=' "1.02 * ${reference:-0} + 50000"
}

case_offwake_stall() {
    local waits time blocked=0.95 towers
    start_exchange -- -n "$MANY"
    start_profile -p "$CLIENT" --json
    open_gate
    end_exchange
    end_profile
    judge_machine
    # The workload's own clock has the time on the run queue too.
    [ "$SLOW_MACHINE" = none ] || blocked=0.75
    towers='[.chains[] | select(.kernel | any(startswith("tcp_recvmsg"))) | select(.wakers[-1].name == "softirq:timer"
        and (.wakers[-1].kernel | any(startswith("tcp_delack_timer"))) and .wakers[0].name == "demo-server")]'
    waits=$(profile "$towers | map(.waits) | add // 0") time=$(profile "$towers | map(.blocked_ms) | add // 0")
    echo "# $LABEL: offwake_stall: $waits of $TRUTH_STALLS waits end in the delayed-ACK timer, $time ms"
    expect "the client's waits in towers that end in the delayed-ACK timer" "$waits" '>=' "$PROVEN * $TRUTH_STALLS - 1"
    expect "their time" "$time" '>=' "$blocked * $TRUTH_MEDIAN_US * ($PROVEN * $TRUTH_STALLS - 1) / 1000"
}

case_offwake_widest_tower() {
    start_exchange -- -n "$MANY"
    start_profile -p "$CLIENT" -f -d --by-cause --svg "$SCRATCH/svg" --pprof "$SCRATCH/pprof"
    open_gate
    end_exchange
    end_profile
    local widest
    widest=$(awk '{n = $NF; $NF = ""; print n, $0}' "$SCRATCH/profile" | sort -rn | head -n 1)
    [[ $widest =~ ^[0-9]+\ demo-client\;nagle-delack\;.*\;client__run\;.*\;-\;.*\;--\;.*\;demo-server ]] ||
        fail "the widest tower is ${widest:0:300}"
    grep -q nagle-delack "$SCRATCH/svg" || fail "no nagle-delack in the flame graph"
    grep -aq nagle-delack <(zcat "$SCRATCH/pprof") || fail "no nagle-delack in the pprof profile"
    expect_is "the rights of the flame graph" "$(stat -c %a "$SCRATCH/svg")" 600
}

case_offwake_thousand_threads() {
    start_handover 150 1000
    start_profile -p "$HAND" --json --per-thread
    open_gate
    end_profile
    judge_machine
    # Their stacks are copied within a moment: what a slow machine has no room for it says.
    expect_is "what was lost" "$(profile ".completeness.lost | if $(on_slow_machine) then del(.unwinds) else . end | tostring")" '{}'
    expect "the threads seen" "$(profile '[.chains[].tid] | unique | length')" '>=' 1000
    expect_time first_sleep_us hand-first hrtimer_nanosleep
}

case_offwake_lost_stacks() {
    start_handover 50
    start_profile -p "$HAND" -f --stack-storage-size 4
    open_gate
    end_profile
    grep -q '\[lost stack\]' "$SCRATCH/profile" || fail "no lost stack is shown"
    grep -qE 'netstall: lost: [0-9,]+ .* [0-9.]+% of the time' "$SCRATCH/profile.err" ||
        fail "the loss is not said with its share: $(tail -n 2 "$SCRATCH/profile.err")"
    # Their time is not lost.
    expect "the time in all" "$(awk '{sum += $NF} END {print sum}' "$SCRATCH/profile")" '>=' \
        "$(blocked_in first_sleep_us) + $(blocked_in second_pipe_us) + $(blocked_in third_futex_us)"
}

case_offwake_filters() {
    start_handover 100
    start_profile -t "$SECOND" --json
    "$NETSTALL" offwake -p "$HAND" -f -m 5000 -M 8000 >"$SCRATCH/limits" 2>/dev/null &
    local limits=$!
    "$NETSTALL" offwake -p "$HAND" -f --state 2 >"$SCRATCH/state" 2>"$SCRATCH/state.err" &
    local state=$!
    wait_for "$WAIT_LIMIT" has_line profiling "$SCRATCH/state.err" || fail "netstall did not attach"
    pause 0.5 # the one between has no one to tell
    open_gate
    end_profile
    judge_machine
    wait "$limits" && wait "$state" || fail "netstall failed"
    expect_is "the threads seen with -t" "$(profile '[.chains[] | "\(.comm) \(.tid)"] | unique | join(",")')" "hand-second $SECOND"
    expect_time second_sleep_us hand-second hrtimer_nanosleep
    # The first sleeps 6 ms, the others less than 5.
    grep -q '^hand-first;.*nanosleep' "$SCRATCH/limits" || fail "-m 5000 -M 8000 dropped a wait of 6 ms"
    ! grep -q '^hand-third;.*nanosleep.*;--;' "$SCRATCH/limits" ||
        expect "the time of waits of 2 ms within -m 5000" "$(awk '/^hand-third;.*nanosleep/ {sum += $NF} END {print sum}' "$SCRATCH/limits")" '<=' 30000
    ! grep -q nanosleep "$SCRATCH/state" || fail "--state 2 shows interruptible sleeps"
}

# A program from its first instruction to its end, which comes before the profile's.
case_offwake_program() {
    local status=0
    TRUTH_STALLS=no TRUTH_EXCHANGES=no
    watch_machine
    "$NETSTALL" offwake 30 --json -- "$HANDOVER" 30 </dev/null >"$SCRATCH/out" 2>"$SCRATCH/err" || status=$?
    expect_is "the status" "$status" 0
    judge_machine
    grep '^done' "$SCRATCH/out" >"$SCRATCH/gated"
    sed -n '/^{/,$p' "$SCRATCH/out" >"$SCRATCH/profile"
    expect_time first_recv_us hand-first sk_wait_data
    expect_time second_sleep_us hand-second hrtimer_nanosleep
    expect "the waits of main()" "$(profile '[.chains[] | select(.user | any(. == "main"))] | length')" '>=' 1
}

# Processes that become other programs while their stacks are unwound.
case_offwake_exec() {
    local status=0
    # shellcheck disable=SC2016
    "$NETSTALL" offwake 30 -f -- bash -c 'for i in {1..30}; do
        (sleep 0.03; exec sh -c "sleep 0.05; exec sleep 0.05") & sleep 0.02
    done; wait' >"$SCRATCH/profile" 2>"$SCRATCH/err" </dev/null || status=$?
    expect_is "the status" "$status" 0
    grep -q '^sleep;.*nanosleep' "$SCRATCH/profile" || fail "no sleep of the last program is seen"
}

case_offwake_bad_input() {
    refuse() { # refuse STATUS REGEX OPTIONS...
        local status=0 wanted=$1 regex=$2
        shift 2
        timeout 20 "$NETSTALL" offwake "$@" >"$SCRATCH/out" 2>"$SCRATCH/err" </dev/null || status=$?
        expect_is "the status of offwake $*" "$status" "$wanted"
        [ "$(wc -l <"$SCRATCH/err")" = 1 ] && grep -qE "$regex" "$SCRATCH/err" ||
            fail "offwake $* says: $(head -c 300 "$SCRATCH/err")"
    }
    refuse 64 'exclude each other' -u -k
    refuse 64 'must not be less than -m' -m 10 -M 5
    refuse 64 'whole number from 1 to 8' --depth 9 5
    refuse 64 'is a second one' 5 6
    refuse 64 'follows --' ./program
    refuse 64 'needs a program to run' 5 --
    refuse 64 'fp, dwarf or auto' --unwind lbr
    refuse 64 'exclude each other' -f --json -p 1
    refuse 2 'no process has pid 4194303' -p 4194303 1
    refuse 2 'cannot write to /nowhere/svg' --svg /nowhere/svg -p $$ 1
}
