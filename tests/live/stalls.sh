# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# shellcheck shell=bash
#
# Stalls of known causes, and programs without any.

ALONE_CASES+=" single nodelay medley "

case_split() {
    trace_exchange --mode split -n "$MANY"
    expect "the workload's stalls" "$TRUTH_STALLS" '>=' "0.5 * $TRUTH_EXCHANGES"
    expect_all_stalls nagle-delack
    expect "the number of proven nagle-delack stalls" \
        "$(report '[.stalls[] | select(.cause == "nagle-delack" and .confidence == "observed")] | length')" '>=' "$PROVEN * $TRUTH_STALLS"
    expect_is "slices that do not sum" "$(report '[.stalls[] | select(((.slices | map(.ms) | add) - .duration_ms | fabs) > 0.000002)] | length')" 0
    # The evidence chain, link by link, on each stall that carries its evidence.
    expect_is "stalls without a whole chain" "$(report '[.stalls[] | select(.cause == "nagle-delack" and .confidence == "observed" and (.evidence | length > 0))
        | [.evidence[].event] as $e | select((["hold","delack-fire","ack","release"] - $e) | length > 0)] | length')" 0
    [ -n "$QUICK" ] && return 0 # a TCG machine's latencies wander
    expect "the median's distance from the workload's own, us" \
        "$(report "(.causes[] | select(.cause == \"nagle-delack\").p50_ms) * 1000 - $TRUTH_MEDIAN_US | fabs")" '<' 1000
}

# A request that is served begins when all of it was written. On a slow machine not half of them need be seen as held: the slowest.
expect_served_since_it_was_written() {
    local row view=median
    [ "$SLOW_MACHINE" = none ] || view=p99
    row=$(report "[.requests[] | select(.role == \"serves\" and .connection == null)][0].$view")
    expect "the $view of what it serves, ms" "$(gojq .total_ms <<<"$row")" '>=' 35
    expect_is "its main cause" "$(gojq -r '.slices | max_by(.ms).cause' <<<"$row")" nagle-delack
}

case_split_server_side() {
    start_exchange -- --mode split -n "$FEW"
    start_trace -p "$SERVER"
    open_gate
    end_exchange
    end_trace
    expect_all_stalls nagle-delack
    expect_served_since_it_was_written
}

case_split_new_socket() {
    trace_exchange --mode split -n "$FEW" --connect-after-gate
    expect_all_stalls nagle-delack
    expect_is "connections of the target" "$(report '[.connections[] | select(.pid == '"$CLIENT"')] | length')" 1
}

case_split_ipv6() {
    trace_exchange --mode split -n "$FEW" --ipv6
    expect_all_stalls nagle-delack
    grep -q '^\[::1\]:' <(report '.connections[0].local') || fail "the address is $(report '.connections[0].local')"
}

case_split_many_connections() {
    trace_exchange --mode split -n $((FEW * 8)) --connections 8
    expect_all_stalls nagle-delack
    expect "connections that stalled" "$(report '[.stalls[] | select(.cause == "nagle-delack") | .connection] | unique | length')" '==' 8
}

case_single() {
    trace_exchange --mode single -n "$GOOD"
    expect_no_holds
    expect "what was lost" "$(lost)" '==' 0
    expect_is "the client's writes" "$(report '[.connections[] | select(.pid == '"$CLIENT"') | .writes] | add')" "$GOOD"
}

case_nodelay() {
    trace_exchange --mode nodelay -n "$GOOD"
    expect_no_holds
}

case_all_counts_every_write() {
    TRACE_OPTIONS=(--all)
    trace_exchange --mode nodelay -n "$FEW"
    expect_no_holds
    expect "what was lost" "$(lost)" '==' 0
    expect_is "the client's sends" "$(gojq -s '[.[] | select(.event == "send" and .tid == '"$CLIENT"')] | length' "$SCRATCH/trace")" $((2 * FEW))
    # But for what is told of an answer when the next request, or a close, shows that it was whole, however late that comes; and
    # for stalls, which are told when they are explained.
    expect_is "events out of order" "$(gojq -s '[.[] | select(.schema == "netstall.event/1" and .side != "served" and .event != "stall") | .t_ms]
        | [range(1; length) as $i | select(.[$i] < .[$i - 1])] | length' "$SCRATCH/trace")" 0
}

