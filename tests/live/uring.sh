# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# shellcheck shell=bash
#
# io_uring against the word of a workload that counts what its completion queues say: every opcode, every result, no less and
# no more; and stalls of exchanges that go over a ring.

ALONE_CASES+=" uring_mix uring_good "

URING=${URING:-$WORKLOADS/uring}
QUICK_CASES+=" uring_split uring_sites uring_all_kinds uring_lasting uring_idle "

# ---- programs ------------------------------------------------------------------------------------------------------

# start_ring NAME OPTIONS...: at its gate. Of a setup that this kernel refuses nothing is started.
start_ring() {
    local name=$1 setup
    shift
    setup=$(sed -n 's/.*--setup \([a-z0-9]*\).*/\1/p' <<<"$*")
    if [ -n "$setup" ] && ! "$URING" --mode nop -n 1 --setup "$setup" >/dev/null 2>&1; then
        echo "# $LABEL: ${FUNCNAME[1]#case_}: no $name on this kernel"
        return
    fi
    EXCHANGE=$URING start_named "$name" --mode "$@"
}

# has_mode MODE: this kernel has what it is about.
has_mode() {
    "$URING" --mode "$1" -n 1 >"$SCRATCH/said" 2>&1 && return
    echo "# $LABEL: ${FUNCNAME[1]#case_}: $(tail -n 1 "$SCRATCH/said")"
    return 1
}

# ---- counts --------------------------------------------------------------------------------------------------------

# truth NAME FILTER: of a program's own account.
truth() { grep '^{' "$SCRATCH/$1/exchange" | head -n 1 | gojq -r "$2"; }

