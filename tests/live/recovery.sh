# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# shellcheck shell=bash
#
# Losses, over loopback and over a wire with a delay; ends that are out of sight.

# shellcheck disable=SC2034
QUICK_CASES+=" loss_rto loss_tlp loss_fast loss_syn wire_split_client wire_split_server "

LOSSES=${LOSSES:-$WORKLOADS/losses}
WIRE=${WIRE:-$WORKLOADS/wire}

# trace_losses MODE [server]: under `trace -p` of the client, or of the server.
trace_losses() {
    EXCHANGE=$LOSSES start_exchange -- --mode "$1" -n 6
    case ${2:-client} in client) start_trace -p "$CLIENT" ;; server) start_trace -p "$SERVER" ;; esac
    open_gate
    end_exchange
    end_trace
}

# expect_recovered CAUSE RETRANSMITS: of each of the workload's stalls that its cause is told, once, with what was sent again.
# A softirq run that no program sees (docs/limits.md) takes a retransmission with it; the socket's own count tells, and its
# stall is then named by what was seen of it. The timers of both ends may run out in one such run: of each end one may be missing.
expect_recovered() {
    local unseen
    unseen=$(report '[.connections[] | .retransmitted - ([.retransmitted_by[]] | add // 0) | select(. > 0)] | max // 0')
    [ "$unseen" = 0 ] || echo "# $LABEL: ${FUNCNAME[1]#case_}: $unseen retransmissions that a socket counted were not seen"
    expect "the retransmissions of one end that were not seen" "$unseen" '<=' 1
    expect "the number of $1 stalls" "$(count_of "$1")" '>=' "$TRUTH_STALLS - $unseen"
    expect "the number of $1 stalls" "$(count_of "$1")" '<=' "$TRUTH_STALLS"
    expect "the number of stalls of other losses" \
        "$(report '[.stalls[] | select(.cause | IN("rto","tlp","fast-retransmit","syn-retransmit")) | select(.cause != "'"$1"'")] | length')" '<=' "2 * $unseen"
    expect "$1 stalls with another number of segments sent again" \
        "$(report "[.stalls[] | select(.cause == \"$1\") | .retransmits | select(. != $2)] | length")" '<=' "$unseen"
    expect_is "the verdict" "$(report .verdict.cause)" "$1"
}

case_loss_rto() {
    trace_losses rto
    expect_recovered rto 2
    # A probe first, then the timer; the slices say so of all whose probe was seen.
    expect_is "what the stalls consist of" \
        "$(report '[.stalls[] | select(.cause == "rto" and .retransmits == 2) | [.slices[0,1].cause] | join(" ")] | unique | join(",")')" 'tlp rto'
    expect "segments sent again, by the socket's own count" "$(report '[.connections[].retransmitted] | add')" '>=' "2 * $TRUTH_STALLS"
}

case_loss_tlp() {
    trace_losses tlp
    expect_recovered tlp 1
}

case_loss_fast() {
    trace_losses fast server
    expect_recovered fast-retransmit 1
}

case_loss_none() {
    trace_losses none
    expect_is "stalls by loss" "$(report '[.stalls[] | select(.cause | IN("rto","tlp","fast-retransmit","syn-retransmit"))] | length')" 0
}

# A full listen queue: the SYN is dropped and sent again.
case_loss_syn() {
    trace_losses syn
    expect_recovered syn-retransmit 1
    expect_is "stalls that are not seen whole" \
        "$(report '[.stalls[] | select(.cause == "syn-retransmit" and (.missing != null or (.exact | not)))] | length')" 0
}

# TCP_DEFER_ACCEPT, as Apache has it, and handshakes that the client resets, as HAProxy does to see whether a server is there: the kernel
# counts last ACKs that it puts off, and these resets, as drops of the listener. No queue was full.
case_drops_of_no_full_queue() {
    cat >"$SCRATCH/deferred.py" <<'EOF'
import socket, struct, threading, time

def probe(address):
    with socket.socket() as end:
        end.setsockopt(socket.IPPROTO_TCP, socket.TCP_QUICKACK, 0)
        end.connect(address)
        end.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))

