#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#
# Runs tests and counts them.
#
#   run.sh PART...    pure: count, unit, golden, docs, schema, profile, boundary, manual
#                     all: pure, browser, live, recipes, programs, random and score, beside them one of clang, static_build and fuzz, vm,
#                          and what is done with what these built: clang_live, static, image
#                     nightly: all with NIGHTLY=1, roots, san, soak
#                     or single parts
#
# Of live, score, programs, browser and vm a run has a fourth of each class of cases, on each day another (tests/day.awk), and what is
# built in another way is on a day of its own: NETSTALL_DAY is 0 to 3, or `all`. What is asked for by name runs in any case.
#
# NIGHTLY=1: all, and what there is no time for in each run. Fuzzers run for a minute in place of 5 s; clang's build does the unit tests and a
# live case of each command too; each live trace and score is recorded and compared with its recording, not each fifth; a hundred new
# random programs are played. `roots`: the static file and the package in roots of Debian 11 to 13; `san`: pure and live with ASan and
# UBSan; `soak`: ten minutes. In four nights (NETSTALL_NIGHT is 0 to 3, or `all`) every suite runs by every way on other kernels
# (tests/vm/parts), and every live case with the sanitizers.
#
# Each test is a line, `ok NAME`, `not ok NAME: why` or `skip NAME: why`; the last line is `N passed, N failed, N skipped`. Exit
# status 1 if any failed. Which cases get a second chance, and the line before the last: tests/count.sh.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 2

export PATH=/usr/sbin:/usr/bin:/sbin:/bin:$PATH # see tests/live/lib.sh
B=build
[ -n "${SAN:-}" ] && B=build/san
KEPT=$PWD/build/failed # what failed cases leave
[[ " $* " != *" nightly "* ]] || export NIGHTLY=1 NETSTALL_NIGHT=${NETSTALL_NIGHT:-$((EPOCHSECONDS / 86400 % 4))}
[ -z "${NIGHTLY:-}" ] || NETSTALL_DAY=all
export NETSTALL_DAY=${NETSTALL_DAY:-$((EPOCHSECONDS / 86400 % 4))}
. tests/count.sh

# What counts the cases, and compares their figures, itself.
run_count() {
    local status=0
    tests/count_test.sh || status=1
    tests/scenarios/bars_test.sh || status=1
    /usr/bin/python3 tests/programs/judge_test.py || status=1
    /usr/bin/python3 tests/random/judge_test.py || status=1
    return $status
}

# unit_program PROGRAM: each of its tests, by cmocka's TAP output.
unit_program() {
    local name=${1##*/test_} line
    CMOCKA_MESSAGE_OUTPUT=TAP "$1" 2>&1 | while IFS= read -r line; do
        case $line in
        "ok "*) echo "ok unit/$name/${line##* - }" ;;
        "not ok "*) echo "not ok unit/$name/${line##* - }: see below" ;;
        "1.."* | "") ;;
        *) echo "# $line" ;;
        esac
    done
    [ "${PIPESTATUS[0]}" = 0 ] || echo "not ok unit/$name: the program ended with a failure"
}

