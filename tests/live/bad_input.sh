# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# shellcheck shell=bash
#
# What must end with one clear sentence and the right status.

# refuse STATUS PATTERN ARGUMENTS...: one sentence of netstall's that matches, and that exit status.
refuse() {
    local wanted=$1 pattern=$2 status
    shift 2
    timeout 60 "$NETSTALL" "$@" >"$SCRATCH/out" 2>"$SCRATCH/err"
    status=$?
    expect_is "the status of '$*'" $status "$wanted"
    grep -q "^netstall.*: .*$pattern" "$SCRATCH/err" || fail "'$*' says: $(head -n 3 "$SCRATCH/err")"
    [ "$(grep -c '^netstall' "$SCRATCH/err")" = 1 ] || fail "'$*' says more than one sentence: $(cat "$SCRATCH/err")"
}

case_bad_pids() {
    local nobody=4194304
    refuse 2 "no process has pid $nobody" trace -p $nobody
    refuse 64 "a pid must be a whole number" trace -p 0
    refuse 64 "a pid must be a whole number" trace -p -1
    refuse 64 "a pid must be a whole number" trace -p abc
    refuse 64 "a pid must be a whole number" trace -p 1,,2
    refuse 2 "kernel thread" trace -p 2
    refuse 2 "no thread has tid $nobody" trace -t $nobody
    refuse 2 "tid 2 is a kernel thread" trace -t 2
}

case_own_pid() {
    local command
    for command in 'trace -p' 'trace -t' 'offwake -p' 'offwake -t' 'check -p'; do
        # shellcheck disable=SC2016
        timeout 60 sh -c 'exec "$NETSTALL" $0 $$' "$command" >"$SCRATCH/out" 2>&1
        expect_is "the status of $command" $? 2
        grep -q "netstall itself\|netstall's own" "$SCRATCH/out" || fail "$command: $(cat "$SCRATCH/out")"
    done
}

# Nothing of it runs any more, and only its parent can make it go.
case_zombie() {
    mkfifo "$SCRATCH/end"
    # shellcheck disable=SC2016
    sh -c 'cat "$0" & echo $!; exec sleep 60' "$SCRATCH/end" >"$SCRATCH/zombie" &
    # From then on nobody waits for the child.
    wait_for "$WAIT_LIMIT" has_line '^sleep' "/proc/$!/comm" || fail "no parent"
    : >"$SCRATCH/end"
    local zombie
    zombie=$(cat "$SCRATCH/zombie")
    wait_for "$WAIT_LIMIT" has_line '^State:.*Z' "/proc/$zombie/status" || fail "no zombie"
    refuse 2 "process $zombie has ended .*zombie" trace -p "$zombie"
    refuse 2 "process $zombie has ended .*zombie" offwake -p "$zombie"
    refuse 3 "process $zombie has ended .*zombie" check -p "$zombie"
}

# With the /proc of another pid namespace before its eyes, netstall is asked for one of the numbers there.
case_pid_of_another_namespace() {
    # shellcheck disable=SC2016
    NOBODY=$$ unshare -p -f sh -c '"$NETSTALL" trace -p $NOBODY' 2>"$SCRATCH/err"
    expect_is "the status" $? 2
    grep -q "process $$ is one of another pid namespace, .*nsenter -p" "$SCRATCH/err" || fail "$(cat "$SCRATCH/err")"
}

# Some kernels keep some processes from BPF's iterators.
case_hidden_pid() {
    "$NETSTALL" trace "${ATTACH[@]}" -p 1 -d 0.1 >"$SCRATCH/out" 2>&1 && skip "pid 1 is not hidden here"
    refuse 2 "the kernel hides process 1" trace -p 1
    refuse 2 "the kernel hides thread 1" trace -t 1
}

# For the other end the table of connections has no room: it may well be on this host.
case_no_room_for_the_other_end() {
    start_exchange -- --mode split -n 5
    start_trace -p "$CLIENT" -C conns.max=1
    open_gate
    end_exchange
    end_trace
    expect "stalls found" "$(count_of nagle-delack)" '>' 0
    expect_is "stalls that lack another end than that without room" \
        "$(report '[.stalls[] | select(.cause == "nagle-delack" and (.missing | contains("conns.max") | not))] | length')" 0
}

