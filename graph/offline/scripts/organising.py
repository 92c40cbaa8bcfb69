"""Making and moving files and folders, and many things changed by one rule; and summaries as files."""

import re
from dataclasses import replace
from typing import Any, Final

from graph.offline.conversation import Item
from graph.offline.replay import UnresolvedError, request
from graph.offline.scripts.reading import sum_up, summarise
from graph.offline.scripts.resolve import dated, resolve, resolve_folder, resolve_one
from graph.offline.scripts.task import Task
from graph.offline.understanding.grammar import word
from graph.offline.understanding.intent import Intent, Ref
from graph.offline.wording import bounded, code, in_all_languages, path_of, quoted

MAX_TOPIC, YEAR = 60, 4
_TITLES: Final = tuple(
    re.compile(re.escape(side).replace(r"\{topic\}", "(?P<topic>.+?)")) for side in in_all_languages("summary_title")
)
_UNSAFE: Final = re.compile(r"[/\\\x00-\x1f“”\"]+|\.\w{1,5}\s*$")


def create(task: Task, intent: Intent) -> str:
    """Make folders side by side, or a file with the text that was dictated."""
    if not intent.names:
        return task.say("missing_name")
    folders, lines = intent.action == "create_folder", list[str]()
    parent = resolve_folder(task, intent.destination or Ref("here")) if folders else _folder(task, intent)
    tool, text = ("create_folder", None) if folders else ("create_file", intent.content)
    for said in intent.names:
        name = said if folders or "." in said.strip(".") else f"{said}.md"
        result = task.attempt(tool, name=name, content=text, folder_id=parent["id"])
        if result.code == "name_conflict" and not lines:
            return task.say("name_taken", name=quoted(name), message=result.message)
        made = task.checked(result, tool, name).data or {"id": "", "name": name}
        task.made.append(made)
        lines.append(task.say("created", name=task.name(made), path=path_of(made)))
    return task.with_hint("\n".join(lines), "can_undo")


def _folder(task: Task, intent: Intent) -> Item:
    """Return the folder to put something into. One that is missing is made if the person says so, else offered."""
    ref = intent.destination or Ref("here")
    try:
        return resolve_folder(task, ref)
    except UnresolvedError as unresolved:
        if ref.form not in {"name", "path"} or "\n1. " in unresolved.text:
            raise
    if not intent.makes_folder:
        raise task.unresolved("folder_missing", folder=quoted(ref.text), file=quoted("".join(intent.names[:1])))
    above, _, name = ref.text.strip("/").rpartition("/")
    parent = resolve_folder(task, Ref("path", text=f"/{above}")) if ref.form == "path" else task.here
    return task.call("create_folder", name, name=name, folder_id=parent["id"]).data


def save_summary(task: Task, intent: Intent) -> str:
    """Write a summary with its source into a new file: of the item that is meant, or the summary given last."""
    said = _last_summary(task) if intent.target and intent.target.form == "summary" else ""
    if not said and not word("summarising").search(intent.said):
        return task.say("cannot")
    target = Ref("it") if intent.target and intent.target.form == "summary" else intent.target
    said = said or summarise(task, replace(intent, target=target))
    topic = _topic_in(said)
    if not topic:
        return said
    name = intent.names[0] if intent.names else task.say("summary_name", topic=topic).strip()
    content = f"{said.strip().replace(' [1]', '')}\n"
    return create(task, replace(intent, names=(name,), content=content))


def add_summary(task: Task, intent: Intent) -> str:
    """Add a summary of a document at its end."""
    ref = intent.target if intent.target and intent.target.form in {"name", "path"} else Ref("open")
    item = resolve_one(task, ref, kind="file", loose=True)
    said = sum_up(task, item)
    if not _topic_in(said):
        return said
    points = "\n".join(line for line in said.splitlines() if line.startswith("- "))
    added = request("append_to_file", file_id=item["id"], content=task.say("summary_section", list=points))
    return task.carry_out([(item, added)], "inserted")


