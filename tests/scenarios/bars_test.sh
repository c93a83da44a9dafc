#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#
# Tests bars.awk and record.awk by figures that were not measured. One line a case. Exit status 1 if any failed.
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 2

status=0

# bar_of NAME QUICK WANTED RECORD FIGURES: WANTED is a regular expression for a line, `fault ...` or `weak ...`, or empty: no
# fault. The lines of RECORD and FIGURES are divided by commas.
bar_of() {
    local found
    found=$(awk -v quick="$2" -f tests/scenarios/bars.awk <(tr , '\n' <<<"$4,unknown 0.0200") <(tr , '\n' <<<"$5") | grep -v '^fine')
    if { [ -z "$3" ] && ! grep -q ^fault <<<"$found"; } || { [ -n "$3" ] && grep -qE "$3" <<<"$found"; }; then
        echo "ok count/bar_$1"
    else
        echo "not ok count/bar_$1: '$found'" && status=1
    fi
}

none='unknown 0.0000 0 100'
bar_of all_right 0 '' 'lock 1.0000 1.0000' "lock 1.0000 1.0000 12 12,$none"
bar_of all_right_in_an_emulated_machine 1 '' 'lock 1.0000 1.0000' "lock 1.0000 1.0000 12 12,$none"
bar_of two_of_twelve_wrong 0 '' 'lock 1.0000 1.0000' "lock 1.0000 0.8333 12 10,$none"
bar_of three_of_twelve_wrong 0 'fault lock: recall 9 of 12' 'lock 1.0000 1.0000' "lock 1.0000 0.7500 12 9,$none"
bar_of three_of_twelve_wrong_emulated 1 'fault lock: recall 9 of 12' 'lock 1.0000 1.0000' "lock 1.0000 0.7500 12 9,$none"
bar_of named_for_others 1 'fault lock: precision 8 of 12' 'lock 1.0000 1.0000' "lock 0.6667 1.0000 8 12,$none"
# Of two stalls one may be wrong, not both: the bar lay below 0 before.
bar_of one_of_two_wrong 1 '' 'syn-retransmit 0.9500 0.9500' "syn-retransmit 1.0000 0.5000 2 1,$none"
bar_of both_wrong 1 'fault syn-retransmit: recall 0 of 2' 'syn-retransmit 0.9500 0.9500' "syn-retransmit 1.0000 0.0000 2 0,$none"
bar_of three_of_eight_wrong 1 'fault syn-retransmit: recall 5 of 8' 'syn-retransmit 0.9500 0.9500' "syn-retransmit 1.0000 0.6250 8 5,$none"
# Of many the bar does not sink: six of 300 are as recorded, and two more.
bar_of as_recorded_of_many 0 '' 'nagle 1.0000 0.9800' "nagle 1.0000 0.9733 300 292,$none"
bar_of three_more_of_many 0 'fault nagle: recall 291 of 300' 'nagle 1.0000 0.9800' "nagle 1.0000 0.9700 300 291,$none"
# A low record is said to be weak, and can fail.
bar_of weak 1 'weak pacing: recall 8 of 8, recorded 0.4400, at least 1' 'pacing 0.9500 0.4400' "pacing 1.0000 1.0000 8 8,$none"
bar_of weak_fails 1 'fault pacing: recall 0 of 8' 'pacing 0.9500 0.4400' "pacing 1.0000 0.0000 8 0,$none"
bar_of absent 1 'fault tlp: absent' 'tlp 0.9500 0.9500' "$none"
bar_of named_and_absent 1 'fault tlp: absent' 'tlp 0.9500 0.9500' "tlp 0.0000 1.0000 0 1,$none"
bar_of newly_misnamed 0 'fault self: it is not in the record' 'lock 1.0000 1.0000' "lock 1.0000 1.0000 12 12,self 0.0000 1.0000 0 1,$none"
bar_of newly_misnamed_emulated 1 '' 'lock 1.0000 1.0000' "lock 1.0000 1.0000 12 12,self 0.0000 1.0000 0 3,$none"
bar_of newly_misnamed_too_often_emulated 1 'fault self: it is not in the record; 0 expected, 4 named, at most 3' 'lock 1.0000 1.0000' \
    "lock 1.0000 1.0000 12 12,self 0.0000 1.0000 0 4,$none"
bar_of newly_misnamed_of_many_emulated 1 'fault self: .*7 named, at most 6' 'lock 1.0000 1.0000' \
    "lock 1.0000 1.0000 12 12,self 0.0000 1.0000 0 7,unknown 0.0000 0 440"
bar_of newly_expected 1 'fault memory: it is not in the record' 'lock 1.0000 1.0000' "lock 1.0000 1.0000 12 12,memory 1.0000 1.0000 4 4,$none"
bar_of unknown 0 'fault unknown' 'lock 1.0000 1.0000' "lock 1.0000 1.0000 12 12,unknown 0.0300 2 100"
bar_of unknown_as_recorded_emulated 1 '' 'lock 1.0000 1.0000' "lock 1.0000 1.0000 12 12,unknown 0.0500 5 100"
bar_of unknown_emulated 1 'fault unknown' 'lock 1.0000 1.0000' "lock 1.0000 1.0000 12 12,unknown 0.2000 8 100"

# record_of NAME WANTED REASON RECORD FIGURES: this record comes of it.
record_of() {
    local made
    made=$(awk -v label=score -v reason="$3" -f tests/scenarios/record.awk old=1 <(tr , '\n' <<<"$4") old=0 <(tr , '\n' <<<"$5") 2>/dev/null | paste -sd,)
    if [ "$made" = "$2" ]; then
        echo "ok count/record_$1"
    else
        echo "not ok count/record_$1: '$made'" && status=1
    fi
}

old='lock 1.0000 0.9000,tlp 0.9500 0.9500,unknown 0.0200'
record_of first 'lock 1.0000 0.9000,tlp 0.9500 0.9500,unknown 0.0200' '' '' 'lock 1.0000 0.9000 1.0000,tlp 1.0000 1.0000 0.9500,unknown 0.0000 0 9'
record_of sinks_not_unseen "$old" '' "$old" 'lock 0.8000 0.9000 1.0000,tlp 1.0000 1.0000 0.9500,unknown 0.1000 3 9'
record_of rises_not_by_one_run "$old" '' "$old" 'lock 1.0000 1.0000 1.0000,tlp 1.0000 1.0000 0.9500,unknown 0.0000 0 9'
record_of is_lowered_with_the_reason '# lock: precision from 1.0000 to 0.8000: why,lock 0.8000 0.9000,tlp 0.9500 0.9500,unknown 0.0200' why \
    "$old" 'lock 0.8000 1.0000 1.0000,tlp 1.0000 1.0000 0.9500,unknown 0.0000 0 9'
record_of keeps_an_absent_cause "$old" '' "$old" 'lock 1.0000 1.0000 1.0000,unknown 0.0000 0 9'
record_of takes_a_new_cause 'lock 1.0000 0.9000,memory 0.9500 0.9500,tlp 0.9500 0.9500,unknown 0.0200' '' \
    "$old" 'memory 1.0000 1.0000 0.9500,unknown 0.0000 0 9'
exit $status