# Nothing is wrong with a port that nobody has yet.
case_port_of_nobody() {
    "$NETSTALL" trace "${ATTACH[@]}" -L 7 -d 0.1 >"$SCRATCH/out" 2>&1 || fail "$(cat "$SCRATCH/out")"
    grep -q '^netstall: no connection has that port yet' "$SCRATCH/out" || fail "$(cat "$SCRATCH/out")"
}

case_bad_options() {
    refuse 64 "the duration in seconds must be more than 0" trace -p $$ -d 0
    refuse 64 "the duration in seconds" trace -p $$ -d x
    refuse 64 "at most 1000000, not" trace -p $$ -d 1e7
    refuse 64 "a target has none: use -a" offwake -k -p $$ 1
    refuse 64 "a local port must be a whole number from 1 to 65535" trace -L 65536
    refuse 64 "a remote port" trace -D 0
    refuse 64 "name a target" trace
    refuse 64 "-a is every process: leave out what else" trace -a -p $$
    refuse 64 "-a is every process: leave out what else" trace -c / -L 80
    refuse 64 "-a profiles the whole machine" offwake -c / 1
    refuse 64 "name a target" trace --not-pid $$
    refuse 64 "a pid must be a whole number" trace -a --not-pid x
    refuse 64 "-C knows no" trace -p $$ -C no.such=1
    refuse 64 "attach is auto" trace -p $$ -C attach=magic
    refuse 64 "stack.bytes is for offwake" trace -p $$ -C stack.bytes=32768
    refuse 64 "-C attach needs --by-cause" offwake -p $$ -C attach=fentry 1
    refuse 64 "-C uring.max needs --by-cause" offwake -p $$ -C uring.max=100 1
    refuse 64 "no command" no-such-command
    refuse 64 "no option '--durration': did you mean --duration. .netstall trace --help" trace -p 1 --durration 3
    refuse 64 "no option '--zzz': .netstall report --help" report file --zzz=3
    "$NETSTALL" help record | grep -q '^Usage: netstall record' || fail "help record: $("$NETSTALL" help record | head -n 1)"
    refuse 64 "--events is uring, .* or stalls, not 'tcp'" trace -p $$ --events tcp
    refuse 64 "--events is uring, .* not ''" trace -p $$ --events=
    refuse 64 "--connections is each or found, not 'all'" trace -p $$ --connections=all
    refuse 64 "leave one of them out" trace -p $$ --all --events=uring
}

case_bad_btf_file() {
    echo junk >"$SCRATCH/junk"
    { head -c -3 /sys/kernel/btf/vmlinux && printf 'xy\0'; } >"$SCRATCH/other" # its last name is another
    refuse 64 "btf takes a file" trace -p $$ -d 1 -C btf=
    refuse 2 "btf=/nonexistent: No such file" trace -p $$ -d 1 -C btf=/nonexistent
    refuse 2 "btf=$SCRATCH/junk: no types" trace -p $$ -d 1 -C "btf=$SCRATCH/junk"
    refuse 2 "btf=$SCRATCH/other: the types (BTF) of another kernel" trace -p $$ -d 1 -C "btf=$SCRATCH/other"
    refuse 2 "btf=$SCRATCH: no file; leave it out" offwake -p $$ -C "btf=$SCRATCH" 1
    "$NETSTALL" doctor -C btf=/nonexistent >"$SCRATCH/out" 2>&1
    expect_is "doctor's status" $? 2
    grep -q "not possible: -C btf=/nonexistent: .* leave it out" "$SCRATCH/out" || fail "doctor names no remedy"
    "$NETSTALL" trace "${ATTACH[@]}" -p $$ -d 0.1 -C btf=/sys/kernel/btf/vmlinux >"$SCRATCH/out" 2>&1 || fail "$(cat "$SCRATCH/out")"
}

case_hidden_btf() {
    [ ! -e "/boot/vmlinux-$(uname -r)" ] || skip "libbpf finds the types elsewhere"
    # shellcheck disable=SC2016
    unshare -m sh -c 'mount -t tmpfs none /sys/kernel/btf && exec "$NETSTALL" trace -p 1' >"$SCRATCH/out" 2>&1
    expect_is "the status" $? 2
    expect_is "lines that are said" "$(wc -l <"$SCRATCH/out")" 1
    grep -q '^netstall: .*CONFIG_DEBUG_INFO_BTF=y, and /sys mounted' "$SCRATCH/out" || fail "$(cat "$SCRATCH/out")"
}

