"""Scripts that change items as they are, and the long-term memory."""

from collections.abc import Sequence
from datetime import datetime
from typing import Final

from drive_server.moments import to_iso
from graph.memory.facts import words_of
from graph.offline.conversation import Item
from graph.offline.replay import Request, request
from graph.offline.scripts.listing import change_of, last_version
from graph.offline.scripts.resolve import PAGE, ambiguous, best_matches, covered, fits, resolve, resolve_one
from graph.offline.scripts.task import Task
from graph.offline.understanding.grammar import named_in, table, word
from graph.offline.understanding.intent import NUMBERS, PREVIOUS, Intent, Ref
from graph.offline.wording import bounded, inert, quoted

IT: Final = Ref("it")
MOST_HOURS: Final = 8_760
_HOURS: Final = {"hour": 1, "day": 24, "week": 168, "month": 720, "year": 8_760}


def trash(task: Task, intent: Intent) -> str:
    """Move what is meant to the trash, all of it in one round, so that there is one question."""
    items = resolve(task, intent.target or IT)
    wanted = [request("trash_item", item_id=item["id"]) for item in items]
    return task.carry_out(items, wanted, "trashed", "can_restore")


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
    wanted = [request("restore_item", item_id=item["id"]) for item in items]
    return task.carry_out(items, wanted, "restored")


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


def share(task: Task, intent: Intent) -> str:
    """Give each person that role on each item."""
    emails = intent.emails
    if not emails:
        return task.say("missing_address_of" if intent.person else "missing_address", person=inert(intent.person))
    items = resolve(task, intent.target or IT)
    pairs = [(item, email) for item in items for email in emails]
    role = intent.role or "viewer"
    wanted = [request("share_item", item_id=item["id"], email=email, role=role) for item, email in pairs]
    return task.carry_out([item for item, _ in pairs], wanted, "shared")


ACCESS: Final = {"set_role": "role_set", "end_link": "link_ended", "revoke": "revoked", "leave": "left_share"}
"""The changes of access, each with its sentence."""


def change_access(task: Task, intent: Intent) -> str:
    """Take access back from the people named, from oneself, else from everybody; or change a role; or end links."""
    item = resolve_one(task, intent.target or IT)
    if intent.action == "set_role" and not intent.role:
        return task.say("missing_role")
    key, people = ("link_id", ()) if intent.action == "end_link" else ("email", intent.emails)
    if intent.action == "leave":
        people = (task.call("whoami").word("email"),)
    if not people:
        result = task.call("list_shares", str(item.get("name", "")), item_id=item["id"])
        own = [one for one in result.entries("shares") if not one.get("inherited_from")]
        named = [str(one["email"]) for one in own if one.get("email")]
        links = [str(one["id"]) for one in own if not one.get("email")]
        people = links if key == "link_id" else [one for one in named if intent.person.lower() in one.lower()]
        one_only = intent.action == "set_role" or word("person").search(intent.said)
        if key == "email" and named and (not people or (len(people) > 1 and one_only)):
            return task.say("ambiguous_it", list="\n".join(f"- {one}" for one in people or named))
    if not people:
        return task.say("no_link" if key == "link_id" else "not_shared", name=task.name(item))
    tool, role = ("update_share", intent.role) if intent.action == "set_role" else ("revoke_share", None)
    wanted = [Request(tool, {"item_id": item["id"], key: one, **({"role": role} if role else {})}) for one in people]
    return task.carry_out([item] * len(wanted), wanted, ACCESS[intent.action])


def make_link(task: Task, intent: Intent) -> str:
    """Make a link by which anyone can open an item, for a time if one is named; a password is beyond it."""
    hours = hours_in(task, intent.said) if word("link_terms").search(intent.said) else None
    if word("link_secret").search(intent.said) or (hours is None and word("link_terms").search(intent.said)):
        return task.say("link_terms")
    item = resolve_one(task, intent.target or IT)
    one = request("create_share_link", item_id=item["id"], role=intent.role or "viewer", expires_in_hours=hours)
    return task.carry_out([item], [one], "link_made")


def hours_in(task: Task, said: str) -> int | None:
    """Return the hours until the end that a request for a link names; None if it names none that is understood."""
    found = word("duration").search(said)
    if found:
        count, named = found["n"] or found["zh"], (found["unit"] or found["zh_unit"]).lower()
        number = int(count) if count.isdigit() else NUMBERS.get(count.lower(), 1)
        unit = next(name for name, pattern in table("period") if pattern.fullmatch(named))
        return min(MOST_HOURS, max(1, number) * _HOURS[unit])
    try:
        now = datetime.strptime(str(task.sections.moment.get("now", "")).partition(" ")[2], "%Y-%m-%d %H:%M")  # noqa: DTZ007
        end = datetime.fromisoformat(str(to_iso(named_in("end_day", said), now, "end")))
    except ValueError:
        return None
    return max(1, int((end - now).total_seconds() // 3600)) if end > now else None


def rename(task: Task, intent: Intent) -> str:
    """Give an item another name; a file keeps its suffix if the new name has none."""
    item = resolve_one(task, intent.target or IT)
    if not intent.names:
        return task.say("missing_name")
    old, name = quoted(str(item.get("name", ""))), with_suffix(item, intent.names[0])
    wanted = [request("rename_item", item_id=item["id"], name=name)]
    return task.carry_out([item], wanted, "renamed", old=old)


def with_suffix(item: Item, name: str) -> str:
    """Return a new name with the item's suffix, if it has none of its own."""
    old = str(item.get("name", ""))
    suffix = old.rpartition(".")[2] if "." in old.strip(".") else ""
    return f"{name}.{suffix}" if item.get("kind") != "folder" and suffix and "." not in name else name


def restore_version(task: Task, intent: Intent) -> str:
    """Make an earlier content the newest."""
    item = resolve_one(task, intent.target or Ref("open"), kind="file")
    number = intent.number
    if number == PREVIOUS:
        number = last_version(task, item) - 1
        if number < 1:
            return task.say("one_version", name=task.name(item))
    if number <= 0:
        return task.say("which_version")
    one = request("restore_version", file_id=item["id"], version=number)
    return task.carry_out([item], [one], "version_restored", version=number)


def undo(task: Task, intent: Intent) -> str:
    """Take back what the last run changed, or do it again; words that only sound like it change nothing."""
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
    """Keep a fact in the person's own words, say what is remembered, or forget the fact that is meant."""
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
