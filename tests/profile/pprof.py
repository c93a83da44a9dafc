#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Does pprof read from a profile what netstall's JSON says of the same one?

    pprof.py PROFILE.pb.gz PROFILE.json

By `go tool pprof -raw` and `-top`: the same total, number of waits, samples with the same stacks and labels.
Exit status: 0 it does, 1 it does not (says what), 64 usage, 77 there is no go.
"""
import json
import os
import re
import shutil
import subprocess
import sys


def pprof(*arguments):
    # It wants a home to keep things in, and must not ask for anything elsewhere.
    environment = {"PATH": os.environ.get("PATH", ""), "HOME": "/nonexistent", "PPROF_TMPDIR": "/nonexistent",
                   "GOTOOLCHAIN": "local", "GOCACHE": "/nonexistent/cache"}
    done = subprocess.run(["go", "tool", "pprof", *arguments], capture_output=True, text=True, timeout=60, env=environment)
    if done.returncode:
        raise ValueError(f"pprof {arguments[0]}: {done.stderr.strip()[-300:]}")
    return done.stdout


def read_raw(text):
    """The head, the types, and the samples as (waits, ns, [(function, file, line), ...], {label: value})."""
    head, rest = text.split("Samples:\n", 1)
    body, rest = rest.split("Locations\n", 1)
    locations = {int(line.split(":")[0]): re.match(r"\s*\d+: \S+ M=\d+ (.*) (\S*):(\d+) s=0", line).groups()
                 for line in rest.split("Mappings\n")[0].splitlines() if line.strip()}
    samples = []
    for line in body.splitlines()[1:]:
        numbers = re.match(r"\s+(\d+)\s+(\d+):((?: \d+)*)\s*$", line)
        if numbers:
            stack = [locations[int(number)] for number in numbers[3].split()]
            samples.append((int(numbers[1]), int(numbers[2]), stack, {}))
        else:
            for key, value in re.findall(r"(\w+):\[(.*?)\](?= \w+:\[|\s*$)", line):
                samples[-1][3][key] = value
    return head, body.splitlines()[0], samples


def frame_of(frame):
    function, file, line = frame
    return f"{function} ({file}:{line})" if file else function


def wanted_frames(chain):
    # Written as in folded stacks, where a blank before a number would end the line.
    return [re.sub(r" (?=[\d.]*\d[\d.]*$)", "_", name) for name in chain["kernel"] + chain["user"] if name]


def faults_of_sample(sample, chain):
    waits, ns, stack, labels = sample
    if [frame_of(frame) for frame in stack] != wanted_frames(chain):
        yield f"the stack is {[frame_of(frame) for frame in stack]}, wanted {wanted_frames(chain)}"
    if (waits, ns) != (chain["waits"], round(chain["blocked_ms"] * 1e6)):
        yield f"{waits} waits of {ns} ns, wanted {chain['waits']} of {chain['blocked_ms']} ms"
    if labels.get("cause") != chain["cause"] or labels.get("pid") != str(chain["pid"]):
        yield f"the labels are {labels}, wanted cause {chain['cause']} and pid {chain['pid']}"
    if bool(chain["wakers"]) != ("waker" in labels):
        yield f"the labels are {labels}, with {len(chain['wakers'])} wakers"


def faults(path, document):
    head, types, samples = read_raw(pprof("-raw", path))
    totals = document["totals"]
    if types.split() != ["events/count", "delay/nanoseconds[dflt]"]:
        yield f"the sample types are {types}"
    duration = re.search(r"Duration: ([\d.]+)", head) # in s, of three digits
    if not duration or abs(float(duration[1]) * 1000 / document["window"]["duration_ms"] - 1) > 0.01:
        yield f"the duration is not {document['window']['duration_ms']} ms: {head}"
    if (waits := sum(sample[0] for sample in samples)) != totals["waits"]:
        yield f"{waits} waits, not {totals['waits']}"
    if (total := sum(sample[1] for sample in samples)) != round(totals["blocked_ms"] * 1e6):
        yield f"the total is {total} ns, not {totals['blocked_ms']} ms"
    if len(samples) != len(document["chains"]):
        yield f"{len(samples)} samples of {len(document['chains'])} chains"
    for sample, chain in zip(samples, document["chains"]):
        yield from faults_of_sample(sample, chain)
    if samples and "flat%" not in pprof("-top", path):
        yield "-top prints no table"


def main():
    if len(sys.argv) != 3:
        print(__doc__, file=sys.stderr)
        return 64
    if not shutil.which("go"):
        print("go is not installed, see scripts/deps.sh")
        return 77
    with open(sys.argv[2], encoding="utf-8") as file:
        document = json.load(file)
    found = list(faults(sys.argv[1], document))
    for fault in found[:5]:
        print(fault, file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
