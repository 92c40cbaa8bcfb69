"""Changing the text of a document."""

import re
from collections.abc import Mapping, Sequence
from typing import Final

from graph.offline.documents import read_sentences
from graph.offline.reading.results import Item
from graph.offline.replay import Request, Script, call, request
from graph.offline.scripts.reading import read
from graph.offline.scripts.resolve import resolve_one
from graph.offline.scripts.task import Task
from graph.offline.understanding.intent import Intent, Ref
from graph.offline.understanding.terms import terms
from graph.offline.wording import inert, quoted

SHOWN, MOST_EDITS = 60, 100
WRITING: Final = frozenset({"patch_file", "append_to_file"})
_LINE: Final = re.compile(r"\b(?:line|item|entry|bullet)\b|行|条")


def replace_text(task: Task, intent: Intent) -> Script:
    """Replace every occurrence, in one call whose edits each match once."""
    old, new = intent.edits[0] if intent.edits else ("", "")
    if not old or (intent.action == "replace" and not new):
        return task.say("missing_text")
    item = yield from resolve_one(task, intent.target or Ref("open"), kind="file")
    one = _made_already(task, item)
    if one is None:
        source = yield from read(task, item)
        edits = _planned(source.text, intent) if len(source.text) >= source.total else [{"find": old, "replace": new}]
        if not edits:
            return task.say("no_match", find=quoted(old, SHOWN), name=task.name(item))
        if len(edits) > MOST_EDITS:
            return task.say("too_many_matches", find=quoted(old, SHOWN), name=task.name(item), count=len(edits))
        one = request("patch_file", file_id=item["id"], edits=list(edits))
    result = yield from call(one.name, **one.args)
    version = task.checked(result, one.name, str(item.get("name", ""))).number("version") or "?"
    code = "edit_line" if new else "edit_line_removed"
    edited = task.say(code, find=quoted(old, SHOWN), replace=quoted(new, SHOWN), count=len(one.args["edits"]))
    return task.with_hint(task.say("edited", name=task.name(item), edits=edited, version=version), "can_undo")


def _planned(text: str, intent: Intent) -> Sequence[Mapping[str, str]]:
    """Return edits whose `find` stands once in the text as it is by then, for every occurrence from the end on."""
    (old, new), edits = intent.edits[0], list[Mapping[str, str]]()
    lines = [line for line in text.splitlines(keepends=True) if old in line]
    if intent.action == "remove_text" and len(lines) == 1 and _LINE.search(intent.said):
        old = lines[0]
    wanted = set(terms(intent.anchor))
    about = [one for one in read_sentences(text) if wanted and wanted <= set(terms(f"{one.heading} {one.text}"))]
    about = [one for one in about if _places_of(text[one.start : one.end], old)]
    low, high = (about[0].start, about[0].end) if len(about) == 1 else (0, len(text))
    for start, end in reversed([one for one in _places_of(text, old) if low <= one[0] < high]):
        left, right = _unique_around(text, start, end)
        changed = text[left:start] + new + text[end:right]
        edits.append({"find": text[left:right], "replace": changed})
        text = text[:left] + changed + text[right:]
    return edits


def _places_of(text: str, find: str) -> list[tuple[int, int]]:
    literal, loose = re.escape(find), r"\s+".join(map(re.escape, find.split()))
    before = r"(?<![A-Za-z0-9_])" if re.match(r"\w", find, re.ASCII) else ""
    after = r"(?![A-Za-z0-9_])" if re.search(r"\w$", find, re.ASCII) else ""
    readings = (before + literal + after, f"(?i:{before}{loose}{after})", literal, f"(?i:{loose})")
    found = ([match.span() for match in re.finditer(pattern, text)] for pattern in readings if find.strip())
    return next((spans for spans in found if spans), [])


def _unique_around(text: str, start: int, end: int) -> tuple[int, int]:
    while text.count(text[start:end]) != 1 and (start > 0 or end < len(text)):
        left, right = text.rfind("\n", 0, max(start - 1, 0)) + 1, text.find("\n", end + 1)
        start, end = left if start else 0, right if right >= 0 else len(text)
    return start, end


def _made_already(task: Task, item: Item) -> Request | None:
    """Return this step's edit of the document if it was made: the text is shown as it is after it."""
    made = (one for one in task.conversation.running if one.name in WRITING and one.args.get("file_id") == item["id"])
    return next((Request(one.name, one.args) for one in made), None)


def add_text(task: Task, intent: Intent) -> Script:
    """Add a passage at the end."""
    if not intent.content:
        return task.say("missing_content")
    item = yield from resolve_one(task, intent.target or Ref("open"), kind="file")
    one = _made_already(task, item) or request("append_to_file", file_id=item["id"], content=intent.content)
    task.checked((yield from call(one.name, **one.args)), one.name, str(item.get("name", "")))
    shown = inert(" ".join(intent.content.split())[: SHOWN * 3])
    return task.with_hint(task.say("inserted", name=task.name(item), content=shown), "can_undo")
