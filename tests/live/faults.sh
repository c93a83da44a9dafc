# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# shellcheck shell=bash
#
# What a machine in use does to netstall: it is stopped, short of memory, beside others, behind a target that never rests. It ends, and
# what it did not see it says.

# They keep every CPU busy, or count what only an idle machine keeps up with.
ALONE_CASES+=" soak thousand_programs thousands_of_connections thousands_are_busy thousands_of_programs thousands_of_stalls
    small_tables beside_other_tracers "

# Nothing is left of a quarter of a minute's churn, and the long trace in it is right: `make soak` for longer.
case_soak() {
    local way=()
    [ ${#ATTACH[@]} = 0 ] || way=("${ATTACH[@]}")
    SOAK_SECONDS=15 tests/soak.sh "${way[@]}" >"$SCRATCH/soak" 2>&1 || fail "$(grep -v '^ok' "$SCRATCH/soak" | head -n 4 | tr '\n' ' ')"
    grep '^#' "$SCRATCH/soak" | sed "s/^# /# $LABEL: /"
}

# complete_or_said WANTED ACTUAL: of both numbers alike, unless the report counts losses and says that it is not complete.
complete_or_said() {
    echo "# $LABEL: ${FUNCNAME[1]#case_}: $2 of $1, lost: $(report '.completeness.lost_by_kind | tostring')"
    [ "$2" = "$1" ] || expect "what was lost, with $2 of $1 seen" "$(lost)" '>' 0
    [ "$(report '[.completeness.lost_by_kind | to_entries[] | select(.key | IN("runs", "sites", "releases") | not)] | length')" = 0 ] ||
        expect_is "complete" "$(report .completeness.complete)" false
}

case_stopped_for_5_s() {
    start_exchange -- --mode nodelay --gap-us 0 --seconds 8
    start_trace -p "$CLIENT"
    open_gate
    pause 1
    kill -STOP "$TRACE_PID"
    pause 5
    kill -CONT "$TRACE_PID"
    end_exchange
    end_trace
    complete_or_said "$TRUTH_EXCHANGES" "$(report '[.connections[] | select(.role == "target") | .exchanges] | add')"
}

# The helpers of $1 that are called $2.
helpers_of() { pgrep -P "$1" | while read -r pid; do [ "$(cat "/proc/$pid/comm" 2>/dev/null)" != "$2" ] || echo "$pid"; done; }

# ends_all_the_same FILE NAME STATUS SECONDS WHEN: TRACE_PID, netstall's NAME, ends within that time, with that status, and has written
# what it saw to FILE or to the recording. What else is to be ended with it is in STOPPED.
ends_all_the_same() {
    local status=0
    # shellcheck disable=SC2086
    wait_for "$4" gone "$TRACE_PID" || { kill -KILL "$TRACE_PID" ${STOPPED:-} && fail "$2 does not end $5"; }
    wait "$TRACE_PID" || status=$?
    expect_is "the status of $2 $5" $status "$3"
    [ -s "$SCRATCH/$1" ] || [ -s "$SCRATCH/recording" ] || fail "$2 wrote nothing $5"
}

# A helper that does not answer, as when it hangs on a file system, holds nothing up: what was seen is written. (offwake, whose names are
# its output, waits half a minute for them.)
case_helpers_that_are_stopped() {
    local helper name ready wanted command
    start_exchange -- --mode split --gap-us 0 --seconds 60
    CLEANUP+=("kill $CLIENT $SERVER")
    open_gate
    while read -r name helper ready wanted command; do
        rm -f "$SCRATCH/err"
        # shellcheck disable=SC2086
        "$NETSTALL" ${command/ATTACH/${ATTACH[*]}} -p "$CLIENT" -d 2 >"$SCRATCH/$name" 2>"$SCRATCH/err" &
        TRACE_PID=$!
        await_line "netstall: $ready" "$SCRATCH/err" $TRACE_PID || fail "$name did not attach: $(head -c 300 "$SCRATCH/err")"
        STOPPED=$(helpers_of $TRACE_PID "$helper")
        [ -n "$STOPPED" ] || fail "$name has no $helper"
        # shellcheck disable=SC2086
        kill -STOP $STOPPED
        ends_all_the_same "$name" "$name" "$wanted" 20 "while $helper is stopped"
        gone "$STOPPED" || fail "$helper of $name is left"
    done <<END
trace netstall-files tracing 0 trace ATTACH --json
trace-names netstall-names tracing 0 trace ATTACH --json
check netstall-files tracing 1 check ATTACH
record netstall-files tracing 0 record ATTACH -o $SCRATCH/recording
END
}

# The process between netstall and the program that it runs was stopped: the program's end, and a time-out, are seen all the same.
case_supervisor_that_is_stopped() {
    local program limit
    for program in 0.5:none 50:1; do
        limit=${program#*:}
        rm -f "$SCRATCH/err"
        "$NETSTALL" check "${ATTACH[@]}" --allow-no-traffic --timeout "${limit/none/30}" -- sh -c 'echo runs; exec sleep "$0"' "${program%:*}" >"$SCRATCH/out" 2>"$SCRATCH/err" &
        TRACE_PID=$!
        wait_for 20 has_line '^runs' "$SCRATCH/out" || fail "the program was not run: $(head -c 300 "$SCRATCH/err")"
        kill -STOP $(helpers_of $TRACE_PID netstall-superv)
        wait_for 20 gone $TRACE_PID || { kill -KILL $TRACE_PID && fail "check of sleep ${program%:*} does not end while its supervisor is stopped"; }
        status=0
        wait $TRACE_PID || status=$?
        expect_is "the status of check of sleep ${program%:*}" $status $([ "$limit" = none ] && echo 0 || echo 4)
    done
}

# One that is killed, at whatever moment (each night at twenty), costs names, and that is said; the run is as it would have been.
case_helpers_that_are_killed() {
    local helper wanted command moment pid i
    start_exchange -- --mode split --gap-us 0 --seconds "${NIGHTLY:+1}200"
    CLEANUP+=("kill $CLIENT $SERVER")
    open_gate
    while read -r helper wanted command; do
        for ((i = 0; i < ${NIGHTLY:+19} + 1; i++)); do
            rm -f "$SCRATCH/out" "$SCRATCH/recording"
            # shellcheck disable=SC2086
            "$NETSTALL" ${command/ATTACH/${ATTACH[*]}} -p "$CLIENT" -d 1 >"$SCRATCH/out" 2>"$SCRATCH/err" &
            TRACE_PID=$!
            moment=0.$((RANDOM % 10))$((RANDOM % 10))
            pause $moment
            pid=
            while [ -z "$pid" ] && ! gone $TRACE_PID; do pid=$(helpers_of $TRACE_PID "$helper"); done
            kill -KILL "$pid" || fail "no $helper of $command after $moment s"
            ends_all_the_same out "$command" "$wanted" 30 "when $helper was killed after $moment s"
            has_line "^netstall: names of functions may be missing: .*, $helper, was ended" "$SCRATCH/err" ||
                fail "$command does not say that $helper was killed after $moment s: $(head -c 300 "$SCRATCH/err")"
        done
    done <<END
netstall-files 0 trace ATTACH --json
netstall-names 0 trace ATTACH --json
netstall-files 1 check ATTACH
netstall-names 1 check ATTACH
netstall-files 0 offwake -f
netstall-names 0 offwake -f
netstall-files 0 record ATTACH -o $SCRATCH/recording
netstall-names 0 record ATTACH -o $SCRATCH/recording
END
}

end_hanging_files() {
    umount -l "$SCRATCH/mount"
    kill -KILL "$FILES_PID"
    wait "$FILES_PID" 2>/dev/null
}

# Files of the target lie on a file system that answers nobody any more: the helper that asks it hangs in the kernel, and cannot even be
# killed. What was seen is written, and netstall ends; the helper ends when the file system does.
case_files_that_hang() {
    local name wanted command helpers tracers=''
    [ -c /dev/fuse ] && /usr/bin/python3 -c 'import fusepy' 2>/dev/null || skip "no FUSE here, or python3-fusepy is not installed"
    mkdir "$SCRATCH/files" "$SCRATCH/mount"
    cp "$EXCHANGE" "$SCRATCH/files/exchange"
    /usr/bin/python3 tests/workload/hanging_files.py "$SCRATCH/files" "$SCRATCH/mount" 2>"$SCRATCH/fuse.err" &
    FILES_PID=$!
    CLEANUP+=(end_hanging_files)
    if ! wait_for 20 test -x "$SCRATCH/mount/exchange"; then
        ! gone "$FILES_PID" || skip "FUSE cannot be mounted here: $(tail -n 1 "$SCRATCH/fuse.err" | head -c 200)"
        fail "no file system: $(head -c 300 "$SCRATCH/fuse.err")"
    fi
    EXCHANGE=$SCRATCH/mount/exchange start_exchange -- --mode split --gap-us 0 --seconds 100
    CLEANUP=("kill $CLIENT $SERVER" "${CLEANUP[@]}")
    open_gate
    touch "$SCRATCH/files/hang"
    while read -r name wanted command; do
        # shellcheck disable=SC2086
        "$NETSTALL" ${command/ATTACH/${ATTACH[*]}} -p "$CLIENT" -d 1 >"$SCRATCH/$name" 2>"$SCRATCH/err" &
        tracers+="$name $wanted $!"$'\n'
    done <<END
trace 0 trace ATTACH --json
check 1 check ATTACH
offwake 0 offwake -f
record 0 record ATTACH -o $SCRATCH/recording
END
    while read -r name wanted TRACE_PID; do
        ends_all_the_same "$name" "$name" "$wanted" 45 "while a file system hangs"
    done <<<"${tracers%$'\n'}"
    tail -n 1 "$SCRATCH/trace" >"$SCRATCH/report"
    expect "stalls seen meanwhile" "$(count_of nagle-delack)" '>' 0
    helpers=$(pgrep -f "$NETSTALL.*-p $CLIENT -d 1" | wc -l)
    end_hanging_files
    wait_for 20 no_process_of "$CLIENT" || fail "of $helpers helpers some are left"
}
no_process_of() { ! pgrep -f "$NETSTALL.*-p $1 -d 1" >/dev/null; }

# A thousand programs, one after the other, a connection each.
case_thousand_programs() {
    # shellcheck disable=SC2016
    "$NETSTALL" check "${ATTACH[@]}" --min-exchanges 1 --json "$SCRATCH/check" -- \
        bash -c 'for i in {1..1000}; do "$0" short 1 || exit 9; done' "$WORKLOADS/connections" >"$SCRATCH/out" 2>"$SCRATCH/err"
    STATUS=$?
    gojq -c '.report' "$SCRATCH/check" >"$SCRATCH/report"
    complete_or_said 1000 "$(gojq -r .watched.exchanges "$SCRATCH/check")"
    [ "$(report .completeness.complete)" = true ] || expect_is "the status, without having seen all" "$STATUS" 3
    [ "$STATUS" = 3 ] || expect_is "the status" "$STATUS" 0
}

# Thousands of connections, most of which are but a part of a sum that the kernel side makes: it is exact, but for what the kernel left
# out runs of. Both ends are the program's own: a request is the one that it makes.
case_thousands_of_connections() {
    local made count=6000
    # So many that most are beyond the first on each CPU, of two: an emulated machine takes its time.
    [ -z "$QUICK" ] || count=3000
    "$NETSTALL" check "${ATTACH[@]}" --min-exchanges 1 --json "$SCRATCH/check" -- "$WORKLOADS/connections" short $count >"$SCRATCH/out" 2>"$SCRATCH/err"
    STATUS=$?
    gojq -c '.report' "$SCRATCH/check" >"$SCRATCH/report"
    [ -z "$QUICK" ] || [ $STATUS != 1 ] || STATUS=0 # an emulated machine may be as slow as a stall
    expect_is "the status" "$STATUS" 0
    made=$(report '[.requests[] | select(.connection == null and .role == "makes")][0] | "\(.connections) \(.count)"')
    if [ "$(report '.completeness.lost_by_kind.runs // 0')" = 0 ]; then
        expect_is "connections and their requests" "$made" "$count $count"
        expect_is "exchanges" "$(gojq -r .watched.exchanges "$SCRATCH/check")" $count
        expect_is "ends of connections" "$(report .completeness.sockets)" $((2 * count))
    else
        expect "connections, some runs left out" "${made% *}" '>=' $((count - 100))
        expect "connections, some runs left out" "${made% *}" '<=' $count
    fi
    # Of a slow machine's many are stalls, and told.
    [ -n "$QUICK" ] || expect "events" "$(report .completeness.events)" '<' 24000
    expect_is "contradictions in the report" "$(contradictions)" ""
}

# Of very many that are there already the report has but some; how many are watched is said all the same.
case_thousands_are_there() {
    local count=3000
    command -v python3 >"$SCRATCH/python" || skip "python3 is not installed"
    [ "$(ulimit -Hn)" -gt $((2 * count + 100)) ] || skip "no process may have $((2 * count)) files open"
    start_at_gate python3 -c '
import os, resource, socket, sys
resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
listener = socket.create_server(("127.0.0.1", 0))
ends = [(socket.create_connection(listener.getsockname()), listener.accept()) for _ in range(int(sys.argv[1]))]
print(f"ready client={os.getpid()}", flush=True)
sys.stdin.readline()
' $count
    start_trace -p "$(field client "$(cat "$SCRATCH/gated")")"
    open_gate
    end_trace
    has_line "tracing python3 .*: $count connections" "$SCRATCH/trace.err" || fail "it says: $(head -n 1 "$SCRATCH/trace.err")"
}

# And their requests go on while netstall looks for its targets' sockets: who asks is told right from the first one on.
case_thousands_are_busy() {
    local count=3000 told
    command -v python3 >"$SCRATCH/python" || skip "python3 is not installed"
    [ "$(ulimit -Hn)" -gt $((2 * count + 100)) ] || skip "no process may have $((2 * count)) files open"
    start_at_gate python3 -c '
import os, random, resource, select, socket, sys
resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
listener = socket.create_server(("127.0.0.1", 0))
ends = [(socket.create_connection(listener.getsockname()), listener.accept()[0]) for _ in range(int(sys.argv[1]))]
print(f"ready client={os.getpid()} port={listener.getsockname()[1]}", flush=True)
while not select.select([sys.stdin], [], [], 0)[0]:
    for asks, serves in random.sample(ends, 100):
        asks.send(b"x" * 40), serves.recv(100), serves.send(b"y" * 40), asks.recv(100)
' $count
    start_trace -p "$(field client "$(cat "$SCRATCH/gated")")"
    pause 1
    open_gate
    end_trace
    told=$(sed -n 's/^netstall: tracing python3 .*: \([0-9]*\) connections.*/\1/p' "$SCRATCH/trace.err")
    expect "connections that were there" "$told" -ge $((count - 30))
    expect "connections that were there" "$told" -le $((count + 30))
    expect_is "ports that are asked" "$(report '[.requests[] | select(.role == "makes") | .endpoint.port] | unique | tostring')" "[$(field port "$(cat "$SCRATCH/gated")")]"
    expect_is "holds" "$(report '[.connections[].held[]?] | length')" 0
}

# Programs that come and go, each with services of its own: those that have ended make room.
case_thousands_of_programs() {
    local i count=1600
    ln -s "$(realpath "$WORKLOADS/connections")" "$SCRATCH/comes-and-goes"
    start_trace --comm comes-and-goes
    for ((i = 0; i < count; i++)); do "$SCRATCH/comes-and-goes" short 4 >>"$SCRATCH/said" || fail "the workload failed"; done
    end_trace
    expect_is "exchanges of the workload" "$(grep -c 'exchanges=4$' "$SCRATCH/said")" $count
    expect_is "what was lost but runs" "$(report '.completeness.lost_by_kind | del(.runs)')" "{}"
    [ "$(report '.completeness.lost_by_kind.runs // 0')" != 0 ] || expect_is "ends of connections" "$(report .completeness.sockets)" $((8 * count))
}

# Of thousands of stalls a second a part is looked at; all requests are counted, and what was not looked at is said.
case_thousands_of_stalls() {
    local i
    for ((i = 0; i < 100; i++)); do
        start_named "p$i" --mode late-server -n 50 --name late-client
    done
    start_trace --comm late-client
    end_named
    echo "# $LABEL: thousands_of_stalls: $(report '"\(.stalls | length) stalls listed of \([.causes[].count] | add), \(.completeness.lost_by_kind | tostring), \(.completeness.incomplete_ms) of \(.window.duration_ms) ms"')"
    expect_is "requests" "$(report '[.requests[] | select(.connection == null and .endpoint == null) | .count] | add')" 5000
    expect_is "the verdict" "$(report .verdict.cause)" peer-app
    # Two hundred programs may wait for a CPU here and there; where the host takes the CPU away, the kernel takes it for their own time.
    expect_is "other causes" "$(report '[.causes[].cause | select(IN("peer-app", "runqueue", "self") | not)] | join(" ")')" ""
    expect "stalls" "$(report '[.causes[].count] | add')" '>=' 500
    expect "stalls of those that computed" "$(report '[.causes[] | select(.cause == "self") | .count] | add // 0')" '<=' "$(report '[.causes[].count] | add') / 100"
    expect "waits not looked at" "$(report '.completeness.lost_by_kind.waits // 0')" '>' 0
    expect "time in which these were" "$(report .completeness.incomplete_ms)" '>' 0
    expect_is "what else was lost" "$(report '[.completeness.lost_by_kind | keys[] | select(IN("waits", "runs") | not)] | join(" ")')" ""
}

# Tables for 16, of 40 programs at a time with two threads and as many connections each: what was not seen makes a gate inconclusive.
case_small_tables() {
    local knob
    for knob in conns.max=16 threads.max=16 ringbuf.bytes=4096; do
        # shellcheck disable=SC2016
        "$NETSTALL" check "${ATTACH[@]}" -C "$knob" --min-exchanges 1 --json "$SCRATCH/check" -- \
            bash -c 'for i in {1..40}; do "$0" short 500 & done; wait' "$WORKLOADS/connections" >"$SCRATCH/out" 2>"$SCRATCH/err"
        STATUS=$?
        gojq -c .report "$SCRATCH/check" >"$SCRATCH/report"
        expect "what was lost with $knob" "$(lost)" '>' 0
        expect_is "complete with $knob" "$(report .completeness.complete)" false
        [ $STATUS = 3 ] || [ $STATUS = 1 ] || fail "the status with $knob is $STATUS: $(tail -n 1 "$SCRATCH/err")"
        [[ $(gojq -r '[.doubts[].kind] | join(" ")' "$SCRATCH/check") = *lost* ]] || fail "no doubt with $knob"
    done
}

# With less memory than it takes to begin it says so and ends; with a little more it may do without names.
case_memory_limit() {
    local limit command status worked=0
    ! is_sanitized || skip "the sanitizer takes more addresses than there are"
    for limit in 8000 20000 40000 50000 60000 70000 80000 100000 140000 300000; do
        for command in "trace ${ATTACH[*]} -p $$ -d 0.1" "offwake -p $$ 0.1"; do
            # shellcheck disable=SC2086
            (ulimit -v $limit && exec timeout -s KILL 60 "$NETSTALL" $command) >"$SCRATCH/out" 2>"$SCRATCH/err"
            status=$?
            [ $status = 0 ] && worked=$((worked + 1)) && continue
            expect_is "the status of $command with $limit KiB" $status 2
            grep -q '^netstall: .*memory' "$SCRATCH/err" || fail "with $limit KiB: $(cat "$SCRATCH/err")"
        done
    done
    expect "runs with room enough" $worked '>=' 2
    expect "runs without" "$worked" '<' 20
}

# In a cgroup that has less than a start takes the kernel kills it: it has said so before, and what it advises helps.
case_memory_of_the_cgroup() {
    local root=/sys/fs/cgroup file=memory.max group small status=0
    [ ! -d /sys/fs/cgroup/memory ] || root=/sys/fs/cgroup/memory file=memory.limit_in_bytes
    group=$root/netstall-test-$$-$RANDOM
    ! is_sanitized || skip "the sanitizer takes more memory"
    mkdir "$group" 2>/dev/null || skip "no cgroup can be made here"
    CLEANUP+=("rmdir $group")
    [ -w "$group/$file" ] && echo $((80 << 20)) >"$group/$file" || skip "cgroups have no limit of memory here"
    in_group() { (echo $BASHPID >"$group/cgroup.procs" && exec timeout 60 "$NETSTALL" "$@") >"$SCRATCH/out" 2>"$SCRATCH/err"; }
    in_group trace "${ATTACH[@]}" -p $$ -d 0.1 2>/dev/null || status=$?
    echo "# $LABEL: ${FUNCNAME[0]#case_}: with 84 MB the status is $status"
    has_line '^netstall: its cgroup may have 83[.]9 MB of memory' "$SCRATCH/err" || fail "it does not say so: $(head -c 300 "$SCRATCH/err")"
    small=$(sed -n 's/.*its cgroup may have.* in all: //p' "$SCRATCH/err")
    [ -n "$small" ] || fail "it advises nothing"
    # shellcheck disable=SC2086 # as it says
    in_group trace "${ATTACH[@]}" -p $$ -d 0.1 $small || fail "with what it advises: $(head -c 300 "$SCRATCH/err")"
    ! grep -q 'its cgroup' "$SCRATCH/err" || fail "it says so again: $(head -c 300 "$SCRATCH/err")"
}

# Others on the same tracepoints begin and end all the time.
case_beside_other_tracers() {
    local other
    command -v perf >"$SCRATCH/perf" || skip "perf is not installed"
    start_exchange -- --mode split -n "$MANY"
    touch "$SCRATCH/others"
    (while [ -e "$SCRATCH/others" ]; do
        perf stat -a -e sched:sched_switch,sched:sched_waking,tcp:tcp_probe,timer:timer_start -- sleep 0.2 || break
    done) >"$SCRATCH/perf" 2>&1 &
    other=$!
    trace_by -p "$CLIENT"
    rm "$SCRATCH/others"
    wait "$other"
    grep -q 'sched:sched_switch' "$SCRATCH/perf" || skip "perf counts nothing here: $(tail -n 1 "$SCRATCH/perf")"
}
