# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# shellcheck shell=bash disable=SC2034
#
# Off-CPU profiles of programs that keep no frame pointers, and profiles by cause.

# profile_of OPTIONS... -- PROGRAM ARG...: the folded stacks of the program from its gate to its end.
profile_of() {
    local options=()
    while [ "$1" != -- ]; do
        options+=("$1")
        shift
    done
    shift
    start_at_gate "$@"
    start_profile -p "$GATED" "${options[@]}"
    open_gate
    wait_for 60 gone "$GATED" || fail "$1 did not end"
    end_profile
}

# us_of REGEX: microseconds of the folded lines that match.
us_of() { awk -v pattern="$1" '$0 ~ pattern { us += $NF } END { print us + 0 }' "$SCRATCH/profile"; }

# The workload's waits of one kind have all of their callers: $1 a thread's first frames, $2 what it calls, $3 the wait, $4
# at least and at most so many us.
expect_callers() {
    local us least=0.97
    us=$(us_of "^$1;run_rounds;$2_outer;$2_middle;$2_leaf;$3")
    # Where programs wait long for a CPU, one wait of the eight was seen to have no callers.
    [ "$SLOW_MACHINE" = none ] || least=0.84
    expect "blocked below $1, $2, in us" "$us" '>=' "$least * $TRUTH_US"
    # A machine that is short of CPUs, or emulated, wakes it late.
    [ -n "$QUICK" ] || expect "blocked below $1, $2, in us" "$us" '<=' "1.5 * $TRUTH_US + 20000"
}

# Every wait of tests/workload/nofp.c with its callers down to main, or to the thread's start; $1: the program.
expect_all_callers() {
    local main="nofp[a-z-]*;_start;.*;main" thread='rounds;[a-z_]*clone3?;start_thread;rounds_thread' start
    local said
    said=$(grep '^done' "$SCRATCH/gated")
    TRUTH_US=$((1000 * $(field rounds "$said") * $(field wait_ms "$said")))
    for start in "$main" "$thread"; do
        expect_callers "$start" sleep '.*nanosleep;'
        expect_callers "$start" poll '[a-z_]*poll;'
        expect_callers "$start" read '[a-z_]*read;'
        expect_callers "$start" futex '.*timedwait;'
        expect_callers "$start" signal 'raise;.*;signal_handler;sleep_leaf;.*nanosleep;'
    done
    # One wait alone, which had not ended before and comes to no second: it is looked at while it lasts, where the kernel can.
    grep -q ' bpf_copy_from_user_task$' /proc/kallsyms || return 0
    expect "the one long sleep, in us" "$(us_of '^long-sleep;.*start_thread;long_thread;long_outer;long_middle;long_leaf;sleep_leaf;')" \
        '>=' "4.8 * $TRUTH_US"
}

# share_unknown: of the user frames that frame pointers or call frame information gave, hundredths without a name.
share_unknown() { awk '{ sub(/ [0-9]+$/, ""); n = split($0, frame, ";"); for (i = 2; i <= n; i++) { all++; unknown += frame[i] == "[unknown]" }
    } END { print all ? 100 * unknown / all : 0 }' "$SCRATCH/profile"; }

case_offwake_without_frame_pointers() {
    local way ways=(auto dwarf)
    [ -z "$QUICK" ] || ways=(auto)
    for way in "${ways[@]}"; do
        profile_of --unwind "$way" -- "$WORKLOADS/nofp" --gate
        expect_all_callers
        expect "frames without a name" "$(share_unknown)" '==' 0
    done
}

# While a second tracer is there the kernel has one frame more on top of the traced function. A place stays one place all the
# same; were it two, the first wait of the second one would have no callers: one of five.
case_offwake_beside_another_tracer() {
    start_at_gate "$WORKLOADS/nofp" --gate --rounds 5 --wait 40
    start_profile -p "$GATED"
    "$NETSTALL" offwake -p "$GATED" 60 >"$SCRATCH/second" 2>"$SCRATCH/second.err" &
    local second=$!
    await_line 'netstall: profiling' "$SCRATCH/second.err" "$second" || fail "the second did not attach: $(cat "$SCRATCH/second.err")"
    open_gate
    pause 0.3
    kill -INT "$second"
    wait_for 60 gone "$GATED" || fail "the workload did not end"
    end_profile
    wait "$second" || fail "the second ended with status $?: $(tail -n 1 "$SCRATCH/second.err")"
    expect_all_callers
}

