"""From a reference to items of the drive, with as few calls as it takes; asks when it is not clear."""

from collections.abc import Generator, Sequence
from dataclasses import replace
from typing import Final, cast

from graph.offline.reading.conversation import Item
from graph.offline.reading.mentions import changed_items, focus, known_items, last_folder
from graph.offline.reading.results import Result
from graph.offline.replay import Request, call
from graph.offline.scripts.matching import best_matches, nearest, prefer_folder
from graph.offline.speech.wording import code, path_of, quoted
from graph.offline.task import ROOT, Task
from graph.offline.understanding.language import terms
from graph.offline.understanding.references import CURRENT_FOLDER, Ref, split_list

Items = Generator[Sequence[Request], Sequence[Result], list[Item]]
One = Generator[Sequence[Request], Sequence[Result], Item]

MOST_CANDIDATES: Final = 10
SEARCH_LIMIT: Final = 20
TOPIC_LIMIT: Final = 5


def resolve_one(task: Task, ref: Ref | None, *, kind: str = "") -> One:
    """Return the one item that is meant. Raises `UnresolvedError` with a question if there is none or several."""
    items = yield from resolve(task, ref, kind=kind)
    if len(items) > 1:
        raise ambiguous(task, ref.text if ref else "", items)
    return items[0]


def resolve(task: Task, ref: Ref | None, *, kind: str = "") -> Items:
    """Return the items that are meant, at least one: several only if several were meant."""
    if ref is None:
        raise task.unresolved("which_folder" if kind == "folder" else "which_item")
    found = yield from _resolve_single(task, ref, kind)
    for other in ref.others:
        found = [*found, *(yield from _resolve_single(task, other, kind))]
    return list({str(item["id"]): item for item in found}.values())


def resolve_folder(task: Task, ref: Ref | None) -> One:
    """Return the folder that is meant."""
    item = yield from resolve_one(task, ref, kind="folder")
    if item.get("kind", "folder") != "folder":
        raise task.unresolved("not_a_folder", name=quoted(str(item.get("name", ""))))
    return item


def _resolve_single(task: Task, ref: Ref, kind: str) -> Items:
    wanted = ref.kind or kind
    if ref.form == "current folder":
        return [task.here()]
    if ref.form == "current file":
        return [_open_document(task)]
    if ref.form in {"it", "them"}:
        return _pronoun(task, ref, wanted)
    if ref.form == "there":
        return [_there(task)]
    if ref.form == "path":
        return (yield from _by_path(task, ref))
    if ref.form == "about":
        return (yield from _by_topic(task, ref))
    return (yield from _by_name(task, ref, wanted))


def _open_document(task: Task) -> Item:
    if task.sections.file:
        return {"kind": "file", **task.sections.file}
    talked_about = [item for item in focus(task.conversation) if item.get("kind") == "file"]
    if len(talked_about) != 1:
        raise task.unresolved("no_document")
    return talked_about[0]


def _pronoun(task: Task, ref: Ref, kind: str) -> list[Item]:
    candidates = [item for item in focus(task.conversation) if not kind or item.get("kind") == kind]
    if not candidates and task.sections.file and kind != "folder":
        return [{"kind": "file", **task.sections.file}]
    if not candidates:
        raise task.unresolved("nothing_remembered")
    if ref.form == "it" and len(candidates) > 1:
        raise ambiguous(task, "", candidates)
    return candidates


def _there(task: Task) -> Item:
    folder = last_folder(task.conversation)
    if folder is None:
        raise task.unresolved("which_folder")
    return folder


def _by_path(task: Task, ref: Ref) -> Items:
    if ref.text == "/":
        return [{"id": ROOT, "kind": "folder", "name": "", "path": "/"}]
    result = yield from call("get_file_info", item_id=ref.text.rstrip("/"))
    if result.worked and result.word("id"):
        return [result.data]
    raise task.unresolved("not_found", name=code(ref.text))


def _by_topic(task: Task, ref: Ref) -> Items:
    result = yield from call("semantic_search_files", query=ref.text, limit=TOPIC_LIMIT)
    files = [hit["file"] for hit in relevant_hits(result, ref.text)]
    unique = list({str(item["id"]): item for item in files}.values())
    if not unique:
        raise task.unresolved("nothing_about", topic=quoted(ref.text))
    return unique[:1]


