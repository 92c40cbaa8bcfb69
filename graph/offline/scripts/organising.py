"""Making folders, moving and copying items, and changing the text of a file."""

import re
from collections.abc import Mapping, Sequence
from typing import Final

from graph.offline.documents import read_sentences
from graph.offline.reading.results import Item
from graph.offline.replay import Script, UnresolvedError, call, request
from graph.offline.scripts.changing import with_suffix
from graph.offline.scripts.reading import read
from graph.offline.scripts.resolve import resolve, resolve_folder, resolve_one
from graph.offline.scripts.task import Task
from graph.offline.scripts.writing import last_summary, made_already, one_file
from graph.offline.understanding.intent import Intent, Ref
from graph.offline.understanding.terms import terms
from graph.offline.wording import bounded, path_of, quoted

SHOWN, MOST_EDITS = 60, 100
_LINE: Final = re.compile(r"\b(?:line|item|entry|bullet)\b|行|条")


def create_folder(task: Task, intent: Intent) -> Script:
    """Make folders side by side."""
    if not intent.names:
        return task.say("missing_name")
    parent = yield from resolve_folder(task, intent.destination or Ref("here"))
    lines: list[str] = []
    for name in intent.names:
        made = yield from call("create_folder", name=name, parent_id=parent["id"])
        result = task.checked(made, "create_folder", name)
        made = result.data or {"id": "", "name": name}
        task.made.append(made)
        lines.append(task.say("created", name=task.name(made), path=path_of(made)))
    return task.with_hint("\n".join(lines), "can_undo")


def move(task: Task, intent: Intent) -> Script:
    """Put items into a folder; a summary that was only said becomes a file there."""
    if intent.destination is None:
        return task.say("missing_destination")
    try:
        items = yield from resolve(task, intent.target or Ref("it"))
    except UnresolvedError:
        said, topic = last_summary(task) if intent.target and intent.target.form == "summary" else ("", "")
        if not said:
            raise
        folder, name = (yield from resolve_folder(task, intent.destination)), task.say("summary_name", topic=topic)
        return (yield from one_file(task, folder, name.strip(), said, "saved_summary"))
    folder = yield from resolve_folder(task, intent.destination)
    return (yield from _move(task, items, folder))


def _move(task: Task, items: Sequence[Item], folder: Item) -> Script:
    running = [made.args for made in task.conversation.running]
    now = [key for args in running for key in (args.get("item_id"), *(args.get("item_ids") or []))]
    going = [item for item in items if item.get("parent_id") != folder["id"] or item["id"] in now]
    if not going:
        return "\n".join(task.say("already_there", name=task.name(item), folder=task.name(folder)) for item in items)
    if len(going) > 1 and "move_items" in task.tools:
        one = request("move_items", item_ids=[item["id"] for item in going], folder_id=folder["id"])
        result = task.checked((yield from call(one.name, **one.args)), one.name, f"{going[0].get('name', '')} …")
        there = {"folder": task.name(folder)}
        lines = [task.say("moved", name=task.name(item), path=path_of(item), **there) for item in result.items or going]
        return task.with_hint(bounded(lines, task.language), "can_undo")
    wanted = [request("move_item", item_id=item["id"], folder_id=folder["id"]) for item in going]
    return (yield from task.carry_out(going, wanted, "moved", folder=task.name(folder)))


def copy(task: Task, intent: Intent) -> Script:
    """Copy items into a folder, by default into their own."""
    items = yield from resolve(task, intent.target or Ref("it"))
    above = str(items[0].get("path", "")).rpartition("/")[0] or "/"
    own: Item = {"id": items[0].get("parent_id") or task.here["id"], "path": above}
    folder = (yield from resolve_folder(task, intent.destination)) if intent.destination else own
    name = with_suffix(items[0], intent.names[0]) if intent.names and len(items) == 1 else None
    taken = "rename" if folder["id"] == items[0].get("parent_id") and name is None else None
    args = {"folder_id": folder["id"], "name": name, "on_conflict": taken}
    wanted = [request("copy_item", item_id=item["id"], **args) for item in items]
    return (yield from task.carry_out(items, wanted, "copied", folder=task.name(folder)))


def replace_text(task: Task, intent: Intent) -> Script:
    """Replace every occurrence, in one call whose edits each match once."""
    old, new = intent.edits[0] if intent.edits else ("", "")
    if not old or (intent.action == "replace" and not new):
        return task.say("missing_text")
    item = yield from resolve_one(task, intent.target or Ref("open"), kind="file")
    one = made_already(task, item)
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