# Many at once, so that threads are preempted in netstall's own programs where the kernel allows that.
case_many_writers() {
    local name written told count=$((5 * FEW))
    for name in a b c d; do
        start_named "$name" --mode nodelay -n "$count"
    done
    trace_named
    written=$((3 * count * ${#CLIENTS[@]})) # two of a request, one of its answer
    told=$(report '[.connections[].writes] | add')
    echo "# $LABEL: many_writers: $told of $written writes told, runs left out: $(report '.completeness.lost_by_kind.runs // 0')"
    expect "writes told" "$told" '<=' "$written"
    expect "writes told" "$told" '>=' "$FOUND * $written"
    expect "writes told and runs left out" "$((told + $(report '.completeness.lost_by_kind.runs // 0')))" '>=' "$written"
}

case_piggyback() {
    trace_exchange --mode piggyback -n "$FEW"
    expect_all_stalls nagle 1 # the first exchange is quick-acked, so nothing is held in it: its wait is the server alone
}

case_cork() {
    trace_exchange --mode cork -n "$FEW"
    expect_all_stalls cork
}

case_msg_more() {
    trace_exchange --mode more -n "$FEW"
    expect_all_stalls cork
    expect "holds by MSG_MORE" "$(report '[.connections[].held["msg-more"] // 0] | add')" '>=' "$FEW"
}

case_late_server() {
    trace_exchange --mode late-server -n "$FEW"
    expect_no_holds
    expect_all_stalls peer-app
    # The chain goes on: what the server did meanwhile was a sleep. Its threads are watched from the first such wait on.
    expect "stalls whose chain names the server's sleep" \
        "$(report "[.stalls[] | select(.cause == \"peer-app\") | select(any(.links[]; .pid == $SERVER and .cause == \"timer\"))] | length")" \
        '>=' "$MOST * $TRUTH_STALLS - 1"
}

case_harmless_delack() {
    trace_exchange --mode paced -n $((FEW * 5))
    # That a thread waited for its CPU is the machine's doing.
    expect_is "stalls beside the client's own pauses" "$(strange '["timer", "runqueue"]')" 0
    expect "pauses of the client" "$(count_of timer)" '>=' "$((FEW / 2))"
    expect_is "pauses that a request waited for" "$(report '[.stalls[] | select(.cause == "timer" and (.between_requests | not))] | length')" 0
    expect_is "advice against them" "$(report '.verdict | select(.cause == "timer").advice[]')" ""
    expect "delayed ACKs fired" "$(report '[.connections[].delayed_acks.fired] | add')" '>=' "$((FEW / 2))"
}

# One netstall, a program of each kind at the same time, each with its own cause.
case_medley() {
    local -A cause=([split]=nagle-delack [piggyback]=nagle [cork]=cork [more]=cork [single]='' [nodelay]='' [paced]='')
    local mode count wrong right of_mode
    for mode in "${!cause[@]}"; do
        count=$((2 * FEW))
        [ -n "${cause[$mode]}" ] || [ "$mode" = paced ] || count=$GOOD
        start_named "$mode" --mode "$mode" -n "$count"
    done
    trace_named
    # Read once: on an emulated machine each reading of so large a report takes seconds.
    report "$(made_by_tcp) . as \$report | .stalls[] |
        \"\(.pid) \(.cause) \(if .exact and made_by_tcp(\$report) then \"exact\" else \"-\" end) \(.confidence)\"" >"$SCRATCH/stalls"
    for mode in "${!cause[@]}"; do
        of_mode="-v pid=${CLIENTS[$mode]} -v cause=${cause[$mode]}"
        # shellcheck disable=SC2086
        right=$(awk $of_mode '$1 == pid && $2 == cause' "$SCRATCH/stalls" | wc -l)
        # shellcheck disable=SC2086
        wrong=$(awk $of_mode '$1 == pid && $2 != cause && $3 == "exact"' "$SCRATCH/stalls" | wc -l)
        # A slow machine's piggyback server answers too late, the slower the more often: then the timer really was first, and was
        # seen to be.
        if [ "$mode $SLOW_MACHINE" = 'piggyback slow' ]; then
            expect "$mode: ${cause[$mode]} stalls" "$right" '>=' 1
            right=$((right + $(grep -c "^${CLIENTS[$mode]} nagle-delack .* observed$" "$SCRATCH/stalls")))
        else
            expect "$mode: stalls of another cause" "$wrong" '<=' "$OTHERS"
        fi
        [ -z "${cause[$mode]}" ] || expect "$mode: ${cause[$mode]} stalls" "$right" '>=' "$MOST * 2 * $FEW - 1"
    done
    expect "delayed ACKs fired" "$(report '[.connections[].delayed_acks.fired] | add')" '>=' "$FEW"
}

# Two hosts: the peer in another network namespace is found and named.
case_netns() {
    local a="nsa$OWN" b="nsb$OWN"
    ip netns add "$a" 2>/dev/null || skip "no network namespaces here"
    CLEANUP+=("ip netns del $a" "ip netns del $b")
    ip netns add "$b"
    ip link add va netns "$a" type veth peer name vb netns "$b" || skip "no veth here"
    ip -n "$a" addr add 192.0.2.1/24 dev va && ip -n "$a" link set va up
    ip -n "$b" addr add 192.0.2.2/24 dev vb && ip -n "$b" link set vb up
    ip netns exec "$b" "$EXCHANGE" --server-only --host 192.0.2.2 --port 7707 --gate none >"$SCRATCH/server" 2>&1 &
    local server=$!
    await_line '^ready' "$SCRATCH/server" "$server" || fail "no server in the namespace"
    start_exchange ip netns exec "$a" -- --client-only --host 192.0.2.2 --port 7707 --mode split -n "$FEW"
    start_trace -p "$CLIENT"
    open_gate
    end_exchange
    end_trace
    kill "$server"
    expect_all_stalls nagle-delack
    expect "the number of stalls whose peer was observed" \
        "$(report '[.stalls[] | select(.confidence == "observed")] | length')" '>=' "$MOST * $TRUTH_STALLS"
    expect_is "the peer" "$(report '[.connections[] | select(.pid == '"$CLIENT"') | .peer_pid] | unique | join(" ")')" \
        "$(field server_pid "$(grep ^ready "$SCRATCH/server")")"
}
