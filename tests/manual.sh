#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#
# Manual pages and completions, which `netstall generate` makes of the rows of --help: a strict reader of manual pages finds nothing,
# every option is in each of them, and the shells themselves complete by them. A line for each.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 2

NETSTALL=${NETSTALL:-build/netstall}
MADE=$(mktemp -d) || exit 2
trap 'rm -rf "$MADE"' EXIT
failed=0
judge() { # judge NAME WHY: fails unless WHY is empty
    if [ -z "$2" ]; then echo "ok manual/$1"; else echo "not ok manual/$1: $2" && failed=1; fi
}
has() { # has PROGRAM NAME: else it is a skip
    command -v "$1" >/dev/null || { echo "skip manual/$2: $1 is not installed, see scripts/deps.sh" && return 1; }
}

mapfile -t commands < <("$NETSTALL" --help | sed -n 's/^  \([a-z]*\) .*/\1/p')
judge commands "$([ ${#commands[@]} -ge 7 ] || echo "--help lists ${#commands[@]}")"
judge installed "$(grep -qxF "COMMAND_NAMES := ${commands[*]}" Makefile || echo "the Makefile has pages of others than ${commands[*]}")"
for shell in bash zsh fish; do "$NETSTALL" generate $shell >"$MADE/$shell" || judge $shell "it is not made"; done
"$NETSTALL" generate man >"$MADE/netstall.1"
for command in "${commands[@]}"; do "$NETSTALL" generate man "$command" >"$MADE/netstall-$command.1"; done

if has mandoc lint; then
    for page in "$MADE"/*.1; do
        judge "lint-$(basename "$page" .1)" "$(mandoc -Tlint "$page" 2>&1 | grep -v 'referenced manual not found' | head -n 1)"
    done
fi

# A screen has 24 lines of 80.
for command in "${commands[@]}"; do
    "$NETSTALL" "$command" --help >"$MADE/help"
    ! grep -q 'Exit status' "$MADE/help" || grep -q '^.Sh EXIT STATUS' "$MADE/netstall-$command.1"
    judge "exits-$command" "$([ $? = 0 ] || echo "the page has no exit status")"
    "$NETSTALL" "$command" -h >"$MADE/short"
    judge "short-$command" "$(wc -lL <"$MADE/short" | awk '$1 > 24 || $2 > 80 { print $1 " lines, the longest of " $2 }')"
done

# What --help has of each command, every one of them has.
for command in "${commands[@]}"; do
    missing=
    sed -n "/^    $command)$/,/^      ;;/p" "$MADE/zsh" >"$MADE/zsh-$command"
    for option in $("$NETSTALL" "$command" --help | grep -oE '^ +(-[a-zA-Z], )? *--[a-z-]+' | grep -oE '[a-z][a-z-]+$'); do
        [[ $option != @(help|usage) ]] || continue
        grep -qF "Fl \\-${option//-/\\-}" "$MADE/netstall-$command.1" || missing+=" $option (man)"
        grep -qE "^complete .*from $command' .*-l $option( |$)" "$MADE/fish" || missing+=" $option (fish)"
        grep -qF -- "--$option" "$MADE/zsh-$command" || missing+=" $option (zsh)"
        grep -qE "^    $command\*\) words=.*--$option[ \"]" "$MADE/bash" || missing+=" $option (bash)"
    done
    judge "options-$command" "$missing"
done

# completes SHELL WORDS...: what a user gets behind these words, one a line
completes_bash() {
    # shellcheck disable=SC2016 # its own words
    bash --norc -c 'compopt() { :; }; . "$0"; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _netstall; printf "%s\n" "${COMPREPLY[@]}"' \
        "$MADE/bash" "$@"
}
completes_fish() {
    fish --no-config -c "source $MADE/fish; complete -C \"$*\"" | cut -f 1
}
# zsh completes where there is a terminal alone.
completes_zsh() {
    cp "$MADE/zsh" "$MADE/_netstall"
    zsh -f "$(dirname "$0")/manual.zsh" "$MADE" "$*" 2>/dev/null
}
for shell in bash fish zsh; do
    has $shell "completes-$shell" || continue
    said=$(completes_$shell netstall "tra")
    judge "completes-$shell-command" "$([[ $said == *trace* && $said != *report* ]] || echo "after 'netstall tra': $said")"
    said=$(completes_$shell netstall trace --conn)
    judge "completes-$shell-option" "$([[ $said == *--connections* && $said != *--comm* ]] || echo "after --conn: $said")"
    said=$(completes_$shell netstall report --cause nagle)
    judge "completes-$shell-cause" "$([[ $said == *nagle-delack* && $said != *cork* ]] || echo "after --cause nagle: $said")"
    said=$(completes_$shell netstall trace --pid "$$")
    judge "completes-$shell-pid" "$([[ $said == *$$* ]] || echo "after --pid $$: ${said:0:100}")"
done
exit $failed
