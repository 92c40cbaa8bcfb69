"""Find the items in an answer that somebody else named: their words reached the reader, not the reader's own."""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, cast

from sqlalchemy import Connection, and_, bindparam, case, or_, select
from sqlalchemy.orm import aliased

from drive_server.kernel.access import Principal
from drive_server.knowledge.media_types import media_type_of
from drive_server.services.journal.recorder import TREES
from drive_server.storage.tables.items import NodeRow, VersionRow
from drive_server.storage.tables.journal import ChangeRow
from drive_server.storage.tables.people import UserRow

IDS_AT_ONCE: Final = 5_000
MAX_FOUND: Final = 20
_ID: Final = re.compile(r"[0-9a-f]{32}")
_CHANGES: Final = frozenset({"changes", "undone", "redone", "skipped"})


@dataclass(frozen=True, slots=True)
class ForeignName:
    """An item that somebody else named, or a change that somebody else made; `by` is an email, empty if unknown."""

    id: str
    name: str
    by: str


@dataclass(frozen=True, slots=True)
class Mentioned:
    """The items and the changes in an answer, by their ids; false if there are none."""

    item_ids: Sequence[str]
    change_ids: Collection[int]

    def __bool__(self) -> bool:
        return bool(self.item_ids or self.change_ids)


def mentioned_in(answer: Any) -> Mentioned:
    """Return the items and the changes in an answer, which is JSON."""
    return Mentioned([*_ids(answer)], _change_ids(answer))


def _named_by_others() -> Any:
    chain = select(NodeRow.id, NodeRow.parent_id).where(NodeRow.id.in_(bindparam("ids", expanding=True)))
    places = chain.cte("places", recursive=True)
    above = aliased(NodeRow)
    places = places.union(select(above.id, above.parent_id).join(places, above.id == places.c.parent_id))
    is_foreign = or_(NodeRow.named_by.is_(None), NodeRow.named_by != bindparam("me"))
    # Whoever writes a content also declares its type, which may be any two words with a slash between them.
    is_typed = and_(VersionRow.author_id != bindparam("me"), NodeRow.kind == "file")
    by = case((is_foreign, NodeRow.named_by), else_=VersionRow.author_id)
    columns = (NodeRow.id, NodeRow.name, NodeRow.media_type, is_foreign.label("is_foreign"), UserRow.email)
    return (
        select(*columns)
        .join(places, places.c.id == NodeRow.id)
        .outerjoin(VersionRow, and_(VersionRow.node_id == NodeRow.id, VersionRow.number == NodeRow.version))
        .outerjoin(UserRow, UserRow.id == by)
        .where(or_(is_foreign, is_typed), NodeRow.parent_id.is_not(None))
    )


_NAMED_BY_OTHERS: Final = _named_by_others()
_OF_OTHERS: Final = select(NodeRow.id).where(
    NodeRow.id.in_(bindparam("ids", expanding=True)), NodeRow.owner_id != bindparam("me")
)
_CHANGES_BY_ID: Final = (
    select(ChangeRow.id, ChangeRow.user_id, ChangeRow.entries, UserRow.email)
    .join(UserRow, UserRow.id == ChangeRow.user_id)
    .where(ChangeRow.id.in_(bindparam("ids", expanding=True)))
)


def foreign_names(connection: Connection, principal: Principal, mentioned: Mentioned) -> list[ForeignName]:
    """Return whose names and sentences in an answer are not the caller's own.

    The names are those of every item that is mentioned, and of the folders above; the sentences are summaries of
    changes, which repeat names that may be gone by now.
    """
    numbers = mentioned.change_ids
    changes: Sequence[Any] = connection.execute(_CHANGES_BY_ID, {"ids": numbers}).all() if numbers else []
    found = [name for change in changes if (name := _author_of(change, principal))]
    entries = (entry for change in changes if change.user_id == principal.user_id for entry in change.entries)
    own = [entry for entry in entries if entry["table"] != TREES]  # of a tree, the summary repeats the top's name only
    for ids in _batches([*mentioned.item_ids, *_ids(own)]):
        named = connection.execute(_NAMED_BY_OTHERS, {"ids": ids, "me": principal.user_id})
        foreign = (row for row in named if row.is_foreign or row.media_type != media_type_of(row.name))
        found += [ForeignName(row.id, row.name, row.email or "") for row in foreign]
    return found[:MAX_FOUND]


def items_of_others(connection: Connection, principal: Principal, mentioned: Mentioned) -> list[str]:
    """Return the ids of the items that belong to somebody else."""
    batches, me = _batches(mentioned.item_ids), {"me": principal.user_id}
    return [found for ids in batches for found in connection.scalars(_OF_OTHERS, {"ids": ids, **me})]


def _author_of(change: Any, principal: Principal) -> ForeignName | None:
    """Return the other person whose words the change's summary repeats: who made it, or gave the name of before."""
    if change.user_id != principal.user_id:
        return ForeignName("", "", change.email)
    sides = [entry[side] for entry in change.entries for side in ("before", "after")]
    is_foreign = any(side and side.get("named_by", principal.user_id) != principal.user_id for side in sides)
    return ForeignName("", "", "") if is_foreign else None


def _batches(mentioned: Iterable[str]) -> Iterator[list[str]]:
    ids = [*dict.fromkeys(mentioned)]
    for start in range(0, len(ids), IDS_AT_ONCE):
        yield ids[start : start + IDS_AT_ONCE]


def _ids(value: Any) -> Iterator[str]:
    for text in _strings(value):
        yield from _ID.findall(text)


def _strings(value: Any) -> Iterator[str]:
    """Yield every text in a JSON value, and every key."""
    pending: list[Any] = [value]
    while pending:
        one = pending.pop()
        if isinstance(one, str):
            yield one
        elif isinstance(one, Mapping):
            pending += [*cast("Mapping[Any, Any]", one).keys(), *cast("Mapping[Any, Any]", one).values()]
        elif isinstance(one, Iterable):
            pending += [*cast("Iterable[Any]", one)]


def _change_ids(answer: Any) -> list[int]:
    """Return the numbers of the changes that an answer lists, or the details of an error."""
    parts = [answer, answer.get("details")] if isinstance(answer, Mapping) else []
    lists = [part[key] for part in parts if isinstance(part, Mapping) for key in _CHANGES if key in part]
    entries = [entry for found in lists if isinstance(found, list) for entry in cast("list[Any]", found)]
    numbers = [entry.get("id", entry.get("change_id")) for entry in entries if isinstance(entry, Mapping)]
    return [number for number in numbers if isinstance(number, int)]
