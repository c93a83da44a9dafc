#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""
Compares what netstall reported of a random program, from each of its ends, with what the program logged: judge.py NAME FOLDER, as
play.py leaves it. A line a view: `ok random/NAME.VIEW`, `not ok ...: what differs`, each difference behind its kind (table, count, length,
slices, verdict, saves), or `skip ...: why` where the machine left too little to judge. --list has the views that are known to be wrong,
each with its kinds. -v: also what was true and what was said. Exit status 1 if any is not ok.

A view is a table of the report and its verdict: `client`, `front`, `back`: the requests that the end makes or serves; `makes`: the
front's requests to the back. The truth of a request is a time for each cause. What a program that is not traced does is `peer-app`;
what its writes, or those of the other end, hold back keeps its own cause from every end. A wait for a CPU is in no step's time: who
waited has read it from /proc. Of a thread that another one waited for it may be told as either's: then the truth is a range.
"""
import argparse
import bisect
import collections
import json
import os
import statistics
import sys

sys.dont_write_bytecode = True
import play

SHARE, LEAST_MS = 0.12, 1.5          # how far a time may be off; of quick requests as far as
LEAST_QUICK_MS = 0.2                 # what a few system calls and wakes take
SAVES_SHARE, SAVES_MS = 0.20, 2.0
COUNT_SHARE, COUNT = 0.1, 2
LEAST_REQUESTS = 8
TOLD_MS, BEGIN_MS = 0.0015, 1         # how far the told request is from its line, and that from its log
DISTURBED = 0.25                     # of a request's time others, or one knows not where, had no CPU
QUEUE_MS, QUEUE_QUICK_MS = 0.5, 0.05  # what is unread for as long lies in a queue
NETSTALL_MS = 10                     # its threshold: what is shorter need be no stall
LED_BY = 0.8                         # of the largest sum: either may lead the verdict
OFTEN = 0.3                          # of the requests: what is their longest step may lead as well
DELAYED_ACK_MS = 35                   # a little below the kernel's least: what is held for shorter waits for an ACK that comes by itself
HOLDS = ("nagle-delack", "nagle", "cork")


class Request:
    """What is true of one: when, and ms by cause, from lo to hi."""

    def __init__(self, begin, end):
        self.begin, self.end = begin, end
        self.lo, self.hi = collections.Counter(), collections.Counter()
        self.unsure_ms = 0
        self.longest = (0, "")

    @property
    def ms(self):
        return (self.end - self.begin) / 1e6

    def add(self, cause, took, own=0, others=0):
        """ns, of which the thread itself and those that it waited for had no CPU."""
        took, own, others = max(0, took) / 1e6, own / 1e6, others / 1e6
        self.lo[cause] += max(0, took - own - others)
        self.hi[cause] += max(0, took - own)
        self.lo["runqueue"] += min(own, took)
        self.hi["runqueue"] += min(own + others, took)
        self.unsure_ms += min(others, took)
        self.longest = max(self.longest, (took, cause))

    def may_wait_for_cpu(self, delay):
        self.hi["runqueue"] += delay / 1e6
        self.unsure_ms += delay / 1e6

    def mean(self, cause):
        return (self.lo[cause] + self.hi[cause]) / 2

    def is_disturbed(self):
        """So much of it may be told as a wait for a CPU or not that it says little."""
        return self.unsure_ms > DISTURBED * self.ms


def is_quick(plan):
    return "unit" in plan["front"]


def least_off(plan, ms):
    """So far a time of a request of that length may be off."""
    return max(LEAST_QUICK_MS if is_quick(plan) else LEAST_MS, SHARE * ms)


def in_ms(ms):
    return f"{ms:.2f}" if ms < 2 and round(ms, 2) != round(ms, 1) else f"{ms:.1f}"


def holder(how, held):
    """The cause of what is held up for so many ns by how it is written."""
    return "cork" if how == "more" else "nagle-delack" if held >= DELAYED_ACK_MS * 1e6 else "nagle"


class Steps:
    """What each worker did, for what lay unread meanwhile."""

    def __init__(self, records):
        self.by = collections.defaultdict(list)
        for record in records:
            self.by[record.get("worker", 0)] += record.get("did", record["steps"])
        for steps in self.by.values():
            steps.sort(key=lambda step: step[2])
        self.begins = {worker: [step[2] for step in steps] for worker, steps in self.by.items()}

    def during(self, worker, begin, end):
        """[cause, took, own, others] of what it did then."""
        steps = self.by.get(worker, [])
        for step in steps[max(0, bisect.bisect_left(self.begins.get(worker, []), begin) - 1):]:
            if step[2] >= end:
                return
            took = min(end, step[3]) - max(begin, step[2])
            if took > 0:
                part = took / (step[3] - step[2])
                yield step[1], took, part * step[4], part * step[5]


def add_unread(request, steps, worker, begin, end):
    for cause, took, own, others in steps.during(worker, begin, end):
        request.add(cause, took, own, others)


def find_nested(fronts, backs, ask):
    """Puts into the front's records which requests it made for them of its own, (step, the back's record, how long it was held); and
    what it did, where such a step is in two: held, and by the back."""
    counts = collections.Counter()
    for record in fronts:
        record["nested"], record["did"] = [], []
        for step in record["steps"]:
            if step[0] != "r":
                record["did"].append(step)
                continue
            back = backs.get((record["back"], counts[record["back"]]))
            counts[record["back"]] += 1
            if not back or not step[2] <= back["read"] <= step[3]:
                continue
            hold = (back["read"] - step[2]) * (ask == "split")
            record["nested"].append((step, back, hold))
            if hold:
                record["did"].append(["r", holder(ask, hold), step[2], step[2] + hold, 0, 0])
            record["did"].append(["r", "peer-app", step[2] + hold, step[3], step[4], back["delay"] + back["woken"]])


def served(plan, record, asked, ask, hold, steps, answered, is_whole=True):
    """Of its own server: from when all of it was written, to when its answer had left. `hold`: so long it was held up then; where that is
    no stall, from when it came. Who has got the answer may run before the writer goes on; where the answer is held back, only he knows
    when it left."""
    queue = 0 if hold else max(0, record["read"] - asked)
    hold = hold if hold >= NETSTALL_MS * 1e6 else 0
    request = Request(record["read"] - queue - hold, min(answered, record["wrote"]) if is_whole else answered)
    request.unread = queue
    request.add(holder(ask, hold), hold)
    if queue > (QUEUE_QUICK_MS if is_quick(plan) else QUEUE_MS) * 1e6:
        add_unread(request, steps, record["worker"], record["read"] - queue, record["read"])
    request.may_wait_for_cpu(min(queue, record["woken"]))
    return request


def truth(plan, logs):
    """Each view's requests."""
    views = collections.defaultdict(list)
    backs = {(record["conn"], record["number"]): record for record in logs.get("back", [])}
    fronts = sorted(logs["front"], key=lambda record: record["read"])
    client, front = plan["client"], plan["front"]
    ask, reply, nested_ask = client.get("ask", "whole"), front.get("reply", "whole"), front.get("ask", "whole")
    find_nested(fronts, backs, nested_ask)
    steps = {name: Steps(logs[name]) for name in plan}
    asked = {(record["conn"], record["number"]): record for record in logs["client"]}
    for record in fronts:
        for step, back, hold in record["nested"]:
            made = Request(step[2], step[3])
            made.add(holder(nested_ask, hold), hold)
            made.add("peer-app", back["wrote"] - step[2] - hold, 0, back["delay"] + back["woken"])
            made.may_wait_for_cpu(step[4])
            views["makes"].append(made)
            request = served(plan, back, step[2], nested_ask, hold, steps["back"], step[3])
            for _, cause, begin, end, own, others in back["steps"]:
                request.add(cause, end - begin, own, others)
            views["back"].append(request)
        source = asked.get((record["conn"], record["number"]))
        if not source or not source["first_write"] <= record["read"] <= source["last"]:
            continue
        hold = (record["read"] - source["last_write"]) * (ask == "split")
        own = Request(source["first_write"], source["last"])
        whole = reply == "whole"
        mine = served(plan, record, source["last_write"], ask, hold, steps["front"], source["last"], whole)
        own.add(holder(ask, hold), hold)
        # In the queue what is held up for others is held up for this one.
        queue = mine.unread
        for cause, took, _, _ in steps["front"].during(record["worker"], record["read"] - queue, record["read"]):
            if cause in HOLDS:
                own.add(cause, took)
                queue -= took
        own.add("peer-app", queue, 0, mine.hi["runqueue"] * 1e6)
        for letter, cause, begin, end, delay, others in record["steps"]:
            if letter != "r":
                mine.add(cause, end - begin, delay, others)
                own.add("peer-app", end - begin, 0, delay + others)
        for step, back, nested_hold in record["nested"]:
            for request in (mine, own):
                request.add(holder(nested_ask, nested_hold), nested_hold)
                request.add("peer-app", back["wrote"] - step[2] - nested_hold, 0, back["delay"] + back["woken"])
                request.may_wait_for_cpu(step[4])
        if client["shape"] == "loop":
            add_unread(own, steps["client"], 0, record["done"], source["last"])
        if not whole:
            held = source["last"] - record["done"]
            for request in (mine, own):
                request.add(holder(reply, held), held, 0, source["delay"] + record["wrote"] - record["done"])
        own.may_wait_for_cpu(source["delay"])
        views["client"].append(own)
        views["front"].append(mine)
    return views


