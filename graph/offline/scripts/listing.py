"""Lists of what there is: folders, the trash, shares, versions, changes; counts, and what an item is."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from graph.offline.reading.results import Item, Result
from graph.offline.replay import Script, call, request
from graph.offline.scripts.resolve import PAGE, Items, resolve_folder, resolve_one
from graph.offline.scripts.task import Task
from graph.offline.understanding.references import SUFFIXES, Ref
from graph.offline.understanding.requests import Wish
from graph.offline.wording import code, counted, inert, moment, name_line, path_of, size

FEW, MANY, MOST_LOOKED_AT, LONGEST_DIFF = 5, 10, 12, 3_000
_EXTENSION: Final = re.compile(rf"\b(?P<type>{'|'.join(SUFFIXES)})s?\b", re.IGNORECASE)
_BY_ASSISTANT: Final = re.compile(
    r"\byou\b(?!.*\b(?:today|yesterday|lately|recently|week|month|days?)\b)|[你您](?!.*(?:今天|昨天|最近|周|月|天))"
)
NAMED: Final = frozenset({"name", "it", "path", "there", "open"})


@dataclass(frozen=True, slots=True)
class Listing:
    """One list: the tool, the entries of its result, the argument that takes the item, the sentences, the lines."""

    tool: str
    key: str
    lead: str
    empty: str
    line: Callable[[Task, Item], str]
    argument: str = ""


def folder(task: Task, wish: Wish) -> Script:
    """List a folder."""
    item = yield from resolve_one(task, wish.target if wish.target and wish.target.form in NAMED else Ref("here"))
    if item.get("kind") == "file":
        return task.say("found_one", name=task.name(item), path=path_of(item))
    result = yield from call("list_folder", folder_id=item["id"], limit=PAGE)
    count = counted(result.number("total") or len(result.items), task.language)
    return _told(task, LISTINGS["list"], result, folder=task.name(item), count=count)


def listed(task: Task, wish: Wish) -> Script:
    """List something, of an item or of the whole drive."""
    listing, name, args = LISTINGS[wish.action], "", dict[str, Any](limit=PAGE)
    if listing.argument:
        kind = "file" if listing.argument == "file_id" else ""
        target = wish.target or Ref("open" if kind else "it")
        item = yield from resolve_one(task, target, kind=kind, loose=True)
        name, args = task.name(item), {listing.argument: item["id"]}
    result = yield from call(listing.tool, **args)
    return _told(task, listing, result, name=name)


def _told(task: Task, listing: Listing, result: Result, **values: str) -> str:
    task.checked(result, listing.tool, values.get("name", ""))
    lines = list(dict.fromkeys(listing.line(task, entry) for entry in result.entries(listing.key)))
    more = result.number("total") - len(lines)
    tail = [task.say("listing_more", count=more)] if more > 0 else [task.say("listing_cut")] if result.cursor else []
    return "\n".join([task.say(listing.lead, **values), *lines, *tail]) if lines else task.say(listing.empty, **values)


def tree(task: Task, wish: Wish) -> Script:
    """Show a folder with what is below it."""
    item = yield from resolve_one(task, wish.target or Ref("here"), kind="folder")
    result = yield from call("get_folder_tree", folder_id=item["id"], depth=3)
    task.checked(result, "get_folder_tree", str(item.get("name", "")))
    lines = list(_branches(result.entries("children"), 0)) or [name_line(entry) for entry in result.items[1:]]
    tail = [task.say("listing_cut")] if result.cut or result.data.get("truncated") else []
    return (
        "\n".join([f"{task.name(item)}:", *lines, *tail])
        if lines
        else task.say("listing_empty", folder=task.name(item))
    )


def _branches(nodes: Sequence[Item], depth: int) -> Iterator[str]:
    for node in nodes:
        item, children = node.get("item"), node.get("children")
        if isinstance(item, dict):
            yield f"{'  ' * depth}{name_line(item)}{' …' if node.get('truncated') else ''}"
            yield from _branches(children if isinstance(children, list) else [], depth + 1)


def count(task: Task, wish: Wish) -> Script:
    """Count the files of the drive, of a type, or what is in a folder."""
    kind = _EXTENSION.search(wish.said)
    named = wish.target if wish.target and wish.target.form in NAMED else None
    if named and not (kind and kind[0].lower() in named.text.lower()):
        item = yield from resolve_folder(task, named)
        result = yield from call("list_folder", folder_id=item["id"], limit=PAGE)
        folders = sum(one.get("kind") == "folder" for one in task.checked(result, "list_folder").items)
        return task.say("count_in", folder=task.name(item), files=result.number("total") - folders, folders=folders)
    if kind:
        extension = SUFFIXES[kind["type"].lower()]
        result = yield from call("search_files", query=extension, kind="file", limit=100)
        fitting = [hit for hit in result.hits if str(hit["file"]["name"]).lower().endswith(extension)]
        return task.say("count_of", count=f"{len(fitting)}{'+' if result.cursor else ''}", extension=extension)
    result = task.checked((yield from call("whoami")), "whoami")
    return task.say("count_all", count=sum(_index(result).values()))


def _index(result: Result) -> Mapping[str, int]:
    index = result.data.get("index")
    return index if isinstance(index, dict) else {}


def newest(task: Task, wish: Wish) -> Script:
    """List the files that were made or changed last, of a folder or of the drive."""
    if wish.target and wish.target.form in NAMED:
        item = yield from resolve_folder(task, wish.target)
        items = (yield from call("list_folder", folder_id=item["id"], limit=100)).items
    else:
        items = yield from _changed_last(wish.number or FEW)
    files = [item for item in items if item.get("kind") == "file" and not item.get("trashed_at")]
    files = sorted(files, key=lambda item: str(item.get("updated_at", "")), reverse=True)[: wish.number or FEW]
    lines = [f"{number}. {path_of(item)} ({moment(item.get('updated_at'))})" for number, item in enumerate(files, 1)]
    return "\n".join([task.say("newest"), *lines]) if lines else task.say("changes_none")


def _changed_last(most: int) -> Items:
    result = yield from call("list_changes", limit=50)
    changes = [one for one in result.entries("changes") if one.get("action") not in {"share", "trash", "delete"}]
    ids = list(dict.fromkeys(str(one["item_id"]) for one in changes if one.get("item_id")))[: 2 * most]
    looked = yield [request("get_file_info", item_id=one) for one in ids]
    return [one.data for one in looked if one.worked]


def info(task: Task, wish: Wish) -> Script:
    """Tell what an item is."""
    found = yield from resolve_one(task, wish.target, loose=True)
    result = yield from call("get_file_info", item_id=found["id"])
    item = task.checked(result, "get_file_info", str(found.get("name", ""))).data
    return task.say(
        "info_folder" if item.get("kind") == "folder" else "info",
        name=task.name(item),
        path=path_of(item),
        size=size(result.number("size")),
        version=result.number("version"),
        count=result.number("child_count"),
        owner=inert(result.word("owner")),
        role=task.role(result.word("role")),
        created=moment(item.get("created_at")),
        changed=moment(item.get("updated_at")),
    )


def whoami(task: Task, wish: Wish) -> Script:
    """Tell for whom the assistant acts, how much room is taken, or how far files can be searched."""
    result = task.checked((yield from call("whoami")), "whoami")
    if wish.action == "quota":
        quota = result.number("quota_bytes")
        return task.say("quota", used=size(result.number("used_bytes")) + (f" / {size(quota)}" if quota else ""))
    if wish.action == "get_index_status":
        return task.say("index", indexed=_index(result).get("indexed", 0), total=sum(_index(result).values()))
    scopes = result.data.get("scopes")
    listed = ", ".join(map(str, scopes)) if isinstance(scopes, list) else "?"
    return task.say("whoami", email=code(result.word("email")), scopes=listed)


def diff(task: Task, wish: Wish) -> Script:
    """Show what changed in a file since a version, by default since the one before."""
    item = yield from resolve_one(task, wish.target or Ref("open"), kind="file", loose=True)
    listed = task.checked(
        (yield from call("list_versions", file_id=item["id"])), "list_versions", str(item.get("name", ""))
    )
    last = max((int(entry.get("number") or 0) for entry in listed.entries("versions")), default=0)
    if last < 2:
        return task.say("one_version", name=task.name(item))
    first = wish.number if 0 < wish.number < last else last - 1
    result = task.checked((yield from call("diff_versions", file_id=item["id"], from_version=first)), "diff_versions")
    told = {"name": task.name(item), "first": first, "last": result.number("to_version") or last}
    shown = result.word("diff")[:LONGEST_DIFF].rstrip("\n")
    return "\n".join([task.say("diff", **told), "~~~~diff", shown, "~~~~"]) if shown else task.say("diff_none", **told)


def changes(task: Task, wish: Wish) -> Script:
    """Say what was changed lately: in the drive, to one item, or by the assistant in this conversation's last run."""
    named = wish.target if wish.target and wish.target.form in NAMED else None
    item = (yield from resolve_one(task, named, loose=True)) if named else None
    run_id = (
        None if item or not _BY_ASSISTANT.search(task.conversation.asked.lower()) else task.sections.last_run or None
    )
    result = yield from call(
        "list_changes", item_id=item["id"] if item else None, run_id=run_id, limit=wish.number or MANY
    )
    lines = [change_line(task, change) for change in task.checked(result, "list_changes").entries("changes")]
    return "\n".join([task.say("changes"), *lines]) if lines else task.say("changes_none")