# A limit that the user may raise is raised; one that only others can is named. A program has its own.
case_few_open_files() {
    local limit
    prlimit --nofile=32:1024 "$NETSTALL" trace "${ATTACH[@]}" -d 5 -- sh -c 'ulimit -Sn; ulimit -Hn' >"$SCRATCH/out" 2>&1 || fail "$(cat "$SCRATCH/out")"
    expect_is "the program's limits" "$(grep -xE '[0-9]+' "$SCRATCH/out" | paste -sd' ')" "32 1024"
    for limit in 5 6 20 40 80 200; do
        prlimit --nofile=$limit "$NETSTALL" trace -p $$ -d 0.1 >"$SCRATCH/out" 2>&1
        expect_is "the status with $limit files" $? 2
        expect_is "lines with $limit files" "$(wc -l <"$SCRATCH/out")" 1
        grep -q '^netstall: .*ulimit -n' "$SCRATCH/out" || fail "with $limit files: $(cat "$SCRATCH/out")"
        prlimit --nofile=$limit "$NETSTALL" offwake -p $$ 0.1 >"$SCRATCH/out" 2>&1
        expect_is "offwake's status with $limit files" $? 2
        grep -q '^netstall: .*ulimit -n' "$SCRATCH/out" || fail "offwake with $limit files: $(cat "$SCRATCH/out")"
    done
}

# The process that waits for a program has to end before it can: nobody waits for that one then.
case_supervisor_cannot_start() {
    can_be_refused
    REFUSE_SIGNALFD=1 refused REFUSE '' trace -- true
    expect_is "the status" "$(cat "$SCRATCH/status")" 2
    grep -qx 'netstall: cannot start a process: Function not implemented' "$SCRATCH/err" || fail "$(cat "$SCRATCH/err")"
    REFUSE_SIGNALFD=1 refused REFUSE '' check -- true
    expect_is "check's status" "$(cat "$SCRATCH/status")" 2
}

case_cgroup_of_version_1() {
    local folder
    folder=$(awk '$3 == "cgroup" { print $2; exit }' /proc/mounts)
    [ "$folder" ] || skip "no cgroups of version 1 here"
    refuse 2 "no cgroup $folder: name one of version 2" trace -c "$folder" -d 0.1
}

# Neither does netstall end without a word, nor has a program another limit or signal than it would have.
case_small_files_only() {
    prlimit --fsize=0 "$NETSTALL" trace -p $$ -d 0.1 --json -o "$SCRATCH/file" 2>&1 | cat >"$SCRATCH/out"
    expect_is "the status" "${PIPESTATUS[0]}" 2
    grep -q "not everything could be written to $SCRATCH/file: File too large" "$SCRATCH/out" || fail "$(cat "$SCRATCH/out")"
    prlimit --fsize=0 "$NETSTALL" trace -- sh -c "echo x >$SCRATCH/file; echo went on" 2>&1 | cat >"$SCRATCH/out"
    if grep -q 'went on' "$SCRATCH/out"; then fail "the program does not get SIGXFSZ: $(cat "$SCRATCH/out")"; fi
}

case_user_namespace() {
    local command
    unshare -Ur true 2>/dev/null || skip "no user namespaces here"
    for command in "trace -p $$ -d 1" "offwake -p $$ 1" doctor; do
        # shellcheck disable=SC2086
        unshare -Ur "$NETSTALL" $command >"$SCRATCH/out" 2>&1
        expect_is "the status of $command" $? 2
        grep -q 'user namespace.*run it outside' "$SCRATCH/out" || fail "$command: $(cat "$SCRATCH/out")"
        if grep -q CONFIG_ "$SCRATCH/out"; then fail "$command blames the kernel: $(cat "$SCRATCH/out")"; fi
    done
}

case_empty_names() {
    local command
    for command in trace check offwake; do
        refuse 64 "-- needs a name that is not empty" $command -- ''
        refuse 64 "-c needs a name that is not empty" $command -c ''
    done
    refuse 64 "-o needs a name that is not empty" trace -p $$ -o ''
    refuse 64 "-o needs a name that is not empty" offwake -p $$ -o ''
    refuse 64 "--svg needs a name that is not empty" offwake -p $$ --svg=
    refuse 64 "--pprof needs a name that is not empty" offwake -p $$ --pprof=
    refuse 64 "--keep needs a name that is not empty" check -p $$ --keep=
    refuse 64 "--baseline needs a name that is not empty" check -p $$ --baseline=
    refuse 64 "--save-baseline needs a name that is not empty" check -p $$ --save-baseline=
    "$NETSTALL" trace -- "$SCRATCH" 2>"$SCRATCH/err"
    grep -q "cannot run $SCRATCH: Is a directory" "$SCRATCH/err" || fail "$(cat "$SCRATCH/err")"
}