# Statically linked: its libc's functions are its own. By frame pointers its callers are not to be had at all.
case_offwake_static() {
    profile_of -- "$WORKLOADS/nofp-static" --gate
    expect_all_callers
    profile_of --unwind fp -- "$WORKLOADS/nofp-static" --gate --rounds 2
    expect "us below main by frame pointers" "$(us_of ';main;run_rounds;')" '==' 0
}

# With frame pointers these have all but the caller of libc's function, which keeps none.
case_offwake_frame_pointers() {
    profile_of --unwind fp -- "$WORKLOADS/nofp-fp" --gate --rounds 2
    expect "us below main" "$(us_of '^nofp-fp;[^ ]*;main;run_rounds;poll_outer;poll_middle;poll')" '>=' 38000
    profile_of -- "$WORKLOADS/nofp-fp" --gate
    expect_all_callers
}

# ---- by cause ----

# share_of CAUSE: hundredths of all blocked time below this cause, but for the wait until the gate opens, which is the test's own.
share_of() {
    awk -v cause="$1" '!/;(open_at_gate|workload__start;.*;unix_stream_recvmsg);/ { split($0, frame, ";"); all += $NF; if (frame[2] == cause) us += $NF } END { print all ? 100 * us / all : 0 }' \
        "$SCRATCH/profile"
}

# by_cause_of client|server OPTIONS...: the exchange workload's profile by cause.
by_cause_of() {
    local who=$1 pid
    shift
    rm -f "$SCRATCH/exchange"
    start_exchange -- "$@"
    pid=$CLIENT
    [ "$who" = client ] || pid=$SERVER
    start_profile -p "$pid" --by-cause
    open_gate
    end_exchange
    end_profile
    expect "waits whose cause is unknown, in percent" "$(share_of unknown)" '<=' 5
}

# The widest tower says why, and its chain ends in the delayed-ACK timer.
case_offwake_by_cause() {
    by_cause_of client -n "$MANY"
    expect "nagle-delack, in percent" "$(share_of nagle-delack)" '>=' 95
    expect "nagle-delack woken from the delayed-ACK timer, in us" "$(us_of ';nagle-delack;.*tcp_delack_timer')" '>=' \
        "0.95 * $(us_of ';nagle-delack;')"
}
case_offwake_by_cause_late_server() {
    by_cause_of client --mode late-server -n "$FEW"
    expect "peer-app, in percent" "$(share_of peer-app)" '>=' 90
    expect "nagle-delack, in percent" "$(share_of nagle-delack)" '==' 0
    by_cause_of server --mode late-server -n "$FEW"
    expect "timer, in percent" "$(share_of timer)" '>=' 75
}
# A server between bursts of requests: nobody owes it anything.
case_offwake_by_cause_idle() {
    by_cause_of server --mode paced -n "$FEW"
    expect "idle, in percent" "$(share_of idle)" '>=' 80
    expect "peer-app, in percent" "$(share_of peer-app)" '<=' 10
}

case_offwake_by_cause_wants_a_target() {
    "$NETSTALL" offwake -a --by-cause 1 >"$SCRATCH/profile" 2>"$SCRATCH/profile.err"
    expect_is "the status" $? 64
    has_line 'by-cause' "$SCRATCH/profile.err" || fail "it does not say why: $(head -c 300 "$SCRATCH/profile.err")"
}

