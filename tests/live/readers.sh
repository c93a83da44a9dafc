# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# shellcheck shell=bash
#
# What targets have for netstall to read may be far too much, or end who reads it: that costs names, one sentence, and no stall.

# What they make netstall read takes a CPU for seconds.
ALONE_CASES+=" readers_symbols_without_end "

READERS_DIR=${EXCHANGE%/*}

# bulk_program LIKE KIND COUNT: a program with so much to read (tests/workload/bulk.c), which is to be traced.
bulk_program() {
    EXCHANGE=$SCRATCH/bulk
    cp "$READERS_DIR/$1" "$EXCHANGE" && "$READERS_DIR/bulk" "$2" "$EXCHANGE" "$3" || fail "the program was not made"
}

# The stalls are there, and of sentences about what is missing one, which says why in these words.
expect_names_missing() { # expect_names_missing WORDS [WHAT]
    local what=${2:-names of functions}

    expect "the stalls" "$(count_of nagle-delack)" '>=' 1
    expect_is "complete" "$(report .completeness.lost_by_kind.ringbuf)" null
    expect_is "sentences about what is missing" "$(grep -c 'are missing: ' "$SCRATCH/trace.err")" 1
    grep -q "$what are missing: $1" "$SCRATCH/trace.err" || fail "it says: $(grep 'are missing: ' "$SCRATCH/trace.err")"
}

# 700 million symbols: to read them all took a minute, in which it heeded no signal.
case_readers_symbols_without_end() {
    bulk_program callsites symbols 700000000
    start_exchange -- -n 6
    start_trace -p "$CLIENT"
    open_gate
    wait_for "$WAIT_LIMIT" has_line '^done' "$SCRATCH/exchange" || fail "the workload did not come to its end"
    end_trace
    open_gate
    end_exchange
    expect_names_missing "$EXCHANGE has more to read"
}

# A fifth of a megabyte, packed: two hundred million lines, for each of which libdw keeps 70 bytes.
case_readers_lines_without_end() {
    bulk_program callsites-lines lines 200000000
    start_exchange -- -n 6
    start_trace -p "$CLIENT"
    READER=$(reader_of "$TRACE_PID")
    open_gate
    wait_for "$WAIT_LIMIT" has_line '^done' "$SCRATCH/exchange" || fail "the workload did not come to its end"
    wait_for "$WAIT_LIMIT" reader_ended || fail "its reader did not end"
    end_trace
    open_gate
    end_exchange
    expect_names_missing "the process that reads them ended 1 time, first at $EXCHANGE " "lines of source"
    # What was asked as the reader ended is answered by the next one. It has no names.
    expect_is "own frames of the second writes" "$(report '[.stalls[].sites.second_write | map(select(startswith("[bulk]+"))) | length > 1] | unique | join(" ")')" true
}

# The one that reads, of two that are called so: the other started it.
reader_of() { pgrep -P "$(pgrep -d, -P "$1")"; }
reader_ended() { [ "$(reader_of "$TRACE_PID")" != "$READER" ] 2>/dev/null; }

case_readers_process_killed() {
    EXCHANGE=$READERS_DIR/callsites-lines start_exchange -- -n 6
    start_trace -p "$CLIENT"
    READER=$(reader_of "$TRACE_PID")
    [ -n "$READER" ] || fail "no process reads"
    kill -KILL "$READER"
    wait_for "$WAIT_LIMIT" reader_ended || fail "it did not end"
    open_gate
    wait_for "$WAIT_LIMIT" has_line '^done' "$SCRATCH/exchange" || fail "the workload did not come to its end"
    end_trace
    open_gate
    end_exchange
    expect_names_missing "the process that reads them ended 1 time"
    # Another has taken its place.
    expect_is "the second writes" "$(report '[.stalls[].sites.places.second_write.function | select(.)] | unique | join(" ")')" send_body
}

case_readers_small_stack() {
    # shellcheck disable=SC2016
    printf '#!/bin/bash\nulimit -s 128\nexec "%s" "$@"\n' "$(realpath "$NETSTALL")" >"$SCRATCH/small" && chmod +x "$SCRATCH/small"
    EXCHANGE=$READERS_DIR/callsites-lines start_exchange -- -n 6
    NETSTALL=$SCRATCH/small start_trace -p "$CLIENT"
    open_gate
    wait_for "$WAIT_LIMIT" has_line '^done' "$SCRATCH/exchange" || fail "the workload did not come to its end"
    end_trace
    open_gate
    end_exchange
    expect "the stalls" "$(count_of nagle-delack)" '>=' 1
    expect_is "the second writes" "$(report '[.stalls[].sites.places.second_write | select(.) | .function + " " + (.line > 0 | tostring)] | unique | join(" ")')" "send_body true"
    grep -q 'names of functions are missing' "$SCRATCH/trace.err" && fail "names are missing"
    return 0
}
