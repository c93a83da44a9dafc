#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""JSON outputs of netstall against docs/report-schema.json, docs/profile-schema.json, or docs/check-schema.json.

    validate.py SCHEMA FILE...

A FILE is a .rendered of `tests/golden/run.sh --rendered`, of which the part behind `== json` is taken, or JSON lines as `trace --json` prints them: events, and the report as the last line; or a .json, one document.
For a reader the schema leaves room for new fields; for this test a field that it does not name is an error, but in
records, whose fields are those of their type. Prints `ok NAME` or `not ok NAME: why` for each. Exit status: 1 if any
failed, 2 usage.
"""
import json
import os
import re
import sys

import jsonschema

import agree


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
    if path.endswith(".rendered"):
        parts = re.split(r"^== (.*)\n", "\n" + text, flags=re.MULTILINE)
        named = dict(zip(parts[1::2], parts[2::2]))
        return [json.loads(named["json"])]
    return [json.loads(line) for line in text.splitlines() if line.strip()]


def sums(document):
    """What a schema cannot say: reports agree with themselves, and chains of a profile sum to its totals."""
    yield from agree.contradictions(document)
    chains = document.get("chains", [])
    for field in ("blocked_ms", "waits") if chains else ():
        if round(sum(chain[field] for chain in chains) * 1e6) != round(document["totals"][field] * 1e6):
            yield f"{field} of its chains do not sum to {document['totals'][field]}"


def schema_for(schema, document):
    """The part of the schema that a document of this kind goes by."""
    if document.get("schema") != "netstall.event/1":
        return schema
    kind = "stall_line" if document.get("event") == "stall" else "event_line"
    return dict(schema["$defs"][kind], **{"$id": schema["$id"], "$defs": schema["$defs"]})


def load(path):
    with open(path, encoding="utf-8") as file:
        # A reference within a URN is more than urllib can join; nothing is fetched from there.
        schema = json.loads(file.read().replace("urn:netstall:", "https://netstall.invalid/"))
    jsonschema.Draft202012Validator.check_schema(schema)
    return close(schema)


def faults(schema, others, path):
    last = None
    for document in documents(path):
        last = document.get("schema")
        part = schema_for(schema, document)
        resolver = jsonschema.RefResolver(schema["$id"], part, store=others)
        for error in jsonschema.Draft202012Validator(part, resolver=resolver).iter_errors(document):
            yield f"{'/'.join(map(str, error.absolute_path))}: {error.message[:200]}"
        yield from sums(document.get("report") or document)
    if last in (None, "netstall.event/1"):
        yield "it does not end with a report"


def main():
    if len(sys.argv) < 3:
        print(__doc__, file=sys.stderr)
        return 2
    schema = load(sys.argv[1])
    # What it may refer to stands beside it.
    beside = load(os.path.join(os.path.dirname(sys.argv[1]), "report-schema.json"))
    others = {beside["$id"]: beside}
    failed = 0
    for path in sys.argv[2:]:
        name = os.path.splitext(os.path.basename(path))[0]
        try:
            found = list(faults(schema, others, path))
        except (ValueError, KeyError, jsonschema.exceptions.RefResolutionError) as error:
            found = [f"{type(error).__name__}: {error}"[:200]]
        print(f"not ok schema/{name}: {found[0]}" if found else f"ok schema/{name}")
        for fault in found[1:6]:
            print(f"# {fault}")
        failed |= bool(found)
    return failed


if __name__ == "__main__":
    sys.exit(main())
