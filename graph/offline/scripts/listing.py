"""Lists of the drive's contents: folders, the trash, shares, versions, changes, files by facts; and an item's facts."""

import re
from collections.abc import Mapping
from datetime import date, timedelta
from typing import Any, Final, NamedTuple

from graph.moment import WEEKDAYS
from graph.offline.conversation import Item, Result
from graph.offline.scripts.resolve import (
    MAX_OF_DRIVE,
    PAGE,
    changed_at,
    every_file,
    queries_of,
    resolve_folder,
    resolve_one,
    size_of,
    types_in,
)
from graph.offline.scripts.task import Task
from graph.offline.understanding.grammar import named_in, word
from graph.offline.understanding.intent import Intent, Ref
from graph.offline.wording import bounded, code, inert, moment, path_of, quoted, size

MANY, MOST, MAX_DIFF = 10, 100, 3_000
_NAMED: Final = frozenset({"name", "it", "path", "there", "open"})


class Listing(NamedTuple):
    """One list: the tool, the entries of its result, the sentences, the argument that takes the item."""

    tool: str
    key: str
    lead: str
    empty: str
    argument: str = ""


def named_of(intent: Intent) -> Ref | None:
    """Return the item that a request names, None if only the place tells."""
    return intent.target if intent.target and intent.target.form in _NAMED else None


def folder(task: Task, intent: Intent) -> str:
    """List a folder: the one that is meant, or whose name is left of a message that only asks for a list."""
    named = intent.target if intent.target and intent.target.form == "here" else named_of(intent)
    if named:
        return shown(task, resolve_one(task, named))
    words = queries_of(word("list_words").sub(" ", intent.said.casefold()))
    item = resolve_folder(task, Ref("name", text=" ".join(words))) if words else task.here
    return shown(task, item)


def shown(task: Task, item: Item) -> str:
    """List a folder that was found; say where a file is."""
    if item.get("kind") == "file":
        return task.say("found_one", name=task.name(item), path=path_of(item))
    return _list(task, LISTINGS["list"], item)


def listed(task: Task, intent: Intent) -> str:
    """List something, of an item or of the whole drive."""
    listing, item = LISTINGS[intent.action], None
    if listing.argument:
        kind = "file" if listing.argument == "file_id" else ""
        target = intent.target or Ref("open" if kind else "it")
        item = resolve_one(task, target, kind=kind, loose=True)
    return _list(task, listing, item)


def _list(task: Task, listing: Listing, item: Item | None) -> str:
    name, args = (task.name(item), {listing.argument: item["id"]}) if item else ("", {})
    result = task.call(listing.tool, name, limit=PAGE if listing.key == "items" else None, **args)
    values = {"name": name, "count": result.number("total") or len(result.items)}
    lines = list(dict.fromkeys(_line(task, entry) for entry in result.entries(listing.key)))
    more = result.number("total") - len(lines)
    tail = [task.say("listing_more", count=more)] if more > 0 else [task.say("listing_cut")] if result.cursor else []
    return "\n".join([task.say(listing.lead, **values), *lines, *tail]) if lines else task.say(listing.empty, **values)


def count(task: Task, intent: Intent) -> str:
    """Count the items of a folder, or the files of the drive or of a type."""
    types, named = types_in(intent.said), named_of(intent)
    named = named or (Ref("here") if task.below else None)
    if named and not (types and types_in(named.text)):
        item = resolve_folder(task, named)
        result = task.call("list_folder", folder_id=item["id"], limit=PAGE)
        folders = sum(one.get("kind") == "folder" for one in result.items)
        return task.say("count_in", folder=task.name(item), files=result.number("total") - folders, folders=folders)
    if not types:
        index = task.call("whoami").data.get("index")
        return task.say("count_of", count=sum(index.values()) if isinstance(index, dict) else "?")
    found = every_file(task, types=types)
    return task.say("count_of", count=f"{len(found)}{'+' if len(found) >= MAX_OF_DRIVE else ''}")


