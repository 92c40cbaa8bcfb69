"""Files by their dates: those that were changed in a time, and those that were added in it."""

import re
from datetime import date, timedelta
from typing import Any, Final

from graph.offline.replay import Script
from graph.offline.scripts.listing import change_lines
from graph.offline.scripts.task import Task
from graph.offline.understanding.grammar import named_in, table, word
from graph.offline.understanding.intent import Intent
from graph.offline.wording import bounded, moment, path_of

MOST: Final = 100
_BEFORE: Final = re.compile(r"^(?:before|until)\b|之前$")
_AFTER: Final = re.compile(r"^(?:since|after)\b|(?:之后|以来)$")
_FOLDERS: Final = re.compile(r"\bfolders?\b|文件夹")


def dated(task: Task, intent: Intent) -> Script:
    """List the files of a time by the dates of their contents; what was added then, by the record of changes."""
    said = intent.said.lower()
    after, before = span_of(named_in("time_span", said))
    if word("added").search(said):
        ends = {name: end for name, end in {"since": after, "until": before}.items() if end}
        result = yield from task.call("list_changes", "", kind="create", limit=MOST, **ends)
        lines = change_lines(task, result)
        return "\n".join([task.say("changes"), bounded(lines, task.language)]) if lines else task.say("changes_none")
    filters: dict[str, Any] = {"kind": "folder" if _FOLDERS.search(said) else "file", "limit": MOST}
    filters |= {name: end for name, end in {"modified_after": after, "modified_before": before}.items() if end}
    if types := [name for name, pattern in table("sort") if pattern.search(said)]:
        filters["types"] = types
    result = yield from task.call("search_files", "", **filters)
    zone = task.sections.time_zone
    lines = [f"- {path_of(hit['file'])} ({moment(hit['file'].get('modified_at'), zone)})" for hit in result.hits]
    if not lines:
        return task.say("dated_none")
    title = "dated_first" if result.data.get("cursor") else "dated_all"
    return "\n".join([task.say(title, count=len(lines)), bounded(lines, task.language)])


def span_of(phrase: str) -> tuple[str, str]:
    """Return both ends of a time in words, as the drive's tools take them; empty for an open end."""
    text = phrase.removesuffix("份").replace("以后", "之后")
    text = re.sub(r"(?<=[年月])以前$", "之前", text) if re.match(r"\d{4}", text) else text
    if re.fullmatch(r"\d{4}-\d\d-\d\d", text):
        return text, str(date.fromisoformat(text) + timedelta(days=1))
    return ("" if _BEFORE.search(text) else text), ("" if _AFTER.search(text) else text)
