#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#
# Does netstall hold out? One `netstall trace` watches programs that come and go, connect, fork and stall, for as long as is asked
# for; beside it others begin and end, by SIGKILL too, at any moment.
#
#   SOAK_SECONDS=1800 soak.sh [-C attach=WAY]
#
# The long one has to stay as it is (memory, open files, processes, BPF objects), to end right, and to account for every exchange; of
# the others nothing may be left, no process and no BPF object. Root. A line for each of it, `ok soak/NAME` or `not ok soak/NAME: why`;
# exit status 1 if any failed, 2 if nothing could be tried.
# shellcheck disable=SC2086 # numbers and lists of them
set -uo pipefail
cd "$(dirname "$0")/.." || exit 2

NETSTALL=${NETSTALL:-build/netstall}
WORKLOADS=$(realpath "${WORKLOADS:-build/tests/workload}")
NAME=soak-$$ # of the targets
KILLS=$([ "${SOAK_SECONDS:-1800}" -ge 300 ] && echo 20 || echo 8) # of others, so many at least
DIR=$(mktemp -d) || exit 2
ATTACH=("$@")

failed=0
judge() { # judge NAME WHY COMMAND...
    local name=$1 why=$2
    shift 2
    if "$@"; then echo "ok soak/$name"; else echo "not ok soak/$name: $why" && failed=1; fi
}
at_most() { awk "BEGIN { exit !(($1) <= ($2)) }"; }
wait_for() { # wait_for SECONDS COMMAND...
    local limit=$((SECONDS + $1))
    shift
    until "$@"; do
        [ $SECONDS -lt $limit ] || return 1
        sleep 0.2
    done
}
gone() { ! kill -0 "$1" 2>/dev/null; }
has_line() { grep -q "$1" "$2"; }

# started_as NAME: processes that have it in their environment, children included; any, without a name.
started_as() { grep -lszF "SOAK=$DIR/${1:+$1/}" /proc/[0-9]*/environ | tr -dc '0-9\n'; }
none_as() { [ -z "$(started_as "$@")" ]; }
names_of() { xargs -I{} cat /proc/{}/comm 2>/dev/null | paste -sd' '; }

GROUP=''
# shellcheck disable=SC2317 # the trap's
clean_up() {
    rm -f "$DIR/on"
    # shellcheck disable=SC2046
    kill -KILL $(jobs -p) $(started_as) 2>/dev/null
    wait 2>/dev/null
    [ -z "$GROUP" ] || { wait_for 5 rmdir "$GROUP" && umount "$DIR/cgroup"; } 2>/dev/null
    rm -rf "$DIR"
}
trap clean_up EXIT
trap 'exit 130' INT TERM

# ---- the load: targets by name and by cgroup, each for a short time ----

# again PROGRAM ARG...: it, called $NAME, again and again.
again() {
    local program=$DIR/$BASHPID/$NAME
    mkdir "${program%/*}" && ln -s "$1" "$program"
    shift
    [ -z "$GROUP" ] || echo "$BASHPID" >"$GROUP/cgroup.procs"
    while [ -e "$DIR/on" ]; do
        "$program" "$@" </dev/null || echo "failed: $*" >>"$DIR/wrong"
        sleep 0.3
    done
}
start_load() {
    mkdir "$DIR/cgroup"
    if mount -t cgroup2 cgroup2 "$DIR/cgroup" 2>/dev/null; then
        GROUP=$DIR/cgroup/netstall-soak-$$
        mkdir "$GROUP" || exit 2
    fi
    SOAK=$DIR/load/ again "$WORKLOADS/connections" short 200 >"$DIR/short" &
    SOAK=$DIR/load/ again "$WORKLOADS/connections" closed 50 >"$DIR/closed" &
    SOAK=$DIR/load/ again "$WORKLOADS/exchange" --gate none --mode split -n 5 --name "$NAME" >"$DIR/split" &
    SOAK=$DIR/load/ again "$WORKLOADS/waits" --mode futex -n 3 >"$DIR/threads" &
    # shellcheck disable=SC2016
    SOAK=$DIR/load/ again /bin/bash -c 'for i in {1..50}; do (:); /bin/true; done' >"$DIR/forks" &
}

