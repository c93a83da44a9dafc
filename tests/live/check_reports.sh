# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# shellcheck shell=bash
#
# What `netstall check` leaves behind: its reports, the stalls that it keeps, the command that it runs.

# A stall of its own making has to be the first one.
ALONE_CASES+=" check_reports "

# check OPTIONS...: the workload's six split requests under `netstall check`. Sets STATUS; its text is in $SCRATCH/text.
check() {
    STATUS=0
    timeout 120 "$NETSTALL" check "${ATTACH[@]}" "$@" -- "$EXCHANGE" --mode split -n 6 --gate none \
        >"$SCRATCH/out" 2>"$SCRATCH/err" || STATUS=$?
    grep -vE '^(ready|done) ' "$SCRATCH/out" >"$SCRATCH/text"
}

# valid SCHEMA FILE...
valid() {
    /usr/bin/python3 -c 'import jsonschema' 2>/dev/null || return 0
    ! /usr/bin/python3 tests/schema/validate.py "$@" >"$SCRATCH/validated" || return 0
    fail "$(grep -m 1 '^not ok' "$SCRATCH/validated")"
}

# As under sudo: what is written, and what is run, is the caller's.
case_check_reports() {
    local owner=65534 dir=$SCRATCH/caller file count
    chmod 755 "$SCRATCH"
    mkdir "$dir" && chown $owner:$owner "$dir"
    # shellcheck disable=SC2016
    SUDO_UID=$owner SUDO_GID=$owner GITHUB_STEP_SUMMARY=$dir/summary GITHUB_WORKSPACE=$PWD check --keep "$dir/kept" --keep-max 2 \
        --junit "$dir/junit.xml" --json "$dir/check.json" --tap "$dir/tap" --html "$dir/page.html" --record "$dir/recording" --github --on-stall-shell --on-stall-every 0.01 \
        --on-stall 'echo "$(id -u) $NETSTALL_CAUSE $NETSTALL_STALL $NETSTALL_CONNECTION" >>'"$dir/hook"
    expect_is "the exit status" $STATUS 1

    # The text: the verdict first, at most 25 lines, the proof in it.
    grep -q '^FAIL (exit status 1)  nagle-delack over its budget: [1-6] stalls' \
        <<<"$(grep -v -m 1 '^::' "$SCRATCH/text")" ||
        fail "the text does not begin with the verdict: $(head -n 2 "$SCRATCH/text")"
    expect "the lines of the text" "$(grep -vc '^::' "$SCRATCH/text")" '<=' 25
    grep -q 'HELD by Nagle' "$SCRATCH/text" || fail "the text does not show the hold"
    grep -q 'delayed ACK FIRED' "$SCRATCH/text" || fail "the text does not show the timer"

    # The reports: the caller's alone, and as their schemas want them.
    for file in junit.xml check.json tap summary page.html recording; do
        expect_is "mode and owner of $file" "$(stat -c '%a %u' "$dir/$file")" "600 $owner"
    done
    grep -q '"above": *"netstall check: over budget (exit status 1): nagle-delack over its budget' "$dir/page.html" || fail "the page has no outcome"
    expect_is "stalls of the recording, and of the report" "$("$NETSTALL" report --json "$dir/recording" | tail -n 1 | gojq '.stalls | length')" \
        "$(gojq '.report.stalls | length' "$dir/check.json")"
    xmllint --noout --schema tests/schema/junit.xsd "$dir/junit.xml" 2>"$SCRATCH/why.xml" || fail "JUnit: $(head -n 1 "$SCRATCH/why.xml")"
    valid docs/check-schema.json "$dir/check.json"
    expect_is "the verdict in JSON" "$(gojq -r '"\(.verdict) \(.gates[0].name) \(.gates[0].state)"' "$dir/check.json")" "over nagle-delack over"
    expect_is "the failures of JUnit" "$(xmllint --xpath 'string(//testcase[failure]/@name)' "$dir/junit.xml")" nagle-delack
    expect_is "TAP's plan" "$(sed -n 2p "$dir/tap")" "1..$(grep -cE '^(not )?ok ' "$dir/tap")"
    grep -q '^not ok 1 - nagle-delack$' "$dir/tap" || fail "TAP: $(sed -n 3p "$dir/tap")"
    grep -qE '^::error file=user/demo/(endpoint|client)\.c,line=[1-9][0-9]*,title=netstall%3A nagle-delack over its budget::' "$SCRATCH/text" ||
        fail "no annotation on a line of the workload: $(grep -m 1 '^::' "$SCRATCH/text" | head -c 200)"
    grep -q '| \*\*FAIL\*\* | nagle-delack |' "$dir/summary" || fail "the summary: $(head -n 8 "$dir/summary" | tr '\n' ' ')"

    # The recorder: of a cause one recording each 10 s, which has what the report has until then.
    count=$(gojq .gates[0].count "$dir/check.json")
    expect_is "what is kept" "$(cd "$dir/kept" && echo *)" 001-nagle-delack.nsr
    expect_is "mode and owner of the folder" "$(stat -c '%a %u' "$dir/kept")" "700 $owner"
    expect_is "mode and owner of what is kept" "$(stat -c '%a %u' "$dir"/kept/* | sort -u)" "600 $owner"
    expect_is "the recordings in JSON" "$(gojq -c .kept "$dir/check.json")" "{\"folder\":\"$dir/kept\",\"stalls\":1}"
    expect_is "its verdict" "$("$NETSTALL" report --json "$dir/kept/001-nagle-delack.nsr" | tail -n 1 | gojq -r .verdict.cause)" nagle-delack
    "$NETSTALL" report --stall 1 "$dir/kept/001-nagle-delack.nsr" >"$SCRATCH/stall.txt" 2>&1
    grep -q 'HELD by Nagle' "$SCRATCH/stall.txt" || fail "the recording does not have the events of its stall: $(head -n 3 "$SCRATCH/stall.txt")"

    # The command: once for a stall, as the caller.
    grep -qE "^$owner nagle-delack [0-9]+ 127\.0\.0\.1:[0-9]+ -> 127\.0\.0\.1:[0-9]+$" "$dir/hook" || fail "the command was told: $(head -n 1 "$dir/hook")"
    expect "runs of the command" "$(wc -l <"$dir/hook")" '<=' "$count"
}

