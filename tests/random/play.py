#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""
Random programs: play.py FOLDER SEED|PLAN..., or play.py --plan SEED.

A plan is what the processes are given, a word each: `front.script=s12r` (tests/random/random.c has the words and the letters). From a
seed comes a plan. The processes run, each is traced by a netstall of its own, all at the same time, and what they logged is left in
FOLDER with what netstall reported: plan, client.log, client.report, and so on; client.followed.log and so on where they were run again
as the client's report advises. Exit status 77 with a sentence: this machine does not have what it needs.
"""
import json
import os
import random
import signal
import subprocess
import sys
import time

RANDOM = os.environ.get("RANDOM_PROGRAM", "build/tests/random/random")
NETSTALL = os.environ.get("NETSTALL", "build/netstall")
SECONDS = 2
SECONDS_OF_MORE = 4  # each of these requests takes 200 ms and more
LENGTHS = [2, 3, 5, 8, 12, 18, 25]  # ms
LETTERS = "sssccllm" + "hguvdefzpqkj"
COMPUTE = "cmgvfqj"
NOT_QUICK = str.maketrans("zkj", "seh")  # to begin a child, or to look at a flag, takes as long
QUICK = "60"  # us, in place of each ms: requests of which netstall looks at a part, and whose waits are in sums alone
# Of each ten seeds in a row: how often netstall is right hangs on this more than on all else.
REPLIES = ["whole", "split", "whole", "whole", "split", "whole", "whole", "more", "whole", "whole"]


# ---- what is played ----

def script(rng, count):
    return "".join(f"{letter}{rng.choice(LENGTHS)}" for letter in rng.choices(LETTERS, k=count))


def steps(text):
    """[(letter, ms)]"""
    found, number = [], ""
    for char in text + "s":
        if char.isdigit():
            number += char
            continue
        if found:
            found[-1] = (found[-1][0], int(number or 0))
        found.append((char, 0))
        number = ""
    return found[:-1]


def load(plan):
    """So many CPUs one connection's requests take at most."""
    found = steps(plan["front"]["script"] + plan.get("back", {}).get("script", ""))
    return sum(ms for letter, ms in found if letter in COMPUTE) / max(1, sum(ms for _, ms in found))


def plan_of(seed):
    """A plan is kept in tests/random/cases: so this may be changed, and the cases stay what they are."""
    rng = random.Random(seed)
    plan = {"client": {"shape": rng.choice(["thread", "thread", "thread", "loop"])},
            "front": {"shape": rng.choice(["thread", "thread", "loop", "pool"])}}
    client, front = plan["client"], plan["front"]
    has_back = rng.random() < 0.5
    front["script"] = script(rng, rng.choice([1, 1, 2, 3]))
    if has_back:
        places = [place for place, char in enumerate(front["script"] + "s") if char.isalpha()]
        place = rng.choice(places)
        front["script"] = front["script"][:place] + "r" + front["script"][place:]
        plan["back"] = {"shape": rng.choice(["thread", "thread", "loop"]), "script": script(rng, rng.choice([1, 1, 2]))}
    front["reply"] = REPLIES[seed % 10]
    # Who reads for all has to get the whole request at once.
    if front["shape"] == "thread" and rng.random() < 0.35:
        client["ask"] = "split"
    if has_back and plan["back"]["shape"] == "thread" and rng.random() < 0.3:
        front["ask"] = "split"
    client["connections"] = rng.choice([2, 3]) if client["shape"] == "loop" else rng.choice([1, 2, 3])
    # What the machine does with more than one CPU's work is not what is asked here.
    while client["connections"] > 1 and client["connections"] * load(plan) > 1:
        client["connections"] -= 1
    client["wait"] = rng.choice(["recv", "recv", "recv", "poll", "ring"])
    client["think"] = rng.choice(["", "", "s3", "s15", "c3"])
    # While a loop does its own, it acknowledges nothing: then two hold the answer up, and judge.py cannot tell them apart.
    if client["shape"] == "loop" and front["reply"] != "whole":
        client["think"] = ""
    if seed % 10 in (5, 9):  # whose answers are written whole
        for words in plan.values():
            words["unit"] = QUICK
            words.pop("ask", None)
            if "script" in words:
                words["script"] = words["script"].translate(NOT_QUICK)
    return plan


def write_plan(plan):
    return " ".join(f"{end}.{key}={value}" for end, words in plan.items() for key, value in words.items() if value != "")


def read_plan(words):
    plan = {}
    for word in words:
        end, _, rest = word.partition(".")
        key, _, value = rest.partition("=")
        plan.setdefault(end, {})[key] = value
    return plan


def places_that_hold(plan):
    """Where an answer or a request is held up by how it is written."""
    return [(end, key) for end, words in plan.items() for key in ("ask", "reply") if words.get(key) in ("split", "more")]


def without_holds(plan):
    """What is advised."""
    return {end: {**words, "nodelay": 1, **({"reply": "whole"} if words.get("reply") == "more" else {})} for end, words in plan.items()}