# ---- what is said ----

def table(report, role):
    """The row of all requests of a role, and its slices by cause."""
    rows = [row for row in report["requests"] if row["role"] == role and row["connection"] is None]
    if not rows:
        return None, None
    row, said = max(rows, key=lambda row: row["count"]), collections.Counter()
    for piece in row["median"]["slices"]:
        said[piece["cause"]] += piece["ms"]
    return row, said


def misfits(plan, said, request, slack):
    """[(how far it is off, a sentence)] of the causes that are further off than the slack. What its own calls take is in a quick
    request's steps, and no small part of them."""
    for cause in sorted({*said, *request.hi}):
        off = max(request.lo[cause] - said[cause], said[cause] - request.hi[cause])
        if off > (2 * slack if cause == "self" and is_quick(plan) else slack):
            yield off, f"{cause} {in_ms(said[cause])}, truth {in_ms(request.mean(cause))}"


def told_ones(report, row, requests):
    """The median request that is told, by the time line of what was looked at; where it is not found there, those of its length."""
    told = row["median"]["total_ms"]
    begins = [report["window"]["monotonic_start_ms"] + begin for role, begin, end in report.get("exchanges", [])
              if role == row["role"] and abs(end - begin - told) <= TOLD_MS]
    found = [min(requests, key=lambda request: abs(request.begin / 1e6 - begin)) for begin in begins]
    found = [request for request, begin in zip(found, begins) if abs(request.begin / 1e6 - begin) <= BEGIN_MS]
    return found or [request for request in requests if abs(request.ms - told) <= max(min(1, told / 2), 0.08 * told)]


