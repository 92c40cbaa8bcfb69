"""Versions, changes, and taking them back."""

import re
from collections.abc import Sequence
from typing import Final

from graph.offline.reading.conversation import Item
from graph.offline.reading.results import Result
from graph.offline.replay import Script, call, request
from graph.offline.scripts.outcome import failed, what_of
from graph.offline.scripts.resolve import resolve_one
from graph.offline.speech.wording import bounded, inert, moment, named, quoted, size
from graph.offline.task import Task
from graph.offline.understanding.intents import PREVIOUS, Intent
from graph.offline.understanding.references import CURRENT_FILE

LISTED: Final = 10


_COUNT = re.compile(r"Took back (?P<count>[\d,]+) change")
_BY_ASSISTANT = re.compile(
    r"\byou\b(?!.*\b(?:today|yesterday|lately|recently|week|month|days?)\b)|[你您](?!.*(?:今天|昨天|最近|周|月|天))",
    re.IGNORECASE | re.DOTALL,
)
_QUOTED = re.compile(r"'(?P<name>[^']+)'")


def list_versions(task: Task, intent: Intent) -> Script:
    """List the contents that a file had."""
    item = yield from resolve_one(task, intent.target or CURRENT_FILE, kind="file")
    result = yield from call("list_versions", file_id=item["id"])
    if not result.worked:
        return failed(task, result, named(item, task.language))
    lines = [_version_line(task, entry) for entry in result.entries("versions")]
    return "\n".join([task.say("versions", name=named(item, task.language)), *lines])


def _version_line(task: Task, entry: Item) -> str:
    line = task.say(
        "version_line",
        number=entry.get("number", "?"),
        date=moment(entry.get("created_at")),
        author=inert(str(entry.get("author", ""))),
        size=size(int(entry.get("size") or 0)),
    )
    return line + (task.say("version_current") if entry.get("current") else "")


def restore_version(task: Task, intent: Intent) -> Script:
    """Make an earlier content the newest."""
    item = yield from resolve_one(task, intent.target or CURRENT_FILE, kind="file")
    number = intent.version
    if number == PREVIOUS:
        listed = yield from call("list_versions", file_id=item["id"])
        number = _before_current(listed.entries("versions"))
        if not number:
            return task.say("one_version", name=named(item, task.language))
    if not number:
        return task.say("which_version")
    one = request("restore_version", file_id=item["id"], version=number)
    result = yield from call(one.name, **one.args)
    if not result.worked:
        return failed(task, result, what_of(task, one, str(item.get("name", ""))))
    now = result.number("version") or "?"
    told = task.say("version_restored", name=named(item, task.language), version=number, new=now)
    return task.with_hint(told, "can_undo")


def _before_current(versions: Sequence[Item]) -> int:
    numbers = sorted((int(entry.get("number") or 0) for entry in versions), reverse=True)
    return numbers[1] if len(numbers) > 1 else 0


def undo(task: Task, _intent: Intent) -> Script:
    """Take back what the last run of this conversation changed; without one, what was changed last."""
    one = request("undo_changes", run_id=task.sections.last_run or None)
    result = yield from call(one.name, **one.args)
    if not result.worked:
        return failed(task, result, what_of(task, one, ""))
    undone = [f"- {_change(task, change)}" for change in result.entries("undone")]
    left = [f"- {inert(_left(entry))}" for entry in result.entries("skipped")]
    told = [
        task.say("undone", list=bounded(undone, task.language, _taken_back(result)))
        if undone
        else task.say("undone_nothing")
    ]
    if left:
        told.append(task.say("undo_skipped", list="\n".join(left)))
    if undone:
        told.append(task.with_hint("", "can_redo"))
    return "\n".join(filter(None, told))


def _taken_back(result: Result) -> int:
    """Return how many changes the drive says it took back: of very many not all are in the result."""
    said = _COUNT.search(result.text)
    return int(said["count"].replace(",", "")) if said else 0


def _change(task: Task, change: Item) -> str:
    """Return what a change was."""
    summary = inert(str(change.get("summary") or change.get("action", "")))
    key = f"log_{change.get('tool')}"
    name = _QUOTED.search(summary)
    if name and task.knows(key):
        return task.say(key, name=quoted(name["name"]))
    return summary.rstrip("。")


def _left(entry: Item) -> str:
    parts = [str(entry[field]) for field in ("summary", "reason") if entry.get(field)]
    return ": ".join(parts) or str(entry.get("item_id", ""))


def list_changes(task: Task, intent: Intent) -> Script:
    """Say what was changed lately: in the drive, to one item, or by the assistant in this conversation's last run."""
    item = (yield from resolve_one(task, intent.target)) if intent.target else None
    run_id = None if item or not _BY_ASSISTANT.search(task.conversation.asked) else task.sections.last_run or None
    result = yield from call("list_changes", item_id=item["id"] if item else None, run_id=run_id, limit=LISTED)
    if not result.worked:
        return failed(task, result, task.say("changes"))
    lines = [_change_line(task, change) for change in result.entries("changes")]
    return "\n".join([task.say("changes"), *lines]) if lines else task.say("changes_none")


def _change_line(task: Task, change: Item) -> str:
    line = f"- {moment(change.get('at'))}: {_change(task, change)}"
    return line + (task.say("change_undone") if change.get("undone_by") else "")
