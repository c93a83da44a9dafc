#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Every tests/golden/NAME.trace through every renderer, against NAME.expected; and every
# tests/golden/check/NAME.check through every report of a check, against check/NAME.expected.
#
#   run.sh [--update] [PROGRAM]
#
# PROGRAM is the built tests/golden/render_trace.c (or $RENDER_TRACE, or where make puts it); that
# of the checks stands beside it. --update writes the expected files anew: read the diff.
set -u

here=$(cd "$(dirname "$0")" && pwd)
update=false
if [ "${1:-}" = --update ]; then
	update=true
	shift
fi
program=${1:-${RENDER_TRACE:-$here/../../build/tests/golden/render_trace}}
if [ ! -x "$program" ]; then
	echo "run.sh: $program is not there: build it first (make golden), or name it" >&2
	exit 2
fi

out=$(mktemp -d) || exit 2
trap 'rm -rf "$out"' EXIT
failed=0
count=0

# compare PROGRAM FILE SUFFIX
compare() {
	name=${2#"$here"/}
	name=${name%"$3"}
	expected=$here/$name.expected
	actual=$out/actual
	count=$((count + 1))

	# The version of netstall is the one thing that may differ.
	(cd "$here" && "$1" "${2#"$here"/}") >"$out/raw" 2>"$out/errors"
	status=$?
	sed 's/"version": "[^"]*"/"version": "0"/' "$out/raw" >"$actual"
	if [ "$status" -ne 0 ] || [ -s "$out/errors" ]; then
		echo "not ok golden/$name: exit status $status"
		sed 's/^/# /' "$out/errors"
		failed=1
	elif $update; then
		if cmp -s "$actual" "$expected"; then
			echo "ok golden/$name"
		else
			cp "$actual" "$expected"
			echo "ok golden/$name # updated"
		fi
	elif [ ! -e "$expected" ]; then
		echo "not ok golden/$name: $name.expected is missing, see run.sh --update"
		failed=1
	elif cmp -s "$actual" "$expected"; then
		echo "ok golden/$name"
	else
		kept=${TMPDIR:-/tmp}/golden-$(basename "$name").diff
		diff -u "$expected" "$actual" >"$kept"
		echo "not ok golden/$name: differs, see $kept"
		head -n 40 "$kept" | sed 's/^/# /'
		failed=1
	fi
}

# Both name their files from here.
program=$(cd "$(dirname "$program")" && pwd)/$(basename "$program")
for trace in "$here"/*.trace; do
	[ ! -e "$trace" ] || compare "$program" "$trace" .trace
done
# Where GitHub runs the tests, its own workspace is no part of them.
GITHUB_WORKSPACE=/workspace
export GITHUB_WORKSPACE
for check in "$here"/check/*.check; do
	[ ! -e "$check" ] || compare "${program%/*}/check/render_check" "$check" .check
done

if [ "$count" -eq 0 ]; then
	echo "not ok golden: no traces in $here"
	exit 1
fi
exit $failed
