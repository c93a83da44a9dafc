#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""What a report says twice, it says alike: the words of its verdict by its tables, its tables by each other.

    agree.py [--trace TRACE] FILE...

A FILE is JSON lines as `trace --json` prints them, of which the last is the report, or one document. TRACE is its text trace
(`report --text`): when each request was. Prints a line for each contradiction, with the FILE in front; exit status 1 if there was
one, 2 usage. validate.py asks for the same of every report that it reads.

    agree.py --rows TRACE.trace=FILE...

Asks of each report only whether its rows of requests have the causes of their stalls. Prints `ok NAME` or `not ok NAME: why` for each.
"""
import json
import re
import sys

# cause.def: .is_given
GIVEN = {"unknown", "network", "cwnd", "tsq"}
# What can be done then is not known to save anything, or how much.
UNPROMISED = {"unknown", "network", "uring"}
# What others did, or the thread itself: the largest part, with those that are alike, is all that an advice is about.
PARTED = {"peer-app", "lock", "ipc", "self"}
# The least that two clocks, or two ends of a window, may differ by.
SLACK_MS = 0.001
UNITS = {"ns": 1e-6, "us": 1e-3, "ms": 1.0, "s": 1e3}
TIME = r"([\d,.]+) (ns|us|ms|s)\b"
NUMBERS = ["", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"]


def number(text):
    return NUMBERS.index(text) if text in NUMBERS else float(text.replace(",", ""))


def shows(text, unit, ms):
    """Is this how ms is printed, to three digits, or in whole us?"""
    return abs(number(text) * UNITS[unit] - ms) <= max(0.0051 * ms + 1e-6, 0.000501 if unit == "us" else 0)


def covered(spans):
    """The time in at least one of them."""
    total, until = 0.0, 0.0
    for start, end in sorted(spans):
        total += max(0.0, end - max(start, until))
        until = max(until, end)
    return total


def tree(where, parts):
    """Every part is its own time and the parts below it, to the ns."""
    for place, part in enumerate(parts):
        if place and not (part["parent"] is not None and part["parent"] < place):
            yield f"{where}: part {place} stands before its parent"
        below = sum(other["total_ms"] for other in parts if other["parent"] == place)
        if round((part["own_ms"] + below) * 1e6) != round(part["total_ms"] * 1e6):
            yield f"{where}: part {place} does not sum to {part['total_ms']} ms"


def sums(document):
    """Slices sum to their whole, to the ns."""
    def check(where, slices, whole):
        if slices and round(sum(part["ms"] for part in slices) * 1e6) != round(whole * 1e6):
            yield f"{where}: its slices do not sum to {whole} ms"

    for stall in document.get("stalls", []):
        yield from check(f"stall {stall['id']}", stall["slices"], stall["duration_ms"])
        yield from tree(f"stall {stall['id']}", stall["parts"])
        if stall["parts"] and round(stall["parts"][0]["total_ms"] * 1e6) != round(stall["duration_ms"] * 1e6):
            yield f"stall {stall['id']}: its parts are of {stall['parts'][0]['total_ms']} ms, it took {stall['duration_ms']} ms"
    for requests in document.get("requests", []):
        for view in ("median", "p99"):
            yield from check(f"{view} request", requests[view]["slices"], requests[view]["total_ms"])


def percentile(durations, hundredths):
    """Nearest rank."""
    return sorted(durations)[max((len(durations) * hundredths + 99) // 100, 1) - 1]


def row_of(what):
    """Of a row or a stall: what a thread sleeps between its requests has a row beside the others of its cause."""
    return what["cause"], "pace" in what or what["cause"] == "timer" and "between_requests" in what


def causes(report):
    """The causes against the stalls, as far as all of these are listed."""
    window = report["window"]["duration_ms"]
    whole = not report["completeness"]["stalls_not_kept"]
    listed = {}
    for stall in report["stalls"]:
        listed.setdefault(row_of(stall), []).append(stall)
    for row in report["causes"]:
        name, stalls = row["cause"], listed.pop(row_of(row), [])
        took = [stall["duration_ms"] for stall in stalls]
        if not 0 <= row["share"] <= 1:
            yield f"{name}: a share of {row['share']}"
        ends = row.get("endpoints", [])
        if sum(end["count"] for end in ends) > row["count"] or sum(end["total_ms"] for end in ends) > row["total_ms"] + SLACK_MS:
            yield f"{row['cause']} is oftener or longer at its endpoints than in all: {row}"
        if ends != sorted(ends, key=lambda end: -end["total_ms"]):
            yield f"the endpoints of {row['cause']} do not stand in order: {ends}"
        if not row["p50_ms"] <= row["p99_ms"] <= row["max_ms"] <= row["total_ms"] + SLACK_MS:
            yield f"{name}: median, p99, max and total are not in order"
        if row["share"] * window > row["total_ms"] + 1e-5 * window:
            yield f"{name}: its share is more than its total"
        if not whole:
            if len(stalls) > row["count"]:
                yield f"{name}: {len(stalls)} stalls are listed, {row['count']} counted"
            continue
        if len(stalls) != row["count"]:
            yield f"{name}: {len(stalls)} stalls are listed, {row['count']} counted"
            continue
        for key, value in (("total_ms", sum(took)), ("max_ms", max(took)), ("p50_ms", percentile(took, 50)),
                           ("p99_ms", percentile(took, 99))):
            if abs(value - row[key]) > SLACK_MS:
                yield f"{name}: {key} is {row[key]}, of its stalls {value:.6f}"
        for key_of, counted in (("share", stalls), ("share_in_requests", [stall for stall in stalls if "between_requests" not in stall])):
            spans = [(max(stall["start_ms"], 0), min(stall["start_ms"] + stall["duration_ms"], window)) for stall in counted
                     if stall["start_ms"] is not None]
            share = row.get(key_of, row["share"])
            if window and abs(covered(spans) / window - share) > 1e-5:
                yield f"{name}: its {key_of} is {share}, its stalls cover {covered(spans) / window:.6f} of the window"
    for name, _ in listed:
        yield f"{name}: it has stalls, and is not among the causes"


def durations(report):
    """None is longer than the window, and no thread has had more time than that."""
    window = report["window"]["duration_ms"]
    for stall in report["stalls"]:
        for what in [stall] + stall["links"] + stall["waits"]:
            if what["duration_ms"] > window + SLACK_MS:
                yield f"stall {stall['id']}: {what['duration_ms']} ms in a window of {window} ms"
    for requests in report["requests"]:
        for view in ("median", "p99"):
            if requests[view]["total_ms"] > window + SLACK_MS:
                yield f"{view} request: {requests[view]['total_ms']} ms in a window of {window} ms"
        if requests["median"]["total_ms"] > requests["p99"]["total_ms"] + SLACK_MS:
            yield "a median request longer than the 99th percentile"
    targets = 0
    for thread in report["threads"]:
        targets += thread["role"] == "target"
        had = thread["on_cpu_ms"] + thread["blocked_ms"] + thread["runqueue_ms"]
        if had > window * 1.001 + SLACK_MS:
            yield f"thread {thread['tid']}: {had:.6f} ms in a window of {window} ms"
    if (report["waited"]["longest_owed_ms"] or 0) > window + SLACK_MS:
        yield f"a wait for a reply of {report['waited']['longest_owed_ms']} ms in a window of {window} ms"


def delay(row):
    """That of the requests which its stalls held up."""
    return row["total_ms"] * max(1, row.get("requests", 0) / max(1, row["count"]))


def heaviest(rows):
    """Those of (weight, cause) that may lead: what they are made of is rounded."""
    most = max((weight for weight, _ in rows), default=0)
    return [row for row in rows if row[0] >= most - 1e-5 * max(most, 1)]


def leading(report):
    """Of a whole machine that of its worst process. By what it took of slow requests, as far as its stalls show that, or covers of the window in requests, or where none had any at all; a given cause only when it took more than twice as much. The pace alone."""
    if report.get("processes") and report["processes"][0]["stalls"]:
        return {report["processes"][0]["cause"]}
    causes = [row for row in report["causes"] if "pace" not in row] or report["causes"]
    if "processes" in report and all("pace" in row for row in causes):
        return {None}
    window = report["window"]["duration_ms"]
    in_requests = [row.get("share_in_requests", row["share"]) for row in causes]
    shares = in_requests if any(in_requests) else [row["share"] for row in causes]
    rows = [(max(share * window, min(row.get("slow_requests_ms", 0), 2 * delay(row))), row["cause"]) for share, row in zip(shares, causes)]
    free, given = heaviest([row for row in rows if row[1] not in GIVEN]), heaviest([row for row in rows if row[1] in GIVEN])
    if free and given:
        slack = 1e-5 * max(1, given[0][0])
        return {row[1] for one in free for other in given for row in (one, other)
                if (2 * one[0] >= other[0] - slack if row is one else 2 * one[0] <= other[0] + slack)}
    return {cause for _, cause in free or given} or {None}


def headline(report, row):
    """ "nagle-delack: 91 of 92 requests wait 43.9 ms each (99.1% of 4.04 s): ..." """
    said = report["verdict"]["headline"]
    window = report["window"]["duration_ms"]
    found = re.match(rf"([a-z-]+): (?:at least )?(?:([\d,]+) of ([\d,]+) \w+ waits? |([\d,]+) waits? of )(?:at most )?{TIME}", said)
    if not found:
        yield f"the headline has no figures: {said}"
        return
    name, count, of, waits = found.groups()[:4]
    if name != row["cause"]:
        yield f"the headline is of {name}, the verdict of {row['cause']}"
    if number(count or waits) != (row.get("requests", row["count"]) if count else row["count"]):
        yield f"the headline counts {count or waits}, the cause {row['count']} stalls, {row.get('requests')} requests"
    if of and number(of) < number(count):
        yield f"the headline has {count} of {of}"
    if row["p50_ms"] and not shows(*found.groups()[4:6], row["p50_ms"]):
        yield f"the headline says {' '.join(found.groups()[4:6])}, the cause {row['p50_ms']} ms"
    share = re.search(rf" \((<?)([\d.]+)% of {TIME}\)", said)
    if share:
        below, percent, *of_time = share.groups()
        if not (below or abs(number(percent) / 100 - row["share"]) <= 0.00051 + 0.006 * row["share"]):
            yield f"the headline says {percent}%, the cause {row['share']}"
        if not shows(*of_time, window):
            yield f"the headline says a window of {' '.join(of_time)}, it was {window} ms"
    elif row["share"] > 0:
        yield f"the headline has no share: {said}"


def frequency(report, row):
    """ "This happened 91 times in 92 exchanges, 43.9 ms each, 4.00 s in all: 99.1% of the time watched." """
    text = report["verdict"]["text"]
    found = re.search(rf"This happened (?:once|([\d,]+) times)(?: in ([\d,]+) \w+)?(?: and took {TIME}|, {TIME}[a-z ]*, {TIME} in all)", text)
    if not found:
        return
    count = number(found[1] or "1")
    more = re.search(rf"(on [\w,]+ more connections?|in other waits), ([\d,]+) times?, {TIME} in all", text)
    also = number(more[2]) if more else 0
    also_ms = number(more[3]) * UNITS[more[4]] if more else 0
    # At other endpoints.
    for times, *_, total, unit in re.findall(rf"Likewise .*?, ([\d,]+) times?, {TIME}[a-z ]*, {TIME} in all", text):
        also += number(times)
        also_ms += number(total) * UNITS[unit]
    rest = re.search(rf"And elsewhere ([\d,]+) times?, {TIME} in all", text)
    also += number(rest[1]) if rest else 0
    also_ms += number(rest[2]) * UNITS[rest[3]] if rest else 0
    if count + also != row["count"]:
        yield f"the text counts {count + also:.0f} stalls, the cause {row['count']}"
    if found[2] and number(found[2]) < count:
        yield f"the text has {count:.0f} in {found[2]}"
    in_all = number(found[3] or found[7]) * UNITS[found[4] or found[8]]
    if abs(in_all + also_ms - row["total_ms"]) > 0.0051 * (in_all + also_ms) + 1e-6:
        yield f"the text has {in_all + also_ms} ms in all, the cause {row['total_ms']}"


def besides(report):
    """ "Besides: 12 lock stalls (480 ms, 12.0%)": counts and totals of other causes. """
    rows = {row["cause"]: row for row in report["causes"] if "pace" not in row}
    for count, name, total, unit in re.findall(rf"([\d,]+) ([a-z-]+) stalls? \({TIME},", report["verdict"]["text"]):
        row = rows.get(name)
        if not row or number(count) != row["count"] or not shows(total, unit, row["total_ms"]):
            yield f"the text has {count} {name} stalls of {total} {unit}, the causes {row}"
    paces = [row for row in report["causes"] if "pace" in row]
    said = re.search(rf"Between its requests it slept by its own timer: ([\d,]+) times?, {TIME} in all", report["verdict"]["text"])
    if bool(said) != (bool(paces) and len(report["causes"]) > 1):
        yield f"the causes have the pace {paces}, the text {said and said[0]}"
    elif said and (number(said[1]) != paces[0]["count"] or not shows(said[2], said[3], paces[0]["total_ms"])):
        yield f"the text has {said[0]}, the causes {paces[0]}"


def saving(report, row):
    """At most what the cause has in a stall, or in a request; and what the advice says."""
    verdict = report["verdict"]
    # Of several endpoints it is about the first.
    median = row.get("endpoints", [row])[0]["p50_ms"]
    saves, whole = verdict["saves_ms"], verdict["saves_of_ms"]
    parts = [sum(part["ms"] for part in view["slices"] if part["cause"] == row["cause"])
             for view in [requests["median"] for requests in report["requests"]] + report["stalls"]]
    if row["cause"] in UNPROMISED and (saves or any("saves" in advice for advice in verdict["advice"])):
        yield f"it saves {saves} ms of what is {row['cause']}: {' '.join(verdict['advice'])}"
    if saves > whole:
        yield f"it saves {saves} ms of {whole} ms"
    if saves > max(parts, default=0) + SLACK_MS:
        yield f"it saves {saves} ms, and {row['cause']} never took more than {max(parts, default=0):.6f} ms"
    places = verdict.get("saves_at", [])
    if sum(place["saves_ms"] * place["stalls"] for place in places) > row["total_ms"] * 1.001 + SLACK_MS:
        yield f"it saves {places}, and {row['cause']} took {row['total_ms']} ms in all"
    if sum(place["stalls"] for place in places) > row["count"]:
        yield f"it saves {places} in {row['count']} stalls"
    if places and places[0]["saves_ms"] != saves:
        yield f"it saves {saves} ms, at its first place {places[0]['saves_ms']}"
    parts = verdict["parts"]
    # Of those that are at one of several places the median says nothing.
    if parts and not places and row["cause"] in PARTED and parts[0]["total_ms"]:
        # Of what is not known at least the wait that it is in is.
        unknown = [sum(part["own_ms"] for part in parts if part["parent"] == place and part["kind"] == "unknown")
                   for place in range(len(parts))]
        # Threads of a process that wait alike are taken together.
        alike = {}
        for place, (part, below) in enumerate(zip(parts, unknown)):
            name = re.sub(r"\d+", "", part["comm"] or "")
            key = (part["pid"], part["cause"], part["syscall"], name) if part["kind"] == "blocked" else place
            alike[key] = alike.get(key, 0) + part["own_ms"] + below
        most = max(alike.values()) / parts[0]["total_ms"] * median
        if saves > most * 1.001 + SLACK_MS:
            yield f"it saves {saves} ms, and the largest part of {row['p50_ms']} ms is {most:.6f} ms"
    if "pace" in row and (saves or verdict["advice"]):
        yield f"the pace is its own choice, and an advice is {verdict['advice']}"
    for advice in verdict["advice"]:
        for value, unit in re.findall(rf"saves {TIME}", advice):
            if not shows(value, unit, saves):
                yield f"an advice saves {value} {unit}, the verdict {saves} ms"
        for value, unit, stalls in re.findall(rf"{TIME} each time(?: that it waits there)? \(([\d,]+) of [\d,]+\)", advice):
            if not any(shows(value, unit, place["saves_ms"]) and number(stalls) == place["stalls"] for place in places):
                yield f"an advice saves {value} {unit} {stalls} times, the verdict {places}"
        takes = re.search(rf"Requests of {TIME} would take {TIME}", advice)
        if takes and not (shows(*takes.groups()[:2], whole) and shows(*takes.groups()[2:], whole - saves)):
            yield f"{takes[0]}: the verdict has {saves} of {whole} ms"


def verdict(report):
    said = report["verdict"]
    rows = {row["cause"]: row for row in sorted(report["causes"], key=lambda row: "pace" not in row)}
    if said["cause"] not in leading(report):
        yield f"the verdict is {said['cause']}, most time took {leading(report)}"
    for text in [said["headline"], said["text"], *said["advice"]]:
        for percent in re.findall(r"(?<![\d.])([\d.]+)%", text or ""):
            if float(percent) > 100:
                yield f"{percent}%: {text[:120]}"
    row = rows.get(said["cause"])
    if not row:
        return
    yield from tree("verdict", said["parts"])
    if said["parts"] and said["parts"][0]["total_ms"] > row["total_ms"] + SLACK_MS:
        yield f"the verdict's parts are of {said['parts'][0]['total_ms']} ms, all stalls of {row['total_ms']} ms"
    if said["share"] != row["share"]:
        yield f"the verdict has a share of {said['share']}, its cause {row['share']}"
    for check in (headline, frequency, saving):
        yield from check(report, row)
    yield from besides(report)


def listed(report):
    """Every connection is listed or counted."""
    count = len(report["connections"]) + report["connections_not_listed"]
    if count != report["completeness"]["sockets"]:
        yield f"{count} connections are listed or counted, {report['completeness']['sockets']} were watched"


def processes(report):
    """Of a whole machine: the worst first, each with its stalls, whose cause took most, on a connection of its own."""
    rows = report.get("processes", [])
    if [row["stalled_ms"] for row in rows] != sorted((row["stalled_ms"] for row in rows), reverse=True):
        yield "the processes are not in the order of how long they were stalled"
    ends = {row["id"]: {row["pid"], row["peer_pid"]} for row in report["connections"]}
    for row in rows:
        name = f"process {row['pid']}"
        if (row["cause"] is None) != (row["stalls"] == 0) or row["of_cause"] > row["stalls"]:
            yield f"{name}: {row['of_cause']} stalls of {row['cause']}, of {row['stalls']}"
        if row["stalled_ms"] > report["window"]["duration_ms"] + SLACK_MS:
            yield f"{name}: stalled for {row['stalled_ms']} ms of {report['window']['duration_ms']}"
        if row["pid"] not in ends.get(row["connection"], {row["pid"]}):
            yield f"{name}: its connection {row['connection']} is of others"
        if (row["median_ms"] is not None and not row["serves"] + row["makes"]) or (row["median_ms"] or 0) > (row["p99_ms"] or 0):
            yield f"{name}: {row['serves']} requests served and {row['makes']} made, of {row['median_ms']} to {row['p99_ms']} ms"


def requests(report):
    """A row has what its parts have: all, then each endpoint, then connections."""
    connections = {row["id"]: row for row in report["connections"]}
    for role in ("makes", "serves"):
        rows = [row for row in report["requests"] if row["role"] == role]
        if not rows:
            continue
        whole, ends = rows[0], [row for row in rows[1:] if row["connection"] is None]
        listed = [row for row in rows if row["connection"] is not None]
        if whole["connection"] is not None or rows[1:] != ends + listed:
            yield f"requests that it {role}: not all first, then endpoints, then connections"
        names = [tuple(row["endpoint"].values()) for row in ends if row["endpoint"]]
        if len(names) != len(ends) or len(set(names)) != len(names) or len(names) and whole["endpoint"]:
            yield f"requests that it {role}: an endpoint has no row of its own"
        for row in ends or [whole]:
            parts = [part for part in listed if part["endpoint"] == row["endpoint"]]
            for key in ("sampled", "connections", "several_at_a_time"):
                if sum(part[key] for part in parts) > row[key]:
                    yield f"requests of {row['endpoint']}: their connections have more {key} than they"
        for key in ("sampled", "connections", "several_at_a_time"):
            if sum(row[key] for row in ends) > whole[key]:
                yield f"requests that it {role}: endpoints have more {key} than all"
        for row in rows:
            if row["several_at_a_time"] > row["connections"] > 0 or row["connection"] is not None and row["connections"] != 1:
                yield f"requests of {row['endpoint']}: {row['connections']} connections"
        for row in listed:
            connection = connections.get(row["connection"])
            if not connection or not row["endpoint"]:
                continue
            end = row["endpoint"]
            if role == "makes" and connection["remote"] != end["remote"]:
                yield f"requests of connection {row['connection']}: it asks {connection['remote']}, not {end['remote']}"
            if connection["remote" if role == "makes" else "local"].rpartition(":")[2] != str(end["port"]):
                yield f"requests of connection {row['connection']}: its port is not {end['port']}"
            if (connection["opener"] == "peer") != (role == "serves"):
                yield f"requests of connection {row['connection']}: it is opened by {connection['opener']}, and it {role} them"
        for row in rows:
            for view in ("median", "p99"):
                if any(part["cause"] == "idle" for part in row[view]["slices"]):
                    yield f"requests that it {role}: the {view} one is idle"


def whom(report):
    """An advice names no process that has ended."""
    gone = {process["pid"] for process in report["target"]["processes"] if process["exited"]}
    for advice in report["verdict"]["advice"]:
        for pid in re.findall(r"(?:trace|record)(?: --events=uring)? -p (\d+)", advice):
            if int(pid) in gone:
                yield f"an advice names process {pid}, which has ended"


def exchanges(path):
    """The requests of a text trace: role, connection, thread, from, to; ms of the window."""
    with open(path, encoding="utf-8", errors="replace") as file:
        for line in file:
            found = re.match(r"([\d.-]+) exchange (.*)", line)
            if not found:
                continue
            fields = dict(word.split("=", 1) for word in found[2].split() if "=" in word)
            role = "makes" if fields["side"] == "asked" else "serves"
            begin = role == "serves" and fields.get("arrived") or fields.get("begin")
            if begin and "since" not in fields:  # one of before the window is in no row
                yield role, int(fields["conn"]), int(fields["tid"]), float(begin), float(found[1])


def longest_cause(slices):
    took = {}
    for part in slices:
        took[part["cause"]] = took.get(part["cause"], 0) + part["ms"]
    return max(took, key=took.get)


def rows(report, asked):
    """The largest cause of a request's row is that of its stall, where one covers more than half of it (invariant 2 of the walk).

    A row's median and 99th percentile are each one request: that of its length. A stall is the request's when it is of the thread
    that asks or answers, or of the connection."""
    asked = list(asked)
    for row in report["requests"]:
        for view in ("median", "p99"):
            for role, conn, tid, begin, end in asked:
                if role != row["role"] or row["connection"] not in (None, conn) or abs(end - begin - row[view]["total_ms"]) > 0.0015:
                    continue
                for stall in report["stalls"]:
                    if stall["tid"] != tid and stall["connection"] != conn:
                        continue
                    both = min(end, stall["start_ms"] + stall["duration_ms"]) - max(begin, stall["start_ms"])
                    cause = longest_cause(row[view]["slices"])
                    if both > (end - begin) / 2 + SLACK_MS and cause != stall["cause"]:
                        yield (f"the {view} request that it {role} is {cause}, and stall {stall['id']} of {stall['cause']} covers "
                               f"{both:.3f} of its {end - begin:.3f} ms")


def judge_rows(pairs):
    failed = 0
    for pair in pairs:
        trace, path = pair.split("=", 1)
        name = re.sub(r".*/|\.trace$", "", trace)
        with open(path, encoding="utf-8") as file:
            text = file.read()
        report = json.loads(text.rpartition("== json\n")[2] if path.endswith(".rendered") else text.rstrip().rpartition("\n")[2])
        found = next(rows(report, exchanges(trace)), None)
        print(f"not ok schema/rows-{name}: {found}" if found else f"ok schema/rows-{name}")
        failed |= bool(found)
    return failed


def contradictions(document, asked=()):
    """Of any document: a report is looked at as a whole, a piece of one for its sums."""
    yield from sums(document)
    if document.get("schema") != "netstall.report/1":
        return
    for check in (causes, durations, listed, processes, requests, whom, verdict):
        yield from check(document)
    yield from rows(document, asked)


def main():
    files, asked = sys.argv[1:], []
    if len(files) >= 2 and files[0] == "--rows":
        return judge_rows(files[1:])
    if len(files) >= 2 and files[0] == "--trace":
        asked, files = list(exchanges(files[1])), files[2:]
    if not files:
        print(__doc__, file=sys.stderr)
        return 2
    failed = 0
    for path in files:
        with open(path, encoding="utf-8") as file:
            text = file.read()
        try:
            report = json.loads(text)
        except ValueError:
            report = json.loads(text.rstrip().rpartition("\n")[2])
        for fault in contradictions(report, asked):
            print(f"{path}: {fault}")
            failed = 1
    return failed


if __name__ == "__main__":
    sys.exit(main())
