#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Tests judge.py by logs and reports that were not measured: one line a case, exit status 1 if any failed."""
import collections
import contextlib
import copy
import io
import json
import os
import sys
import tempfile

sys.dont_write_bytecode = True
import judge
import play

MS = 1000000
COUNT = 20
# Each 200 ms a request of 50 ms, from the client: the front sleeps for 10 ms, computes for 8, and asks the back, which has a lock for 12
# and computes for 20. All of that is of the back's time but 0.
PLAN = "client.shape=thread client.connections=1 front.shape=thread front.script=s10c8r back.shape=thread back.script=m20"
TRUE = {"client": ("client", "makes", 50, {"peer-app": 50}),
        "front": ("front", "serves", 50, {"timer": 10, "self": 8, "peer-app": 32}),
        "makes": ("front", "makes", 32, {"peer-app": 32}),
        "back": ("back", "serves", 32, {"lock": 12, "self": 20})}
LEADS = {"client": "peer-app", "front": "peer-app", "back": "self"}


def step(letter, cause, begin, took, own=0, others=0):
    return [letter, cause, begin, begin + took * MS, own * MS, others * MS]


def logs_of(**changed):
    """changed: delay: so long the thread of the front waits for a CPU in each sleep, of `disturbed` requests; held: the answer is, for
    so long; piece: so long the request's second piece."""
    delay, disturbed, held, piece = (changed.get(key, 0) for key in ("delay", "disturbed", "held", "piece"))
    logs = collections.defaultdict(list)
    for number in range(COUNT):
        begin = (1000 + 200 * number) * MS
        read = begin + piece * MS
        wait = delay * (number < disturbed)
        ends = [read + ms * MS for ms in (10, 18, 50)]
        logs["back"].append({"conn": 2, "number": number, "worker": 2, "read": ends[1], "done": ends[2], "wrote": ends[2], "woken": 0, "delay": 0,
                             "steps": [step("m", "lock", ends[1], 12), step("m", "self", ends[1] + 12 * MS, 20)]})
        logs["front"].append({"conn": 1, "back": 2, "number": number, "worker": 1, "read": read, "done": ends[2], "wrote": ends[2], "woken": 0,
                              "delay": wait * MS, "steps": [step("s", "timer", read, 10, wait), step("c", "self", ends[0], 8),
                                                            step("r", "peer-app", ends[1], 32)]})
        logs["client"].append({"conn": 1, "number": number, "first_write": begin, "last_write": begin, "last": ends[2] + held * MS,
                               "delay": 0, "steps": []})
    return logs


def reports_of(views=TRUE, leads=LEADS, saves=None):
    reports = {name: {"window": {"monotonic_start_ms": 0, "duration_ms": 10000}, "requests": [],
                      "verdict": {"cause": leads[name], "saves_ms": saves, "headline": ""}} for name in ("client", "front", "back")}
    for name, role, took, causes in views.values():
        slices = [{"cause": cause, "ms": ms} for cause, ms in causes.items()]
        reports[name]["requests"].append({"role": role, "connection": None, "count": COUNT, "median": {"total_ms": took, "slices": slices}})
    return reports


def views(**changed):
    return TRUE | {view: (*TRUE[view][:2], *rest) for view, rest in changed.items()}


def judged(plan=PLAN, logs=None, reports=None):
    """{view: what differs, or why it is not judged}"""
    found = judge.judge(play.read_plan(plan.split()), copy.deepcopy(logs or logs_of()), reports or reports_of())
    return {view: why or "; ".join(wrong) for view, why, wrong, _, _ in found}


SPLIT = PLAN.replace("front.script", "front.reply=split front.script")
HELD = views(client=(90, {"peer-app": 50, "nagle-delack": 40}), front=(90, {"timer": 10, "self": 8, "peer-app": 32, "nagle-delack": 40}))
HELD_LEADS = LEADS | {"client": "nagle-delack", "front": "nagle-delack"}
FOLLOWED = {"followed": logs_of(held=1)}
IN_TURN = SPLIT.replace("client.connections=1 front.shape=thread", "client.connections=3 front.shape=loop")
SOONER = {"followed": logs_of(held=1)}
for sooner in SOONER["followed"]["front"]:
    sooner["wrote"] -= 3 * MS


def wrong(view, text):
    return {view: text}


