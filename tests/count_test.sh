#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#
# Tests tests/count.sh by runs of parts that are not real, and tests/vm/run.sh by VMs that are not. One line a case. Exit status 1 if
# any failed.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 2

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
export NETSTALL_DAY=all KEPT=$scratch/kept TURN=$scratch/turn HISTORY=$scratch/history HISTORY_NEW=$scratch/history.new
: >"$HISTORY"
status=0

# Cases that the runs share. When one is run again, a line of the file TURN tells how often that was.
# shellcheck disable=SC2016
shared='
set -uo pipefail
. tests/count.sh
: >"$TURN"
good() { local i; for ((i = 0; i < $1; i++)); do echo "ok unit/good_$i"; done; }
run_again() {
    local name
    echo again >>"$TURN"
    for name; do
        case $name-$(wc -l <"$TURN") in
        */always-* | */third-2) echo "not ok $name: wrong again" ;;
        */hidden-*) ;;
        */gone-*) echo "skip $name: not here" ;;
        */views-*) echo "ok $name.client" && echo "ok $name.server" ;;
        */view_of_two-*) echo "not ok $name.client: why" && echo "ok $name.server" ;;
        */both-*) echo "ok $name" && echo "not ok $name: after all" ;;
        *) echo "ok $name" ;;
        esac
    done
}'

# run_of NAME STATUS UNSTEADY LAST DEFINITIONS: run_fake, and what else is to be there, gives these lines and this status, and tells
# at its end each that failed.
run_of() {
    local got unsteady last told
    rm -rf "$KEPT" "$HISTORY_NEW"
    bash -c "$shared
$5
run_parts fake
end_run" >"$scratch/out" 2>&1
    got=$?
    unsteady=$(grep '^# unsteady: ' "$scratch/out")
    last=$(tail -n 1 "$scratch/out")
    told=$(sed -n '/^# unsteady: /,$p' "$scratch/out" | grep -c '^# failed: ')
    if [ "$got" = "$2" ] && [ "$unsteady" = "# unsteady: $3" ] && [[ "$last" = "$4" && $last = *" $told failed, "* ]]; then
        echo "ok count/$1"
        return
    fi
    echo "not ok count/$1: status $got, '$unsteady', '$last'"
    grep -v '^ok unit/good' "$scratch/out" | sed 's/^/# /'
    status=1
}

run_of all_right 0 "0 of 3 cases" "3 passed, 0 failed, 0 skipped" 'run_fake() { good 3; }'
run_of skipped 0 "0 of 2 cases" "2 passed, 0 failed, 1 skipped" 'run_fake() { good 2; echo "skip live/x: why"; }'
run_of fails_at_once 1 "0 of 3 cases" "2 passed, 1 failed, 0 skipped" \
    'run_fake() { good 2; echo "not ok unit/bad: why"; return 1; }'
run_of golden_is_not_run_again 1 "0 of 2 cases" "0 passed, 2 failed, 0 skipped" \
    'run_fake() { echo "not ok golden/x: why"; echo "not ok clang/unit/x: why"; echo "end"; return 1; }'
run_of no_case_is_named 1 "0 of 2 cases" "0 passed, 2 failed, 0 skipped" \
    'run_fake() { echo "not ok live: no root"; echo "not ok vm-6.1: the guest froze"; echo "end"; return 1; }'

# Parts beside another.
beside() { # NAME STATUS-AND-LAST-LINE DEFINITIONS [PARTS]
    local got
    bash -c "$shared
run_fake() { good 2; }
$3
run_parts ${4:-fake+other}
end_run" >"$scratch/out" 2>&1
    got="$? $(tail -n 1 "$scratch/out")"
    if [ "$got" = "$2" ]; then echo "ok count/$1"; else echo "not ok count/$1: $got" && status=1; fi
}
beside two_at_a_time "0 4 passed, 0 failed, 0 skipped" 'run_other() { chrt -p $BASHPID | grep -q SCHED_IDLE && good 2; }'
beside two_others "0 6 passed, 0 failed, 0 skipped" 'run_other() { good 2; }; run_third() { [ "$(ls "$said")" = "$(printf "other\nthird")" ] && good 2; }' fake+other+third
beside two_and_one "0 6 passed, 0 failed, 0 skipped" 'run_third() { good 2; }; run_other() { sleep 5; good 2; }' fake,third+other
beside the_second_of_two_fails "1 5 passed, 1 failed, 0 skipped" 'run_third() { good 1; echo "not ok unit/y: why"; return 1; }; run_other() { good 2; }' fake,third+other
beside the_second_of_others_fails "1 5 passed, 1 failed, 0 skipped" 'run_other() { good 2; }; run_third() { good 1; echo "not ok unit/y: why"; return 1; }' fake+other+third
beside the_other_fails "1 3 passed, 1 failed, 0 skipped" 'run_other() { echo "ok fuzz/x"; echo "not ok fuzz/y: why"; return 1; }'
beside the_other_ends_early "1 2 passed, 1 failed, 0 skipped" 'run_other() { exit 3; }'
beside the_other_has_no_case "1 2 passed, 1 failed, 0 skipped" 'run_other() { :; }'

