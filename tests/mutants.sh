#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#
# Plants faults, one at a time, and asks which test finds it.
#
#   mutants.sh [--only PATTERN] [--check] [--from NAME]
#
# --only   those whose name matches; --from: that one and those behind it
# --check  only whether each still applies: its text is there, once
#
# Each is planted into a copy of the work tree, build/mutants/tree, and what is asked is built there. Parts, in the order in which
# they are asked until one fails:
#
#   build         compiles, without a warning
#   golden        the golden traces and checks
#   unit          the unit tests but for those of symbols; unit:NAME one of them
#   schema        the reports' JSON against the schema and against itself
#   live:PATTERN  these live cases, and score:PATTERN these scenarios (root)
#
# One line each: `ok mutants/NAME: PART: what it said`, `not ok mutants/NAME: missed by PARTS`, or `not ok mutants/NAME: ...` where it
# does not apply; then `N planted, N caught (by PART: N, ...), N missed`. Exit status 1 unless all were caught.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 2

ONLY='*' CHECK='' FROM=''
while [ $# -gt 0 ]; do
    case $1 in
    --only) ONLY=$2 && shift ;;
    --from) FROM=$2 && shift ;;
    --check) CHECK=1 ;;
    *) echo "mutants.sh: no option $1" >&2 && exit 64 ;;
    esac
    shift
done
ROOT=$PWD
MUTANTS=$PWD/${MUTANTS:-build/mutants} # where the copy is: two may run side by side
TREE=$MUTANTS/tree LOG=$MUTANTS/log

