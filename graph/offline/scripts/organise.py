"""Creating, renaming and moving."""

from collections.abc import Generator, Sequence

from graph.offline.reading.conversation import Item
from graph.offline.reading.results import Result
from graph.offline.replay import Request, Script, call, request
from graph.offline.scripts.contents import contents_of
from graph.offline.scripts.outcome import failed, failures, what_of
from graph.offline.scripts.resolve import resolve, resolve_folder, resolve_one
from graph.offline.scripts.summaries import find_summary, last_summary, summary_name
from graph.offline.speech.wording import code, named, path_of, quoted
from graph.offline.task import Task
from graph.offline.understanding.intents import Intent
from graph.offline.understanding.references import CURRENT_FOLDER

SUFFIX = ".md"


def create_folder(task: Task, intent: Intent) -> Script:
    """Make each folder that was named, with the folders above it that a path names."""
    if not intent.names:
        return task.say("missing_name")
    parent = yield from resolve_folder(task, intent.destination or CURRENT_FOLDER)
    told: list[str] = []
    for name in intent.names:
        made = yield from _one_folder(task, parent, name)
        told += [made]
    if any(made.result and made.result.worked for made in task.conversation.running if not made.reads):
        told[-1] = task.with_hint(told[-1], "can_undo")
    return "\n".join(told)


def _one_folder(task: Task, parent: Item, name: str) -> Generator[Sequence[Request], Sequence[Result], str]:
    *above, last = [part for part in name.split("/") if part] or [name]
    for part in above:
        made = yield from call("create_folder", name=part, parent_id=parent["id"])
        parent = made.data if made.worked else {"id": _below(parent, part), "path": _below(parent, part)}
    existing = _listed(task, parent, last)
    if existing:
        return task.say("folder_exists", name=quoted(last), path=path_of(existing))
    one = request("create_folder", name=last, parent_id=parent["id"])
    result = yield from call(one.name, **one.args)
    if result.code == "name_conflict":
        return task.say("folder_exists", name=quoted(last), path=code(_below(parent, last)))
    if not result.worked:
        return failed(task, result, what_of(task, one, last))
    return task.say("created_folder", name=quoted(last), path=path_of(result.data or {"name": last}))


def _below(parent: Item, name: str) -> str:
    return f"{str(parent.get('path') or '').rstrip('/')}/{name}"


def _listed(task: Task, parent: Item, name: str) -> Item | None:
    made_now = any(made.name == "create_folder" and made.args.get("name") == name for made in task.conversation.running)
    if parent["id"] != task.current_folder_id or made_now:
        return None
    folders = [item for item in task.sections.listing if item.get("kind") == "folder"]
    return next((item for item in folders if item["name"] == name), None)


def create_file(task: Task, intent: Intent) -> Script:
    """Make a text file with what was dictated."""
    if not intent.names:
        return task.say("missing_name")
    parent = yield from resolve_folder(task, intent.destination or CURRENT_FOLDER)
    return (yield from _one_file(task, parent, intent.names[0], intent.content, "created_file"))


def _one_file(task: Task, parent: Item, name: str, content: str, key: str) -> Script:
    name = name if "." in name.strip(".") else f"{name}{SUFFIX}"
    one = request("create_file", name=name, content=content, parent_id=parent["id"])
    result = yield from call(one.name, **one.args)
    if not result.worked:
        return failed(task, result, what_of(task, one, name))
    made = result.data or {"name": name}
    return task.with_hint(task.say(key, name=named(made, task.language), path=path_of(made)), "can_undo")


def save_summary(task: Task, intent: Intent) -> Script:
    """Keep the newest summary, or the newest answer, as a file."""
    given = last_summary(task.conversation)
    if given is None:
        return task.say("no_answer_to_save")
    parent = yield from resolve_folder(task, intent.destination or CURRENT_FOLDER)
    name = intent.names[0] if intent.names else summary_name(given, task.language)
    return (yield from _one_file(task, parent, name, given.text, "saved_answer"))


