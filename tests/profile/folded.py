#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""Is this what flamegraph.pl reads, and what netstall says it writes?

    folded.py [--sum US [--within PERCENT]] [--delimited] [--cause] [--hops N] [FILE]

Lines of `frame;frame;... COUNT`, as flamegraph.pl's own expression takes them apart; in the format of
`netstall offwake -f`: separators where they may be, no frame empty, no line twice, most time first.
--sum: the counts sum to this, or lie within PERCENT of it. --hops: no chain has more wakers than this.
--cause: the second frame of each line is a cause's id. --delimited: '-' may stand in the lines, else it must not.
Prints the sum. Exit status: 0 well formed, 1 not (says why, and which line), 64 usage.
"""
import argparse
import json
import os
import re
import sys

# flamegraph.pl: the stack, a blank, the count; a second count would be a differential profile's.
LINE = re.compile(r"^(.*)\s+?(\d+(?:\.\d*)?)$")
with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../docs/profile-schema.json"), encoding="utf-8") as schema:
    CAUSES = set(json.load(schema)["$defs"]["cause"]["enum"])
FAULTS_MOST = 10


def faults_of_stack(stack, options):
    sleeper, *wakers = stack.split(";--;")
    for part in (sleeper, *wakers):
        frames = part.split(";")
        if not all(frame.strip() for frame in frames):
            yield "an empty frame"
        if "--" in frames:
            yield "a '--' without a waker behind it"
        if frames.count("-") > 1 or frames[0] == "-" or frames[-1] == "-":
            yield "a '-' that delimits nothing"
        if "-" in frames and not options.delimited:
            yield "a '-' that nobody asked for"
        if any(ord(letter) < 0x20 or letter == "\x7f" for letter in part):
            yield "a control character"
    if len(wakers) > options.hops:
        yield f"{len(wakers)} wakers, asked were {options.hops}"
    if options.cause and not CAUSES & set(sleeper.split(";")[1:2]):
        yield "the second frame is no cause"


def check(text, options, total):
    """Yields (line number, fault); total[0] becomes the sum."""
    seen, before = set(), None
    if text and not text.endswith("\n"):
        yield text.count("\n") + 1, "it ends within a line"
    for number, line in enumerate(text.split("\n")[:-1], 1):
        taken = LINE.match(line)
        if not taken:
            yield number, "flamegraph.pl would skip it"
            continue
        stack, count = taken.groups()
        if LINE.match(stack):
            yield number, "flamegraph.pl would read two counts"
        if not re.fullmatch(r"[1-9][0-9]*", count):
            yield number, f"the count is {count}"
            continue
        if stack in seen:
            yield number, "the same stack twice"
        if before is not None and int(count) > before:
            yield number, "not in the order of time"
        for fault in faults_of_stack(stack, options):
            yield number, fault
        seen.add(stack)
        before = int(count)
        total[0] += before


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--sum", type=float)
    parser.add_argument("--within", type=float, default=0)
    parser.add_argument("--delimited", action="store_true")
    parser.add_argument("--cause", action="store_true")
    parser.add_argument("--hops", type=int, default=9)
    parser.add_argument("file", nargs="?", default="/dev/stdin")
    try:
        options = parser.parse_args()
    except SystemExit as end:
        return 64 if end.code else 0
    with open(options.file, "rb") as file:
        data = file.read()
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        print(f"not UTF-8: {error}", file=sys.stderr)
        return 1
    total, found = [0], 0
    for number, fault in check(text, options, total):
        line = text.split("\n")[number - 1]
        print(f"line {number}: {fault}: {line if len(line) < 300 else line[:150] + ' ... ' + line[-150:]}", file=sys.stderr)
        found += 1
        if found == FAULTS_MOST:
            return 1
    if options.sum is not None and abs(total[0] - options.sum) > options.sum * options.within / 100:
        print(f"the sum is {total[0]} us, wanted {options.sum:.0f} within {options.within}%", file=sys.stderr)
        found += 1
    print(total[0])
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
