# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# shellcheck shell=bash
#
# netstall prove: what it changes on a running program, what it says of it, and that it is set back on every way out.

# One of each network namespace at a time: the others have namespaces of their own.
ALONE_CASES+=" prove_is_set_back "

# start_split_writer [apart]: $WRITER, with $OWN as its argument, in a network namespace of its own; what its TCP_NODELAY is, and was,
# is in $SCRATCH/option
start_split_writer() {
    local apart=()
    command -v python3 >/dev/null || skip "python3 is not installed"
    if [ "${1:-}" = apart ]; then
        unshare -n true || skip "no network namespace can be made"
        # shellcheck disable=SC2016 # for the other shell
        apart=(unshare -n sh -c 'ip link set lo up && exec "$@"' sh)
    fi
    "${apart[@]}" python3 tests/workload/own_nodelay.py "${OWN:-}" >"$SCRATCH/option" 2>"$SCRATCH/writer.err" &
    WRITER=$!
    await_line ' 0$' "$SCRATCH/option" $WRITER || fail "the writer did not start: $(cat "$SCRATCH/writer.err")"
}

# prove OPTIONS...: on it
prove() { "$NETSTALL" prove "${ATTACH[@]}" -p "$WRITER" "$@" >"$SCRATCH/said" 2>"$SCRATCH/said.err" </dev/null; }

is_off() { tail -n 1 "$SCRATCH/option" | grep -q ' 0$'; }

# interrupted SIGNAL SECONDS: while the option is set
interrupted() {
    prove --yes -d 2 &
    local proving=$!
    await_line ' 1$' "$SCRATCH/option" $proving || fail "it was never set: $(cat "$SCRATCH/said.err")"
    [ "$1" != INT ] || refuses_a_second
    for netstall in $(pgrep -P $proving) $proving; do
        ! grep -q prove "/proc/$netstall/cmdline" || break
    done
    kill "-$1" "$netstall"
    wait_for "$2" is_off || fail "after $1 it was not set back within $2 s: $(tr '\n' ',' <"$SCRATCH/option")"
    wait $proving
    STATUS=$?
    pause 0.5
    is_off || fail "after $1 it was set again: $(tr '\n' ',' <"$SCRATCH/option")"
}

# One at a time, of those in a network namespace.
refuses_a_second() {
    "$NETSTALL" prove "${ATTACH[@]}" -p "$WRITER" --yes >/dev/null 2>"$SCRATCH/second.err"
    expect_is "the status of a second one" $? 2
    grep -q 'another netstall prove' "$SCRATCH/second.err" || fail "it says: $(cat "$SCRATCH/second.err")"
}

# expect_valid: what it said is as the schema has it.
expect_valid() {
    cp "$SCRATCH/said" "$SCRATCH/said.json"
    ! /usr/bin/python3 -c 'import jsonschema' 2>/dev/null ||
        /usr/bin/python3 -W ignore tests/schema/validate.py docs/prove-schema.json "$SCRATCH/said.json" >"$SCRATCH/valid" || fail "$(head -n 1 "$SCRATCH/valid")"
}

case_prove() {
    start_split_writer apart
    prove --json --yes --require 1e5
    expect_is "the status, of less than is required" $? 1
    expect_is "the outcome" "$(gojq -r .outcome "$SCRATCH/said")" proven
    expect "the ratio" "$(gojq .change.ratio "$SCRATCH/said")" '>=' 50
    expect "the interval" "$(gojq '.change.low > 1 and .change.high > .change.ratio' "$SCRATCH/said" | grep -c true)" '==' 1
    expect "the control" "$(gojq .control.ratio "$SCRATCH/said")" '<=' 1.5
    expect "what was predicted, of what is saved" "$(gojq '.predicted.saves_ms / (.without.p50_ms - .with.p50_ms)' "$SCRATCH/said")" '>=' 0.8
    expect "what was predicted, of what is saved" "$(gojq '.predicted.saves_ms / (.without.p50_ms - .with.p50_ms)' "$SCRATCH/said")" '<=' 1.2
    wait_for 5 is_off || fail "it is not set back: $(tail -n 1 "$SCRATCH/option")"
    expect "windows with it" "$(grep -c ' 1$' "$SCRATCH/option")" '>=' 8
    expect_valid
}

# A server whose connections come and go: what listens is changed as well, and both are set back. Not for one client's sake.
case_prove_connections_to_come() {
    OWN=serves start_split_writer apart
    "$NETSTALL" prove "${ATTACH[@]}" -p "$(pgrep -P "$WRITER")" --yes -d 2 >"$SCRATCH/said" 2>"$SCRATCH/said.err"
    expect_is "the status from the client" $? 1
    grep -q '^not tried: its connections come and go' "$SCRATCH/said" || fail "it says: $(cat "$SCRATCH/said" "$SCRATCH/said.err")"
    expect_is "what was set" "$(grep -c ' 1$' "$SCRATCH/option")" 0
    prove --json --yes -d 2 --require 20
    expect_is "the status" $? 0
    expect_valid
    expect_is "what was changed" "$(gojq -r '"\(.outcome), later ones: \(.later_connections)"' "$SCRATCH/said")" "proven, later ones: true"
    expect "the ratio" "$(gojq .change.ratio "$SCRATCH/said")" '>=' 20
    expect "the control" "$(gojq .control.ratio "$SCRATCH/said")" '<=' 1.5
    expect "connections that had it" "$(grep -c 'connection 1$' "$SCRATCH/option")" '>=' 8
    expect_is "what the listening socket has at the end" "$(grep -v connection "$SCRATCH/option" | tail -n 1 | cut -d' ' -f2)" 0
    pause 2 # the connection that was open then ends within 1.4 s
    expect_is "what its connections have at the end" "$(grep connection "$SCRATCH/option" | tail -n 1 | cut -d' ' -f3)" 0
}

