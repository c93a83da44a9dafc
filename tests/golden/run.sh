#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Every tests/golden/NAME.trace through every renderer, against NAME.expected; and every
# tests/golden/check/NAME.check through every report of a check, against check/NAME.expected.
#
#   run.sh [--update] [PROGRAM]
#   run.sh --only NAME [PROGRAM]      one of them, as nagle-delack or check/over
#   run.sh --rendered DIR [PROGRAM]   only writes all that they render: DIR/golden/NAME.rendered, DIR/check/NAME.rendered
#
# What a person reads is compared as it is. Of the JSON a line in the trace says what is: `# json: whole`, or words of
# fields.jq. Of a check's JSON every field is compared, in lines; of its reports for machines the skeleton, but for those
# that a line `# whole: REPORT...` names.
#
# PROGRAM is the built tests/golden/render_trace.c (or $RENDER_TRACE, or where make puts it); that
# of the checks stands beside it. --update writes the expected files anew: read the diff.
set -u

here=$(cd "$(dirname "$0")" && pwd)
update=false
rendered=
only=
case ${1:-} in
--update) update=true && shift ;;
--only) only=$2 && shift 2 ;;
--rendered) mkdir -p "$2/golden" "$2/check" && rendered=$(cd "$2" && pwd) && shift 2 ;;
esac
program=${1:-${RENDER_TRACE:-$here/../../build/tests/golden/render_trace}}
if [ ! -x "$program" ]; then
	echo "run.sh: $program is not there: build it first (make golden), or name it" >&2
	exit 2
fi

out=$(mktemp -d) || exit 2
trap 'rm -rf "$out"' EXIT
failed=0
count=0
# The version of netstall is the one thing that may differ.
version='s/"version": "[^"]*"/"version": "0"/'

# fields WORDS FILE: what these words of fields.jq say of a JSON document.
fields() {
	gojq -r --slurpfile trace "$out/report" "$(cat "$here/fields.jq") $1" "$2"
}

# chosen SECTION WORDS WHOLE: of this section in $out what is compared.
chosen() {
	case " $3 $1:$2 " in
	*" $1 "* | *" json:whole "*) cat "$out/$1" ;;
	*" json:check "*) fields check "$out/json" ;;
	*" json: "*) echo "(no line \`# json:\` in its trace)" ;;
	*" json:"*) fields "brief, $2" "$out/json" ;;
	*" junit:"*) grep -E '^ *<(testsuite|testcase|failure|skipped|error|property) ' "$out/junit" ;;
	*" tap:"*) grep '^[^ ]' "$out/tap" ;;
	*" summary:check "*) sed '/^```text$/,/^```$/d' "$out/summary" ;;
	*) cat "$out/$1" ;;
	esac
}

# digest SOURCE WORDS: the sections of $out/raw, each as far as it is compared.
digest() {
	whole=$(sed -n 's/^# whole: //p' "$1")
	rm -f "$out/json"
	awk -v out="$out" '/^== / { file = out "/" $2; printf "" > file; next } { print > file }' "$out/raw"
	echo null >"$out/report"
	trace=$(sed -n 's/^trace //p' "$1")
	[ -z "$trace" ] || (cd "$here/check" && "$program" "$trace") | sed "1,/^== json\$/d; $version" >"$out/report"
	between=
	sed -n 's/^== //p' "$out/raw" | while read -r section; do
		echo "$between== $section"
		chosen "$section" "$2" "$whole" | sed '${/^$/d;}'
		between='
'
	done
}

# compare PROGRAM FILE SUFFIX
compare() {
	name=${2#"$here"/}
	name=${name%"$3"}
	[ -z "$only" ] || [ "$only" = "$name" ] || return 0
	expected=$here/$name.expected
	actual=$out/actual
	count=$((count + 1))

	(cd "$here" && "$1" "${2#"$here"/}") >"$out/rendered" 2>"$out/errors"
	status=$?
	sed "$version" "$out/rendered" >"$out/raw"
	[ "$3" = .check ] || sed '1,/^== json$/d' "$out/raw" >>"$out/all-json"
	if [ -n "$rendered" ]; then
		case $name in
		check/*) cp "$out/raw" "$rendered/$name.rendered" ;;
		*) cp "$out/raw" "$rendered/golden/$name.rendered" ;;
		esac
		return
	fi
	case $3 in
	.trace) words=$(sed -n 's/^# json: //p' "$2") ;;
	.check) words=check ;;
	esac
	digest "$2" "$words" >"$actual" 2>>"$out/errors"
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

# Every field that a report can have is compared in one of the traces.
every_field() {
	gojq -r '.. | objects | keys[]' "$out/all-json" | sort -u >"$out/fields"
	grep -oh '"[^"]*":' "$here"/*.expected | tr -d '":' | sort -u >"$out/compared"
	missed=$(comm -23 "$out/fields" "$out/compared" | tr '\n' ' ')
	if [ -z "$missed" ]; then
		echo "ok golden/every field"
	else
		echo "not ok golden/every field: in no .expected: $missed"
		failed=1
	fi
}
[ -n "$rendered$only" ] || every_field

if [ "$count" -eq 0 ]; then
	echo "not ok golden: no traces in $here"
	exit 1
fi
exit $failed
