#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#
# Runs inside a test VM, in the work tree: the parts named, PART:WAY as in the table `parts`, or one case, PART:WAY/CASE. The names
# of their cases begin with PART-WAY. What failed cases leave in $OUT is copied to the host. After each part comes a line
# `part-end PART:WAY SECONDS`.
set -uo pipefail
cd "$(dirname "$0")/../.." || exit

series() { uname -r | sed 's/^\([0-9]*\.[0-9]*\).*/\1/'; }

if [ "$(uname -m)" = aarch64 ]; then
    export NETSTALL=build/arm64/netstall WORKLOADS=build/arm64/tests/workload
fi

# run_part PART WAY [CASE]
run_part() {
    local label=$1-$2 live only
    live=(tests/live/run.sh --attach "$2" --label "$label" --quick)
    case $1 in
    core)
        only='medley|netns|all_counts_every_write|many_writers|prove_is_set_back'
        # What bpftrace does by kprobes, once.
        [ "$(series)" != 6.1 ] || only+='|bt_nagle_delack|bt_summary'
        only="@($only)"
        ;;
    live) only='!(check*|way_*|uring_all_kinds|uring_lasting|uring_idle|offwake_uring)' ;;
    way) only='way_@(records|refused)' ;;
    loads) only=way_loads ;;
    rings) only=uring_all_kinds ;;
    uring) only='@(uring_all_kinds|uring_lasting|uring_idle|offwake_uring)' ;;
    check) only='check*' ;;
    arm64) only='@(medley|split|nodelay|netns|sites|holds_cork_then_nagle|wait_*|requests_late_server|uring_split|uring_idle|uring_lasting|offwake_handover|offwake_stall|offwake_uring)' ;;
    machine) only='*' live+=(--cases tests/vm/machine.sh) ;;
    pair) only='@(remote_split|remote_split_seen_by_server|remote_slow_path|remote_joined)' live+=(--cases tests/vm/remote.sh) ;;
    remote) only='*' live+=(--cases tests/vm/remote.sh) ;;
    score) live=(tests/scenarios/score.sh --attach "$2" --label "$label" --quick --keep "$OUT/$label" ${3:+--again "build/failed/vm-$(series)/$label"}) only=matrix ;;
    unit) tests/vm/systemd.sh --label "$label"; return ;;
    *) echo "not ok $label: there is no part $1" && return 1 ;;
    esac
    KEEP=$OUT "${live[@]}" --only "${3:-$only}"
}

# By the table the kernel has the way: where it refuses it, that is a fault of each case, and nobody need ask before.
export WAY_IS_SURE=1
# Some cases carry packets through a TUN device.
modprobe -q tun 2>/dev/null

status=0
for part; do
    begin=$SECONDS
    IFS=:/ read -r name way one <<<"$part"
    run_part "$name" "$way" "$one" || status=1
    echo "part-end $part $((SECONDS - begin))"
done
# The other host of a pair waits for commands.
[ ! -e /run/vm/port.peer ] || echo "0 exit" >/run/vm/port.peer
exit "$status"
