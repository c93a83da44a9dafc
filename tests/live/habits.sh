# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# shellcheck shell=bash
#
# Where a request's time goes, and what the program's habits are: exchanges, an HTTP server under
# wrk, a forwarder under iperf3.

# They measure shares of a CPU, switches and medians, or make as many requests as the machine can.
ALONE_CASES+=" requests_single requests_served requests_many_connections http forwarder_1_stream forwarder_8_streams forwarder_small_pieces
    forwarder_that_computes requests_below_the_threshold limited_in_short_waits preempted not_preempted switches_for_handing_over switches_of_one_thread latent not_latent "

FORWARDER=${FORWARDER:-$WORKLOADS/forwarder}
HTTPD=${HTTPD:-$WORKLOADS/httpd}
FORWARDER_OPTIONS=()
HOLDS='"nagle", "nagle-delack", "cork", "autocork", "tsq", "tso-defer"'

# main_slice VIEW: the cause that takes most of it, and its share. What a slow machine adds by itself, computing and waiting for its
# CPU, is left out there: an emulated one that gets no CPU of its host's computes for longer than the timers run.
main_slice() {
    local own='[]'
    [ "$SLOW_MACHINE" = none ] || own='["self", "runqueue"]'
    report ".requests[0].$1.slices | map(select([.cause] | inside($own) | not)) | (map(.ms) | add) as \$all
        | group_by(.cause) | map([.[0].cause, (map(.ms) | add) / \$all]) | max_by(.[1]) | \"\(.[0]) \(.[1])\""
}

# What the workload makes is all of its requests' time but for 0.5%, measured on a busy machine. Of an emulated machine's time less
# is in the timers: what runs between them is slow.
expect_main_slice() { # VIEW CAUSE
    local cause share least=0.97
    [ -z "$QUICK" ] || least=0.6
    read -r cause share < <(main_slice "$1")
    expect_is "what takes most of the $1 request" "$cause" "$2"
    expect "its share" "$share" '>=' "$least"
}

# Slices are cut without gap or overlap, and every view was taken from somewhere.
expect_views() {
    expect_is "views that do not sum" "$(report '[.requests[] | .median, .p99 | select(.slices | length > 0)
        | select(((.slices | map(.ms) | add) - .total_ms | fabs) > 0.000005)] | length')" 0
    expect "requests taken apart" "$(report '.requests[0].sampled // 0')" '>' 0
    expect "requests taken apart" "$(report '.requests[0].sampled')" '<=' "$(report '.requests[0].count')"
}

