"""Finding, listing, reading."""

from collections.abc import Iterator, Sequence
from typing import Final

from graph.offline.reading.conversation import Item
from graph.offline.reading.results import Result
from graph.offline.replay import Script, call
from graph.offline.scripts.outcome import failed
from graph.offline.scripts.resolve import relevant_hits, resolve_one
from graph.offline.speech.wording import code, counted, inert, item_line, moment, named, path_of, quoted, size
from graph.offline.task import Task
from graph.offline.understanding.intents import Intent
from graph.offline.understanding.references import CURRENT_FOLDER, Ref

MOST_FOUND: Final = 10
PAGE: Final = 30
LONGEST_TEXT: Final = 3_000
PLACES: Final = {"trash": "listing_trash", "shared": "listing_shared"}


def find(task: Task, intent: Intent) -> Script:
    """Look by name first for a name, by meaning first for a topic."""
    query = intent.query or (intent.target.text if intent.target else "")
    by_meaning = intent.target is not None and intent.target.form == "about"
    tools = ("semantic_search_files", "search_files") if by_meaning else ("search_files", "semantic_search_files")
    waiting = ""
    for tool in tools:
        if tool not in task.tools:
            continue
        result = yield from call(tool, query=query, limit=MOST_FOUND)
        waiting = waiting or result.word("note")
        hits = relevant_hits(result, query) if tool == "semantic_search_files" else result.hits
        if hits:
            return _told_found(task, hits, more=bool(result.cursor))
    told = task.say("found_nothing", query=quoted(query))
    return f"{told} {task.say('still_indexing')}" if waiting else told


def _told_found(task: Task, hits: Sequence[Item], *, more: bool) -> str:
    files = list({str(hit["file"]["id"]): hit for hit in reversed(hits) if "file" in hit}.values())[::-1]
    if len(files) == 1:
        item = files[0]["file"]
        told = task.say("found_one", name=named(item, task.language), path=path_of(item))
        return told + _snippet(files[0])
    lines = [
        f"{number}. {path_of(hit['file'])}{_snippet(hit)}" for number, hit in enumerate(files[:MOST_FOUND], start=1)
    ]
    told = "\n".join([task.say("found_many", count=counted(len(files), task.language)), *lines])
    return f"{told}\n{task.say('found_more')}" if more else told


def _snippet(hit: Item) -> str:
    text = str(hit.get("text", ""))
    return f" – {quoted(text, 160)}" if text and text != hit["file"].get("name") else ""


def list_folder(task: Task, intent: Intent) -> Script:
    """List a folder, the trash, or what others shared."""
    if intent.topic in PLACES:
        result = yield from call("list_folder", folder_id=intent.topic, limit=PAGE)
        empty = task.say("trash_empty" if intent.topic == "trash" else "shared_empty")
        return _told_list(task, result, task.say(PLACES[intent.topic]), empty)
    item = yield from resolve_one(task, intent.target or CURRENT_FOLDER, kind=_wanted_kind(intent.target))
    if item.get("kind") == "file":
        return (yield from _read(task, item))
    result = yield from call("list_folder", folder_id=item["id"], limit=PAGE)
    name = named(item, task.language)
    count = counted(result.number("total") or len(result.items), task.language)
    return _told_list(
        task, result, task.say("listing", folder=name, count=count), task.say("listing_empty", folder=name)
    )


def _wanted_kind(ref: Ref | None) -> str:
    return ref.kind if ref else "folder"


def _told_list(task: Task, result: Result, lead: str, empty: str) -> str:
    if not result.worked:
        return failed(task, result, lead)
    items = result.items
    if not items:
        return empty
    lines = [f"- {quoted(str(item.get('name', '')))}{'/' if item.get('kind') == 'folder' else ''}" for item in items]
    more = result.number("total") - len(items)
    tail = [task.say("listing_more", count=more)] if more > 0 else [task.say("listing_cut")] if result.cursor else []
    return "\n".join([lead, *lines, *tail])


