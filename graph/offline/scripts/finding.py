"""Finding files by their names, and by what they or many of them say."""

import re
from collections.abc import Sequence
from typing import Final

from graph.offline.replay import Script, Steps, UnresolvedError, call, request
from graph.offline.results import Item, Result
from graph.offline.scripts import listing
from graph.offline.scripts.reading import ask, relevant, topic_of
from graph.offline.scripts.resolve import best_matches, covered, queries_of, resolve_folder, resolve_one
from graph.offline.scripts.task import Task
from graph.offline.understanding.grammar import named_in
from graph.offline.understanding.intent import Intent, Ref, read_ref
from graph.offline.understanding.terms import terms
from graph.offline.wording import MOST_LINES, bounded, code, inert, path_of, quoted, verbatim

MOST_FOUND, MOST_FILES, PAGE, LONGEST_QUOTE, LONGEST_REST = 10, 200, 30, 200, 300
_DETERMINERS: Final = re.compile(r"(?i)^(?:(?:the|my|our|a|an|any|all|some|of|我们?的|那[个份]|所有的?)\s*\b)+")


def find(task: Task, intent: Intent) -> Script:
    """Look for a name; what is about something is searched for by meaning."""
    query = topic_of(intent.query) or _DETERMINERS.sub("", intent.query).strip()
    if not topic_of(intent.query):
        first = yield from call("search_files", query=query, limit=MOST_FOUND)
        hits = _best(first.hits, query)
        queries = [] if hits else queries_of(query)[:3]
        results = (yield [request("search_files", query=one, limit=MOST_FOUND) for one in queries]) if queries else []
        files = {str(hit["file"]["id"]): hit for result in results for hit in result.hits}
        hits = hits or _best(list(files.values()), query)
        if hits:
            return _shown(task, hits)
    result = yield from call("semantic_search_files", query=query[:500], limit=MOST_FOUND)
    hits = relevant(result, query)
    return _shown(task, hits) if hits else task.nothing_for(query, result)


def _best(hits: Sequence[Item], query: str) -> list[Item]:
    exact = best_matches([hit["file"] for hit in hits], query)
    full = [hit for hit in hits if covered(query, str(hit["file"].get("path", ""))) == 1 or hit["file"] in exact]
    files = [hit for hit in full if hit["file"].get("kind") == "file"]
    named = [hit for hit in full if covered(query, str(hit["file"].get("name", ""))) == 1]
    wanted = set(terms(query))
    return named or files or full or [hit for hit in hits if wanted and wanted <= set(terms(str(hit.get("text", ""))))]


def _shown(task: Task, hits: Sequence[Item]) -> str:
    files = list({str(hit["file"]["id"]): hit for hit in reversed(hits)}.values())[::-1]
    if len(files) == 1:
        item = files[0]["file"]
        return task.say("found_one", name=task.name(item), path=path_of(item)) + _snippet(files[0])
    lines = [f"{number}. {path_of(hit['file'])}{_snippet(hit)}" for number, hit in enumerate(files[:MOST_FOUND], 1)]
    return "\n".join([task.say("found_many", count=len(files)), *lines])


def _snippet(hit: Item) -> str:
    text = str(hit.get("text", ""))
    return f" – {quoted(text, 160)}" if text and text != hit["file"].get("name") else ""


def lookup(task: Task, intent: Intent) -> Script:
    """Look for a bare name, and then for what files say about it."""
    try:
        item = yield from resolve_one(task, intent.target or Ref("name", text=intent.query))
    except UnresolvedError as unresolved:
        return (yield from (find if "\n1. " in unresolved.text else ask)(task, intent))
    return (yield from listing.shown(task, item))


def folder_of(said: str) -> Ref:
    """Return the folder whose files are meant, the current one if none is named."""
    phrase = named_in("folder_of", said.strip(" ?？。.")).strip(' “”"')
    ref = read_ref(phrase, kind="folder") if phrase else None
    return ref if ref and ref.form in {"name", "path", "there"} else Ref("here")


def map_files(task: Task, intent: Intent) -> Script:
    """Have every file of a folder read, and tell what each says, and which could not be read."""
    query = named_in("mention", intent.said).strip(' ?？。.！“”"')
    folder = yield from resolve_folder(task, folder_of(intent.said))
    asked = task.say("many_mention" if query else "many_summarise", query=query)
    args = {"folder_id": str(folder["id"]), "max_files": MOST_FILES, "language": task.language}
    result = yield from task.call("map_reduce_files", str(folder.get("name", "")), instruction=asked, **args)
    if "files" not in result.data:
        return result.text
    if not result.number("files"):
        return task.say("many_empty", folder=task.name(folder))
    answered = result.number("answered")
    title = ("many_found" if answered else "many_found_none") if query else "many_title"
    lines = [_line(one) for one in (yield from _first(task, result)) if one.get("status") == "answered"]
    coverage = task.say("many_coverage", coverage=result.word("coverage"))
    parts = [task.say(title, query=quoted(query), count=answered), bounded(lines, task.language, answered), coverage]
    return "\n\n".join(part for part in parts if part)


def _first(task: Task, result: Result) -> Steps[list[Item]]:
    findings = result.entries("results")
    following = result.number("next")
    while following and following < min(result.number("answered"), MOST_LINES):
        page = {"result_id": result.word("result_id"), "first": following, "limit": PAGE}
        more = yield from task.call("read_bulk_result", **page)
        findings += more.entries("results")
        following = more.number("next")
    return findings


def _line(finding: Item) -> str:
    """Return what a file says: in quotation marks the sentence that was looked up in it, and how it goes on."""
    answer, quote = str(finding.get("answer") or ""), str(finding.get("quote") or "")
    said = f"“{verbatim(quote or answer, LONGEST_QUOTE)}”"
    rest = inert(answer.removeprefix(quote).strip()[:LONGEST_REST]) if quote and answer.startswith(quote) else ""
    return f"- {code(str(finding.get('path', '')))}: {said} {rest}".rstrip()