# expect_median [FROM TO]: it is the workload's own to 0.1% and, of requests of a few us, between FROM and TO, less what its own
# system calls take at both ends of an exchange: 4% of them.
expect_median() {
    local ours from=${1:-$TRUTH_MEDIAN_US} to=${2:-$TRUTH_MEDIAN_US} less=0.98 more=1.02
    [ $# = 0 ] || less=0.8 more=1.05
    [ -z "$QUICK" ] || return 0 # a TCG machine's latencies wander
    ours=$(report '.requests[0].median.total_ms * 1000')
    expect "the median, us (the workload's own: $from to $to)" "$ours" '<=' "$more * $to"
    expect "the median, us (the workload's own: $from to $to)" "$ours" '>=' "$less * $from"
}

# Rarely a run of events is invisible (docs/limits.md), so not every exchange may be there.
expect_exchanges() {
    local counted
    counted=$(report "[.connections[] | select(.pid == $CLIENT) | .exchanges] | add")
    echo "# $LABEL: ${FUNCNAME[1]#case_}: $counted of $TRUTH_EXCHANGES exchanges counted, $(report '.requests[0].sampled') taken apart"
    expect "the exchanges counted" "$counted" '>=' "$FOUND * $TRUTH_EXCHANGES"
    expect "the exchanges counted" "$counted" '<=' "$TRUTH_EXCHANGES"
}

case_requests_split() {
    trace_exchange --mode split -n 60 # two writes each: enough for a habit
    expect_exchanges
    expect_views
    expect_median
    expect_main_slice median nagle-delack
    # What is a millisecond apart and more is no habit, and so far apart are a slow machine's.
    [ "$SLOW_MACHINE" != none ] || grep -q '"small-writes"' <<<"$(report '.habits | map(.id)')" || fail "two small writes a request are no habit"
}

# Nothing reaches the threshold, and the question is answered all the same.
case_requests_below_the_threshold() {
    TRACE_OPTIONS=(--threshold 1000)
    trace_exchange --mode split -n "$FEW"
    expect_is "stalls" "$(stall_count)" 0
    expect_views
    expect_main_slice median nagle-delack
    expect_main_slice p99 nagle-delack
}

# A sender that takes what room there is, and whose reader computes: it waits all the time, and never for long. As it closes, all of
# that is a request without an answer; as netstall ends before, it is nothing but short waits.
case_limited_in_short_waits() {
    local sender reader
    command -v python3 >"$SCRATCH/python" || skip "python3 is not installed"
    start_at_gate python3 -c '
import os, select, socket, sys, time
listener = socket.create_server(("127.0.0.1", 0))
reader = os.fork()
if not reader:
    conn = listener.accept()[0]
    while conn.recv(1024):
        end = time.perf_counter() + 2e-5
        while time.perf_counter() < end:
            pass
    os._exit(0)
conn = socket.create_connection(listener.getsockname())
listener.close()
conn.setblocking(False)
print("ready", reader, flush=True)
sys.stdin.readline()
end = time.monotonic() + 2
while time.monotonic() < end:
    if select.select([], [conn], [], 0.1)[1]:
        conn.send(bytes(65536))
'
    start_trace -p "$GATED"
    echo >&"$GATE"
    wait_for "$WAIT_LIMIT" gone "$GATED" || fail "the sender did not come to its end"
    end_trace
    expect "the part of the window in which it had no room" \
        "$(report '.window.duration_ms as $all | .connections[] | select(.role == "target") | .limited_ms.rwnd / $all')" '>=' 0.6
    sender=python3/$GATED reader=python3/$(awk '{ print $2 }' "$SCRATCH/gated")
    report '.verdict.headline' | grep -Eq "$reader reads more slowly than $sender writes|what $sender writes waited for $reader to read" ||
        fail "the verdict: $(report '.verdict.headline')"
}

# rank PERCENT: of the workload's own exchanges, us.
rank() { awk '{ print $2 / 1000 }' "$SCRATCH/samples" | sort -n | awk -v part="$1" '{ us[NR] = $1 } END { print us[int(NR * part / 100)] }'; }

case_requests_single() {
    trace_exchange --mode single -n "$GOOD" --samples "$SCRATCH/samples"
    expect_exchanges
    expect_views
    # Each that is told stands for as many as the distance of samples was then: 0.89 to 0.97 of all, measured.
    expect "what the sample stands for" "$(gojq -n '[inputs | select(.event == "exchange" and .side == "asked").weight] | add' "$SCRATCH/trace")" \
        '>=' "0.7 * $(report '.requests[0].count')"
    # Of a sample, and on some machines half of these exchanges take four times as long as the other half (both ends on one CPU, or
    # not): a median is sure as to its rank, not as to its size.
    expect_median "$(rank 35)" "$(rank 65)"
    expect_is "requests held back" "$(report "[.requests[] | .median.slices[].cause | select(IN($HOLDS))] | length")" 0
    expect_is "habits of one write a request" "$(report '[.habits[] | select(.id == "small-writes")] | length')" 0
}

expect_other_end() {
    expect_is "what is known of the other end" "$(report '.requests[0].median.confidence')" observed
}

case_requests_late_server() {
    trace_exchange --mode late-server -n "$FEW"
    expect_exchanges
    expect_views
    expect_median
    expect_main_slice median peer-app
    expect_other_end
}

case_requests_cork() {
    trace_exchange --mode cork -n "$FEW"
    expect_views
    expect_median
    expect_main_slice median cork
}

# whole_requests MODE: requests that end with the last byte of their answer, by a client with a clock of its own. Not what it does
# before it asks again.
whole_requests() {
    local EXCHANGE=$WORKLOADS/requests ours
    trace_exchange --mode "$1" -n "$FEW"
    expect_views
    ours=$(report '.requests[0] | select(.role == "makes").median.total_ms * 1000')
    expect "$1: the median, us (the workload's own: $TRUTH_MEDIAN_US)" "$ours" '<=' "1.05 * $TRUTH_MEDIAN_US"
    expect "$1: the median, us (the workload's own: $TRUTH_MEDIAN_US)" "$ours" '>=' "0.95 * $TRUTH_MEDIAN_US"
    expect "$1: requests taken apart" "$(report '.requests[0].sampled')" '>=' "0.9 * $FEW"
    expect_is "$1: ends that were not seen" "$(gojq -s '[.[] | select(.event == "exchange" and .side == "asked")
        | select(.ended == "answered")] | length' "$SCRATCH/trace")" 0
}
case_requests_body_comes_later() { whole_requests body; }
case_requests_one_read_waits_for_all() { whole_requests waitall; }
case_requests_pipelined() { whole_requests pipelined; }
case_requests_half_closed() { whole_requests half-close; }
case_requests_think_time_is_none() { whole_requests think; }

