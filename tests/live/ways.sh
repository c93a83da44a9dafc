# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# shellcheck shell=bash
#
# Whatever netstall attaches by, and on whatever kernel, the same workload has the same records: compared with ways.expected, which is
# what tracepoints give on Linux 6.18 with what other ways and kernels add or lack.

# shellcheck disable=SC2034
QUICK_CASES+=" way_loads way_records "
# All that comes is compared, so that nothing may be left out.
ALONE_CASES+=" way_records "

# UDP by both families, sendfile(), and a connection that is made and closed while netstall looks on. A round each 30 ms.
WAY_ODDS='
import os, socket, sys, tempfile, time
rounds = 8
sockets = [socket.socket(family, socket.SOCK_DGRAM) for family in (socket.AF_INET, socket.AF_INET6)]
for one, address in zip(sockets, ("127.0.0.1", "::1")):
    one.bind((address, 0))
listener = socket.create_server(("127.0.0.1", 0))
server = os.fork()
if not server:
    for _ in range(rounds):
        for one in sockets:
            _, address = one.recvfrom(100)
            time.sleep(0.015)
            one.sendto(b"b" * 50, address)
    conn = listener.accept()[0]
    for _ in range(rounds):
        conn.recv(4000, socket.MSG_WAITALL)
        time.sleep(0.015)
        conn.send(b"c" * 60)
    os._exit(0)
print(f"ready client_pid={os.getpid()} server_pid={server}", flush=True)
sys.stdin.readline()
file = tempfile.TemporaryFile()
file.write(b"d" * 4000)
file.flush()
ends = [socket.socket(one.family, socket.SOCK_DGRAM) for one in sockets]
for end, one in zip(ends, sockets):
    end.connect(one.getsockname()[:2])
for _ in range(rounds):
    for end in ends:
        end.send(b"a" * 40)
        end.recv(100)
conn = socket.create_connection(listener.getsockname())
for _ in range(rounds):
    os.sendfile(conn.fileno(), file.fileno(), 0, 4000)
    conn.recv(60, socket.MSG_WAITALL)
conn.close()
os.waitpid(server, 0)
'
start_way_workload() {
    local name
    command -v python3 >"$SCRATCH/python" || skip "python3 is not installed"
    start_named split --mode split -n 12
    start_named cork --mode cork -n 12
    EXCHANGE=$WORKLOADS/holds start_named pacing --mode pacing -n 8
    EXCHANGE=$WORKLOADS/waits start_named futex --mode futex -n 8
    EXCHANGE=$WORKLOADS/waits start_named pipe --mode pipe -n 8
    EXCHANGE=$WORKLOADS/waits start_named epoll --mode epoll -n 8
    EXCHANGE=$WORKLOADS/losses start_named rto --mode rto -n 6
    EXCHANGE=$WORKLOADS/uring start_named uring --mode mix -n 8
    export WAY_ODDS
    printf '#!/bin/bash\nexec python3 -c "$WAY_ODDS"\n' >"$SCRATCH/run-odds" && chmod +x "$SCRATCH/run-odds"
    EXCHANGE=$SCRATCH/run-odds start_named odds
    for name in "${!CLIENTS[@]}"; do
        echo "$name client ${CLIENTS[$name]}"
        [ "${SERVERS[$name]}" = "${CLIENTS[$name]}" ] || echo "$name server ${SERVERS[$name]}"
    done >"$SCRATCH/who"
}

# expected_records WAY: of ways.expected what this way has on this kernel. A line with neither holds for all.
expected_records() {
    local way=$1 minor
    minor=$(uname -r | sed -E 's/^([0-9]+)\.([0-9]+).*/\1 \2/' | awk '{ print $1 * 1000 + $2 }')
    awk -v way="$way" -v kernel="$minor" '
        /^#/ || !NF { next }
        /^\[/ {
            condition = substr($0, 2, index($0, "]") - 2)
            count = split(condition, words, " ")
            for (i = 1; i <= count; i++) {
                if (split(words[i], bound, "-") == 2) { if (kernel < at(bound[1]) || (bound[2] != "" && kernel > at(bound[2]))) next }
                else if (index("," words[i] ",", "," way ",") == 0) next
            }
            sub(/^[^]]*[]] */, "")
        }
        { print }
        function at(text, part) { split(text, part, "."); return part[1] * 1000 + part[2] }' tests/live/ways.expected | LC_ALL=C sort
}

