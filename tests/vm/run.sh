#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#
# Runs the live tests inside a VM of each kernel named, or of each that netstall is tested on.
#
#   run.sh [KERNEL...]      NETSTALL_VM_TIMEOUT: seconds for each kernel (1200)
#
# One line a case, as they come, `ok NAME`, `not ok NAME: why` or `skip NAME: why`, with vm-KERNEL/ before the name; other
# output of the tests stands behind a #. The last line counts them. Exit status 1 if any case failed or a VM did not run.
# A kernel that cannot be fetched is skipped, but fails where CI=true: there nobody would notice.
set -euo pipefail
cd "$(dirname "$0")/../.."

passed=0 failed=0 skipped=0
ok() { passed=$((passed + 1)) && echo "ok $1"; }
not_ok() { failed=$((failed + 1)) && echo "not ok $1"; }
skip() { skipped=$((skipped + 1)) && echo "skip $1"; }

# Counts and passes on one line that kernel $1's tests printed.
report() {
    case $2 in
    "ok "*) ok "vm-$1/${2#ok }" ;;
    "not ok "*) not_ok "vm-$1/${2#not ok }" ;;
    "skip "*) skip "vm-$1/${2#skip }" ;;
    *) echo "# vm-$1: $2" ;;
    esac
}

# Says what the lines of kernel $1 do not: $2 is the VM's exit status, $3 how many cases there were, $4 how many failed.
report_end() {
    case $2 in
    0)
        if [ "$3" = 0 ] && [ -x tests/live/run.sh ]; then
            not_ok "vm-$1: the tests ran no case"
        elif [ "$3" = 0 ]; then
            skip "vm-$1: the VM runs, but there are no live tests yet"
        fi
        ;;
    124) not_ok "vm-$1: timed out" ;;
    125) not_ok "vm-$1: the VM did not run the tests" ;;
    *) [ "$4" -gt 0 ] || not_ok "vm-$1: the tests ended with status $2" ;;
    esac
}

run_kernel() {
    local kernel=$1 before=$((passed + failed + skipped)) failed_before=$failed status=0 line lines why
    if ! why=$(scripts/vm-kernels.sh "$kernel" 2>&1); then
        why="vm-$kernel: ${why//$'\n'/; }"
        if [ "${CI:-}" = true ]; then not_ok "$why"; else skip "$why"; fi
        return
    fi
    [ -z "$why" ] || echo "# $why"
    exec {lines}< <(exec scripts/vm-run.sh -t "${NETSTALL_VM_TIMEOUT:-1200}" "$kernel" -- tests/vm/guest.sh)
    vm_pid=$!
    while IFS= read -r line; do
        report "$kernel" "$line"
    done <&"$lines"
    exec {lines}<&-
    wait "$vm_pid" || status=$?
    vm_pid=
    report_end "$kernel" "$status" $((passed + failed + skipped - before)) $((failed - failed_before))
}

vm_pid=
trap '[ -z "$vm_pid" ] || kill "$vm_pid"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

# Several kernels, two at a time: each by a run of this script, whose lines are counted here.
run_several() {
    local line
    while IFS= read -r line; do
        case $line in
        "ok "*) ok "${line#ok }" ;;
        "not ok "*) not_ok "${line#not ok }" ;;
        "skip "*) skip "${line#skip }" ;;
        [0-9]*" passed, "*) ;;
        *) echo "$line" ;;
        esac
    done < <(printf '%s\n' "$@" | xargs -P 2 -n 1 tests/vm/run.sh)
}

[ $# -gt 0 ] || set -- 5.10 6.1 6.12 7.2
if [ $# = 1 ]; then
    run_kernel "$1"
else
    run_several "$@"
fi
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" = 0 ]