def least_misfit(plan, row, said, requests):
    """What differs from the one of these that fits best."""
    slack = least_off(plan, row["median"]["total_ms"])
    return min((list(misfits(plan, said, request, slack)) for request in requests), key=lambda found: sum(off for off, _ in found))


def is_disturbed(plan, row, said, ones):
    """The told request is none of the calm ones, but one that waited for a CPU."""
    calm, busy = [one for one in ones if not one.is_disturbed()], [one for one in ones if one.is_disturbed()]
    return busy and not least_misfit(plan, row, said, busy) and (not calm or least_misfit(plan, row, said, calm))


def judge_table(plan, row, said, requests, calm, ones):
    count = len(requests)
    if abs(row["count"] - count) > COUNT_SHARE * count + COUNT:
        yield f"count {row['count']}, truth {count}"
    took, told = sorted(request.ms for request in requests), row["median"]["total_ms"]
    median = min(max(told, took[int(0.38 * count)]), took[int(0.62 * (count - 1))])
    if abs(told - median) > least_off(plan, median):
        yield f"length {in_ms(told)}, truth {in_ms(median)}"
    ones = [one for one in ones if not one.is_disturbed()] or [min(calm, key=lambda request: abs(request.ms - told))]
    least = least_misfit(plan, row, said, ones)
    if least:
        yield "slices " + ", ".join(text for _, text in least)


