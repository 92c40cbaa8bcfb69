"""Changing the text of a document."""

import re
from collections.abc import Generator, Sequence
from dataclasses import replace
from difflib import get_close_matches
from typing import Final

from graph.offline.documents.edits import Planned, insertion, places_of, plan_edits
from graph.offline.documents.sentences import read_sentences
from graph.offline.reading.results import Item, Result
from graph.offline.replay import Request, Script, call, request
from graph.offline.scripts.resolve import resolve_one
from graph.offline.scripts.task import Task
from graph.offline.understanding.references import Ref
from graph.offline.understanding.requests import Wish
from graph.offline.understanding.terms import terms
from graph.offline.wording import inert, quoted

SHOWN, MOST_PARTS, MOST_EDITS = 60, 2, 100
WRITING: Final = frozenset({"patch_file", "write_file", "append_to_file"})
_MATCHES: Final = re.compile(r"Edit (?P<edit>\d+) matches (?:(?P<count>\d+) places|nothing)")


def replace_text(task: Task, wish: Wish) -> Script:
    """Replace every occurrence, in one call whose edits each match once."""
    if not wish.edits or not wish.edits[0][0] or (wish.action == "replace" and not wish.edits[0][1]):
        return task.say("missing_text")
    item = yield from resolve_one(task, wish.target or Ref("open"), kind="file")
    one, text, counts = _made_already(task, item), "", [0] * len(wish.edits)
    if one is None:
        text, whole = yield from _text_of(task, item)
        planned = (
            _planned(text, wish)
            if whole
            else Planned(tuple({"find": old, "replace": new} for old, new in wish.edits), "", ())
        )
        if whole and not planned.edits:
            return _no_match(task, item, text, wish.edits[0][0])
        counts = list(planned.counts) or counts
        one = request("patch_file", file_id=item["id"], edits=list(planned.edits))
        if len(planned.edits) > MOST_EDITS:
            one = request("write_file", file_id=item["id"], content=planned.text)
    elif one.name == "patch_file":
        counts = [len(one.args["edits"])] * len(counts)
    result = yield from call(one.name, **one.args)
    matches = _MATCHES.search(result.message) if result.code == "edit_mismatch" else None
    if matches:
        find = quoted(str(one.args["edits"][int(matches["edit"]) - 1]["find"]), SHOWN)
        return task.say(
            "too_many_matches" if matches["count"] else "no_match",
            find=find,
            name=task.name(item),
            count=matches["count"],
        )
    version = task.checked(result, one.name, str(item.get("name", ""))).number("version") or "?"
    return task.with_hint(
        task.say("edited", name=task.name(item), edits=_told(task, wish, counts), version=version), "can_undo"
    )


def _planned(text: str, wish: Wish) -> Planned:
    """Return the edits: of a line all of it; "change the notice from 30 to 45 days" only where notice is spoken of."""
    old, new = wish.edits[0]
    lines = [line for line in text.splitlines(keepends=True) if old in line]
    if (
        wish.action == "remove_text"
        and len(lines) == 1
        and re.search(r"\b(?:line|item|entry|bullet)\b|行|条", wish.said)
    ):
        return replace(plan_edits(text, [(lines[0], new)]), counts=(1,))
    wanted = set(terms(wish.anchor))
    about = [one for one in read_sentences(text) if wanted and wanted <= set(terms(f"{one.heading} {one.text}"))]
    spans = [(one.start, one.end) for one in about if places_of(text[one.start : one.end], old)]
    return plan_edits(text, wish.edits, spans[0] if len(spans) == 1 else None)


def _made_already(task: Task, item: Item) -> Request | None:
    """Return this step's edit of the document if it was made: the text is shown as it is after it."""
    made = (one for one in task.conversation.running if one.name in WRITING and one.args.get("file_id") == item["id"])
    return next((Request(one.name, one.args) for one in made), None)


def _told(task: Task, wish: Wish, counts: Sequence[int]) -> str:
    told: list[str] = []
    for (old, new), count in zip(wish.edits, counts, strict=True):
        code = ("edit_line" if count else "edit_line_plain") if new else "edit_line_removed"
        told.append(task.say(code, find=quoted(old, SHOWN), replace=quoted(new, SHOWN), count=count))
    return ("; " if task.language == "en" else "；").join(told)


def _text_of(task: Task, item: Item) -> Generator[Sequence[Request], Sequence[Result], tuple[str, bool]]:
    """Return the document's text, and whether it is all of it: from the system message if it is told there exactly."""
    opened = task.sections.file
    if opened and opened["id"] == item["id"] and task.sections.document_is_exact:
        return task.sections.document or "", True
    text, start = "", None
    for _ in range(MOST_PARTS):
        result = yield from call("read_file", file_id=item["id"], start=start)
        text += task.checked(result, "read_file", str(item.get("name", ""))).word("text")
        start = result.number("end")
        if start >= result.number("total_characters"):
            return text, True
    return text, False


def _no_match(task: Task, item: Item, text: str, find: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()][:2_000]
    near = [line for line in lines if find.casefold()[:4] in line.casefold()] or get_close_matches(
        find, lines, n=1, cutoff=0.5
    )
    line = inert(near[0][:200]) if near else ""
    return task.say("no_match_near" if near else "no_match", find=quoted(find, SHOWN), name=task.name(item), line=line)


def add_text(task: Task, wish: Wish) -> Script:
    """Add a passage at the end, at the start, or after a line."""
    if not wish.content:
        return task.say("missing_content")
    item = yield from resolve_one(task, wish.target or Ref("open"), kind="file")
    one = _made_already(task, item) or request("append_to_file", file_id=item["id"], content=wish.content)
    if one.name == "append_to_file" and wish.position != "end":
        text, _ = yield from _text_of(task, item)
        edit = insertion(text, wish.content, wish.anchor)
        if edit is None and wish.anchor:
            return task.say("no_anchor", anchor=quoted(wish.anchor, SHOWN), name=task.name(item))
        one = request("patch_file", file_id=item["id"], edits=[edit]) if edit else one
    task.checked((yield from call(one.name, **one.args)), one.name, str(item.get("name", "")))
    shown = inert(" ".join(wish.content.split())[: SHOWN * 3])
    return task.with_hint(task.say("inserted", name=task.name(item), content=shown), "can_undo")