# One that may be run again.
one() { echo "run_fake() { good 199; echo '# live: what it saw'; echo 'not ok $1: why'; echo 'end live'; return 1; }"; }
failed="199 passed, 1 failed, 0 skipped"
run_of fails_once 0 "1 of 200 cases: live/once" "200 passed, 0 failed, 0 skipped" "$(one live/once)"
if [ "$(cat "$KEPT/live/once/line" 2>&1)" = "not ok live/once: why" ] && grep -q '^# live: what it saw' "$scratch/out"; then
    echo "ok count/first_output_is_kept"
else
    echo "not ok count/first_output_is_kept: $(cat "$KEPT/live/once/line" 2>&1)" && status=1
fi
run_of fails_once_in_a_vm 0 "1 of 200 cases: vm-6.1/live-fentry/once" "200 passed, 0 failed, 0 skipped" "$(one vm-6.1/live-fentry/once)"
run_of fails_always 1 "0 of 200 cases" "$failed" "$(one live/always)"
run_of fails_two_times_of_three 1 "0 of 200 cases" "$failed" "$(one live/third)"
run_of gives_no_result_again 1 "0 of 200 cases" "$failed" "$(one live/hidden)"
run_of is_skipped_again 1 "0 of 200 cases" "$failed" "$(one live/gone)"
run_of its_views_are_right_again 0 "1 of 200 cases: live/views" "200 passed, 0 failed, 0 skipped" "$(one live/views)"
run_of a_view_is_wrong_again 1 "0 of 200 cases" "$failed" "$(one live/view_of_two)"
run_of is_right_and_wrong_again 1 "0 of 200 cases" "$failed" "$(one live/both)"
run_of fails_twice_at_first 1 "1 of 200 cases: live/once" "199 passed, 1 failed, 0 skipped" \
    'run_fake() { good 198; echo "not ok live/once: why"; echo "not ok live/once: why"; echo "end live"; return 1; }'

# Several: of 200 and of 1,000 cases so many fail once.
some() { echo "run_fake() { good $1; for ((i = 0; i < $2; i++)); do echo \"not ok live/some_\$i: why\"; done; echo end live; return 1; }"; }
names() { seq -s, 0 $(($1 - 1)) | sed 's|,|, live/some_|g; s|^|live/some_|'; }
run_of one_percent 0 "2 of 200 cases: $(names 2)" "200 passed, 0 failed, 0 skipped" "$(some 198 2)"
run_of two_percent 1 "4 of 200 cases: $(names 4)" "200 passed, 1 failed, 0 skipped" "$(some 196 4)"
run_of one_percent_of_many 0 "10 of 1000 cases: $(names 10)" "1000 passed, 0 failed, 0 skipped" "$(some 990 10)"
run_of too_many_to_run_again 1 "0 of 1000 cases" "989 passed, 11 failed, 0 skipped" "$(some 989 11)"
if [ -s "$TURN" ]; then echo "not ok count/too_many_run_again" && status=1; fi

# Of each class a fourth, of few one; all in four days.
classes='a 1,a 2,a 3,a 4,a 5,b 6,b 7,c 8'
day_of() {
    local made
    made=$(tr , '\n' <<<"$classes" | awk -v day="$1" -f tests/day.awk | paste -sd' ')
    if [ "$made" = "$2" ]; then echo "ok count/day_$1"; else echo "not ok count/day_$1: '$made'" && status=1; fi
}
day_of 0 '1 5 7 8'
day_of 1 '2 6 8'
day_of 2 '3 7 8'
day_of 3 '4 6 8'
day_of all '1 2 3 4 5 6 7 8'

