# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# shellcheck shell=bash
#
# Live cases for host a of a pair of VMs: the peer is on another host, b, where peer.sh waits for commands. So netstall sees
# one side only, and must deduce what the other did.

PEER=192.0.2.2 PEER_PORT=7707 HERE=192.0.2.1 TRANSLATED=198.51.100.7
QUICK_CASES+=" remote_split remote_split_seen_by_server remote_late_server remote_slow_path remote_rto remote_tlp
    remote_fast_retransmit remote_syn_retransmit remote_good remote_joined remote_joined_through_nat "
exec {LINE}<>/run/vm/port.peer

# on_peer COMMAND: runs it on host b, prints its output; its status.
on_peer() {
    local id=$RANDOM$RANDOM answer status length
    printf '%s %s\n' "$id" "$1" >&"$LINE"
    # What a case that was ended had still to read comes first.
    while read -r -t 120 answer status length <&"$LINE" && [ "$answer" != "$id" ]; do :; done
    [ "${answer:-}" = "$id" ] || fail "the other host does not answer"
    head -c "$length" <&"$LINE"
    return "$status"
}

peer_must() { on_peer "$1" >"$SCRATCH/peer" || fail "the other host: $(head -c 300 "$SCRATCH/peer")"; }

# begin OPTIONS...: the server on host b and the client at its gate here, both with these options. PATH_DELAY: how far away
# host b is, there and back. TRANSLATE: host b sees TRANSLATED in place of this one's address.
PATH_DELAY= TRANSLATE=
begin() {
    CLEANUP+=("tc qdisc del dev eth0 root" "tc qdisc del dev eth0 clsact")
    peer_must tidy
    if [ -n "$PATH_DELAY" ]; then
        # shellcheck disable=SC2086
        modprobe sch_netem && tc qdisc add dev eth0 root netem delay $PATH_DELAY || skip "no netem here"
    fi
    if [ -n "$TRANSLATE" ]; then
        tc qdisc add dev eth0 clsact
        tc filter add dev eth0 egress protocol ip u32 match ip src "$HERE" action nat egress "$HERE/32" "$TRANSLATED" &&
            tc filter add dev eth0 ingress protocol ip u32 match ip dst "$TRANSLATED" action nat ingress "$TRANSLATED/32" "$HERE" ||
            fail "no address translation"
    fi
    peer_must "serve $*"
    start_exchange -- --client-only --host "$PEER" --port "$PEER_PORT" "$@"
}

go() {
    open_gate
    end_exchange
}

# The whole case, traced here.
trace_client() {
    start_trace -p "$CLIENT"
    go
    end_trace
}

# Every so many-th of the segments towards host b whose u16 at byte $2 of the IP header is $3 under the mask $4 is lost,
# sent for the first time or again. It is lost on arrival: what its own host drops, TCP is told of.
lose_every() {
    local filter="protocol ip u32 match ip dport $PEER_PORT 0xffff match u16 $3 $4 at $2"
    peer_must "modprobe -a cls_u32 act_gact sch_ingress && tc qdisc add dev eth0 clsact"
    peer_must "tc filter add dev eth0 ingress $filter action pass random determ drop $1"
}

# How many segments this host has sent again since it started, by its kernel's word.
sent_again() { awk '$1 == "Tcp:" && $13 ~ /^[0-9]+$/ { print $13 }' /proc/net/snmp; }

# expect_cause CAUSE CONFIDENCE SHARE: so much of the workload's stalls has it; and it leads.
expect_cause() {
    local count others
    count=$(report "[.stalls[] | select(.cause == \"$1\" and (.confidence | test(\"$2\")))] | length")
    others=$(report "[.stalls[] | select(.cause != \"$1\" and .exact) | .cause] | group_by(.) | map(\"\(length) \(.[0])\") | join(\", \")")
    echo "# $LABEL: ${FUNCNAME[1]#case_}: $count of $TRUTH_STALLS stalls are $1, $2${others:+; others: $others}"
    expect "the number of $1 stalls, $2," "$count" '>=' "$3 * $TRUTH_STALLS"
    expect_is "the verdict" "$(report .verdict.cause)" "$1"
}

expect_sums() {
    expect_is "stalls whose slices do not sum" \
        "$(report '[.stalls[] | select(((.slices | map(.ms) | add) - .duration_ms | fabs) > 0.000002)] | length')" 0
}

case_remote_split() {
    begin --mode split -n "$FEW"
    trace_client
    expect_cause nagle-delack inferred "$FOUND"
    expect_sums
    expect_is "peers named though nobody saw them" "$(report '[.connections[] | select((.peer_pid // 0) != 0)] | length')" 0
}

# The same, seen from the side whose delayed ACK it is. That what came next was let go by the ACK is told by its coming one
# round trip later: so the path is longer than what an emulated machine adds to it at random.
case_remote_split_seen_by_server() {
    PATH_DELAY=15ms
    begin --mode split -n "$FEW"
    # shellcheck disable=SC2016 # variables of host b
    peer_must "ATTACH=(${ATTACH[*]}); "'start_trace -p $SERVER'
    go
    on_peer hand_over_report >"$SCRATCH/report" || fail "$(cat "$SCRATCH/report")"
    expect_cause nagle-delack inferred "$FOUND"
    expect_sums
}

