"""Changing the text of a document."""

import re
from collections.abc import Generator, Sequence
from difflib import get_close_matches
from typing import Any, Final

from graph.offline.documents.edits import MOST_EDITS, Planned, after_edit, append_edit, plan_edits, prepend_edit
from graph.offline.reading.conversation import Item
from graph.offline.reading.results import Result
from graph.offline.replay import Request, Script, call, request
from graph.offline.scripts.outcome import failed, what_of
from graph.offline.scripts.resolve import resolve_one
from graph.offline.speech.wording import inert, named, quoted
from graph.offline.task import Task
from graph.offline.understanding.intents import Intent
from graph.offline.understanding.references import CURRENT_FILE

LONGEST_SHOWN: Final = 60
MOST_PARTS: Final = 2
_MATCHES = re.compile(r"Edit (?P<edit>\d+) matches (?:(?P<count>\d+) places|nothing)")


def replace_text(task: Task, intent: Intent) -> Script:
    """Replace every occurrence, in one call whose edits each match once."""
    item = yield from resolve_one(task, intent.target or CURRENT_FILE, kind="file")
    made = _made_already(task, item)
    if made:
        return (yield from _write(task, item, made, _told_edits(task, intent, _counts(made, intent.edits))))
    text, whole = yield from _text_of(task, item)
    if not whole:
        return (yield from _write_unseen(task, item, intent))
    planned = plan_edits(text, intent.edits)
    missing = next((find for (find, _), count in zip(intent.edits, planned.counts, strict=True) if not count), None)
    if missing is not None:
        return _no_match(task, item, text, missing)
    return (yield from _write(task, item, _change(item, planned), _told_edits(task, intent, planned.counts)))


def _made_already(task: Task, item: Item) -> Request | None:
    """Return this step's edit of the document if it was made: the text is shown as it is after it."""
    for made in task.conversation.running:
        if made.name in {"patch_file", "write_file"} and made.args.get("file_id") == item["id"]:
            return Request(made.name, made.args)
    return None


def _counts(made: Request, wishes: Sequence[tuple[str, str]]) -> list[int]:
    edits = made.args.get("edits")
    finds = (
        [" ".join(str(edit.get("find", "")).split()).casefold() for edit in edits] if isinstance(edits, list) else []
    )
    return [sum(" ".join(old.split()).casefold() in find for find in finds) for old, _ in wishes]


def _write_unseen(task: Task, item: Item, intent: Intent) -> Script:
    """Change a text that is too long to be read whole: the drive itself refuses what does not match once."""
    edits = [{"find": old, "replace": new} for old, new in intent.edits]
    one = request("patch_file", file_id=item["id"], edits=edits)
    return (yield from _write(task, item, one, _told_edits(task, intent, [0] * len(edits))))


def _change(item: Item, planned: Planned) -> Request:
    if len(planned.edits) > MOST_EDITS:
        return request("write_file", file_id=item["id"], content=planned.text)
    return request("patch_file", file_id=item["id"], edits=[dict(edit) for edit in planned.edits])


def _told_edits(task: Task, intent: Intent, counts: Sequence[int]) -> str:
    lines = [
        task.say(
            ("edit_line" if count else "edit_line_plain") if new else "edit_line_removed",
            find=quoted(old, LONGEST_SHOWN),
            replace=quoted(new, LONGEST_SHOWN),
            count=count,
        )
        for (old, new), count in zip(intent.edits, counts, strict=True)
    ]
    return "; ".join(lines) if task.language == "en" else "；".join(lines)


def _write(task: Task, item: Item, one: Request, told: str) -> Script:
    result = yield from call(one.name, **one.args)
    matches = _MATCHES.search(result.message) if result.code == "edit_mismatch" else None
    if matches:
        return _told_mismatch(task, item, one, matches)
    if not result.worked:
        return failed(task, result, what_of(task, one, str(item.get("name", ""))))
    name, version = named(item, task.language), result.number("version")
    key = "edited" if version else "edited_plain"
    return task.with_hint(task.say(key, name=name, edits=told, version=version), "can_undo")


def _told_mismatch(task: Task, item: Item, one: Request, matches: re.Match[str]) -> str:
    edit = one.args["edits"][int(matches["edit"]) - 1]
    key = "too_many_matches" if matches["count"] else "no_match"
    find = quoted(str(edit["find"]), LONGEST_SHOWN)
    return task.say(key, find=find, name=named(item, task.language), count=matches["count"])


def _text_of(task: Task, item: Item) -> Generator[Sequence[Request], Sequence[Result], tuple[str, bool]]:
    """Return the document's text, and whether it is all of it: from the system message if it is told there exactly."""
    opened = task.sections.file
    if opened and opened["id"] == item["id"] and task.sections.document_is_exact:
        return task.sections.document or "", True
    parts: list[str] = []
    start: int | None = None
    for _ in range(MOST_PARTS):
        result = yield from call("read_file", file_id=item["id"], start=start)
        if not result.worked:
            raise type(task.unresolved("no_document"))(failed(task, result, named(item, task.language)))
        parts.append(result.word("text"))
        start = result.number("end")
        if start >= result.number("total_characters"):
            return "".join(parts), True
    return "".join(parts), False


def _no_match(task: Task, item: Item, text: str, find: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()][:2_000]
    near = next((line for line in lines if find.casefold()[:4] in line.casefold()), None)
    close = [near] if near else get_close_matches(find, lines, n=1, cutoff=0.5)
    name = named(item, task.language)
    if close:
        return task.say("no_match_near", find=quoted(find, LONGEST_SHOWN), name=name, line=inert(close[0][:200]))
    return task.say("no_match", find=quoted(find, LONGEST_SHOWN), name=name)


def insert_text(task: Task, intent: Intent) -> Script:
    """Add a passage at the end, at the start, or after a line."""
    if not intent.content:
        return task.say("missing_content")
    item = yield from resolve_one(task, intent.target or CURRENT_FILE, kind="file")
    one = _made_already(task, item)
    if one is None:
        text, _ = yield from _text_of(task, item)
        edit = _insertion(text, intent)
        if edit is None and intent.position == "after":
            return task.say("no_anchor", anchor=quoted(intent.anchor, LONGEST_SHOWN), name=named(item, task.language))
        one = _request(item, edit, intent.content)
    result = yield from call(one.name, **one.args)
    if not result.worked:
        return failed(task, result, what_of(task, one, str(item.get("name", ""))))
    shown = inert(" ".join(intent.content.split())[: LONGEST_SHOWN * 3])
    return task.with_hint(task.say("inserted", name=named(item, task.language), content=shown), "can_undo")


def _insertion(text: str, intent: Intent) -> dict[str, str] | None:
    if intent.position == "after":
        return after_edit(text, intent.anchor, intent.content)
    return prepend_edit(text, intent.content) if intent.position == "start" else append_edit(text, intent.content)


def _request(item: Item, edit: dict[str, Any] | None, content: str) -> Request:
    if edit is None:
        return request("write_file", file_id=item["id"], content=f"{content}\n")
    return request("patch_file", file_id=item["id"], edits=[edit])