listener = socket.socket()
listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_DEFER_ACCEPT, 5)
listener.bind(("127.0.0.1", 0))
listener.listen(16)

def ask():
    for i in range(20):
        with socket.create_connection(listener.getsockname()) as end:
            time.sleep(0.001)
            end.sendall(b"q")
            end.recv(1)

asker = threading.Thread(target=ask)
input()
asker.start()
for i in range(20):
    with listener.accept()[0] as end:
        end.recv(1)
        end.sendall(b"a")
asker.join()
plain = socket.create_server(("127.0.0.1", 0))
for i in range(10):
    probe(plain.getsockname())
print("plain", plain.getsockname()[1], flush=True)
input()
EOF
    mkfifo "$SCRATCH/begin"
    /usr/bin/python3 "$SCRATCH/deferred.py" <"$SCRATCH/begin" >"$SCRATCH/program" &
    local program=$!
    exec {GATE}>"$SCRATCH/begin"
    start_trace -p $program
    echo >&"$GATE"
    await_line '^plain' "$SCRATCH/program" $program || fail "the program failed"
    grep -q ',d10)' <<<"$(ss -ltnmH "sport = :$(sed -n 's/^plain //p' "$SCRATCH/program")")" || fail "the kernel counts no resets"
    echo >&"$GATE"
    wait $program || fail "the program failed"
    end_trace
    expect_is "accepted" "$(report '[.requests[] | select(.connection == null and .endpoint.port != null) | .count] | add')" 20
    expect_is "what the listen queue dropped" "$(report '.full_listen_queues | length')" 0
}

# start_wire OPTION...: between the addresses 10.211.0.1 and .2 of a network namespace of its own, NETNS.
start_wire() {
    NETNS="nsw$OWN"
    ip netns add "$NETNS" 2>/dev/null || skip "no network namespaces here"
    CLEANUP+=("ip netns del $NETNS")
    ip -n "$NETNS" link set lo up
    ip netns exec "$NETNS" "$WIRE" "$@" >"$SCRATCH/wire" 2>"$SCRATCH/wire.err" &
    await_line '^ready' "$SCRATCH/wire" $! || skip "no TUN device here: $(cat "$SCRATCH/wire.err")"
}

# Nobody answers and the program gives up: told at the end, as long as it took.
case_loss_syn_given_up() {
    start_wire --lose syn:1:99
    printf '#!/bin/bash\n: </dev/tcp/10.211.0.2/9\n' >"$SCRATCH/connecter" && chmod +x "$SCRATCH/connecter"
    start_trace --comm connecter
    ip netns exec "$NETNS" "$SCRATCH/connecter" >/dev/null 2>&1 &
    local connecter=$!
    sleep 2.5
    kill "$connecter"
    wait "$connecter"
    TRUTH_STALLS=1 TRUTH_EXCHANGES=1
    end_trace
    expect "the number of syn-retransmit stalls" "$(count_of syn-retransmit)" '==' 1
    expect "SYNs sent again" "$(report '[.stalls[] | select(.cause == "syn-retransmit") | .retransmits] | add')" '>=' 1
    expect_is "the address" "$(report '.connections[0].remote')" 10.211.0.2:9
}

# over_wire WIRE-OPTIONS -- EXCHANGE-OPTIONS: client and server, each of which takes the other for another host.
over_wire() {
    local wire=()
    while [ "$1" != -- ]; do
        wire+=("$1")
        shift
    done
    shift
    start_wire "${wire[@]}"
    ip netns exec "$NETNS" "$EXCHANGE" --server-only --host 10.211.0.1 --port 7707 --gate none >"$SCRATCH/server" 2>&1 &
    await_line '^ready' "$SCRATCH/server" $! || fail "no server beyond the wire"
    start_exchange ip netns exec "$NETNS" -- --client-only --host 10.211.0.2 --port 7707 "$@"
    SERVER=$(field server_pid "$(grep ^ready "$SCRATCH/server")")
}

