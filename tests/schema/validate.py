#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""JSON outputs of netstall against docs/report-schema.json, or docs/profile-schema.json.

    validate.py SCHEMA FILE...

A FILE is a golden .expected, of which the part behind `== json` is taken, or JSON lines as `trace --json`
prints them: events, and the report as the last line; or a .json, one document. For a reader the schema leaves room for new fields;
for this test a field that it does not name is an error, but in records, whose fields are those of their type.
Prints `ok NAME` or `not ok NAME: why` for each. Exit status: 1 if any failed, 2 usage.
"""
import json
import os
import sys

import jsonschema


def close(schema):
    """Forbid what the schema does not name, wherever it names anything."""
    if isinstance(schema, dict):
        if "properties" in schema and "t_ms" not in schema["properties"] and "allOf" not in schema:
            schema.setdefault("additionalProperties", False)
        for value in schema.values():
            close(value)
    elif isinstance(schema, list):
        for value in schema:
            close(value)
    return schema


def documents(path):
    with open(path, encoding="utf-8") as file:
        text = file.read()
    if path.endswith(".json"):
        return [json.loads(text)]
    if path.endswith(".expected"):
        return [json.loads(text.split("\n== json\n")[1])]
    return [json.loads(line) for line in text.splitlines() if line.strip()]


def sums(document):
    """What a schema cannot say: slices sum to their whole, to the ns."""
    def check(where, slices, whole):
        if slices and round(sum(part["ms"] for part in slices) * 1e6) != round(whole * 1e6):
            yield f"{where}: its slices do not sum to {whole} ms"

    for stall in document.get("stalls", []):
        yield from check(f"stall {stall['id']}", stall["slices"], stall["duration_ms"])
    for requests in document.get("requests", []):
        for view in ("median", "p99"):
            yield from check(f"{view} request", requests[view]["slices"], requests[view]["total_ms"])
    chains = document.get("chains", [])
    for field in ("blocked_ms", "waits") if chains else ():
        if round(sum(chain[field] for chain in chains) * 1e6) != round(document["totals"][field] * 1e6):
            yield f"{field} of its chains do not sum to {document['totals'][field]}"


def faults(schema, path):
    event_line = dict(schema["$defs"].get("event_line", {}))
    event_line["$defs"] = schema["$defs"]
    report_seen = False
    for document in documents(path):
        is_event = document.get("schema") == "netstall.event/1"
        validator = jsonschema.Draft202012Validator(event_line if is_event else schema)
        for error in validator.iter_errors(document):
            yield f"{'/'.join(map(str, error.absolute_path))}: {error.message[:200]}"
        report_seen = not is_event
        yield from sums(document)
    if not report_seen:
        yield "it does not end with a report"


def main():
    if len(sys.argv) < 3:
        print(__doc__, file=sys.stderr)
        return 2
    with open(sys.argv[1], encoding="utf-8") as file:
        schema = json.load(file)
    jsonschema.Draft202012Validator.check_schema(schema)
    close(schema)
    failed = 0
    for path in sys.argv[2:]:
        name = os.path.splitext(os.path.basename(path))[0]
        found = list(faults(schema, path))
        print(f"not ok schema/{name}: {found[0]}" if found else f"ok schema/{name}")
        for fault in found[1:6]:
            print(f"# {fault}")
        failed |= bool(found)
    return failed


if __name__ == "__main__":
    sys.exit(main())