# One sentence and status 2 before anything is run, or a usage error.
case_check_reports_refused() {
    mkdir "$SCRATCH/old" && touch "$SCRATCH/old/004-cork.nsr"
    check --keep "$SCRATCH/old"
    expect_is "the exit status with files of an earlier run" $STATUS 2
    grep -q 'has files of an earlier run (004-cork.nsr)' "$SCRATCH/err" || fail "old files: $(head -c 300 "$SCRATCH/err")"
    check --keep "$SCRATCH/old/004-cork.nsr"
    expect_is "the exit status with a file for a folder" $STATUS 2
    check --on-stall "$SCRATCH/nothing --at=all"
    expect_is "the exit status without the command" $STATUS 2
    grep -q 'No such file' "$SCRATCH/err" || fail "no command: $(head -c 300 "$SCRATCH/err")"
    ! grep -q '^ready' "$SCRATCH/out" || fail "the program ran all the same"
    check --on-stall "a 'quote"
    expect_is "the exit status with a quote that does not end" $STATUS 64
}

# A full disk under --keep is said, and takes nothing else; a command that hangs is ended, and holds nothing up.
case_check_reports_trouble() {
    mkdir "$SCRATCH/full" && mount -t tmpfs -o size=8k none "$SCRATCH/full" 2>/dev/null || skip "no tmpfs can be mounted"
    CLEANUP+=("umount $SCRATCH/full")
    check --budget nagle-delack=1 --keep "$SCRATCH/full/kept" --json "$SCRATCH/check.json" --on-stall 'sleep 100'
    expect_is "the exit status" $STATUS 1
    grep -q 'could not keep .*No space left on device' "$SCRATCH/err" || fail "a full disk is not said: $(head -c 300 "$SCRATCH/err")"
    grep -q 'sleep 100 was still running' "$SCRATCH/err" || fail "a command that hangs is not said: $(head -c 300 "$SCRATCH/err")"
    expect_is "the verdict" "$(gojq -r '"\(.verdict) \(.unable != null)"' "$SCRATCH/check.json")" "over true"
    [ -z "$(ls "$SCRATCH/full/kept")" ] || fail "a file was left there that is not whole"
}
