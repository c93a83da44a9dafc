# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# shellcheck shell=bash
#
# Where findings go: files are the caller's, under sudo too, and what gets lost on its way there is said.

# run STATUS COMMAND LINE: as bash has it, of $NETSTALL, within 60 s. Its stderr is in $SCRATCH/err.
run() {
    local wanted=$1 status=0
    shift
    timeout 60 bash -o pipefail -c "$*" >"$SCRATCH/out" 2>"$SCRATCH/err" || status=$?
    [ $status = "$wanted" ] || fail "the status of '$*' is $status, wanted $wanted: $(head -n 2 "$SCRATCH/err")"
}

# said TIMES PATTERN: so many sentences of netstall's, and they match.
said() {
    [ "$(grep -cE "^netstall: $2" "$SCRATCH/err")" = "$1" ] || fail "it says: $(head -n 3 "$SCRATCH/err"), wanted $1 of: $2"
}

# every_output FILE: the options and commands that write one, as bash has them.
every_output() {
    echo "env GITHUB_STEP_SUMMARY=$1 $NETSTALL check --github"
    printf "$NETSTALL check --%s $1\n" json junit tap save-baseline
    echo "$NETSTALL trace -o $1"
    printf "$NETSTALL offwake %s $1\n" -o --svg --pprof
}

# Who may call netstall alone by sudo writes nowhere as root: neither over root's files nor through another's link.
case_outputs_are_no_roots() {
    local command caller='SUDO_UID=65534 SUDO_GID=65534'
    chmod 755 "$SCRATCH" && mkdir -m 1777 "$SCRATCH/all" && mkdir -m 777 "$SCRATCH/own" && echo "root's" | tee "$SCRATCH/file" >"$SCRATCH/all/file"
    ln -s "$SCRATCH/own/target" "$SCRATCH/all/link" && chown -h 65533 "$SCRATCH/all/link"
    while read -r command; do
        run 2 "$caller $command -- touch $SCRATCH/own/ran"
        said 1 "cannot .* $SCRATCH/.*file.*: Permission denied; name another file"
    done < <(every_output "$SCRATCH/file" && every_output "$SCRATCH/all/file")
    expect_is "root's files" "$(cat "$SCRATCH/file" "$SCRATCH/all/file" | uniq)" "root's"
    while read -r command; do
        run 2 "$caller $command -- touch $SCRATCH/own/ran"
        said 1 "cannot .* $SCRATCH/all/link.*: it is a symbolic link of another user"
    done < <(every_output "$SCRATCH/all/link")
    run 2 "$caller $NETSTALL check --keep $SCRATCH/new -- touch $SCRATCH/own/ran"
    expect_is "what was made" "$(cd "$SCRATCH" && echo new* own/* all/*)" "new* own/* all/file all/link"
}

# Nor does he read what he may not: a recording of root's.
case_recordings_are_read_as_the_caller() {
    local caller='SUDO_UID=65534 SUDO_GID=65534' file=$SCRATCH/file.nsr
    chmod 711 "$SCRATCH" && install -m 600 "$(ls tests/golden/recordings/*.nsr | head -n 1)" "$file"
    run 2 "$caller $NETSTALL report $file"
    said 1 "cannot read $file: Permission denied"
    run 2 "$caller $NETSTALL report $file $file"
    said 1 "cannot read $file: Permission denied"
    chown 65534 "$file"
    run 0 "$caller $NETSTALL report $file"
}

case_outputs_are_the_callers() {
    local dir=$SCRATCH/own name
    chmod 711 "$SCRATCH" && mkdir "$dir" && chown 65534:65534 "$dir"
    export SUDO_UID=65534 SUDO_GID=65534
    run 0 "$NETSTALL trace ${ATTACH[*]} -o $dir/trace -- sleep 0.1"
    run 0 "$NETSTALL offwake -o $dir/folded --svg $dir/svg --pprof $dir/pprof -- sleep 0.1"
    for name in trace folded svg pprof; do
        expect_is "mode and owner of $name" "$(stat -c '%a %u %g' "$dir/$name")" "600 65534 65534"
        [ -s "$dir/$name" ] || fail "$name is empty"
    done
    # What was handed down is the caller's, and is written on where it stands.
    run 0 "exec 7>$SCRATCH/shared; echo before >&7; $NETSTALL trace ${ATTACH[*]} -o /dev/fd/7 -- sleep 0.1; echo behind >&7"
    expect_is "what was there before" "$(sed -n 1p "$SCRATCH/shared")" before
    expect_is "what came behind" "$(tail -n 1 "$SCRATCH/shared")" behind
    expect "lines of both" "$(wc -l <"$SCRATCH/shared")" '>' 3
}

