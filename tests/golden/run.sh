#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Every tests/golden/NAME.trace through every renderer, against NAME.expected.
#
#   run.sh [--update] [PROGRAM]
#
# PROGRAM is the built tests/golden/render_trace.c (or $RENDER_TRACE, or where
# make puts it). --update writes the expected files anew: read the diff.
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

for trace in "$here"/*.trace; do
	[ -e "$trace" ] || continue
	name=$(basename "$trace" .trace)
	expected=$here/$name.expected
	actual=$out/$name.actual
	count=$((count + 1))

	# The version of netstall is the one thing that may differ.
	"$program" "$trace" >"$out/raw" 2>"$out/errors"
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
		kept=${TMPDIR:-/tmp}/golden-$name.diff
		diff -u "$expected" "$actual" >"$kept"
		echo "not ok golden/$name: differs, see $kept"
		head -n 40 "$kept" | sed 's/^/# /'
		failed=1
	fi
done

if [ "$count" -eq 0 ]; then
	echo "not ok golden: no traces in $here"
	exit 1
fi
exit $failed
