"""Numbers about the whole drive, for its operator: people, contents, and files by their state in the index."""

from dataclasses import dataclass

from sqlalchemy import Connection, func, select

from drive_server.storage.tables.index import IndexEntryRow
from drive_server.storage.tables.items import VersionRow
from drive_server.storage.tables.people import UserRow


@dataclass(frozen=True, slots=True)
class Measures:
    """`bytes` is the size of all contents, each counted once; `index` counts files by state."""

    people: int
    contents: int
    bytes: int
    index: dict[str, int]


def read_measures(connection: Connection) -> Measures:
    """Return the numbers of this moment."""
    contents = select(VersionRow.blob, func.max(VersionRow.size).label("size")).group_by(VersionRow.blob).subquery()
    people = connection.scalar(select(func.count()).select_from(UserRow).where(UserRow.removed_at.is_(None)))
    count, size = connection.execute(select(func.count(), func.sum(contents.c.size))).one()
    states = connection.execute(select(IndexEntryRow.state, func.count().label("number")).group_by(IndexEntryRow.state))
    return Measures(people or 0, count, int(size or 0), {row.state: int(row.number) for row in states})