# The history: history_of NAME STATUS BEFORE AFTER FAILURE CASE: a run in which this case failed first. BEFORE and AFTER are the
# file's lines, divided by commas; FAILURE is a line that is printed, or empty.
history_of() {
    local made
    tr , '\n' <<<"$3" >"$HISTORY"
    rm -f "$HISTORY_NEW"
    bash -c "$shared
$(one "$6")
run_parts fake
end_run" >"$scratch/out" 2>&1
    made="$? $(paste -sd, "$HISTORY_NEW")"
    if [ "$made" = "$2 $4" ] && { [ -z "$5" ] || grep -qxF "$5" "$scratch/out"; }; then
        echo "ok count/history_$1"
    else
        echo "not ok count/history_$1: '$made'" && grep -v '^ok unit/good' "$scratch/out" | sed 's/^/# /' && status=1
    fi
}
history_of first_time 0 '' 'ran 1 live,unsteady 1 live/once' '' live/once
history_of is_printed 0 'ran 30 live' 'ran 31 live,unsteady 1 live/once' '# history: unsteady 1 live/once' live/once
history_of again_and_again 1 'ran 5 live,unsteady 1 live/once' 'ran 6 live,unsteady 2 live/once' \
    'not ok history/live/once: it failed first in 2 of 6 runs of its part' live/once
history_of rarely 0 'ran 20 live,unsteady 1 live/once' 'ran 21 live,unsteady 2 live/once' '' live/once
history_of of_a_vm 1 'ran 8 vm-6.1/live-fentry,unsteady 2 vm-6.1/live-fentry/once' \
    'ran 9 vm-6.1/live-fentry,unsteady 3 vm-6.1/live-fentry/once' '' vm-6.1/live-fentry/once
history_of another_one_was 0 'ran 5 live,unsteady 3 live/other' 'ran 6 live,unsteady 1 live/once,unsteady 3 live/other' '' live/once
history_of a_fault_is_none 1 'ran 5 live' 'ran 6 live' '' live/always
history_of wrong_in_the_end 1 'ran 30 live' 'ran 31 live,unsteady 1 live/third' '' live/third
history_of is_halved 0 'ran 40 live,unsteady 2 live/other' 'ran 20 live,unsteady 1 live/other' '' live/once
NETSTALL_DAY=1 history_of a_fourth_of_a_part 0 'ran 3.75 live,unsteady 1 live/other' 'ran 4 live,unsteady 1 live/once,unsteady 1 live/other' '' live/once
NETSTALL_DAY=1 history_of a_fourth_again 1 'ran 4 live,unsteady 1 live/once' 'ran 4.25 live,unsteady 2 live/once' \
    'not ok history/live/once: it failed first in 2 of 4.25 runs of its part' live/once
NETSTALL_DAY=1 history_of a_vm_ran_whole 0 'ran 3 vm-6.1/core-fentry' 'ran 4 vm-6.1/core-fentry,unsteady 1 vm-6.1/core-fentry/once' '' \
    vm-6.1/core-fentry/once
history_of other_parts_stay 0 'ran 7 programs,unsteady 2 programs/x' 'ran 1 live,ran 7 programs,unsteady 1 live/once,unsteady 2 programs/x' '' live/once
# A run adds to what the one before has left, until the repository's is newer.
printf 'ran 5 live\n' >"$HISTORY"
for _ in 1 2; do
    bash -c "$shared
run_fake() { echo ok live/a; echo end; }
run_parts fake
end_run" >"$scratch/out" 2>&1
done
printf '%s\n' "$(cat "$HISTORY_NEW")" >"$scratch/two"
touch -d '+1 minute' "$HISTORY"
bash -c "$shared
run_fake() { echo ok live/a; echo end; }
run_parts fake
end_run" >"$scratch/out" 2>&1
if [ "$(cat "$scratch/two" "$HISTORY_NEW" | paste -sd,)" = 'ran 7 live,ran 6 live' ]; then
    echo "ok count/history_of_several_runs"
else
    echo "not ok count/history_of_several_runs: $(cat "$scratch/two" "$HISTORY_NEW" | paste -sd,)" && status=1
fi
: >"$HISTORY" # for what follows

# Parts that do not come to their end.
run_of no_case 1 "0 of 1 cases" "0 passed, 1 failed, 0 skipped" 'run_fake() { :; }'
run_of no_such_part 1 "0 of 1 cases" "0 passed, 1 failed, 0 skipped" ''
run_of part_fails_without_a_case 1 "0 of 3 cases" "2 passed, 1 failed, 0 skipped" 'run_fake() { good 2; return 1; }'
run_of part_is_killed 1 "0 of 3 cases" "2 passed, 1 failed, 0 skipped" 'run_fake() { good 2; kill -KILL $BASHPID; }'
run_of part_is_killed_after_a_failure 1 "1 of 201 cases: live/once" "200 passed, 1 failed, 0 skipped" \
    'run_fake() { good 199; echo "not ok live/once: why"; echo "end live"; kill -KILL $BASHPID; }'
run_of part_breaks_off_after_a_failure 1 "1 of 201 cases: live/once" "200 passed, 1 failed, 0 skipped" \
    'run_fake() { good 199; echo "not ok live/once: why"; return 1; }'
