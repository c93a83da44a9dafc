#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
"""What documents and schemas say of causes, facts and losses, from their rows.

    docs.py BUILD [--check]

The rows are what BUILD/tests/unit/analyze/test_cause --dump prints. In docs/causes.md the heading and the first paragraphs of
each cause come from its row, what follows stays: a time line of a real run. Prints `ok NAME` or `not ok NAME: why` for each
document. With --check nothing is written, and a document that would change is a fault. Exit status: 1 if any is at fault.
"""
import json
import os
import re
import subprocess
import sys
import textwrap

WIDTH = 128
CAUSES_HEAD = "| cause | group | what it is |"
GROUPS_HEAD = "| cause | it waited because |"
FACTS_HEAD = "| fact | what it shows | given by | causes that need it |"
# What comes when evidence is missing, or by chance.
WITHOUT_SCENARIO = {"unknown", "uring", "tso-defer"}
WITHOUT_RUN = {"unknown", "uring"}
LAST_PARAGRAPH = "**What helps.** "


def code(names):
    return ", ".join(f"`{name}`" for name in names)


def paragraph(text):
    return "\n".join(textwrap.wrap(text, WIDTH, break_long_words=False, break_on_hyphens=False))


def replace_table(text, head, rows):
    """The table with that head row gets these rows."""
    table = "\n".join([head, "|" + " --- |" * (head.count("|") - 1), *(f"| {' | '.join(row)} |" for row in rows)])
    pattern = re.compile(re.escape(head) + r"(\n\|[^\n]*)*")
    if not pattern.search(text):
        raise ValueError(f"the table with this head is missing: {head}")
    return pattern.sub(lambda _: table, text, count=1)


def fact_table(rows):
    for fact in rows["facts"]:
        ways = "" if len(fact["ways"]) == 3 or not fact["ways"] else f" ({', '.join(fact['ways'])})"
        hooks = code(dict.fromkeys(fact["hooks"])) + ways if fact["hooks"] else "/proc/kallsyms"
        causes = code(cause["id"] for cause in rows["causes"] if fact["id"] in cause["facts"])
        yield f"`{fact['id']}`", fact["words"], hooks, "every: netstall needs it" if fact["essential"] else causes or "none"


def section(cause, kept):
    """The part of docs/causes.md about one cause."""
    gate = " `netstall check` allows none of it by default." if cause["gated"] else ""
    never = " It is never the cause of a stall." if cause["never_of_stall"] else ""
    facts = f" Facts: {code(cause['facts'])}." if cause["facts"] else ""
    return "\n\n".join([
        f"## `{cause['id']}`",
        paragraph(f"**{cause['title']}.** {cause['meaning']} (Group: {cause['group']}.){gate}{never}"),
        paragraph(f"**How netstall knows.** {cause['known_by']}{facts}"),
        paragraph(f"{LAST_PARAGRAPH}{cause['remedy']}"),
        *([kept] if kept else [])]) + "\n\n"


def causes_md(text, rows):
    head, *sections = re.split(r"^(?=## `)", text, flags=re.MULTILINE)
    *sections, last = sections
    last, *tail = re.split(r"^(?=## [^`])", last, maxsplit=1, flags=re.MULTILINE)
    kept = {}
    for part in [*sections, last]:
        name = re.match(r"## `([^`]*)`", part)[1]
        kept[name] = part.partition(LAST_PARAGRAPH)[2].partition("\n\n")[2].strip()
    known = [cause["id"] for cause in rows["causes"]]
    for name in kept:
        if name not in known:
            raise ValueError(f"there is no cause {name}")
    text = head + "".join(section(cause, kept.get(cause["id"], "")) for cause in rows["causes"]) + "".join(tail)
    text = replace_table(text, CAUSES_HEAD, ([f"[`{cause['id']}`](#{cause['id']})", cause["group"], cause["title"]]
                                             for cause in rows["causes"]))
    text = replace_table(text, FACTS_HEAD, fact_table(rows))
    for cause in rows["causes"]:
        if not cause["never_of_stall"] and cause["id"] not in WITHOUT_RUN and "```" not in kept.get(cause["id"], ""):
            return text, f"{cause['id']} has no time line: paste one of a real run (tests/scenarios/README.md)"
    return text, None


