#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#
# Runs inside a test VM, in the work tree: the parts named, PART:WAY as in the table `parts`. What a part leaves in $OUT is
# copied to the host. After each part comes a line `part-end PART:WAY SECONDS`.
set -uo pipefail
cd "$(dirname "$0")/../.." || exit

# By one way to attach.
run_part() {
    case $1 in
    score) tests/scenarios/score.sh --attach "$2" --label "score-$2" --quick | tee "$OUT/score-$2" ;;
    core) tests/live/run.sh --attach "$2" --label "$2" --quick --only '@(medley|netns|all_counts_every_write|many_writers)' ;;
    unit) tests/vm/systemd.sh --label "$1" ;;
    live) tests/live/run.sh --attach "$2" --label "$2" --quick --only '!(check*|uring_all_kinds|offwake_uring)' ;;
    uring) tests/live/run.sh --attach "$2" --label "uring-$2" --quick --only '@(uring_all_kinds|offwake_uring)' ;;
    check) tests/live/run.sh --attach "$2" --label "$2" --quick --only 'check*' ;;
    pair) tests/live/run.sh --attach "$2" --label "pair-$2" --quick --cases tests/vm/remote.sh ;;
    *) echo "not ok $1-$2: there is no part $1" && return 1 ;;
    esac
}

# Some cases carry packets through a TUN device.
modprobe -q tun 2>/dev/null

status=0
for part; do
    begin=$SECONDS
    run_part "${part%%:*}" "${part##*:}" || status=1
    echo "part-end $part $((SECONDS - begin))"
done
# The other host of a pair waits for commands.
[ ! -e /run/vm/port.peer ] || echo "0 exit" >/run/vm/port.peer
exit "$status"