CASES = [  # name, what judged() is given, what differs
    ("right", {}, {}),
    ("another_cause", {"reports": reports_of(views(client=(50, {"network": 50})))},
     wrong("client", "slices network 50.0, truth 0.0, peer-app 0.0, truth 50.0")),
    ("a_cause_too_short", {"reports": reports_of(views(back=(32, {"lock": 20, "self": 12})))},
     wrong("back", "slices lock 20.0, truth 12.0, self 12.0, truth 20.0")),
    ("a_little_off", {"reports": reports_of(views(back=(34, {"lock": 14, "self": 20})))}, {}),
    ("another_length", {"reports": reports_of(views(makes=(40, {"peer-app": 35})))}, wrong("makes", "length 40.0, truth 32.0")),
    ("a_piece_is_missing", {"reports": reports_of(views(front=(50, {"timer": 10, "self": 8, "peer-app": 20})))},
     wrong("front", "slices peer-app 20.0, truth 32.0")),
    ("no_table", {"reports": reports_of({view: row for view, row in TRUE.items() if view != "back"})},
     wrong("back", "table of serves: none, truth 20 requests")),
    ("another_verdict", {"reports": reports_of(leads=LEADS | {"front": "timer"})},
     wrong("front", "verdict timer, truth peer-app")),
    ("no_verdict", {"reports": reports_of(leads=LEADS | {"client": None})}, wrong("client", "verdict None, truth peer-app")),
    ("held", {"plan": SPLIT, "logs": logs_of(held=40), "reports": reports_of(HELD, HELD_LEADS)}, {}),
    ("held_and_not_told", {"plan": SPLIT, "logs": logs_of(held=40), "reports": reports_of(leads=HELD_LEADS)},
     {"client": "length 50.0, truth 90.0; slices nagle-delack 0.0, truth 40.0",
      "front": "length 50.0, truth 90.0; slices nagle-delack 0.0, truth 40.0"}),
    ("saved", {"plan": SPLIT, "logs": logs_of(held=40) | FOLLOWED, "reports": reports_of(HELD, HELD_LEADS, 40)}, {}),
    ("saves_too_much", {"plan": SPLIT, "logs": logs_of(held=40) | FOLLOWED, "reports": reports_of(HELD, HELD_LEADS, 60)},
     wrong("client", "saves 60.0, followed 39.0")),
    # Three wait in turn for the front, whose service was 3 ms shorter afterwards, or was not.
    ("saved_in_turn", {"plan": IN_TURN, "logs": logs_of(held=40) | SOONER, "reports": reports_of(HELD, HELD_LEADS, 30)}, {}),
    ("saves_too_little_in_turn", {"plan": IN_TURN, "logs": logs_of(held=40) | FOLLOWED, "reports": reports_of(HELD, HELD_LEADS, 30)},
     wrong("client", "saves 30.0, followed 39.0")),
    # The request's second piece is held: the front's time begins as it was written.
    ("request_is_held", {"plan": PLAN + " client.ask=split", "logs": logs_of(piece=40),
                         "reports": reports_of(HELD, HELD_LEADS)}, {}),
    # The front waited for a CPU for 4 of each 10 ms, and says so; or says that it slept.
    ("waits_for_cpu", {"logs": logs_of(delay=6, disturbed=COUNT),
                       "reports": reports_of(views(front=(50, {"timer": 4, "runqueue": 6, "self": 8, "peer-app": 32})))}, {}),
    ("waits_for_cpu_untold", {"logs": logs_of(delay=8, disturbed=COUNT)},
     wrong("front", "slices runqueue 0.0, truth 8.0, timer 10.0, truth 2.0")),
]


def busy():
    """A request of which others had no CPU for more than a quarter is left out; where few are left, or it is the one that is told, the view is."""
    few, many = (logs_of(delay=10, disturbed=count) for count in (4, 14))
    for logs in (few, many):
        for record in logs["front"]:
            delay = record["steps"][0][4]  # of who did it
            record["steps"][0][4:] = 0, delay
            record["steps"][1][4:] = 0, delay * 0.4
    told = reports_of(views(front=(50, {"runqueue": 14, "self": 4, "peer-app": 32})))
    is_wrong = reports_of(views(front=(50, {"network": 50})))
    return (judged(logs=few) == dict.fromkeys(TRUE, "") and judged(logs=many)["front"] == "14 of 20 requests waited for a CPU"
            and judged(logs=few, reports=told)["front"] == "the median request waited for a CPU"
            and judged(reports=told)["front"].startswith("slices runqueue 14.0, truth 0.0")
            and judged(logs=few, reports=is_wrong)["front"].startswith("slices network 50.0, truth 0.0"))


