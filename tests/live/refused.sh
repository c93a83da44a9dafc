# shellcheck shell=bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# A kernel that refuses a program, its attachment or a table: netstall goes on without what is optional, and says what; else it ends
# with one sentence. Each that `trace`, `check` and `offwake` ask for is refused in turn: what has to remain is in the table below.

# refused VARIABLE NAMES ARG...: netstall there; what it says is in $SCRATCH/err, its report in $SCRATCH/report
refused() {
    local -x LD_PRELOAD=$PWD/$WORKLOADS/refuse.so "$1=$2"
    shift 2
    timeout 60 "$NETSTALL" "$@" >"$SCRATCH/out" 2>"$SCRATCH/err"
    echo $? >"$SCRATCH/status"
    tail -n 1 "$SCRATCH/out" >"$SCRATCH/report"
}

can_be_refused() {
    ! is_sanitized || skip "nothing can be preloaded before the sanitizer"
}

# What remains where a program is refused, as `trace` and `check` have it, then `offwake`: `needed` (it ends with status 2 and says
# why), `other` (another program serves as well), or the fact that is missing. `-`: it is not asked for.
what_remains() {
    cat <<'END'
iter_tasks needed needed
iter_seed early-sleeps early-sleeps
iter_files needed -
iter_waits open-waits -
iter_sleepers - sleeping-stacks
each_conn needed -
each_ring uring -
each_op uring -
each_ring_files uring -
pe_busy busy -
tp_exit needed needed
tp_exec needed needed
tp_fork children -
tp_switch other other
tp_waking needed needed
tp_send needed -
tp_transmit needed -
tp_receive needed -
tp_delack_arm delack-arm -
tp_delack_fire needed -
tp_set_state life -
tp_destroy life -
tp_read read -
tp_retrans_3 other -
tp_udp_read datagram -
tp_uring_create uring -
tp_uring_regist uring -
tp_uring_failed uring -
tp_uring_overfl uring -
tp_uring_submit uring -
tp_uring_done uring -
tp_uring_queue uring-course -
tp_uring_arm uring-course -
tp_uring_ready uring-course -
tp_uring_wait uring-course -
tp_softirq_entr - needed
tp_softirq_exit - needed
tp_segment_sent - needed
tp_segment_rece - needed
netstall_probe needed needed
fexit_send needed -
fexit_send_spar other -
fexit_decision_ other -
kretprobe_send needed -
kprobe_send needed -
fexit_sendpage sendpage -
kprobe_sendpage sendpage -
kretprobe_sendp sendpage -
fexit_decision decision -
kprobe_decision decision -
fentry_transmit other -
kprobe_transmit other -
fentry_receive other -
kprobe_receive other -
fentry_delack_f other -
kprobe_delack_f other -
fentry_udp_send datagram -
fentry_udp6_sen datagram -
fentry_udp_read datagram -
kprobe_udp_send datagram -
kprobe_udp6_sen datagram -
kprobe_udp_read datagram -
END
}

# Likewise of tables: those that do not stand here are needed.
what_remains_without_table() {
    cat <<'END'
cgroups other other
cpu_runs needed other
datagrams needed other
scratches early-sleeps needed
sending other -
services life -
uring_counts uring -
uring_errors uring -
END
}

# asked_for VARIABLE ARG...: the names of what that command asks the kernel for
asked_for() {
    local variable=$1
    shift
    rm -f "$SCRATCH/list"
    REFUSE_LIST=$SCRATCH/list refused REFUSE '' "$@"
    awk -v kind="$variable" '$1 == kind && $2 && $2 !~ /^libbpf_/ { print $2 }' "$SCRATCH/list" | sort -u
}

# It ended in one sentence that names the program or table.
expect_needed() { # NAME
    expect_is "the status without $1" "$(cat "$SCRATCH/status")" 2
    expect_is "lines without $1" "$(grep -c '^netstall: ' "$SCRATCH/err")" 1
    if [ "$1" = netstall_probe ]; then
        grep -q '^netstall: .*seccomp filter or a security policy' "$SCRATCH/err" || fail "without $1: $(head -c 400 "$SCRATCH/err")"
    elif [[ $1 = *.* ]]; then # its own data: nothing goes without them
        grep -q "^netstall: the kernel refuses the table $1, which netstall needs: Operation not permitted" "$SCRATCH/err" || fail "without $1: $(head -c 400 "$SCRATCH/err")"
    else
        grep -q "^netstall: .*$1.*Operation not permitted; without it netstall does not see " "$SCRATCH/err" ||
            fail "without $1: $(head -c 400 "$SCRATCH/err")"
        ! grep -q 'seccomp' "$SCRATCH/err" || fail "without $1 a policy is blamed: $(cat "$SCRATCH/err")"
    fi
}

