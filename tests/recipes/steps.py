#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""The shell steps of a CI file, one file for each: steps.py FILE JOB OUTPUT-FOLDER"""
import pathlib
import sys

import yaml

with open(sys.argv[1], encoding="utf-8") as file:
    job = yaml.safe_load(file)
# GitHub has its jobs one level down, and calls a step's script `run`.
if "jobs" in job:
    job = job["jobs"][sys.argv[2]]
    steps = [step["run"] for step in job["steps"] if "run" in step]
else:
    job = job[sys.argv[2]]
    steps = ["\n".join(job["before_script"]), "\n".join(job["script"])]
for number, step in enumerate(steps, 1):
    pathlib.Path(sys.argv[3], f"step-{number}").write_text(step + "\n", encoding="utf-8")
print(len(steps))
