# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# shellcheck shell=bash
#
# Every reason for which TCP keeps bytes back, by a workload that is held for just that (tests/workload/holds.c). Its
# gate is a wait of its own, and loss probes may come by: other stalls are let pass, other reasons of the hold are not.

HOLDS_PROGRAM=${HOLDS_PROGRAM:-$WORKLOADS/holds}

# trace_holds MODE N [PREFIX...]: the workload under trace.
trace_holds() {
    local mode=$1 count=$2
    shift 2
    EXCHANGE=$HOLDS_PROGRAM
    start_exchange "$@" -- --mode "$mode" -n "$count"
    start_trace -p "$CLIENT"
    open_gate
    end_exchange
    end_trace
}

# expect_cause CAUSE LEAST: so many stalls of it, each with the hold and its numbers among its evidence, and slices that sum.
expect_cause() {
    echo "# $LABEL: ${FUNCNAME[1]#case_}: $(count_of "$1") of $TRUTH_STALLS stalls $1; $(report '[.stalls[].cause] | join(" ")')"
    expect "the number of $1 stalls" "$(count_of "$1")" '>=' "$2"
    expect_is "$1 stalls without their hold" \
        "$(report "[.stalls[] | select(.cause == \"$1\" and (.evidence | length > 0)) | select([.evidence[].event] | index(\"hold\") | not)] | length")" 0
    expect_is "slices that do not sum" \
        "$(report '[.stalls[] | select(((.slices | map(.ms) | add) - .duration_ms | fabs) > 0.000002)] | length')" 0
}

# Stalls of cause $1 that have a slice of each other cause named: how many lack one.
expect_slices() {
    local cause=$1 slice
    shift
    for slice in "$@"; do
        expect "the $cause stalls with a slice of $slice" \
            "$(report "[.stalls[] | select(.cause == \"$cause\") | select([.slices[].cause] | index(\"$slice\"))] | length")" '>=' 1
    done
}

# own_network MTU: sets NETNS to a network namespace with nothing but a loopback device, and without loss probes, which on
# a path as quick as that come before any delayed ACK.
own_network() {
    NETNS=holds$OWN
    ip netns add "$NETNS" 2>/dev/null || skip "no network namespaces here"
    CLEANUP+=("ip netns del $NETNS")
    ip -n "$NETNS" link set lo mtu "$1" up
    ip netns exec "$NETNS" sysctl -qw net.ipv4.tcp_early_retrans=0 || skip "loss probes cannot be turned off here"
}

# A device that takes 20 ms for each 1,000 bytes.
slow_network() {
    own_network 1500
    ip netns exec "$NETNS" tc qdisc replace dev lo root tbf rate 400kbit burst 3200 latency 4s 2>/dev/null ||
        skip "no token bucket filter here"
}

case_holds_zero_window() {
    trace_holds zero-window 4
    expect_cause zero-window 3
    expect_slices zero-window rwnd
    expect_is "zero-window stalls that delayed somebody else than the writer" \
        "$(report "[.stalls[] | select(.cause == \"zero-window\" and .pid != $CLIENT)] | length")" 0
    expect_is "the verdict" "$(report .verdict.cause)" zero-window
}

case_holds_zero_window_poll() {
    trace_holds zero-window-poll 4
    expect_cause zero-window 3
}

case_holds_rwnd() {
    own_network 65536
    trace_holds rwnd 4 ip netns exec "$NETNS"
    expect_cause rwnd 3
}

case_holds_pacing() {
    trace_holds pacing 4
    expect_cause pacing 3
    expect_is "the verdict" "$(report .verdict.cause)" pacing
    expect "holds that say how long the timer waits" \
        "$(report '[.stalls[] | select(.cause == "pacing").evidence[] | select(.event == "hold" and .pacing_us > 0 and .pacing_rate == 2000000)] | length')" '>=' 1
}

case_holds_cwnd() {
    own_network 65536
    trace_holds cwnd 4 ip netns exec "$NETNS"
    expect_cause cwnd 3
    expect_is "cwnd holds that had room" \
        "$(report '[.stalls[] | select(.cause == "cwnd").evidence[] | select(.event == "hold" and .in_flight < .cwnd)] | length')" 0
}

case_holds_sndbuf() {
    own_network 65536
    trace_holds sndbuf 4 ip netns exec "$NETNS"
    expect_cause sndbuf 3
    expect_is "full buffers with room" \
        "$(report '[.stalls[] | select(.cause == "sndbuf").evidence[] | select(.event == "hold" and .reason == "sndbuf" and .wmem_queued < .sndbuf)] | length')" 0
}

case_holds_autocork() {
    slow_network
    trace_holds autocork 4 ip netns exec "$NETNS"
    expect_cause autocork 2
}

case_holds_tsq() {
    slow_network
    ip netns exec "$NETNS" sysctl -qw net.ipv4.tcp_autocorking=0 || skip "automatic corking cannot be turned off here"
    trace_holds tsq 4 ip netns exec "$NETNS"
    expect_cause tsq 2
}

# The reason changes while the hold lasts.
case_holds_cork_then_nagle() {
    trace_holds cork-nagle 6
    expect_cause nagle-delack 4
    expect_slices nagle-delack cork
}

# It changes, and more happens behind that than a connection's history has room for.
case_holds_many_writes_later() {
    trace_holds cork-nagle-writes 6
    expect_cause nagle-delack 4
    expect_slices nagle-delack cork
}

# TCP_NODELAY is set in the middle of a hold by Nagle's algorithm: no acknowledgement, and no timer either.
case_holds_nodelay_midway() {
    trace_holds nodelay-midway 12
    expect_cause nagle 10
    expect "nagle-delack stalls" "$(count_of nagle-delack)" '<=' "$OTHERS"
    expect_is "nagle stalls that miss something" \
        "$(report '[.stalls[] | select(.cause == "nagle" and .missing != null)] | length')" 0
}

case_holds_cork_cleared() {
    trace_holds cork-midway 6
    expect_cause cork 5
}

# netstall comes when the writer sleeps in its send already.
case_holds_attached_late() {
    EXCHANGE=$HOLDS_PROGRAM
    # An emulated machine takes long to attach.
    start_exchange -- --mode zero-window -n 1 --ms "${QUICK:+2}6000"
    open_gate
    sleep 1
    start_trace -p "$CLIENT"
    end_exchange
    end_trace
    expect_cause zero-window 1
}

case_holds_none() {
    trace_holds good 2000
    expect_is "stalls by a hold" "$(report '[.stalls[] | select(.held_bytes > 0)] | length')" 0
}