# ---- playing it ----

class Missing(Exception):
    """What this machine does not have."""


class Programs:
    def __init__(self, plan, folder, suffix=""):
        self.started = {}  # name: process; who is asked first
        port = back = 0
        try:
            for name in [name for name in ("back", "front", "client") if name in plan]:
                words = dict(plan[name])
                words.setdefault("nodelay", int("split" not in (words.get("ask"), words.get("reply"))))
                words |= {"name": f"random-{name}", "log": f"{folder}/{name}{suffix}.log"}
                words |= {"port": port} if name == "client" else {"back": back} if "back" in plan and name == "front" else {}
                self.started[name] = subprocess.Popen(
                    [RANDOM, "client" if name == "client" else "server", *(f"{key}={value}" for key, value in words.items())],
                    stdout=subprocess.PIPE, preexec_fn=go_first)
                ready = self.started[name].stdout.readline()
                if not ready.startswith(b"ready port="):
                    status = self.started[name].wait()
                    raise Missing("this machine has no io_uring") if status == 77 else OSError(f"{name} did not start")
                port, back = int(ready.split(b"=")[1]), port
                back = port if name == "back" else back
        except BaseException:
            self.end()
            raise

    def end(self):
        for process in reversed(self.started.values()):  # who asks ends first
            process.send_signal(signal.SIGTERM)
            process.wait()


def go_first():
    """What else runs on this machine is no part of the truth."""
    os.setsid()  # for an autogroup of its own
    try:
        os.setpriority(os.PRIO_PROCESS, 0, -15)
        with open("/proc/self/autogroup", "w", encoding="ascii") as file:
            file.write("-15")
    except OSError:
        pass


class Tracer:
    def __init__(self, pid, path):
        self.path, self.process_traced = path, pid
        with open(f"{path}.trace", "wb") as out, open(f"{path}.err", "wb") as err:
            self.process = subprocess.Popen([NETSTALL, "trace", "--json", "-p", str(pid)], stdin=subprocess.DEVNULL, stdout=out, stderr=err)

    def said(self):
        with open(f"{self.path}.err", encoding="utf-8", errors="replace") as file:
            return file.read()

    def attach(self):
        until = time.monotonic() + 60
        while "netstall: tracing" not in self.said():
            if self.process.poll() is not None or time.monotonic() > until:
                raise OSError(f"netstall did not attach: {self.said()[:400]}")
            time.sleep(0.02)

    def end(self):
        """As Ctrl-C does."""
        self.process.send_signal(signal.SIGINT)

    def report(self):
        """The last line; beside it are kept the requests that were looked at, (role, begin, end): one of them is the median."""
        if self.process.wait(60):
            raise OSError(f"netstall failed: {self.said()[-400:]}")
        with open(f"{self.path}.trace", encoding="utf-8", errors="replace") as file:
            lines = file.read().splitlines()
        report, exchanges = json.loads(lines[-1]), []
        for line in lines:
            event = json.loads(line) if '"event": "exchange"' in line else {"tgid": None}
            if event["tgid"] == self.process_traced:
                makes = event["side"] == "asked"
                begin = event["begin_ms"] if makes else event["arrived_ms"] or event["begin_ms"]
                exchanges.append(("makes" if makes else "serves", begin, event["t_ms"]))
        with open(f"{self.path}.report", "w", encoding="utf-8") as file:
            json.dump(report | {"exchanges": exchanges}, file)
        return report


def play(plan, folder):
    seconds = SECONDS_OF_MORE if "more" in (plan["front"].get("reply"),) else SECONDS
    programs, tracers = Programs(plan, folder), {}
    try:
        for name, process in programs.started.items():
            tracers[name] = Tracer(process.pid, f"{folder}/{name}")
        for tracer in tracers.values():
            tracer.attach()
        time.sleep(seconds)
        for tracer in tracers.values():
            tracer.end()
        reports = {name: tracer.report() for name, tracer in tracers.items()}
    finally:
        for tracer in tracers.values():
            if tracer.process.poll() is None:
                tracer.process.kill()
        programs.end()
    if len(places_that_hold(plan)) == 1 and reports["client"]["verdict"]["saves_ms"]:
        programs = Programs(without_holds(plan), folder, ".followed")
        time.sleep(SECONDS)
        programs.end()


def main():
    if sys.argv[1] == "--plan":
        print(write_plan(plan_of(int(sys.argv[2]))))
        return
    folder, words = sys.argv[1], sys.argv[2:]
    plan = read_plan(words) if "=" in words[0] else plan_of(int(words[0]))
    with open(f"{folder}/plan", "w", encoding="ascii") as file:
        print(write_plan(plan), file=file)
    try:
        play(plan, folder)
    except Missing as missing:
        print(missing, file=sys.stderr)
        sys.exit(77)


if __name__ == "__main__":
    main()