run_of last_line_breaks_off 1 "0 of 3 cases" "2 passed, 1 failed, 0 skipped" 'run_fake() { good 2; printf "not ok unit/bad"; }'
run_of part_ends_the_run 1 "1 of 201 cases: live/once" "200 passed, 1 failed, 0 skipped" \
    'run_fake() { good 199; echo "not ok live/once: why"; echo "200 passed, 0 failed, 0 skipped"; exit 7; }'

# ---- tests/vm/run.sh -----------------------------------------------------------------------------------------------

mkdir -p "$scratch/tree/tests" "$scratch/tree/scripts"
cp -r tests/vm "$scratch/tree/tests/"
echo "live fentry all" >"$scratch/tree/tests/vm/parts"
printf '#!/bin/sh\n' >"$scratch/tree/scripts/vm-kernels.sh"
# It has the arguments of the real one; GUEST plays the guest, with the parts asked for.
cat >"$scratch/tree/scripts/vm-run.sh" <<'END'
#!/bin/bash
while [ "$1" != -- ]; do shift; done
shift 2
eval "$GUEST"
END
chmod +x "$scratch"/tree/scripts/*

# vm_run NAME STATUS LAST LINE GUEST [ARGUMENT...]: of one kernel, or ARGUMENT; LINE is printed, unless it is empty.
vm_run() {
    local got name=$1 wanted=$2 last=$3 line=$4 guest=$5
    shift 5
    GUEST=$guest "$scratch/tree/tests/vm/run.sh" "${@:-6.1}" >"$scratch/out" 2>&1
    got=$?
    if [ $got = "$wanted" ] && [ "$(tail -n 1 "$scratch/out")" = "$last" ] && { [ -z "$line" ] || grep -qxF "$line" "$scratch/out"; }; then
        echo "ok count/vm_$name"
        return
    fi
    echo "not ok count/vm_$name: status $got, '$(tail -n 1 "$scratch/out")'"
    sed 's/^/# /' "$scratch/out"
    status=1
}
end='echo end live-fentry; echo part-end "$1" 3'
vm_run right 0 "1 passed, 0 failed, 0 skipped" "ok vm-6.1/live-fentry/a" "echo ok live-fentry/a; $end"
vm_run fails 1 "1 passed, 1 failed, 0 skipped" "not ok vm-6.1/live-fentry/b: why" \
    "echo ok live-fentry/a; echo not ok live-fentry/b: why; $end; exit 1"
vm_run one_case 0 "1 passed, 0 failed, 0 skipped" "ok vm-6.1/live-fentry/a" \
    '[ "$*" = live:fentry/a ] && echo ok live-fentry/a; echo end live-fentry; echo part-end "$1" 3' 6.1/live-fentry/a
vm_run two_kernels 0 "2 passed, 0 failed, 0 skipped" "" "echo ok live-fentry/a; $end" 6.1 7.2
vm_run no_case 1 "0 passed, 1 failed, 0 skipped" "not ok vm-6.1/live-fentry: no case ran" "$end"
vm_run whole_way_skipped 1 "0 passed, 1 failed, 0 skipped" "not ok vm-6.1/live-fentry: refused" "echo skip live-fentry: refused; $end"
vm_run part_breaks_off 1 "1 passed, 1 failed, 0 skipped" "not ok vm-6.1: these broke off: live:fentry" \
    'echo ok live-fentry/a; echo part-end "$1" 3'
vm_run part_breaks_off_after_a_failure 1 "0 passed, 2 failed, 0 skipped" "not ok vm-6.1: these broke off: live:fentry" \
    'echo not ok live-fentry/a: why; echo part-end "$1" 3; exit 1'
vm_run guest_is_killed 1 "0 passed, 2 failed, 0 skipped" "not ok vm-6.1: the tests ended with status 137" \
    'echo not ok live-fentry/a: why; exit 137'
vm_run guest_fails_without_a_case 1 "1 passed, 1 failed, 0 skipped" "not ok vm-6.1: the tests ended with status 1" \
    "echo ok live-fentry/a; $end; exit 1"
vm_run guest_panics 1 "1 passed, 1 failed, 0 skipped" "not ok vm-6.1: the guest panicked or froze twice; unfinished: live:fentry" \
    'echo ok live-fentry/a; exit 123'
vm_run no_vm 1 "0 passed, 1 failed, 0 skipped" "not ok vm-6.1: the VM did not run the tests" 'exit 125'
vm_run run_is_killed 1 "0 passed, 1 failed, 0 skipped" "not ok vm: 1 of the 1 runs for one kernel broke off" 'kill -KILL $PPID'
exit $status
