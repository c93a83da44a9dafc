# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# shellcheck shell=bash
#
# What happens to a machine under a program that is traced, and what no test may do to the machine at hand: its CPUs go and come,
# somebody sets its clock, it is put to sleep.

QUICK_CASES+=" cpu_goes_and_comes cpu_comes_later clock_is_set put_to_sleep "

CPU1=/sys/devices/system/cpu/cpu1/online
# shellcheck disable=SC2317 # the clean-up's
bring_back() { echo 1 >"$CPU1"; }
# shellcheck disable=SC2317
wake_up() { echo none >/sys/power/pm_test; }

# trace_through COMMAND: of a client that stalls in each of its exchanges, while it runs again and again.
trace_through() {
    start_exchange -- --mode split -n "$MANY"
    start_trace -p "$CLIENT"
    open_gate
    until gone "$EXCHANGE_PID"; do "$1"; done
    end_exchange
    end_trace
}

# All of it was seen, and none of it lasted longer than it did.
expect_unharmed() {
    expect "the number of nagle-delack stalls" "$(count_of nagle-delack)" '>=' "$MOST * $TRUTH_STALLS"
    expect_is "exchanges" "$(report '[.connections[] | select(.role == "target") | .exchanges] | add')" "$TRUTH_EXCHANGES"
    expect_is "complete" "$(report .completeness.complete)" true
    expect "the longest stall, ms" "$(report '[.stalls[].duration_ms] | max')" '<' 60000
    expect "the window, ms" "$(report .window.duration_ms)" '<' 600000
    expect "what the requests took, ms" "$(report '.requests[0].p99.total_ms')" '<' 60000
}

hotplug() {
    echo 0 >"$CPU1" && pause 0.3
    echo 1 >"$CPU1" && pause 0.3
}
case_cpu_goes_and_comes() {
    CLEANUP+=(bring_back)
    hotplug 2>/dev/null || skip "no CPU here can be taken out"
    trace_through hotplug
    expect_unharmed
}

# It was not there when the tables were made.
case_cpu_comes_later() {
    [ -w "$CPU1" ] && echo 0 >"$CPU1" || skip "no CPU here can be taken out"
    CLEANUP+=(bring_back)
    start_exchange -- --mode split -n "$MANY"
    start_trace -p "$CLIENT"
    echo 1 >"$CPU1"
    taskset -a -p -c 1 "$CLIENT" >"$SCRATCH/taskset" || fail "$(cat "$SCRATCH/taskset")"
    open_gate
    end_exchange
    end_trace
    expect_unharmed
}

# An hour on, and back, and back further; by each it is set right at last.
set_clock() {
    local step
    for step in 3600 -3600 -3600 3600; do
        date -s "@$(($(date +%s) + step))" >/dev/null && pause 0.2
    done
}
case_clock_is_set() {
    trace_through set_clock
    expect_unharmed
}

# Until all programs are stopped for it; then they go on.
put_to_sleep() {
    echo freeze >/sys/power/state
    pause 0.3
}
case_put_to_sleep() {
    echo freezer 2>/dev/null >/sys/power/pm_test || skip "this kernel cannot only try to sleep"
    CLEANUP+=(wake_up)
    put_to_sleep || skip "it does not sleep"
    trace_through put_to_sleep
    expect_unharmed
}
