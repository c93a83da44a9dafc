# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# shellcheck shell=bash
#
# Off-CPU profiles of programs that keep no frame pointers, and profiles by cause.

WORKLOADS=${WORKLOADS:-build/tests/workload}

# start_at_gate PROGRAM ARG...: it waits at its gate. Sets GATED (its pid) and GATE.
start_at_gate() {
    rm -f "$SCRATCH/gate" && mkfifo "$SCRATCH/gate"
    "$@" <"$SCRATCH/gate" >"$SCRATCH/gated" 2>"$SCRATCH/gated.err" &
    GATED=$!
    exec {GATE}>"$SCRATCH/gate"
    wait_for "$WAIT_LIMIT" has_line '^ready' "$SCRATCH/gated" || fail "$1 did not start: $(head -c 300 "$SCRATCH/gated.err")"
}

# start_offwake OPTIONS...: attached when this returns. Sets OFFWAKE_PID; folded stacks go to $SCRATCH/folded.
start_offwake() {
    "$NETSTALL" offwake "$@" >"$SCRATCH/folded" 2>"$SCRATCH/offwake.err" &
    OFFWAKE_PID=$!
    wait_for "$WAIT_LIMIT" offwake_stands || fail "offwake did not attach: $(head -c 400 "$SCRATCH/offwake.err")"
    has_line 'netstall: ' "$SCRATCH/offwake.err" || fail "offwake: $(head -c 400 "$SCRATCH/offwake.err")"
}
offwake_stands() { has_line 'netstall: .*Ctrl-C' "$SCRATCH/offwake.err" || gone "$OFFWAKE_PID"; }

end_offwake() {
    kill -INT "$OFFWAKE_PID" 2>/dev/null
    wait_for "$WAIT_LIMIT" gone "$OFFWAKE_PID" || fail "offwake did not end at Ctrl-C"
    wait "$OFFWAKE_PID" || fail "offwake ended with status $?: $(tail -n 1 "$SCRATCH/offwake.err")"
}

# profile_of OPTIONS... -- PROGRAM ARG...: the folded stacks of the program from its gate to its end.
profile_of() {
    local options=()
    while [ "$1" != -- ]; do
        options+=("$1")
        shift
    done
    shift
    start_at_gate "$@"
    start_offwake -p "$GATED" "${options[@]}"
    open_gate
    wait_for 60 gone "$GATED" || fail "$1 did not end"
    end_offwake
}

# us_of REGEX: microseconds of the folded lines that match.
us_of() { awk -v pattern="$1" '$0 ~ pattern { us += $NF } END { print us + 0 }' "$SCRATCH/folded"; }
