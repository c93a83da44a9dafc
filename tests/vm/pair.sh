#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#
# Host a of a pair of VMs: the cases of remote.sh, by the ways named; then host b may go.
set -uo pipefail
cd "$(dirname "$0")/../.."

status=0
for way; do
    tests/live/run.sh --attach "$way" --label "$way" --quick --cases tests/vm/remote.sh || status=1
done
echo "0 exit" >/run/vm/port.peer
exit "$status"
