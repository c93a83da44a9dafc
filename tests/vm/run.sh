#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#
# Runs the parts of the table `parts` in VMs of each kernel named, or of each that netstall is tested on.
#
#   run.sh [KERNEL...]                       all of it
#   run.sh KERNEL/PART-WAY/CASE...           these cases, each alone
#
# NETSTALL_VM_BUDGET: seconds for all of it (2000). NETSTALL_VM_OUT: folder for what failed cases leave, as
# vm-KERNEL/PART-WAY/CASE (build/vm-out).
# NETSTALL_VM_PARTS: only those that match, as 'score:*' (all). NETSTALL_DAY: of those that run on a day of their own these (0 to 3, or
# all). NETSTALL_NIGHT: also those of that night, likewise.
# Two kernels run at a time; so does the pair of VMs that some parts need, of which one waits most of the time.
#
# One line a case, as they come, `ok NAME`, `not ok NAME: why` or `skip NAME: why`; NAME is vm-KERNEL/PART-WAY/CASE. Other
# output of the tests stands behind a #. The last line counts them. Exit status 1 if any case failed or a VM did not run.
# A guest that panics or freezes is started once more for the parts that it has not finished; each such start is said, and
# counted at the end. A kernel that cannot be fetched is skipped, but fails where CI=true: there nobody would notice.
set -euo pipefail
cd "$(dirname "$0")/../.."

# ---- counting ------------------------------------------------------------------------------------------------------

passed=0 failed=0 skipped=0 restarts=0
ok() { passed=$((passed + 1)) && echo "ok $1"; }
not_ok() { failed=$((failed + 1)) && echo "not ok $1"; }
skip() { skipped=$((skipped + 1)) && echo "skip $1"; }

# ---- one kernel's VM -----------------------------------------------------------------------------------------------

declare -A reported # cases: those of a part that is run once more come twice
unfinished=()       # parts
part_cases=0        # cases of the part that runs
ended=''            # the last part whose script came to its end
took=''             # how long each part was

# Counts and passes on one line that kernel $1's tests printed.
report() {
    local kernel=$1 word=${2%% *} name=${2#* } rest
    case $2 in "ok "* | "not ok "* | "skip "*) part_cases=$((part_cases + 1)) ;; esac
    # Without a case's name it is the whole way that is skipped, and the table says that the kernel has it.
    if [[ $2 == "skip "* && ${name%%:*} != */* ]]; then
        not_ok "vm-$kernel/$name"
        return
    fi
    case $2 in
    "not ok "*) not_ok "vm-$kernel/${2#not ok }" ;;
    "ok "* | "skip "*)
        if [ -n "${reported[${name%%:*}]:-}" ]; then
            echo "# vm-$kernel: again: $2"
        elif [ "$word" = ok ]; then
            ok "vm-$kernel/$name"
        else
            skip "vm-$kernel/$name"
        fi
        reported[${name%%:*}]=1
        ;;
    "end "*) ended=$name ;;
    "part-end "*)
        read -r word name rest <<<"$2"
        took+=" $name $rest s,"
        rest=${name%%/*}
        [ "$part_cases" -gt 0 ] || not_ok "vm-$kernel/${rest/:/-}: no case ran"
        for word in "${!unfinished[@]}"; do
            [ "${unfinished[word]}" != "$name" ] || [ "$ended" != "${rest/:/-}" ] || unset "unfinished[$word]"
        done
        part_cases=0 ended=''
        ;;
    *) echo "# vm-$kernel: $2" ;;
    esac
}

seconds_left() { echo $((NETSTALL_VM_DEADLINE - $(date +%s))); }

# Runs what is unfinished of kernel $1 in one VM, or where $2 is `pair` in the first of two; where it is `counted`, the VM's clock counts
# its instructions: the score compares times with what they were to be. Sets vm_status, as vm-run.sh's.
run_vm() {
    local kernel=$1 line lines command=(scripts/vm-run.sh) peer=() left
    left=$(seconds_left)
    vm_status=124
    [ "$left" -gt 30 ] || return 0
    [ "$2" != counted ] || command+=(-i)
    [ "$2" != pair ] || command=(scripts/vm-pair.sh) peer=(-- tests/vm/peer.sh)
    command+=(-o "${NETSTALL_VM_OUT:-build/vm-out}/vm-$kernel" -t "$left" "$kernel" -- tests/vm/guest.sh "${unfinished[@]}" "${peer[@]}")
    exec {lines}< <(exec "${command[@]}")
    vm_pid=$!
    while IFS= read -r line; do
        report "$kernel" "$line"
    done <&"$lines"
    exec {lines}<&-
    vm_status=0
    wait "$vm_pid" || vm_status=$?
    vm_pid=
}

# Says what the lines of kernel $1 do not; $2: how many cases there were, $3: how many failed.
report_end() {
    case $vm_status in
    0) [ "$2" != 0 ] || not_ok "vm-$1: the tests ran no case" ;;
    1) [ "$3" -gt 0 ] || not_ok "vm-$1: the tests ended with status 1" ;;
    123) not_ok "vm-$1: the guest panicked or froze twice; unfinished: ${unfinished[*]}" ;;
    124) not_ok "vm-$1: no time left of the ${NETSTALL_VM_BUDGET} s for all; unfinished: ${unfinished[*]}" ;;
    125) not_ok "vm-$1: the VM did not run the tests" ;;
    *) not_ok "vm-$1: the tests ended with status $vm_status" ;;
    esac
    [ "$vm_status" -gt 1 ] || [ ${#unfinished[@]} = 0 ] || not_ok "vm-$1: these broke off: ${unfinished[*]}"
}

# Which VM a kernel's part needs.
kind_of() { # KERNEL PART
    case $1/$2 in */pair | */remote) echo pair ;; 7.2/score) echo counted ;; *) echo single ;; esac
}

