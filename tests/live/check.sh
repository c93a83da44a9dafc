# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# shellcheck shell=bash
#
# `netstall check`: what each exit status is for, and what becomes of the program that it starts.

ALONE_CASES+=" check_short_connections "

CONNECTIONS=${CONNECTIONS:-${EXCHANGE%/*}/connections}

# checked_as STATUS ARGUMENTS...: a check that ends with that status; its text in $SCRATCH/text, its JSON in $SCRATCH/report.
checked_as() {
    local wanted=$1 status
    shift
    watch_machine
    timeout 100 "$NETSTALL" check "${ATTACH[@]}" --json "$SCRATCH/report" "$@" >"$SCRATCH/text" 2>"$SCRATCH/check.err"
    status=$?
    [ $status = "$wanted" ] || fail "status $status, wanted $wanted: '$*' says $(cat "$SCRATCH/text" "$SCRATCH/check.err" | head -c 400)"
}
# start_check ARGUMENTS...: in the background; CHECK_PID.
start_check() {
    rm -f "$SCRATCH/text" "$SCRATCH/check.err" # or what an earlier one said is taken for its word
    watch_machine
    env --default-signal "$NETSTALL" check "${ATTACH[@]}" --json "$SCRATCH/report" "$@" >"$SCRATCH/text" 2>"$SCRATCH/check.err" &
    CHECK_PID=$!
}
end_check() { # end_check STATUS
    wait_for "$WAIT_LIMIT" gone "$CHECK_PID" || fail "netstall does not end"
    wait "$CHECK_PID"
    expect_is "the status" $? "$1"
}
verdict_is() { expect_is "the verdict" "$(report .verdict)" "$1"; }
program_is() { # program_is END STATUS
    expect_is "the program's end" "$(report .program.end)" "$1"
    expect_is "the program's status" "$(report .program.status)" "$2"
}
doubts() { report '[.doubts[].kind] | join(" ")'; }
says() { grep -Esq "$1" "$SCRATCH/text" "$SCRATCH/check.err" || fail "no word of '$1': $(head -c 600 "$SCRATCH/text")"; }
# Processes of a test are told from others by the odd times that they sleep for.
sleeper() { pgrep -f "^sleep $1\$"; }
no_sleeper() { ! sleeper "$1" >/dev/null; }

GOOD_LOAD=("$EXCHANGE" --gate none --mode nodelay -n 500)
BAD_LOAD=("$EXCHANGE" --gate none --mode split -n 10)

# ---- what it finds ----

case_check_within() {
    checked_as 0 -- "${GOOD_LOAD[@]}"
    verdict_is within
    program_is exited 0
    says '^PASS'
    expect_is "exchanges" "$(report .watched.exchanges)" 500
    # Its output is where it was: before the text, in the same stream.
    grep -q '^done mode=nodelay' "$SCRATCH/text" || fail "the program's own output is missing"
}

# Also: all reports at the same time, the flight recorder, the command, the budget, and at most 25 lines.
case_check_over() {
    checked_as 1 --junit "$SCRATCH/junit" --tap "$SCRATCH/tap" --keep "$SCRATCH/keep" --keep-max 1 \
        --on-stall "touch $SCRATCH/stalled" -- "${BAD_LOAD[@]}"
    verdict_is over
    program_is exited 0
    says '^FAIL .*nagle-delack'
    expect "lines for people" "$(grep -vc '^\(ready\|done\)' "$SCRATCH/text")" '<=' 25
    # As many as the workload's own account has, but for those that a busy machine made; the end of one may have been seen by no
    # program.
    local stalled
    judge_machine
    stalled=$(field stalls "$(grep '^done' "$SCRATCH/text")")
    expect "exchanges that stalled" "$stalled" '>=' 5
    expect "nagle-delack stalls" "$(report '.gates[] | select(.name == "nagle-delack").count')" '>=' "$FOUND * $stalled - 1"
    grep -q '<failure' "$SCRATCH/junit" || fail "no failure in the JUnit report"
    grep -q '^not ok .*nagle-delack' "$SCRATCH/tap" || fail "no failure in the TAP report"
    ls "$SCRATCH"/keep/*-nagle-delack.nsr >"$SCRATCH/kept" || fail "not kept: $(ls "$SCRATCH/keep")"
    expect_is "recordings, as --keep-max says" "$(wc -l <"$SCRATCH/kept")" 1
    [ -e "$SCRATCH/stalled" ] || fail "--on-stall did not run"
    expect_is "the mode of a report" "$(stat -c %a "$SCRATCH/junit")" 600
    checked_as 0 --budget nagle-delack=100 -- "${BAD_LOAD[@]}"
    checked_as 0 --budget nagle-delack=none -- "${BAD_LOAD[@]}"
}

# A client whose time-out is shorter than the delayed acknowledgement that it waits for, without knowing: it gives up and closes.
case_check_hold_ended_by_close() {
    checked_as 1 -- python3 -c '
import os, socket
listener = socket.create_server(("127.0.0.1", 0))
if not os.fork():
    for _ in range(8):
        conn = listener.accept()[0]
        while conn.recv(100, socket.MSG_WAITALL):
            conn.send(b"c" * 50)
    os._exit(0)
for _ in range(8):
    conn = socket.create_connection(listener.getsockname())
    conn.send(b"a" * 100)
    conn.recv(50)
    conn.settimeout(0.025)
    conn.send(b"a" * 40)
    conn.send(b"b" * 60)
    try:
        conn.recv(50)
    except TimeoutError:
        pass
    conn.close()
os.wait()
'
    verdict_is over
    # A peer that the machine kept from its CPU may have acknowledged by itself.
    expect "the stalls of its two writes" "$(report '.gates[] | select(.name == "nagle-delack").count')" '>=' 6
}

# Of a program that runs already: Ctrl-C is its usual end, but not before -d is over.
case_check_pid() {
    start_exchange -- --mode split -n 30
    start_check -d 60 -p "$CLIENT"
    wait_for "$WAIT_LIMIT" has_line 'netstall: tracing' "$SCRATCH/check.err" || fail "did not attach: $(cat "$SCRATCH/check.err" "$SCRATCH/text")"
    open_gate
    end_exchange
    end_check 1
    judge_machine
    expect "nagle-delack stalls" "$(report '.gates[] | select(.name == "nagle-delack").count')" '>=' "$FOUND * $TRUTH_STALLS - 1"
    start_exchange -- --mode nodelay -n 0
    start_check -p "$CLIENT"
    wait_for "$WAIT_LIMIT" has_line 'netstall: tracing' "$SCRATCH/check.err" || fail "did not attach: $(cat "$SCRATCH/check.err" "$SCRATCH/text")"
    open_gate
    pause 0.5
    kill -INT "$CHECK_PID"
    end_check 0
    start_check -d 60 -p "$CLIENT"
    wait_for "$WAIT_LIMIT" has_line 'netstall: tracing' "$SCRATCH/check.err" || fail "did not attach: $(cat "$SCRATCH/check.err" "$SCRATCH/text")"
    pause 0.5
    kill -TERM "$CHECK_PID"
    end_check 3
    expect_is "doubts" "$(doubts)" cut-short
}

# ---- what it does not ----

case_check_inconclusive() {
    checked_as 3 -- true
    expect_is "doubts" "$(doubts)" no-traffic
    checked_as 0 --allow-no-traffic -- true
    checked_as 0 --inconclusive=pass -- true
    checked_as 1 --inconclusive=fail -- true
    checked_as 3 --min-exchanges 501 -- "${GOOD_LOAD[@]}"
    expect_is "doubts" "$(doubts)" exchanges
    checked_as 3 -p 4194304
    expect_is "doubts" "$(doubts)" no-target
    checked_as 3 -- "$CONNECTIONS" closed 50
}

# A stall that was proven is none the less one; a run without is no proof of anything.
case_check_lost_events() {
    checked_as 3 -C ringbuf.bytes=4096 -- "$CONNECTIONS" short 3000
    [[ $(doubts) = *lost* ]] || fail "the doubt is '$(doubts)'"
    expect "events lost" "$(report .watched.lost)" '>' 0
}

case_check_unable() {
    "$NETSTALL" check "${ATTACH[@]}" --junit /nonexistent/x -- touch "$SCRATCH/ran" 2>"$SCRATCH/check.err"
    expect_is "the status" $? 2
    says 'cannot write to /nonexistent/x'
    [ ! -e "$SCRATCH/ran" ] || fail "the program ran though its report could not be written"
    checked_as 2 --tap /dev/full -- "${GOOD_LOAD[@]}"
    verdict_is within # it was written before
    says 'not everything could be written to /dev/full: No space left'
    checked_as 1 --tap /dev/full -- "${BAD_LOAD[@]}"
    timeout 60 setpriv --bounding-set -bpf,-perfmon,-sys_admin --inh-caps -bpf,-perfmon,-sys_admin "$NETSTALL" check \
        "${ATTACH[@]}" --json "$SCRATCH/report" -- touch "$SCRATCH/ran" >"$SCRATCH/text" 2>"$SCRATCH/check.err"
    expect_is "the status without capabilities" $? 2
    verdict_is unable
    [ ! -e "$SCRATCH/ran" ] || fail "the program ran unwatched"
}

case_check_usage() {
    local said
    for said in "--budget x=1 -- true" "--budget rto=-1 -- true" "--inconclusive=maybe -- true" "--timeout 5 -p 1" \
        "--wait-port 80 -p 1" "--json - --tap - -- true" "-- " "--baseline-confidence 2 -- true" "-d 0 -- true" "-p 1 -- true" \
        "--keep-max 3 -- true" "--keep-worst -- true" "--on-stall-shell -- true" "--on-stall-every 2 -- true" "--baseline-confidence 0.9 -- true" \
        "-C stack.bytes=32768 -- true"; do
        # shellcheck disable=SC2086
        timeout 60 "$NETSTALL" check $said >"$SCRATCH/text" 2>"$SCRATCH/check.err"
        expect_is "the status of '$said'" $? 64
        expect_is "the lines of '$said'" "$(wc -l <"$SCRATCH/check.err")" 1
    done
}

# ---- the program ----

case_check_program_fails() {
    checked_as 4 -- sh -c 'exit 7'
    program_is exited 7
    verdict_is program-failed
    checked_as 4 -- sh -c 'kill -SEGV $$'
    program_is signalled 139
    checked_as 4 -- /nonexistent/program
    program_is not-found 127
    checked_as 4 -- no-such-program-anywhere
    program_is not-found 127
    printf 'echo no mode' >"$SCRATCH/plain"
    checked_as 4 -- "$SCRATCH/plain"
    program_is not-run 126
    printf '\177ELF\0\1\2' >"$SCRATCH/garbage" && chmod 755 "$SCRATCH/garbage"
    checked_as 4 -- "$SCRATCH/garbage"
    program_is not-run 126
    checked_as 4 -- "$EXCHANGE" --gate none --mode no-such-mode
    program_is exited 64
}

# Over budget as well: that the program failed comes first, and the stalls are told.
case_check_fails_and_stalls() {
    checked_as 4 -- sh -c '"$@"; exit 3' sh "${BAD_LOAD[@]}"
    program_is exited 3
    expect_is "the gate" "$(report '.gates[] | select(.name == "nagle-delack").state')" over
}

# Its children are watched, also those of another session; what runs on is counted and left alone.
case_check_children() {
    checked_as 1 -- sh -c 'setsid "$@" & wait' sh "${BAD_LOAD[@]}"
    checked_as 0 -- sh -c '"$@"; setsid sleep 31.4 >/dev/null 2>&1 & setsid sleep 31.4 >/dev/null 2>&1 & exit 0' sh "${GOOD_LOAD[@]}"
    expect_is "orphans" "$(report .program.orphans)" 2
    says '2 child processes still running'
    expect_is "sleepers that were left alone" "$(sleeper 31.4 | wc -l)" 2
    # shellcheck disable=SC2046
    kill $(sleeper 31.4)
}

case_check_timeout() {
    checked_as 4 --timeout 1 -- sh -c 'trap "" TERM; setsid sleep 32.5 & sleep 32.5; sleep 32.5'
    program_is timed-out 137
    no_sleeper 32.5 || fail "still there: $(sleeper 32.5)"
    expect "how long it ran, ms" "$(report .program.ran_ms)" '>' 5900
}

# -d is over: what runs on is ended, and that is no failure; with --until-exit it is awaited.
case_check_duration() {
    checked_as 0 -d 1 -- sh -c '"$@"; setsid sleep 33.5 & sleep 33.5' sh "${GOOD_LOAD[@]}"
    expect_is "the program's end" "$(report .program.end)" outlived
    no_sleeper 33.5 || fail "still there: $(sleeper 33.5)"
    checked_as 4 -d 0.5 --until-exit -- sh -c 'sleep 1; exit 5'
    program_is exited 5
    expect "what was judged, ms" "$(report .watched.judged_ms)" '<' 950
}

case_check_signals() {
    start_check -- sh -c 'echo up; exec sleep 34.5'
    wait_for "$WAIT_LIMIT" has_line '^up' "$SCRATCH/text" || fail "did not start"
    kill -INT "$CHECK_PID"
    end_check 4
    program_is signalled 130
    expect_is "passed on" "$(report .program.signal_passed_on)" true
    start_check -- sh -c 'trap "echo usr1" USR1; trap "echo term; exit 6" TERM; echo up; while :; do sleep 0.1; done'
    wait_for "$WAIT_LIMIT" has_line '^up' "$SCRATCH/text" || fail "did not start"
    kill -USR1 "$CHECK_PID"
    wait_for 5 has_line '^usr1' "$SCRATCH/text" || fail "SIGUSR1 was not passed on"
    kill -TERM "$CHECK_PID"
    end_check 4
    program_is exited 6
    # One that does not heed it is ended the second time.
    start_check -- sh -c 'trap "" TERM; echo up; while :; do sleep 0.1; done'
    wait_for "$WAIT_LIMIT" has_line '^up' "$SCRATCH/text" || fail "did not start"
    kill -TERM "$CHECK_PID"
    pause 0.3
    kill -TERM "$CHECK_PID"
    end_check 4
    program_is signalled 137
}

# netstall itself is killed: its program does not run on unwatched.
case_check_killed() {
    start_check -- sh -c 'echo up; setsid sleep 35.5 & exec sleep 35.5'
    wait_for "$WAIT_LIMIT" has_line '^up' "$SCRATCH/text" || fail "did not start"
    kill -KILL "$CHECK_PID" && { wait "$CHECK_PID"; } 2>/dev/null
    wait_for 10 no_sleeper 35.5 || fail "still there: $(sleeper 35.5)"
}

# Stalls before the port was open, and in the warm-up, do not count; their exchanges neither.
case_check_server() {
    local port=$((20000 + RANDOM % 10000)) serve
    # shellcheck disable=SC2016
    serve='exchange=$1; port=$2; shift 2; "$exchange" --gate none --mode split -n 5; sleep 0.2
        "$exchange" --server-only --gate none --mode nodelay --port $port & server=$!; sleep 0.4
        "$exchange" --client-only --gate none --mode nodelay --port $port -n 200; kill $server; wait; exit 0'
    checked_as 0 --wait-port "$port" -- sh -c "$serve" sh "$EXCHANGE" "$port"
    expect_is "exchanges" "$(report .watched.exchanges)" 200
    expect "the warm-up, ms" "$(report .watched.warmup_ms)" '>' 200
    checked_as 0 --warmup 1 -- sh -c '"$@"; sleep 1; exec "$0" --gate none --mode nodelay -n 200' "$EXCHANGE" "${BAD_LOAD[@]}"
    expect_is "exchanges" "$(report .watched.exchanges)" 200
    checked_as 4 --timeout 1 --wait-port "$port" -- sleep 36.5
    expect_is "the program's end" "$(report .program.end)" not-ready
    no_sleeper 36.5 || fail "still there: $(sleeper 36.5)"
}

case_check_short_connections() {
    checked_as 0 -- "$CONNECTIONS" short 10000
    expect_is "connections" "$(report .watched.connections)" 10000
    expect_is "exchanges" "$(report .watched.exchanges)" 10000
}

# ---- untouched ----

case_check_streams() {
    local direct
    echo "in" | timeout 60 "$NETSTALL" check "${ATTACH[@]}" --json "$SCRATCH/report" -- \
        sh -c 'cat; echo err >&2; ls -l /proc/self/fd | wc -l; grep ^Sig[BIC] /proc/self/status' >"$SCRATCH/text" 2>"$SCRATCH/check.err"
    direct=$(echo "in" | timeout 60 sh -c 'cat; ls -l /proc/self/fd | wc -l; grep ^Sig[BIC] /proc/self/status')
    expect_is "what it wrote" "$(head -n "$(wc -l <<<"$direct")" "$SCRATCH/text")" "$direct"
    expect_is "what it wrote to stderr" "$(head -n 1 "$SCRATCH/check.err")" err
    # A report on stdout: nothing else of netstall's is there.
    "$NETSTALL" check "${ATTACH[@]}" --json - -- true >"$SCRATCH/report" 2>"$SCRATCH/check.err"
    expect_is "the status in the JSON on stdout" "$(report .exit_status)" 3
    says '^INCONCLUSIVE'
}

# In the foreground it may read the terminal, Ctrl-C is its own, and the terminal comes back.
case_check_terminal() {
    command -v script >/dev/null || skip "no script(1)"
    (
        wait_for "$WAIT_LIMIT" has_line '^first' "$SCRATCH/typescript"
        echo hello
        wait_for "$WAIT_LIMIT" has_line '^second' "$SCRATCH/typescript"
        printf '\003'
        wait_for "$WAIT_LIMIT" has_line '^status' "$SCRATCH/typescript"
        echo back
        pause 0.5
    ) | timeout 60 script -qfec "'$NETSTALL' check ${ATTACH[*]} -- sh -c 'echo first; read x; echo got \$x; echo second; sleep 37.5'
        echo status \$?; read y; echo and \$y" "$SCRATCH/typescript" >/dev/null
    has_line '^got hello' "$SCRATCH/typescript" || fail "could not read: $(cat "$SCRATCH/typescript")"
    has_line '^status 4' "$SCRATCH/typescript" || fail "Ctrl-C: $(cat "$SCRATCH/typescript")"
    has_line 'SIGINT' "$SCRATCH/typescript" || fail "Ctrl-C: $(cat "$SCRATCH/typescript")"
    has_line '^and back' "$SCRATCH/typescript" || fail "the terminal did not come back: $(cat "$SCRATCH/typescript")"
}

# Under sudo the program, and the files, are those of the user who called it; and it can be ended.
case_check_as_the_caller() {
    local nobody
    nobody=$(id -u nobody 2>/dev/null) || skip "no user nobody"
    chmod 711 "$SCRATCH"
    mkdir -m 777 "$SCRATCH/out"
    SUDO_UID=$nobody SUDO_GID=$(id -g nobody) timeout 60 "$NETSTALL" check "${ATTACH[@]}" --json "$SCRATCH/out/report" --timeout 1 \
        -- sh -c 'id -u; id -G; echo $HOME; exec sleep 38.5' >"$SCRATCH/text" 2>"$SCRATCH/check.err"
    expect_is "the status" $? 4
    expect_is "its user" "$(head -n 1 "$SCRATCH/text")" "$nobody"
    expect_is "its groups" "$(sed -n 2p "$SCRATCH/text")" "$(id -G nobody)"
    expect_is "the report's owner" "$(stat -c %u "$SCRATCH/out/report")" "$nobody"
    no_sleeper 38.5 || fail "a program of another user was not ended"
}