# ---- the long one ----

start_long() {
    mkfifo "$DIR/fifo"
    tail -n 1 "$DIR/fifo" >"$DIR/report" &
    READER=$!
    SOAK=$DIR/long/ "$NETSTALL" trace "${ATTACH[@]}" --json --comm "$NAME" >"$DIR/fifo" 2>"$DIR/long.err" &
    LONG=$!
    wait_for 60 has_line tracing "$DIR/long.err" || { cat "$DIR/long.err" && exit 2; }
}

# held KIND [PID]: ids of BPF objects (prog, map, link) that a process has; any, without one.
held() { sed -n "s/^$1_id:[[:space:]]*//p" /proc/${2:-[0-9]*}/fdinfo/* 2>/dev/null | sort -u; }

# How big it is, with its helpers: KiB, open files, processes, BPF programs, maps, links.
size_of_long() {
    local pids kind
    pids=$(started_as long)
    # shellcheck disable=SC2046
    echo $(sed -n 's/^VmRSS://p' $(printf '/proc/%s/status ' $pids) 2>/dev/null | awk '{ all += $1 } END { print all }') \
        $(find $(printf '/proc/%s/fd ' $pids) -type l 2>/dev/null | wc -l) $(wc -w <<<"$pids") \
        $(for kind in prog map link; do held $kind "$LONG" | wc -l; done)
}
watch_size() {
    while [ -e "$DIR/on" ]; do
        size_of_long
        sleep 1
    done >"$DIR/sizes"
}

# of_third 1|3 COLUMN: the median in that third of the time behind the warm-up, which is a quarter of all.
of_third() {
    awk -v column="$2" -v third="$1" '{ all[NR] = $column }
        END { third_of = NR / 4; for (i = 1; i <= third_of; i++) print all[int(third * third_of) + i] }' "$DIR/sizes" |
        sort -n | awk '{ all[NR] = $1 } END { print all[int((NR + 1) / 2)] }'
}

report() { gojq -r "$1" "$DIR/report"; }
# What the programs say that they did.
exchanges_of_load() { sed -n 's/^done .*exchanges=\([0-9]*\).*/\1/p' "$DIR/short" "$DIR/split" | awk '{ all += $1 } END { print all + 0 }'; }

# ---- the others ----

# other RUN HOW COMMAND...: netstall, ended so at a random moment; it ends by itself soon, if nobody ends it.
other() {
    local run=$1 how=$2 pid status
    shift 2
    SOAK=$DIR/$run/ "$NETSTALL" "$@" >"$DIR/other" 2>"$DIR/other.err" &
    pid=$!
    sleep "$((RANDOM % 2)).$((RANDOM % 10))"
    [ "$how" != INT-KILL ] || { kill -INT $pid && sleep "0.0$((RANDOM % 10))"; }
    [ "$how" = end ] || kill -"${how#*-}" $pid
    wait_for 60 gone $pid || kill -KILL $pid
    wait $pid
    status=$?
    case $how,$status in
    *KILL,137 | TERM,143 | INT*,130 | *,0) ;; # it was ended before it began
    *,[34]) [ "$1" = check ] || echo "$* had status $status after $how" >>"$DIR/wrong" ;; # its program was ended too, with no traffic
    *) echo "$* had status $status after $how: $(tail -n 1 "$DIR/other.err")" >>"$DIR/wrong" ;;
    esac
    wait_for 10 none_as $run || echo "$* left after $how: $(started_as $run | names_of)" >>"$DIR/wrong"
    echo "$how" >>"$DIR/ended"
}
run_others() {
    local run how commands=("trace --comm $NAME -d 2" "trace -p $$ --children -d 2" "offwake -p $$ 2" "check -- sleep 2")
    [ -z "$GROUP" ] || commands+=("trace -c $GROUP -d 2")
    for ((run = 0; SECONDS < END || $(grep -c KILL "$DIR/ended") < KILLS; run++)); do
        read -r how < <(shuf -n 1 -e KILL KILL INT-KILL INT TERM end)
        other $run "$how" ${commands[run % ${#commands[@]}]}
    done 2>/dev/null # bash tells of each that was killed
}

# ids KIND: of all BPF objects there are.
ids() { bpftool "$1" show -j | gojq -r '.[].id' | sort -u; }

# BPF objects with the names of the long one's that came since, and that no process has.
left_behind() {
    local kind
    for kind in prog map link; do
        comm -23 <(ids $kind) <(sort -u "$DIR/before-$kind" <(held $kind)) |
            while read -r id; do bpftool $kind show id "$id" 2>/dev/null; done | grep -oFf "$DIR/names"
    done
}
nothing_left_behind() { [ -z "$(left_behind)" ]; }

[ "$(id -u)" = 0 ] || { echo "soak.sh: tracing needs root" >&2 && exit 2; }
touch "$DIR/on" "$DIR/wrong" "$DIR/ended"
for kind in prog map link; do ids $kind >"$DIR/before-$kind"; done
start_long
# Of a program its name; of a link, the program.
# shellcheck disable=SC2016 # jq's
bpftool prog show -j | gojq -r --slurpfile held <(held prog "$LONG") '.[] | select(.id | IN($held[])) | "name \(.name) ", "prog \(.id) "' >"$DIR/names"
# shellcheck disable=SC2016
bpftool map show -j | gojq -r --slurpfile held <(held map "$LONG") '.[] | select(.id | IN($held[])) | "name \(.name) "' >>"$DIR/names"
start_load
watch_size &
END=$((SECONDS + ${SOAK_SECONDS:-1800}))
run_others
last=$(size_of_long)
rm "$DIR/on"
wait_for 60 none_as load
kill -INT "$LONG"
wait_for 60 gone "$LONG" || kill -KILL "$LONG"
wait "$LONG"
status=$?
wait "$READER"

echo "# soak: $(sort "$DIR/ended" | uniq -c | paste -sd, | tr -s ' '); KiB, files, processes, programs, maps, links: first $(head -n 1 "$DIR/sizes"), last $last"
growth=1.1
[ "${SOAK_SECONDS:-1800}" -ge 300 ] || growth=1.3 # its tables still fill
judge memory "$(of_third 1 1) KiB became $(of_third 3 1)" at_most "$(of_third 3 1)" "$growth * $(of_third 1 1) + 4096"
# Those of the last 32 processes (IMAGES_PROCESSES) are held, of each two to four: which they are, varies. A leak is one for each of hundreds.
judge files "$(of_third 1 2) became $(of_third 3 2)" at_most "$(of_third 3 2)" "$(of_third 1 2) + 32"
judge processes "$(of_third 1 3) became $(of_third 3 3)" at_most "$(of_third 3 3)" "$(of_third 1 3)"
judge bpf "they became $last" [ "$(head -n 1 "$DIR/sizes" | cut -d' ' -f4-)" = "$(cut -d' ' -f4- <<<"$last")" ]
judge others "$(head -n 3 "$DIR/wrong" | paste -sd' ')" [ ! -s "$DIR/wrong" ]
judge kills "of $(wc -l <"$DIR/ended") ends" [ "$(grep -c KILL "$DIR/ended")" -ge "$KILLS" ]
judge left-processes "$(started_as | names_of)" none_as
judge left-bpf "$(left_behind | head -n 3 | paste -sd' ')" wait_for 30 nothing_left_behind
judge end "status $status: $(tail -n 1 "$DIR/long.err")" [ "$status" = 0 ]
made=$(report '[.requests[] | select(.role == "makes")][0].count') # of all together
lost=$(report .completeness.lost)
echo "# soak: $(exchanges_of_load) exchanges, $made reported, $lost records lost $(report '.completeness.lost_by_kind | tojson')"
full=$(report '.completeness.lost_by_kind | (.kept // 0) + (.processes // 0) + (.conns // 0) + (.threads // 0)')
judge room "$full found none" [ "$full" = 0 ]
accounted() { [ "$made" = "$(exchanges_of_load)" ] || [ "$lost" -gt 0 ]; }
judge exchanges "nothing is said to be lost" accounted
exit $failed