# parts_of KERNEL KIND: those of the table that need such a VM, or the cases that are asked for.
parts_of() {
    local case part
    for case in ${NETSTALL_VM_CASES:-}; do
        part=${case#*/}
        [[ $case == "$1"/* && $(kind_of "$1" "${part%%-*}") == "$2" ]] && echo "${part/-/:}"
    done
    [ -n "${NETSTALL_VM_CASES:-}" ] || awk -v kernel="$1" -v day="${NETSTALL_DAY:-all}" -v night="${NETSTALL_NIGHT:-none}" '
        function of(time, wanted) { return $4 == time wanted || wanted == "all" && $4 ~ "^" time "[0-9]$" }
        !/^#/ && (NF == 3 || of("day", day) || of("night", night)) &&
            (($3 == "all" && kernel !~ /-/) || index("," $3 ",", "," kernel ",")) { print $1 ":" $2 }' tests/vm/parts |
        while read -r part; do [ "$(kind_of "$1" "${part%%:*}")" != "$2" ] || echo "$part"; done
}

# weigh KERNEL KIND: about how long its parts take, in ten seconds.
weigh() {
    parts_of "$1" "$2" | awk -F: '{ sum += $1 ~ /^(way|loads)$/ ? 3 : $1 == "score" ? 20 : $1 ~ /^(core|uring|live|pair|remote)$/ ? 10 : 4 } END { print sum + 0 }'
}

# run_kernel KERNEL KIND
run_kernel() {
    local kernel=$1 before failed_before=$failed why begin=$SECONDS i
    before=$((passed + failed + skipped))
    mapfile -t unfinished < <(parts_of "$1" "$2")
    for i in "${!unfinished[@]}"; do
        # shellcheck disable=SC2053
        [[ ${unfinished[i]} == ${NETSTALL_VM_PARTS:-*} ]] || unset "unfinished[$i]"
    done
    [ ${#unfinished[@]} -gt 0 ] || return 0
    if ! why=$(scripts/vm-kernels.sh "$kernel" 2>&1); then
        why="vm-$kernel: ${why//$'\n'/; }"
        if [ "${CI:-}" = true ]; then not_ok "$why"; else skip "$why"; fi
        return
    fi
    [ -z "$why" ] || echo "# $why"
    run_vm "$kernel" "$2"
    if [ "$vm_status" = 123 ]; then
        echo "# vm-$kernel: STARTED AGAIN: the guest panicked or froze, unfinished: ${unfinished[*]}"
        run_vm "$kernel" "$2"
    fi
    report_end "$kernel" $((passed + failed + skipped - before)) $((failed - failed_before))
    echo "# vm-$kernel: $((SECONDS - begin)) s with the boot:${took%,}"
}

vm_pid=''
trap '[ -z "$vm_pid" ] || kill "$vm_pid"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

# ---- several -------------------------------------------------------------------------------------------------------

# run_kernels AT_ONCE KERNEL KIND...: a run of this script for each. Each has to come to its end, which its closing line says.
run_kernels() {
    local line at_once=$1 closed=0
    shift
    while IFS= read -r line; do
        case $line in
        "ok "*) ok "${line#ok }" ;;
        "not ok "*) not_ok "${line#not ok }" ;;
        "skip "*) skip "${line#skip }" ;;
        [0-9]*" passed, "*) closed=$((closed + 1)) ;;
        *)
            [[ $line != *": STARTED AGAIN: "* ]] || restarts=$((restarts + 1))
            echo "$line"
            ;;
        esac
    done < <(printf '%s\n' "$@" | xargs -P "$at_once" -n 2 tests/vm/run.sh --one)
    [ "$closed" = $(($# / 2)) ] || not_ok "vm: $(($# / 2 - closed)) of the $(($# / 2)) runs for one kernel broke off"
}

export NETSTALL_VM_BUDGET=${NETSTALL_VM_BUDGET:-2000}
export NETSTALL_VM_DEADLINE=${NETSTALL_VM_DEADLINE:-$(($(date +%s) + NETSTALL_VM_BUDGET))}
if [ "${1:-}" = --one ]; then # KERNEL KIND: how this script calls itself
    run_kernel "$2" "$3"
else
    at_once=2
    if [[ ${1:-} == */* ]]; then
        export NETSTALL_VM_CASES="$*"
        at_once=1
        # shellcheck disable=SC2046
        set -- $(printf '%s\n' "${@%%/*}" | sort -u)
    fi
    [ $# -gt 0 ] || set -- 7.2 6.1 5.10 6.12 arm64-6.12 arm64-6.1
    runs=()
    # Here, as two at a time are not to compile the same.
    for kernel; do
        [[ $kernel == arm64-* && -n "$(parts_of "$kernel" single)" ]] || continue
        if ! said=$(make -s -j2 ARCH=arm64 live-programs 2>&1 >/dev/null) || [ -n "$said" ]; then
            not_ok "vm-$kernel: it is not compiled: ${said%%$'\n'*}"
        fi
        break
    done
    # What takes longest begins first.
    while read -r _ kernel kind; do
        runs+=("$kernel" "$kind")
    done < <(for kernel; do for kind in counted pair single; do echo "$(weigh "$kernel" $kind) $kernel $kind"; done; done | grep -v '^0 ' | sort -rn -s -k 1,1)
    [ ${#runs[@]} = 0 ] || run_kernels $at_once "${runs[@]}"
    echo "# VMs: $SECONDS s of ${NETSTALL_VM_BUDGET} s; guests started again: $restarts"
fi
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" = 0 ]