# recorded OPTIONS...: the workload with these options, recorded on both hosts, which are joined: as one host would have seen it.
recorded() {
    begin "$@"
    # shellcheck disable=SC2016 # variables of host b
    peer_must "ATTACH=(${ATTACH[*]}); "'start_trace --all --record "$SCRATCH/recording" -p $SERVER'
    start_trace --all --record "$SCRATCH/here" -p "$CLIENT"
    go
    end_trace
    on_peer hand_over_report >/dev/null || fail "the other host's trace did not end"
    # shellcheck disable=SC2016
    on_peer 'cat "$SCRATCH/recording"' >"$SCRATCH/there"
    "$NETSTALL" report --json "$SCRATCH/here" "$SCRATCH/there" 2>"$SCRATCH/joined" | tail -n 1 >"$SCRATCH/report"
    grep -q 'connection of both' "$SCRATCH/joined" || fail "not joined: $(cat "$SCRATCH/joined")"
    echo "# $LABEL: $(sed 's/^netstall: //' "$SCRATCH/joined" | paste -sd' ')"
    expect_is "contradictions in the report" "$(contradictions)" ""
    OFFSET_US=$(sed -n "s/.*clock is \([0-9.]*\) ms \(ahead\|behind\).*/\1 \2/p" "$SCRATCH/joined" |
        awk '{ print int(($2 == "behind" ? -1000 : 1000) * $1) }')
    BOUND_US=$(sed -n "s/.*wrong by \([0-9.]*\) \(us\|ms\|s\) at most.*/\1 \2/p" "$SCRATCH/joined" |
        awk '{ print int($1 * ($2 == "s" ? 1e6 : $2 == "ms" ? 1000 : 1)) + 1 }')
}

# What was deduced is seen, and the time on the way, which is longer in one direction, is measured. That makes it less certain how far the clocks
# are apart, but not wrong: the short way had told.
case_remote_joined() {
    local offset bound
    recorded --mode split -n "$FEW"
    expect_cause nagle-delack observed "$FOUND"
    expect_sums
    expect_is "the timer is seen, not deduced" "$(report '[.stalls[] | select(.cause == "nagle-delack") | .evidence | any(.event == "delack-fire")] | all')" true
    offset=$OFFSET_US bound=$BOUND_US
    PATH_DELAY=60ms
    recorded --mode single -n 8
    expect_no_holds
    expect_cause network observed "$FOUND"
    expect "how far the clocks are apart, in us" "$OFFSET_US" '<=' "$offset + $bound + $BOUND_US + 1000"
    expect "how far the clocks are apart, in us" "$OFFSET_US" '>=' "$offset - $bound - $BOUND_US - 1000"
    expect "how certain that is, in us" "$BOUND_US" '>=' 20000
}

# The same through address translation, which a router does else: each host sees another one than there is.
case_remote_joined_through_nat() {
    local mac
    modprobe -a act_nat cls_u32 sch_ingress || skip "no address translation here"
    mac=$(cat /sys/class/net/eth0/address)
    peer_must "ip route replace $TRANSLATED/32 dev eth0 && ip neigh replace $TRANSLATED lladdr $mac dev eth0"
    TRANSLATE=yes recorded --mode split -n "$FEW"
    expect_cause nagle-delack observed "$FOUND"
    expect_sums
    grep -q '1 connection of both (1 through address translation)' "$SCRATCH/joined" || fail "it says: $(cat "$SCRATCH/joined")"
}

case_remote_late_server() {
    begin --mode late-server -n "$FEW"
    trace_client
    expect_no_holds
    expect_cause peer-app inferred "$FOUND"
}

case_remote_slow_path() {
    PATH_DELAY=60ms
    begin --mode single -n "$FEW"
    trace_client
    expect_no_holds
    expect_cause network . "$FOUND"
}

# 176 bytes in a segment of 228; each request is in one.
case_remote_rto() {
    begin --mode single -n "$((5 * FEW))"
    sysctl -q net.ipv4.tcp_early_retrans=0 && CLEANUP+=("sysctl -q net.ipv4.tcp_early_retrans=3")
    lose_every 5 2 228 0xffff
    trace_client
    expect_no_holds
    expect_cause rto observed "$FOUND"
    expect_sums
}

case_remote_tlp() {
    begin --mode single -n "$((5 * FEW))"
    lose_every 5 2 228 0xffff
    trace_client
    expect_no_holds
    expect_cause tlp observed "$MOST" # a probe that comes late is an rto
    expect_sums
}

# Requests of seven full segments and a bit, over a path on which recovery takes a stall's time.
case_remote_fast_retransmit() {
    PATH_DELAY="30ms loss 10%" # of eight segments one or more in about half of the exchanges, not always such that ACKs tell
    ip link set dev eth0 gso_max_segs 1 # netem loses what it is given, which would be the request as one piece
    begin --mode single -n "$FEW" --request 11000
    trace_client
    expect "the number of fast-retransmit slices" \
        "$(report '[.stalls[] | select([.slices[].cause] | index("fast-retransmit"))] | length')" '>=' "0.1 * $FEW"
    expect_sums
}

# The SYN, not the ACK, of every other connection.
case_remote_syn_retransmit() {
    begin --mode single -n "$FEW" --connections 6 --connect-after-gate
    lose_every 2 32 0x0002 0x0012
    trace_client
    TRUTH_STALLS=6
    expect_cause syn-retransmit observed 0.5
}

case_remote_good() {
    local before
    before=$(sent_again)
    begin --mode nodelay -n "$GOOD"
    trace_client
    expect_no_holds
    # An emulated path is so slow now and then that TCP sends again.
    expect "stalls of recovery" "$(report '[.stalls[] | select(.cause | test("rto|tlp|retransmit"))] | length')" '<=' "$(($(sent_again) - before))"
    expect "what was lost" "$(lost)" '==' 0
}