# NAME FILE PARTS, then the text of a line as it is (-) and with the fault (+). The text is in the file once.
mutants() {
    cat <<'END'
seq_equal_is_after user/model/events.h golden unit
-return (int32_t)(a - b) > 0;
+return (int32_t)(a - b) >= 0;
seq_does_not_wrap user/model/events.h golden unit
-return (int32_t)(a - b) > 0;
+return a > b;
ack_of_another_timer user/analyze/holds/nagle.c golden unit
-return left->ack == chain->arrived->ack;
+return left->ack != chain->arrived->ack;
any_arrival_releases user/analyze/holds/nagle.c golden unit
-return !incident->open && seq_after(segment->ack, incident->release.seq);
+return incident->open && seq_after(segment->ack, incident->release.seq);
four_round_trips_are_forty user/analyze/holds/nagle.c golden unit
-#define PROMPT_ROUND_TRIPS 4
+#define PROMPT_ROUND_TRIPS 40
later_write_is_full_segment user/analyze/holds/release.c golden unit
-msg_more ? RELEASED_BY_LATER_WRITE : RELEASED_BY_FULL_SEGMENT
+msg_more ? RELEASED_BY_FULL_SEGMENT : RELEASED_BY_LATER_WRITE
uncork_unseen user/analyze/holds/release.c golden unit
-if (before & NONAGLE_CORK && !(after & NONAGLE_CORK))
+if (before & NONAGLE_CORK && after & NONAGLE_CORK)
cwnd_is_rwnd user/analyze/holds/release.c golden unit
-{.by_ack = RELEASED_BY_CWND_ACK
+{.by_ack = RELEASED_BY_RWND_ACK
retransmits_not_counted user/analyze/holds/recovery.c golden unit
-stall->retransmits++;
+;
least_kind_names_the_loss user/analyze/holds/recovery.c golden unit
-rank_of(retrans->kind) >= rank_of(progress->dearest->kind)
+rank_of(retrans->kind) <= rank_of(progress->dearest->kind)
peers_incident_is_none user/analyze/holds/intervals.c golden unit
-if (interval->span.conn != conn && interval->span.peer != conn)
+if (interval->span.conn != conn)
flow_begins_late user/analyze/holds/flow.c golden unit
-if (next->start_ts < incident->start_ts)
+if (next->start_ts > incident->start_ts)
last_overlap_counts user/analyze/waits/overlap.c golden unit
-if (length > overlap->stall_ns) {
+if (length) {
last_gap_is_longest user/analyze/waits/overlap.c golden unit
-if (until > at && until - at > longest) {
+if (until > at) {
way_back_of_a_seen_answer user/analyze/chain/waker_chain.c golden unit
-answered = clip(chain, exchange__first_write(served), until);
+answered = until;
syn_sent_again_is_network user/analyze/chain/waker_chain.c golden unit
-asked->connect_syns ? CAUSE_SYN_RETRANSMIT : CAUSE_NETWORK
+asked->connect_syns ? CAUSE_NETWORK : CAUSE_SYN_RETRANSMIT
peers_run_queue_is_its_program user/analyze/chain/waker_chain.c golden unit
-spend(chain, clip(chain, served->ready_ts, until), CAUSE_RUNQUEUE);
+spend(chain, clip(chain, served->ready_ts, until), CAUSE_PEER_APP);
accept_queue_is_peer user/analyze/chain/waker_chain.c golden unit
-const struct level level = {.cause = CAUSE_ACCEPT_QUEUE};
+const struct level level = {.cause = CAUSE_PEER_APP};
short_timer_is_input user/analyze/chain/waker_chain.c golden unit
-[NS_SHORT_TIMER] = CAUSE_TIMER,    [NS_SHORT_INPUT] = CAUSE_IPC,
+[NS_SHORT_TIMER] = CAUSE_IPC,    [NS_SHORT_INPUT] = CAUSE_TIMER,
input_of_a_request_is_idle user/analyze/chain/waker_chain.c golden unit
-spent->is_request ? 0 : input
+spent->is_request ? input : 0
far_sums_are_better user/analyze/chain/spent.c golden unit
-elsewhere(other, from, to) < elsewhere(best, from, to))
+elsewhere(other, from, to) > elsewhere(best, from, to))
late_wake_is_awaited user/analyze/waits/request.c golden unit
-served->begin_ts <= arrived + WAKE_AT_ONCE_NS;
+served->begin_ts <= arrived + WAIT_AT_ONCE_NS;
own_sleep_is_for_the_answer user/analyze/waits/request.c golden unit
-return !asked->spent_known || 2 * waited
+return asked->spent_known || 2 * waited
queued_is_the_asker user/explain/template.c golden unit
-longest = (struct queued){part->pid, part->tid, part->ns};
+longest = (struct queued){stall->pid, stall->tid, part->ns};
quota_is_run_queue user/analyze/chain/waker_chain.c golden unit
-spend(chain, clip(chain, throttle->head.ts, until), CAUSE_THROTTLED);
+spend(chain, clip(chain, throttle->head.ts, until), CAUSE_RUNQUEUE);
uncounted_time_is_computing user/analyze/chain/waker_chain.c golden unit
-if (nobodys >= model__threshold(chain->model) / 8)
+if (nobodys >= model__threshold(chain->model) * 8000)
bound_is_exact user/analyze/chain/chain_stall.c golden unit
-stall->exact = false;
+stall->exact = true;
reply_at_the_threshold user/analyze/waits/wait_queue.c golden unit
-if (reply.to < reply.from + model__threshold(queue->model))
+if (reply.to <= reply.from + model__threshold(queue->model))
one_end_for_two_causes user/analyze/waits/wait_queue.c golden unit
-(!ends || (reported->last && reported->cause == *ends))
+(!ends || reported->last)
request_arrived_when_read user/analyze/waits/request.c golden unit
-return served->arrived_ts && served->arrived_ts < served->begin_ts ? served->arrived_ts
+return served->arrived_ts && served->arrived_ts > served->begin_ts ? served->arrived_ts
first_site_is_elected user/analyze/tally.c golden unit
-if (*had && *votes) {
+if (*had) {
equal_times_turn_round user/analyze/order.c golden unit
-a->ts < b->ts : a->arrival < b->arrival
+a->ts < b->ts : a->arrival > b->arrival
record_told_twice user/analyze/order.c golden unit
-bool again = told_before(order, root.bytes);
+bool again = false && told_before(order, root.bytes);
table_loses_a_key user/base/table.c golden unit
-if (((i - home) & mask) < ((i - hole) & mask))
+if (((i - home) & mask) <= ((i - hole) & mask))
letter_beyond_the_end user/base/text.c golden unit
-if (s[0] > 0xf4 || len > left)
+if (s[0] > 0xf4 || len > left + 1)
half_is_rounded_down user/base/text.c golden unit
-if (value % (unit / 100) >= unit / 200)
+if (value % (unit / 100) > unit / 200)
yaml_backslash user/base/escape.c golden unit
-else if (code == '"' || code == '\\')
+else if (code == '"')
record_longer_than_its_bytes user/record/decode.c golden unit
-if (head.len < sizeof(head) || head.len > len)
+if (head.len < sizeof(head))
sum_beyond_the_window user/record/decode.c golden unit
-bool is_wrong = below_zero || (beyond && *length - most > SKEW_NS);
+bool is_wrong = below_zero;
loss_hides_nothing user/record/losses.c golden unit
-count += kinds[kind].remedy ? lost[kind] : 0;
+count += kinds[kind].remedy ? 0 : lost[kind];
values_by_their_place user/record/recording.c golden unit
-step->values[i] = j;
+step->values[i] = (uint32_t)i;
loopback_is_hidden user/record/anonymize.c golden unit
-(ntohl(addr[0]) >> 24) == 127
+(ntohl(addr[0]) >> 24) == 126
program_is_shown user/record/anonymize.c golden unit
-if (!*comm || is_of_kernel(comm))
+if (*comm || is_of_kernel(comm))
holm_is_bonferroni user/check/judge/baseline.c golden unit
-(1 - confidence) / (double)(count - i)
+(1 - confidence) / (double)count
unproven_stalls_count user/check/judge/gate.c golden unit
-budget__is_exceeded(budget, own->proven, proven_ns, outcome->seconds)
+budget__is_exceeded(budget, own->count, own->total_ns, outcome->seconds)
guessed_end_is_over user/check/judge/beyond.c golden unit
-if (stall__traits(stall) & STALL_END_GUESSED)
+if (stall__traits(stall) & STALL_END_GUESSED && false)
one_thread_hands_over user/analyze/requests/habits.c golden unit
-return subject->exchanges >= ENOUGH && subject->switching > 1 &&
+return subject->exchanges >= ENOUGH &&
fin_is_a_byte user/render/pcapng/pcapng.c live:pcapng_fin_with_data
-.bytes = segment->end - segment->seq,
+.bytes = segment->end - segment->seq - (segment->flags & 1),
new_privileges_are_kept user/kernel/privileges.c unit live:capabilities_dropped
-cap_set_proc(caps) || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
+cap_set_proc(caps))
capabilities_are_kept user/kernel/privileges.c unit live:capabilities_dropped
-!caps || cap_set_proc(caps) ||
+!caps ||
nothing_is_dropped user/cmd/live.c live:capabilities_dropped
-privileges__drop();
+;
caller_keeps_roots_uid user/kernel/privileges.c unit live:outputs_are_the_callers
-if (setgid(gid) || setuid(uid))
+if (setgid(gid))
caller_keeps_roots_groups user/kernel/privileges.c unit live:@(outputs_are_the_callers|program_as_the_caller)
-if (user ? take_groups(user, gid) : setgroups(0, NULL))
+if (false && take_groups(user, gid))
no_id_is_an_id user/kernel/privileges.c unit live:outputs_caller_unclear
-if (value > 0xfffffffeull)
+if (value > 0xffffffffull)
link_of_another_user user/process/as_caller.c unit live:outputs_are_no_roots
-return *link && status.st_uid != 0 && status.st_uid != geteuid() ? -ELOOP : 0;
+return 0;
broker_keeps_all user/symbols/file_broker.c live:capabilities_dropped
-if (privileges__keep_only(kept, 3))
+if (false && privileges__keep_only(kept, 3))
bpf_seq_equal_is_after bpf/lib/maps.bpf.h live:@(split|cork|single)
-return (__s32)(b - a) < 0;
+return (__s32)(b - a) <= 0;
bpf_held_time_of_a_request bpf/tcp/hold.bpf.h live:requests_below_the_threshold
-conn->turn.held_ns += now - since;
+;
bpf_closed_window_is_small bpf/tcp/reason.bpf.h unit:reason live:@(holds_zero_window|holds_rwnd)
-return hold->snd_wnd ? NS_HOLD_RWND : NS_HOLD_ZERO_WINDOW;
+return hold->snd_wnd ? NS_HOLD_ZERO_WINDOW : NS_HOLD_RWND;
bpf_more_is_a_cork bpf/tcp/reason.bpf.h unit:reason live:@(msg_more|cork)
-return msg_more ? NS_HOLD_MSG_MORE : NS_HOLD_CORK;
+return msg_more ? NS_HOLD_CORK : NS_HOLD_MSG_MORE;
bpf_full_cwnd_has_room bpf/tcp/reason.bpf.h unit:reason live:holds_cwnd
-if (hold->in_flight >= hold->cwnd)
+if (hold->in_flight > hold->cwnd)
bpf_full_rwnd_has_none bpf/tcp/reason.bpf.h unit:reason live:@(split|holds_rwnd|holds_sndbuf)
-if (hold->unacked + segment > hold->snd_wnd)
+if (hold->unacked + segment >= hold->snd_wnd)
bpf_small_segment bpf/tcp/reason.bpf.h unit:reason live:split
-return seq_after(snd_sml, snd_una) && !seq_after(snd_sml, hold->seq);
+return seq_after(snd_sml, snd_una) && seq_after(snd_sml, hold->seq);
bpf_pacing_by_its_time bpf/tcp/reason.bpf.h unit:reason live:holds_pacing
-if (hold->pacing_us || pacing_waits(sk))
+if (hold->pacing_us)
bpf_probe_is_a_timeout bpf/tcp/recovery.bpf.h unit:reason live:loss_tlp
-return pending == NS_ICSK_TIME_LOSS_PROBE ? NS_RETRANS_TLP : NS_RETRANS_UNKNOWN;
+return pending == NS_ICSK_TIME_LOSS_PROBE ? NS_RETRANS_RTO : NS_RETRANS_UNKNOWN;
bpf_acked_one_later bpf/tcp/recovery.bpf.h unit:reason live:@(loss_rto|loss_tlp|loss_fast)
-if (!conn->recovery.ts || seq_after(conn->recovery.end, ack))
+if (!conn->recovery.ts || !seq_after(ack, conn->recovery.end))
bpf_retries_not_counted bpf/tcp/recovery.bpf.h unit:reason live:@(loss_rto|loss_tlp)
-conn->recovery.timer_retries++;
+;
bpf_no_run_queue bpf/thread/sched.bpf.h live:@(medley|preempted|offwake_sums|wait_sums)
-thread->runqueue_ns += ready;
+;
bpf_stopped_is_asleep bpf/thread/sched.bpf.h live:wait_stopped
-return state & NS_TASK_STOPPED ? NS_STATE_STOPPED : state & NS_TASK_ASLEEP;
+return state & NS_TASK_ASLEEP;
bpf_preempted_is_asleep bpf/thread/sched.bpf.h live:@(not_preempted|preempted)
-thread->involuntary++;
+thread->voluntary++;
bpf_waker_is_its_process bpf/thread/wait.bpf.h live:@(wait_futex|wait_pipe)
-out->wait.waker_tid = thread->waker.tid;
+out->wait.waker_tid = thread->waker.tgid;
bpf_turn_is_never_ours bpf/thread/wait.bpf.h live:@(wait_peer|late_server)
-return conn->writes ? NS_TURN_WROTE : conn->turn_found;
+return conn->turn_found;
bpf_ring_read_is_a_turn bpf/thread/wait.bpf.h live:@(uring_split|uring_all_kinds)
-if (BPF_CORE_READ(tp, copied_seq) - bytes != conn->copied_seq)
+if (BPF_CORE_READ(tp, copied_seq) != conn->copied_seq)
bpf_lost_wait_not_counted bpf/thread/wait.bpf.h live:lost_waits_are_counted
-count_lost(NS_LOST_RINGBUF);
+;
bpf_unwanted_port bpf/thread/wait.bpf.h live:@(other_port_is_not_traced|by_remote_port|by_local_port)
-if (!settings.any_process && proc_role(tgid) & NS_ROLE_TARGET)
+if (false)
bpf_other_threads bpf/lib/target.bpf.h unit:target live:@(by_tid|by_tid_alone)
-if (only_tids[i] == tid)
+if (only_tids[i] != tid)
bpf_lost_process_not_counted bpf/lib/target.bpf.h unit:target
-if (!known) {
+if (known) {
bpf_worker_is_poll bpf/uring/uring_done.bpf.h live:uring_all_kinds
-return NS_URING_WORKER;
+return NS_URING_POLLED;
bpf_multishot_is_finished bpf/uring/uring_done.bpf.h live:@(uring_mix|uring_all_kinds)
-if (!(op->cqe_flags & NS_CQE_MORE))
+if (op->cqe_flags & NS_CQE_MORE)
bpf_least_operation_is_most bpf/uring/uring_done.bpf.h live:@(uring_mix|uring_all_kinds)
-if (took > counts->max_ns)
+if (took < counts->max_ns)
bpf_request_begins_with_last_write bpf/thread/exchange.bpf.h live:requests_split score:unfinished-message
-out->begin_ts = conn->turn.ts;
+out->begin_ts = conn->turn.wrote_ts;
bpf_weight_is_one bpf/thread/exchange.bpf.h live:@(requests_single|requests_many_connections)
-out->weight = answer->weight;
+out->weight = 1;
bpf_run_time_not_counted bpf/thread/spent.bpf.h live:requests_after_computing
-run_ns += ns_passed(thread->since, now);
+run_ns += 0;
bpf_quota_in_us bpf/thread/throttle.bpf.h score:quota
-out->quota_us = BPF_CORE_READ(group, cfs_bandwidth.quota) / 1000;
+out->quota_us = BPF_CORE_READ(group, cfs_bandwidth.quota) / 100;
END
}

# replace FILE OLD NEW: in the copy, if it is there once.
replace() {
    /usr/bin/python3 - "$@" <<'END'
import sys

path, old, new = sys.argv[1:]
with open(path, encoding="utf-8") as file:
    text = file.read()
if text.count(old) != 1:
    sys.exit(f"its text is there {text.count(old)} times, not once")
with open(path, "w", encoding="utf-8") as file:
    file.write(text.replace(old, new))
END
}

# build TARGET...: in the copy. Sets SAID.
build() {
    SAID=$(make -s -j2 -C "$TREE" "$@" 2>&1 >/dev/null)
    local status=$?
    [ $status != 0 ] || [ -n "$SAID" ] || return 0
    PART=build
    return 1
}

# Those that take longest come last.
unit_targets() { (cd "$TREE" && find "tests/unit/$2" -name "test_$1.c" 2>/dev/null) | sed 's|\.c$||; s|^|build/|' | sort |
    awk '/(pipeline|uring_list|random|long_run|bounds)$/ { late[++n] = $0; next } { print } END { for (i = 1; i <= n; i++) print late[i] }'; }
failed_of() { grep '^not ok' <<<"$SAID" | head -n 1 | cut -c1-160; }

# ask_units NAME FOLDER [BUT]: the unit tests of this name there, without those whose path has BUT.
ask_units() {
    local targets program failed=''
    mapfile -t targets < <(unit_targets "$1" "$2" | sed 's|/\./|/|' | grep -v "${3:-^$}")
    [ ${#targets[@]} -gt 0 ] || { SAID='' && return; }
    build "${targets[@]}" || return
    for program in "${targets[@]}"; do
        SAID=$(cd "$TREE" && CMOCKA_MESSAGE_OUTPUT=TAP timeout 120 "$program" 2>&1) || { failed="not ok ${program##*/}: $(failed_of)" && break; }
    done
    SAID=$failed
}

# ask PART: is it found there? Sets SAID, a line of what was found, and PART, by what.
ask() {
    local what=${1#*:} program
    PART=${1%%:*}
    case $1 in
    golden)
        build build/tests/golden/render_trace build/tests/golden/check/render_check || return 0
        # Only what is rendered otherwise than without the fault can fail.
        local rendered=$LOG/rendered name
        rm -rf "$rendered" && mkdir -p "$rendered"
        (cd "$TREE" && tests/golden/run.sh --rendered "$rendered" build/tests/golden/render_trace) >/dev/null 2>&1
        for name in $(cd "$rendered" && find . -name '*.rendered' | sed 's|^\./||' | sort); do
            ! cmp -s "$rendered/$name" "$LOG/without/$name" || continue
            name=${name#golden/}
            SAID=$(cd "$TREE" && TMPDIR=$LOG tests/golden/run.sh --only "${name%.rendered}" build/tests/golden/render_trace 2>&1)
            SAID=$(failed_of)
            [ -z "$SAID" ] || return 0
        done
        SAID=
        ;;
    unit:*) ask_units "$what" . ;;
    unit)
        # The folder's own first. Those of symbols take as long as all others together.
        ask_units '*' "$FOLDER" && [ -z "$SAID" ] && ask_units '*' . /symbols/
        ;;
    schema)
        build test-programs || return 0
        SAID=$(cd "$TREE" && tests/run.sh schema 2>&1)
        SAID=$(failed_of)
        ;;
    live:*)
        build test-programs || return 0
        SAID=$(cd "$TREE" && tests/live/run.sh --only "$what" 2>&1)
        SAID=$(failed_of)
        ;;
    score:*)
        build build/netstall build/tests/scenarios/scene || return 0
        SAID=$(cd "$TREE" && tests/scenarios/score.sh --only "$what" 2>&1)
        SAID=$(failed_of)
        ;;
    *) SAID="there is no part $1" ;;
    esac
    [ -n "$SAID" ]
}

# copy: the work tree as it is, with what is built of it.
copy() {
    mkdir -p "$TREE" "$LOG"
    local file
    # What a run that was broken off left changed is put right.
    while IFS= read -r -d '' file; do
        cmp -s "$file" "$TREE/$file" || { mkdir -p "$TREE/$(dirname "$file")" && cp "$file" "$TREE/$file"; }
    done < <(git ls-files -z --cached --others --exclude-standard)
    [ -d "$TREE/build" ] || { mkdir "$TREE/build" && find build -mindepth 1 -maxdepth 1 ! -name 'mutants*' ! -name vm ! -name failed ! -name san \
        ! -name clang ! -name fuzz -exec cp -a {} "$TREE/build/" \; ; }
    make -s -j2 -C "$TREE" test-programs >/dev/null || return
    rm -rf "$LOG/without" && mkdir -p "$LOG/without"
    (cd "$TREE" && tests/golden/run.sh --rendered "$LOG/without" build/tests/golden/render_trace) >/dev/null
}

planted=0 missed=0 status=0
declare -A by

# try NAME FILE PARTS OLD NEW
try() {
    local name=$1 file=$2 parts=$3 part
    if ! SAID=$(replace "$TREE/$file" "$4" "$5" 2>&1); then
        echo "not ok mutants/$name: $file: $SAID"
        status=1
        return
    fi
    planted=$((planted + 1))
    FOLDER=$(cut -d / -f 2 <<<"$file")
    for part in $parts; do
        if ask "$part"; then
            echo "ok mutants/$name: $PART: $(head -n 1 <<<"$SAID" | cut -c1-200)"
            by[$PART]=$((${by[$PART]:-0} + 1))
            part=
            break
        fi
    done
    if [ -n "$part" ]; then
        echo "not ok mutants/$name: missed by $parts"
        missed=$((missed + 1)) status=1
    fi
    cp "$ROOT/$file" "$TREE/$file"
}

check() {
    cp "$ROOT/$2" "$LOG/checked"
    if SAID=$(replace "$LOG/checked" "$4" "$5" 2>&1); then
        echo "ok mutants/$1"
    else
        echo "not ok mutants/$1: $2: $SAID" && status=1
    fi
}

mkdir -p "$LOG"
action=try
[ -z "$CHECK" ] || action=check
[ -n "$CHECK" ] || copy || exit 1
while read -r -u 3 name file parts && IFS= read -r -u 3 old && IFS= read -r -u 3 new; do
    [ -z "$FROM" ] || [ "$name" = "$FROM" ] || continue
    FROM=
    # shellcheck disable=SC2053
    [[ $name == $ONLY ]] || continue
    "$action" "$name" "$file" "$parts" "${old#-}" "${new#+}"
done 3< <(mutants)
if [ -z "$CHECK" ]; then
    parts=''
    for part in "${!by[@]}"; do parts+="${parts:+, }$part: ${by[$part]}"; done
    echo "$planted planted, $((planted - missed)) caught (by $parts), $missed missed"
fi
exit $status
