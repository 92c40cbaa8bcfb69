"""What each of many files says, read by the drive with the model that it was lent."""

from collections.abc import Generator, Sequence
from typing import Any, Final

from graph.offline.reading.results import Result
from graph.offline.replay import Request, Script, UnresolvedError, call
from graph.offline.scripts.finding import find
from graph.offline.scripts.resolve import resolve_folder
from graph.offline.scripts.task import Task
from graph.offline.understanding.grammar import named_in
from graph.offline.understanding.references import Ref, read_ref
from graph.offline.understanding.requests import Wish
from graph.offline.wording import MOST_LINES, bounded, code, inert, quoted, verbatim

MOST_FILES: Final = 200
PAGE: Final = 30
LONGEST_QUOTE: Final = 200
LONGEST_REST: Final = 300
Finding = dict[str, Any]


def mentioned(said: str) -> str:
    """Return what the files are to mention, empty if they are to be summed up."""
    return named_in("mention", said).strip(' ?？。.！“”"')


def folder_of(said: str) -> Ref:
    """Return the folder whose files are meant, the current one if none is named."""
    phrase = named_in("folder_of", said.strip(" ?？。.")).strip(' “”"')
    ref = read_ref(phrase, kind="folder") if phrase else None
    return ref if ref and ref.form in {"name", "path", "there"} else Ref("here")


def map_files(task: Task, wish: Wish) -> Script:
    """Have every file of a folder read, and tell what each says, and which could not be read."""
    query = mentioned(wish.said)
    try:
        folder = yield from resolve_folder(task, folder_of(wish.said))
    except UnresolvedError:
        if not query:
            raise
        return (yield from find(task, Wish("find", wish.said, query=f"about {query}")))
    instruction = task.say("many_mention", query=query) if query else task.say("many_summarise")
    result = yield from call(
        "map_reduce_files",
        instruction=instruction,
        folder_id=str(folder["id"]),
        max_files=MOST_FILES,
        language=task.language,
    )
    task.checked(result, "map_reduce_files", str(folder.get("name", "")))
    if "files" not in result.data:
        return result.text
    if not result.number("files"):
        return task.say("many_empty", folder=task.name(folder))
    findings = yield from _first(result)
    return _told(task, query, result, findings)


def _first(result: Result) -> Generator[Sequence[Request], Sequence[Result], list[Finding]]:
    """Return the first of what files say, as many as are told; they come before those that say nothing."""
    findings = [dict(one) for one in result.entries("results")]
    following = result.number("next")
    while following and following < min(result.number("answered"), MOST_LINES):
        more = yield from call("read_bulk_result", result_id=result.word("result_id"), first=following, limit=PAGE)
        findings += [dict(one) for one in more.entries("results")]
        following = more.number("next")
    return findings


def _told(task: Task, query: str, result: Result, findings: Sequence[Finding]) -> str:
    answered = result.number("answered")
    if query:
        key = "many_found" if answered else "many_found_none"
        title = task.say(key, query=quoted(query), count=answered)
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