# expect_remains WHAT NAME COMMAND: after refused()
expect_remains() {
    local missing refused noted=1
    case $1 in
    needed) expect_needed "$2" && return ;;
    other) missing='' ;;
    *) missing=$1 ;;
    esac
    case $3 in
    offwake)
        expect_is "the status without $2" "$(cat "$SCRATCH/status")" 0
        [ "$missing" ] || noted=0
        expect_is "what is noted without $2" "$(grep -c "^netstall: not watched: .*$2.*Operation not permitted" "$SCRATCH/err")" $noted
        return
        ;;
    check)
        # Of what the default gates need there is the fact life alone.
        [ "$missing" = life ] || noted=0
        expect_is "the status without $2" "$(cat "$SCRATCH/status")" $((3 * noted))
        expect_is "what is inconclusive without $2" "$(tr -s '\n ' ' ' <"$SCRATCH/out" | grep -c "syn-retransmit cannot be judged here: .*$2.*Operation not permitted")" $noted
        return
        ;;
    esac
    expect_is "the status without $2" "$(cat "$SCRATCH/status")" 0
    refused=$(report '[.completeness.refused[]? | .fact + " " + .why] | join("; ")')
    case $missing:$refused in
    :) ;;
    "$missing:$missing "*"$2"*": Operation not permitted") ;;
    *) fail "without $2 the report lacks '$refused', not '$missing'" ;;
    esac
}

# each_refused VARIABLE COLUMN PATTERN COMMAND ARG...: refuses each that it asks for in turn, of the names that match. ONE_OF_EACH: of
# those of which the same remains one, but for nightly.
each_refused() {
    local variable=$1 column=$2 pattern=$3 name what all table=what_remains
    local -A seen=()
    shift 3
    can_be_refused
    [ "$variable" != REFUSE_MAP ] || table=what_remains_without_table
    all=$(asked_for "$variable" "$@" | grep -E "$pattern")
    [ -n "$all" ] || fail "nothing is asked for: $(cat "$SCRATCH/err")"
    for name in $all; do
        what=$($table | awk -v name="$name" -v column="$column" '$1 == name { print $column }')
        [ "$variable" != REFUSE_MAP ] || what=${what:-needed}
        [ "${what:--}" != - ] || fail "$1 asks for $name, which the table does not have"
        [ -n "${NIGHTLY:-}" ] || [ -z "${ONE_OF_EACH:-}" ] || [ -z "${seen[$what]:-}" ] || continue
        seen[$what]=1
        REFUSE_ERRNO=1 refused "$variable" "$name" "$@"
        expect_remains "$what" "$name" "$1"
    done
}

here() { [ -z "${ATTACH[*]}$QUICK" ] || skip "the table is of the hardened kernel's way"; }
case_refused_to_load() { here && each_refused REFUSE_LOAD 2 . trace -p $$ -d 0.05 --json; }
# What remains without it is the same where it is the attachment or a table that is refused.
case_refused_to_attach() { here && ONE_OF_EACH=1 each_refused REFUSE 2 . check -p $$ -d 0.05 --allow-no-traffic; }
case_refused_to_run() { here && each_refused REFUSE_RUN 2 . trace -p $$ -d 0.05 --json; }
case_refused_tables() { here && ONE_OF_EACH=1 each_refused REFUSE_MAP 2 . trace -p $$ -d 0.05 --json; }
case_refused_of_the_profile() {
    here
    ONE_OF_EACH=1 each_refused REFUSE_LOAD 3 . offwake -p $$ 0.05
    ONE_OF_EACH=1 each_refused REFUSE 3 '^(tp|iter)_' offwake -p $$ 0.05
    ONE_OF_EACH=1 each_refused REFUSE_MAP 3 . offwake -p $$ 0.05
}

