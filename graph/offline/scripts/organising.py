"""Creating, moving and copying files and folders, and changing the text of a file."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from graph.offline.documents import read_sentences
from graph.offline.replay import Request, Script, Steps, UnresolvedError, call, request
from graph.offline.results import Item, Result
from graph.offline.scripts.changing import with_suffix
from graph.offline.scripts.reading import read, sum_up, summarise
from graph.offline.scripts.resolve import file_of, resolve, resolve_folder, resolve_one
from graph.offline.scripts.task import Task
from graph.offline.understanding.grammar import named_in, word
from graph.offline.understanding.intent import Intent, Ref, read_ref
from graph.offline.understanding.terms import terms
from graph.offline.wording import bounded, inert, path_of, quoted, sides

LONGEST_TOPIC, SHOWN, MOST_EDITS = 60, 60, 100
_TITLES: Final = tuple(
    re.compile(re.escape(side).replace(r"\{topic\}", "(?P<topic>.+?)")) for side in sides("summary_title")
)
_UNSAFE: Final = re.compile(r"[/\\\x00-\x1f“”\"]+|\.\w{1,5}\s*$")
_VALUE: Final = re.compile(r"(?P<figure>\d+(?:[.,:]\d+)*)(?P<unit>\s?[^\W\d_]*)")
WRITING: Final = frozenset({"patch_file", "append_to_file"})
_LINE: Final = re.compile(r"\b(?:line|item|entry|bullet)\b|行|条")


def create_folder(task: Task, intent: Intent) -> Script:
    """Make folders side by side."""
    if not intent.names:
        return task.say("missing_name")
    parent = yield from resolve_folder(task, intent.destination or Ref("here"))
    lines: list[str] = []
    for name in intent.names:
        result = yield from task.call("create_folder", name, name=name, parent_id=parent["id"])
        lines.append(_created(task, result, name))
    return task.with_hint("\n".join(lines), "can_undo")


def _created(task: Task, result: Result, name: str) -> str:
    made = result.data or {"id": "", "name": name}
    task.made.append(made)
    return task.say("created", name=task.name(made), path=path_of(made))


def create_file(task: Task, intent: Intent) -> Script:
    """Make a file with the text that was dictated."""
    if not intent.names:
        return task.say("missing_name")
    parent = yield from _folder(task, intent)
    name = intent.names[0] if "." in intent.names[0].strip(".") else f"{intent.names[0]}.md"
    result = yield from call("create_file", name=name, content=intent.content, parent_id=parent["id"])
    if result.code == "name_conflict":
        return task.say("name_taken", name=quoted(name), message=result.message)
    return task.with_hint(_created(task, task.checked(result, "create_file", name), name), "can_undo")


def _folder(task: Task, intent: Intent) -> Steps[Item]:
    """Return the folder for a new file. One that is missing is made if the person says so, else offered."""
    ref = intent.destination or Ref("here")
    try:
        return (yield from resolve_folder(task, ref))
    except UnresolvedError as unresolved:
        if ref.form not in {"name", "path"} or "\n1. " in unresolved.text:
            raise
    if not intent.makes_folder:
        raise task.unresolved("folder_missing", folder=quoted(ref.text), file=quoted("".join(intent.names[:1])))
    above, _, name = ref.text.strip("/").rpartition("/")
    parent = (yield from resolve_folder(task, Ref("path", text=f"/{above}"))) if ref.form == "path" else task.here
    return (yield from task.call("create_folder", name, name=name, parent_id=parent["id"])).data


def save_summary(task: Task, intent: Intent) -> Script:
    """Write a summary with its source into a new file: of what is meant, or the one that was given last."""
    given = intent.target is not None and intent.target.form == "summary"
    said, topic = _last_summary(task) if given else ("", "")
    if not said and not word("summarising").search(intent.said):
        return task.say("cannot")
    said = said or (yield from summarise(task, replace(intent, target=Ref("it") if given else intent.target)))
    topic = topic or _topic_in(said)
    if not topic:
        return said
    name = intent.names[0] if intent.names else task.say("summary_name", topic=topic).strip()
    content = f"{said.strip().replace(' [1]', '')}\n"
    return (yield from create_file(task, replace(intent, names=(name,), content=content)))


def add_summary(task: Task, intent: Intent) -> Script:
    """Add a summary of a document at its end."""
    ref = intent.target if intent.target and intent.target.form in {"name", "path"} else Ref("open")
    item = yield from resolve_one(task, ref, kind="file", loose=True)
    said = "" if _made_already(task, item) else (yield from sum_up(task, item))
    if said and not _topic_in(said):
        return said
    points = "\n".join(line for line in said.splitlines() if line.startswith("- "))
    return (yield from _append(task, item, task.say("summary_section", list=points)))


def _last_summary(task: Task) -> tuple[str, str]:
    """Return the newest summary that the assistant gave and its topic as a file name has it; empty without any."""
    results = [str(step.get("result") or "") for step in reversed(task.sections.earlier_results)]
    texts = (*(said.text for said in task.conversation.answers()), *results)
    return next(((text, topic) for text in texts if (topic := _topic_in(text))), ("", ""))


def _topic_in(text: str) -> str:
    found = next(filter(None, (title.match(text.strip()) for title in _TITLES)), None)
    return _UNSAFE.sub(" ", found["topic"]).strip()[:LONGEST_TOPIC].strip() if found else ""


def move(task: Task, intent: Intent) -> Script:
    """Put items into a folder; a summary that was only said becomes a file there."""
    if intent.destination is None:
        return task.say("missing_destination")
    try:
        items = yield from resolve(task, intent.target or Ref("it"))
    except UnresolvedError:
        if not (intent.target and intent.target.form == "summary" and _last_summary(task)[0]):
            raise
        return (yield from save_summary(task, intent))
    folder = (yield from _folder(task, intent)) if intent.makes_folder else None
    return (yield from _move(task, items, folder or (yield from resolve_folder(task, intent.destination))))


def _move(task: Task, items: Sequence[Item], folder: Item) -> Script:
    running = [made.args for made in task.conversation.running]
    now = [key for args in running for key in (args.get("item_id"), *(args.get("item_ids") or []))]
    going = [item for item in items if item.get("parent_id") != folder["id"] or item["id"] in now]
    if not going:
        return "\n".join(task.say("already_there", name=task.name(item), folder=task.name(folder)) for item in items)
    if len(going) > 1 and "move_items" in task.tools:
        args = {"item_ids": [item["id"] for item in going], "folder_id": folder["id"]}
        result = yield from task.call("move_items", f"{going[0].get('name', '')} …", **args)
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
    valued = not old and bool(new and intent.anchor)
    if (not old and not valued) or (intent.action == "replace" and not new):
        return task.say("missing_text")
    item, topic = yield from _place(task, intent, valued=valued)
    one = _made_already(task, item)
    if one is None:
        source = yield from read(task, item)
        if valued:
            old, new = value_in(source.text, topic, new)
            if not old:
                return task.say("missing_text")
            intent = replace(intent, edits=((old, new),), anchor=topic)
        whole = len(source.text) >= source.total
        edits = _planned(source.text, intent) if whole else [{"find": old, "replace": new}]
        if not edits:
            return task.say("no_match", find=quoted(old, SHOWN), name=task.name(item))
        if len(edits) > MOST_EDITS:
            return task.say("too_many_matches", find=quoted(old, SHOWN), name=task.name(item), count=len(edits))
        one = request("patch_file", file_id=item["id"], edits=list(edits))
    result = yield from task.call(one.name, str(item.get("name", "")), **one.args)
    old = old or str(one.args["edits"][0]["find"])
    version = result.number("version") or "?"
    code = "edit_line" if new else "edit_line_removed"
    edited = task.say(code, find=quoted(old, SHOWN), replace=quoted(new, SHOWN), count=len(one.args["edits"]))
    return task.with_hint(task.say("edited", name=task.name(item), edits=edited, version=version), "can_undo")


def _place(task: Task, intent: Intent, *, valued: bool) -> Steps[tuple[Item, str]]:
    """Return the file, and the thing in it that gets another value: "the deposit in the rental", 租约的押金."""
    ref, topic = intent.target, intent.anchor
    parts = named_in("value_place", topic), named_in("value_topic", topic)
    if valued and ref is None and all(parts):
        ref, topic = read_ref(parts[0]), parts[1]
    if valued and ref is None and not task.given and not task.conversation.focus():
        item, topic = yield from file_of(task, topic)
        return item, topic
    return (yield from resolve_one(task, ref or Ref("open"), kind="file", loose=valued)), topic


def value_in(text: str, topic: str, new: str) -> tuple[str, str]:
    """Return the one value of a topic in a text and the new one, both with its unit; empty if it is not clear."""
    figure, wanted = _VALUE.match(new), set(terms(topic))
    about = [one.text for one in read_sentences(text) if wanted and wanted <= set(terms(f"{one.heading} {one.text}"))]
    if figure is None or len(about) != 1:
        return "", ""
    unit = new[figure.end("figure") :].strip()
    values = list(_VALUE.finditer(about[0]))
    same = [one for one in values if unit and one["unit"].strip().startswith(unit)]
    fitting = same or [one for one in values if not (unit and one["unit"].strip())]
    after = [one for one in fitting if topic in about[0] and one.start() >= about[0].index(topic)]
    fitting = fitting if len(fitting) == 1 else after[:1]
    if not fitting:
        return "", ""
    written = (
        fitting[0]["unit"][: len(fitting[0]["unit"]) - len(fitting[0]["unit"].lstrip()) + len(unit)] if same else ""
    )
    return fitting[0]["figure"] + written, figure["figure"] + (written or new[figure.end("figure") :])


def _planned(text: str, intent: Intent) -> Sequence[Mapping[str, str]]:
    """Return edits whose `find` stands once in the text as it is by then, for every occurrence from the end on."""
    if intent.again:
        return [{"find": was, "replace": now} for was, now in intent.again if text.count(was) == 1]
    (old, new), edits = intent.edits[0], list[Mapping[str, str]]()
    lines = [line for line in text.splitlines(keepends=True) if old in line]
    if intent.action == "remove_text" and len(lines) == 1 and _LINE.search(intent.said):
        old = lines[0]
    wanted = set(terms(intent.anchor))
    about = [one for one in read_sentences(text) if wanted and wanted <= set(terms(f"{one.heading} {one.text}"))]
    about = [one for one in about if _places_of(text[one.start : one.end], old)]
    low, high = (about[0].start, about[0].end) if len(about) == 1 else (0, len(text))
    for start, end in reversed([one for one in _places_of(text, old) if low <= one[0] < high]):
        left, right = _unique_around(text, start, end, new)
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


def _unique_around(text: str, start: int, end: int, new: str) -> tuple[int, int]:
    """Return the ends of a passage that stands once in the text, and that is found once after the change, too."""
    at, stop = start, end
    while (start > 0 or end < len(text)) and (
        text.count(text[start:end]) != 1 or (new and text.count(text[start:at] + new + text[stop:end]))
    ):
        left, right = text.rfind("\n", 0, max(start - 1, 0)) + 1, text.find("\n", end + 1)
        start, end = left if start else 0, right if right >= 0 else len(text)
    return start, end


def add_text(task: Task, intent: Intent) -> Script:
    """Add a passage at the end."""
    if not intent.content:
        return task.say("missing_content")
    item = yield from resolve_one(task, intent.target or Ref("open"), kind="file")
    return (yield from _append(task, item, intent.content))


def _append(task: Task, item: Item, content: str) -> Script:
    one = _made_already(task, item) or request("append_to_file", file_id=item["id"], content=content)
    yield from task.call(one.name, str(item.get("name", "")), **one.args)
    shown = inert(" ".join(str(one.args.get("content", "")).split())[: SHOWN * 3])
    return task.with_hint(task.say("inserted", name=task.name(item), content=shown), "can_undo")


def _made_already(task: Task, item: Item) -> Request | None:
    """Return this step's edit of the document if it was made: the text is shown as it is after it."""
    made = (one for one in task.conversation.running if one.name in WRITING and one.args.get("file_id") == item["id"])
    return next((Request(one.name, one.args) for one in made), None)