def tree(task: Task, intent: Intent) -> Script:
    """Show a folder with what is below it."""
    item = yield from resolve_one(task, intent.target or CURRENT_FOLDER, kind="folder")
    result = yield from call("get_folder_tree", folder_id=item["id"], depth=3)
    if not result.worked:
        return failed(task, result, named(item, task.language))
    lines = list(_branches(result.entries("children"), 0)) or [item_line(entry) for entry in result.items[1:]]
    if not lines:
        return task.say("listing_empty", folder=named(item, task.language))
    tail = [task.say("listing_cut")] if result.cut or result.data.get("truncated") else []
    return "\n".join([task.say("tree", folder=named(item, task.language)), *lines, *tail])


def _branches(nodes: Sequence[Item], depth: int) -> Iterator[str]:
    for node in nodes:
        item = node.get("item")
        if isinstance(item, dict):
            slash = "/" if item.get("kind") == "folder" else ""
            yield f"{'  ' * depth}- {quoted(str(item.get('name', '')))}{slash}{' …' if node.get('truncated') else ''}"
            children = node.get("children")
            yield from _branches(children if isinstance(children, list) else [], depth + 1)


def info(task: Task, intent: Intent) -> Script:
    """Tell what an item is."""
    found = yield from resolve_one(task, intent.target)
    result = yield from call("get_file_info", item_id=found["id"])
    if not result.worked:
        return failed(task, result, named(found, task.language))
    item = result.data
    return task.say(
        "info_folder" if item.get("kind") == "folder" else "info",
        name=named(item, task.language),
        path=path_of(item),
        kind=task.say(str(item.get("kind") or "file")),
        size=size(result.number("size")),
        version=result.number("version"),
        count=result.number("child_count"),
        owner=inert(result.word("owner")),
        role=task.say(result.word("role"))
        if result.word("role") in {"viewer", "editor", "owner"}
        else result.word("role"),
        created=moment(item.get("created_at")),
        changed=moment(item.get("updated_at")),
    )


def read(task: Task, intent: Intent) -> Script:
    """Show the text of a file; a folder is listed."""
    item = yield from resolve_one(task, intent.target)
    if item.get("kind") == "folder":
        result = yield from call("list_folder", folder_id=item["id"], limit=PAGE)
        name = named(item, task.language)
        count = counted(result.number("total") or len(result.items), task.language)
        return _told_list(
            task, result, task.say("listing", folder=name, count=count), task.say("listing_empty", folder=name)
        )
    return (yield from _read(task, item))


def _read(task: Task, item: Item) -> Script:
    result = yield from call("read_file", file_id=item["id"])
    if not result.worked:
        return failed(task, result, named(item, task.language))
    text = result.word("text")
    if not text.strip():
        return task.say("text_empty", name=named(item, task.language))
    file = result.data.get("file") or item
    shown = text[:LONGEST_TEXT]
    first = result.number("first_line") or 1
    total = result.number("total_lines") or text.count("\n") + 1
    last = min(total, first + shown.rstrip("\n").count("\n"))
    lead = task.say("text", name=named(file, task.language), path=path_of(file), first=first, last=last, total=total)
    fence = "~" * max(3, _longest_run(shown) + 1)
    tail = [task.say("text_more", total=total)] if len(text) > len(shown) or result.cut else []
    return "\n".join([lead, fence, shown.rstrip("\n"), fence, *tail])


def _longest_run(text: str) -> int:
    return max((len(line) - len(line.lstrip("~")) for line in text.splitlines()), default=0)


def whoami(task: Task, _intent: Intent) -> Script:
    """Tell for whom the assistant acts."""
    result = yield from call("whoami")
    if not result.worked:
        return failed(task, result, "whoami")
    scopes = result.data.get("scopes")
    listed = ", ".join(str(scope) for scope in scopes) if isinstance(scopes, list) else "?"
    return task.say("whoami", email=code(result.word("email")), scopes=listed)
