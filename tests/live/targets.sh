# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# shellcheck shell=bash
#
# The ways to name a target, and targets that come and go.

# It takes every CPU; and beside others a thread that is to be found working waits for one (each time run again).
ALONE_CASES+=" check_inside_busy_pid_namespace to_trace_workers all_processes "

# trace_by OPTIONS...: the split workload, traced by these options.
trace_by() {
    start_trace "$@"
    open_gate
    end_exchange
    end_trace
    expect_all_stalls nagle-delack
}

# start_endless NAME MODE: the two processes of a workload that goes on until the case ends. Its pids: CLIENTS[NAME], SERVERS[NAME].
start_endless() {
    "$EXCHANGE" --mode "$2" -n 0 --gate none --name "$1" >"$SCRATCH/pair-$1" 2>&1 &
    await_line '^ready' "$SCRATCH/pair-$1" $! || fail "$1 did not start: $(cat "$SCRATCH/pair-$1")"
    CLIENTS[$1]=$(field client_pid "$(cat "$SCRATCH/pair-$1")") SERVERS[$1]=$(field server_pid "$(cat "$SCRATCH/pair-$1")")
}

# expect_first CAUSE NAME...: of the report's processes both of each pair come before those of all quiet ones, with this cause.
expect_first() {
    local name pid cause=$1 quiet
    shift
    quiet=$(report '[.processes | to_entries[] | select(.value.comm | startswith("quiet")) | .key] | min')
    for name; do
        for pid in "${CLIENTS[$name]}" "${SERVERS[$name]}"; do
            expect_is "the cause of $name/$pid" "$(report ".processes[] | select(.pid == $pid) | .cause")" "$cause"
            expect "the place of $name/$pid" "$(report ".processes | map(.pid) | index($pid)")" '<' "$quiet"
        done
    done
}

# A listener and a client of UDP, which has no connection.
UDP_PAIR='
import os, socket, time
server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
server.bind(("127.0.0.1", 0))
server.settimeout(3) # nobody asks any more
if not os.fork():
    while True:
        _, address = server.recvfrom(100)
        time.sleep(0.02)
        server.sendto(b"a", address)
client = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
client.connect(server.getsockname())
print(f"ready client_pid={os.getpid()}", flush=True)
while True:
    client.send(b"q")
    client.recv(100)
'

# Of 200 processes and more three pairs stall: these lead the table, each by its cause, and the verdict is of the first.
case_all_processes() {
    local i
    for ((i = 0; i < 97; i++)); do
        "$EXCHANGE" --mode paced -n 0 --gate none --name "quiet-$i" >/dev/null 2>&1 &
    done
    pause 0.5
    start_trace -a -d 1
    wait_for "$WAIT_LIMIT" gone "$TRACE_PID"
    end_trace
    [ "$(report .verdict.cause)" != timer ] || fail "that healthy programs sleep between their requests leads: $(report .verdict.headline)"
    start_endless splits split
    start_endless corks cork
    start_endless asks-late late-server
    python3 -c "$UDP_PAIR" >"$SCRATCH/udp" &
    await_line '^ready' "$SCRATCH/udp" $! || fail "the UDP pair did not start"
    pause 0.5
    start_trace -a -d 2
    wait_for "$WAIT_LIMIT" gone "$TRACE_PID"
    end_trace
    expect_first nagle-delack splits
    expect_first cork corks
    expect_first timer asks-late
    expect "processes" "$(report '(.processes | length) + .processes_not_listed')" '>=' 201
    expect_is "the verdict's cause" "$(report .verdict.cause)" "$(report '.processes[0].cause')"
    report '.processes[] | select(.pid == '"${CLIENTS[splits]}"').why' | grep -q '^splits/[0-9]* writes each request in two pieces' ||
        fail "why: $(report '.processes[] | select(.pid == '"${CLIENTS[splits]}"').why')"
    expect "UDP stalls" "$(report '.processes[] | select(.pid == '"$(field client_pid "$(cat "$SCRATCH/udp")")"').stalls')" '>' 10
    "$NETSTALL" trace "${ATTACH[@]}" -c / -d 0.5 >"$SCRATCH/text" 2>&1 || fail "status $? for -c /"
    [[ $(sed -n 2p "$SCRATCH/text") == "  PROCESS "* ]] || fail "the answer does not begin with the table: $(head -n 3 "$SCRATCH/text")"
    grep -q "^  What follows is the first one's cause (" "$SCRATCH/text" || fail "it does not say of what the verdict is: $(head -n 12 "$SCRATCH/text")"
    # Who is left out has no row; nor has one that takes the name later.
    start_trace -a -d 2 --not-comm splits --not-pid "${CLIENTS[corks]},${SERVERS[corks]}"
    start_endless other split
    "$EXCHANGE" --mode split -n 0 --gate none --name splits >/dev/null 2>&1 &
    wait_for "$WAIT_LIMIT" gone "$TRACE_PID"
    end_trace
    expect_first nagle-delack other
    expect_first timer asks-late
    expect_is "processes that were left out" "$(report '[.processes[], .target.processes[]] | map(select(.comm == "splits" or .pid == '"${CLIENTS[corks]}"') | select(.role? != "peer" and .role? != "chain")) | length')" 0
}

