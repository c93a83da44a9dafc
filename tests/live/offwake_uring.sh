# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# shellcheck shell=bash disable=SC2154
#
# The off-CPU profile of waits on io_uring rings: what completed the operation is the waker.

# start_ring_waits KIND...: tests/workload/ring_waits.c at its gate, a thread for each kind of wait.
start_ring_waits() { start_at_gate "$WORKLOADS/ring_waits" --gate "$@"; }

# What the kernel at hand has no ring for is not asked after.
has_kind() { [[ ,$(field kinds "$(grep '^done' "$SCRATCH/gated")"), == *,"$1",* ]]; }

# Its rounds' waits, by the functions of the program that they are called from.
RING_WAITS='.user | any(. == "run_waiter") and any(startswith("wait_on") or . == "take")'

# A waker that no program saw has no name: rarely a softirq run is visible to none (docs/limits.md).
RING_UNSEEN='def unseen($hops): any(range($hops) as $hop | (.wakers[$hop].name // ""); . == "");'

# ring_share THREAD WAKER FUNCTION NEXT: of the time that THREAD waited on its ring, the part that WAKER (a regular expression) ended
# with FUNCTION on its kernel stack, whose own wait NEXT had ended; each may be empty: whatever it is.
ring_share() {
    profile "$RING_UNSEEN [.chains[] | select(.comm == \"$1\" and ($RING_WAITS)) | select(unseen($5) | not)] as \$all | [\$all[]
        | select(.wakers[0] | (.name | test(\"^($2)\$\")) and (.kernel | any(startswith(\"$3\"))))
        | select(\"$4\" == \"\" or ((.wakers[1].name // \"\") | test(\"^($4)\$\")))]
        | (map(.blocked_ms) | add // 0) / ([\$all[].blocked_ms] | add // 1)"
}
expect_ring() { # expect_ring THREAD WAKER [FUNCTION [NEXT]]: nearly all of it, and as long as it was kept waiting
    has_kind "$1" || return 0
    local chains=".chains[] | select(.comm == \"$1\" and ($RING_WAITS))" hops=1
    [ -z "${4-}" ] || hops=2
    expect "the share of $1's time that $2 ended by ${3-}, itself woken by ${4-}" "$(ring_share "$1" "$2" "${3-}" "${4-}" "$hops")" '>=' "$RING_SHARE"
    [ -n "$QUICK" ] || expect "waits of $1 whose wakers were not seen" \
        "$(profile "$RING_UNSEEN [$chains | select(unseen($hops)) | .waits] | add // 0")" '<=' 1
    expect "what $1 was blocked, us" "$(profile "[$chains | .blocked_ms] | add * 1000")" '>=' "$RING_BLOCKED * $TRUTH_US"
    # Neither the tracer's own frames on top nor the scheduler's, nor another system call.
    expect_is "chains of $1 that do not sleep in io_uring's wait" "$(profile "[$chains | .kernel
        | select((.[0] | test(\"^(io_cqring_wait|__(do|arm64)_sys_io_uring_enter|eventfd_read|do_wait_intr_irq)\") | not)
            or (any(test(\"^(io_cqring_wait|__(do|arm64)_sys_io_uring_enter|eventfd_read)\")) | not))] | map(join(\";\")) | join(\" \")")" ''
}

# expect_cause_of_threads CAUSE THREAD...: of nearly all of their time in the rounds that was in waits long enough to be explained.
expect_cause_of_threads() {
    local cause=$1 thread waits
    shift
    for thread; do
        waits="[.chains[] | select(.comm | test(\"^$thread\$\")) | select(.user | any(. == \"pthread_barrier_wait\") | not)]"
        expect "the share of $thread's time that is $cause" "$(profile "$waits | map(select(.cause != \"not-explained\"))
            | (map(select(.cause == \"$cause\") | .blocked_ms) | add // 0) / (map(.blocked_ms) | add // 1)")" '>=' 0.85
        expect "the share of $thread's time that is explained" "$(profile "$waits
            | (map(select(.cause != \"not-explained\") | .blocked_ms) | add // 0) / (map(.blocked_ms) | add // 1)")" '>=' 0.5
    done
}

case_offwake_uring() {
    # Who is emulated waits for its CPU much of the time, the more so the more threads there are.
    local RING_SHARE=0.95 RING_BLOCKED=0.9 kinds=()
    [ -z "$QUICK" ] || RING_SHARE=0.5 RING_BLOCKED=0.3 kinds=(recv deferred eventfd worker timeout)
    start_ring_waits "${kinds[@]}"
    start_profile -p "$GATED" --json --depth 3 --by-cause
    open_gate
    end_profile
    judge_machine
    TRUTH_US=$(field wait_us "$(grep '^done' "$SCRATCH/gated")")
    echo "# $LABEL: offwake_uring: $(field kinds "$(grep '^done' "$SCRATCH/gated")")"
    # Who sends is the waker, whatever the kernel calls the rest of the way; what it had done itself comes next.
    expect_ring recv recv-by tcp_ 'irq:.*'
    expect_ring deferred deferred-by tcp_ 'irq:.*'
    expect_ring eventfd eventfd-by tcp_ 'irq:.*'
    # Two completions of one call: half the time each its own cause, nothing twice.
    expect_ring two 'two-by|irq:.*' ''
    expect_ring two-deferred 'two-deferred-by|irq:.*' ''
    # A thread of io_uring's own is followed to who woke it.
    expect_ring sqpoll 'iou-sqp-.*' ''
    # It looks around for a while before it sleeps: what it finds then, nobody woke it for.
    RING_SHARE=0.5 expect_ring sqpoll 'iou-sqp-.*' '' sqpoll-by
    expect_ring worker 'iou-wrk-.*' '' worker-by
    expect_ring async 'async-by|iou-wrk-.*' ''
    expect_ring timeout 'irq:.*' io_timeout_fn
    expect_ring limit 'irq:.*'
    expect_ring nop nop-by '' 'irq:.*'
    expect_ring message message-by '' 'irq:.*'
    expect_is "what was lost" "$(profile '.completeness | if .complete then "nothing" else tojson end')" nothing
    [ -z "$QUICK" ] || return 0
    # Nobody owes data that was not asked for; who made the rings' threads wait for work owes nothing either.
    expect_cause_of_threads idle recv deferred eventfd sqpoll 'iou-sqp-.*'
    expect_cause_of_threads timer timeout limit
    expect_cause_of_threads lock nop message
    expect_cause_of_threads ipc worker async
    # As above: the end of one may have been seen by no program.
    local long='[.chains[] | select(.cause == "unknown" or .cause == "uring") | select(.waits > 0 and .blocked_ms > 10)]'
    expect "long waits without a cause ($(profile "$long | map(\"\(.comm) \(.kernel | join(\";\"))\") | join(\" \")"))" \
        "$(profile "$long | map(.waits) | add // 0")" '<=' 1
}

# Nagle against a delayed ACK, over a ring: its cause at the foot, the timer at the top, the program's own functions in between.
case_offwake_uring_stall() {
    local least=90
    EXCHANGE=$URING start_exchange -- --mode split -n "$FEW"
    start_profile -p "$CLIENT" --by-cause
    open_gate
    end_exchange
    end_profile
    judge_machine
    [ "$SLOW_MACHINE" = none ] || least=70
    expect "nagle-delack, in percent" "$(share_of nagle-delack)" '>=' "$least"
    expect "us of it from the program's call to the delayed-ACK timer" \
        "$(us_of '^uring;nagle-delack;_start;.*;mode_split;.*io_uring_enter;.*;--;.*;tcp_delack_timer')" '>=' "0.9 * $(us_of ';nagle-delack;')"
}