def extreme(task: Task, intent: Intent) -> str:
    """List the newest, oldest, largest or smallest files, of the drive or of a folder, with their dates or sizes."""
    parent = resolve_folder(task, named_of(intent) or Ref("here"))
    found = every_file(task, parent, types=types_in(intent.said))
    if not found:
        return task.say("folder_empty", folder=task.name(parent))
    by_size = intent.action in {"largest", "smallest"}
    found.sort(key=size_of if by_size else changed_at, reverse=intent.action in {"largest", "newest"})
    several = word("plural").search(intent.said) is not None
    return _files(task, found[: intent.number or (MANY if several else 1)], by_size=by_size)


def _files(task: Task, files: list[Item], *, by_size: bool = False) -> str:
    facts = [size(size_of(one)) if by_size else moment(changed_at(one), task.sections.time_zone) for one in files]
    return bounded([f"- {path_of(one)} ({fact})" for one, fact in zip(files, facts, strict=True)], task.language)


def dated(task: Task, intent: Intent) -> str:
    """List the files of a time by the dates of their contents; list items added then by the record of changes."""
    said = intent.said.lower()
    after, before = span_of(named_in("time_span", said))
    if word("added").search(said):
        return _changes(task, kind="create", since=after or None, until=before or None, limit=MOST)
    kind = "folder" if word("folders").search(said) else "file"
    span = {"modified_after": after or None, "modified_before": before or None}
    result = task.call("search_files", kind=kind, limit=MOST, types=types_in(said), **span)
    if not result.files:
        return task.say("dated_none")
    return "\n".join([task.say("dated", count=len(result.files)), _files(task, result.files)])


def span_of(phrase: str) -> tuple[str, str]:
    """Return both ends of a time in words, as the drive's tools take them; empty for an open end."""
    text = phrase.removesuffix("份").replace("以后", "之后")
    text = re.sub(r"(?<=[年月])以前$", "之前", text) if re.match(r"\d{4}", text) else text
    if re.fullmatch(r"\d{4}-\d\d-\d\d", text):
        return text, str(date.fromisoformat(text) + timedelta(days=1))
    return ("" if word("before").search(text) else text), ("" if word("after").search(text) else text)


def info(task: Task, intent: Intent) -> str:
    """Tell the facts of an item."""
    found = resolve_one(task, intent.target, loose=True)
    result = task.call("get_file_info", str(found.get("name", "")), item_id=found["id"])
    item, zone = result.data, task.sections.time_zone
    sentence = "info_folder" if item.get("kind") == "folder" else "info"
    return task.say(
        sentence, name=task.name(item), path=path_of(item), size=size(result.number("size")),
        version=result.number("version"), count=result.number("child_count"), owner=inert(result.word("owner")),
        role=task.role(result.word("role")), created=moment(item.get("created_at"), zone),
        changed=moment(item.get("modified_at"), zone))  # fmt: skip


def now(task: Task, _intent: Intent) -> str:
    """Tell the day and the time where the person is."""
    day, _, at = str(task.sections.moment.get("now") or "").partition(" ")
    if day not in WEEKDAYS:
        return task.say("cannot")
    named = task.say("weekdays").split()[WEEKDAYS.index(day)]
    return task.say("now", day=named, now=at, zone=task.sections.time_zone.partition(" (")[0])


def whoami(task: Task, _intent: Intent) -> str:
    """Tell for whom the assistant acts, and how much room is taken."""
    person = task.sections.moment.get("person")
    name = str(person.get("name") or "") if isinstance(person, Mapping) else ""
    result = task.call("whoami")
    quota, scopes = result.number("quota_bytes"), result.data.get("scopes")
    used = size(result.number("used_bytes")) + (f" / {size(quota)}" if quota else "")
    listed = ", ".join(map(str, scopes)) if isinstance(scopes, list) else "?"
    email = " ".join(filter(None, (inert(name), code(result.word("email")))))
    return task.say("whoami", email=email, scopes=listed, used=used)


