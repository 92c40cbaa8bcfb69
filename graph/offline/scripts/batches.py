"""Many items at once: other names by one rule, and folders by date or type."""

from typing import Any

from graph.offline.replay import Script, Steps, UnresolvedError
from graph.offline.results import Item, Result
from graph.offline.scripts.resolve import dated, resolve, resolve_folder
from graph.offline.scripts.task import Task
from graph.offline.understanding.intent import Intent, Ref
from graph.offline.wording import bounded, code, path_of

YEAR = 4


def rename_many(task: Task, intent: Intent) -> Script:
    """Give the files of a folder, or those that are named, other names by one rule."""
    selection, name = yield from _selection(task, intent.target)
    old, new = intent.edits[0] if intent.edits else ("", "")
    rule: dict[str, Any] = {"find": old, "replace": new} if old else {"pattern": intent.names[0]}
    result = yield from task.call("rename_items", name, **selection, **rule)
    return task.with_hint(_lines(task, result, "renamed_many"), "can_undo")


def organise(task: Task, intent: Intent) -> Script:
    """Put the files of a folder into folders: by the years in their names if all have one, else by their facts."""
    selection, name = yield from _selection(task, intent.target)
    pattern = intent.names[0]
    items = (
        (yield from task.call("list_folder", name, folder_id=selection["folder_id"])).items
        if (pattern == "{year}" and "folder_id" in selection)
        else []
    )
    years = {str(item["id"]): dated(item)[0][:YEAR] for item in items if item.get("kind") == "file"}
    if not years or not all(years.values()):
        result = yield from task.call("organize_items", name, **selection, folders=pattern, language=task.language)
        return task.with_hint(_lines(task, result, "organised"), "can_undo")
    lines: list[str] = []
    for year in sorted(set(years.values())):
        chosen = [key for key, one in years.items() if one == year]
        result = yield from task.call(
            "organize_items", name, item_ids=chosen, folders=year, into_id=selection["folder_id"]
        )
        lines.append(_lines(task, result, "organised"))
    return task.with_hint("\n".join(lines), "can_undo")


def _lines(task: Task, result: Result, sentence: str) -> str:
    lines = [f"- {code(str(one.get('was', '')))} → {path_of(one)}" for one in result.entries("items")]
    return "\n".join([task.say(sentence, count=result.number("changed")), bounded(lines, task.language)])


def _selection(task: Task, ref: Ref | None) -> Steps[tuple[dict[str, Any], str]]:
    """Return the arguments that name the items: a folder for all of its files, else each by its id."""
    folder: Item | None = task.here if ref is None else None
    inside = ref.inside if ref and ref.form == "all" and not (ref.text or ref.extension) else ref
    try:
        folder = folder or (yield from resolve_folder(task, inside))
    except UnresolvedError:
        items = yield from resolve(task, ref and Ref("all", ref.text, inside=ref.inside, extension=ref.extension))
        return {"item_ids": [item["id"] for item in items]}, f"{items[0].get('name', '')} …"
    return {"folder_id": folder["id"]}, str(folder.get("name", ""))