def relevant_hits(result: Result, topic: str) -> list[Item]:
    """Return the hits that share words with the topic, at least half as many as the best does, those with most first.

    All of them, if the topic has no word that counts.
    """
    wanted = set(terms(topic))
    graded = [(len(wanted & set(terms(_told(hit)))), -rank, hit) for rank, hit in enumerate(result.hits)]
    most = max((shared for shared, _, _ in graded), default=0)
    kept = [entry for entry in graded if "file" in entry[2] and (not wanted or (entry[0] and 2 * entry[0] > most))]
    return [hit for _, _, hit in sorted(kept, key=lambda entry: entry[:2], reverse=True)]


def _told(hit: Item) -> str:
    file = cast("Item", hit.get("file") or {})
    return f"{file.get('name', '')} {hit.get('heading', '')} {hit.get('text', '')}"


def _by_name(task: Task, ref: Ref, kind: str) -> Items:
    near = _nearby(task, ref, kind)
    if near:
        return near
    if ref.inside:
        found = yield from _inside(task, ref, kind)
    else:
        found = yield from _search(task, ref, kind, None)
    if found:
        return _checked(task, ref, found)
    return (yield from _otherwise(task, ref, kind))


def _nearby(task: Task, ref: Ref, kind: str) -> list[Item]:
    """Look at what this turn changed. Nothing else that changes with a change may decide: a replay has to go the same
    way again, and the listing and the open document are shown as they are by then."""
    if ref.inside and ref.inside != CURRENT_FOLDER:
        return []
    same = best_matches(changed_items(task.conversation), ref.text, kind=kind, exact=True)
    return same if len(same) == 1 else []


def _inside(task: Task, ref: Ref, kind: str) -> Items:
    try_whole = replace(ref, text=ref.whole, inside=None)
    folders = (
        yield from _search(task, ref.inside or ref, "folder", None)
        if ref.inside and ref.inside.form == "name"
        else (_resolve_single(task, ref.inside or ref, "folder"))
    )
    if len(folders) != 1:
        return (yield from _search(task, try_whole, kind, None))
    found = yield from _search(task, ref, kind, str(folders[0]["id"]))
    if not found:
        raise task.unresolved("not_found_in", name=quoted(ref.text), folder=quoted(str(folders[0].get("name", ""))))
    return found


def _search(task: Task, ref: Ref, kind: str, folder_id: str | None) -> Items:
    if "search_files" not in task.tools:
        listed = yield from call("list_folder", folder_id=folder_id or task.current_folder_id)
        return best_matches(listed.items, ref.text, kind=kind)
    result = yield from call("search_files", query=ref.text, folder_id=folder_id, kind=kind or None, limit=SEARCH_LIMIT)
    files = [hit["file"] for hit in result.hits]
    return best_matches(files, ref.text, kind=kind)


def _checked(task: Task, ref: Ref, found: list[Item]) -> list[Item]:
    chosen = list(prefer_folder(found, task.current_folder_id))
    if len(chosen) > 1:
        raise ambiguous(task, ref.text, chosen)
    return chosen


def _otherwise(task: Task, ref: Ref, kind: str) -> Items:
    """Nothing has the name: perhaps it is several names, or misspelt."""
    parts = split_list(ref.whole or ref.text, task.language)
    if len(parts) > 1:
        found: list[Item] = []
        for part in parts:
            found += yield from _search(task, Ref("name", text=part, whole=part), kind, None)
        if len(found) == len(parts):
            return found
    meant = nearest((*task.sections.listing, *known_items(task.conversation).values()), ref.text)
    key = "not_found_folder" if kind == "folder" else "not_found"
    sentence = task.say(key, name=quoted(ref.text))
    if meant:
        sentence += " " + task.say("did_you_mean", name=quoted(str(meant["name"])), path=path_of(meant))
    raise type(task.unresolved(key, name=""))(sentence)


def ambiguous(task: Task, name: str, items: Sequence[Item]) -> Exception:
    """Return the question which of the items is meant, as a numbered list."""
    lines = [f"{number}. {path_of(item)}" for number, item in enumerate(items[:MOST_CANDIDATES], start=1)]
    if not name:
        return task.unresolved("ambiguous_it", list="\n".join(lines))
    return task.unresolved("ambiguous", name=quoted(name), list="\n".join(lines))