# Two programs at a time. What one prints stays together.
run_unit() {
    local said=$B/tests/unit.said status=0
    rm -rf "$said" && mkdir -p "$said"
    export -f unit_program
    find tests/unit -name 'test_*.c' | sort | sed "s|^|$B/|; s|\.c$||" |
        SAID=$said xargs -P 2 -I '{}' bash -c 'unit_program "$1" >"$SAID/${1//\//_}"' _ '{}' || status=$?
    cat "$said"/*
    return $status
}

run_golden() {
    tests/golden/run.sh "$B/tests/golden/render_trace"
    golden_recordings
    [ "$B" = build ] || same_as_plain
}

# Recordings of each version of the format, made on several kernels, are read for ever. After a change of what is printed:
# for f in tests/golden/recordings/*.nsr; do build/netstall report -v --connections=each $f >${f%.nsr}.expected; done
# and of one with a profile: build/netstall report --offwake --by-cause -f $f >${f%.nsr}.folded
golden_recordings() {
    local recording name
    for recording in tests/golden/recordings/*.nsr; do
        name=$(basename "$recording" .nsr)
        if "$B/netstall" report -v --connections=each "$recording" 2>&1 | cmp -s - "${recording%.nsr}.expected"; then
            echo "ok golden/recordings/$name"
            [ ! -f "${recording%.nsr}.folded" ] || same_profile "$recording" "$name"
            same_as_text "$recording" "$name"
            chooses_stalls "$recording" "$name"
            draws_a_stall "$recording" "$name"
            stays_whole "$recording" "$name"
        else
            echo "not ok golden/recordings/$name: $("$B/netstall" report -v --connections=each "$recording" 2>&1 | diff "${recording%.nsr}.expected" - | head -n 3 | tr '\n' ' ')"
        fi
    done
}

# A recording is not written over by what is made of it, by whatever name.
stays_whole() {
    local option copy=$B/tests/$2.copy
    for option in --anonymize --html --svg --pcapng --perfetto -o; do
        cp "$1" "$copy" && ln -sf "$(realpath "$copy")" "$copy.link"
        "$B/netstall" report $option "$copy.link" "$copy" >/dev/null 2>&1
        [ $? = 64 ] && cmp -s "$1" "$copy" || { echo "not ok golden/recordings/$2-stays-whole: $option" && return; }
    done
    echo "ok golden/recordings/$2-stays-whole"
}

same_profile() {
    if "$B/netstall" report --offwake --by-cause -f "$1" 2>&1 | cmp -s - "${1%.nsr}.folded"; then
        echo "ok golden/recordings/$2-offwake"
    else
        echo "not ok golden/recordings/$2-offwake: $("$B/netstall" report --offwake --by-cause -f "$1" 2>&1 | diff "${1%.nsr}.folded" - | head -n 3 | tr '\n' ' ')"
    fi
}

# Its stalls by what they are asked for.
chooses_stalls() {
    local wanted found choice
    for choice in '--cause nagle-delack|.cause == "nagle-delack"' '--cause rto|.cause == "rto"' '--stall 2|.id == 2' '--from 0.2|.start_ms + .duration_ms > 200' '--to 0.2|.start_ms < 200'; do
        wanted=$("$B/netstall" report --json "$1" | tail -n 1 | gojq "[.stalls[] | select(${choice#*|})] | length")
        # shellcheck disable=SC2086 # words
        found=$("$B/netstall" report ${choice%%|*} "$1" 2>/dev/null | grep -c '^stall ')
        [ "$wanted" = "$found" ] || { echo "not ok golden/recordings/$2-chosen: ${choice%%|*} finds $found, not $wanted" && return; }
    done
    echo "ok golden/recordings/$2-chosen"
}

# Of the stall that is asked for, a sentence when it is not there; the page's test compares what is in it.
draws_a_stall() {
    local svg=$B/tests/$2.svg cause
    cause=$("$B/netstall" report --json "$1" | tail -n 1 | gojq -r '.stalls[-1] | "\(.id) \(.cause)"')
    "$B/netstall" report --svg "$svg" --stall "${cause% *}" "$1" >/dev/null 2>&1
    grep -q ">${cause#* }, [^<]* of " "$svg" || { echo "not ok golden/recordings/$2-svg: stall $cause is not drawn" && return; }
    "$B/netstall" report --svg "$svg" --stall 4000000 "$1" >/dev/null 2>&1
    grep -q ">No stall was found" "$svg" || { echo "not ok golden/recordings/$2-svg: a stall that is not there is drawn" && return; }
    echo "ok golden/recordings/$2-svg"
}

# As a text trace a recording has the same verdict.
same_as_text() {
    "$B/netstall" report --text "$1" >"$B/tests/$2.trace"
    if [ "$("$B/tests/golden/render_trace" "$B/tests/$2.trace" | sed -n '/^== json$/,$p' | tail -n +2 | gojq -r .verdict.headline)" = \
        "$("$B/netstall" report --json "$1" | tail -n 1 | gojq -r .verdict.headline)" ]; then
        echo "ok golden/recordings/$2-as-text"
    else
        echo "not ok golden/recordings/$2-as-text: another verdict"
    fi
}

# What this build renders is what the plain build does, to the byte: the goldens compare only a part of the JSON.
same_as_plain() {
    local program=tests/golden/render_trace made=$B/tests/rendered
    rm -rf "$made" && mkdir -p "$made"
    if env -u SAN make -s -j2 build/$program build/tests/golden/check/render_check >"$made/said" 2>&1 &&
        tests/golden/run.sh --rendered "$made/this" "$B/$program" && tests/golden/run.sh --rendered "$made/plain" build/$program &&
        diff -r "$made/plain" "$made/this" >"$made/said"; then
        echo "ok golden/same as the plain build"
    else
        echo "not ok golden/same as the plain build: $(head -n 1 "$made/said")"
    fi
}

# What documents and schemas list comes from the rows of the program's own tables.
run_docs() {
    local status=0 both
    scripts/docs.py "$B" --check || status=1
    both=$(grep -rnE -m 1 '^(<<<<<<<|>>>>>>>) ' --exclude-dir=build --exclude-dir=.git .)
    if [ -z "$both" ]; then
        echo "ok docs/merged"
    else
        echo "not ok docs/merged: both sides of a merge are left: ${both%%$'\n'*}" && status=1
    fi
    return $status
}

# The pure library needs neither libbpf nor the kernel.
run_boundary() {
    local wanted
    wanted=$(nm -u $B/libnetstall.a | grep -c ' \(bpf_\|libbpf_\|ring_buffer__\|btf__\)')
    if [ "$wanted" = 0 ]; then
        echo "ok boundary/libnetstall.a links without libbpf"
    else
        echo "not ok boundary/libnetstall.a: $wanted symbols of libbpf"
    fi
}

# What protoc makes of recordings as Perfetto traces.
validate_perfetto() {
    local recording
    command -v protoc >/dev/null || { echo "skip schema/perfetto: protoc is not installed, see scripts/deps.sh" && return; }
    for recording in tests/golden/recordings/*.nsr; do
        "$B/netstall" report --perfetto "$1/$(basename "$recording" .nsr).perfetto" "$recording" >/dev/null || return
    done
    /usr/bin/python3 tests/schema/perfetto.py "$1"/*.perfetto
}

# The JSON of the golden traces, and of a report in which every field is set, by a real validator.
run_schema() {
    local made=$B/tests/schema status=0
    if ! /usr/bin/python3 -c 'import jsonschema' 2>/dev/null; then
        echo "skip schema: python3-jsonschema is not installed, see scripts/deps.sh"
        return
    fi
    rm -rf "$made" && mkdir -p "$made" && "$B/tests/unit/render/test_render_json" --dump >"$made/every-field"
    tests/golden/run.sh --rendered "$made" "$B/tests/golden/render_trace"
    /usr/bin/python3 tests/schema/validate.py docs/report-schema.json "$made/every-field" "$made"/golden/*.rendered || status=1
    find_contradictions "$made"
    compare_rows "$made" || status=1
    local name
    for name in $("$B/tests/unit/render/test_profile" --list); do
        "$B/tests/unit/render/test_profile" --dump json "$name" >"$made/profile-$name.json"
    done
    /usr/bin/python3 tests/schema/validate.py docs/profile-schema.json "$made"/profile-*.json || status=1
    /usr/bin/python3 tests/schema/validate.py docs/check-schema.json "$made"/check/*.rendered | sed 's|schema/|schema/check-|' || status=1
    validate_perfetto "$made" || status=1
    validate_junit "$made"
    validate_tap "$made"
    return $status
}

# Each contradiction that agree.py is there for, put into a golden trace's report, which has none.
find_contradictions() {
    local golden planted
    while read -r golden planted; do
        sed '1,/^== json$/d' "$1/golden/$golden.rendered" | gojq "$planted" >"$1/planted.json"
        /usr/bin/python3 tests/schema/agree.py --trace "tests/golden/$golden.trace" "$1/planted.json" >"$1/found" 2>"$1/errors"
        if [ -s "$1/found" ] && [ ! -s "$1/errors" ]; then
            echo "ok schema/agree finds $planted"
        else
            echo "not ok schema/agree: it does not find $planted $(tail -n 1 "$1/errors")"
        fi
    done <<'END'
nagle-delack .causes[0].share *= 2
nagle-delack .causes[0].count += 1
nagle-delack .causes[0].total_ms += 1
nagle-delack .causes[0].p99_ms += 1
nagle-delack .causes += [.causes[0] | .cause = "runqueue"]
nagle-delack .causes = []
uring-cause-submission .verdict |= (.saves_ms = 1 | .saves_of_ms = 1)
two-servers .causes[0].endpoints[1].count += 1
two-servers .causes[0].endpoints |= reverse
whole-machine .processes |= reverse
whole-machine .processes[0].of_cause += 9
whole-machine .processes[0].stalled_ms += 5000
whole-machine .processes[1].connection = 2
whole-machine .processes[2].median_ms += 50
whole-machine .processes[0].cause = "unknown"
two-servers .verdict.text |= sub("4 times, 60"; "5 times, 60")
nagle-delack .verdict.cause = "cork"
nagle-delack .verdict.share /= 2
nagle-delack .verdict.saves_ms += 1
sleeps-here-or-there .verdict.saves_at[1].saves_ms += 1
sleeps-here-or-there .verdict.saves_at[1].stalls += 3
nagle-delack .verdict.saves_of_ms = 1
nagle-delack .verdict.headline |= sub("3 waits"; "4 waits")
nagle-delack .verdict.headline |= sub("40[.]4 ms"; "43.4 ms")
nagle-delack .verdict.headline |= sub("60[.]6%"; "66.6%")
nagle-delack .verdict.text |= sub("3 times"; "4 times")
nagle-delack .verdict.text |= sub("121 ms"; "141 ms")
nagle-delack .verdict.advice[0] |= sub("saves 40[.]3"; "saves 43.3")
nagle-delack .verdict.advice[0] += " 101% of it"
nagle-delack .stalls[0].slices[0].ms += 0.001
nagle-delack .stalls[0].links[0] |= (.duration_ms = 1000)
nagle-delack .threads[0].blocked_ms = 1000
nagle-delack .window.duration_ms = 20
nagle-delack .waited.longest_owed_ms = 1000
served .requests[0].endpoint = .requests[1].endpoint
served .requests[1].sampled += 9
served .requests[1].sampled = 0
served .requests[1].several_at_a_time += 1
served .requests[1].connections += 9
served .requests[3].connections += 1
served .connections_not_listed += 1
served .requests[2].endpoint = .requests[1].endpoint
served .requests[3].endpoint.port += 1
served .requests |= (.[0] as $first | .[1:] + [$first])
served .requests[].role = "makes"
served .requests[0].median.slices[0].cause = "idle"
peer-computes .target.processes[1].exited = true
peer-app .stalls[0].parts[4].own_ms += 1
peer-app .stalls[0].parts[].total_ms *= 2
peer-app .stalls[0].parts[1].parent = 4
peer-app .verdict.parts[0].own_ms += 1
peer-computes .requests[].median.slices[].cause |= if . == "peer-app" then "network" else . end
peer-computes .requests[].p99.slices[].cause |= if . == "peer-app" then "network" else . end
peer-computes .requests[1].median.slices |= [.[0] | .ms = 62.16]
peer-app .verdict.parts[4] |= (.own_ms -= 40 | .total_ms -= 40) | .verdict.parts[3] |= (.own_ms += 40 | .total_ms += 40)
END
}

# The rows of requests by their stalls, of every golden trace and recording.
compare_rows() {
    local trace name reports=()
    for trace in tests/golden/*.trace; do
        name=$(basename "$trace" .trace)
        reports+=("$trace=$1/golden/$name.rendered")
    done
    for trace in tests/golden/recordings/*.nsr; do
        name=$1/$(basename "$trace" .nsr)
        "$B/netstall" report --text "$trace" >"$name.trace" && "$B/netstall" report --json "$trace" | tail -n 1 >"$name.rows"
        reports+=("$name.trace=$name.rows")
    done
    /usr/bin/python3 tests/schema/agree.py --rows "${reports[@]}"
}

# The TAP of each golden check by Perl's reader: what it cannot read, or what does not add up, is a parse error.
validate_tap() {
    local check name
    if ! command -v prove >/dev/null; then
        echo "skip schema/tap: perl is not installed, see scripts/deps.sh"
        return
    fi
    for check in tests/golden/check/*.check; do
        name=$(basename "$check" .check)
        "$B/tests/golden/check/render_check" "$check" tap >"$1/$name.tap"
        # A failing check is a failing test: only what follows "Parse errors" is ours.
        prove -e cat "$1/$name.tap" >"$1/$name.prove" 2>&1
        if grep -q '^Result: ' "$1/$name.prove" && ! grep -q 'Parse errors' "$1/$name.prove"; then
            echo "ok schema/tap-$name"
        else
            echo "not ok schema/tap-$name: $(grep -m 1 'Parse errors' "$1/$name.prove")"
        fi
    done
}

# The JUnit XML of each golden check against what the published schemas have in common.
validate_junit() {
    local check name
    if ! command -v xmllint >/dev/null; then
        echo "skip schema/junit: libxml2-utils is not installed, see scripts/deps.sh"
        return
    fi
    for check in tests/golden/check/*.check; do
        name=$(basename "$check" .check)
        if "$B/tests/golden/check/render_check" "$check" junit >"$1/$name.xml" &&
            xmllint --noout --schema tests/schema/junit.xsd "$1/$name.xml" 2>"$1/$name.errors"; then
            echo "ok schema/junit-$name"
        else
            echo "not ok schema/junit-$name: $(head -n 1 "$1/$name.errors")"
        fi
    done
}

# What is made of a profile for other programs, read by them or by their rules.
run_profile() {
    BUILD=$B tests/profile/run.sh
}

# Every reader of foreign bytes, fed with random ones.
run_fuzz() {
    local said
    if [ ! -e "$(clang -print-file-name="libclang_rt.fuzzer-$(uname -m).a" 2>/dev/null)" ]; then
        echo "skip fuzz: libFuzzer is not installed, see scripts/deps.sh"
        return
    fi
    said=$(make -s -j2 FUZZ=1 fuzzers 2>&1) || { tail -n 20 <<<"$said" | sed 's/^/# /' && echo "not ok fuzz/build" && return 1; }
    FUZZ_SECONDS=${FUZZ_SECONDS:-${NIGHTLY:+60}} KEPT=$KEPT tests/fuzz/run.sh
}

# By the other compiler: without a warning, and it does the same. Each night the tests are built by it too.
run_clang() {
    local B=build/clang said
    local wanted=(all "$B"/tests/{workload/exchange,golden/render_trace,golden/check/render_check})
    [ -z "${NIGHTLY:-}" ] || wanted=(test-programs)
    if ! command -v clang >/dev/null || [ -n "${SAN:-}" ]; then
        echo "skip clang: it is not installed, or make's own compiler is asked for"
        return
    fi
    if ! said=$(make -s -j2 B=$B CC=clang "${wanted[@]}" 2>&1 >/dev/null) || [ -n "$said" ]; then
        echo "not ok clang/build: $(head -n 1 <<<"$said")"
        return
    fi
    echo "ok clang/build"
    { { [ -z "${NIGHTLY:-}" ] || run_unit; } && run_golden; } | sed -E 's/^(ok|not ok|skip) /&clang\//' ||
        echo "not ok clang: the unit and golden tests ended with a failure"
}

# What that build sees. One of each command; medley has the most of them.
run_clang_live() {
    if [ ! -x build/clang/netstall ] || [ -n "${SAN:-}" ]; then
        echo "skip clang/live: it was not built"
        return
    fi
    B=build/clang live "${1:-$([ -n "${NIGHTLY:-}" ] && echo '@(medley|doctor|demo|program|check_within|check_timeout|offwake_handover|offwake_without_frame_pointers|sites|uring_all_kinds)' || echo medley)}" --label clang/live
}

# With the sanitizers.
run_san() {
    local B=build/san said SAN=1
    if ! said=$(make -s -j2 SAN=1 test-programs 2>&1 >/dev/null) || [ -n "$said" ]; then
        echo "not ok san/build: $(head -n 1 <<<"$said")"
        return 1
    fi
    { run_unit && run_golden && run_docs && run_schema && run_profile; } | sed -E 's/^(ok|not ok|skip) /&san\//' ||
        echo "not ok san: the tests without root ended with a failure"
    run_san_live '*'
}

run_roots() {
    tests/roots.sh
}

run_soak() {
    SOAK_SECONDS=${SOAK_SECONDS:-600} tests/soak.sh
}

# live PATTERN [OPTION...]
live() {
    NETSTALL=$B/netstall EXCHANGE=$B/tests/workload/exchange KEEP=$KEPT tests/live/run.sh --only "$@"
}
run_san_live() { NETSTALL_DAY=${NETSTALL_NIGHT:-$NETSTALL_DAY} B=build/san live "$1" --label san/live; }
run_live() { live "${1:-*}"; }

run_browser() {
    local status=0 said
    said=$(mktemp)
    BUILD=$B tests/profile/browser.sh >"$said" &
    BUILD=$B tests/page/browser.sh || status=1
    wait $! || status=1
    cat "$said" && rm "$said"
    return $status
}

run_score() {
    NETSTALL=$B/netstall SCENE=$B/tests/scenarios/scene tests/scenarios/score.sh ${KEPT:+--keep "$KEPT/score"} ${1:+--only "$1" --again build/failed/score}
}

run_manual() {
    NETSTALL=$B/netstall tests/manual.sh
}

# While nobody waits for it.
run_static_build() {
    local said
    said=$(make -s -j2 static 2>&1 >/dev/null)
    if [ -z "$said" ]; then echo "ok static_build"; else echo "not ok static_build: $(head -n 1 <<<"$said")"; fi
}

run_static() {
    [ -z "${SAN:-}" ] || { echo "skip static: it has no sanitizers" && return; }
    tests/static.sh
}

run_image() {
    [ -z "${SAN:-}" ] || { echo "skip image: it has no sanitizers" && return; }
    tests/image.sh
}

run_recipes() {
    NETSTALL=$B/netstall KEEP=$KEPT tests/recipes/run.sh ${1:+--only "$1"}
}

run_programs() {
    NETSTALL=$B/netstall MADE=$PWD/$B/tests/programs tests/programs/run.sh ${KEPT:+--keep "$KEPT/programs"} ${1:+--only "$1"}
}

# Each night other ones, and whether what is listed as wrong still is.
run_random() {
    NETSTALL=$B/netstall RANDOM_PROGRAM=$B/tests/random/random tests/random/run.sh ${KEPT:+--keep "$KEPT/random"} \
        ${NIGHTLY:+--listed --new 100} ${1:+--only "$1"}
}

run_vm() {
    NETSTALL_VM_OUT=$KEPT NETSTALL_VM_BUDGET=${NETSTALL_VM_BUDGET:-${NIGHTLY:+10800}} tests/vm/run.sh "$@"
}

# run_again NAME...: each of these cases, alone. What the first run left stays as it is. The VMs get 400 s, for whoever waits.
run_again() {
    local name vm=() KEPT=
    local -x NETSTALL_VM_BUDGET=400
    for name; do
        case $name in
        clang/live/*) run_clang_live "${name##*/}" ;;
        san/live/*) run_san_live "${name##*/}" ;;
        live/*) run_live "${name##*/}" ;;
        recipes/*) run_recipes "${name##*/}" ;;
        programs/*) run_programs "${name##*/}" ;;
        random/*) run_random "${name##*/}" ;;
        score/*) run_score "${name##*/}" ;;
        vm-*) vm+=("${name#vm-}") ;;
        esac
    done
    [ ${#vm[@]} = 0 ] || run_vm "${vm[@]}"
}

case $NETSTALL_DAY in
0) beside=clang behind=(clang_live) ;;
1) beside=static_build behind=(static image) ;;
2) beside=fuzz behind=() ;;
3) beside= behind=() ;;
*) beside=clang+static_build+fuzz behind=(clang_live static image) ;;
esac
pure=(unit count+golden docs schema+profile+manual boundary) others=(browser,live,recipes,programs,random,score${beside:++$beside} "${behind[@]}" vm)
parts=()
for part in "$@"; do
    case $part in
    pure) parts+=("${pure[@]}") ;;
    all) parts+=("${pure[@]}" "${others[@]}") ;;
    nightly) parts+=("${pure[@]}" "${others[@]}" roots san soak) ;;
    *) parts+=("$part") ;;
    esac
done

{ said=$(make -s -j2 test-programs ${SAN:+SAN=1} 2>&1 >&3); } 3>&1
status=$?
if [ $status != 0 ] || [ -n "$said" ]; then
    echo "$said"
    echo "not ok build: status $status, and it is to be done without a warning"
    echo "0 passed, 1 failed, 0 skipped"
    exit 1
fi
rm -rf "$KEPT"
[ "$NETSTALL_DAY" = all ] || echo "# of each class of cases a fourth, of four days this is $NETSTALL_DAY; all: NETSTALL_DAY=all"
run_parts "${parts[@]}"
end_run
