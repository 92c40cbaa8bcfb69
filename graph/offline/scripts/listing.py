"""Lists of what there is: folders, the trash, shares, versions, changes; counts, and what an item is."""

import re
from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

from graph.moment import WEEKDAYS
from graph.offline.replay import Script, Steps, call, request
from graph.offline.results import Item, Result
from graph.offline.scripts.resolve import PAGE, ambiguous, queries_of, resolve_folder, resolve_one
from graph.offline.scripts.task import Task
from graph.offline.understanding.grammar import word
from graph.offline.understanding.intent import SUFFIXES, Intent, Ref
from graph.offline.wording import code, inert, moment, path_of, quoted, size

MANY, LONGEST_DIFF = 10, 3_000
_EXTENSION: Final = re.compile(rf"(?<![a-z0-9])(?P<type>{'|'.join(SUFFIXES)})s?(?![a-z0-9])", re.IGNORECASE)
NAMED: Final = frozenset({"name", "it", "path", "there", "open"})


class Listing(NamedTuple):
    """One list: the tool, the entries of its result, the argument that takes the item, the sentences, the lines."""

    tool: str
    key: str
    lead: str
    empty: str
    line: Callable[[Task, Item], str]
    argument: str = ""


def folder(task: Task, intent: Intent) -> Script:
    """List a folder."""
    named = intent.target if intent.target and intent.target.form in {*NAMED, "here"} else None
    item = yield from (resolve_one(task, named) if named else _spoken_of(task, intent))
    return (yield from shown(task, item))


def _spoken_of(task: Task, intent: Intent) -> Steps[Item]:
    """Return the folder whose name stands in a message that only asks for a list; else the one where the person is."""
    words = queries_of(word("list_words").sub(" ", intent.said.casefold()))
    results = (yield [request("search_files", query=one, kind="folder", limit=PAGE) for one in words]) if words else []
    found = {str(hit["file"]["id"]): hit["file"] for result in results for hit in result.hits}
    named = [item for item in found.values() if str(item["name"]).casefold() in intent.said.casefold()]
    if len(named or found) > 1:
        raise ambiguous(task, "", list(named or found.values()))
    if words and not found:
        raise task.unresolved("not_found", name=quoted(" ".join(words)))
    return next(iter(named or found.values()), task.here)


def shown(task: Task, item: Item) -> Script:
    """List a folder that was found; say where a file is."""
    if item.get("kind") == "file":
        return task.say("found_one", name=task.name(item), path=path_of(item))
    result = yield from call("list_folder", folder_id=item["id"], limit=PAGE)
    count = result.number("total") or len(result.items)
    return _shown(task, LISTINGS["list"], result, folder=task.name(item), count=count)


def listed(task: Task, intent: Intent) -> Script:
    """List something, of an item or of the whole drive."""
    listing, name, args = LISTINGS[intent.action], "", dict[str, Any](limit=PAGE)
    if listing.argument:
        kind = "file" if listing.argument == "file_id" else ""
        target = intent.target or Ref("open" if kind else "it")
        item = yield from resolve_one(task, target, kind=kind, loose=True)
        name, args = task.name(item), {listing.argument: item["id"]}
    result = yield from call(listing.tool, **args)
    return _shown(task, listing, result, name=name)


def _shown(task: Task, listing: Listing, result: Result, **values: Any) -> str:
    task.checked(result, listing.tool, str(values.get("name", "")))
    lines = list(dict.fromkeys(listing.line(task, entry) for entry in result.entries(listing.key)))
    more = result.number("total") - len(lines)
    tail = [task.say("listing_more", count=more)] if more > 0 else [task.say("listing_cut")] if result.cursor else []
    return "\n".join([task.say(listing.lead, **values), *lines, *tail]) if lines else task.say(listing.empty, **values)


def count(task: Task, intent: Intent) -> Script:
    """Count the files of the drive, of a type, or what is in a folder."""
    kind = _EXTENSION.search(intent.said)
    named = intent.target if intent.target and intent.target.form in NAMED else None
    if named is None and word("goes_on").search(intent.said) and (last := task.conversation.last_folder()):
        named = Ref("path", text=str(last.get("path")))
    named = named or (Ref("here") if task.below else None)
    if named and not (kind and kind[0].lower() in named.text.lower()):
        item = yield from resolve_folder(task, named)
        result = yield from task.call("list_folder", folder_id=item["id"], limit=PAGE)
        folders = sum(one.get("kind") == "folder" for one in result.items)
        return task.say("count_in", folder=task.name(item), files=result.number("total") - folders, folders=folders)
    if kind:
        extension = SUFFIXES[kind["type"].lower()]
        result = yield from call("search_files", query=extension, kind="file", limit=100)
        fitting = [hit for hit in result.hits if str(hit["file"]["name"]).lower().endswith(extension)]
        return task.say("count_of", count=f"{len(fitting)}{'+' if result.cursor else ''}", extension=extension)
    result = yield from task.call("whoami")
    index = result.data.get("index")
    return task.say("count_all", count=sum(index.values()) if isinstance(index, dict) else "?")