def leaders(requests):
    """What the verdict may be."""
    sums, longest = collections.Counter(), collections.Counter()
    for request in requests:
        for cause in request.hi:
            sums[cause] += request.mean(cause)
        longest[request.longest[1]] += 1
    top = max(sums.values(), default=0)
    return {cause for cause, ms in sums.items() if ms >= LED_BY * top} | {cause for cause, n in longest.items() if cause and n >= OFTEN * len(requests)}


def is_of_machine(report, requests):
    """It leads with waits for a CPU that there were: true, and nothing is learnt of what it would say else."""
    return report["verdict"]["cause"] == "runqueue" and any(request.hi["runqueue"] >= NETSTALL_MS for request in requests)


def judge_verdict(report, requests, calm):
    if statistics.quantiles([request.ms for request in calm], n=10)[8] < NETSTALL_MS + 1:
        return
    right, said = leaders(requests), report["verdict"]["cause"]
    if said not in right:
        yield f"verdict {said}, truth {' or '.join(sorted(right))}"


def changed_service(plan, logs):
    """ms by which the requests of those who wait in turn for a front of one thread differ because that took another time for each than
    it did beside the tracers. With held requests of its own it is another thing that changed."""
    if plan["front"]["shape"] != "loop" or plan["front"].get("ask") == "split":
        return 0
    before, after = (statistics.mean((record["wrote"] - record["read"]) / 1e6 for record in of["front"]) for of in (logs, logs["followed"]))
    return abs(before - after) * int(plan["client"].get("connections", 1))


def judge_saving(report, calm, followed, changed):
    """What the client's report says that it saves, against what it saved. Of both what the machine took is left out: it may have had
    more to do beside the one than beside the other."""
    if report["verdict"]["cause"] not in HOLDS or len(followed) < LEAST_REQUESTS:
        return
    before, after = (statistics.median(request.ms - request.mean("runqueue") for request in requests) for requests in (calm, followed))
    said, saved = report["verdict"]["saves_ms"] or 0, before - after
    if abs(saved - said) > max(SAVES_MS, SAVES_SHARE * saved) + changed:
        yield f"saves {said:.1f}, followed {saved:.1f}"


def views_of(plan):
    """(view, whose report, role)"""
    yield "client", "client", "makes"
    yield "front", "front", "serves"
    if "back" in plan:
        yield "makes", "front", "makes"
        yield "back", "back", "serves"


def judge(plan, logs, reports):
    """(view, None or why it cannot be judged, [what differs], the row, the truth) of each."""
    true = truth(plan, logs)
    followed = truth(play.without_holds(plan), logs["followed"])["client"] if "followed" in logs else []
    for view, name, role in views_of(plan):
        report = reports[name]
        begin = report["window"]["monotonic_start_ms"] * 1e6
        end = begin + report["window"]["duration_ms"] * 1e6
        requests = [request for request in true[view] if begin <= request.begin and request.end <= end]
        calm = [request for request in requests if not request.is_disturbed()]
        row, said = table(report, role)
        why, wrong = None, []
        if not true[view]:
            wrong.append("table of nothing: no request was made")
        elif len(requests) < LEAST_REQUESTS:
            why = f"{len(requests)} requests"
        elif len(calm) < LEAST_REQUESTS:
            why = f"{len(requests) - len(calm)} of {len(requests)} requests waited for a CPU"
        elif not row:
            wrong.append(f"table of {role}: none, truth {len(requests)} requests")
        elif is_disturbed(plan, row, said, told_ones(report, row, requests)):
            why = "the median request waited for a CPU"
        else:
            wrong += judge_table(plan, row, said, requests, calm, told_ones(report, row, requests))
        # Of quick ones the verdict is about the few that the machine made slow.
        if requests and not why and view != "makes" and not is_quick(plan):
            of_verdict = list(judge_verdict(report, requests, calm))
            if of_verdict and not wrong and is_of_machine(report, requests):
                why = "the verdict is of waits for a CPU, which there were"
            wrong += of_verdict
        if requests and not why and view == "client":
            calm_followed = [request for request in followed if not request.is_disturbed()]
            wrong += judge_saving(report, calm, calm_followed, changed_service(plan, logs) if calm_followed else 0)
        yield view, why, wrong, row, requests