# No program runs as root because the name of its user is damaged.
case_outputs_caller_unclear() {
    local caller command
    for caller in SUDO_UID=abc\ SUDO_GID=1000 SUDO_UID=-1\ SUDO_GID=1000 SUDO_UID=4294967295\ SUDO_GID=1000 SUDO_UID=1000 SUDO_GID=1000; do
        for command in trace check offwake; do
            run 2 "$caller $NETSTALL $command -- touch $SCRATCH/ran"
            said 1 "SUDO_UID is .* and SUDO_GID is .*: call netstall by sudo, or, to do all of it as root, unset both"
        done
    done
    [ ! -e "$SCRATCH/ran" ] || fail "the program ran"
    run 0 "SUDO_UID=54321 SUDO_GID=54321 $NETSTALL trace ${ATTACH[*]} -o /dev/null -- id -u"
    expect_is "a user without a name" "$(cat "$SCRATCH/out")" 54321
    run 0 "SUDO_UID=0 SUDO_GID=0 $NETSTALL trace ${ATTACH[*]} -o /dev/null -- id -u"
    expect_is "root who calls sudo" "$(cat "$SCRATCH/out")" 0
}

# What every command prints, on a full disk and on a closed descriptor.
case_outputs_lost() {
    local command
    for command in --help --version 'trace --help' 'demo --list' doctor 'doctor --self-test' demo \
        'trace -- sleep 0.1' 'trace --json -- sleep 0.1' 'offwake -- sleep 0.1' 'check --allow-no-traffic -- sleep 0.1' 'check --allow-no-traffic --json - -- sleep 0.1'; do
        run 2 "$NETSTALL $command >/dev/full"
        said 1 "not everything could be written to stdout: No space left on device; free some space or name another file"
        run 2 "$NETSTALL $command >&-"
        said 1 "cannot write to stdout, it is closed: "
    done
    run 64 "$NETSTALL trace >&-" # nothing was to be written there
}

# Its reader has gone: it ends, without a word, though there is nothing to print for a long time.
case_outputs_without_a_reader() {
    local command unread="exec 9<>$SCRATCH/fifo 8>$SCRATCH/fifo 9>&-"
    mkfifo "$SCRATCH/fifo"
    sleep 600 &
    run 141 "$NETSTALL trace -p $! | true"
    for command in "trace -p $!" "trace --json -p $!" "trace --events=uring -p $!" "offwake -p $!" demo doctor --help; do
        run 141 "$unread; $NETSTALL $command >&8"
        said 0 "not everything"
        run 141 "trap '' PIPE; $unread; $NETSTALL $command >&8"
        said 0 "not everything"
    done
    run 2 "true <$SCRATCH/fifo & $NETSTALL trace -p $! -o $SCRATCH/fifo"
    said 1 "not everything could be written to $SCRATCH/fifo: Broken pipe"
    # Another file is wanted still, until the end of the time.
    run 141 "$unread; $NETSTALL offwake -p $! --svg $SCRATCH/svg 1 >&8"
    grep -q '</svg>' "$SCRATCH/svg" || fail "the SVG is not whole"
    kill $!
}

# A gate judges its program to the end, whoever listens.
case_outputs_gate_without_a_reader() {
    local options="--min-exchanges 1 --json $SCRATCH/report" unread="exec 9<>$SCRATCH/fifo 8>$SCRATCH/fifo 9>&-"
    local silent="sh -c 'exec $EXCHANGE -n 10 --mode \$0 >/dev/null'"
    mkfifo "$SCRATCH/fifo"
    run 1 "$unread; $NETSTALL check ${ATTACH[*]} $options -- $silent split >&8"
    expect_is "the verdict" "$(report .verdict)" over
    run 0 "$unread; $NETSTALL check ${ATTACH[*]} $options -- $silent nodelay >&8"
    expect_is "the verdict" "$(report .verdict)" within
    run 0 "$unread; $NETSTALL check ${ATTACH[*]} --min-exchanges 1 --json - -- $silent nodelay >&8"
}

