# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# shellcheck shell=bash
# For parts that are one script: sourced, with LABEL set. `failed` is their exit status.
failed=0

# judge NAME WHY COMMAND...: one case, and why it failed if the command did
judge() {
    local name=$1 why=$2
    shift 2
    # shellcheck disable=SC2034 # whoever sources it has it
    if "$@"; then echo "ok $LABEL/$name"; else echo "not ok $LABEL/$name: $why" && failed=1; fi
}