# All threads of the machine but netstall's own, its helpers and theirs.
case_offwake_machine() {
    local own
    "$NETSTALL" offwake -a --json 2 >"$SCRATCH/profile" 2>"$SCRATCH/profile.err" &
    TRACE_PID=$!
    await_line 'netstall: profiling' "$SCRATCH/profile.err" $TRACE_PID || fail "netstall did not attach: $(head -c 300 "$SCRATCH/profile.err")"
    own=$(tree_of $TRACE_PID)
    wait $TRACE_PID || fail "status $?: $(cat "$SCRATCH/profile.err")"
    expect "its own processes" "$(wc -w <<<"$own")" '>=' 3
    expect_is "its own processes in the profile" "$(profile "[.chains[].pid] | map(select(IN(${own// /,}))) | unique")" "[]"
    expect "chains" "$(profile '.chains | length')" '>=' 10
}

# tree_of PID: it and its descendants.
tree_of() {
    ps -e -o pid= -o ppid= | awk -v root="$1" '
        { parent[$1] = $2 }
        END {
            for (pid in parent) {
                for (at = pid; at && at != root; at = parent[at]);
                if (at == root) { printf "%s%s", separator, pid; separator = " " }
            }
        }'
}

# ---- black boxes ----

case_offwake_go() {
    command -v go >/dev/null || skip "no Go compiler here"
    GOCACHE=$SCRATCH/go GO111MODULE=off go build -o "$SCRATCH/waits-go" tests/workload/waits.go || fail "it did not build"
    profile_of -- "$SCRATCH/waits-go"
    expect "us below main.awaitAnswer" "$(us_of 'main[.]ask;main[.]awaitAnswer;')" '>=' 600000
    expect "frames without a name, in percent" "$(share_unknown)" '<=' 5
}

# The event loop keeps 12 KiB on its stack, and JavaScript that is interpreted has names only by that option of V8.
case_offwake_node() {
    command -v node >/dev/null || skip "no Node here"
    profile_of -C stack.bytes=65536 -- node --no-logfile-per-isolate --logfile="$SCRATCH/v8.log" --perf-basic-prof --interpreted-frames-native-stack tests/workload/waits.js
    rm -f "/tmp/perf-$GATED.map"
    expect "us in the event loop" "$(us_of '^node;.*node::Start;.*;uv_run;uv__io_poll;')" '>=' 400000
    expect "us below the JavaScript functions" "$(us_of '^node;.*node::Start;.*onAnswer.*blockInJavaScript.*AtomicsWait')" '>=' 400000
}

# CPython's own functions: where threads sleep, who wakes them, and where one has slept since before the attach.
case_offwake_python() {
    [ "$(uname -m)" = x86_64 ] || skip "on this machine CPython's functions are not read"
    local unwind python=/usr/bin/python3 source=$PWD/tests/workload/places/split.py
    for unwind in fp auto; do
        profile_of --unwind=$unwind -- "$python" "$source" late
        expect "asleep in time.sleep(), in us" "$(us_of 'run .threading.py.;serve_late .split.py.;[^-]*nanosleep;')" '>=' 850000
        expect "asleep for the answer, in us" "$(us_of '<module> .split.py.;ask_late .split.py.;[^-]*recv')" '>=' 850000
        profile_of --unwind=$unwind -- "$python" "$source" lock
        expect "asleep for the lock, in us, woken by who keeps it" \
            "$(us_of 'serve_locked .split.py.;[^-]*futex.*--;try_to_wake_up;.*futex_wake;.*;keep_lock .split.py.;')" '>=' 300000
        expect "the interpreter's own functions" "$(grep -cE '_PyEval|_PyObject_Vectorcall' "$SCRATCH/profile")" '<=' 3
    done
    profile_of --lines -- "$python" "$source" late
    expect "asleep in a line, in us" "$(us_of "serve_late .$source:$(grep -n "// late wait" "$source" | cut -d: -f1)[)];")" '>=' 850000
}

# Java's methods: its stacks are known by a copy alone, and its methods behind the program's end too.
case_offwake_java() {
    local source=$PWD/tests/workload/places/Split.java
    [ "$(uname -m)" = x86_64 ] || skip "on this machine Java's methods are not read"
    command -v javac >/dev/null || skip "no compiler for Java"
    javac -g -d "$SCRATCH" "$source" >"$SCRATCH/build" 2>&1 || fail "it did not build: $(tail -n 3 "$SCRATCH/build")"
    profile_of -- java -cp "$SCRATCH" Split late
    expect "asleep in Thread.sleep(), in us" "$(us_of ';java.lang.Thread.run;.*Split.serveLate;java.lang.Thread.sleep;[^-]*futex')" '>=' 850000
    expect "asleep for the answer, in us" "$(us_of ';Split.main;Split.askLate;java.io.InputStream.read;[^-]*;read;')" '>=' 850000
    profile_of -- java -cp "$SCRATCH" Split lock
    expect "asleep for the lock, in us, woken by who keeps it" \
        "$(us_of 'Split.takeLock;java.util.concurrent.locks.ReentrantLock.lock;[^-]*futex.*--;try_to_wake_up;.*futex_wake;.*Split.keepLock')" '>=' 300000
    profile_of --lines -- java -cp "$SCRATCH" Split late
    expect "asleep in a line, in us" "$(us_of "Split.serveLate [(]Split.java:$(grep -n "// late wait" "$source" | cut -d: -f1)[)];")" '>=' 850000
}

# deep_stacks TRUTH PROFILE: "RIGHT WRONG GAPS", of the sleeps below Deep.nap(); a chain's own frames, with their lines, must be one that
# the program told. GAPS: where some have no name ([java], [jit]), and the others are of such a chain.
deep_stacks() {
    awk 'function fits(all, chain,    parts, count, i, at) {
            count = split(chain, parts, "[*]")
            if (index(all, parts[1]) != 1 || substr(all, length(all) - length(parts[count]) + 1) != parts[count]) return 0
            for (i = 1; i < count; i++) {
                at = index(all, parts[i])
                if (!at) return 0
                all = substr(all, at + length(parts[i]))
            }
            return length(all) >= length(parts[count])
        }
        FNR == NR { if (sub(/^truth /, "")) told[$0]; next }
        /^java;.*;Deep.nap / {
            chain = ""
            sub(/;Deep.nap .*/, ";")
            count = split($0, frames, ";")
            for (i = 1; i <= count; i++)
                if (frames[i] == "[java]" || frames[i] == "[jit]") chain = chain "*"
                else if (frames[i] ~ /^Deep[.]/ && frames[i] !~ /^Deep.leaf /) chain = chain substr(frames[i], 6) ";"
            fit = 0
            for (all in told) if (fits(all, chain)) fit = 1
            if (!fit) wrong++
            else if (chain ~ /[*]/) gaps++
            else right++
        }
        END { print right + 0, wrong + 0, gaps + 0 }' "$1" "$2"
}

# Each chain of calls is as the virtual machine has it, to the line, in all kinds of code: no frame is missing, or another. Who looks
# late, for want of a CPU, may find no name for a method that was compiled anew meanwhile, and finds no other one.
case_offwake_java_as_told() {
    local source=$PWD/tests/workload/places/Deep.java options right wrong gaps
    [ "$(uname -m)" = x86_64 ] || skip "on this machine Java's methods are not read"
    command -v javac >/dev/null || skip "no compiler for Java"
    javac -g -d "$SCRATCH" "$source" >"$SCRATCH/build" 2>&1 || fail "it did not build: $(tail -n 3 "$SCRATCH/build")"
    for options in "-Xint Deep 0" "-Xcomp Deep 0" "Deep 200000" "-XX:TieredStopAtLevel=1 Deep 100000"; do
        # shellcheck disable=SC2086 # words
        profile_of --lines -- ${JAVA:-java} -cp "$SCRATCH" $options
        judge_machine
        read -r right wrong gaps <<<"$(deep_stacks "$SCRATCH/gated" "$SCRATCH/profile")"
        echo "# $LABEL: offwake_java_as_told: $options: right and wrong stacks: $right $wrong, with gaps: $gaps"
        expect "right stacks of $options" "$right" '>=' 12
        expect_is "wrong stacks of $options" "$wrong" 0
        [ "$SLOW_MACHINE" != none ] || expect_is "stacks of $options with gaps" "$gaps" 0
    done
}