def rename(task: Task, intent: Intent) -> Script:
    """Give an item another name; a file keeps its suffix if the new name has none."""
    if not intent.names:
        return task.say("missing_name")
    item = yield from resolve_one(task, intent.target)
    old, name = str(item.get("name", "")), intent.names[0]
    suffix = old.rpartition(".")[2] if "." in old.strip(".") else ""
    if item.get("kind") != "folder" and suffix and "." not in name:
        name = f"{name}.{suffix}"
    one = request("rename_item", item_id=item["id"], name=name)
    result = yield from call(one.name, **one.args)
    if not result.worked:
        return failed(task, result, what_of(task, one, old))
    now = result.data or {"name": name}
    if now.get("name") == old:
        return task.with_hint(task.say("called", name=quoted(old), path=path_of(now)), "can_undo")
    return task.with_hint(
        task.say("renamed", old=quoted(old), name=named(now, task.language), path=path_of(now)), "can_undo"
    )


def move(task: Task, intent: Intent) -> Script:
    """Put items into a folder; a summary that was only said becomes a file there."""
    if intent.destination is None:
        return task.say("missing_destination")
    if intent.target and intent.target.form == "the summary":
        found = yield from find_summary(task, finished=True)
        if found is None:
            return (yield from _place_summary(task, intent))
        items = [found]
    elif intent.target and intent.target.form == "all":
        items, _ = yield from contents_of(task, intent.target)
    else:
        items = yield from resolve(task, intent.target)
    folder = yield from resolve_folder(task, intent.destination)
    return (yield from _move_all(task, items, folder))


def _place_summary(task: Task, intent: Intent) -> Script:
    given = last_summary(task.conversation, only_summaries=True)
    if given is None:
        return task.say("no_summary")
    folder = yield from resolve_folder(task, intent.destination)
    return (yield from _one_file(task, folder, summary_name(given, task.language), given.text, "saved_summary"))


def _move_all(task: Task, items: Sequence[Item], folder: Item) -> Script:
    if any(item["id"] == folder["id"] for item in items):
        return task.say("into_itself")
    staying = [item for item in items if item.get("parent_id") == folder["id"] and not _moved_now(task, item)]
    going = [item for item in items if item not in staying]
    told = [
        task.say("already_there", name=named(item, task.language), folder=named(folder, task.language))
        for item in staying
    ]
    if not going:
        return "\n".join(told) or task.say("folder_empty", folder=named(folder, task.language))
    wanted = [request("move_item", item_id=item["id"], folder_id=folder["id"]) for item in going]
    results = yield wanted
    moved = [result.data or item for item, result in zip(going, results, strict=True) if result.worked]
    told += _told_moved(task, moved, folder)
    told += failures(task, wanted, [str(item.get("name", "")) for item in going], results)
    return "\n".join(told)


def _moved_now(task: Task, item: Item) -> bool:
    """A result of this very move shows the item where it is by now: that is no reason to leave it out."""
    return any(
        made.name == "move_item" and made.args.get("item_id") == item["id"] for made in task.conversation.running
    )


def _told_moved(task: Task, moved: Sequence[Item], folder: Item) -> list[str]:
    if not moved:
        return []
    went_there = all(item.get("parent_id", folder["id"]) == folder["id"] for item in moved)
    where = (
        named(folder, task.language) if went_there else code(str(moved[0].get("path", "")).rpartition("/")[0] or "/")
    )
    if len(moved) == 1:
        told = task.say("moved", name=named(moved[0], task.language), folder=where, path=path_of(moved[0]))
        return [task.with_hint(told, "can_undo")]
    lines = "\n".join(f"- {quoted(str(item.get('name', '')))}" for item in moved)
    return [task.say("moved_many", count=len(moved), folder=where, list=lines), task.with_hint("", "can_undo")]
