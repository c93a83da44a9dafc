#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""
Perfetto traces, decoded by protoc with the public message numbers (perfetto.proto).

    perfetto.py FILE...     lines `ok NAME`, `not ok NAME: why`; exit status 1 if any failed
"""
import re
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

HERE = Path(__file__).parent


def decode(name):
    with open(name, "rb") as file:
        text = subprocess.run(["protoc", "--decode=perfetto.protos.Trace", f"-I{HERE}", str(HERE / "perfetto.proto")], stdin=file, capture_output=True, check=True).stdout.decode()
    unknown = re.search(r"^\s*\d+[:\s]", text, re.M)
    assert not unknown, f"a field that it does not know: {unknown.group(0)}"
    return [packet for packet in re.split(r"^packet \{$", text, flags=re.M) if packet.strip()]


def value(packet, field):
    found = re.search(rf"\b{field}: (\S+)", packet)
    return found and found.group(1)


def judge(name):
    events, tracks, flows, ends = defaultdict(list), {}, set(), set()
    for packet in decode(name):
        if "track_descriptor {" in packet:
            uuid = value(packet, "uuid")
            assert uuid not in tracks, f"track {uuid} is described twice"
            tracks[uuid] = packet
            assert re.search(r'name: "[^"]', packet), f"a track without a name: {packet}"
        elif "track_event {" in packet:
            events[value(packet, "track_uuid")].append((int(value(packet, "timestamp")), value(packet, "type"), packet))
            flows |= set(re.findall(r"\bflow_ids: (\S+)", packet))
            ends |= set(re.findall(r"\bterminating_flow_ids: (\S+)", packet))
    assert events, "it has no events"
    assert events.keys() <= tracks.keys(), "an event on a track that is not described"
    for uuid, here in events.items():
        depth = 0
        for _, kind, packet in sorted(here, key=lambda event: event[0]):
            depth += {"TYPE_SLICE_BEGIN": 1, "TYPE_SLICE_END": -1}.get(kind, 0)
            assert 0 <= depth <= 1, f"slices overlap on {tracks[uuid]}: {packet}"
            assert kind in ("TYPE_SLICE_END", "TYPE_COUNTER") or value(packet, "name"), f"an event without a name: {packet}"
        assert depth == 0, f"a slice without an end on {tracks[uuid]}"
    text = "".join(packet for here in events.values() for _, _, packet in here)
    assert "stall " in text and "waits: " in text, "no stall, or no wait"
    assert flows & ends, "no flow has both of its ends"
    assert "marks" not in name or re.search(r'name: "marks"', "".join(tracks.values())), "no marks"


failed = False
for name in sys.argv[1:]:
    try:
        judge(name)
        print(f"ok schema/perfetto/{Path(name).stem}")
    except (AssertionError, subprocess.CalledProcessError) as error:
        failed = True
        print(f"not ok schema/perfetto/{Path(name).stem}: {' '.join(str(error).split())[:300]}")
sys.exit(failed)
