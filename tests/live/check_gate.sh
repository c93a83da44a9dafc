# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# shellcheck shell=bash
#
# What `netstall check` makes of baselines, of a window in which nothing was judged, and of outputs that cannot be written.

ALONE_CASES+=" check_one_bad_among_many check_none_bad_among_many "

# checked STATUS OPTIONS... -- PROGRAM...: the check ends with that status; its words are in $SCRATCH/words.
checked() {
    local wanted=$1 status=0
    shift
    timeout "$WAIT_LIMIT" "$NETSTALL" check "${ATTACH[@]}" "$@" >"$SCRATCH/words" 2>&1 || status=$?
    [ $status = "$wanted" ] || fail "status $status, not $wanted, of check $*: $(tail -n 3 "$SCRATCH/words")"
}

case_check_baseline() {
    local file=$SCRATCH/baseline.json old=$SCRATCH/old.json
    checked 0 --save-baseline "$file" -- "$EXCHANGE" --mode nodelay -n 200
    gojq -e '.schema == "netstall.baseline/1" and .exchanges == 200 and .causes["nagle-delack"] == null' "$file" >"$SCRATCH/jq" ||
        fail "the baseline is $(tr -d '\n' <"$file")"
    cp "$file" "$old"
    # Nothing differs significantly: a committed file stays, byte for byte.
    checked 0 --baseline "$file" --save-baseline "$file" -- "$EXCHANGE" --mode nodelay -n 150
    cmp -s "$file" "$old" || fail "the baseline changed though nothing had: $(tr -d '\n' <"$file")"
    # Within all budgets, and worse than it was: that fails, and does not become the baseline by itself.
    checked 1 --budget none --baseline "$file" --save-baseline "$file" -- "$EXCHANGE" --mode split -n 15
    has_line 'more often than in .*nagle-delack' "$SCRATCH/words" || fail "it does not say what changed"
    cmp -s "$file" "$old" || fail "the baseline took what had just failed by it"
    checked 3 --baseline "$SCRATCH/none.json" -- "$EXCHANGE" --mode nodelay -n 20
}

# No cause has a budget, and none of TCP's comes up: the server takes longer. A request's time has a budget of its own, too.
case_check_baseline_of_requests() {
    local file=$SCRATCH/baseline.json
    checked 0 --save-baseline "$file" -- "$EXCHANGE" --mode nodelay -n 200
    gojq -e '[.requests[] | "\(.role) \(.program)"] == ["makes demo-client"]' "$file" >"$SCRATCH/jq" ||
        fail "the baseline is $(tr -d '\n' <"$file")"
    checked 1 --baseline "$file" --json "$SCRATCH/report" -- "$EXCHANGE" --mode late-server -n 40
    has_line 'FAIL .*requests of demo-client -> :[0-9]* take longer than in the baseline' "$SCRATCH/words" || fail "it says: $(head -n 2 "$SCRATCH/words")"
    expect_is "endpoints that are slower" "$(report '[.baseline.requests[] | select(.worse and .median_ms_now > 10)] | length')" 1
    checked 0 --budget requests.p50=1s,requests.p99=9s -- "$EXCHANGE" --mode late-server -n 30
    checked 1 --budget requests.p50=5ms --json "$SCRATCH/report" -- "$EXCHANGE" --mode late-server -n 30
    expect_is "the gate" "$(report '.gates[] | select(.name == "requests.p50") | "\(.state) \(.total_ms > 5) \(.first_stall != null)"')" "over true true"
}

# A full disk leaves the old baseline as it is.
case_check_baseline_full_disk() {
    local small=$SCRATCH/small status=0
    mkdir -p "$small"
    timeout "$WAIT_LIMIT" unshare -m bash -c '
        mount -t tmpfs -o size=16k none "$1" || exit 77
        printf "{\"causes\":{},\"exchanges\":5,\"schema\":\"netstall.baseline/1\",\"threshold_ns\":1}\n" | tee "$2" >"$1/b.json"
        dd if=/dev/zero of="$1/fill" bs=1k count=64 2>"$2.dd"
        "${@:3}" --save-baseline "$1/b.json" -- "$EXCHANGE" --mode nodelay -n 30 >"$2.words" 2>&1
        [ $? = 2 ] && cmp "$1/b.json" "$2" && [ "$(ls "$1" | wc -l)" = 2 ]
    ' - "$small" "$SCRATCH/old" "$NETSTALL" check "${ATTACH[@]}" >"$SCRATCH/out" 2>&1 || status=$?
    [ $status != 77 ] || skip "no tmpfs can be mounted in a namespace"
    [ $status = 0 ] || fail "$(tail -n 2 "$SCRATCH/old.words") $(tail -n 1 "$SCRATCH/out")"
}