# Three of a hundred connections: no other one is touched.
case_prove_three_of_a_hundred() {
    OWN=many start_split_writer apart
    prove --json --yes
    expect_is "the status" $? 0
    expect_is "what was changed" "$(gojq -r '"\(.outcome), \(.connections) connections, later ones: \(.later_connections)"' "$SCRATCH/said")" \
        "proven, 3 connections, later ones: false"
    expect_valid
    expect_is "the connections that had it" "$(awk 'NF == 3 { print $2 }' "$SCRATCH/option" | sort -u | paste -sd' ')" "0 1 2"
    expect_is "those that had it on and off alike" "$(awk 'NF == 3 { sum[$2] += $3 ? 1 : -1 } END { for (n in sum) if (sum[n]) print n }' "$SCRATCH/option")" ""
    expect "blocks of the others" "$(gojq '.others.blocks // 0' "$SCRATCH/said")" '>=' 6
}

# The same from the end that answers: the other one holds bytes back, and has the option.
case_prove_from_the_server() {
    unshare -n true || skip "no network namespace can be made"
    # shellcheck disable=SC2016 # for the other shell
    start_exchange unshare -n sh -c 'ip link set lo up && exec "$@"' sh -- --mode split -n 0 --seconds 100
    CLEANUP+=("kill $CLIENT $SERVER")
    open_gate
    "$NETSTALL" prove "${ATTACH[@]}" -p "$SERVER" --json --yes -d 2 >"$SCRATCH/said" 2>"$SCRATCH/said.err"
    expect_is "the status" $? 0
    expect_valid
    expect_is "what it is judged by" "$(gojq -r .judged_by "$SCRATCH/said")" rate
    expect "the ratio" "$(gojq .change.ratio "$SCRATCH/said")" '>=' 50
    expect "what was predicted, ms" "$(gojq .predicted.saves_ms "$SCRATCH/said")" '>=' 30
}

# The kernel's own refusal, in one sentence; false: it does not refuse.
is_refused_here() {
    [ "$(printf '%s\n' 6.1 "$(uname -r)" | sort -V | head -n 1)" != 6.1 ] || return 1
    prove --yes -d 1
    expect_is "the status" $? 2
    grep -q '^netstall: cannot change TCP_NODELAY .*Linux 6.1 or later' "$SCRATCH/said.err" || fail "it says: $(cat "$SCRATCH/said.err")"
}

case_prove_is_set_back() {
    start_split_writer
    ! is_refused_here || return 0
    interrupted INT 10
    expect_is "the status after Ctrl-C" $STATUS 3
    interrupted KILL 5
}

# Nothing is changed where nothing was asked for, and where it could not help.
case_prove_changes_nothing() {
    start_split_writer
    prove -d 1
    expect_is "the status without a word of consent" $? 2
    grep -q -- '--yes' "$SCRATCH/said.err" || fail "it says: $(cat "$SCRATCH/said.err")"
    prove -d 1 --dry-run
    expect_is "the status of --dry-run" $? 0
    grep -q 'python3/.* held bytes back' "$SCRATCH/said.err" || fail "it says: $(cat "$SCRATCH/said.err")"
    expect_is "what its option was" "$(cut -d' ' -f2 "$SCRATCH/option")" 0
    ! "$NETSTALL" prove -- true 2>"$SCRATCH/said.err" || fail "it tried a program of its own"
    start_exchange -- --mode late-server -n 1000000
    open_gate
    "$NETSTALL" prove "${ATTACH[@]}" -p "$CLIENT" -d 1 --yes >"$SCRATCH/said" 2>"$SCRATCH/said.err"
    expect_is "the status where the server is slow" $? 1
    expect_is "what it says of that" "$(grep -c '^not tried: \|^  peer-app: \|^  Predicted, and not tried: ' "$SCRATCH/said")" 3
}

# Its sockets are those of another network namespace; and it ends while it is tried.
case_prove_in_network_namespace() {
    start_split_writer apart
    prove --yes -d 1 &
    local proving=$!
    await_line ' 1$' "$SCRATCH/option" $proving || fail "it was never set: $(cat "$SCRATCH/said.err")"
    kill $WRITER
    wait_for "$WAIT_LIMIT" gone $proving || fail "it did not end with its target"
    wait $proving
    expect_is "the status" $? 3
    grep -q '^inconclusive: .* blocks of windows had requests' "$SCRATCH/said" || fail "it says: $(cat "$SCRATCH/said" "$SCRATCH/said.err")"
}

# What the program sets itself meanwhile stays.
case_prove_leaves_what_it_did_not_set() {
    OWN=own start_split_writer apart
    prove --yes -d 1
    expect_is "the status" $? 1
    grep -q '^not tried: the program itself sets it' "$SCRATCH/said" || fail "it says: $(cat "$SCRATCH/said" "$SCRATCH/said.err")"
    pause 0.5
    ! is_off || fail "it was set back: $(tr '\n' ',' <"$SCRATCH/option")"
}
