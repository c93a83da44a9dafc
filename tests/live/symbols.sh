# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# shellcheck shell=bash
#
# Names and lines in what a user reads. Where names come from is tested one by one in tests/unit/symbols/test_symbols.c. The truth is the
# source of tests/workload/callsites.c.

SYMBOLS_DIR=${EXCHANGE%/*}

# The line of the source that calls write() in function $1.
line_of_write() { awk -v name="$1" '$0 ~ "int " name "\\(" { inside = 1 } inside && /write\(/ { print NR; exit }' tests/workload/callsites.c; }

expect_lines() {
    local which function place line
    for which in first_write:send_head second_write:send_body; do
        function=${which#*:} which=${which%:*}
        place=".sites.places.$which | select(.) | \"\(.function) \(.file | split(\"/\") | last) \(.line)\""
        line="$function callsites.c $(line_of_write "$function")"
        expect_is "the stalls' $which" "$(report "[.stalls[] | select(.cause == \"nagle-delack\") | $place] | unique | join(\", \")")" "$line"
        ! verdict_is_nagle || expect_is "the verdict's $which" "$(report ".verdict | $place")" "$line"
    done
}

# The program ends at once: what was opened at the attach has to do.
case_symbols_lines_of_a_program_that_ended() {
    EXCHANGE=$SYMBOLS_DIR/callsites-lines start_exchange -- -n 3
    start_trace -p "$CLIENT"
    open_gate
    open_gate
    end_exchange
    end_trace
    expect "the stalls" "$(count_of nagle-delack)" '>=' 1
    expect_lines
}

# It is stripped, and its debug file is to be seen in its mount namespace alone.
case_symbols_debug_file_in_its_namespace() {
    local -x FROM BUILD_ID
    FROM=$(realpath "$SYMBOLS_DIR")/callsites-apart
    unshare -m true 2>/dev/null || skip "no mount namespaces here"
    BUILD_ID=$(readelf -n "$FROM" | awk '/Build ID/ { print $3 }')
    cat >"$SCRATCH/enter" <<'SCRIPT'
#!/bin/sh
dir=/usr/lib/debug/.build-id/$(echo "$BUILD_ID" | cut -c1-2)
mkdir -p /usr/lib/debug && mount -t tmpfs none /usr/lib/debug && mkdir -p "$dir" &&
    cp "$FROM.debug" "$dir/$(echo "$BUILD_ID" | cut -c3-).debug" && exec "$FROM" "$@"
SCRIPT
    chmod +x "$SCRATCH/enter"
    EXCHANGE=$SCRATCH/enter start_exchange unshare -m -- -n 6
    [ ! -e "/usr/lib/debug/.build-id/${BUILD_ID:0:2}/${BUILD_ID:2}.debug" ] || fail "the debug file is to be seen from here"
    start_trace -p "$CLIENT"
    open_gate
    open_gate
    end_exchange
    end_trace
    expect_lines
}

runs_node() { [ "$(cat "/proc/$(pgrep -P "$1")/comm" 2>/dev/null)" = node ]; }

# Black boxes: a stripped Go program, and Node with its map of generated code, in one profile.
case_symbols_go_and_node() {
    local pids=() names=() name outer
    if command -v go >/dev/null; then
        cat >"$SCRATCH/pauses.go" <<'GO'
package main

import "syscall"

//go:noinline
func pauseHere() {
	pause := syscall.Timespec{Nsec: 20000000}
	syscall.Nanosleep(&pause, nil)
}

func main() {
	for {
		pauseHere()
	}
}
GO
        GOCACHE=$SCRATCH/cache GOFLAGS=-mod=mod GOPROXY=off go build -ldflags='-s -w' -o "$SCRATCH/pauses" "$SCRATCH/pauses.go" >"$SCRATCH/build" 2>&1 ||
            fail "go build: $(head -c 300 "$SCRATCH/build")"
        "$SCRATCH/pauses" &
        pids+=($!) names+=('main.main;main.pauseHere;syscall.Nanosleep;')
    fi
    if command -v node >/dev/null && unshare -mpf true 2>/dev/null; then
        # As in a container: its map is in a /tmp of its own, by a number of its own. Atomics.wait() blocks the thread itself,
        # in a function of the script's.
        local -x SCRIPT='const cell = new Int32Array(new SharedArrayBuffer(4));
            function waitInScript() { Atomics.wait(cell, 0, 0, 20); }
            function again() { waitInScript(); setImmediate(again); }
            again();'
        # shellcheck disable=SC2016
        (unshare -mpf --kill-child --mount-proc sh -c \
            'mount -t tmpfs none /tmp && exec node --no-logfile-per-isolate --logfile=/tmp/v8.log --perf-basic-prof --interpreted-frames-native-stack -e "$SCRIPT"' &
            echo $! >"$SCRATCH/outer")
        outer=$(cat "$SCRATCH/outer")
        CLEANUP+=("kill -KILL $outer") # it does not heed what ends the other jobs
        wait_for 20 runs_node "$outer" || fail "node did not start"
        pids+=("$(pgrep -P "$outer")") names+=('JS:[~^*]*again [^;]*;JS:[~^*]*waitInScript ')
    fi
    [ ${#pids[@]} -gt 0 ] || skip "neither go nor node is here"
    pause 1 # node writes its map as it warms up
    timeout 60 "$NETSTALL" offwake -p "$(IFS=, && echo "${pids[*]}")" -f 2 >"$SCRATCH/folded" 2>"$SCRATCH/folded.err" ||
        fail "offwake: $(head -c 300 "$SCRATCH/folded.err")"
    for name in "${names[@]}"; do
        grep -q "$name" "$SCRATCH/folded" || fail "no $name in: $(head -n 3 "$SCRATCH/folded" | cut -c1-300)"
    done
}
