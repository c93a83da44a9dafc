#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Tests judge.py by reports that were not measured: one line a case, exit status 1 if any failed."""
import json
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))


def judge(verdict, truth, machine_ms, others=(), view="client", delay_ms=None):
    """The exit status, and what is said, of a view in which all requests take 1 s, 0.9 s of it by the verdict's cause. With delay_ms one of
    20 took 80 ms, the others 60, as did all for the report; so long who asked for it waited for a CPU."""
    done = {"truth": {view: {"cause": [truth], "words": "", "never": "", "part": 0.9, "besides": []}},
            "requests": {"count": 0, "busy_ms": 1000, "machine_ms": machine_ms, "ready_ms": machine_ms}}
    report = {"window": {"duration_ms": 1000}, "requests": [],
              "verdict": {"cause": verdict, "title": "", "text": "", "advice": []},
              "causes": [{"cause": cause, "share": 0.9, "count": 3} for cause in (verdict, *others)]}
    if delay_ms is not None:
        done["requests"] |= {"count": 20, "median_ms": 60, "p99_ms": 80, "served_median_ms": 60, "served_p99_ms": 80 - delay_ms}
        report["requests"] = [{"connection": None, "role": "serves" if view == "server" else "makes", "count": 20,
                               "median": {"total_ms": 60}, "p99": {"total_ms": 60}}]
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump(report, file)
        file.flush()
        ran = subprocess.run([sys.executable, os.path.join(HERE, "judge.py"), view, file.name], input=json.dumps(done),
                             capture_output=True, text=True, check=False)
    return ran.returncode, ran.stdout + ran.stderr


CASES = [  # name, what judge() is given, exit status, words of what is said
    ("right", ("timer", "timer", 0), 0, ""),
    ("another_cause", ("lock", "timer", 0), 0, "the verdict is lock, wanted timer"),
    ("busy_machine_is_no_success", ("runqueue", "timer", 900), 77, "the verdict is runqueue"),
    ("runqueue_without_a_busy_machine", ("runqueue", "timer", 100), 0, "the verdict is runqueue, wanted timer"),
    ("runqueue_that_is_meant", ("runqueue", "runqueue", 900), 0, ""),
    ("late_answer_is_not_the_servers", ("timer", "timer", 25, (), "server", 18), 0, ""),
    ("late_answer_is_the_clients", ("timer", "timer", 25, (), "client", 18), 0, "p99 of requests 60.0 ms, truth 80.0 ms"),
    ("late_server", ("timer", "timer", 25, (), "server", 0), 0, "p99 of requests 60.0 ms, truth 80.0 ms"),
    ("busy_machine_hides_no_fault", ("runqueue", "timer", 900, ["cork"]), 0, "3 stalls of cork"),
]
failed = 0
for name, given, status, words in CASES:
    got, said = judge(*given)
    right = got == status and (words in said if words else not said)
    print(f"ok count/judge_{name}" if right else f"not ok count/judge_{name}: status {got}, '{said}'")
    failed |= not right
sys.exit(failed)
