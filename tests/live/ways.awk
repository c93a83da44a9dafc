# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#
# What a recording (`netstall report --text`) is about, without what differs from run to run: times, CPUs, ids, addresses, ports, and how
# often a thing happened. WHO: a file with lines `NAME SIDE PID`. Prints sorted lines
#
#   NAME SIDE KIND QUALIFIER...: FIELD...
#
# of which at least LEAST records came, with the fields that at least half of these have. What happens once in a run, not in each round,
# needs one record; a wait, of which short ones are not recorded, a retransmission and a request two. Behind a ~ stands what comes and goes with the machine's pace.

BEGIN {
    while ((getline line < WHO) > 0) {
        split(line, part, " ")
        side[part[3]] = part[1] " " part[2]
    }
    by["send"] = "bytes"; has["send"] = "write_seq snd_nxt snd_una"
    has["recv"] = "bytes"
    by["hold"] = "reason"
    has["hold"] = "seq end unacked mss nonagle packets_out cwnd snd_wnd srtt_us min_rtt_us fd in_flight wmem_queued sndbuf"
    by["release"] = "reason"; has["release"] = "seq end nonagle_known unread_known"
    has["delack-arm"] = "delay_us"
    has["delack-fire"] = "pending ato_us"
    by["retrans"] = "kind"; has["retrans"] = "seq end rto_us srtt_us cwnd"
    has["tx"] = has["rx"] = "seq end ack flags"
    by["wait"] = "syscall conn_basis turn socket_family socket_role"
    has["wait"] = "conn stack_id waker_stack_id waker_tid"
    by["exchange"] = "side hold_reason"; has["exchange"] = "begin ready bytes_out bytes_in answer"
    by["conn"] = "role origin"; has["conn"] = "local remote netns"
    by["process"] = "role"
    by["uring"] = "step"; has["uring"] = "ring submit"
    pace["close"] = pace["wait"] = pace["retrans"] = pace["exchange"] = pace["delack-arm"] = pace["delack-fire"] = 1
    least["wait"] = least["retrans"] = least["exchange"] = 2
    once["conn"] = once["process"] = once["close"] = once["exit"] = once["ring"] = once["listener"] = once["peer"] = 1
}

{
    kind = $2
    delete value
    for (i = 3; i <= NF; i++) {
        at = index($i, "=")
        if (at) value[substr($i, 1, at - 1)] = substr($i, at + 1)
    }
    if (kind == "conn" && !(value["conn"] in owner)) owner[value["conn"]] = value["tgid"]
    pid = ("conn" in value && value["conn"] in owner && kind != "wait") ? owner[value["conn"]] : value["tgid"]
    if (!(pid in side) || !(kind in has || kind in by || kind in once)) next
    # Neither one that had begun before, nor the scheduler's own; and who joins the chain does so at some time.
    if (kind == "wait" && (!("state" in value) || $1 - value["off"] < 10 || !value["off"])) next
    # Its requests and waits are of many kinds, few of each.
    if ((kind == "exchange" || kind == "wait") && side[pid] ~ /^uring /) next
    if (kind == "process" && value["role"] != "target") next
    # netstall ends with its targets; a server, and what is closed by its program's end, may do so later.
    if (kind == "exit" && side[pid] ~ / server$/) next
    key = side[pid] " " kind
    count = split(by[kind], field, " ")
    for (i = 1; i <= count; i++)
        if (field[i] in value) key = key " " field[i] "=" value[field[i]]
    seen[key]++
    of[key] = kind
    # A hold that is seen only when it goes on; and by a window that the reader, where it has no CPU, closes.
    if (kind in pace || (kind == "hold" && !("reason" in value)) || value["reason"] == "rwnd") paced[key] = 1
    count = split(has[kind], field, " ")
    for (i = 1; i <= count; i++)
        # What a segment wakes is woken by whoever ran there, nobody on an idle CPU; what was paced may be acknowledged by then.
        if (field[i] in value && !(field[i] == "waker_tid" && "conn_basis" in value) &&
            !(value["reason"] == "pacing" && field[i] ~ /^(unacked|packets_out|in_flight)$/)) with[key, field[i]]++
}

END {
    for (key in seen) {
        if (seen[key] < (of[key] in once ? 1 : of[key] in least ? least[of[key]] : LEAST)) continue
        line = (key in paced ? "~ " : "") key ":"
        count = split(has[of[key]], field, " ")
        for (i = 1; i <= count; i++)
            if (2 * with[key, field[i]] >= seen[key]) line = line " " field[i]
        print line | "LC_ALL=C sort"
    }
}