def load(path):
    with open(path, encoding="utf-8") as file:
        return [json.loads(line) for line in file if line.endswith("}\n")]


def show(row, report, requests):
    took = sorted(requests, key=lambda request: request.ms)
    for share in (0.1, 0.5, 0.9) if took else ():
        request = took[int(share * len(took))]
        causes = ", ".join(f"{cause} {in_ms(request.lo[cause])}..{in_ms(request.hi[cause])}" for cause in request.hi if request.hi[cause] > request.ms / 100)
        print(f"#   truth, {share:.0%}: {in_ms(request.ms)} ms: {causes}")
    if row:
        slices = ", ".join(f"{piece['cause']} {in_ms(piece['ms'])}" for piece in row["median"]["slices"])
        print(f"#   said: {row['count']} requests, median {in_ms(row['median']['total_ms'])} ms: {slices}")
    print(f"#   verdict: {report['verdict']['headline']}")


def read_list(path):
    """The views that are known to be wrong, each with the kinds of its faults."""
    with open(path, encoding="utf-8") as file:
        rows = [line.split() for line in file if line.strip() and not line.startswith("#")]
    return {row[0]: set(row[1].split(",")) for row in rows}


def verdict_line(name, wrong, listed):
    """The line of a view. One that is listed may be wrong by what is listed, and by nothing else."""
    kinds = {text.split()[0] for text in wrong}
    if not wrong:
        return f"ok random/{name}" + (f"\n# no longer wrong: random/{name}, listed for {','.join(sorted(listed))}" if listed else "")
    if kinds <= listed:
        return f"ok random/{name}: listed as wrong: {'; '.join(wrong)}"
    return f"not ok random/{name}: {'; '.join(wrong)}"


def main():
    words = argparse.ArgumentParser(description=__doc__)
    words.add_argument("-v", dest="verbose", action="store_true")
    words.add_argument("--list", default=os.devnull)
    words.add_argument("name")
    words.add_argument("folder")
    asked = words.parse_args()
    listed = read_list(asked.list)
    with open(f"{asked.folder}/plan", encoding="ascii") as file:
        plan = play.read_plan(file.read().split())
    logs = {name: load(f"{asked.folder}/{name}.log") for name in plan}
    if os.path.exists(f"{asked.folder}/client.followed.log"):
        logs["followed"] = {name: load(f"{asked.folder}/{name}.followed.log") for name in plan}
    reports, failed = {}, 0
    for name in plan:
        with open(f"{asked.folder}/{name}.report", encoding="utf-8") as file:
            reports[name] = json.load(file)
    names = {view: name for view, name, _ in views_of(plan)}
    if asked.verbose:
        print(f"# {asked.name}: {play.write_plan(plan)}")
    for view, why, wrong, row, requests in judge(plan, logs, reports):
        name = f"{asked.name}.{view}"
        line = f"skip random/{name}: {why}" if why else verdict_line(name, wrong, listed.get(name, set()))
        print(line)
        failed |= line.startswith("not ok")
        if asked.verbose:
            show(row, reports[names[view]], requests)
    return failed


if __name__ == "__main__":
    sys.exit(main())