def change_line(task: Task, change: Item) -> str:
    """Return a change as a line of a list."""
    line = f"- {moment(change.get('at'))}: {inert(change_of(change))}"
    return line + (task.say("change_undone") if change.get("undone_by") else "")


def change_of(change: Item) -> str:
    """Return the summary of a change, and why an undo left it."""
    summary = str(change.get("summary") or change.get("action") or change.get("item_id", "")).rstrip("。")
    return summary + (f": {change['reason']}" if change.get("reason") else "")


def _version_line(task: Task, entry: Item) -> str:
    about = (moment(entry.get("created_at")), inert(str(entry.get("author", ""))), size(int(entry.get("size") or 0)))
    current = task.say("version_current") if entry.get("current") else ""
    return f"- {entry.get('number', '?')}: {', '.join(about)}{current}"


def _share_line(task: Task, entry: Item) -> str:
    who = str(entry.get("email") or task.say("anyone_with_the_link"))
    through = f", {code(str(entry['inherited_from']))}" if entry.get("inherited_from") else ""
    url = f": {entry['url']}" if entry.get("url") else ""
    return f"- {who} ({task.role(str(entry.get('role', '')))}{through}){url}"


def shared_out(task: Task, _wish: Wish) -> Script:
    """List what is shared with others now, of what the recent changes shared."""
    recent = yield from call("list_changes", kind="share", limit=50)
    ids = list(dict.fromkeys(str(one["item_id"]) for one in recent.entries("changes") if one.get("item_id")))
    ids = ids[:MOST_LOOKED_AT]
    wanted = [request(tool, item_id=one) for tool in ("get_file_info", "list_shares") for one in ids]
    results = (yield wanted) if wanted else []
    lines = [
        f"- {path_of(item.data)}: {', '.join(_share_line(task, one).removeprefix('- ') for one in shares)}"
        for item, result in zip(results[: len(ids)], results[len(ids) :], strict=True)
        if (shares := result.entries("shares")) and item.worked and not item.data.get("trashed_at")
    ]
    return task.say("shared_out", list="\n".join(lines)) if lines else task.say("shared_out_none")


LISTINGS: Final[Mapping[str, Listing]] = {
    "list": Listing("list_folder", "items", "listing", "listing_empty", lambda _, item: name_line(item)),
    "list_trash": Listing("list_trash", "items", "listing_trash", "trash_empty", lambda _, item: name_line(item)),
    "list_shared_with_me": Listing(
        "list_shared_with_me", "items", "listing_shared", "shared_empty", lambda _, item: name_line(item)
    ),
    "list_versions": Listing("list_versions", "versions", "versions", "versions", _version_line, "file_id"),
    "who_has_access": Listing("list_shares", "shares", "shares", "not_shared", _share_line, "item_id"),
    "related": Listing(
        "find_related_files",
        "hits",
        "related",
        "related_none",
        lambda _, hit: f"- {path_of(hit.get('file', {}))}",
        "file_id",
    ),
}
"""The lists, by action."""
