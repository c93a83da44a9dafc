#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#
# Runs inside a test VM, in the work tree: the live tests, once by each way to attach that netstall has.
set -euo pipefail

live=tests/live/run.sh
status=0
for way in fentry kprobe tracepoint; do
    [ -x "$live" ] || continue
    "$live" --attach "$way" --label "$way" --quick || status=1
done
exit "$status"