def diff(task: Task, intent: Intent) -> str:
    """Show the changes of a file since a version, by default since the one before."""
    item = resolve_one(task, intent.target or Ref("open"), kind="file", loose=True)
    last = last_version(task, item)
    if last < 2:
        return task.say("one_version", name=task.name(item))
    first = intent.number if 0 < intent.number < last else last - 1
    result = task.call("diff_versions", file_id=item["id"], from_version=first)
    versions = [f"{path_of(item)} ({number})" for number in (first, result.number("to_version") or last)]
    return differing(task, result, *versions)


def differing(task: Task, result: Result, first: str, last: str) -> str:
    """Return the differences of two texts, line by line."""
    lines = result.word("diff")[:MAX_DIFF].rstrip("\n")
    said = task.say("differ" if lines else "same", first=first, last=last)
    return "\n".join([said, "~~~~diff", lines, "~~~~"]) if lines else said


def last_version(task: Task, item: Item) -> int:
    """Return the number of a file's newest version."""
    result = task.call("list_versions", file_id=item["id"])
    return max((int(entry.get("number") or 0) for entry in result.entries("versions")), default=0)


def changes(task: Task, intent: Intent) -> str:
    """List recent changes or shares: in the drive, to one item, or by this conversation's last run."""
    named = named_of(intent)
    item_id = resolve_one(task, named, loose=True)["id"] if named else None
    own = not named and word("by_assistant").search(task.conversation.asked)
    kind, most = "share" if intent.action == "shared_out" else None, intent.number or MANY
    run_id = (own and task.sections.last_run) or None
    return _changes(task, item_id=item_id, run_id=run_id, kind=kind, limit=most)


def _changes(task: Task, **filters: Any) -> str:
    result = task.call("list_changes", **filters)
    lines = [
        f"- {moment(one.get('at'), task.sections.time_zone)}: {inert(change_of(one))}"
        + (task.say("change_undone") if one.get("undone_by") else "")
        for one in result.entries("changes")
    ]
    return "\n".join([task.say("changes"), bounded(lines, task.language)]) if lines else task.say("changes_none")


def change_of(change: Item) -> str:
    """Return the summary of a change, and why an undo left it."""
    summary = str(change.get("summary") or change.get("action") or change.get("item_id", "")).rstrip("。")
    return summary + (f": {change['reason']}" if change.get("reason") else "")


def _line(task: Task, entry: Item) -> str:
    """Return the line of an item, of a version, or of a share."""
    if "number" in entry:
        at = moment(entry.get("created_at"), task.sections.time_zone)
        current = task.say("version_current") if entry.get("current") else ""
        about = (at, inert(str(entry.get("author", ""))), size(int(entry.get("size") or 0)))
        return f"- {entry['number']}: {', '.join(about)}{current}"
    if "role" in entry and "path" not in entry:
        who = str(entry.get("email") or task.say("anyone_with_the_link"))
        through = f", {code(str(entry['inherited_from']))}" if entry.get("inherited_from") else ""
        return f"- {who} ({task.role(str(entry['role']))}{through})" + (f": {entry['url']}" if entry.get("url") else "")
    return f"- {quoted(str(entry.get('name') or entry.get('path')))}{'/' if entry.get('kind') == 'folder' else ''}"


LISTINGS: Final[Mapping[str, Listing]] = {
    "list": Listing("list_folder", "items", "listing", "listing_empty", "folder_id"),
    "list_trash": Listing("list_trash", "items", "listing_trash", "trash_empty"),
    "list_shared_with_me": Listing("list_shared_with_me", "items", "listing_shared", "shared_empty"),
    "list_versions": Listing("list_versions", "versions", "versions", "versions", "file_id"),
    "who_has_access": Listing("list_shares", "shares", "shares", "not_shared", "item_id"),
}
"""The lists, by action."""
