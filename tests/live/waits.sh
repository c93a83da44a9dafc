# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# shellcheck shell=bash
#
# The facts of a wait: what it was about, whose turn it was, who ended it. All of them on the wait records of --all.

ALONE_CASES+=" wait_sums wait_returns_unseen empty_wakes "

WAITS=${WAITS:-$WORKLOADS/waits}

# trace_waits MODE: its rounds under `trace -p CLIENT --all`. Sets ROUNDS, CLIENT_TID, WAKER_TID, BACKEND.
trace_waits() {
    ROUNDS=${ROUNDS:-10}
    EXCHANGE=$WAITS start_exchange -- --mode "$1" -n "$ROUNDS"
    local ready
    ready=$(grep '^ready' "$SCRATCH/exchange")
    CLIENT_TID=$(field client_tid "$ready") WAKER_TID=$(field waker_tid "$ready") BACKEND=$(field backend_pid "$ready")
    CLIENT_FD=$(field fd "$ready")
    start_trace -p "$CLIENT" "${@:2}"
    open_gate
    end_exchange
    end_trace
}

# waits FILTER: how many wait records of at least 20 ms, of the client's thread, match it. $fd, $waker, $conn (the client's
# connection) and name(ID) (the text of a stack, empty where none was taken) may be used.
waits() {
    gojq -s --argjson tid "$CLIENT_TID" --argjson waker "$WAKER_TID" --argjson fd "$CLIENT_FD" "
        (reduce (.[] | select(.event == \"stack\")) as \$s ({}; .[\$s.id | tostring] = \$s.text)) as \$names
        | def name(\$id): \$names[\$id | tostring] // \"\";
        (map(select(.event == \"conn\" and .fd == \$fd and .tgid == \$tid)) | last | .conn) as \$conn
        | [.[] | select(.event == \"wait\" and .tid == \$tid and .t_ms - .off_ms >= 20 and .state != 0)
            | select($1)] | length" "$SCRATCH/trace"
}

expect_waits() { # expect_waits WHAT FILTER
    expect "waits $1" "$(waits "$2")" '>=' "0.9 * $ROUNDS"
}

case_wait_futex() {
    trace_waits futex --all
    expect_waits "for the lock, ended by its holder" \
        '.syscall_name == "futex" and .waker_tid == $waker and .conn == 0 and .arg2 == 4294967295'
    expect_waits "with both stacks" \
        '(name(.stack_id) | test("futex_wait")) and (name(.waker_stack_id) | test("futex_wake"))'
}

case_wait_pipe() {
    trace_waits pipe --all
    expect_waits "for the pipe, of no connection" '.syscall_name == "read" and .waker_tid == $waker and .conn_basis == "none"'
}

case_wait_peer() {
    trace_waits peer --all
    expect_waits "for the server, whose turn it was" \
        '.conn == $conn and .conn_basis == "fd" and .turn == "wrote" and .waker_tid == $waker and .min_rtt_us > 0'
}

case_wait_peer_poll() {
    trace_waits peer-poll --all
    expect_waits "for the server in poll" '.conn == $conn and .turn == "wrote" and .syscall_name == "poll" and .arg1 == 1'
}

case_wait_poll_timeout() {
    trace_waits poll-timeout --all
    local by='.syscall_name == "poll" and .arg2 == 30 and (name(.waker_stack_id)'
    expect_waits "in poll" '.syscall_name == "poll" and .arg2 == 30'
    expect "waits in poll that a timer ended" "$(waits "$by | test(\"hrtimer_wakeup\"))")" '>=' "$MOST * $ROUNDS"
    # A wake that no program saw has no stack (docs/limits.md).
    expect "waits in poll that something else ended" "$(waits "$by | . != \"\" and (test(\"hrtimer_wakeup\") | not))")" '==' 0
}

case_wait_epoll() {
    trace_waits epoll --all
    expect_waits "for the connection that became ready, not the one written on last" \
        '.conn == $conn and .conn_basis == "ready" and .turn == "wrote" and .syscall_name == "epoll_wait" and .waker_tid == $waker'
}

case_wait_select_many() {
    trace_waits select-many --all
    expect_waits "for the connection that became ready in select, not the one written on last" \
        '.conn == $conn and .conn_basis == "ready" and .turn == "wrote" and (.syscall_name | test("select")) and .waker_tid == $waker'
}

case_wait_poll_many() {
    trace_waits poll-many --all
    expect_waits "for the connection that became ready in poll, not the one written on last" \
        '.conn == $conn and .conn_basis == "ready" and .turn == "wrote" and (.syscall_name | IN("poll", "ppoll")) and .waker_tid == $waker'
}

case_wait_idle() {
    trace_waits idle --all
    expect_waits "for the next request" '.conn == $conn and .turn == "wrote" and .waker_tid == $waker'
}

case_wait_stopped() {
    trace_waits stopped --all
    expect_waits "of a stopped process" '.state == 4 and .waker_tid == $waker'
}

# Stopped again and again while it asks and is answered at once: mostly on its way out of a send, whose buffer has room.
case_stopped_in_a_send() {
    local i stops=30
    start_exchange -- --mode nodelay --gap-us 0 --seconds 60
    start_trace -p "$CLIENT"
    open_gate
    for ((i = 0; i < stops; i++)); do
        pause 0.01
        kill -STOP "$CLIENT"
        pause 0.03
        kill -CONT "$CLIENT"
    done
    end_trace
    kill "$CLIENT" "$SERVER"
    TRUTH_STALLS=$stops TRUTH_EXCHANGES=many
    expect "stops" "$(count_of stopped)" '>=' "0.9 * $stops"
    expect "stalls of a full send buffer" "$(count_of sndbuf)" '==' 0
    expect "stalls of the network" "$(count_of network)" '<=' "0.1 * $stops"
}

# In the quiet volume: the proxy's thread is watched from the first stall on, its connection from its own first wait on.
case_wait_proxy() {
    ROUNDS=30
    trace_waits proxy
    expect_waits "for the proxy" '.conn == $conn and .turn == "wrote" and .waker_tid == $waker'
    local behind
    behind=$(report '[.connections[] | select(.pid == '"$WAKER_TID"' and .role == "chain" and .peer_pid == '"$BACKEND"') | .id] | first')
    CLIENT_TID=$WAKER_TID
    # Its first one is over when it comes under watch; the backend's first two are.
    expect "the proxy's own waits for the backend" "$(waits ".conn == $behind and .turn == \"wrote\"")" '>=' "$ROUNDS - 1 - 3"
    CLIENT_TID=$BACKEND
    expect "the backend's own waits" "$(waits '.syscall_name == "clock_nanosleep"')" '>=' "$ROUNDS - 2 - 3"
}

# The writer of a pipe shares no connection with the target: it joins because it ended a long wait.
case_wait_joins_the_chain() {
    ROUNDS=30
    trace_waits pipe
    CLIENT_TID=$WAKER_TID
    # All but the first two, as of the backend above.
    expect "the writer's own waits" "$(waits '.syscall_name == "clock_nanosleep"')" '>=' "$ROUNDS - 2 - 3"
    expect_is "the writer's role" "$(report '[.target.processes[] | select(.pid == '"$WAKER_TID"') | .role] | first')" chain
}

# What is no wait of its own is in the sums of the next one: between two long sleeps 20 ms of computing and 50 sleeps of 0.5 ms. A
# short one that takes long is a record by itself; with these the sums leave nothing of the thread's time out.
case_wait_sums() {
    trace_waits mixed
    gojq -s --argjson tid "$CLIENT_TID" '
        def other: .short_input_us + .short_lock_us + .short_disk_us + .short_uring_us + .short_other_us + .short_reply_us + .short_datagram_us + .short_name_us;
        [.[] | select(.event == "wait" and .tid == $tid)] | sort_by(.off_ms)
        | map(select(.t_ms - .off_ms >= 20 and .syscall_name == "clock_nanosleep")) as $long
        | [range(1; $long | length) as $i | $long[$i - 1] as $from | $long[$i] as $to
            | [.[] | select(.off_ms > $from.off_ms and .off_ms < $to.off_ms)] as $between
            | {gap: ($to.off_ms - $from.t_ms), records: ([$between[] | .t_ms - .off_ms] | add // 0),
               sleeps: ($between | map(select(.syscall_name == "clock_nanosleep")) | length),
               run: ($to.run_us - $from.run_us), ready: ($to.ready_us - $from.ready_us),
               timer: ($to.short_timer_us - $from.short_timer_us), other: (($to | other) - ($from | other)),
               shorts: ($to.shorts_timer - $from.shorts_timer)}]' "$SCRATCH/trace" >"$SCRATCH/sums"
    sums() { gojq "[.[] | select($1)] | length" "$SCRATCH/sums"; }
    expect "the rounds" "$(sums true)" '>=' "0.8 * $ROUNDS"
    expect_is "rounds whose sums are not their time" \
        "$(sums '((.run + .ready + .timer + .other) / 1000 + .records - .gap | fabs) > 0.02 * .gap')" 0
    expect_is "rounds without their 50 short sleeps" "$(sums '.shorts + .sleeps != 50')" 0
    expect_is "short sleeps that are shorter than they asked for" "$(sums '.timer < 500 * .shorts')" 0
    expect_is "rounds that do not compute for 20 ms" "$(sums '.run < 19900')" 0
    expect "rounds that compute for far more" "$(sums '.run > 26000')" '<=' "$([ "$SLOW_MACHINE" = none ] && echo 1 || echo 2)"
}

# trace_early MODE: a wait that is under way at the attach. Sets EARLY, a jq filter: that wait; EARLY_CONN, its connection.
trace_early() {
    ROUNDS=1
    rm -f "$SCRATCH/exchange" "$SCRATCH/trace.err"
    trace_waits "$1" "${@:2}"
    EARLY='select(.event == "wait" and .tid == '"$CLIENT_TID"' and .off_ms == 0 and .began_ms < 0)'
    EARLY_CONN=$(gojq -s "[.[] | select(.event == \"conn\" and .tgid == $CLIENT and .fd == $CLIENT_FD and .origin == \"existed\") | .conn] | last" "$SCRATCH/trace")
}
early() { gojq -s "[.[] | $EARLY | select($1)] | length" "$SCRATCH/trace"; }

# A request that was written before we came: who owes the answer is known, and watched from then on.
case_wait_since_before() {
    trace_early asked
    expect_is "waits for the answer since before the window" "$(early ".conn == $EARLY_CONN and .turn == \"wrote\" and .began_ms < -40")" 1
    expect_is "the stall's cause" "$(report "[.stalls[] | select(.tid == $CLIENT_TID) | .cause] | join(\" \")")" peer-app
    expect_is "waits of the server since before the window" \
        "$(gojq -s "[.[] | select(.event == \"wait\" and .tid == $WAKER_TID and .off_ms == 0 and .began_ms < 0)] | length" "$SCRATCH/trace")" 1
}

# unended ENDED: the whole window lies within a wait for an answer, by ENDED. That is a stall, and the wait for the gate beside it, which
# nobody owes, is none.
unended() {
    EXCHANGE=$WAITS start_exchange -- --mode asked -n 1
    local ready
    ready=$(grep '^ready' "$SCRATCH/exchange")
    CLIENT_TID=$(field client_tid "$ready")
    if [ "$1" = lasts ]; then
        start_trace -p "$CLIENT" -d 0.3
    else
        start_trace -p "$CLIENT"
        sleep 0.3
        kill -TERM "$CLIENT"
    fi
    wait_for "$WAIT_LIMIT" gone "$TRACE_PID"
    end_trace
    expect_is "waits that went on, of the client's two threads" \
        "$(gojq -s "[.[] | select(.event == \"wait\" and .ended == \"$1\" and .tgid == $CLIENT and .off_ms == 0) ] | length" "$SCRATCH/trace")" 2
    expect_is "the stalls" "$(report '[.stalls[] | "\(.tid) \(.cause)"] | join(", ")')" "$CLIENT_TID peer-app"
    expect "the stall's time, of the window's" "$(report '.stalls[0].duration_ms / .window.duration_ms')" '>=' "$2"
    expect_is "open stalls" "$(report '[.stalls[] | select(.open)] | length')" 1
}
case_wait_lasts() {
    unended lasts 0.95
    open_gate
    end_exchange
}
# Who kills a program has not ended what it waits for.
case_wait_killed() {
    unended killed 0.8
    exec {GATE}>&-
}

# start_open KIND: a client that asks and a server that answers at the end alone, when the gate opens. By KIND the request is out
# before (asked), or goes out 0.3 s behind a first line at the gate (asks), behind a few that are answered. Before it answers, the server
# waits for what a child of its own writes into a pipe. Beside them a reader of lines to which nobody owes anything.
start_open() {
    command -v python3 >"$SCRATCH/python" || skip "python3 is not installed"
    start_at_gate python3 -c '
import os, select, signal, socket, sys, time
kind = sys.argv[1]
listener = socket.create_server(("127.0.0.1", 0))
answer, pipe_end = os.pipe()
def serve():
    conn = listener.accept()[0]
    while conn.recv(100) == b"talk":
        conn.send(b"answer")
    os.read(answer, 1)
    conn.send(b"answer")
def sink():
    conn = socket.create_connection(lines.getsockname())
    while conn.recv(100):
        pass
def ask():
    conn = socket.create_connection(listener.getsockname())
    if kind == "asks":
        os.read(begin, 1)
        time.sleep(0.3)
        for _ in range(20):
            conn.send(b"talk")
            conn.recv(100)
            time.sleep(0.002)
    conn.send(b"request")
    conn.recv(100)
def fork(what):
    pid = os.fork()
    if not pid:
        signal.alarm(60)
        what()
        os._exit(0)
    return pid
begin, begin_end = os.pipe()
lines = socket.create_server(("127.0.0.1", 0))
server, reader, client = fork(serve), fork(sink), fork(ask)
writer = lines.accept()[0]
writer.send(b"line")
time.sleep(0.3)
print(f"ready client={client} server={server} reader={reader}", flush=True)
if kind == "asks":
    sys.stdin.readline()
    os.write(begin_end, b"x")
sys.stdin.readline()
os.write(pipe_end, b"x")
os.waitpid(client, 0)
writer.close()' "$1"
    CLIENT=$(field client "$(cat "$SCRATCH/gated")") SERVER=$(field server "$(cat "$SCRATCH/gated")")
    READER=$(field reader "$(cat "$SCRATCH/gated")")
}
end_open() {
    open_gate
    wait_for "$WAIT_LIMIT" gone "$GATED" || fail "the client did not end"
}
open_requests() { report '[.open_requests // [] | .[] | "\(.role) \(.before_window) \(.in_window.slices | max_by(.ms).cause)"] | join(", ")'; }

# A request is open all through the window: either end tells of it, since when, and what it waits for now.
case_request_open_since_before() {
    local wanted
    start_open asked
    for wanted in "$CLIENT makes peer-app" "$SERVER,$READER serves ipc"; do
        read -r pids role cause <<<"$wanted"
        start_trace -p "$pids" -d 0.3
        wait_for "$WAIT_LIMIT" gone "$TRACE_PID"
        end_trace
        expect_is "open requests of $role" "$(open_requests)" "$role true $cause"
        expect "its age" "$(report '.open_requests[0].age_ms')" '>=' 600
        expect_is "what it is made of, of the window's time" \
            "$(report '.open_requests[0].in_window.total_ms / .window.duration_ms * 100 | floor | . >= 99 and . <= 100')" true
        expect_is "the stalls of $role" "$(report '[.stalls[] | "\(.cause) \(.open)"] | join(", ")')" "$cause true"
        expect_is "requests in the table" "$(report '.requests | length')" 0
        expect "what its threads waited for, by $cause" "$(report ".waited.by_cause_ms.\"$cause\" / .window.duration_ms")" '>=' 0.95
    done
    start_trace -p "$READER" -d 0.3
    wait_for "$WAIT_LIMIT" gone "$TRACE_PID"
    end_trace
    expect_is "open requests of who reads lines" "$(open_requests)" ""
    expect_is "its stalls" "$(report '.stalls | length')" 0
    end_open
}

# Likewise of one that goes out in the window, behind others. What its thread did in the turn before is not of it.
case_request_open_at_end() {
    start_open asks
    start_trace -p "$CLIENT" --all -d 1.5
    open_gate
    wait_for "$WAIT_LIMIT" gone "$TRACE_PID"
    end_trace
    end_open
    expect_is "open requests" "$(open_requests)" "makes false peer-app"
    expect "its age" "$(report '.open_requests[0].age_ms')" '<=' "$(report '.window.duration_ms') - 300"
    expect_is "records of it" "$(gojq -s '[.[] | select(.event == "exchange" and .side == "asked" and .ended == "open")] | length' "$SCRATCH/trace")" 1
    expect "what its thread did in it, us" \
        "$(gojq -s '[.[] | select(.event == "exchange" and .side == "asked" and .ended == "open") | .run_us // 0] | max' "$SCRATCH/trace")" '<' 10000000
}

# A server's parent accepts, and a child of its own answers: when it is looked for whose the connection is, the parent has it open as well.
case_wait_forked_answerer() {
    start_at_gate python3 -c '
import os, signal, socket, sys, time
listener = socket.create_server(("127.0.0.1", 0))
address = listener.getsockname()
server = os.fork()
if not server:
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    while True:
        conn = listener.accept()[0]
        if not os.fork():
            listener.close()
            while conn.recv(100):
                time.sleep(0.025)
                conn.send(b"answer")
            os._exit(0)
        time.sleep(0.02)
        conn.close()
listener.close()
print(f"ready client={os.getpid()}", flush=True)
sys.stdin.readline()
conn = socket.create_connection(address)
for _ in range(30):
    conn.send(b"request")
    conn.recv(100)
os.kill(server, signal.SIGTERM)
'
    start_trace -p "$(field client "$(cat "$SCRATCH/gated")")"
    open_gate
    wait_for "$WAIT_LIMIT" gone "$GATED" || fail "the client did not end"
    end_trace
    expect "requests that wait for the answer" "$(count_of peer-app)" '>=' 28
    expect "those in which the child is not seen to sleep" "$(report '[.stalls[] | select(.cause == "peer-app" and all(.parts[]; .syscall != "clock_nanosleep"))] | length')" '<=' 4
}

# CPython's threads look for its interpreter lock each 5 ms: these time-outs are not what they wait for, but who computes meanwhile.
case_wait_interpreter_lock() {
    start_at_gate python3 -c '
import os, socket, sys, threading
listener = socket.create_server(("127.0.0.1", 0))
server = os.fork()
def burn():
    count = 0
    while True:
        count += 1
if not server:
    for _ in range(3):
        threading.Thread(target=burn, daemon=True).start()
    conn = listener.accept()[0]
    while conn.recv(100):
        conn.send(b"answer")
    os._exit(0)
conn = socket.create_connection(listener.getsockname())
conn.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
print(f"ready server={server}", flush=True)
sys.stdin.readline()
for _ in range(100):
    conn.send(b"request")
    conn.recv(100)
'
    local server
    server=$(field server "$(cat "$SCRATCH/gated")")
    start_trace -p "$server"
    open_gate
    wait_for "$WAIT_LIMIT" gone "$GATED" || fail "the client did not end"
    end_trace
    expect "waits for the lock" "$(count_of lock)" '>=' 5
    expect "waits for its time-out" "$(count_of timer)" '<=' "$(count_of lock)"
    expect "waits in which another thread is seen to compute" \
        "$(report '[.stalls[] | select(.cause == "lock") | .tid as $tid | select(any(.parts[]; .kind == "computes" and .tid != $tid))] | length')" '>=' 5
    report .verdict.headline | grep -q 'interpreter lock (the GIL)' || fail "the verdict does not name it: $(report .verdict.headline)"
}

# Three clients of an event loop ask when they like. What each of them waits for is the loop's timer for its own request.
case_wait_of_a_loop() {
    start_at_gate python3 -c '
import asyncio, os, socket, sys, threading, time
async def serve(reader, writer):
    while await reader.read(100):
        await asyncio.sleep(0.03)
        writer.write(b"answer")
async def loop():
    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()
def ask(port, pause):
    conn = socket.create_connection(("127.0.0.1", port))
    end = time.monotonic() + 2
    while time.monotonic() < end:
        conn.send(b"request")
        conn.recv(100)
        time.sleep(pause)
heard, said = os.pipe()
server = os.fork()
if not server:
    os.dup2(said, 1)
    asyncio.run(loop())
port = int(os.read(heard, 100))
print(f"ready server={server}", flush=True)
sys.stdin.readline()
threads = [threading.Thread(target=ask, args=(port, pause)) for pause in (0.005, 0.02, 0.05)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
os.kill(server, 9)
'
    start_trace -p "$(field server "$(cat "$SCRATCH/gated")")"
    open_gate
    wait_for "$WAIT_LIMIT" gone "$GATED" || fail "the clients did not end"
    end_trace
    expect_is "the cause" "$(report .verdict.cause)" timer
    expect "stalls by another client" "$(count_of peer-app)" '<=' "0.05 * $(count_of timer)"
    expect "of the median request, the part that another client has" \
        "$(report '.requests[0].median | ([.slices[] | select(.cause == "peer-app") | .ms] | add // 0) / .total_ms')" '<=' 0.05
}

# A connect() under way is about its connection, whether that comes to stand or not.
case_wait_connecting() {
    local mode run
    for mode in connecting refused; do
        for run in 1 2 3; do
            trace_early "$mode"
            has_line '"event": "retrans"' "$SCRATCH/trace" && break
            echo "# $LABEL: wait_connecting: $mode, run $run: no program saw the SYN sent again (docs/limits.md)"
        done
        expect_is "$mode: waits in connect for the connection" "$(early ".conn == $EARLY_CONN and .syscall_name == \"connect\"")" 1
        expect_is "$mode: the stall's cause" "$(report "[.stalls[] | select(.tid == $CLIENT_TID) | .cause] | join(\" \")")" syn-retransmit
    done
}

# trace_habits MODE: 200 rounds of 2 ms in the quiet volume. Sets WAKES and EMPTY of the client's thread.
trace_habits() {
    ROUNDS=200
    rm -f "$SCRATCH/exchange" "$SCRATCH/trace.err" # of the mode before
    EXCHANGE=$WAITS start_exchange -- --mode "$1" -n "$ROUNDS" --ms 2
    start_trace -p "$CLIENT"
    open_gate
    end_exchange
    end_trace
    WAKES=$(report ".threads[] | select(.tid == $CLIENT) | .wakes") EMPTY=$(report ".threads[] | select(.tid == $CLIENT) | .empty_wakes")
    expect "the wakes" "$WAKES" '>=' "0.9 * $ROUNDS"
    expect "the wakes" "$WAKES" '<=' "1.1 * $ROUNDS + 5"
}

case_empty_wakes() {
    trace_habits empty
    expect "the empty wakes" "$EMPTY" '>=' "0.9 * $ROUNDS"
}

# Nothing but the socket's own copied_seq shows that these were read from.
case_no_empty_wakes() {
    local mode
    for mode in counted push push-poll push-epoll; do
        trace_habits "$mode"
        expect "the empty wakes of $mode" "$EMPTY" '<=' 2
    done
}

# On some machines no program sees what happens while PID 1 is current (docs/limits.md). A return to the CPU that is missed by
# that, after a wait or after PID 1 had taken the CPU, makes no other wait of the next one, and a thread's last wait is told too.
case_wait_returns_unseen() {
    local sleeps=60 way
    "$WORKLOADS/orphans" 60 &
    for way in trace offwake; do
        timeout 60 "$NETSTALL" "$way" --json -- sh -c "for i in $(seq -s ' ' $sleeps); do sleep 0.05; done" \
            >"$SCRATCH/$way" 2>"$SCRATCH/$way.err" ||
            fail "$way ended with status $?: $(tail -n 1 "$SCRATCH/$way.err")"
    done
    tail -n 1 "$SCRATCH/trace" >"$SCRATCH/report"
    mv "$SCRATCH/offwake" "$SCRATCH/profile"
    expect "the threads that slept" "$(report '[.threads[] | select(.comm == "sleep")] | length')" '==' $sleeps
    expect "threads that were blocked for less than half of what they slept" \
        "$(report '[.threads[] | select(.comm == "sleep" and .blocked_ms < 25)] | length')" '==' 0
    expect "the sleeps that offwake tells" "$(profile '[.chains[] | select(.comm == "sleep")
        | select(.kernel | any(. == "hrtimer_nanosleep")) | .waits] | add')" '==' $sleeps
}