# Memory runs out on the way: what was seen by then is reported, and the status says that it is not all.
# memory_runs_out COMMAND...: under way, it is refused memory once, and ends by itself. $THEN: what makes it need some.
memory_runs_out() {
    local pid
    rm -f "$SCRATCH/err"
    REFUSE_MEMORY=$SCRATCH/refuse LD_PRELOAD=$PWD/$WORKLOADS/refuse.so "$NETSTALL" "$@" >"$SCRATCH/out" 2>"$SCRATCH/err" &
    pid=$!
    CLEANUP+=("kill $pid 2>/dev/null")
    await_line 'Ctrl-C to stop' "$SCRATCH/err" "$pid" || fail "$1 does not begin: $(tail -n 1 "$SCRATCH/err")"
    pause 2
    touch "$SCRATCH/refuse.$pid"
    ${THEN:-true}
    wait_for 30 gone "$pid" || fail "$1 goes on without memory: $(tail -n 1 "$SCRATCH/err")"
    wait "$pid"
    STATUS=$?
    grep -qE '^netstall: memory ran out.*: what was seen by then is ' "$SCRATCH/err" || fail "$1 said: $(tail -n 2 "$SCRATCH/err")"
}
case_outputs_without_memory() {
    ! is_sanitized || skip "nothing can be preloaded before the sanitizer"
    start_exchange -- --mode split --gap-us 0 --seconds 100
    CLEANUP+=("kill $CLIENT $SERVER")
    open_gate
    memory_runs_out trace "${ATTACH[@]}" -p "$CLIENT" --json -o "$SCRATCH/lines"
    expect_is "the status of trace" $STATUS 2
    tail -n 1 "$SCRATCH/lines" >"$SCRATCH/report"
    expect_is "the cause" "$(report .verdict.cause)" nagle-delack
    memory_runs_out check "${ATTACH[@]}" -p "$CLIENT" --budget nagle-delack=none --json "$SCRATCH/report"
    expect_is "the status of check" $STATUS 2
    grep -q '^memory ran out' <<<"$(report .unable)" || fail "check's report says: $(report .unable)"
    expect "the stalls in check's report" "$(report '.report.stalls | length')" '>=' 1
    kill "$CLIENT" "$SERVER"
    start_exchange -- --mode split --gap-us 0 --seconds 100
    CLEANUP+=("kill $CLIENT $SERVER")
    THEN=open_gate memory_runs_out offwake -p "$CLIENT" -f # its first stacks: the same ones again take no memory
    expect_is "the status of offwake" $STATUS 2
    grep -q ';--;' "$SCRATCH/out" || fail "offwake shows: $(head -n 3 "$SCRATCH/out")"
}

# What was recorded until netstall was killed, or its disk was full, is there, and what is missing is said.
case_recording_cut_short() {
    local dir=$SCRATCH/full
    start_exchange -- --mode split -n 1000000
    "$NETSTALL" record "${ATTACH[@]}" -p "$CLIENT" -o "$SCRATCH/killed" 2>"$SCRATCH/err" &
    await_line 'netstall: tracing' "$SCRATCH/err" $! || fail "netstall did not attach: $(head -c 300 "$SCRATCH/err")"
    open_gate
    # A block is written each second.
    wait_for 30 stalls_in "$SCRATCH/killed" 20 || fail "no stalls were recorded"
    { kill -KILL $! && wait $!; } 2>/dev/null
    "$NETSTALL" report --json "$SCRATCH/killed" >"$SCRATCH/out" 2>"$SCRATCH/err" || fail "status $?: $(cat "$SCRATCH/err")"
    grep -q 'has no end: netstall was killed' "$SCRATCH/err" || fail "the end is not said to be missing: $(cat "$SCRATCH/err")"
    expect_is "the cause" "$(tail -n 1 "$SCRATCH/out" | gojq -r .verdict.cause)" nagle-delack
    expect_is "who may read it" "$(stat -c %a "$SCRATCH/killed")" 600

    mkdir "$dir" && mount -t tmpfs -o size=24k none "$dir" 2>/dev/null || return 0
    CLEANUP+=("umount $dir")
    timeout 60 "$NETSTALL" record "${ATTACH[@]}" -p "$CLIENT" -o "$dir/recording" 2>"$SCRATCH/err"
    expect_is "the exit status with a full disk" $? 2
    grep -q 'No space left on device\|a write failed' "$SCRATCH/err" || fail "a full disk is not said: $(cat "$SCRATCH/err")"
    "$NETSTALL" report --json "$dir/recording" 2>"$SCRATCH/err" | tail -n 1 >"$SCRATCH/report" || fail "status $?: $(cat "$SCRATCH/err")"
    expect_is "the cause before the disk was full" "$(report .verdict.cause)" nagle-delack
}
stalls_in() { [ "$("$NETSTALL" report --json "$1" 2>/dev/null | tail -n 1 | gojq '.stalls | length')" -ge "$2" ] 2>/dev/null; }