case_hostile_names_in_sentences() {
    refuse 2 'no cgroup a.x1b.31mb' trace -c $'a\e[31mb'
    refuse 64 'no command .a.x1b' $'a\e'
    refuse 64 'not .a.x1b' trace -p $'a\e'
}

case_unwritable_output() {
    refuse 2 "cannot write to /nonexistent/x: No such file" trace -p $$ -d 1 -o /nonexistent/x
    [ -e /dev/full ] || return 0
    refuse_full
}

# A full disk: said at the end, status 2.
refuse_full() {
    start_exchange -- --mode split -n 3
    "$NETSTALL" trace "${ATTACH[@]}" -p "$CLIENT" -d 1 -o /dev/full >"$SCRATCH/out" 2>"$SCRATCH/err"
    expect_is "the status with a full disk" $? 2
    grep -q "not everything could be written to /dev/full: No space left" "$SCRATCH/err" || fail "$(cat "$SCRATCH/err")"
    open_gate
    end_exchange
}

case_no_privilege() {
    [ "$(id -u nobody 2>/dev/null)" ] || skip "no user nobody"
    cp "$NETSTALL" "$SCRATCH/netstall" && chmod 755 "$SCRATCH" "$SCRATCH/netstall"
    setpriv --reuid nobody --clear-groups "$SCRATCH/netstall" trace -p 1 -d 1 >"$SCRATCH/out" 2>"$SCRATCH/err"
    expect_is "the status" $? 2
    grep -q "CAP_BPF.*sudo" "$SCRATCH/err" || fail "$(cat "$SCRATCH/err")"
    setpriv --reuid nobody --clear-groups "$SCRATCH/netstall" doctor >"$SCRATCH/out" 2>&1
    expect_is "doctor's status" $? 2
    grep -q "setcap cap_bpf,cap_perfmon,cap_sys_ptrace" "$SCRATCH/out" || fail "doctor names no capabilities"
}

# A name with escape sequences moves no cursor and breaks no JSON.
case_hostile_name() {
    start_exchange -- --mode split -n 5 --name $'\e[31mx\a"'
    "$NETSTALL" trace "${ATTACH[@]}" -p "$CLIENT" >"$SCRATCH/out" 2>"$SCRATCH/err" &
    local tracer=$!
    wait_for "$WAIT_LIMIT" has_line tracing "$SCRATCH/err" || fail "not attached"
    open_gate
    end_exchange
    wait_for 20 gone "$tracer" || fail "did not end"
    grep -q nagle-delack "$SCRATCH/out" || fail "no stall found"
    if LC_ALL=C grep -q $'[\e\a]' "$SCRATCH/out" "$SCRATCH/err"; then fail "control characters were printed"; fi
    grep -q 'x1b\[31mx' "$SCRATCH/out" || fail "the name is not shown"
}

case_lost_records_are_shown() {
    TRACE_OPTIONS=(--all -C ringbuf.bytes=4096)
    trace_exchange --mode nodelay -n 2000
    expect "what was lost" "$(lost)" '>' 0
    expect_is "completeness" "$(report .completeness.complete)" false
    grep -q '[1-9][0-9,]* events\? lost' <<<"$(report '.verdict.text + .verdict.evidence')" || fail "the verdict does not say that events were lost: $(report .verdict.text)"
}

# netstall does not run while the connections are opened, used and closed: what there is to know of them in all is kept.
case_lost_records_leave_totals() {
    local writes
    start_exchange -- --mode nodelay -n 2000
    start_trace -p "$CLIENT" --all -C ringbuf.bytes=65536
    kill -STOP "$TRACE_PID"
    open_gate
    end_exchange
    kill -CONT "$TRACE_PID"
    end_trace
    expect "what was lost" "$(lost)" '>' 0
    writes=$(report '[.connections[].writes] | add')
    echo "# $LABEL: lost_records_leave_totals: $(lost) records lost, $writes writes counted"
    expect "the writes counted" "$writes" '<=' 6000 # two of a request, one of its answer
    expect "the writes counted, and programs left out" "$((writes + $(report '.completeness.lost_by_kind.runs // 0')))" '>=' 6000
    expect_is "connections" "$(report '.connections | length')" 2
}