# What is a way's own, in one VM: the others are the same everywhere. Each takes an emulated machine seconds, so in CI there is one that
# is needed, one that another serves for, and one that costs a fact.
# shellcheck disable=SC2034
QUICK_CASES+=" way_refused "
case_way_refused() {
    local names='^(fexit_send|fexit_decision|fentry_receive|kretprobe_send|kprobe_decision|kprobe_receive)$'
    case $(uname -r):${ATTACH[*]} in 6.1.*fentry | 6.1.*kprobe) ;; *) skip "by fentry and kprobe, on 6.1 alone" ;; esac
    [ -z "${NIGHTLY:-}" ] || names='^(fentry|fexit|kprobe|kretprobe)_'
    each_refused REFUSE_LOAD 2 "$names" trace "${ATTACH[@]}" -p $$ -d 0.05 --json
}

# without_call CALLS ERROR N COMMAND...: the Nth of these calls fails: one sentence and status 2 within 5 s, or it goes on. False: there
# are not so many.
without_call() {
    local calls=$1 error=$2 n=$3 begin=$EPOCHREALTIME status=0
    shift 3
    timeout -s KILL 30 strace --seccomp-bpf -f -o "$SCRATCH/calls" -e "trace=$calls" -e "inject=$calls:error=$error:when=$n" \
        "$NETSTALL" "$@" >"$SCRATCH/out" 2>"$SCRATCH/err" || status=$?
    grep -q '(INJECTED)' "$SCRATCH/calls" || return 1
    [ $status != 0 ] || return 0
    expect_is "the status of $1 without its ${n}th $calls" $status 2
    expect_is "lines of $1 without its ${n}th $calls" "$(grep -c '^netstall: ' "$SCRATCH/err")" 1
    [ -n "${COMPANY:-}" ] ||
        expect "seconds of $1 without its ${n}th $calls" "$(awk "BEGIN { print $EPOCHREALTIME - $begin }")" '<' 5
}

# Whatever of its own or of its libraries' calls that is: each 24th, from another one on each day; each night a third of them.
case_refused_calls() {
    local calls error command n first step
    command -v strace >"$SCRATCH/strace.path" || skip "strace is not installed"
    can_be_refused
    here
    # libbpf tries by a table of its own whether one can be mapped, and goes on when that is refused: a crash before.
    strace -o "$SCRATCH/tries" -e trace=bpf "$NETSTALL" trace -p $$ -d 0.05 >"$SCRATCH/out" 2>&1
    n=$(grep '^bpf(' "$SCRATCH/tries" | grep -n 'max_entries=1, map_flags=BPF_F_MMAPABLE' | head -n 1 | cut -d: -f1)
    [ -n "$n" ] || fail "libbpf tries nothing: $(head -c 300 "$SCRATCH/tries")"
    without_call bpf ENOMEM "$n" trace -p $$ -d 0.05 && grep -q 'no memory for BPF' "$SCRATCH/err" || fail "it says $(cat "$SCRATCH/err")"
    # It tries what types of functions a kernel takes (the second one of BTF), goes on without, and the verifier gave up after 10 s.
    n=$(grep '^bpf(' "$SCRATCH/tries" | grep -n 'BPF_BTF_LOAD' | sed -n 2p | cut -d: -f1)
    without_call bpf ENOMEM "${n:-0}" trace -p $$ -d 0.05 && grep -q "did not take the types" "$SCRATCH/err" || fail "it says $(cat "$SCRATCH/err")"
    while read -r calls error command; do
        case $calls in bpf | openat) step=$([ -n "${NIGHTLY:-}" ] && echo 3 || echo 24) ;; *) step=1 ;; esac
        first=$((1 + $(date +%s) / 86400 % step)) n=$first
        # shellcheck disable=SC2086
        while without_call "$calls" "$error" $n $command; do n=$((n + step)); done
        expect "calls of $calls" $((n - first)) '>' 0
    done <<END
bpf ENOMEM trace -p $$ -d 0.05
openat EMFILE trace -p $$ -d 0.05
perf_event_open EPERM trace -p $$ -d 0.05
clone,clone3,fork,vfork EAGAIN check --allow-no-traffic -- true
socketpair EMFILE check --allow-no-traffic -- true
pipe,pipe2 EMFILE check --allow-no-traffic -- true
epoll_create1,epoll_ctl EMFILE offwake -f -p $$ 0.05
END
}