# All programs' accounts together, of the processes named (with commas between): {"OPCODE RESULT": CQEs}.
truth_counts() {
    cat "$SCRATCH"/*/exchange | grep '^{' | gojq -c -n "[inputs | select(.pid | IN($1)) | .ops | to_entries[] | .key as \$op | .value
        | (.results | to_entries[]), {key: \"notified\", value: .notified} | select(.value > 0) | .key |= \"\(\$op) \(.)\"]
        | reduce .[] as \$one ({}; .[\$one.key] += \$one.value)"
}

# The same by the report's table.
report_counts() {
    report '[.uring.operations[] | .opcode as $op
        | (.error_counts | to_entries[]), {key: "ok", value: (.count - ([.error_counts[]] | add // 0))},
            {key: "notified", value: .notifications}
        | select(.value > 0) | .key |= "\($op) \(.)"] | from_entries | @json'
}

# The same by the list of events.
event_counts() {
    gojq -c -n '[inputs | select(.event == "uring" and .step == "done") | "\(.opcode) " +
        (if .cqe_flags / 8 % 2 >= 1 then "notified" else .error // "ok" end)]
        | reduce .[] as $key ({}; .[$key] += 1)' "$SCRATCH/trace"
}

# expect_counts WHO COUNTS PIDS: every key, both ways. Where Linux 7 left out runs of netstall's programs, and netstall says so, there may
# be as many completions less, of a ring whose making was not seen for one, and such as are of an unknown operation, whose
# submission was not seen; never one more.
expect_counts() {
    local wrong
    wrong=$(gojq -r -n --argjson truth "$(truth_counts "$3")" --argjson said "$2" \
        --argjson runs "$(report '.completeness.lost_by_kind.runs // 0')" '[($truth + $said | keys[]) as $key
        | select($truth[$key] != $said[$key]) | {$key, said: ($said[$key] // 0), truth: ($truth[$key] // 0)}]
        | (map([.truth - .said, 0] | max) | add // 0) as $missed
        | select(any(.said > .truth and (.key | startswith("unknown ") | not)) or (map(.truth - .said) | add // 0) < 0 or $missed > $runs)
        | map("\(.key) is \(.said) of \(.truth)") | join(", ")')
    echo "# $LABEL: ${FUNCNAME[1]#case_}: $(gojq -r -n "$2 | add // 0") completions of $(gojq -n "$2 | length") kinds by $1"
    expect_is "what $1 counted otherwise than the program" "$wrong" ''
}

# When held bytes left is no matter of operations, and was not seen now and then on an emulated machine.
expect_nothing_lost() {
    expect_is "what was lost" "$(report '.completeness.lost_by_kind | del(.releases, .sites, .runs) | tojson')" '{}'
}

# operation OPCODE FIELD: of the report.
operation() { report "[.uring.operations[] | select(.opcode == \"$1\").$2] | add // 0"; }

# ---- cases ---------------------------------------------------------------------------------------------------------

# The quiet volume, at the greatest rate.
case_uring_mix() {
    start_ring mix mix -n 200
    start_ring nop nop -n 200000 --batch 32
    trace_named
    expect_nothing_lost
    expect_counts "the report" "$(report_counts)" "${CLIENTS[mix]},${CLIENTS[nop]}"
    # How they went, of such as cannot go another way.
    expect "NOP at once" "$(operation NOP inline)" '>=' 200000
    expect "FSYNC by workers" "$(operation FSYNC worker)" '==' "$(truth mix .ops.FSYNC.results.ok)"
    expect "TIMEOUT at once" "$(operation TIMEOUT inline)" '==' 0
    expect "RECV that waited" "$(operation RECV poll)" '>=' 200
    # Its rings are empty when it ends, of multishot operations too; and the longest of each took as long as most.
    expect_is "operations in flight" "$(report '[.uring.operations[] | select(.in_flight > 0) | "\(.opcode) \(.in_flight)"] | join(", ")')" ''
    expect_is "operations whose longest is none" "$(report '[.uring.operations[] | select(.max_ms != null and .max_ms < 0.9 * .p50_ms) | .opcode] | join(", ")')" ''
}

# Every step, one by one, of a ring that is there before.
case_uring_events() {
    start_ring mix mix -n 100 --before
    trace_named --events=uring
    expect_nothing_lost
    expect_counts "the report" "$(report_counts)" "${CLIENTS[mix]}"
    expect_counts "the list of events" "$(event_counts)" "${CLIENTS[mix]}"
    expect_is "operations submitted and not refused" "$(gojq -n '[inputs | select(.event == "uring" and .step == "submitted")] | length' "$SCRATCH/trace")" \
        "$(truth mix '[.ops[] | .submitted - .refused] | add')"
}

# The list as a person reads it: a line for each completion and no other event, then time lines, tables and the verdict.
case_uring_list() {
    start_ring list split -n "$FEW"
    "$NETSTALL" trace "${ATTACH[@]}" -p "${CLIENTS[list]}" --events uring -o "$SCRATCH/list.out" 2>"$SCRATCH/list.err" &
    local tracer=$! list
    wait_for "$WAIT_LIMIT" has_line tracing "$SCRATCH/list.err" || fail "not attached: $(cat "$SCRATCH/list.err")"
    echo go >&"${GATES[list]}"
    wait_for 60 gone "${RUNS[list]}" || fail "the workload did not end"
    wait_for "$WAIT_LIMIT" gone "$tracer" || fail "did not end with its target"
    list=$(sed '/^$/,$d' "$SCRATCH/list.out")
    [[ ${list%%$'\n'*} =~ TIME\ \ THREAD\ .*\ RESULT\ \  ]] || fail "no heads: $(head -n 1 <<<"$list")"
    expect_is "lines of the list" "$(sed 1d <<<"$list" | wc -l)" "$((3 * FEW))"
    expect_is "WRITE of 40 B" "$(grep -c "ms  uring/${CLIENTS[list]} .* WRITE fd [0-9]* .* 40 B  *40  " <<<"$list")" "$FEW"
    expect_is "WRITE of 136 B" "$(grep -c ' WRITE fd [0-9]* .* 136 B  *136  ' <<<"$list")" "$FEW"
    expect_is "RECV" "$(grep -c ' RECV fd [0-9]* .* 64 B  *64  ' <<<"$list")" "$FEW"
    expect_is "verdicts" "$(grep -c '^nagle-delack: ' "$SCRATCH/list.out")" 1
    grep -q 'uring RECV fd' "$SCRATCH/list.out" || fail "no operation in the time lines"
}

# A stall for each exchange but the first, under its cause, whatever the ring is like and however it is waited for.
case_uring_split() {
    local name all=0 whole
    start_ring chain split -n "$FEW"
    start_ring one split -n "$FEW" --one-by-one --eventfd
    start_ring sqpoll split -n "$FEW" --setup sqpoll
    start_ring deferred split -n "$FEW" --setup defer --before
    trace_named
    for name in "${!CLIENTS[@]}"; do
        TRUTH_STALLS=$(of "$name" stalls) TRUTH_EXCHANGES=$(of "$name" exchanges)
        expect "the stalls of $name by its own clock" "$TRUTH_STALLS" '>=' "0.5 * $TRUTH_EXCHANGES"
        expect "the nagle-delack stalls of $name" "$(report "[.stalls[] | select(.pid == ${CLIENTS[$name]} and .cause == \"nagle-delack\")] | length")" \
            '>=' "$FOUND * $TRUTH_STALLS - 1"
        all=$((all + TRUTH_STALLS))
    done
    TRUTH_STALLS=$all
    expect "other stalls" "$(strange '["nagle-delack"]')" '<=' "$OTHERS"
    expect "stalls seen whole" "$(report '[.stalls[] | select(.cause == "nagle-delack" and .confidence == "observed")] | length')" '>=' "$PROVEN * $all - 1"
    whole=$(report '[.stalls[] | select(.cause == "nagle-delack" and .confidence == "observed" and (.evidence | length > 0))
        | [.evidence[].event] as $e | select((["hold","delack-fire","ack","release"] - $e) | length > 0)] | length')
    expect_is "stalls without a whole chain" "$whole" 0
    # A receive that ended the wait has read: it waited behind a write all the same.
    expect_is "waits for an answer behind a read" "$(gojq -n '[inputs | select(.event == "wait" and .op_code == "RECV" and .turn == "read")] | length' "$SCRATCH/trace")" 0
    expect_counts "the report" "$(report_counts)" "$(all_clients)"
}

# mode_split's lines that the call sites of a program's stalls name: lines_named NAME first_write|second_write
lines_named() {
    report "[.stalls[] | select(.pid == ${CLIENTS[$1]} and .cause == \"nagle-delack\") | .sites.$2[]
        | capture(\"^mode_split.*/uring_modes[.]c:(?<line>[0-9]+)\").line] | unique | join(\" \")"
}