# Numbers of arm64's system calls as x86-64 has them: read, recvfrom, futex, and epoll_pwait, by which glibc waits there.
as_x86() { [ "$(uname -m)" != aarch64 ] || sed -Ei 's/syscall=63\>/syscall=0/; s/syscall=207\>/syscall=45/; s/syscall=98\>/syscall=202/; s/syscall=22\>/syscall=232/' "$1"; }

# way_run: the workload under a recording; what is there and what is not, in "difference".
way_run() {
    local name
    rm -rf "${SCRATCH:?}"/* && CLIENTS=() SERVERS=() GATES=() RUNS=()
    start_way_workload
    "$NETSTALL" record "${ATTACH[@]}" --all --offwake -o "$SCRATCH/recording" -p "$(all_clients)" 2>"$SCRATCH/trace.err" &
    TRACE_PID=$!
    await_line 'netstall: profiling' "$SCRATCH/trace.err" $TRACE_PID || fail "netstall did not attach: $(head -c 300 "$SCRATCH/trace.err")"
    for name in "${!GATES[@]}"; do echo go >&"${GATES[$name]}"; done
    for name in "${!RUNS[@]}"; do
        wait "${RUNS[$name]}" || fail "$name failed: $(cat "$SCRATCH/$name/exchange.err")"
    done
    wait_for "$WAIT_LIMIT" gone $TRACE_PID || fail "netstall did not end with its targets"
    wait $TRACE_PID || fail "netstall ended with status $?: $(tail -n 1 "$SCRATCH/trace.err")"
    "$NETSTALL" report --text "$SCRATCH/recording" >"$SCRATCH/text" || fail "status $?"
    awk -v WHO="$SCRATCH/who" -v LEAST=4 -f tests/live/ways.awk "$SCRATCH/text" >"$SCRATCH/records"
    as_x86 "$SCRATCH/records"
    expected_records "$(sed -n 's/^0.000 session way=\([a-z]*\) .*/\1/p' "$SCRATCH/text")" >"$SCRATCH/expected"
    # Of what hangs on the pace more may be there.
    diff "$SCRATCH/expected" "$SCRATCH/records" | grep -E '^(<|> [^~])' >"$SCRATCH/difference"
}

# What netstall says that it has lost cannot be compared: a kernel leaves out the run of a program that it has interrupted for a thread
# that comes to the same (PREEMPT), of which an emulated machine that is short of time has some. Then it runs again, twice at most.
case_way_records() {
    local lost tries
    for tries in 1 2 3; do
        way_run
        [ -s "$SCRATCH/difference" ] || return
        lost=$("$NETSTALL" report --json "$SCRATCH/recording" | tail -n 1 | gojq -c .completeness.lost_by_kind)
        [ "$lost" != '{}' ] || break
        echo "# $LABEL: way_records: try $tries, lost $lost: $(head -n 2 "$SCRATCH/difference" | tr '\n' ';')"
    done
    fail "other records than expected, lost $lost: $(head -n 6 "$SCRATCH/difference" | tr '\n' ';')"
}

# Whatever a command can load, by this way: doctor loads and attaches it, by the function that they use.
case_way_loads() {
    local what way=${ATTACH[1]:-}
    "$NETSTALL" doctor "${ATTACH[@]}" >"$SCRATCH/doctor" 2>"$SCRATCH/err" || fail "status $?: $(tail -n 1 "$SCRATCH/doctor" "$SCRATCH/err")"
    for what in 'trace, check, record' '  of --children' '  of --comm NAME' '  of -c CGROUP' offwake 'io_uring operations'; do
        grep -Eq "^  $what +possible\$" "$SCRATCH/doctor" || fail "not as it has to be: $(grep "^  $what " "$SCRATCH/doctor")"
    done
    [ ${#ATTACH[@]} = 0 ] || grep -Eq "^Tracing is possible: netstall uses ${way#attach=}\.\$" "$SCRATCH/doctor" || fail "$(tail -n 1 "$SCRATCH/doctor")"
}
