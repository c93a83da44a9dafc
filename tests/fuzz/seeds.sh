#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#
# Makes of the tests what a fuzzer begins with.
#
#   seeds.sh NAME DIR     for fuzz_NAME; a fuzzer without a line here begins with tests/fuzz/corpus/NAME alone
set -euo pipefail
cd "$(dirname "$0")/../.."

case $1 in
text) cp tests/golden/*.trace "$2/" ;;
records) for trace in tests/golden/*.trace; do build/fuzz/tests/fuzz/records_of <"$trace" >"$2/$(basename "$trace" .trace)"; done ;;
recording)
    for trace in tests/golden/*.trace; do
        { printf '\1\0' && build/fuzz/tests/fuzz/records_of whole <"$trace"; } >"$2/$(basename "$trace" .trace)"
    done
    # Two hosts: the same trace, and with its ends turned.
    records() { printf '\0' && grep -v ' stack ' | build/fuzz/tests/fuzz/records_of whole; }
    records <tests/golden/nagle-delack.trace >"$2/first"
    sed -e 's/local=\([^ ]*\) remote=\([^ ]*\)/local=\2 remote=\1/' -e 's/ tx / TX /; s/ rx / tx /; s/ TX / rx /' tests/golden/nagle-delack.trace | records >"$2/second"
    length=$(($(stat -c %s "$2/first")))
    { printf '\2' && printf "\\x$(printf %02x $((length >> 8)))\\x$(printf %02x $((length & 255)))" && cat "$2/first" "$2/second"; } >"$2/joined"
    rm "$2/first" "$2/second"
    printf '\1%s\0' '{"netstall-recording":1,"types":[{"type":2,"name":"process","size":72,"fields":[{"name":"comm","kind":10,"offset":40,"size":8}]}]}' >"$2/version"
    ;;
maps) cat /proc/self/maps >"$2/maps" && tr '\n' '\0' </proc/self/maps | tail -c 500 | tr '\0' '\n' >"$2/some" ;;
perfmap) printf '%s\n' '100 20 LazyCompile:*first /src/a.js:1' '110 8 _ZN3net6Client4sendEi' 'fffffffffffffff0 f last' '0 0 none' '12 zz' >"$2/perfmap" ;;
names | lines | frames)
    # Programs that know their own names, with what is not needed of them left out.
    for program in names names-mini names-bare callsites_library.so; do
        objcopy -R .comment -R .debug_str -R .note.gnu.property "build/tests/workload/$program" "$2/$program" 2>/dev/null
        cp "build/tests/workload/$program" "$2/$program-whole"
    done
    # Two functions as Go tells them: a header of words, names at 72, a table of them at 96.
    printf '%b' '\xf1\xff\xff\xff\0\0\x01\x08' '\x02\0\0\0\0\0\0\0' '\0\0\0\0\0\0\0\0' '\0\x11\0\0\0\0\0\0' '\x48\0\0\0\0\0\0\0' \
        '\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0' '\x60\0\0\0\0\0\0\0' 'main.main\0main.other\0\0\0\0' \
        '\0\0\0\0\x18\0\0\0' '\x40\0\0\0\x20\0\0\0' '\x80\0\0\0\0\0\0\0' '\0\0\0\0\0\0\0\0' '\x40\0\0\0\x0a\0\0\0' >"$2/go"
    objcopy --add-section .gopclntab="$2/go" build/tests/workload/names-bare "$2/names-go" && rm "$2/go"
    build/tests/workload/bulk lines "$2/names" 1000
    build/tests/workload/bulk symbols "$2/names-bare" 100
    ;;
esac
