# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# shellcheck shell=bash
#
# The one-files of scripts/bt, run by Debian's bpftrace, against what the workloads know of themselves.

QUICK_CASES+=" bt_nagle_delack bt_summary "

# Before Linux 5.11 it does not find the kernel's types by itself.
case $(uname -r) in 5.10.*) export BPFTRACE_BTF=/sys/kernel/btf/vmlinux ;; esac

BT_LIMIT=120 # seconds until it is attached: on an emulated machine its compiler takes long

need_bpftrace() { command -v bpftrace >/dev/null || skip "bpftrace is not installed, see scripts/deps.sh"; }

# bt_of_exchange NAME PID LINE: beside the workload, from gate to end; attached it says LINE. What it prints is in $SCRATCH/bt.
bt_of_exchange() {
    start_bt "$@"
    open_gate
    end_exchange
    end_bt
}

# PID '': of all.
start_bt() {
    need_bpftrace
    watch_machine
    # shellcheck disable=SC2016 # the inner shell's
    BPFTRACE_MAP_KEYS_MAX=65536 unshare --mount sh -c '
        [ -e /sys/kernel/tracing/events ] || mount -t tracefs tracefs /sys/kernel/tracing
        exec bpftrace -B line "$@"' sh "scripts/bt/$1.bt" ${2:+"$2"} >"$SCRATCH/bt" 2>"$SCRATCH/bt.said" &
    BT=$!
    WAIT_LIMIT=$BT_LIMIT await_line "$3" "$SCRATCH/bt" "$BT" || fail "$1.bt did not start: $(head -c 300 "$SCRATCH/bt.said")"
}

end_bt() {
    kill -INT "$BT"
    wait_for 60 gone "$BT" || fail "bpftrace did not end"
    judge_machine
    local said
    said=$(grep -h '^ERROR\|^WARNING' "$SCRATCH/bt" "$SCRATCH/bt.said" | grep -v RLIMIT_MEMLOCK)
    expect_is "what bpftrace complains of" "${said%%$'\n'*}" ''
}

# Where a policy forbids them nothing of it is said to be wrong.
need_kprobes() {
    need_bpftrace
    timeout "$BT_LIMIT" bpftrace -B line -e 'kprobe:tcp_sendmsg_locked { } BEGIN { exit(); }' >"$SCRATCH/bt.said" 2>&1 ||
        skip "this kernel has no kprobes for it: $(tail -n 1 "$SCRATCH/bt.said")"
}

case_bt_uring() {
    need_bpftrace
    bpftrace -l 'tracepoint:io_uring:io_uring_submit_req' 2>/dev/null | grep . >"$SCRATCH/bt.has" ||
        skip "this kernel is older than the tracepoint that it is by (6.3)"
    EXCHANGE=$URING start_exchange -- --mode split -n "$FEW"
    bt_of_exchange uring "$CLIENT" '^ *TIME '
    expect_is "WRITEs of 40 B" "$(grep -c '  WRITE  *40 ' "$SCRATCH/bt")" "$FEW"
    expect_is "WRITEs of 136 B" "$(grep -c '  WRITE  *136 ' "$SCRATCH/bt")" "$FEW"
    expect_is "RECVs of 64 B" "$(grep -c '  RECV  *64 ' "$SCRATCH/bt")" "$FEW"
    expect "RECVs that took 32 ms or more" "$(grep '  RECV  *64 ' "$SCRATCH/bt" | awk '$(NF - 1) >= 32000' | wc -l)" '>=' "$MOST * $FEW - 2"
}

case_bt_offwake() {
    start_exchange -- -n "$FEW"
    bt_of_exchange offwake "$CLIENT" '^where pid'
    # A sum each, of several lines; the one for an answer has the socket's wait in it.
    local us
    us=$(awk '/^@us\[/ { inside = 1; own = 0 } inside && /tcp_recvmsg/ { own = 1 }
        inside && /^\]: / { if (own) sum += $2; inside = 0 } END { print sum + 0 }' "$SCRATCH/bt")
    echo "# $LABEL: bt_offwake: $us us in tcp_recvmsg(), $TRUTH_STALLS stalls of $TRUTH_MEDIAN_US us"
    expect "the time asleep for answers, us" "$us" '>=' "0.9 * $TRUTH_STALLS * $TRUTH_MEDIAN_US"
}

case_bt_nagle_delack() {
    need_kprobes
    start_exchange -- --mode split -n "$FEW"
    bt_of_exchange nagle-delack '' '^writes that TCP'
    # The counts of one histogram: of this connection.
    local held
    held=$(awk -v port="$PORT]:" '/^@/ { own = $1 ~ /^@delayed_ack_ms/ && $NF == port } own && /^\[/ { sum += $3 } END { print sum + 0 }' "$SCRATCH/bt")
    expect "writes that a delayed ACK let go" "$held" '>=' "$MOST * $TRUTH_STALLS - 1"
}

case_bt_summary() {
    need_kprobes
    start_exchange -- --mode split -n "$FEW"
    bt_of_exchange summary "$CLIENT" '^the time line'
    expect_is "writes of 40 B" "$(grep -c ' write  40 B' "$SCRATCH/bt")" "$FEW"
    expect_is "writes of 136 B" "$(grep -c ' write  136 B' "$SCRATCH/bt")" "$FEW"
    expect "segments of 136 B" "$(grep -c ' sent   136 B' "$SCRATCH/bt")" '>=' "$FEW - 1"
    expect "calls of tcp_write_xmit() with a packet in flight" "$(grep -c ' xmit   nonagle 0, 1 packets' "$SCRATCH/bt")" '>=' "$MOST * $FEW - 2"
}