# A client asks a front, which asks a backend, which sleeps for 20 ms: each of them is held up for all of its requests' time.
case_stalled_along_a_chain() {
    command -v python3 >"$SCRATCH/python" || skip "python3 is not installed"
    python3 tests/workload/chain.py 20 >"$SCRATCH/chain" &
    await_line '^ready' "$SCRATCH/chain" $! || fail "the chain did not start"
    start_trace -a -d 2
    wait_for "$WAIT_LIMIT" gone "$TRACE_PID"
    end_trace
    local pid requests
    for pid in $(sed 's/^ready//' "$SCRATCH/chain"); do
        requests=$(report ".processes[] | select(.pid == $pid) | [.makes, .serves] | max")
        expect "requests of $pid" "$requests" '>' 10
        expect "that it was stalled, ms" "$(report ".processes[] | select(.pid == $pid).stalled_ms")" '>' "20 * ($requests - 2)"
        expect_is "the cause" "$(report ".processes[] | select(.pid == $pid).cause")" timer
    done
}

# A connection that a process and its child have open is of who uses it.
case_used_by_a_child() {
    command -v python3 >"$SCRATCH/python" || skip "python3 is not installed"
    python3 tests/workload/chain.py 20 child >"$SCRATCH/chain" &
    await_line '^ready' "$SCRATCH/chain" $! || fail "the chain did not start"
    await_line '^child' "$SCRATCH/chain" $! || fail "the backend has no child"
    start_trace -a -d 2
    wait_for "$WAIT_LIMIT" gone "$TRACE_PID"
    end_trace
    local parent child
    parent=$(sed -n 's/^ready .* //p' "$SCRATCH/chain") child=$(sed -n 's/^child //p' "$SCRATCH/chain")
    expect "requests that the child serves" "$(report "[.processes[] | select(.pid == $child).serves] | add // 0")" '>' 10
    expect_is "the child's cause" "$(report ".processes[] | select(.pid == $child).cause")" timer
    expect_is "requests of its parent" "$(report "[.processes[] | select(.pid == $parent).serves] | add // 0")" 0
}