# The server alone: what it serves, from the arrival of a request to the last byte of the answer.
case_requests_served() {
    local EXCHANGE=$WORKLOADS/requests ours
    start_exchange -- --mode busy -n "$FEW"
    start_trace -p "$SERVER"
    open_gate
    end_exchange
    end_trace
    expect_views
    ours=$(report '.requests[0] | select(.role == "serves").median.total_ms * 1000')
    expect "the median, us (the workload's own: $TRUTH_MEDIAN_US)" "$ours" '<=' "1.05 * $TRUTH_MEDIAN_US"
    expect "the median, us (the workload's own: $TRUTH_MEDIAN_US)" "$ours" '>=' "0.95 * $TRUTH_MEDIAN_US"
    expect_is "requests that it makes" "$(report '[.requests[] | select(.role == "makes")] | length')" 0
    # Half of it computing, half asleep, but for its waits for a CPU: 0.499 to 0.501 measured. Where others want its CPU, a part of the
    # computing is taken for waiting.
    local cause least=0.48
    [ "$SLOW_MACHINE" = none ] || least=0.4
    for cause in self timer; do
        expect "its share of $cause" "$(report "[.requests[0].median.slices[] | select(.cause != \"runqueue\")]
            | ([.[] | select(.cause == \"$cause\").ms] | add) / ([.[].ms] | add)")" '>=' $least
    done
    # A wait that is a record of its own is not in what the thread spent.
    gojq -r 'select(.event == "exchange" and .side == "served" and .spent_known == 1) | .run_us' "$SCRATCH/trace" | sort -n >"$SCRATCH/run"
    expect "answers of which it is known what the thread did" "$(wc -l <"$SCRATCH/run")" '>=' "0.9 * $FEW"
    expect "computing of the median one, us" "$(sed -n "$(($(wc -l <"$SCRATCH/run") / 2 + 1))p" "$SCRATCH/run")" '>=' 19900
    expect "computing of the median one, us" "$(sed -n "$(($(wc -l <"$SCRATCH/run") / 2 + 1))p" "$SCRATCH/run")" '<=' 22000
}

# Both ends: each request once, and with both its sides.
case_requests_of_both_ends() {
    local EXCHANGE=$WORKLOADS/requests
    start_exchange -- --mode body -n "$FEW"
    start_trace -p "$CLIENT,$SERVER"
    open_gate
    end_exchange
    end_trace
    expect_views
    expect_is "roles" "$(report '[.requests[].role] | unique | join(" ")')" makes
    expect "requests taken apart" "$(report '.requests[0].sampled')" '<=' "$FEW"
    expect_other_end
}

# One thread for the answers of many connections: it sleeps in epoll_wait() for some, the others are there when it comes by. All
# have their turn in the sample.
case_requests_many_connections() {
    local most=32
    [ -z "$QUICK" ] || most=16 # of a tenth of the requests
    trace_exchange --mode single -n "$GOOD" --connections 64
    expect_exchanges
    expect_views
    expect "connections taken apart" "$(report '.requests | length - 1')" '>=' "$most"
    expect_is "requests held back" "$(report "[.requests[] | .median.slices[].cause | select(IN($HOLDS))] | length")" 0
}

# start_pair CODE: a server and a client in Python, in processes of their own. It defines serve(conn) and ask(conn); who asks waits
# at the gate. Sets CLIENT and SERVER.
start_pair() {
    command -v python3 >"$SCRATCH/python" || skip "python3 is not installed"
    start_at_gate python3 -c "$1"'
import os, socket, sys, time
listener = socket.create_server(("127.0.0.1", 0))
server = os.fork()
if not server:
    conn = listener.accept()[0]
    conn.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    serve(conn)
    os._exit(0)
conn = socket.create_connection(listener.getsockname())
conn.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
print(f"ready client={os.getpid()} server={server}", flush=True)
sys.stdin.readline()
ask(conn)
conn.close()
os.waitpid(server, 0)
'
    CLIENT=$(field client "$(cat "$SCRATCH/gated")") SERVER=$(field server "$(cat "$SCRATCH/gated")")
}

# A window of requests under way, a new one for each answer: the bytes of both ends take no turns. And with a window of one they do.
several_at_a_time() { # WINDOW CONNECTIONS PID
    start_pair "window = $1"'
def serve(conn):
    while (asked := conn.recv(4096)):
        for _ in range(len(asked) // 8):
            time.sleep(0.004)
            conn.sendall(b"answered")
def ask(conn):
    for _ in range(window):
        conn.sendall(b"question")
    for _ in range(120):
        conn.recv(8, socket.MSG_WAITALL)
        conn.sendall(b"question")
    conn.recv(8 * window, socket.MSG_WAITALL)
'
    start_trace -p "${!3}"
    open_gate
    wait_for "$WAIT_LIMIT" gone "$GATED" || fail "the client did not end"
    end_trace
    expect_is "connections with several requests at a time" "$(report '.requests[0].several_at_a_time')" "$2"
    expect_is "of the row of the connection" "$(report '[.requests[] | select(.connection).several_at_a_time] | add')" "$2"
}
case_requests_several_at_a_time() { several_at_a_time 8 1 CLIENT; }
case_requests_several_at_a_time_served() { several_at_a_time 8 1 SERVER; }
case_requests_one_at_a_time() { several_at_a_time 1 0 CLIENT; }

# A connection for each request, each tenth of which is slow: the quick ones count as well, though none comes behind another.
short_connections() { # PID
    start_pair '
def serve(conn):
    while (conn := listener.accept()[0]):
        asked = conn.recv(9)
        if asked == b"slow":
            time.sleep(0.03)
        conn.sendall(b"answer")
        conn.close()
        if asked == b"end":
            return
def ask(conn):
    for i in range(301):
        with socket.create_connection(listener.getsockname()) as one:
            one.sendall(b"end" if i == 300 else b"slow" if i % 10 == 9 else b"quick")
            one.recv(9)
'
    start_trace -p "${!1}"
    open_gate
    wait_for "$WAIT_LIMIT" gone "$GATED" || fail "the client did not end"
    end_trace
    # The slow ones are 30; of bursts of quick ones a part is taken.
    expect "requests taken apart" "$(report '.requests[0].sampled')" '>=' 100
    expect "the median, ms" "$(report '.requests[0].median.total_ms')" '<=' 15
    expect "the 99th percentile, ms" "$(report '.requests[0].p99.total_ms')" '>=' 30
    # One row has them all, and the pair's own, which is idle; of the list the worst are left.
    # A program of ours that the kernel did not run may have told of one.
    if [ "$(report '.completeness.lost_by_kind.runs // 0')" = 0 ]; then
        expect_is "connections and their requests" "$(report '.requests[0] | "\(.connections) \(.count)"')" "302 301"
    else
        expect "connections that were seen, of 302" "$(report '.requests[0].connections')" '>=' "302 - $(report '.completeness.lost_by_kind.runs')"
    fi
    expect_is "connections listed or counted" "$(report '(.connections | length) + .connections_not_listed')" "$(report .completeness.sockets)"
    expect_is "connections listed" "$(report '.connections | length <= 200')" true
}
case_requests_of_short_connections() { short_connections CLIENT; }
case_requests_of_short_connections_served() { short_connections SERVER; }

# What nobody asked for is no answer that is late: the request is over with the first piece, and nobody is held up.
subscription() { # PID ROLE
    start_pair '
import select
def serve(conn):
    conn.recv(9)
    conn.sendall(b"subscribed")
    while not select.select([conn], [], [], 0.05)[0]:
        conn.sendall(b"news")
def ask(conn):
    conn.sendall(b"subscribe")
    while conn.recv(100):
        pass
'
    start_trace -p "${!1}" -d 1.5
    open_gate
    wait_for "$WAIT_LIMIT" gone "$TRACE_PID" || fail "netstall did not end"
    end_trace
    kill "$SERVER"
    wait_for "$WAIT_LIMIT" gone "$GATED" || fail "the client did not end"
    expect_is "stalls beside that of the gate, and the machine's" \
        "$(report '[.stalls[].cause | select(IN("ipc", "runqueue") | not)] | join(" ")')" ""
    expect "the longest request, ms" "$(report "[.requests[] | select(.role == \"$2\").p99.total_ms] | max // 0")" '<=' 45
}
case_requests_subscription() { subscription CLIENT makes; }
case_requests_subscription_served() { subscription SERVER serves; }

# What the thread computed before its request, without leaving its CPU, is none of it.
case_requests_after_computing() {
    start_pair '
def serve(conn):
    while conn.recv(9):
        time.sleep(0.006)
        conn.sendall(b"answer")
def ask(conn):
    for _ in range(60):
        until = time.monotonic() + 0.006
        while time.monotonic() < until:
            pass
        conn.sendall(b"question")
        conn.recv(9)
'
    start_trace -p "$CLIENT"
    open_gate
    wait_for "$WAIT_LIMIT" gone "$GATED" || fail "the client did not end"
    end_trace
    expect_is "what takes most of the median request" "$(report '.requests[0].median.slices | max_by(.ms).cause')" peer-app
    gojq -r 'select(.event == "exchange" and .side == "asked" and .spent_known == 1) | .run_us' "$SCRATCH/trace" | sort -n >"$SCRATCH/run"
    expect "requests of which it is known what the thread did" "$(wc -l <"$SCRATCH/run")" '>=' 20
    # Where it was preempted in the midst, the sums were up to date: so of nearly all.
    expect "computing of the third most, us" "$(tail -n 3 "$SCRATCH/run" | head -n 1)" '<=' 1500
}

# start_server PROGRAM...: SERVER_PID and PORT of one that prints them.
start_server() {
    "$@" >"$SCRATCH/server" 2>&1 &
    SERVER_PID=$!
    await_line '^ready' "$SCRATCH/server" "$SERVER_PID" || fail "$1 did not start: $(cat "$SCRATCH/server")"
    PORT=$(field port "$(cat "$SCRATCH/server")")
}
end_server() {
    kill "$SERVER_PID" && wait_for 20 gone "$SERVER_PID" || fail "the server did not end"
    SERVER_SAID=$(grep '^done' "$SCRATCH/server") || fail "the server said nothing at its end"
}

# expect_no_hold_stalls [MOST]
expect_no_hold_stalls() {
    echo "# $LABEL: ${FUNCNAME[1]#case_}: stalls $(report '[.stalls[].cause] | group_by(.) | map("\(.[0]) \(length)") | join(", ")')"
    expect "stalls by a hold" "$(report "[.stalls[] | select(.cause | IN($HOLDS))] | length")" '<=' "${1:-0}"
}

bulk_habits() { report '[.habits[].id | select(endswith("-bound"))] | join(" ")'; }

case_http() {
    command -v wrk >/dev/null || skip "wrk is not installed"
    TRUTH_STALLS=0
    start_server "$HTTPD"
    start_trace -p "$SERVER_PID"
    wrk -t 1 -c 16 -d 2s "http://127.0.0.1:$PORT/" >"$SCRATCH/wrk" 2>&1 || fail "wrk: $(tail -n 1 "$SCRATCH/wrk")"
    end_trace
    end_server
    local wrk served counted
    wrk=$(sed -n 's/ *\([0-9]*\) requests in .*/\1/p' "$SCRATCH/wrk") served=$(field requests "$SERVER_SAID")
    counted=$(report "[.connections[] | select(.pid == $SERVER_PID) | .exchanges] | add")
    echo "# $LABEL: http: wrk says $wrk requests, the server $served, netstall $counted"
    TRUTH_EXCHANGES=$served
    # What is under way when wrk stops counts for the server alone.
    expect "the exchanges counted" "$counted" '>=' "$FOUND * $wrk"
    expect "the exchanges counted" "$counted" '<=' "$served"
    expect_no_hold_stalls
    expect_is "bulk transfers" "$(bulk_habits)" ''
}

# forward STREAMS OPTIONS...: iperf3 through a forwarder, which is traced.
forward() {
    local streams=$1 target
    shift
    command -v iperf3 >/dev/null || skip "iperf3 is not installed"
    TRUTH_STALLS=0 TRUTH_EXCHANGES=0
    target=$((20000 + RANDOM % 10000))
    iperf3 --forceflush -s -1 -B 127.0.0.1 -p "$target" >"$SCRATCH/iperf-server" 2>&1 &
    wait_for "$WAIT_LIMIT" has_line 'listening' "$SCRATCH/iperf-server" || fail "iperf3 does not listen on $target"
    start_server "$FORWARDER" "$target" "${FORWARDER_OPTIONS[@]}"
    start_trace -p "$SERVER_PID"
    iperf3 -c 127.0.0.1 -p "$PORT" -t 2 -P "$streams" "$@" >"$SCRATCH/iperf" 2>&1 || fail "iperf3: $(tail -n 1 "$SCRATCH/iperf")"
    end_trace
    end_server
    echo "# $LABEL: ${FUNCNAME[1]#case_}: $(report '.habits[] | select(.id | endswith("-bound")) | .text')"
}

# What bounds the forwarder, by its own account and the rule of user/analyze/requests/habits.c: where a CPU is busy for a fifth of the
# time and more, waking, if a wake brings less than 32 KiB and takes less than 20 us. How busy it is depends on the machine, so that
# near these numbers either is right. $1: which is meant, said where it is another.
expect_bound() {
    local bounds
    bounds=$(awk -v bytes="$(field bytes "$SERVER_SAID")" -v sleeps="$(field sleeps "$SERVER_SAID")" -v busy_ms="$(field busy_ms "$SERVER_SAID")" \
        -v ran_ms="$(field ran_ms "$SERVER_SAID")" -v ms="$(report .window.duration_ms)" 'BEGIN {
        each = 2 * bytes / (sleeps + 1); busy = busy_ms / ms; us = 1000 * ran_ms / (sleeps + 1)
        if (each < 36000 && busy > 0.18 && us < 22) print "wake-bound"
        if (each > 29000 || busy < 0.22 || us > 18) print "none"
    }')
    echo "# $LABEL: ${FUNCNAME[1]#case_}: meant to be $1; by its own account, $SERVER_SAID: ${bounds//$'\n'/ or }"
    grep -qx "$(bulk_habits | grep . || echo none)" <<<"$bounds" ||
        fail "what bounds it is '$(bulk_habits)', by its own account ${bounds//$'\n'/ or }: $SERVER_SAID"
    expect "the forwarder's sleeps" "$(report "[.threads[] | select(.pid == $SERVER_PID).voluntary] | add")" '>=' \
        "0.98 * $(field sleeps "$SERVER_SAID") - 20"
}

# The last bytes of a burst do wait for the acknowledgement of what is out, by Nagle's rule. Where receivers wait for a CPU that
# comes late: seen to be true, and rare.
case_forwarder_1_stream() {
    forward 1
    expect_bound none
    expect_no_hold_stalls "$OTHERS"
}

case_forwarder_8_streams() {
    forward 8
    expect_bound none
    expect_no_hold_stalls "$OTHERS"
}

# Many small pieces, so that the forwarder is woken for each handful of them.
case_forwarder_small_pieces() {
    forward 1 -l 1K -N -b 200M
    expect_bound wake-bound
    expect_no_hold_stalls "$OTHERS"
}

# ---- habits that look alike ----

# habit_ids FILTER: of those that it lets pass.
habit_ids() { report "[.habits[] | select($1) | .id] | join(\" \")"; }

# trace_rounds MODE [MS]: of the workload whose rounds are short.
trace_rounds() {
    TRUTH_STALLS=0
    rm -f "$SCRATCH/trace.err" # of the mode before
    EXCHANGE=${WAITS:-$WORKLOADS/waits} start_exchange -- --mode "$1" -n 400 --ms "${2:-1}"
    start_trace -p "$CLIENT"
    open_gate
    end_exchange
    end_trace
    echo "# $LABEL: $1: $(report '[.habits[].text] | join("; ")')"
}

# Nagle's algorithm holds each second piece, and the other end's acknowledgement lets it go at once.
case_latent() {
    trace_rounds split-quick
    expect_is "stalls by Nagle's algorithm" "$(report '[.stalls[] | select(.cause | startswith("nagle"))] | length')" 0
    expect_is "the habit" "$(habit_ids '.id == "latent"')" latent
    grep -q 'acknowledges the piece before at once' <<<"$(report '.habits[] | select(.id == "latent").text')" || fail "it does not say why"
}

# The same pieces with TCP_NODELAY; one piece; those that do stall.
case_not_latent() {
    trace_rounds split-nodelay
    expect_is "the habit without Nagle's algorithm" "$(habit_ids '.id == "latent"')" ''
    rm -f "$SCRATCH/trace.err"
    trace_exchange --mode split -n 60
    expect_is "the habit where it stalls" "$(habit_ids '.id == "latent"')" ''
    rm -f "$SCRATCH/trace.err"
    trace_exchange --mode single -n 200
    expect_is "the habit of one piece" "$(habit_ids '.id == "latent"')" ''
}

# Two programs that compute on one CPU: each has half of it.
case_preempted() {
    local spinners=() first
    first=$(sed 's/[-,].*//' <<<"$(taskset -cp $$ | sed 's/.*: //')")
    for _ in 1 2; do
        taskset -c "$first" sh -c 'while :; do :; done' &
        spinners+=($!)
    done
    start_trace -p "${spinners[0]}"
    sleep 2
    end_trace
    kill "${spinners[@]}"
    echo "# $LABEL: preempted: $(report '[.habits[].text] | join("; ")')"
    expect_is "the habit" "$(habit_ids '.id == "preempted"')" preempted
}

# A thread that wakes another one on its CPU, again and again, loses it to that one, which is done in microseconds.
case_not_preempted() {
    local first
    first=$(sed 's/[-,].*//' <<<"$(taskset -cp $$ | sed 's/.*: //')")
    TRUTH_STALLS=0
    EXCHANGE=${WAITS:-$WORKLOADS/waits} start_exchange taskset -c "$first" -- --mode waker -n 500
    start_trace -p "$CLIENT"
    open_gate
    end_exchange
    end_trace
    echo "# $LABEL: not_preempted: $(report '[.threads[] | "\(.voluntary) voluntary, \(.involuntary) involuntary"] | join("; ")')"
    expect "preemptions of the one that computes" "$(report "[.threads[] | select(.tid == $CLIENT).involuntary] | add")" '>=' 40
    expect_is "the habit" "$(habit_ids '.id == "preempted"')" ''
}

# A forwarder that computes for each small piece: its time is not spent on waking.
case_forwarder_that_computes() {
    FORWARDER_OPTIONS=(131072 60)
    forward 1 -l 1K -N -b 60M
    expect_is "bulk transfers" "$(bulk_habits)" ''
}

# switches_an_exchange: of the client's threads.
switches_an_exchange() {
    report "([.threads[] | select(.pid == $CLIENT) | .voluntary + .involuntary] | add) / ([.connections[] | select(.pid == $CLIENT) | .exchanges] | add)"
}

case_switches_for_handing_over() {
    trace_rounds handing
    expect "switches an exchange" "$(switches_an_exchange)" '>=' 4
    expect_is "the habit" "$(habit_ids '.id == "switches-per-exchange"')" switches-per-exchange
}

# As many switches of one thread, which waits in steps, are no handing over.
case_switches_of_one_thread() {
    trace_rounds steps 6
    expect "switches an exchange" "$(switches_an_exchange)" '>=' 4
    expect_is "the habit" "$(habit_ids '.id == "switches-per-exchange"')" ''
}
