#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""
Compares a report with what the driver knows: judge.py VIEW REPORT, the driver's last word on stdin. Prints what is wrong, a line
each; nothing: it is right. Exit status 77, with the reason alone: nothing else is wrong, but the verdict is of the busy machine and
not of the programs.
"""
import json
import re
import sys

SHARE = 0.10  # of the requests' time
MEDIAN, MEDIAN_MS = 0.05, 0.5
P99, P99_MS = 0.10, 1.0
WAITS_OF_NOBODY = ("lock", "idle", "ipc")  # what a pool's spare threads show


def is_of_machine(truth, report, machine):
    """Its threads waited for a CPU, and the verdict says so: true, and nothing is learnt of what it would say else.

    Once is enough where nothing else leads: what is slept between the requests leads alone, or not at all."""
    is_meant = "runqueue" in truth["cause"]
    nothing_leads = "none" in truth["cause"] or any(row.get("pace") and row["cause"] in truth["cause"] for row in report["causes"])
    return report["verdict"]["cause"] == "runqueue" and not is_meant and (machine > 2 * SHARE or nothing_leads)


def judge_verdict(truth, report, machine):
    verdict = report["verdict"]
    cause = verdict["cause"] or "none"
    said = " ".join(filter(None, [verdict["title"], verdict["text"], *verdict["advice"]]))
    if is_of_machine(truth, report, machine):
        return
    if cause not in truth["cause"]:
        yield f"the verdict is {cause}, wanted {' or '.join(truth['cause'])}: {said[:300]}"
    elif not re.search(truth["words"], said):
        yield f"the verdict does not name {truth['words']}: {said[:300]}"
    if truth["never"] and re.search(truth["never"], said):
        yield f"the verdict says {truth['never']}: {said[-300:]}"


def judge_shares(truth, report, busy_ms, machine, ready):
    window_ms = report["window"]["duration_ms"]
    verdict = report["verdict"]["cause"]
    # Seen one way for a while and then the other (a full window, then what is left to be read), it is as true.
    together = sum(row["share"] for row in report["causes"] if row["cause"] in truth["cause"]) * window_ms / busy_ms
    for row in report["causes"]:
        cause, part = row["cause"], row["share"] * window_ms / busy_ms
        if row["share"] > 1:
            yield f"{cause} has {row['share']:.0%} of the window"
        if cause == verdict and cause in truth["cause"]:
            if together < truth["part"] - SHARE - machine or part > truth["part"] + SHARE:
                yield f"{cause} takes {part:.0%} of the requests' time, truth {truth['part']:.0%}"
        elif cause in truth["cause"] + truth["besides"] or (cause == "runqueue" and part <= ready + SHARE):
            continue
        elif part > SHARE or cause in WAITS_OF_NOBODY:
            yield f"{row['count']} stalls of {cause}, {part:.0%} of the requests' time, that were none"


def judge_requests(view, report, requests, machine):
    rows = [row for row in report["requests"] if row["connection"] is None]
    role = "serves" if view == "server" else "makes"
    rows = [row for row in rows if row.get("role", role) == role]
    if not rows:
        yield "no requests"
        return
    row = rows[0]
    if not 0.9 * requests["count"] - 1 <= row["count"] <= 1.1 * requests["count"] + 1:
        yield f"{row['count']} requests, truth {requests['count']}"
    for what, share, least in ("median", MEDIAN, MEDIAN_MS), ("p99", P99, P99_MS):
        took, true = row[what]["total_ms"], requests[what + "_ms"]
        # The other end's waits for a CPU are not in what one end sees; those of who asks are known of each request.
        seen = requests[f"served_{what}_ms"] if view == "server" else true
        if not (1 - share - machine) * seen - least <= took <= (1 + share) * true + least:
            yield f"{what} of requests {took:.1f} ms, truth {true:.1f} ms"


def main():
    view, path = sys.argv[1:]
    done = json.load(sys.stdin)
    with open(path, encoding="utf-8") as file:
        report = json.load(file)
    truth, requests = done["truth"][view], done["requests"]
    busy_ms = requests["busy_ms"] or report["window"]["duration_ms"]
    # What the machine took of the requests' time at most.
    machine = requests["machine_ms"] / busy_ms
    ready = requests["ready_ms"] / busy_ms  # and of the window's, which begins before they do
    wrong = [*judge_verdict(truth, report, machine), *judge_shares(truth, report, busy_ms, machine, ready)]
    if requests["count"] and "more_requests" not in truth:
        wrong += judge_requests(view, report, requests, machine)
    if wrong and machine > SHARE:
        wrong.append(f"its threads waited for a CPU for {machine:.0%} of the time")
    if not wrong and is_of_machine(truth, report, machine):
        print(f"the verdict is runqueue, its threads waited for a CPU for {machine:.0%} of the time", end="")
        sys.exit(77)
    print("\n".join(wrong), end="")


main()
