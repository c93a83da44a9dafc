#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#
# Host b of a pair of VMs: does what the cases of remote.sh on host a say over the line between the two. A command is a line
# `ID COMMAND`, run by this shell; the answer is a line `ID STATUS LENGTH` and LENGTH bytes of output.
set -uo pipefail
cd "$(dirname "$0")/../.." || exit

QUICK=1 LABEL=peer SCRATCH=$(mktemp -d) ATTACH=()
. tests/live/lib.sh
# A command that fails is answered, and the next is read.
fail() { echo "$*" && return 1; }

# serve OPTIONS...: the workload's server, which listens when this returns. Sets SERVER, the pid of the process that serves.
serve() {
    "$EXCHANGE" --server-only --host 192.0.2.2 --port 7707 --gate none "$@" >"$SCRATCH/server" 2>&1 &
    wait_for "$WAIT_LIMIT" has_line '^ready' "$SCRATCH/server" || fail "no server on the other host: $(cat "$SCRATCH/server")" || return
    SERVER=$(field server_pid "$(grep ^ready "$SCRATCH/server")")
}

# hand_over_report: ends the trace, prints its report.
hand_over_report() {
    kill -INT "$TRACE_PID"
    wait_for "$WAIT_LIMIT" gone "$TRACE_PID" || fail "netstall did not end on the other host" || return
    tail -n 1 "$SCRATCH/trace"
}

# As it was before the last case.
tidy() {
    # shellcheck disable=SC2046
    kill $(jobs -p) 2>/dev/null
    wait
    tc qdisc del dev eth0 root 2>/dev/null
    tc qdisc del dev eth0 clsact 2>/dev/null
    rm -rf "${SCRATCH:?}"/*
}

exec {LINE}<>/run/vm/port.peer
while :; do
    # Without anybody at the other end the line says end-of-file.
    IFS=' ' read -r id command <&"$LINE" || { pause 0.2 && continue; }
    [ "$command" != exit ] || exit 0
    eval "$command" </dev/null >"$SCRATCH.out" 2>&1
    printf '%s %d %d\n' "$id" $? "$(stat -c %s "$SCRATCH.out")" >&"$LINE"
    cat "$SCRATCH.out" >&"$LINE"
done