# Who is left out by its pid stays so under another name.
case_left_out_by_pid() {
    command -v python3 >"$SCRATCH/python" || skip "python3 is not installed"
    mkfifo "$SCRATCH/begin"
    # shellcheck disable=SC2016 # for the other shell
    sh -c 'read -r _ <"$1" && exec python3 tests/workload/own_nodelay.py' sh "$SCRATCH/begin" >"$SCRATCH/option" 2>&1 &
    local pid=$!
    start_trace -a -d 2 --not-comm nobody --not-pid $pid
    echo >"$SCRATCH/begin"
    await_line ' 0$' "$SCRATCH/option" $pid || fail "the program did not begin: $(cat "$SCRATCH/option")"
    wait_for "$WAIT_LIMIT" gone "$TRACE_PID"
    end_trace
    expect_is "what it is" "$(report "[.processes[], .target.processes[]] | map(select(.pid == $pid) | select(.role? != \"peer\" and .role? != \"chain\")) | length")" 0
}

# The parent of both ends has no connection itself: said, with the option that takes them; and that takes them.
case_children_hold_the_connections() {
    start_exchange -- --mode split -n 5
    start_trace -p "$EXCHANGE_PID" -d 0.2
    end_trace
    grep -q '2 of its children have or accept some: add --children' "$SCRATCH/trace.err" || fail "no hint: $(cat "$SCRATCH/trace.err")"
    expect_is "stalls of the parent alone" "$(stall_count)" 0
    report .verdict.text | grep -q '2 of its children had or accept some: --children' || fail "no hint at the end: $(report .verdict.text)"
    rm "$SCRATCH/trace.err" # nor is what the first one said read
    start_trace -p "$EXCHANGE_PID" --children
    open_gate
    end_exchange
    wait_for "$WAIT_LIMIT" gone "$TRACE_PID" || fail "netstall did not end with the last of the children"
    end_trace
    expect "stalls found" "$(count_of nagle-delack)" '>' 0
}

# Nor are there any just now: a child that listens is enough.
case_children_accept_the_connections() {
    start_exchange -- --mode split -n 5 --connect-after-gate
    start_trace -p "$EXCHANGE_PID" -d 0.2
    wait_for "$WAIT_LIMIT" gone "$TRACE_PID"
    end_trace
    expect_is "connections" "$(report '.connections | length')" 0
    report .verdict.text | grep -q '[12] of its children had or accept some: --children' || fail "no hint: $(report .verdict.text)"
    open_gate
    end_exchange
}

# Two workers accept from one listener, a connection for each request: whose it is shows when it is first read from.
case_shared_listener_serves() {
    command -v python3 >"$SCRATCH/python" || skip "python3 is not installed"
    start_at_gate python3 -c '
import os, select, socket, sys, time
listener = socket.create_server(("127.0.0.1", 0))
listener.setblocking(False)
workers = []
for _ in range(2):
    worker = os.fork()
    if worker:
        workers.append(worker)
        continue
    while True:
        select.select([listener], [], [])
        try:
            conn = listener.accept()[0]
        except BlockingIOError:
            continue
        conn.setblocking(True)
        conn.recv(100)
        time.sleep(0.02)
        conn.sendall(b"answer")
        conn.close()
print("ready pids=" + ",".join(map(str, workers)), flush=True)
sys.stdin.readline()
for _ in range(12):
    with socket.create_connection(listener.getsockname()) as conn:
        conn.sendall(b"request")
        while conn.recv(100):
            pass
for worker in workers:
    os.kill(worker, 15)
    os.waitpid(worker, 0)
'
    start_trace -p "$(field pids "$(cat "$SCRATCH/gated")")"
    open_gate
    wait_for "$WAIT_LIMIT" gone "$GATED" || fail "the server did not end"
    end_trace
    expect_is "roles" "$(report '[.requests[].role] | unique | join(" ")')" serves
    expect_is "requests" "$(report '.requests[0].count')" 12
    expect_is "timer stalls" "$(count_of timer)" 12
}

# A process for each connection, which has ended by the time that somebody reads the advice; and workers, which live. The other end is
# to be traced by what finds the next one too.
whom_to_trace() { # HOW ADVICE
    command -v python3 >"$SCRATCH/python" || skip "python3 is not installed"
    start_at_gate python3 -c "forks = '$1' == 'fork'"'
import os, signal, socket, sys, time
os.setpgid(0, 0)
signal.signal(signal.SIGCHLD, signal.SIG_IGN if forks else signal.SIG_DFL)
listener = socket.create_server(("127.0.0.1", 0))
def serve(conn):
    conn.recv(100)
    end = time.thread_time() + 0.02
    while time.thread_time() < end:
        pass
    conn.sendall(b"answer")
    conn.close()
def work():
    while True:
        conn = listener.accept()[0]
        if not forks:
            serve(conn)
        elif not os.fork():
            serve(conn)
            os._exit(0)
        conn.close()
def name(name):
    with open("/proc/self/comm", "w") as file:
        file.write(name)
def start_master():
    pid = os.fork()
    if pid:
        return pid
    name("live-master")
    for _ in range(0 if forks else 2):
        if not os.fork():
            work()
    work() if forks else signal.pause()
master = start_master()
print(f"ready master={master}", flush=True)
sys.stdin.readline()
for _ in range(24):
    with socket.create_connection(listener.getsockname()) as conn:
        conn.sendall(b"request")
        while conn.recv(100):
            pass
sys.stdin.readline()
os.killpg(0, signal.SIGTERM)
'
    start_trace -p "$GATED" -d 2
    open_gate
    wait_for "$WAIT_LIMIT" gone "$TRACE_PID" || fail "netstall did not end"
    end_trace
    open_gate
    wait_for "$WAIT_LIMIT" gone "$GATED" || fail "the server did not end"
    # A machine that has no CPU for them is what held them up.
    [ "$(report .verdict.cause)" != runqueue ] || [ "$SLOW_MACHINE" = none ] || return 0
    expect_is "the verdict" "$(report .verdict.cause)" peer-app
    report '.verdict.advice[0]' | grep -qE "$2" || fail "an advice names nobody who lives: $(report '.verdict.advice[0]')"
}
case_to_trace_a_process_for_each_connection() {
    whom_to_trace fork '(perf report|netstall trace) --comm live-master|netstall trace -p [0-9]+ --children'
}
case_to_trace_workers() {
    whom_to_trace workers 'perf record -p [0-9]+\)|netstall trace -p [0-9]+ --children'
    expect_is "whose workers they are" "$(gojq -rs '[.[] | select(.event == "process" and .comm == "live-master").master] | unique | join(" ")' "$SCRATCH/trace")" \
        "$(field master "$(cat "$SCRATCH/gated")")"
}

case_by_tid() {
    start_exchange -- --mode split -n "$FEW"
    trace_by -t "$CLIENT"
}

# Another thread of the process, which ends the long waits of the one that is named, has none that are recorded.
case_by_tid_alone() {
    EXCHANGE=${WAITS:-$WORKLOADS/waits} start_exchange -- --mode futex -n 10
    local ready
    ready=$(grep '^ready' "$SCRATCH/exchange")
    start_trace -t "$(field client_tid "$ready")" --all
    open_gate
    end_exchange
    end_trace
    expect "waits of the thread" "$(gojq -s "[.[] | select(.event == \"wait\" and .tid == $(field client_tid "$ready"))] | length" "$SCRATCH/trace")" '>=' 9
    expect_is "waits of the other thread" \
        "$(gojq -s "[.[] | select(.event == \"wait\" and .tid == $(field waker_tid "$ready"))] | length" "$SCRATCH/trace")" 0
}

case_by_comm() {
    start_exchange -- --mode split -n "$FEW" --name "live-$OWN"
    trace_by --comm "live-$OWN"
}

case_by_local_port() {
    start_exchange -- --mode split -n "$FEW"
    trace_by -L "$PORT"
}

case_by_remote_port() {
    start_exchange -- --mode split -n "$FEW"
    trace_by -D "$PORT"
}

case_other_port_is_not_traced() {
    start_exchange -- --mode split -n "$FEW"
    start_trace -p "$CLIENT" -D 9
    open_gate
    end_exchange
    end_trace
    expect_is "stalls" "$(strange '[]')" 0
    expect_is "connections" "$(report '.connections | length')" 0
}

# A cgroup of the case's own: GROUP.
make_cgroup() {
    local root=$SCRATCH/cgroup
    mkdir "$root" && mount -t cgroup2 cgroup2 "$root" 2>/dev/null || skip "no cgroup version 2 here"
    GROUP=$root/netstall-test-$OWN
    CLEANUP+=("rmdir $GROUP" "umount $root")
    mkdir "$GROUP" || fail "cannot make a cgroup"
}

case_by_cgroup() {
    make_cgroup
    start_exchange -- --mode split -n "$FEW"
    echo "$CLIENT" >"$GROUP/cgroup.procs" || fail "cannot fill the cgroup"
    trace_by -c "$GROUP"
}

# As a container's runtime names it, in a mount namespace where version 2 is what there is.
case_by_container() {
    local id=feed0123456789abcdef0123456789abcdef0123456789abcdef0123456789ab netstall=$NETSTALL
    make_cgroup
    mkdir "$GROUP/docker-$id.scope" || fail "cannot make a cgroup"
    CLEANUP=("rmdir $GROUP/docker-$id.scope" "${CLEANUP[@]}")
    printf '#!/bin/sh\nexec unshare -m sh -c "mount -t cgroup2 cgroup2 /sys/fs/cgroup && exec %s \\"\\$@\\"" - "$@"\n' "$netstall" >"$SCRATCH/enter"
    chmod +x "$SCRATCH/enter"
    start_exchange -- --mode split -n "$FEW"
    echo "$CLIENT" >"$GROUP/docker-$id.scope/cgroup.procs" || fail "cannot fill the cgroup"
    NETSTALL=$SCRATCH/enter trace_by --container feed0123
    expect_is "the container" "$(report ".target.processes[] | select(.pid == $CLIENT).container")" "docker feed01234567"
    expect_is "the server's" "$(report ".target.processes[] | select(.pid == $SERVER).container")" null
    ! "$netstall" trace --container beef0123 -d 1 2>"$SCRATCH/refused" || fail "a container that is not there was traced"
    grep -q "no cgroup beef0123: .*container by its id" "$SCRATCH/refused" || fail "it says: $(cat "$SCRATCH/refused")"
}

# A process that joins the cgroup only while we watch.
case_by_cgroup_joined_later() {
    make_cgroup
    start_exchange -- --mode split -n "$FEW" --connect-after-gate
    start_trace -c "$GROUP"
    echo "$CLIENT" >"$GROUP/cgroup.procs" || fail "cannot fill the cgroup"
    open_gate
    end_exchange
    end_trace
    expect_all_stalls nagle-delack
}

# What a server had accepted before it joined is seen first in a long wait for a request: it serves all the same.
case_by_cgroup_joined_by_a_server() {
    make_cgroup
    command -v python3 >"$SCRATCH/python" || skip "python3 is not installed"
    start_at_gate python3 -c '
import os, socket, sys, time
listener = socket.create_server(("127.0.0.1", 0))
begun, begin = os.pipe()
client = os.fork() == 0
conn = socket.create_connection(listener.getsockname()) if client else listener.accept()[0]
if client:
    os.read(begun, 1)
    for _ in range(4):
        time.sleep(0.05)
        conn.send(b"request")
        conn.recv(100)
else:
    print(f"ready server={os.getpid()}", flush=True)
    sys.stdin.readline()
    os.write(begin, b".")
    for _ in range(4):
        conn.recv(100)
        conn.send(b"answer")
'
    start_trace -c "$GROUP"
    field server "$(cat "$SCRATCH/gated")" >"$GROUP/cgroup.procs" || fail "cannot fill the cgroup"
    open_gate
    wait "$GATED"
    end_trace
    expect_is "roles" "$(report '[.requests[].role] | unique | join(" ")')" "serves"
    expect_is "the port it serves" "$(report '.requests[0].endpoint | .remote == null')" true
}

# A selector thread accepts and hands over to two workers, which read and answer, and have more to do than they can. Two processes
# have the listener, so whose a connection is shows first when it is read, or looked for. $1: leaves: the client leaves after the
# first part of its answer, so that the rest is reset while it is sent; closes: after all of it.
trace_pool() {
    command -v python3 >"$SCRATCH/python" || skip "python3 is not installed"
    start_at_gate python3 -c "closes = '$1' == 'closes'"'
import os, queue, selectors, socket, sys, threading, time
from concurrent.futures import ThreadPoolExecutor

listener = socket.create_server(("127.0.0.1", 0), backlog=64)
address = listener.getsockname()
begun, begin = os.pipe()

def answer(conn, back):
    if conn.recv(100):
        time.sleep(0.03)
        for part in (b"headbody",) if closes else (b"head", b"body"):
            conn.send(part)
        back.put(conn)
    else:
        conn.close()

def serve():
    listener.setblocking(False)
    selector, back, pool = selectors.DefaultSelector(), queue.Queue(), ThreadPoolExecutor(2)
    selector.register(listener, selectors.EVENT_READ)
    while True:
        for key, _ in selector.select(0.01):
            if key.fileobj is listener:
                conn = listener.accept()[0]
                conn.setblocking(True)
            else:
                conn = key.fileobj
                selector.unregister(conn)
            pool.submit(answer, conn, back)
        while not back.empty():
            selector.register(back.get(), selectors.EVENT_READ)

def ask():
    for _ in range(8):
        with socket.create_connection(address) as conn:
            conn.send(b"request")
            conn.recv(100)

worker = os.fork()
if not worker:
    serve()
clients = os.fork()
if not clients:
    listener.close()
    os.read(begun, 1)
    threads = [threading.Thread(target=ask) for _ in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    os._exit(0)
print(f"ready worker={worker} master={os.getpid()}", flush=True)
sys.stdin.readline()
os.write(begin, b".")
os.waitpid(clients, 0)
os.kill(worker, 9)
'
    local ready
    ready=$(cat "$SCRATCH/gated")
    start_trace -p "$(field master "$ready"),$(field worker "$ready")"
    open_gate
    wait_for "$WAIT_LIMIT" gone "$GATED" || fail "the clients did not end"
    end_trace
    expect_is "roles" "$(report '[.requests[].role] | unique | join(" ")')" "serves"
    expect "the requests that it serves" "$(report '[.requests[] | select(.connection == null)][0].count')" '>=' 32
    # Two workers are at it all the time: half of each request is the wait for one of them.
    expect_is "what they wait for" "$(report .verdict.cause)" timer
}

case_pool_is_left() { trace_pool leaves; }
case_pool_of_a_shared_listener() { trace_pool closes; }

# trace_later NAME PROGRAM: the split workload is that program, and called so, only while we watch.
trace_later() {
    start_trace --comm "$1"
    "$2" --gate 300 --mode split -n "$FEW" --name "$1" >"$SCRATCH/own" || fail "the workload failed"
    end_trace
    local truth
    truth=$(grep '^done' "$SCRATCH/own")
    TRUTH_STALLS=$(field stalls "$truth") TRUTH_EXCHANGES=$(field exchanges "$truth")
    expect_all_stalls nagle-delack
}

# By exec, and by the fork of one that has the name.
case_by_comm_started_later() {
    cp "$EXCHANGE" "$SCRATCH/late-$OWN" || fail "cannot copy the workload"
    trace_later "late-$OWN" "$SCRATCH/late-$OWN"
}

# It calls itself so, as workers do.
case_by_comm_renamed_later() { trace_later "worker-$OWN" "$EXCHANGE"; }

# The program is caught from its first instruction: no exchange is missed, children are followed.
case_program() {
    watch_machine
    "$NETSTALL" trace "${ATTACH[@]}" --json -o "$SCRATCH/trace" -- "$EXCHANGE" --gate none --mode split -n "$FEW" \
        >"$SCRATCH/own" 2>"$SCRATCH/trace.err" || fail "status $?: $(tail -n 1 "$SCRATCH/trace.err")"
    judge_machine
    tail -n 1 "$SCRATCH/trace" >"$SCRATCH/report"
    local truth
    truth=$(grep '^done' "$SCRATCH/own") || fail "the program's own output is missing"
    TRUTH_STALLS=$(field stalls "$truth") TRUTH_EXCHANGES=$(field exchanges "$truth")
    expect_all_stalls nagle-delack
}

case_program_as_the_caller() {
    [ "$(id -u nobody 2>/dev/null)" ] || skip "no user nobody"
    # Of root's own groups none is left.
    SUDO_UID=$(id -u nobody) SUDO_GID=$(id -g nobody) setpriv --groups 0,4 "$NETSTALL" trace "${ATTACH[@]}" --json -o /dev/null -- \
        sh -c 'id -u && id -G' >"$SCRATCH/own" 2>"$SCRATCH/trace.err" || fail "status $?: $(tail -n 1 "$SCRATCH/trace.err")"
    expect_is "the program's user and groups" "$(paste -sd' ' "$SCRATCH/own")" "$(id -u nobody) $(id -G nobody)"
}

case_program_missing() {
    "$NETSTALL" trace "${ATTACH[@]}" -- /nonexistent/program >"$SCRATCH/out" 2>"$SCRATCH/err"
    expect_is "the status" $? 2
    grep -q '^netstall: cannot run /nonexistent/program: No such file or directory$' "$SCRATCH/err" || fail "$(cat "$SCRATCH/err")"
    "$NETSTALL" trace "${ATTACH[@]}" 4321 >"$SCRATCH/out" 2>"$SCRATCH/err"
    expect_is "the status" $? 2
    grep -q '^netstall: cannot run 4321: No such file or directory; a pid follows -p: -p 4321$' "$SCRATCH/err" || fail "$(cat "$SCRATCH/err")"
    "$NETSTALL" check "${ATTACH[@]}" 4321 >"$SCRATCH/out" 2>"$SCRATCH/err"
    expect_is "the status of check" $? 4
    grep -q 'a pid follows -p' "$SCRATCH/out" || fail "$(cat "$SCRATCH/out")"
}

case_target_exits() {
    start_exchange -- --mode split -n 5
    start_trace -p "$CLIENT"
    open_gate
    end_exchange
    wait_for 10 gone "$TRACE_PID" || fail "netstall goes on after the target's end"
    end_trace
    expect_all_stalls nagle-delack
}

# The target lives in a pid namespace of its own: shown with both numbers.
case_pid_namespace() {
    start_exchange unshare --pid --fork --kill-child -- --mode split -n "$FEW"
    local child inside=$CLIENT
    child=$(ps -o pid= --ppid "$EXCHANGE_PID" | tr -d ' ')
    CLIENT=
    for pid in $(ps -o pid= --ppid "$child"); do
        [ "$(awk '/^NSpid/ { print $NF }' "/proc/$pid/status")" = "$inside" ] && CLIENT=$pid
    done
    [ -n "$CLIENT" ] || fail "no client found in the namespace"
    trace_by -p "$CLIENT"
    expect_is "its own number" "$(report '.target.processes[] | select(.pid == '"$CLIENT"') | .namespace_pid')" "$inside"
}

# netstall itself lives in a pid namespace: its numbers are that namespace's.
case_inside_pid_namespace() {
    cat >"$SCRATCH/inside" <<'INSIDE'
exchange=$1 netstall=$2 scratch=$3 few=$4; shift 4
mkfifo "$scratch/in"
"$exchange" --gate stdin --mode split -n "$few" <"$scratch/in" >"$scratch/x" &
exec 9>"$scratch/in"
while ! grep -q ^ready "$scratch/x"; do sleep 0.05; done
pid=$(sed -n 's/.*client_pid=\([0-9]*\).*/\1/p' "$scratch/x")
"$netstall" trace "$@" --json -p "$pid" >"$scratch/trace" 2>"$scratch/trace.err" &
tracer=$!
while ! grep -q tracing "$scratch/trace.err" && kill -0 $tracer; do sleep 0.05; done
echo go >&9
wait $tracer
echo "$pid $?" >"$scratch/result"
INSIDE
    watch_machine
    unshare --pid --fork --mount-proc --kill-child bash "$SCRATCH/inside" "$EXCHANGE" "$NETSTALL" "$SCRATCH" "$FEW" "${ATTACH[@]}" \
        2>/dev/null || fail "inside: $(cat "$SCRATCH/trace.err")"
    judge_machine
    tail -n 1 "$SCRATCH/trace" >"$SCRATCH/report"
    local truth pid
    truth=$(grep '^done' "$SCRATCH/x")
    TRUTH_STALLS=$(field stalls "$truth") TRUTH_EXCHANGES=$(field exchanges "$truth")
    pid=$(cut -d' ' -f1 "$SCRATCH/result")
    expect_all_stalls nagle-delack
    expect_is "threads by their number inside" "$(report '[.threads[] | select(.pid == '"$pid"')] | length')" 1
}

# As in a container beside others on busy CPUs: threads of the test have written before they are in the list of those that there are.
case_check_inside_busy_pid_namespace() {
    local i hogs=()
    for i in 1 2; do
        timeout 20 sh -c 'while :; do :; done' &
        hogs+=($!)
    done
    for i in 1 2 3; do
        # A thread, and a process, for each of its connections; each lives for some milliseconds.
        timeout 60 unshare --pid --fork --mount-proc --kill-child "$NETSTALL" check "${ATTACH[@]}" --json "$SCRATCH/report" -- python3 -c "$SHORT_THREADS" >"$SCRATCH/text" 2>&1 ||
            fail "status $? of a clean test: $(head -c 400 "$SCRATCH/text")"
        expect_is "damaged records" "$(report '.completeness.lost_by_kind.damaged // 0')" 0
    done
    kill "${hogs[@]}"
}
SHORT_THREADS='
import os, socket, threading
listener = socket.create_server(("127.0.0.1", 0))
def serve():
    while True:
        conn = listener.accept()[0]
        conn.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        while data := conn.recv(100):
            conn.sendall(data)
def ask():
    conn = socket.create_connection(listener.getsockname())
    for _ in range(5):
        conn.sendall(b"a")
        conn.recv(100)
    conn.close()
threading.Thread(target=serve, daemon=True).start()
for _ in range(30):
    thread = threading.Thread(target=ask)
    thread.start()
    thread.join()
    child = os.fork()
    if not child:
        ask()
        os._exit(0)
    os.waitpid(child, 0)
'

# The other end lives in a pid namespace that netstall does not see, as that of another container of one pod: nothing says when it
# accepted, or who it is; it answers, and so it has.
case_answers_from_outside_pid_namespace() {
    python3 -c '
import socket, time
listener = socket.create_server(("127.0.0.1", 0))
print("ready", listener.getsockname()[1], flush=True)
conn = listener.accept()[0]
while data := conn.recv(100):
    time.sleep(0.015)
    conn.sendall(data)
' >"$SCRATCH/port" &
    await_line '^ready' "$SCRATCH/port" $! || fail "no server"
    timeout 60 unshare --pid --fork --mount-proc --kill-child "$NETSTALL" trace "${ATTACH[@]}" --json -- python3 -c '
import socket, sys
conn = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
for _ in range(30):
    conn.sendall(b"a")
    conn.recv(100)
' "$(cut -d' ' -f2 "$SCRATCH/port")" >"$SCRATCH/trace" 2>"$SCRATCH/err" || fail "$(head -c 300 "$SCRATCH/err")"
    tail -n 1 "$SCRATCH/trace" >"$SCRATCH/report"
    expect_is "the verdict" "$(report .verdict.cause)" peer-app
    expect "stalls in the listen queue" "$(count_of accept-queue)" '==' 0
    expect_is "damaged records" "$(report '.completeness.lost_by_kind.damaged // 0')" 0
}

# The first one watches the gate for as long as the second one takes to attach: what costs most leads, so that the workload
# has to take longer.
case_two_at_once() {
    start_exchange -- --mode split -n "$MANY"
    "$NETSTALL" trace "${ATTACH[@]}" --json -p "$CLIENT" >"$SCRATCH/second" 2>"$SCRATCH/second.err" &
    local second=$!
    wait_for "$WAIT_LIMIT" has_line 'netstall: tracing' "$SCRATCH/second.err" || fail "the first did not attach"
    trace_by -p "$CLIENT"
    wait_for 20 gone "$second" || fail "the first did not end with its target"
    tail -n 1 "$SCRATCH/second" >"$SCRATCH/report"
    expect_all_stalls nagle-delack
}
