# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# shellcheck shell=bash
#
# Where in their program the two writes of a hold were called. The truth is the source of
# tests/workload/callsites.c: send_head() and send_body(), both called by send_request().

# Beside others a Python or a Java that computes waits for a CPU: each time it was run again.
ALONE_CASES+=" places_python places_java "

SITES_DIR=${EXCHANGE%/*}

# The functions of a site, "library_body <- send_request", leaf first, without the C library's.
functions_of() { # functions_of first_write|second_write [FILE]
    report "[.stalls[] | select(.cause == \"nagle-delack\") | .sites.$1 | select(length > 0)] | first // [] | .[]" |
        while read -r frame; do
            frame=${frame% (*} # without its place in the source
            case $frame in
            "[${2:-no file}]+"*) # stripped: its twin with symbols has the same addresses
                addr2line -f -e "$SITES_DIR/callsites" "$(printf '%#x' $((${frame##*+} - 1)))" | head -n 1 ;;
            *+0x*) echo "${frame%+*}" ;;
            *) echo "$frame" ;;
            esac
        done | grep -v '^_*\(GI_*\)\?\(libc_\)\?write$' | tr '\n' ' '
}

expect_functions() { # expect_functions WHICH 'a b c ' [FILE]: they are the innermost
    local seen
    seen=$(functions_of "$1" "${3:-}")
    [[ $seen == "$2"* ]] || fail "the functions of the $1 are '$seen', wanted '$2...': $(report "[.stalls[].sites.$1] | unique")"
}

expect_both_sites() { # expect_both_sites 'CALLERS ' [FILE]
    expect "the stalls" "$(count_of nagle-delack)" '>=' 1
    expect_functions first_write "send_head send_request $1" "${2:-}"
    expect_functions second_write "send_body send_request $1" "${2:-}"
    ! verdict_is_nagle || expect_is "the verdict's first write" "$(report '.verdict.sites.first_write[1]')" \
        "$(report '[.stalls[].sites.first_write | select(length > 0)][0][1]')"
}

trace_callsites() { # trace_callsites [PREFIX...] -- OPTIONS...
    start_exchange "$@"
    start_trace -p "$CLIENT" "${TRACE_OPTIONS[@]}"
    open_gate
    wait_for "$WAIT_LIMIT" has_line '^done' "$SCRATCH/exchange" || fail "the workload did not come to its end"
    end_trace # while the program still lives: an emulated machine takes its time with the names
    open_gate
    end_exchange
}

case_sites() {
    EXCHANGE=$SITES_DIR/callsites trace_callsites --
    expect_both_sites 'make_requests main '
    expect_is "the stalls without both sites" "$(report '[.stalls[] | select(.cause == "nagle-delack")
        | select((.sites.first_write | length) * (.sites.second_write | length) == 0)] | length')" 0
}

case_sites_thread() {
    EXCHANGE=$SITES_DIR/callsites trace_callsites -- --thread
    expect_both_sites 'make_requests '
}

# Started by a link of another name, which is what its user knows.
case_sites_stripped() {
    command -v addr2line >/dev/null || skip "no addr2line"
    cp "$SITES_DIR/callsites-stripped" "$SCRATCH/real-name" && ln -s real-name "$SCRATCH/called-by"
    EXCHANGE=$SCRATCH/called-by trace_callsites --
    expect_both_sites 'make_requests main ' called-by
}

case_sites_library_opened_later() {
    EXCHANGE=$SITES_DIR/callsites trace_callsites -- --library "$SITES_DIR/callsites_library.so"
    expect_functions first_write 'send_head send_request '
    grep -q '^\(put\|library_body\)+' <(report '[.stalls[].sites.second_write | select(length > 0)][0][1]') ||
        fail "the second write is at $(report '[.stalls[].sites.second_write] | unique')"
    expect_functions second_write "$(functions_of second_write | grep -o '^put ')library_body send_request make_requests main "
}

# The program's file exists in its own mount namespace alone.
case_sites_mount_namespace() {
    local -x FROM HIDDEN=$SCRATCH/mount
    FROM=$(realpath "$SITES_DIR")/callsites
    unshare -m true 2>/dev/null || skip "no mount namespaces here"
    mkdir "$HIDDEN"
    cat >"$SCRATCH/enter" <<'SCRIPT'
#!/bin/sh
mount -t tmpfs none "$HIDDEN" && cp "$FROM" "$HIDDEN/hidden" && exec "$HIDDEN/hidden" "$@"
SCRIPT
    chmod +x "$SCRATCH/enter"
    EXCHANGE=$SCRATCH/enter trace_callsites unshare -m --
    [ ! -e "$HIDDEN/hidden" ] || fail "the program is to be seen outside of its namespace"
    expect_both_sites 'make_requests main '
}

# A cork holds what is written first: there is one site.
case_sites_cork() {
    trace_exchange --mode cork -n "$FEW"
    expect "corked stalls with a site" "$(report '[.stalls[] | select(.cause == "cork" and (.sites.second_write | length > 0))] | length')" '>=' 1
    expect_is "corked stalls with a first write" "$(report '[.stalls[] | select(.sites.first_write | length > 0)] | length')" 0
    expect_is "what writes" "$(report '.verdict.sites.second_write | map(split("+")[0]) | .[] | select(. == "endpoint__send")')" endpoint__send
}

# calls_of WHAT: how many call sites were copied of these.
calls_of() { gojq -n --arg what "$1" '[inputs | select(.event == "call" and .what == $what)] | length' "$SCRATCH/trace"; }

# Nothing is copied before a hold, but where its thread waits: for the gate, four times at most.
case_sites_none_without_holds() {
    TRACE_OPTIONS=(--all)
    EXCHANGE=$SITES_DIR/callsites trace_callsites -- --nodelay -n "$GOOD"
    expect_is "the calls of writes" "$(calls_of write)" 0
    expect "the calls of waits" "$(calls_of wait)" '<=' "$((4 * $(report '.threads | length')))"
}

# However many holds: two of each write are copied, and of each wait.
case_sites_are_few() {
    TRACE_OPTIONS=(--all)
    EXCHANGE=$SITES_DIR/callsites trace_callsites -- -n 30
    expect "the calls of writes" "$(calls_of write)" '<=' 8
    expect "the calls of writes" "$(calls_of write)" '>=' 3
    expect "the calls of waits" "$(calls_of wait)" '<=' "$((4 * $(report '.threads | length')))"
}

# trace_places PROGRAM ARG...: from its gate to its end.
trace_places() {
    start_at_gate "$@"
    start_trace -p "$GATED"
    echo >&"$GATE"
    wait_for "$WAIT_LIMIT" gone "$GATED" || fail "it did not end"
    end_trace
}

# expect_place WHICH SOURCE FUNCTION MARK
expect_place() {
    expect_is "the line of the $1" "$(report ".verdict.sites.places.$1 | \"\\(.function) \\(.file | split(\"/\")[-1]):\\(.line)\"")" \
        "$3 ${2##*/}:$(grep -n "// $4" "$2" | cut -d: -f1)"
}

