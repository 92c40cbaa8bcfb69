"""Files by their facts (date, size), and the differences of two files."""

from collections.abc import Sequence
from typing import Final

from graph.offline.replay import Script, Steps, UnresolvedError
from graph.offline.results import Item
from graph.offline.scripts.resolve import best_matches, dated, every_file, resolve, resolve_folder, size_of
from graph.offline.scripts.task import Task
from graph.offline.understanding.grammar import named_in, table, word
from graph.offline.understanding.intent import Intent, Ref, read_ref
from graph.offline.wording import bounded, moment, path_of, size

MANY, ONE, LONGEST_DIFF, PAIR = 10, 1, 3_000, 2
_NAMED: Final = frozenset({"name", "path", "it", "there"})


def extreme(task: Task, intent: Intent) -> Script:
    """List the newest, oldest, largest or smallest files, of the drive or of a folder, with their dates or sizes."""
    named = intent.target if intent.target and intent.target.form in _NAMED else Ref("here")
    folder = yield from resolve_folder(task, named)
    types = [name for name, pattern in table("sort") if pattern.search(intent.said.lower())]
    found = yield from every_file(task, folder, **({"types": types} if types else {}))
    if not found:
        return task.say("folder_empty", folder=task.name(folder))
    by_size = intent.action in {"largest", "smallest"}
    found.sort(key=size_of if by_size else _changed, reverse=intent.action in {"largest", "newest"})
    several = word("plural").search(intent.said) is not None
    shown = found[: intent.number or (MANY if several else ONE)]
    return bounded([f"- {path_of(item)} ({_fact(task, item, by_size=by_size)})" for item in shown], task.language)


def _changed(item: Item) -> str:
    return str(item.get("modified_at") or item.get("updated_at") or "")


def _fact(task: Task, item: Item, *, by_size: bool) -> str:
    return size(size_of(item)) if by_size else moment(_changed(item), task.sections.time_zone)


def compare(task: Task, intent: Intent) -> Script:
    """Show how the texts of two files differ, line by line."""
    pair = yield from _pair(task, intent)
    if len(pair) != PAIR:
        raise task.unresolved("which_two")
    first, second = sorted(pair, key=dated)
    result = yield from task.call("compare_files", "", file_id=first["id"], other_file_id=second["id"])
    shown = result.word("diff")[:LONGEST_DIFF].rstrip("\n")
    names = {"first": path_of(first), "last": path_of(second)}
    return "\n".join([task.say("differ", **names), "~~~~diff", shown, "~~~~"]) if shown else task.say("same", **names)


def _pair(task: Task, intent: Intent) -> Steps[list[Item]]:
    """Return the two files that are meant: named, sent along, talked about last, or of the one name that is given."""
    phrases = [named_in(name, intent.said.strip(" ?？。.")) for name in ("compared_one", "compared_other")]
    refs = [read_ref(one, file_open=task.sections.shows_file) for one in phrases if one]
    refs = [ref for ref in refs if ref and ref.form not in {"them", "which"}]
    given = [item for item in (task.given or task.conversation.focus()) if item.get("kind") == "file"]
    if len(given) == PAIR and len(refs) < PAIR:
        return given
    found: list[Item] = []
    for ref in refs:
        found += yield from _files(task, ref, several=len(refs) == 1)
    more = [item for item in given if item["id"] not in {one["id"] for one in found}]
    return [*found, *more][:PAIR] if len(found) == 1 else found


def _files(task: Task, ref: Ref, *, several: bool) -> Steps[Sequence[Item]]:
    """Return the file of a name; with `several` all of the name: "the two leases"."""
    if not several:
        return (yield from resolve(task, ref, kind="file", loose=True))
    try:
        return (yield from resolve(task, ref, kind="file", loose=True))
    except UnresolvedError:
        text = ref.text.removesuffix("s")
        found = yield from every_file(task, None, query=text)
        return best_matches(found, text) or found