def info(task: Task, intent: Intent) -> Script:
    """Tell what an item is."""
    found = yield from resolve_one(task, intent.target, loose=True)
    result = yield from task.call("get_file_info", str(found.get("name", "")), item_id=found["id"])
    item = result.data
    numbers = {"version": result.number("version"), "count": result.number("child_count")}
    about = {"owner": inert(result.word("owner")), "role": task.role(result.word("role"))}
    zone = task.sections.time_zone
    times = {"created": moment(item.get("created_at"), zone), "changed": moment(item.get("modified_at"), zone)}
    sentence, total = "info_folder" if item.get("kind") == "folder" else "info", size(result.number("size"))
    return task.say(sentence, name=task.name(item), path=path_of(item), size=total, **numbers, **about, **times)


def now(task: Task, _intent: Intent) -> Script:
    """Tell the day and the time where the person is."""
    yield from ()
    day, _, at = str(task.sections.moment.get("now") or "").partition(" ")
    if day not in WEEKDAYS:
        return task.say("cannot")
    named = task.say("weekdays").split()[WEEKDAYS.index(day)]
    return task.say("now", day=named, now=at, zone=task.sections.time_zone.partition(" (")[0])


def whoami(task: Task, intent: Intent) -> Script:
    """Tell for whom the assistant acts, and how much room is taken."""
    person = task.sections.moment.get("person")
    if intent.action == "who" and isinstance(person, dict) and person:
        return task.say("who", name=", ".join(inert(str(one)) for one in person.values()))
    result = yield from task.call("whoami")
    quota, scopes = result.number("quota_bytes"), result.data.get("scopes")
    used = size(result.number("used_bytes")) + (f" / {size(quota)}" if quota else "")
    listed = ", ".join(map(str, scopes)) if isinstance(scopes, list) else "?"
    return task.say("whoami", email=code(result.word("email")), scopes=listed, used=used)


def diff(task: Task, intent: Intent) -> Script:
    """Show what changed in a file since a version, by default since the one before."""
    item = yield from resolve_one(task, intent.target or Ref("open"), kind="file", loose=True)
    last = yield from last_version(task, item)
    if last < 2:
        return task.say("one_version", name=task.name(item))
    first = intent.number if 0 < intent.number < last else last - 1
    result = yield from task.call("diff_versions", file_id=item["id"], from_version=first)
    versions = {"name": task.name(item), "first": first, "last": result.number("to_version") or last}
    shown = result.word("diff")[:LONGEST_DIFF].rstrip("\n")
    if not shown:
        return task.say("diff_none", **versions)
    return "\n".join([task.say("diff", **versions), "~~~~diff", shown, "~~~~"])


def last_version(task: Task, item: Item) -> Steps[int]:
    """Return the number of a file's newest version."""
    result = yield from task.call("list_versions", file_id=item["id"])
    return max((int(entry.get("number") or 0) for entry in result.entries("versions")), default=0)


def changes(task: Task, intent: Intent) -> Script:
    """Say what was changed or shared lately: in the drive, to one item, or by this conversation's last run."""
    named = intent.target if intent.target and intent.target.form in NAMED else None
    item_id = (yield from resolve_one(task, named, loose=True))["id"] if named else None
    own = not named and word("by_assistant").search(task.conversation.asked)
    kind, most = "share" if intent.action == "shared_out" else None, intent.number or MANY
    run_id = (own and task.sections.last_run) or None
    result = yield from task.call("list_changes", item_id=item_id, run_id=run_id, kind=kind, limit=most)
    lines = change_lines(task, result)
    return "\n".join([task.say("changes"), *lines]) if lines else task.say("changes_none")


def change_lines(task: Task, result: Result) -> list[str]:
    """Return a line for each change of a result: when it was made, what it was, and whether it was undone."""
    return [
        f"- {moment(one.get('at'), task.sections.time_zone)}: {inert(change_of(one))}"
        + (task.say("change_undone") if one.get("undone_by") else "")
        for one in result.entries("changes")
    ]


def change_of(change: Item) -> str:
    """Return the summary of a change, and why an undo left it."""
    summary = str(change.get("summary") or change.get("action") or change.get("item_id", "")).rstrip("。")
    return summary + (f": {change['reason']}" if change.get("reason") else "")


def _item_line(_task: Task, item: Item) -> str:
    return f"- {quoted(str(item.get('name') or item.get('path') or ''))}{'/' if item.get('kind') == 'folder' else ''}"


def _version_line(task: Task, entry: Item) -> str:
    at = moment(entry.get("created_at"), task.sections.time_zone)
    about = (at, inert(str(entry.get("author", ""))), size(int(entry.get("size") or 0)))
    current = task.say("version_current") if entry.get("current") else ""
    return f"- {entry.get('number', '?')}: {', '.join(about)}{current}"


def _share_line(task: Task, entry: Item) -> str:
    who = str(entry.get("email") or task.say("anyone_with_the_link"))
    through = f", {code(str(entry['inherited_from']))}" if entry.get("inherited_from") else ""
    url = f": {entry['url']}" if entry.get("url") else ""
    return f"- {who} ({task.role(str(entry.get('role', '')))}{through}){url}"


LISTINGS: Final[Mapping[str, Listing]] = {
    "list": Listing("list_folder", "items", "listing", "listing_empty", _item_line),
    "list_trash": Listing("list_trash", "items", "listing_trash", "trash_empty", _item_line),
    "list_shared_with_me": Listing("list_shared_with_me", "items", "listing_shared", "shared_empty", _item_line),
    "list_versions": Listing("list_versions", "versions", "versions", "versions", _version_line, "file_id"),
    "who_has_access": Listing("list_shares", "shares", "shares", "not_shared", _share_line, "item_id"),
}
"""The lists, by action."""