def seldom():
    logs = {name: records[:judge.LEAST_REQUESTS - 1] for name, records in logs_of().items()}
    return set(judged(logs=logs).values()) == {"7 requests"}


def outside():
    """Requests that are not wholly in the window are not its own."""
    reports = reports_of()
    for report in reports.values():
        report["window"]["monotonic_start_ms"] = 2801
    return judged(reports=reports)["client"] == "count 20, truth 10"


def longest():
    """The verdict may be the largest cause, or that of what took longest in many a request."""
    requests = [judge.Request(0, 35 * MS) for _ in range(COUNT)]
    for request in requests:
        for cause, ms in ("timer", 10), ("self", 15), ("timer", 10), ("lock", 3):
            request.add(cause, ms * MS)
    return judge.leaders(requests) == {"timer", "self"}


def queued():
    """Two clients of a loop ask at the same time: what the loop does for the one is the other's time, from either end."""
    plan = play.read_plan("client.shape=thread client.connections=2 front.shape=loop front.script=s10c8".split())
    logs = collections.defaultdict(list)
    for number in range(COUNT):
        begin = (1000 + 200 * number) * MS
        for conn in 1, 2:
            read = begin + 18 * MS * (conn - 1)
            logs["front"].append({"conn": conn, "back": 0, "number": number, "worker": 0, "read": read, "done": read + 18 * MS,
                                  "wrote": read + 18 * MS, "woken": 0, "delay": 0, "steps": [step("s", "timer", read, 10), step("c", "self", read + 10 * MS, 8)]})
            logs["client"].append({"conn": conn, "number": number, "first_write": begin, "last_write": begin, "last": read + 18 * MS,
                                   "delay": 0, "steps": []})
    true = judge.truth(plan, logs)
    return all([(request.ms, {cause: ms for cause, ms in request.hi.items() if ms}) for request in true[view][:2]]
               == [(18, dict.fromkeys(causes, 18) if view == "client" else {"timer": 10, "self": 8}),
                   (36, dict.fromkeys(causes, 36) if view == "client" else {"timer": 20, "self": 16})]
               for view, causes in (("client", ["peer-app"]), ("front", [])))


def queued_behind_a_hold():
    """Likewise where the loop's own request is held: that is no doing of the loop's, but of its writes."""
    plan = play.read_plan("client.shape=thread front.shape=loop front.ask=split front.script=r back.shape=thread back.script=s10".split())
    logs = collections.defaultdict(list)
    for conn in 1, 2:
        read = (1000 + 50 * (conn - 1)) * MS
        logs["back"].append({"conn": conn, "number": 0, "worker": conn, "read": read + 40 * MS, "done": read + 50 * MS, "wrote": read + 50 * MS,
                             "woken": 0, "delay": 0, "steps": [step("s", "timer", read + 40 * MS, 10)]})
        logs["front"].append({"conn": conn, "back": conn, "number": 0, "worker": 0, "read": read, "done": read + 50 * MS,
                              "wrote": read + 50 * MS, "woken": 0, "delay": 0, "steps": [step("r", "peer-app", read, 50)]})
        logs["client"].append({"conn": conn, "number": 0, "first_write": 1000 * MS, "last_write": 1000 * MS, "last": read + 50 * MS,
                               "delay": 0, "steps": []})
    return all({cause: ms for cause, ms in request.hi.items() if ms} == {"nagle-delack": 40 * both, "peer-app": 10 * both}
               for view in ("client", "front") for request, both in zip(judge.truth(plan, logs)[view], (1, 2)))


def verdict_of_the_machine():
    """A verdict of waits for a CPU is none of the program's where there were some, and wrong where there were none."""
    reports = reports_of(leads=LEADS | {"front": "runqueue"})
    said = [judged(logs=logs_of(delay=10, disturbed=count), reports=reports)["front"] for count in (0, 4)]
    return said == ["verdict runqueue, truth peer-app", "the verdict is of waits for a CPU, which there were"]


def which_is_told():
    """The told request is that of the time line, though what is said would fit another one of its length."""
    logs, reports = logs_of(), reports_of(views(front=(50, {"timer": 2, "self": 16, "peer-app": 32})))
    read = logs["front"][7]["read"]
    logs["front"][7]["steps"][:2] = [step("s", "timer", read, 2), step("c", "self", read + 2 * MS, 16)]
    said = [judged(logs=logs, reports=reports)["front"]]
    for number in 7, 8:
        reports["front"]["exchanges"] = [("makes", 1, 51), ("serves", 1000.1 + 200 * number, 1050.1 + 200 * number)]
        said.append(judged(logs=logs, reports=reports)["front"])
    return said == ["", "", "slices self 16.0, truth 8.0, timer 2.0, truth 10.0"]


