"""Who may see and change what."""

from collections.abc import Sequence

from graph.offline.reading.conversation import Item
from graph.offline.reading.results import Result
from graph.offline.replay import Request, Script, call, request
from graph.offline.scripts.outcome import failures
from graph.offline.scripts.resolve import Items, resolve, resolve_one
from graph.offline.scripts.summaries import find_summary
from graph.offline.speech.wording import code, inert, named
from graph.offline.task import Task
from graph.offline.understanding.intents import Intent


def share(task: Task, intent: Intent) -> Script:
    """Give each person that role on each item."""
    emails = intent.emails or _address_of(task, intent.person)
    if not emails:
        key = "missing_address_of" if intent.person else "missing_address"
        return task.say(key, person=inert(intent.person))
    items = yield from _items(task, intent)
    wanted = [
        request("share_item", item_id=item["id"], email=email, role=intent.role) for item in items for email in emails
    ]
    results = yield wanted
    return _told(task, wanted, [item for item in items for _ in emails], results, "shared")


def _items(task: Task, intent: Intent) -> Items:
    if intent.target and intent.target.form == "the summary":
        found = yield from find_summary(task)
        if found is None:
            raise task.unresolved("no_summary")
        return [found]
    return (yield from resolve(task, intent.target))


def _address_of(task: Task, person: str) -> tuple[str, ...]:
    """Return the address of a person by name, if they wrote exactly one in this conversation that it fits."""
    name = person.lower().strip()
    fitting = [email for email in task.conversation.addresses() if name and name in email.split("@")[0].lower()]
    return tuple(fitting) if len(fitting) == 1 else ()


def _told(task: Task, wanted: Sequence[Request], items: Sequence[Item], results: Sequence[Result], key: str) -> str:
    told: list[str] = []
    for one, item, result in zip(wanted, items, results, strict=True):
        if result.worked:
            email = result.word("email") or str(one.args["email"])
            role = result.word("role") or str(one.args.get("role", "viewer"))
            label = task.say(role) if role in {"viewer", "editor", "owner"} else role
            told.append(task.say(key, name=named(item, task.language), email=email, role=label))
    if told:
        told[-1] = task.with_hint(told[-1], "can_undo")
    return "\n".join([*told, *failures(task, wanted, [str(item.get("name", "")) for item in items], results)])


def list_shares(task: Task, intent: Intent) -> Script:
    """Say who has access to an item."""
    item = yield from resolve_one(task, intent.target)
    shares = yield from _shares(task, item)
    if not shares:
        return task.say("not_shared", name=named(item, task.language))
    lines = [_line(task, entry) for entry in shares]
    return task.say("shares", name=named(item, task.language), list="\n".join(lines))


def _shares(task: Task, item: Item) -> Items:
    one = request("list_shares", item_id=item["id"])
    result = yield from call(one.name, **one.args)
    if not result.worked:
        raise type(task.unresolved("nothing_done"))(
            task.say("failed", what=named(item, task.language), message=result.message)
        )
    return result.entries("shares")


def _line(task: Task, entry: Item) -> str:
    role = str(entry.get("role", ""))
    label = task.say(role) if role in {"viewer", "editor", "owner"} else role
    above = entry.get("inherited_from")
    key = "share_line_inherited" if above else "share_line"
    who = entry.get("email") or task.say("anyone_with_the_link")
    return task.say(key, email=who, role=label, folder=code(str(above)))


def revoke(task: Task, intent: Intent) -> Script:
    """Take access back: from the people named, else from everybody."""
    item = yield from resolve_one(task, intent.target)
    emails = intent.emails
    if not emails:
        shares = yield from _shares(task, item)
        emails = tuple(
            str(entry["email"]) for entry in shares if entry.get("email") and not entry.get("inherited_from")
        )
    if not emails:
        return task.say("not_shared", name=named(item, task.language))
    wanted = [request("revoke_share", item_id=item["id"], email=email) for email in emails]
    results = yield wanted
    return _told(task, wanted, [item] * len(wanted), results, "revoked")