# line_of PATTERN [MORE]: so many lines below the first such line of the modes.
line_of() { echo $(($(grep -n -m 1 "$1" tests/workload/uring_modes.c | cut -d: -f1) + ${2:-0})); }

# How a program's own sends that its stalls tell of were asked for: sends_of NAME
sends_of() {
    report "[.stalls[] | select(.pid == ${CLIENTS[$1]}) | .evidence[] | select(.event == \"send\" and .tgid == ${CLIENTS[$1]}).via]
        | unique | join(\" \")"
}

# Writes that go out in no call of the program's have the call site of their submission: those of a worker, and of a chain that
# goes on when the thread comes to it.
case_uring_sites() {
    local chain
    chain=$(line_of 'io_uring_prep_recv, fd, bytes, REPLY, MSG_WAITALL' 1)
    start_ring worker split -n "$FEW" --late --one-by-one
    start_ring chain split -n "$FEW" --late
    trace_named
    expect_is "the worker's sends" "$(sends_of worker)" worker
    expect_is "the worker's first writes" "$(lines_named worker first_write)" "$(line_of 'bytes, FIRST, 0')"
    expect_is "the worker's second writes" "$(lines_named worker second_write)" "$(line_of 'bytes, SECOND, 0')"
    expect_is "the chain's sends" "$(sends_of chain)" uring
    expect_is "the chain's first writes" "$(lines_named chain first_write)" "$chain"
    expect_is "the chain's second writes" "$(lines_named chain second_write)" "$chain"
    # However late a worker comes to a write.
    expect_is "stalls put down to the send buffer" "$(report '[.stalls[] | select(.cause == "sndbuf")] | length')" 0
}

# Both ends on rings, no stall.
case_uring_good() {
    start_ring echo echo -n "$GOOD"
    CLIENTS[echo]+=,${SERVERS[echo]}
    trace_named
    TRUTH_EXCHANGES=$(of echo exchanges) TRUTH_STALLS=$(of echo stalls)
    expect_no_holds
    [ "$SLOW_MACHINE" = slow ] || expect "stalls" "$(strange '[]')" '<=' "$TRUTH_STALLS"
    expect_nothing_lost
    expect_counts "the report" "$(report_counts)" "${CLIENTS[echo]}"
}

# All kinds of operations and rings at the same time: worker threads, a submission thread, queues that are too small, rings of
# several threads, and one whose receive from a registered socket, poll and time limit are under way when netstall comes.
case_uring_all_kinds() {
    local many=1000 few=20 armed
    # There netstall may have no CPU while all of these come: what is compared is what they are, not how soon they are read.
    [ -z "$QUICK" ] || { many=200 && TRACE_OPTIONS=(-C ringbuf.bytes=33554432); }
    start_ring mix mix -n 50 --before
    start_ring worker worker -n "$many"
    start_ring sqpoll nop -n "$many" --batch 8 --setup sqpoll
    start_ring overflow overflow -n "$few"
    start_ring threads threads -n 100
    start_ring rings rings -n "$few"
    start_ring deferred mix -n "$few" --setup defer
    start_ring large mix -n "$few" --setup sqe128 --setup cqe32
    start_ring armed armed -n "$few"
    armed=${CLIENTS[armed]}
    trace_named "${TRACE_OPTIONS[@]}"
    expect_nothing_lost
    [ -z "$(truth mix '.left_out[]')" ] || echo "# $LABEL: uring_all_kinds: this kernel has no $(truth mix '.left_out | join(", ")')"
    # 5.10 names no request in a completion: of the time limit that was there before, it does not tell the opcode.
    expect_counts "the report" "$(report_counts | gojq -c 'if ."unknown ECANCELED" == 1
        then ."TIMEOUT ECANCELED" += 1 | del(."unknown ECANCELED") else . end')" "$(all_clients)"
    expect_is "completions that found the queue full" "$(report '[.uring.operations[].overflowed] | add')" "$(truth overflow .overflowed)"
    expect_is "the same by the rings" "$(report '[.uring.rings[].overflowed] | add')" "$(truth overflow .overflowed)"
    expect "reads by workers" "$(operation READ worker)" '>=' "$many"
    expect_is "rings of a submission thread" "$(report '[.uring.rings[] | select(.sq_tid) | .pid] | join(" ")')" "${CLIENTS[sqpoll]}"
    expect_is "rings of the threads" "$(report "[.uring.rings[] | select(.pid == ${CLIENTS[threads]})] | length")" 4
    expect_is "registered files of the armed ring" "$(report ".uring.rings[] | select(.pid == $armed) | .files")" 1
    expect_is "how it was found" "$(report ".uring.rings[] | select(.pid == $armed) | .origin")" existed
    expect "stalls by the late server" "$(report "[.stalls[] | select(.pid == $armed and .cause == \"peer-app\")] | length")" '>=' "$MOST * $few - 1"
    expect "the longest operation, ms" "$(report '[.uring.operations[].max_ms] | max // 0')" '>=' 10
}

# The window ends while the ring's time limit runs, and the request waits for that. No time of it is computed.
case_uring_lasting() {
    local least=0.5
    EXCHANGE=$URING start_exchange -- --mode timer -n 20
    start_trace -p "$SERVER"
    open_gate
    sleep 1.7
    end_trace
    kill "$EXCHANGE_PID"
    expect "timer stalls" "$(report '[.stalls[] | select(.cause == "timer")] | length')" '>=' 2
    # Before their requests are over they look like idleness, and are counted again then: but for the first and the one that lasts.
    [ "$SLOW_MACHINE" = none ] || least=0.3
    expect "the sum of its waits for timers, ms" "$(report '.waited.by_cause_ms.timer // 0')" \
        '>=' "$least * $(report '[.stalls[] | select(.cause == "timer").duration_ms] | add')"
    # A busy machine takes its own part; not what is left of 300 ms.
    expect_is "others of 100 ms and more" "$(report '[.stalls[] | select(.cause != "timer" and .duration_ms >= 100).cause] | unique | join(" ")')" ''
    expect_is "what a served request waits for most" \
        "$(report '[.requests[] | select(.role == "serves").median.slices[]] | max_by(.ms).cause')" timer
}

# A server to which nobody comes is stopped: that had been no wait for anything.
case_uring_idle() {
    EXCHANGE=$URING start_exchange -- --mode idle -n 1
    start_trace -p "$CLIENT"
    open_gate
    sleep 0.7
    kill "$CLIENT"
    wait_for "$WAIT_LIMIT" gone "$TRACE_PID" || fail "netstall does not end with its target"
    end_trace
    # The wait at its gate is none of these, and the CPU is the machine's.
    expect_is "stalls" "$(report '[.stalls[].cause | select(. != "ipc" and . != "runqueue")] | join(" ")')" ''
    expect_is "rings" "$(report "[.uring.rings[] | select(.pid == $CLIENT)] | length")" 1
}

# A device does it, in the time of whoever runs there.
case_uring_direct() {
    has_mode direct || return 0
    start_ring direct direct -n 1000
    trace_named
    expect_is "reads" "$(operation READ count)" 1000
    expect_is "such as were done inline" "$(operation READ inline)" 0
}

# Seen from the server: the other end's socket has no descriptor.
case_uring_registered_peer() {
    EXCHANGE=$URING start_exchange -- --mode fixed -n "$FEW"
    start_trace -p "$SERVER"
    open_gate
    end_exchange
    end_trace
    expect "nagle-delack stalls" "$(report '[.stalls[] | select(.cause == "nagle-delack")] | length')" '>=' "$MOST * $TRUTH_STALLS - 1"
    expect_is "the peer of the connection" "$(report '[.connections[] | select(.pid != null) | .comm] | unique | join(" ")')" "uring uring-server"
}

# The word that the kernel is done with a buffer comes by a request of its own, when the bytes are acknowledged.
case_uring_buffers() {
    has_mode buffers || return 0
    start_ring buffers buffers -n 20
    trace_named
    expect_counts "the report" "$(report_counts)" "${CLIENTS[buffers]}"
    expect "stalls" "$(report '.stalls | length')" '>=' 10
    expect_is "operations that are said to have ended them" "$(report '[.stalls[].evidence[] | select(.event == "wait" and .op_known == 1).op_code] | unique | join(" ")')" SEND_ZC
    expect_is "stalls of a lock, or of what was not seen" "$(report '[.stalls[] | select(.cause | IN("lock", "uring"))] | length')" 0
}

# What had completed before the window, and found no room in the queue, is no loss when it comes there.
case_uring_backlog() {
    start_ring backlog backlog -n "$FEW"
    trace_named
    expect_nothing_lost
    expect_counts "the report" "$(report_counts)" "${CLIENTS[backlog]}"
}

# It has ended before netstall looks at it for the first time: whose it was is known all the same.
case_uring_short() {
    local program="echo | $URING --mode nop -n 1000 --batch 10 >$SCRATCH/said"
    "$NETSTALL" trace "${ATTACH[@]}" --json -- sh -c "$program" >"$SCRATCH/trace" 2>"$SCRATCH/trace.err" ||
        fail "netstall ended with status $?: $(tail -n 1 "$SCRATCH/trace.err")"
    tail -n 1 "$SCRATCH/trace" >"$SCRATCH/report"
    expect_is "NOPs" "$(operation NOP count)" 1000
    expect_is "rings" "$(report '.uring.rings | length')" 1
    expect_is "the owner of the ring" "$(report '.uring.rings[0].comm')" uring
}
