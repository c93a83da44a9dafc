#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#
# Runs two VMs (vm-run.sh) that are hosts of one network: a, 192.0.2.1, and b, 192.0.2.2, each with the card eth0.
#
#   vm-pair.sh [OPTIONS OF vm-run.sh] KERNEL[,KERNEL_B] -- CMD_A [ARG...] -- CMD_B [ARG...]
#
# Besides the network they share a line, /run/vm/port.peer in each, which no network fault reaches: what one writes the
# other reads. It stores nothing while the other end is not open; reading then says end-of-file.
# CMD_A is the one that counts: its stdout, stderr and exit status are ours, and its $OUT is copied by -o. CMD_B's output
# stands behind `b: ` on stderr; when CMD_A has ended, CMD_B has a few seconds to end as well. Exit status 123 also when
# b panicked or froze, 125 when b did not run.
set -euo pipefail

self=${0##*/}
scripts=$(dirname "$0")
usage() { echo "usage: $self [OPTIONS OF vm-run.sh] KERNEL[,KERNEL_B] -- CMD_A [ARG...] -- CMD_B [ARG...]" >&2; exit 125; }

options=()
while getopts o:m:s:t:a:v option; do
    case $option in
    v) options+=(-v) ;;
    \?) usage ;;
    *) options+=("-$option" "$OPTARG") ;;
    esac
done
shift $((OPTIND - 1))
if [ $# -lt 5 ] || [ "$2" != -- ]; then usage; fi
kernel_a=${1%,*} kernel_b=${1#*,}
shift 2
command_a=()
while [ $# -gt 0 ] && [ "$1" != -- ]; do
    command_a+=("$1")
    shift
done
if [ $# -lt 2 ] || [ ${#command_a[@]} = 0 ]; then usage; fi
shift

# b's files are not wanted: they would be copied over a's.
options_b=()
for ((i = 0; i < ${#options[@]}; i++)); do
    if [ "${options[i]}" = -o ]; then
        i=$((i + 1))
    else
        options_b+=("${options[i]}")
    fi
done

a='' b=''
cables=$(mktemp -d "${TMPDIR:-/tmp}/netstall-pair.XXXXXX")
# shellcheck disable=SC2317 # called by the trap
clean_up() {
    local pid
    for pid in $a $b; do
        kill "$pid" 2>/dev/null || true
        wait "$pid" 2>/dev/null || true
    done
    rm -rf "$cables"
}
trap clean_up EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

"$scripts/vm-run.sh" "${options[@]}" -n "$cables:a" "$kernel_a" -- "${command_a[@]}" &
a=$!
"$scripts/vm-run.sh" "${options_b[@]}" -n "$cables:b" "$kernel_b" -- "$@" > >(sed -u 's/^/b: /' >&2) 2>&1 &
b=$!

# b that ends before a has let a down; a would wait for its time-out.
status=0 ended=''
wait -n -p ended "$a" "$b" || status=$?
if [ "$ended" = "$b" ]; then
    b=
    if [ "$status" = 0 ]; then
        wait "$a" || status=$?
        a=
    fi
    exit "$status"
fi
a=
for ((i = 0; i < 100; i++)); do
    kill -0 "$b" 2>/dev/null || break
    sleep 0.1
done
exit "$status"