def _last_summary(task: Task) -> str:
    """Return the newest summary that the assistant gave, empty without any."""
    results = [str(step.get("result") or "") for step in reversed(task.sections.earlier_results)]
    return next(filter(_topic_in, (*(said.text for said in task.conversation.answers()), *results)), "")


def _topic_in(text: str) -> str:
    """Return the topic of a summary as a file name has it, empty if the text is none."""
    found = next(filter(None, (title.match(text.strip()) for title in _TITLES)), None)
    return _UNSAFE.sub(" ", found["topic"]).strip()[:MAX_TOPIC].strip() if found else ""


def move(task: Task, intent: Intent) -> str:
    """Put items into a folder, in one call if they are several; a summary that was only said becomes a file there."""
    if intent.destination is None:
        return task.say("missing_destination")
    try:
        items = resolve(task, intent.target or Ref("it"))
    except UnresolvedError:
        if not (intent.target and intent.target.form == "summary" and _last_summary(task)):
            raise
        return save_summary(task, intent)
    folder = _folder(task, replace(intent, names=(str(items[0].get("name", "")),)))
    running = [made.args for made in task.conversation.running]
    now = [key for args in running for key in (args.get("item_id"), *(args.get("item_ids") or []))]
    going = [item for item in items if item.get("parent_id") != folder["id"] or item["id"] in now]
    there = task.name(folder)
    if not going:
        return "\n".join(task.say("already_there", name=task.name(item), folder=there) for item in items)
    if len(going) == 1:
        one = request("move_item", item_id=going[0]["id"], folder_id=folder["id"])
        return task.carry_out([(going[0], one)], "moved")
    args = {"item_ids": [item["id"] for item in going], "folder_id": folder["id"]}
    result = task.call("move_items", f"{going[0].get('name', '')} …", **args)
    moved = result.items or going
    lines = [task.say("moved", name=task.name(item), path=path_of(item), folder=there) for item in moved]
    return task.with_hint(bounded(lines, task.language), "can_undo")


def arrange(task: Task, intent: Intent) -> str:
    """Give the files of a folder, or those that are named, other names by one rule, or put them into folders.

    They are put into folders by the years in their names if all have one, else by their facts.
    """
    ref = intent.target
    inside = ref.inside if ref and ref.form == "all" and not (ref.text or ref.extension) else ref
    try:
        folder = resolve_folder(task, inside or Ref("here"))
        selection, name = dict[str, Any](folder_id=folder["id"]), str(folder.get("name", ""))
    except UnresolvedError:
        items = resolve(task, ref and Ref("all", ref.text, inside=ref.inside, extension=ref.extension))
        selection, name = {"item_ids": [item["id"] for item in items]}, f"{items[0].get('name', '')} …"
    rule = {"pattern" if intent.action == "rename_many" else "folders": "".join(intent.names)}
    rule = next(({"find": old, "replace": new} for old, new in intent.edits), rule)
    tool, wanted = "rename_items", [selection | rule]
    if intent.action == "organise":
        by_year = _years(task, selection, name) if intent.names[0] == "{year}" else []
        tool, wanted = "organize_items", by_year or [selection | rule | {"language": task.language}]
    lines = list[str]()
    for result in task.ask([request(tool, **args) for args in wanted]):
        items = task.checked(result, tool, name).entries("items")
        moved = [f"- {code(str(one.get('was', '')))} → {path_of(one)}" for one in items]
        lines += [task.say(tool, count=result.number("changed")), bounded(moved, task.language)]
    return task.with_hint("\n".join(lines), "can_undo")


def _years(task: Task, selection: dict[str, Any], name: str) -> list[dict[str, Any]]:
    """Return the arguments that put the files of a folder into years by their names; none if one has no year."""
    into = selection.get("folder_id")
    found = task.call("list_folder", name, folder_id=into).items if into else []
    years = {str(item["id"]): dated(item)[0][:YEAR] for item in found if item.get("kind") == "file"}
    return [
        {"item_ids": [key for key, one in years.items() if one == year], "folders": year, "into_id": into}
        for year in (sorted(set(years.values())) if all(years.values()) else ())
    ]
