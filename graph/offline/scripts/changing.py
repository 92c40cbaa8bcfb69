"""Scripts that change items as they are: each kind of change is a row, carried out by one path; and the memory."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, Final, NamedTuple

from drive_server.kernel.moments import to_iso
from graph.memory.facts import words_of
from graph.offline.conversation import Item
from graph.offline.replay import request
from graph.offline.scripts.listing import change_of, last_version
from graph.offline.scripts.resolve import (
    PAGE,
    ambiguous,
    best_matches,
    covered,
    fits,
    resolve,
    resolve_folder,
    resolve_one,
)
from graph.offline.scripts.task import Task
from graph.offline.understanding.grammar import named_in, table, word
from graph.offline.understanding.intent import NUMBERS, PREVIOUS, Intent, Ref
from graph.offline.wording import bounded, inert, quoted

IT: Final = Ref("it")
MAX_HOURS: Final = 8_760
_HOURS: Final = {"hour": 1, "day": 24, "week": 168, "month": 720, "year": 8_760}
Arguments = Iterable[Mapping[str, Any]]


class Change(NamedTuple):
    """A kind of change: the tool, the sentence for each item, and the arguments of the calls for one item.

    `key` takes the item, which is a file if it takes one; `needs` is the slot without which `asks` is asked.
    """

    tool: str
    said: str
    arguments: Callable[[Task, Intent, Item], Arguments] = lambda _task, _intent, _item: [{}]
    needs: str = ""
    asks: str = ""
    key: str = "item_id"
    several: bool = False
    hint: str = "can_undo"


def change(task: Task, intent: Intent) -> str:
    """Change all items that the message means in one round, so that the person is asked once."""
    row = CHANGES[intent.action]
    if row.needs and not getattr(intent, row.needs):
        return task.say(row.asks, person=inert(intent.person or task.say("them")))
    kind = "file" if row.key == "file_id" else ""
    ref = intent.target or (Ref("open") if kind else IT)
    items = resolve(task, ref, kind=kind) if row.several else [resolve_one(task, ref, kind=kind)]
    wanted = [(item, {row.key: item["id"], **args}) for item in items for args in row.arguments(task, intent, item)]
    return task.carry_out([(item, request(row.tool, **args)) for item, args in wanted], row.said, row.hint)


def _for_people(_task: Task, intent: Intent, _item: Item) -> Arguments:
    return [{"email": email, "role": intent.role or "viewer"} for email in intent.emails]


def _for_link(task: Task, intent: Intent, _item: Item) -> Arguments:
    """A link may end at a time; a password is beyond it."""
    limited = word("link_terms").search(intent.said)
    hours = hours_in(task, intent.said) if limited else None
    if word("link_secret").search(intent.said) or (limited and hours is None):
        raise task.unresolved("link_terms")
    return [{"role": intent.role or "viewer", "expires_in_hours": hours}]


def _for_access(task: Task, intent: Intent, item: Item) -> Arguments:
    """Access is taken from oneself, from the people named, else from everybody; or a role changes; or links end."""
    if intent.action == "end_link":
        links = [{"link_id": one["id"]} for one in _own_shares(task, item) if not one.get("email")]
        if not links:
            raise task.unresolved("no_link", name=task.name(item))
        return links
    oneself = (task.call("whoami").word("email"),) if intent.action == "leave" else ()
    role = intent.role if intent.action == "set_role" else None
    return [{"email": one, "role": role} for one in oneself or intent.emails or _people(task, intent, item)]


def _people(task: Task, intent: Intent, item: Item) -> list[str]:
    """Return the people who lose their access, or get a role, where no address says who."""
    everybody = [str(one["email"]) for one in _own_shares(task, item) if one.get("email")]
    meant = [one for one in everybody if intent.person.lower() in one.lower()]
    one_only = intent.action == "set_role" or word("person").search(intent.said)
    if not everybody:
        raise task.unresolved("not_shared", name=task.name(item))
    if not meant or (len(meant) > 1 and one_only):
        raise task.unresolved("ambiguous_it", list="\n".join(f"- {one}" for one in meant or everybody))
    return meant


def _own_shares(task: Task, item: Item) -> list[Item]:
    result = task.call("list_shares", str(item.get("name", "")), item_id=item["id"])
    return [one for one in result.entries("shares") if not one.get("inherited_from")]


def _for_name(_task: Task, intent: Intent, item: Item) -> Arguments:
    return [{"name": with_suffix(item, intent.names[0])}]


def _for_copy(task: Task, intent: Intent, item: Item) -> Arguments:
    """A copy goes into the folder that is named, by default into the item's own."""
    own = item.get("parent_id") or task.here["id"]
    folder_id = resolve_folder(task, intent.destination)["id"] if intent.destination else own
    name = with_suffix(item, intent.names[0]) if intent.names else None
    taken = "rename" if folder_id == item.get("parent_id") and name is None else None
    return [{"folder_id": folder_id, "name": name, "on_conflict": taken}]


def _for_version(task: Task, intent: Intent, item: Item) -> Arguments:
    number = last_version(task, item) - 1 if intent.number == PREVIOUS else intent.number
    if number < 1:
        raise task.unresolved("one_version" if intent.number == PREVIOUS else "which_version", name=task.name(item))
    return [{"version": number}]


def _for_text(_task: Task, intent: Intent, _item: Item) -> Arguments:
    return [{"content": intent.content}]