# A capture of every segment: Wireshark has nothing to say of it but what is in it, and finds the holds and stalls as comments.
case_pcapng() {
    command -v tshark >/dev/null || skip "no tshark here"
    local file=$SCRATCH/capture
    start_exchange -- --mode split -n "$FEW"
    KEEPS_RECORDING=1 start_trace --all --pcapng "$file" -p "$CLIENT"
    open_gate
    end_exchange
    end_trace
    wire() { tshark -r "$file" "$@" 2>/dev/null; }
    wire >/dev/null || fail "tshark does not read it: $(tshark -r "$file" 2>&1 >/dev/null | tail -n 1)"
    expect_is "who may read it" "$(stat -c %a "$file")" 600
    expect_is "segments of the second write" "$(wire -Y 'tcp.len == 136' | wc -l)" "$FEW"
    expect_is "what Wireshark finds wrong" "$(wire -Y '_ws.malformed || tcp.analysis.lost_segment || tcp.analysis.retransmission || tcp.analysis.ack_lost_segment' | head -n 3)" ""
    expect "holds" "$(wire -Y 'frame.comment contains "HELD by Nagle"' | wc -l)" '>=' "$MOST * $FEW"
    expect_is "stalls" "$(wire -Y 'frame.comment contains "ends: nagle-delack"' | wc -l)" "$(report '[.stalls[] | select(.cause == "nagle-delack")] | length')"
    "$NETSTALL" report --pcapng "$SCRATCH/again" "$SCRATCH/recording" >/dev/null || fail "status $?"
    cmp -s "$file" "$SCRATCH/again" || fail "the recording's capture is another"
}

# What a cork holds leaves with the FIN, whose number is no byte of it.
case_pcapng_fin_with_data() {
    command -v tshark >/dev/null || skip "no tshark here"
    start_at_gate python3 -c '
import socket
listener = socket.create_server(("127.0.0.1", 0))
client = socket.create_connection(listener.getsockname())
server = listener.accept()[0]
print("ready", flush=True)
input()
client.setsockopt(socket.IPPROTO_TCP, socket.TCP_CORK, 1)
client.send(b"a" * 100)
client.close()
while server.recv(1000):
    pass
'
    start_trace -p "$GATED" --all --pcapng "$SCRATCH/capture"
    echo >&"$GATE"
    wait_for 20 gone "$GATED" || fail "the workload did not end: $(cat "$SCRATCH/gated.err")"
    end_trace
    expect_is "bytes with a FIN" "$(tshark -r "$SCRATCH/capture" -Y 'tcp.flags.fin == 1 && tcp.len > 0' -T fields -e tcp.len 2>"$SCRATCH/tshark" | sort -u)" 100
    expect_is "what Wireshark finds wrong" "$(tshark -r "$SCRATCH/capture" -Y '_ws.malformed || tcp.analysis.flags' 2>"$SCRATCH/tshark" | head -n 3)" ""
}

