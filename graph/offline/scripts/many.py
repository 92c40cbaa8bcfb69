"""What each of many files says, read by the drive with the model that it was lent."""

from collections.abc import Generator, Sequence
from typing import Any, Final

from graph.offline.reading.results import Result
from graph.offline.replay import Request, Script, call
from graph.offline.scripts.outcome import failed
from graph.offline.scripts.resolve import resolve_folder
from graph.offline.speech.wording import MOST_LINES, bounded, code, inert, named, quoted, verbatim
from graph.offline.task import Task
from graph.offline.understanding.intents import Intent

MOST_FILES: Final = 200
PAGE: Final = 30
LONGEST_QUOTE: Final = 200
LONGEST_REST: Final = 300
Finding = dict[str, Any]


def map_files(task: Task, intent: Intent) -> Script:
    """Have every file of a folder read, and tell what each says, and which could not be read."""
    folder = yield from resolve_folder(task, intent.target)
    instruction = task.say("many_mention", query=intent.query) if intent.query else task.say("many_summarise")
    result = yield from call(
        "map_reduce_files",
        instruction=instruction,
        folder_id=str(folder["id"]),
        max_files=MOST_FILES,
        language=task.language,
    )
    if not result.worked:
        return failed(task, result, named(folder, task.language))
    if "files" not in result.data:
        return result.text
    if not result.number("files"):
        return task.say("many_empty", folder=named(folder, task.language))
    findings = yield from _first(result)
    return _told(task, intent, result, findings)


def _first(result: Result) -> Generator[Sequence[Request], Sequence[Result], list[Finding]]:
    """Return the first of what files say, as many as are told; they come before those that say nothing."""
    findings = [dict(one) for one in result.entries("results")]
    following = result.number("next")
    while following and following < min(result.number("answered"), MOST_LINES):
        more = yield from call("read_bulk_result", result_id=result.word("result_id"), first=following, limit=PAGE)
        findings += [dict(one) for one in more.entries("results")]
        following = more.number("next")
    return findings


def _told(task: Task, intent: Intent, result: Result, findings: Sequence[Finding]) -> str:
    answered = result.number("answered")
    if intent.query:
        key = "many_found" if answered else "many_found_none"
        title = task.say(key, query=quoted(intent.query), count=answered)
    else:
        title = task.say("many_title")
    lines = [_line(one) for one in findings if one.get("status") == "answered"]
    parts = [
        title,
        bounded(lines, task.language, answered),
        task.say("many_coverage", coverage=result.word("coverage")),
    ]
    return "\n\n".join(part for part in parts if part)


def _line(finding: Finding) -> str:
    """Return what a file says: in quotation marks the sentence that was looked up in it, and how it goes on."""
    answer, quote = str(finding.get("answer") or ""), str(finding.get("quote") or "")
    said = f"“{verbatim(quote or answer, LONGEST_QUOTE)}”"
    rest = inert(answer.removeprefix(quote).strip()[:LONGEST_REST]) if quote and answer.startswith(quote) else ""
    return f"- {code(str(finding.get('path', '')))}: {said} {rest}".rstrip()