# Waits alone, of a program without connections, while netstall does not run: each is told or counted.
case_lost_waits_are_counted() {
    local count=60 told
    # shellcheck disable=SC2016
    start_at_gate bash -c 'exec {never}<> <(:); echo ready; read -r; for ((i = 0; i < $1; i++)); do read -r -t 0.012 -u $never; done; echo done' _ $count
    start_trace -p "$GATED" --all -C ringbuf.bytes=4096
    kill -STOP "$TRACE_PID"
    echo >&"$GATE"
    wait_for 60 has_line done "$SCRATCH/gated" || fail "the workload did not end"
    kill -CONT "$TRACE_PID"
    end_trace
    told=$(gojq -n '[inputs | select(.event == "wait")] | length' "$SCRATCH/trace")
    echo "# $LABEL: lost_waits_are_counted: $told told, $(report '.completeness.lost_by_kind | tostring') lost"
    expect "waits told" "$told" '<' $count
    expect "waits told or counted" "$((told + $(report '.completeness.lost_by_kind.ringbuf // 0')))" '>=' $count
}

case_recording_is_private() {
    "$NETSTALL" trace "${ATTACH[@]}" -p $$ -d 0.2 -o "$SCRATCH/private" 2>/dev/null || fail "status $?"
    expect_is "its mode" "$(stat -c %a "$SCRATCH/private")" 600
}

case_capabilities_dropped() {
    start_exchange -- --mode single -n 10
    start_trace -p "$CLIENT"
    local caps gains helper helpers=0 kept
    caps=$(awk '/^CapPrm/ { print $2 }' "/proc/$TRACE_PID/status")
    gains=$(awk '/^NoNewPrivs/ { print $2 }' "/proc/$TRACE_PID/status")
    # Its helpers: who opens files has what that takes (CAP_DAC_READ_SEARCH,
    # SYS_PTRACE, CHECKPOINT_RESTORE), the others nothing.
    for helper in $(family "$TRACE_PID"); do
        [ "$helper" != "$TRACE_PID" ] || continue
        helpers=$((helpers + 1))
        kept=$(awk '/^CapPrm/ { print $2 }' "/proc/$helper/status")
        [ $((16#$kept & ~(1 << 2 | 1 << 19 | 1 << 40))) = 0 ] || fail "helper $(cat "/proc/$helper/comm") has capabilities $kept"
    done
    open_gate
    end_exchange
    end_trace
    expect_is "permitted capabilities after the attach" "$((16#$caps & ~(1 << 39)))" 0
    expect_is "new privileges by exec" "$gains" 1
    expect "helper processes" "$helpers" '>=' 1
}

case_doctor() {
    "$NETSTALL" doctor "${ATTACH[@]}" --self-test >"$SCRATCH/out" 2>&1
    expect_is "the status" $? 0
    grep -q 'Self-test passed' "$SCRATCH/out" || fail "$(tail -n 3 "$SCRATCH/out")"
}

case_demo() {
    timeout 90 "$NETSTALL" demo "${ATTACH[@]}" >"$SCRATCH/out" 2>"$SCRATCH/err" || fail "status $?: $(cat "$SCRATCH/err")"
    grep -q 'HELD by Nagle' "$SCRATCH/out" || fail "no time line"
    grep -q '^nagle-delack: ' "$SCRATCH/out" || fail "no verdict"
    grep -q '^split' <("$NETSTALL" demo --list) || fail "no list"
}

# Every line that a real trace prints, by the schema: events of all types that come, and the report.
case_json_keeps_its_schema() {
    /usr/bin/python3 -c 'import jsonschema' 2>/dev/null || skip "python3-jsonschema is not installed"
    start_exchange -- --mode split -n "$FEW"
    start_trace --show=all -p "$CLIENT"
    open_gate
    end_exchange
    end_trace
    /usr/bin/python3 tests/schema/validate.py docs/report-schema.json "$SCRATCH/trace" >"$SCRATCH/valid" ||
        fail "$(cat "$SCRATCH/valid")"
}