# expect_places SOURCE FUNCTION [MARK]: the two lines that are marked in its source are the verdict's, by the function of that name, and
# the language's own code is folded away.
expect_places() {
    local which
    expect_is "the verdict" "$(report .verdict.cause)" nagle-delack
    for which in first second; do
        expect_place "${which}_write" "$1" "$2" "${3:+$3 }$which"
        expect "the frames of the $which write that are not its own" \
            "$(report "[.verdict.sites.classes.${which}_write[] | select(. != \"own\")] | length")" '>=' 1
    done
    report '.verdict.advice[0]' | grep -qF "in $2 (${1##*/})" || fail "the advice names no function: $(report '.verdict.advice[0]')"
}

# split_in LANGUAGE FUNCTION BUILD...
split_in() {
    local source=$PWD/tests/workload/places/split.$1 function=$2
    shift 2
    GOCACHE=$SCRATCH/go GO111MODULE=off "$@" "$source" -o "$SCRATCH/split" >"$SCRATCH/build" 2>&1 || fail "it did not build: $(tail -n 3 "$SCRATCH/build")"
    trace_places "$SCRATCH/split"
    expect_places "$source" "$function"
}

# slow_in LANGUAGE PREFIX: what split_in built, with a server that takes its time, and its functions' names begin so.
slow_in() {
    local source=$PWD/tests/workload/places/split.$1
    trace_places "$SCRATCH/split" late
    expect_is "the verdict" "$(report .verdict.cause)" timer
    expect_place answer "$source" "$2late" "late answer"
    expect_place wait "$source" "$2late" "late wait"
    report '.verdict.sites.places.read | "\(.function) \(.line)"' | grep -q "ask_late $(grep -n '// late read' "$source" | cut -d: -f1)$" ||
        fail "the read: $(report .verdict.sites.places.read)"
    trace_places "$SCRATCH/split" lock
    expect_place wait "$source" "$2keep_lock" "lock sleep"
    expect_place lock "$source" "$2take_lock" "lock wait"
    expect_place release "$source" "$2keep_lock" "lock release"
    trace_places "$SCRATCH/split" burn
    expect_is "what computes" "$(report '.verdict.sites.places.busy.function')" "$2compute"
    expect "the looks that found it" "$(report '.verdict.sites.busy_looks.same // 1')" '>=' "$(report '.verdict.sites.busy_looks.of // 1') / 2"
}

case_places_go() {
    command -v go >/dev/null || skip "no compiler for Go"
    split_in go main.request go_build
    split_in go main.request go_build_stripped
}
go_build() { go build -o "$3" "$1"; }
go_build_stripped() { go build -trimpath -ldflags "-s -w" -o "$3" "$1"; }

# A lock, where it is waited for and let go, and what is done under it.
case_places_locks() {
    local source=$PWD/tests/workload/places/locks.c
    "${CC:-gcc}" -g -O1 -pthread "$source" -o "$SCRATCH/locks" || fail "it did not build"
    trace_places "$SCRATCH/locks"
    expect_is "the verdict" "$(report .verdict.cause)" lock
    expect_is "who sleeps" "$(report '.verdict.sites.wait | map(split("+")[0]) | .[] | select(. == "keep_lock")' | cut -d' ' -f1)" keep_lock
    expect_place lock "$source" take_lock lock
    expect_place release "$source" keep_lock release
    report '.verdict.advice[0]' | grep -qF "called in nap (locks.c)" || fail "the advice names no function: $(report '.verdict.advice[0]')"
}

case_places_cxx() {
    command -v g++ >/dev/null || skip "no compiler for C++"
    split_in cc rpc::client::request g++ -g -O2 -fno-inline-functions-called-once -pthread
    slow_in cc slow::
}

case_places_rust() {
    command -v rustc >/dev/null || skip "no compiler for Rust"
    split_in rs split::request rustc -g -O
    slow_in rs split::
}

case_places_node() {
    local source=$PWD/tests/workload/places/split.js
    command -v node >/dev/null || skip "no Node"
    # V8 leaves a log where it runs.
    trace_places env -C "$SCRATCH" node --perf-basic-prof --interpreted-frames-native-stack "$source"
    rm -f "/tmp/perf-$GATED.map"
    expect_places "$source" request
    trace_places node "$source"
    expect_is "the verdict" "$(report .verdict.cause)" nagle-delack
    expect_is "own frames without names" "$(report '[.verdict.sites.classes.second_write[] | select(. == "own")] | length')" 0
}

# With PYTHONS="python3.9 ..." other versions too.
case_places_python() {
    local source=$PWD/tests/workload/places/split.py python with=
    [ "$(uname -m)" = x86_64 ] || skip "on this machine CPython's functions are not read"
    for python in ${PYTHONS:-/usr/bin/python3}; do
        command -v "$python" >/dev/null || skip "no $python"
        with=$("$python" -c 'import sys; print(".".join(map(str, sys.version_info[:2])))')
        trace_places "$python" "$source"
        expect_places "$source" request
        # It stalls as soon as it has begun, and has its places all the same, whatever the process was before.
        start_trace -- sh -c 'sleep 2; exec "$@" >/dev/null' sh "$python" "$source" </dev/null
        wait_for "$WAIT_LIMIT" gone "$TRACE_PID" || fail "it did not end"
        end_trace
        expect_places "$source" request
        trace_places "$python" "$source" late
        expect_is "the verdict" "$(report .verdict.cause)" timer
        expect_place read "$source" ask_late "late read"
        expect_place answer "$source" serve_late "late answer"
        expect_place wait "$source" serve_late "late wait"
        trace_places "$python" "$source" pieces
        expect_is "the verdict" "$(report .verdict.cause)" timer
        expect_place read "$source" ask_pieces "pieces read"
        expect_place wait "$source" serve_pieces "pieces wait"
        trace_places "$python" "$source" each
        expect_place wait "$source" serve_one "each wait"
        trace_places "$python" "$source" lock
        expect_place wait "$source" keep_lock "lock sleep"
        expect_place lock "$source" serve_locked "lock wait"
        expect_place release "$source" keep_lock "lock release"
        trace_places "$python" "$source" burn
        expect_is "what computes" "$(report '.verdict.sites.places.busy.function')" compute
        report '.verdict.advice[0]' | grep -qF "in compute (split.py)" || fail "the advice names no function: $(report '.verdict.advice[0]')"
        trace_places "$python" "$source" http
        expect_places "$source" "$([[ $with = 3.9 || $with = 3.10 ]] && echo do_GET || echo Handler.do_GET)" http
    done
    echo "# $LABEL: places_python: ${PYTHONS:-$with}"
}

# By the interpreter, by both compilers with all inlined, and as it comes: no option of the virtual machine is needed. With JAVAS="/opt/jdk/bin/java ..."
# other versions too, which run what this one compiled.
case_places_java() {
    local source=$PWD/tests/workload/places/Split.java java with
    [ "$(uname -m)" = x86_64 ] || skip "on this machine Java's methods are not read"
    command -v javac >/dev/null || skip "no compiler for Java"
    javac -g --release 17 -d "$SCRATCH" "$source" >"$SCRATCH/build" 2>&1 || fail "it did not build: $(tail -n 3 "$SCRATCH/build")"
    for java in ${JAVAS:-java}; do
        for with in -Xint -XX:TieredStopAtLevel=1 -XX:-TieredCompilation; do
            trace_places "$java" "$with" -Xcomp -cp "$SCRATCH" Split
            expect_places "$source" Split.request
        done
        trace_places "$java" -cp "$SCRATCH" Split late
        expect_is "the verdict" "$(report .verdict.cause)" timer
        expect_place read "$source" Split.askLate "late read"
        expect_place answer "$source" Split.serveLate "late answer"
        expect_place wait "$source" Split.serveLate "late wait"
        trace_places "$java" -cp "$SCRATCH" Split lock
        expect_place wait "$source" Split.keepLock "lock sleep"
        expect_place lock "$source" Split.takeLock "lock wait"
        expect_place release "$source" Split.keepLock "lock release"
        trace_places "$java" -cp "$SCRATCH" Split burn
        # One may be inlined in the other: where between two safepoints a thread is, compiled code does not say.
        report '.verdict.sites.places.busy.function' | grep -qE '^Split.(compute|serveComputed)$' || fail "what computes: $(report .verdict.sites.places.busy)"
    done
    # Later ones answer in one write.
    trace_places java -cp "$SCRATCH" Split http
    expect_places "$source" Split.answer http
}
