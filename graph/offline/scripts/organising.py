"""Creating, moving and copying."""

import re
from collections.abc import Sequence
from typing import Final

from graph.offline.reading.results import Item
from graph.offline.replay import Script, UnresolvedError, call, request
from graph.offline.scripts.changing import with_suffix
from graph.offline.scripts.resolve import resolve, resolve_folder
from graph.offline.scripts.task import Task
from graph.offline.understanding.intent import Intent, Ref
from graph.offline.wording import bounded, path_of, sides

LONGEST_TOPIC: Final = 60
_TITLES: Final = tuple(
    re.compile(re.escape(side).replace(r"\{topic\}", "(?P<topic>.+?)")) for side in sides("summary_title")
)
_UNSAFE: Final = re.compile(r"[/\\\x00-\x1f“”\"]+|\.\w{1,5}\s*$")


def create_folder(task: Task, intent: Intent) -> Script:
    """Make folders side by side."""
    if not intent.names:
        return task.say("missing_name")
    parent = yield from resolve_folder(task, intent.destination or Ref("here"))
    lines: list[str] = []
    for name in intent.names:
        result = task.checked(
            (yield from call("create_folder", name=name, parent_id=parent["id"])), "create_folder", name
        )
        made = result.data or {"id": "", "name": name}
        lines.append(task.say("created", name=task.name(made), path=path_of(made)))
    return task.with_hint("\n".join(lines), "can_undo")


def create_file(task: Task, intent: Intent) -> Script:
    """Make a file with the text that was dictated."""
    if not intent.names:
        return task.say("missing_name")
    parent = yield from resolve_folder(task, intent.destination or Ref("here"))
    return (yield from _one_file(task, parent, intent.names[0], intent.content, "created"))


def _one_file(task: Task, parent: Item, name: str, content: str, code: str) -> Script:
    name = name if "." in name.strip(".") else f"{name}.md"
    result = yield from call("create_file", name=name, content=content, parent_id=parent["id"])
    made = task.checked(result, "create_file", name).data or {"name": name}
    return task.with_hint(task.say(code, name=task.name(made), path=path_of(made)), "can_undo")


def move(task: Task, intent: Intent) -> Script:
    """Put items into a folder; a summary that was only said becomes a file there."""
    if intent.destination is None:
        return task.say("missing_destination")
    try:
        items = yield from resolve(task, intent.target or Ref("it"))
    except UnresolvedError:
        said, topic = _last_summary(task) if intent.target and intent.target.form == "summary" else ("", "")
        if not said:
            raise
        folder, name = (yield from resolve_folder(task, intent.destination)), task.say("summary_name", topic=topic)
        return (yield from _one_file(task, folder, name.strip(), said, "saved_summary"))
    folder = yield from resolve_folder(task, intent.destination)
    return (yield from _move(task, items, folder))


def _last_summary(task: Task) -> tuple[str, str]:
    """Return the newest summary that the assistant gave and its topic as a file name has it; empty without any."""
    results = [str(step.get("result") or "") for step in reversed(task.sections.earlier_results)]
    texts = (*(said.text for said in task.conversation.answers()), *results)
    found = next(((text, title) for text in texts for one in _TITLES if (title := one.match(text.strip()))), None)
    return (found[0], _UNSAFE.sub(" ", found[1]["topic"]).strip()[:LONGEST_TOPIC].strip()) if found else ("", "")


def _move(task: Task, items: Sequence[Item], folder: Item) -> Script:
    if any(item["id"] == folder["id"] for item in items):
        return task.say("into_itself")
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
