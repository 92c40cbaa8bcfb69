"""Finding files by their names and their contents, also of many at once; and the differences of two."""

from collections.abc import Sequence

from graph.offline.conversation import Item
from graph.offline.replay import UnresolvedError, request
from graph.offline.scripts.listing import differing, shown
from graph.offline.scripts.reading import ask, relevant, topic_of
from graph.offline.scripts.resolve import (
    best_matches,
    covered,
    dated,
    every_file,
    queries_of,
    resolve,
    resolve_folder,
    resolve_one,
)
from graph.offline.scripts.task import Task
from graph.offline.understanding.grammar import named_in, terms, word
from graph.offline.understanding.intent import Intent, Ref, read_ref
from graph.offline.wording import MAX_LINES, bounded, code, inert, path_of, quoted, verbatim

MAX_FOUND, MAX_FILES, MAX_QUOTE, MAX_REST, PAIR, PAGE = 10, 200, 200, 300, 2, 30


def find(task: Task, intent: Intent) -> str:
    """Look for a name; a request for a subject is searched by meaning."""
    topic = topic_of(intent.query)
    query = topic or word("determiner").sub("", intent.query).strip()
    for queries in ([query], queries_of(query)[:3]) if not topic else ():
        wanted = [request("search_files", query=one, limit=MAX_FOUND) for one in queries]
        found = {str(hit["file"]["id"]): hit for one in task.ask(wanted) for hit in one.hits}
        hits = _best(list(found.values()), query)
        if hits:
            return _shown(task, hits)
    result = task.attempt("semantic_search_files", query=query[:500], limit=MAX_FOUND)
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
    lines = [f"{number}. {path_of(hit['file'])}{_snippet(hit)}" for number, hit in enumerate(files[:MAX_FOUND], 1)]
    return "\n".join([task.say("found_many", count=len(files)), *lines])


def _snippet(hit: Item) -> str:
    text = str(hit.get("text", ""))
    return f" – {quoted(text, 160)}" if text and text != hit["file"].get("name") else ""


def lookup(task: Task, intent: Intent) -> str:
    """Look for a bare name, then for files about it."""
    try:
        item = resolve_one(task, intent.target or Ref("name", text=intent.query))
    except UnresolvedError as unresolved:
        return (find if "\n1. " in unresolved.text else ask)(task, intent)
    return shown(task, item)


def folder_of(said: str) -> Ref:
    """Return the folder whose files are meant, the current one if none is named."""
    phrase = named_in("folder_of", said.strip(" ?？。.")).strip(' “”"')
    ref = read_ref(phrase, kind="folder") if phrase else None
    return ref if ref and ref.form in {"name", "path", "there"} else Ref("here")


def map_files(task: Task, intent: Intent) -> str:
    """Have every file of a folder read, and list the finding of each, and the unreadable ones."""
    query = named_in("mention", intent.said).strip(' ?？。.！“”"')
    folder = resolve_folder(task, folder_of(intent.said))
    asked = task.say("many_mention" if query else "many_summarise", query=query)
    args = {"folder_id": str(folder["id"]), "max_files": MAX_FILES, "language": task.language}
    result = task.call("map_reduce_files", str(folder.get("name", "")), instruction=asked, **args)
    if not result.number("files"):
        return result.text if "files" not in result.data else task.say("many_empty", folder=task.name(folder))
    answered = result.number("answered")
    title = ("many_found" if answered else "many_found_none") if query else "many_title"
    findings, following = result.entries("results"), result.number("next")
    while following and following < min(answered, MAX_LINES):
        page = {"result_id": result.word("result_id"), "first": following, "limit": PAGE}
        more = task.call("read_bulk_result", **page)
        findings, following = findings + more.entries("results"), more.number("next")
    lines = [_line(one) for one in findings if one.get("status") == "answered"]
    coverage = task.say("many_coverage", coverage=result.word("coverage"))
    parts = [task.say(title, query=quoted(query), count=answered), bounded(lines, task.language, answered), coverage]
    return "\n\n".join(part for part in parts if part)


def _line(finding: Item) -> str:
    """Return the finding of a file: in quotation marks the sentence found in it, and how it goes on."""
    answer, quote = str(finding.get("answer") or ""), str(finding.get("quote") or "")
    said = f"“{verbatim(quote or answer, MAX_QUOTE)}”"
    rest = inert(answer.removeprefix(quote).strip()[:MAX_REST]) if quote and answer.startswith(quote) else ""
    return f"- {code(str(finding.get('path', '')))}: {said} {rest}".rstrip()


def compare(task: Task, intent: Intent) -> str:
    """Show how the texts of two files differ, line by line."""
    pair = _pair(task, intent)
    if len(pair) != PAIR:
        raise task.unresolved("which_two")
    first, second = sorted(pair, key=dated)
    result = task.call("compare_files", file_id=first["id"], other_file_id=second["id"])
    return differing(task, result, path_of(first), path_of(second))


def _pair(task: Task, intent: Intent) -> list[Item]:
    """Return the two files that are meant: named, sent along, talked about last, or of the one name that is given."""
    phrases = [named_in(name, intent.said.strip(" ?？。.")) for name in ("compared_one", "compared_other")]
    refs = [read_ref(one, file_open=task.sections.shows_file) for one in phrases if one]
    refs = [ref for ref in refs if ref and ref.form not in {"them", "which"}]
    given = [item for item in (task.given or task.conversation.focus()) if item.get("kind") == "file"]
    if len(given) == PAIR and len(refs) < PAIR:
        return given
    found: list[Item] = []
    for ref in refs:
        try:
            found += resolve(task, ref, kind="file", loose=True)
        except UnresolvedError:
            if len(refs) > 1:
                raise
            text = ref.text.removesuffix("s")
            alike = every_file(task, query=text)
            found += best_matches(alike, text) or alike
    more = [item for item in given if item["id"] not in {one["id"] for one in found}]
    return [*found, *more][:PAIR] if len(found) == 1 else found