# Ended in the warm-up: nothing was judged, whatever is allowed.
case_check_warmup_only() {
    checked 3 --warmup 30 --allow-no-traffic --min-exchanges 0 -- "$EXCHANGE" --mode split -n 5
}

# With stdout closed a report would be the next file in its place. The text is lost, and that is said.
case_check_closed_stdout() {
    local status=0
    timeout "$WAIT_LIMIT" "$NETSTALL" check "${ATTACH[@]}" --json "$SCRATCH/check.json" -- "$EXCHANGE" --mode nodelay -n 20 \
        >&- 2>"$SCRATCH/words" || status=$?
    [ $status = 2 ] || fail "status $status: $(tail -n 1 "$SCRATCH/words")"
    has_line 'cannot write to stdout, it is closed' "$SCRATCH/words" || fail "it says: $(head -n 1 "$SCRATCH/words")"
    gojq -e .schema "$SCRATCH/check.json" >"$SCRATCH/jq" || fail "something else was written into the JSON report"
}

# A connection that carries nothing but its end is no traffic, though the kernel counts the FIN as a byte.
case_check_idle_connection() {
    command -v python3 >"$SCRATCH/python" || skip "python3 is not installed"
    checked 3 --min-exchanges 0 -- python3 -c '
import socket, threading
listener = socket.create_server(("127.0.0.1", 0))
def serve():
    listener.accept()[0].close()
server = threading.Thread(target=serve)
server.start()
client = socket.create_connection(listener.getsockname())
server.join()
client.recv(1)
client.close()'
    has_line 'no data was sent on' "$SCRATCH/words" || fail "it says: $(head -n 1 "$SCRATCH/words")"
}

# among_many STATUS WORD: a client with many open connections to a server of this host, of which one in its time has the stalls
# (WORD bad), or none (good). Both are there before the check, and end within it, all of their connections at once.
among_many() {
    local count=9000 rounds=4000
    [ -z "$QUICK" ] || count=1500 rounds=1000 # both ends of each fit into the table of old kernels
    command -v python3 >"$SCRATCH/python" || skip "python3 is not installed"
    [ "$(ulimit -Hn)" -gt $((count + 1000)) ] || skip "no process may have $count files open"
    start_at_gate python3 -c '
import os, random, resource, select, signal, socket, sys
count, rounds, is_bad = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3] == "bad"
resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
listener = socket.create_server(("127.0.0.1", 0), backlog=1024)
server = os.fork()
if not server:
    ready, conns, asked = select.epoll(), {}, {}
    ready.register(listener, select.EPOLLIN)
    while True:
        for fd, _ in ready.poll():
            if fd == listener.fileno():
                conn = listener.accept()[0]
                conns[conn.fileno()], asked[conn.fileno()] = conn, 0
                ready.register(conn, select.EPOLLIN)
                continue
            got = len(conns[fd].recv(100))
            asked[fd] += got
            if not got:
                ready.unregister(fd)
                conns.pop(fd).close()
            elif asked[fd] == 40:
                asked[fd] = 0
                conns[fd].send(b"answer")
def connect():
    conn = socket.create_connection(listener.getsockname())
    conn.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return conn
conns = [connect() for _ in range(count)]
other = conns.pop(count // 2)
other.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, not is_bad)
print(f"ready client={os.getpid()} server={server}", flush=True)
sys.stdin.readline()
for i in range(rounds):
    conn = other if i % (rounds // 10) == 50 else random.choice(conns)
    conn.send(b"a" * 20)
    conn.send(b"b" * 20)
    conn.recv(100)
os.kill(server, signal.SIGKILL)
' "$count" "$rounds" "$2"
    start_check -p "$(field client "$(cat "$SCRATCH/gated")")"
    await_line 'netstall: tracing' "$SCRATCH/check.err" "$CHECK_PID" || fail "it did not attach: $(head -n 1 "$SCRATCH/check.err")"
    open_gate
    end_check "$1"
    says "tracing python3 .*: $count connections"
    # An emulated machine is slow by itself, and not all of that has a cause.
    [ -n "$QUICK" ] || expect_is "doubts" "$(doubts)" ''
}
case_check_one_bad_among_many() {
    among_many 1 bad
    expect "its stalls" "$(report '.gates[] | select(.name == "nagle-delack").count')" '>=' 5
    expect_is "connections that stall so" "$(report '[.report.stalls[] | select(.cause == "nagle-delack").connection] | unique | map(select(. > 0)) | length')" 1
}
case_check_none_bad_among_many() { among_many 0 good; }