# By the kernel's other answers, and for what is asked for by options alone.
case_refused_otherwise() {
    local error
    can_be_refused
    for error in 16 17 7 28; do # EBUSY EEXIST E2BIG ENOSPC
        REFUSE_ERRNO=$error refused REFUSE tp_exit trace "${ATTACH[@]}" -p $$ -d 0.05
        expect_is "the status with error $error" "$(cat "$SCRATCH/status")" 2
        grep -q '^netstall: tp_exit does not attach: .*; without it netstall does not see when .*; other tracers' "$SCRATCH/err" || fail "$(cat "$SCRATCH/err")"
    done
    for error in 'REFUSE tp_exit' 'REFUSE tp_retrans_3' 'REFUSE_LOAD tp_read' 'REFUSE_MAP conns'; do
        # shellcheck disable=SC2086 # words
        REFUSE_ERRNO=12 refused $error trace "${ATTACH[@]}" -p $$ -d 0.05
        expect_is "the status without memory for $error" "$(cat "$SCRATCH/status")" 2
        grep -q '^netstall: .*no memory for BPF programs' "$SCRATCH/err" || fail "$(cat "$SCRATCH/err")"
    done
    refused REFUSE tp_fork trace "${ATTACH[@]}" -p $$ --children -d 0.05
    grep -q '^netstall: tp_fork does not attach: .*who is a child' "$SCRATCH/err" || fail "$(cat "$SCRATCH/err")"
    refused REFUSE tp_rename trace "${ATTACH[@]}" --comm nobody -d 0.05
    grep -q '^netstall: tp_rename does not attach: .*who takes that name later' "$SCRATCH/err" || fail "$(cat "$SCRATCH/err")"
    refused REFUSE tp_waking,tp_switch,tp_switch_3 trace "${ATTACH[@]}" -p $$ -d 0.05
    expect_is "the status without the scheduler" "$(cat "$SCRATCH/status")" 2
    refused REFUSE tp_retrans_3,tp_retrans trace "${ATTACH[@]}" -p $$ -d 0.05 --json
    expect_is "the status without retransmissions" "$(cat "$SCRATCH/status")" 0
    expect_is "what is missing" "$(report 'any(.completeness.missing[]; . == "retrans")')" true
}

# The kernel runs no program for an exit while that of another one is preempted on that CPU (Linux 7.0 on).
case_exits_that_no_program_saw() {
    local pid
    can_be_refused
    sleep 5 & # it has to outlast the start
    pid=$!
    refused MISS tp_exit record "${ATTACH[@]}" -o "$SCRATCH/recording" -p $pid
    expect_is "the status" "$(cat "$SCRATCH/status")" 0
    expect_is "exits told" "$("$NETSTALL" report --text "$SCRATCH/recording" | grep -c " exit .*tgid=$pid ")" 1
}

# doctor says of each what the commands do.
case_refused_and_doctor() {
    can_be_refused
    here
    REFUSE_ERRNO=1 refused REFUSE_LOAD tp_read,tp_uring_wait,tp_rename,iter_sleepers doctor
    expect_is "doctor's status" "$(cat "$SCRATCH/status")" 0
    grep -q "^  trace, check, record   possible without the application's reads (the kernel refuses tp_read: Operation not permitted), how io_uring" "$SCRATCH/out" &&
        grep -q '^    of --comm NAME       not possible: the kernel refuses tp_rename: ' "$SCRATCH/out" &&
        grep -q '^    of -c CGROUP         possible without ' "$SCRATCH/out" &&
        grep -q '^  offwake                possible without user stacks .*iter_sleepers' "$SCRATCH/out" &&
        grep -q '^Tracing is possible' "$SCRATCH/out" || fail "$(cat "$SCRATCH/out")"
    REFUSE_ERRNO=1 refused REFUSE_LOAD tp_exit doctor
    expect_is "doctor's status without tp_exit" "$(cat "$SCRATCH/status")" 2
    grep -q '^Tracing is not possible: the kernel refuses tp_exit: Operation not permitted; without it' "$SCRATCH/out" || fail "$(cat "$SCRATCH/out")"
    REFUSE_ERRNO=1 refused REFUSE_LOAD tp_uring_done doctor
    grep -q '^  io_uring operations    not possible: the kernel refuses tp_uring_done: Operation not permitted' "$SCRATCH/out" || fail "$(cat "$SCRATCH/out")"
}
