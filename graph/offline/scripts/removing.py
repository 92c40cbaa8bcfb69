"""To the trash and back."""

from collections.abc import Generator, Sequence

from graph.offline.reading.conversation import Item
from graph.offline.reading.mentions import focus, items_in, known_items
from graph.offline.reading.results import Result
from graph.offline.replay import Request, Script, UnresolvedError, call, request
from graph.offline.scripts.contents import PAGE, contents_of, left_over
from graph.offline.scripts.matching import best_matches, closeness
from graph.offline.scripts.outcome import failures
from graph.offline.scripts.resolve import ambiguous, resolve, resolve_folder
from graph.offline.speech.wording import bounded, name_line, named, path_of, quoted
from graph.offline.task import Task
from graph.offline.understanding.intents import Intent
from graph.offline.understanding.references import Ref

TRASH = "trash"


def trash(task: Task, intent: Intent) -> Script:
    """Move what is meant to the trash, all of it in one round, so that there is one question."""
    items = _asked_already(task)
    more = left_over(task) if items else 0
    if not items and intent.target and intent.target.form == "all":
        items, more = yield from contents_of(task, intent.target)
        if not items:
            return (yield from _nothing_in(task, intent.target))
    elif not items:
        items = yield from resolve(task, intent.target)
    wanted = [request("trash_item", item_id=item["id"]) for item in items]
    results = yield wanted
    told = _told(task, items, results)
    told += failures(task, wanted, [str(item.get("name", "")) for item in items], results)
    if more and intent.target:
        told.append(task.say("more_left", count=more, folder=quoted(str(intent.target.inside))))
    return "\n".join(told)


def _asked_already(task: Task) -> list[Item]:
    """Return what this step wanted to delete: a long listing may be gone from the messages by now."""
    known = known_items(task.conversation)
    made = [one for one in task.conversation.running if one.name == "trash_item"]
    if len(made) < 2:
        return []
    return [_item_of(str(one.args.get("item_id", "")), one.result, known) for one in made]


def _item_of(item_id: str, result: Result | None, known: dict[str, Item]) -> Item:
    told = items_in(result)[:1] if result else []
    return {**(known.get(item_id) or (told[0] if told else {"name": ""})), "id": item_id}


def _nothing_in(task: Task, ref: Ref) -> Script:
    folder = yield from resolve_folder(task, ref.inside)
    name = named(folder, task.language)
    key = "folder_empty_of" if ref.extension else "folder_empty"
    return task.say(key, folder=name, extension=ref.extension)


def _told(task: Task, items: Sequence[Item], results: Sequence[Result]) -> list[str]:
    gone = [item for item, result in zip(items, results, strict=True) if result.worked]
    if not gone:
        return []
    if len(gone) == 1:
        return [task.with_hint(task.say("trashed", name=named(gone[0], task.language)), "can_restore")]
    lines = bounded([name_line(item) for item in gone], task.language)
    return [task.say("trashed_many", count=len(gone), list=lines), task.with_hint("", "can_restore_many")]


def restore(task: Task, intent: Intent) -> Script:
    """Bring items back from the trash."""
    items = yield from _in_trash(task, intent.target)
    wanted = [request("restore_item", item_id=item["id"]) for item in items]
    results = yield wanted
    back = [result.data or item for item, result in zip(items, results, strict=True) if result.worked]
    told = [task.say("restored", name=named(item, task.language), path=path_of(item)) for item in back]
    told += failures(task, wanted, [str(item.get("name", "")) for item in items], results)
    return "\n".join(told)


def _in_trash(task: Task, ref: Ref | None) -> Generator[Sequence[Request], Sequence[Result], list[Item]]:
    remembered = [item for item in focus(task.conversation) if item.get("trashed_at")]
    if (ref is None or ref.is_pronoun) and len(remembered) == 1:
        return remembered
    listed = yield from call("list_folder", folder_id=TRASH, limit=PAGE)
    trashed: list[Item] = [{**item, "trashed_at": None} for item in listed.items]
    if not trashed:
        raise task.unresolved("trash_empty")
    if ref is None or ref.is_pronoun:
        return _only(task, trashed)
    if ref.form == "all":
        return [item for item in trashed if str(item.get("name", "")).lower().endswith(ref.extension)]
    return [_match(task, one, listed.items, trashed) for one in (ref, *ref.others)]


def _only(task: Task, trashed: list[Item]) -> list[Item]:
    if len(trashed) > 1:
        raise ambiguous(task, "", trashed)
    return trashed


def _match(task: Task, ref: Ref, listed: Sequence[Item], trashed: Sequence[Item]) -> Item:
    """Return the item of that name that went to the trash last."""
    name = ref.text.rsplit("/", 1)[-1]
    found = best_matches(trashed, name, kind=ref.kind)
    if not found:
        raise UnresolvedError(task.say("not_in_trash", name=quoted(name)))
    best = closeness(str(found[0].get("name", "")), name)
    same = [item for item in listed if closeness(str(item.get("name", "")), name) == best]
    return max(same, key=lambda item: str(item.get("trashed_at") or ""))