# The trace and the profile of one run in one file; what one of them is not in is said.
case_record_offwake() {
    local refused
    start_exchange -- --mode split -n "$FEW"
    "$NETSTALL" record "${ATTACH[@]}" --offwake -o "$SCRATCH/both" -p "$CLIENT" 2>"$SCRATCH/err" &
    TRACE_PID=$!
    await_line 'netstall: profiling' "$SCRATCH/err" $TRACE_PID || fail "netstall did not attach: $(head -c 300 "$SCRATCH/err")"
    open_gate
    end_exchange
    wait $TRACE_PID || fail "netstall ended with status $?: $(tail -n 1 "$SCRATCH/err")"
    "$NETSTALL" report --json "$SCRATCH/both" | tail -n 1 >"$SCRATCH/report"
    expect_is "the verdict" "$(report .verdict.cause)" nagle-delack
    "$NETSTALL" report --offwake --by-cause --json "$SCRATCH/both" >"$SCRATCH/profile" || fail "status $?"
    expect "the share of the wait in that cause" "$(profile '[.chains[] | select(.comm == "demo-client")] |
        ([.[] | select(.cause == "nagle-delack") | .blocked_ms] | add) / ([.[].blocked_ms] | add)')" '>=' 0.5
    "$NETSTALL" report --offwake --svg "$SCRATCH/flames.svg" --pprof "$SCRATCH/pprof" "$SCRATCH/both" >"$SCRATCH/folded" || fail "status $?"
    grep -q '^demo-client;' "$SCRATCH/folded" || fail "no folded stacks: $(head -n 2 "$SCRATCH/folded")"
    grep -q '</svg>' "$SCRATCH/flames.svg" && [ -s "$SCRATCH/pprof" ] || fail "no flame graph, or nothing for pprof"
    "$NETSTALL" report --anonymize "$SCRATCH/hidden" "$SCRATCH/both" && "$NETSTALL" report --offwake "$SCRATCH/hidden" >"$SCRATCH/folded" || fail "status $?"
    ! grep -q 'demo-client' "$SCRATCH/folded" || fail "a program has its name: $(grep -m 1 demo-client "$SCRATCH/folded")"
    for refused in "--pprof $SCRATCH/x $SCRATCH/both:--pprof needs --offwake" "--offwake --text $SCRATCH/both:--offwake shows the profile alone" \
        "--offwake $SCRATCH/recording:there is no profile in it"; do
        [ -s "$SCRATCH/recording" ] || "$NETSTALL" record -d 0.1 -o "$SCRATCH/recording" -- true 2>/dev/null
        # shellcheck disable=SC2086 # words of an option list
        ! "$NETSTALL" report ${refused%%:*} >/dev/null 2>"$SCRATCH/err" || fail "it went: ${refused%%:*}"
        grep -q -e "${refused#*:}" "$SCRATCH/err" || fail "it says: $(cat "$SCRATCH/err")"
    done
}

# As timeout(1) sends it, to the child and to its group: one act, and the report is there. Its stalls were told as they ended,
# and before that a SIGUSR1 had a report.
case_signalled_twice() {
    local helpers
    start_exchange -- --mode split -n 1000000
    start_trace -p "$CLIENT"
    open_gate
    await_line '"event": "stall"' "$SCRATCH/trace" $TRACE_PID || fail "no stall is told while it runs"
    helpers=$(pgrep -P $TRACE_PID)
    # shellcheck disable=SC2086 # pids; as pidof(1) names them
    kill -USR1 $helpers $TRACE_PID
    await_line '"interim": true' "$SCRATCH/trace" $TRACE_PID || fail "no report while it runs: $(cat "$SCRATCH/trace.err")"
    # shellcheck disable=SC2086
    kill -0 $helpers || fail "a helper ended by that"
    grep '"interim": true' "$SCRATCH/trace" >"$SCRATCH/report"
    expect_is "the verdict so far" "$(report .verdict.cause)" nagle-delack
    expect_is "contradictions in it" "$(contradictions)" ""
    kill -INT $TRACE_PID
    pause 0.02
    kill -INT $TRACE_PID
    wait_for "$WAIT_LIMIT" gone $TRACE_PID || fail "netstall did not end at Ctrl-C"
    wait $TRACE_PID || fail "netstall ended with status $?: $(tail -n 1 "$SCRATCH/trace.err")"
    tail -n 1 "$SCRATCH/trace" >"$SCRATCH/report"
    expect_is "the verdict" "$(report .verdict.cause)" nagle-delack
    expect_is "whether it is the last one" "$(report .window.interim)" null
    expect_is "what was told as it ended" "$(gojq -c 'select(.event == "stall") | [.event, .stall.id, .stall.cause, .stall.duration_ms]' "$SCRATCH/trace" | md5sum)" \
        "$(gojq -c '.stalls[] | ["stall", .id, .cause, .duration_ms]' "$SCRATCH/report" | md5sum)"
}

