# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# shellcheck shell=bash
#
# What began before the window, or ends behind it, is seen in parts: programs are attached, and leave, one by one, and that
# takes long where other tracers come and go.

ALONE_CASES+=" window_beside_others "

# Three others that begin and end all the time, until end_others.
start_others() {
    local i
    touch "$SCRATCH/others"
    for ((i = 0; i < 3; i++)); do
        (while [ -e "$SCRATCH/others" ]; do "$NETSTALL" trace "${ATTACH[@]}" -p "$CLIENT" -d 0.2 --json; done) >/dev/null 2>&1 &
        OTHERS_PIDS+=("$!")
    done
}
end_others() {
    rm -f "$SCRATCH/others"
    wait "${OTHERS_PIDS[@]}"
}

# Of each, what lies outside: a line for each kind.
outside_events() {
    head -n -1 "$SCRATCH/trace" | gojq -r --argjson end "$1" \
        'select(.t_ms < 0 or .t_ms > $end or (.event == "wait" and .off_ms < 0)) | .event' | sort | uniq -c | tr -s '\n ' ' '
}

case_window_beside_others() {
    local run end OTHERS_PIDS=()
    start_exchange -- --mode nodelay --gap-us 300 --seconds 60
    CLEANUP+=("kill $CLIENT $SERVER")
    open_gate
    start_others
    for run in 1 2 3 4; do
        "$NETSTALL" trace "${ATTACH[@]}" -p "$CLIENT" -d 0.2 --all --json >"$SCRATCH/trace" 2>"$SCRATCH/trace.err" ||
            fail "run $run ended with status $?: $(tail -n 1 "$SCRATCH/trace.err")"
        tail -n 1 "$SCRATCH/trace" >"$SCRATCH/report"
        end=$(report .window.duration_ms)
        expect_is "events outside of the window" "$(outside_events "$end")" ""
        expect_is "stalls outside of the window" "$(report '.window.duration_ms as $end |
            [.stalls[] | select(.start_ms < 0 or .start_ms + .duration_ms > $end + 0.000002) | .cause] | join(" ")')" ""
        expect "the most that a thread did in the window" \
            "$(report '[.threads[] | .on_cpu_ms + .blocked_ms + .runqueue_ms] | max')" '<=' "$end + 0.1"
        expect "sends in the window" "$(grep -c '"event": "send"' "$SCRATCH/trace")" '>' 0
    done
    end_others
}
