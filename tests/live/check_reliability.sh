# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# shellcheck shell=bash
#
# `netstall check` is right many times in a row on a busy machine: few times here, `make reliability` for more.

ALONE_CASES+=" check_reliability "

case_check_reliability() {
    local count=3 runs way=()
    [ -z "${NIGHTLY:-}" ] || count=5
    runs=(--runs $count --loads busy nodelay http split)
    # Emulated, each takes many seconds.
    [ -z "$QUICK" ] || runs=(--runs 1 --loads idle nodelay split)
    [ ${#ATTACH[@]} = 0 ] || way=(--attach "${ATTACH[1]#attach=}")
    tests/check/reliability.sh "${way[@]}" "${runs[@]}" >"$SCRATCH/table" 2>&1 ||
        fail "$(grep '^#' "$SCRATCH/table" | tail -n +2 | head -n 8)"
    sed "s/^/# $LABEL: /" "$SCRATCH/table"
}
