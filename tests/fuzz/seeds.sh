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
esac
