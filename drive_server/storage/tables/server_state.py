"""The query of PostgreSQL's state, as far as processes watch it: one statement a second instead of one for each.

Its digests are of all rows, not of the newest: clocks of processes differ, and rows are deleted.
"""

from typing import Any, Final

from sqlalchemy import BigInteger, ScalarSelect, Select, cast, column, extract, func, or_, select, table

from drive_server.kernel.sql.turns import NOTES
from drive_server.storage.tables.journal import ChangeRow
from drive_server.storage.tables.people import ApiKeyRow, UserRow

_TWO_KEYS: Final = 2
_LOCKS: Final = table("pg_locks", *map(column, ("locktype", "database", "classid", "objid", "objsubid")))
_DATABASES: Final = table("pg_database", column("oid"), column("datname"))


def lowest_note() -> ScalarSelect[int]:
    """Return the query for the lowest note of a writer that is under way: see `journal_numbers.py`."""
    here = select(_DATABASES.c.oid).where(_DATABASES.c.datname == func.current_database()).scalar_subquery()
    notes = select(func.min(cast(_LOCKS.c.objid, BigInteger))).where(
        _LOCKS.c.locktype == "advisory",
        _LOCKS.c.database == here,
        _LOCKS.c.classid == NOTES,
        _LOCKS.c.objsubid == _TWO_KEYS,
    )
    return notes.scalar_subquery()


def _revoked_keys() -> ScalarSelect[Any]:
    digest = func.sum(func.hashtextextended(ApiKeyRow.id, 0))
    return select(digest).where(ApiKeyRow.revoked_at.is_not(None)).scalar_subquery()


def _ended_people() -> ScalarSelect[Any]:
    """Return a digest of those who are disabled or removed, and since when: it may happen to a person again."""
    ends = UserRow.disabled_at, UserRow.removed_at
    since = [cast(extract("epoch", time) * 1_000_000, BigInteger) for time in ends]
    digest = func.sum(func.hashtextextended(func.concat(UserRow.id, " ", since[0], " ", since[1]), 0))
    return select(digest).where(or_(*(time.is_not(None) for time in ends))).scalar_subquery()


_NEWEST: Final = func.coalesce(func.max(ChangeRow.id), 0)
SERVER_STATE: Final[Select[Any, Any]] = select(_NEWEST, func.least(_NEWEST, lowest_note())).add_columns(
    _revoked_keys(), _ended_people()
)
"""The journal's numbers, newest and settled; the keys that were revoked; the people who are disabled or removed."""