def groups(text, rows):
    """README.md: a line for each group of causes, unknown last; and the default gates of check."""
    def ids(group):
        return [cause["id"] for cause in rows["causes"] if cause["group"] == group and not cause["never_of_stall"]]

    names = sorted(rows["groups"], key=lambda group: group == "unknown")
    text = replace_table(text, GROUPS_HEAD, ([code(ids(group)), rows["groups"][group]] for group in names))
    listed = re.search(r"by default at a single ((?:`[a-z-]+`(?:,|or|\s)*)+)", text)
    gated = [cause["id"] for cause in rows["causes"] if cause["gated"]]
    agrees = listed and re.findall("`([^`]*)`", listed[1]) == gated
    return text, None if agrees else f"it does not say that check fails by default at a single {code(gated)}"


def enums(text, rows):
    """Each enum of ids in a schema, known by its first two."""
    for kind in ("causes", "facts", "losses"):
        ids = [row if kind == "losses" else row["id"] for row in rows[kind]]

        def renewed(match, ids=ids):
            more = [f'"{name}"' for name in ids] + re.findall(r'"not-explained"|null', match[0])
            return f"[{', '.join(more)}]"

        text = re.sub(r'(?<="enum": )\["%s", "%s", [^]]*\]' % tuple(ids[:2]), renewed, text)
    return text, None


def gates(text, rows):
    """The default gates of check, wherever they are listed."""
    gated = [f"{cause['id']}=0" for cause in rows["causes"] if cause["gated"]]

    def renewed(match):
        return (", " if ", " in match[0] else ",").join(gated)

    text, count = re.subn(r"nagle-delack=0(,\s?[a-z-]+=0)+", renewed, text)
    return text, None if count else "it does not list the default gates"


def losses(text, rows):
    missing = [name for name in rows["losses"] if f"`{name}`" not in text]
    return text, f"it does not explain the losses {code(missing)}" if missing else None


DOCUMENTS = {
    "README.md": groups,
    "docs/causes.md": causes_md,
    "docs/report-schema.json": enums,
    "docs/profile-schema.json": enums,
    "docs/check.md": gates,
    "docs/recipes/check.mk": gates,
    "user/cmd/check_options.c": gates,
    "docs/limits.md": losses,
}


def without_scenario(rows, scenes):
    """Every cause has a scenario that makes it, and a scenario makes what there is."""
    known = [cause["id"] for cause in rows["causes"]]
    stalls = [cause["id"] for cause in rows["causes"] if not cause["never_of_stall"]]
    missing = [name for name in stalls if name not in scenes and name not in WITHOUT_SCENARIO]
    strange = [name for name in scenes if name not in [*known, "none"]]
    return (f"no scenario makes {code(missing)}" if missing else "") + (f"there is no cause {code(strange)}" if strange else "")


def output_of(build, program, option):
    return subprocess.run([os.path.join(build, program), option], check=True, stdout=subprocess.PIPE, text=True).stdout


def main():
    if len(sys.argv) < 2:
        print(__doc__, file=sys.stderr)
        return 64
    os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
    rows = json.loads(output_of(sys.argv[1], "tests/unit/analyze/test_cause", "--dump"))
    scenes = [line.split()[1] for line in output_of(sys.argv[1], "tests/scenarios/scene", "--list").splitlines()]
    fault = without_scenario(rows, scenes)
    failed = bool(fault)
    print(f"not ok docs/scenarios: {fault}" if fault else "ok docs/scenarios")
    for path, make in DOCUMENTS.items():
        with open(path, encoding="utf-8") as file:
            old = file.read()
        try:
            new, fault = make(old, rows)
        except ValueError as error:
            new, fault = old, str(error)
        if new != old and "--check" in sys.argv:
            fault = "it does not say what the rows say: make docs"
        elif new != old:
            with open(path, "w", encoding="utf-8") as file:
                file.write(new)
        print(f"not ok docs/{os.path.basename(path)}: {fault}" if fault else f"ok docs/{os.path.basename(path)}")
        failed |= bool(fault)
    return failed


if __name__ == "__main__":
    sys.exit(main())