# Lines of stdin, the last one without an end, and nothing behind its end.
case_marks() {
    start_exchange -- --mode split -n "$FEW"
    mkfifo "$SCRATCH/marks"
    "$NETSTALL" trace "${ATTACH[@]}" --json --marks --record "$SCRATCH/recording" -p "$CLIENT" <"$SCRATCH/marks" >"$SCRATCH/trace" 2>"$SCRATCH/trace.err" &
    TRACE_PID=$!
    exec {marks}>"$SCRATCH/marks"
    await_line 'netstall: tracing' "$SCRATCH/trace.err" $TRACE_PID || fail "netstall did not attach: $(head -c 300 "$SCRATCH/trace.err")"
    printf 'it begins\n\nit \e[31mgoes on' >&"$marks"
    exec {marks}>&-
    pause 0.3
    open_gate
    end_exchange
    wait_for "$WAIT_LIMIT" gone $TRACE_PID || fail "netstall did not end with its target"
    wait $TRACE_PID || fail "netstall ended with status $?: $(tail -n 1 "$SCRATCH/trace.err")"
    SHOWN='' && expect_recording
    tail -n 1 "$SCRATCH/trace" >"$SCRATCH/report"
    expect_is "the marks" "$(report '[.marks[].text] | join(", ")')" 'it begins, it \x1b[31mgoes on'
    expect_is "stalls behind them" "$(report '[.marks[].stalls] | add')" "$(report '[.causes[].count] | add')"
    ! "$NETSTALL" trace --marks -- true 2>"$SCRATCH/refused" || fail "stdin was taken from a program"
    grep -q -- '--marks reads stdin' "$SCRATCH/refused" || fail "it says: $(cat "$SCRATCH/refused")"
}

# A flight recorder: its last seconds at a stall, when it is asked, and at its end; stalls of a cause are not kept one by one.
case_record_last() {
    local dir=$SCRATCH/kept
    start_exchange -- --mode split -n 1000000
    "$NETSTALL" record "${ATTACH[@]}" --last 2 --keep "$dir" --keep-cause nagle-delack,10 -o "$SCRATCH/last" -p "$CLIENT" 2>"$SCRATCH/err" &
    TRACE_PID=$!
    await_line 'netstall: tracing' "$SCRATCH/err" $TRACE_PID || fail "netstall did not attach: $(head -c 300 "$SCRATCH/err")"
    open_gate
    wait_for 60 has_file "$dir/001-nagle-delack.nsr" || fail "no stall was kept: $(ls "$dir")"
    pause 4
    kill -USR1 $TRACE_PID
    wait_for 60 has_file "$dir/002-asked.nsr" || fail "nothing was kept when it was asked: $(ls "$dir")"
    kill -INT $TRACE_PID
    wait_for "$WAIT_LIMIT" gone $TRACE_PID || fail "netstall did not end at Ctrl-C"
    wait $TRACE_PID || fail "netstall ended with status $?: $(tail -n 1 "$SCRATCH/err")"
    for file in "$dir"/*.nsr "$SCRATCH/last"; do
        "$NETSTALL" report --json "$file" 2>"$SCRATCH/err" | tail -n 1 >"$SCRATCH/report"
        expect_is "what report says of $file" "$(cat "$SCRATCH/err")" ""
        expect_is "its verdict" "$(report .verdict.cause)" nagle-delack
        expect_is "contradictions in it" "$(contradictions)" ""
        expect "its seconds" "$(report '.window.duration_ms / 1000')" '<=' 5
    done
    expect "recordings" "$(find "$dir" -name '*.nsr' | wc -l)" '<=' 3
}
has_file() { [ -s "$1" ]; }

# None is of this cause, or as long; and a size in place of a time.
case_record_keep_cause() {
    local dir=$SCRATCH/kept
    start_exchange -- --mode split -n "$FEW"
    "$NETSTALL" record "${ATTACH[@]}" --last 64M --keep "$dir" --keep-cause "rto" -o "$SCRATCH/last" -p "$CLIENT" 2>"$SCRATCH/err" &
    TRACE_PID=$!
    await_line 'netstall: tracing' "$SCRATCH/err" $TRACE_PID || fail "netstall did not attach: $(head -c 300 "$SCRATCH/err")"
    open_gate
    end_exchange
    wait $TRACE_PID || fail "netstall ended with status $?: $(tail -n 1 "$SCRATCH/err")"
    expect_is "recordings" "$(find "$dir" -name '*.nsr' | wc -l)" 0
    "$NETSTALL" report --json "$SCRATCH/last" | tail -n 1 >"$SCRATCH/report"
    expect_is "its verdict" "$(report .verdict.cause)" nagle-delack
    ! "$NETSTALL" record --last 5 --keep-cause rto -o "$SCRATCH/none" -p "$CLIENT" 2>"$SCRATCH/err" || fail "--keep-cause went without --keep"
    grep -q -- '--keep-cause needs --keep' "$SCRATCH/err" || fail "it says: $(cat "$SCRATCH/err")"
}