case_wire_rto() {
    over_wire --delay 2 --lose request:5:2 -- --mode single -n 20
    start_trace -p "$CLIENT"
    open_gate
    end_exchange
    end_trace
    # The request and its probe are lost, and the timer's copy gets through.
    TRUTH_STALLS=$(grep -c 'copy=1$' "$SCRATCH/wire")
    expect_recovered rto 2
    expect "what the waits for lost requests were put down to besides" "$(count_of peer-app)" '<=' "$OTHERS"
}

# A connection for each request: what it takes to make one is a part of it, and the last one's first SYN is lost.
case_wire_connects() {
    start_wire --delay 15 --lose syn:20:1
    cat >"$SCRATCH/asks.py" <<'EOF'
import os, socket, sys, threading
server = socket.create_server(("10.211.0.1", 7708))
def serve():
    while True:
        with server.accept()[0] as conn:
            conn.sendall(conn.recv(100))
threading.Thread(target=serve, daemon=True).start()
print("ready", os.getpid(), flush=True)
sys.stdin.readline()
for i in range(20):
    with socket.create_connection(("10.211.0.2", 7708)) as conn:
        conn.sendall(b"what?")
        conn.recv(100)
EOF
    mkfifo "$SCRATCH/gate"
    ip netns exec "$NETNS" /usr/bin/python3 "$SCRATCH/asks.py" <"$SCRATCH/gate" >"$SCRATCH/asks" 2>&1 &
    local asks=$!
    exec {GATE}>"$SCRATCH/gate"
    await_line '^ready' "$SCRATCH/asks" $asks || fail "no client: $(cat "$SCRATCH/asks")"
    start_trace -p "$(awk '/^ready/ { print $2 }' "$SCRATCH/asks")"
    open_gate
    wait $asks
    TRUTH_STALLS=20 TRUTH_EXCHANGES=20
    end_trace
    local made='.requests[] | select(.role == "makes" and .connection == null)'
    expect_is "requests" "$(report "[$made][0].count")" 20
    expect "the median's, ms" "$(report "[$made][0].median.total_ms")" '>=' 58
    expect "of that to connect, ms" "$(report "[$made][0].median.slices[0].ms")" '>=' 29
    expect_is "the cause of that" "$(report "[$made][0].median.slices[0].cause")" network
    expect_is "the lost SYN" "$(report "[$made][0].p99.slices[0].cause")" syn-retransmit
    expect "waited for, ms" "$(report "[$made][0].p99.slices[0].ms")" '>=' 900
}

# The sender's side of an unseen peer: the acknowledgement without data that came far too late.
case_wire_split_client() {
    over_wire --delay 2 -- --mode split -n "$FEW"
    start_trace -p "$CLIENT"
    open_gate
    end_exchange
    end_trace
    expect "the number of inferred nagle-delack stalls" \
        "$(report '[.stalls[] | select(.cause == "nagle-delack" and .confidence == "inferred" and .inferred != null)] | length')" '>=' "$MOST * $TRUTH_STALLS - 1"
}

# The receiver's side: our timer, our acknowledgement, and the rest one round trip later. Of a far longer way than what a busy machine adds
# to it: what comes later than two round trips is not told.
case_wire_split_server() {
    over_wire --delay 15 -- --mode split -n "$FEW"
    start_trace -p "$SERVER"
    open_gate
    end_exchange
    end_trace
    expect "the number of inferred nagle-delack stalls" \
        "$(report '[.stalls[] | select(.cause == "nagle-delack" and .confidence == "inferred" and .inferred != null)] | length')" '>=' "$MOST * $TRUTH_STALLS - 2"
    expect_is "the verdict" "$(report .verdict.cause)" nagle-delack
    expect_served_since_it_was_written
}

# A delayed ACK that fires between requests holds nobody up, whoever looks.
case_wire_harmless_delack() {
    over_wire --delay 2 -- --mode paced -n $((FEW * 5))
    start_trace -p "$SERVER"
    open_gate
    end_exchange
    end_trace
    expect "delayed ACKs fired" "$(report '[.connections[].delayed_acks.fired] | add')" '>=' 2
    expect_is "nagle-delack stalls" "$(count_of nagle-delack)" 0
}