CHANGES: Final[Mapping[str, Change]] = {
    "delete": Change("trash_item", "trashed", several=True, hint="can_restore"),
    "share": Change("share_item", "shared", _for_people, "emails", "missing_address", several=True),
    "link": Change("create_share_link", "link_made", _for_link),
    "end_link": Change("revoke_share", "link_ended", _for_access),
    "revoke": Change("revoke_share", "revoked", _for_access),
    "leave": Change("revoke_share", "left_share", _for_access),
    "set_role": Change("update_share", "role_set", _for_access, "role", "missing_role"),
    "rename": Change("rename_item", "renamed", _for_name, "names", "missing_name"),
    "copy": Change("copy_item", "copied", _for_copy, several=True),
    "restore_version": Change("restore_version", "version_restored", _for_version, key="file_id"),
    "add": Change("append_to_file", "inserted", _for_text, "content", "missing_content", key="file_id"),
}
"""The changes of items that are there, by action."""


def hours_in(task: Task, said: str) -> int | None:
    """Return the hours until the end that a request for a link names; None if it names none that is understood."""
    found = word("duration").search(said)
    if found:
        count, named = found["n"] or found["zh"], (found["unit"] or found["zh_unit"]).lower()
        number = int(count) if count.isdigit() else NUMBERS.get(count.lower(), 1)
        unit = next(name for name, pattern in table("period") if pattern.fullmatch(named))
        return min(MAX_HOURS, max(1, number) * _HOURS[unit])
    try:
        now = datetime.strptime(str(task.sections.moment.get("now", "")).partition(" ")[2], "%Y-%m-%d %H:%M")  # noqa: DTZ007
        end = datetime.fromisoformat(str(to_iso(named_in("end_day", said), now, "end")))
    except ValueError:
        return None
    return max(1, int((end - now).total_seconds() // 3600)) if end > now else None


def with_suffix(item: Item, name: str) -> str:
    """Return a new name with the item's suffix, if it has none of its own."""
    old = str(item.get("name", ""))
    suffix = old.rpartition(".")[2] if "." in old.strip(".") else ""
    return f"{name}.{suffix}" if item.get("kind") != "folder" and suffix and "." not in name else name


def restore(task: Task, intent: Intent) -> str:
    """Bring items back from the trash; "bring it back" after another change takes that back."""
    ref = intent.target or IT
    pronoun = ref.is_pronoun or ref.form == "open"
    items = [item for item in task.conversation.focus() if item.get("trashed_at")] if pronoun else []
    if pronoun and not items and task.sections.last_run and word("again").search(intent.said):
        return undo(task, intent)
    if len(items) != 1:
        trashed = [item for item in task.attempt("list_trash", limit=PAGE).items if item.get("trashed_at")]
        if not trashed:
            hint = "can_undo" if task.sections.last_run else "undo_nothing_here"
            return f"{task.say('trash_empty')} {task.say(hint) if pronoun else ''}".strip()
        items = trashed if pronoun else _in_trash(task, trashed, ref)
    if pronoun and len(items) > 1:
        raise ambiguous(task, "", items)
    return task.carry_out([(item, request("restore_item", item_id=item["id"])) for item in items], "restored")


def _in_trash(task: Task, trashed: Sequence[Item], ref: Ref) -> list[Item]:
    if ref.form == "all":
        return [item for item in trashed if fits(item, ref)]
    name = ref.text.rpartition("/")[2]
    found = best_matches(trashed, name, kind=ref.kind)
    found = found or [item for item in trashed if covered(name, str(item.get("path", ""))) == 1]
    if not found:
        raise task.unresolved("not_in_trash", name=quoted(name))
    return [max(found, key=lambda one: str(one.get("trashed_at") or ""))]


def empty_trash(task: Task, _intent: Intent) -> str:
    """Delete all that is in the trash for good."""
    result = task.call("empty_trash")
    count = result.number("count")
    return task.say("trash_emptied", count=count) if count else task.say("trash_was_empty")


def undo(task: Task, intent: Intent) -> str:
    """Undo or redo the changes of the last run; words that only sound like it change nothing."""
    if intent.action != "redo" and not task.sections.last_run:
        return task.say("undo_nothing_here")
    if intent.action == "undo_meant":
        return task.say("can_undo")
    key, tool = ("redone", "redo_changes") if intent.action == "redo" else ("undone", "undo_changes")
    result = task.call(tool, run_id=task.sections.last_run if key == "undone" else None)
    done, left = ([f"- {inert(change_of(one))}" for one in result.entries(name)] for name in (key, "skipped"))
    parts = [task.say(key, list=bounded(done, task.language)) if done else task.say("undone_nothing")]
    parts += [task.say("undo_skipped", list="\n".join(left))] if left else []
    return task.with_hint("\n".join(parts), ("can_redo" if key == "undone" else "can_undo") if done else "")


def memory(task: Task, intent: Intent) -> str:
    """Keep a fact in the person's own words, list the memories, or forget the fact that is meant."""
    fact = intent.content
    if intent.action == "remember":
        task.call("remember", fact, fact=fact)
        return task.say("remembered", fact=quoted(fact))
    facts = {str(one["fact"]): one["id"] for one in task.call("list_memories").entries("memories")}
    shared = {one: len(words_of(one) & words_of(fact)) for one in facts}
    same = [one for one in facts if one.casefold() == fact.casefold()][:1]
    meant = (
        list(facts)
        if intent.action == "list_memories"
        else same or [one for one, count in shared.items() if count and count == max(shared.values())]
    )
    lines = "\n".join(f"- {inert(one)}" for one in meant)
    if intent.action == "list_memories":
        return task.say("memories" if meant else "no_memories", list=lines)
    if len(meant) != 1:
        return task.say("ambiguous_it" if meant else "no_such_memory", list=lines, fact=quoted(fact))
    task.call("forget", meant[0], memory_id=facts[meant[0]])
    return task.say("forgotten", fact=quoted(meant[0]))