def count_is_off():
    reports = reports_of()
    reports["client"]["requests"][0]["count"] = 2 * COUNT
    return judged(reports=reports)["client"] == "count 40, truth 20"


def lists():
    """A listed view may be wrong as it is listed, and in no other way."""
    line = judge.verdict_line
    return (line("1.client", [], set()) == "ok random/1.client"
            and line("1.client", ["length 1"], set()) == "not ok random/1.client: length 1"
            and line("1.client", ["length 1"], {"length", "slices"}) == "ok random/1.client: listed as wrong: length 1"
            and line("1.client", ["length 1", "verdict x"], {"length"}) == "not ok random/1.client: length 1; verdict x"
            and line("1.client", [], {"length"}) == "ok random/1.client\n# no longer wrong: random/1.client, listed for length")


def by_command():
    """The whole way from files to lines and a status."""
    with tempfile.TemporaryDirectory() as folder:
        with open(f"{folder}/plan", "w", encoding="ascii") as file:
            file.write(PLAN)
        for name, records in logs_of().items():
            with open(f"{folder}/{name}.log", "w", encoding="ascii") as file:
                file.writelines(json.dumps(record, separators=(",", ":")) + "\n" for record in records)
        for name, report in reports_of(leads=LEADS | {"front": "timer"}).items():
            with open(f"{folder}/{name}.report", "w", encoding="ascii") as file:
                json.dump(report, file)
        with open(f"{folder}/list", "w", encoding="ascii") as file:
            file.write("# known\n7.front verdict\n7.back slices\n")
        said = []
        for words in [], ["--list", f"{folder}/list"]:
            sys.argv = ["judge.py", *words, "7", folder]
            with contextlib.redirect_stdout(io.StringIO()) as out:
                status = judge.main()
            said.append((status, out.getvalue().split("\n")))
    return (said[0] == (1, ["ok random/7.client", "not ok random/7.front: verdict timer, truth peer-app", "ok random/7.makes",
                            "ok random/7.back", ""])
            and said[1] == (0, ["ok random/7.client", "ok random/7.front: listed as wrong: verdict timer, truth peer-app",
                                "ok random/7.makes", "ok random/7.back", "# no longer wrong: random/7.back, listed for slices", ""]))


def plans():
    """A plan comes back from its words, is the same each time, and its steps are the program's; the fixed ones have all kinds."""
    for seed in range(300):
        plan = play.plan_of(seed)
        if play.write_plan(play.read_plan(play.write_plan(plan).split())) != play.write_plan(play.plan_of(seed)):
            return False
    here = os.path.dirname(os.path.abspath(__file__))
    with open(f"{here}/cases", encoding="ascii") as file:
        fixed = [play.read_plan(line.split()[1:]) for line in file if line.strip() and not line.startswith("#")]
    letters = {letter for plan in fixed for end in plan.values() for key in ("script", "think") for letter, _ in play.steps(end.get(key, ""))}
    shapes = {(name == "client", end["shape"]) for plan in fixed for name, end in plan.items()}
    waits = {plan["client"]["wait"] for plan in fixed if plan["client"]["shape"] == "thread"}
    written = {value for plan in fixed for end in plan.values() for key in ("ask", "reply") for value in [end.get(key)]}
    missing = ({*play.LETTERS, "r"} - letters) | ({"recv", "poll", "ring"} - waits) | ({"split", "more"} - written)
    missing |= {(True, "thread"), (True, "loop"), (False, "thread"), (False, "loop"), (False, "pool")} - shapes
    missing |= {"quick", "slow"} - {"quick" if "unit" in plan["front"] else "slow" for plan in fixed}
    if missing:
        print(f"# the fixed plans have no {missing}")
    return not missing


def main():
    failed = 0
    checks = [(name, lambda given=given, found=found: judged(**given) == dict.fromkeys(TRUE, "") | found) for name, given, found in CASES]
    checks += [(check.__name__, check) for check in (busy, seldom, outside, which_is_told, longest, queued, queued_behind_a_hold, verdict_of_the_machine, count_is_off, lists, by_command, plans)]
    for name, check in checks:
        right = check()
        print(f"ok count/random_{name}" if right else f"not ok count/random_{name}")
        failed |= not right
    if failed:
        for name, given, _ in CASES:
            print(f"# {name}: {judged(**given)}")
    return int(failed)


sys.exit(main())
