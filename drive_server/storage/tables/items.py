"""Tables of items: their names, versions and uploads, and a person's reads and stars."""

from collections.abc import Callable
from datetime import datetime
from typing import Final

from sqlalchemy import BigInteger, ForeignKey, Index, Integer, String, UniqueConstraint, text
from sqlalchemy.engine.default import DefaultExecutionContext
from sqlalchemy.orm import Mapped, mapped_column

from drive_server.storage.tables.base import Base, new_id

LIVE_NAME_INDEX: Final = "uq_nodes_live_name"
LIVE_NAME_COLUMNS: Final = "nodes.parent_id, nodes.name"
"""SQLite names the columns of a broken index, PostgreSQL the index."""


def _same_as(column: str) -> Callable[[DefaultExecutionContext], datetime]:
    """Return a default: the value that the same row has in another column."""
    return lambda context: context.get_current_parameters()[column]


class NodeRow(Base):
    """A file or folder. `revision` counts every change of the row and is its etag.

    `trash_id` is the id of the item that was moved to the trash when this one went with it (itself for that item);
    a person's root has no parent. `owner_id` is the user in whose tree the item stands. `updated_at` is when the drive
    last changed the item, `modified_at` the date of a file's content, as its sender gave it.
    """

    __tablename__ = "nodes"
    __table_args__ = (
        Index(
            LIVE_NAME_INDEX,
            "parent_id",
            "name",
            unique=True,
            sqlite_where=text("trash_id IS NULL"),
            postgresql_where=text("trash_id IS NULL"),
        ),
        Index("ix_nodes_owner", "owner_id"),
        # With the trash: without it each deletion of a row would scan all others for children.
        Index("ix_nodes_parent", "parent_id"),
        Index("ix_nodes_recent", "owner_id", "updated_at"),
        # Partial: with live items in it, SQLite would use it for "not in the trash" and scan everybody's.
        Index(
            "ix_nodes_trash",
            "trash_id",
            sqlite_where=text("trash_id IS NOT NULL"),
            postgresql_where=text("trash_id IS NOT NULL"),
        ),
    )

    id: Mapped[str] = mapped_column(String(32), primary_key=True, default=new_id)
    parent_id: Mapped[str | None] = mapped_column(ForeignKey("nodes.id"))
    owner_id: Mapped[str] = mapped_column(ForeignKey("users.id"))
    kind: Mapped[str] = mapped_column(String(6))
    name: Mapped[str] = mapped_column(String(255))
    named_by: Mapped[str | None] = mapped_column(String(32))
    revision: Mapped[int] = mapped_column(Integer, default=1)
    version: Mapped[int] = mapped_column(Integer, default=0)
    size: Mapped[int] = mapped_column(BigInteger, default=0)
    media_type: Mapped[str] = mapped_column(String(255), default="")
    created_at: Mapped[datetime]
    updated_at: Mapped[datetime]
    modified_at: Mapped[datetime] = mapped_column(default=_same_as("updated_at"))
    trash_id: Mapped[str | None] = mapped_column(String(32))
    trashed_at: Mapped[datetime | None]


class NamePositionRow(Base):
    """The places of a name's characters, from 1: the triggers of the index of names count with them."""

    __tablename__ = "name_positions"

    position: Mapped[int] = mapped_column(primary_key=True)


class NameKeyRow(Base):
    """The number of an item in the index of names, `name_grams` (migration 0010). Written by triggers only."""

    __tablename__ = "name_keys"
    __table_args__ = (UniqueConstraint("node_id"),)

    key: Mapped[int] = mapped_column(primary_key=True, autoincrement=True)
    node_id: Mapped[str] = mapped_column(String(32))


class VersionRow(Base):
    """One content of a file; `blob` is the SHA-256 of the bytes in hex. Numbers count from 1 and are never reused.

    `created_at` is when it came into the drive, `modified_at` its own date. `checksums` of the bytes are for
    WebDAV clients, as in `SHA1:... MD5:...`; None for large and old contents, until somebody asks.
    """

    __tablename__ = "versions"
    __table_args__ = (UniqueConstraint("node_id", "number"),)

    id: Mapped[int] = mapped_column(primary_key=True, autoincrement=True)
    node_id: Mapped[str] = mapped_column(ForeignKey("nodes.id"))
    number: Mapped[int]
    blob: Mapped[str] = mapped_column(String(64), index=True)
    size: Mapped[int] = mapped_column(BigInteger)
    media_type: Mapped[str] = mapped_column(String(255))
    created_at: Mapped[datetime]
    modified_at: Mapped[datetime] = mapped_column(default=_same_as("created_at"))
    checksums: Mapped[str | None] = mapped_column(String(100))
    author_id: Mapped[str] = mapped_column(ForeignKey("users.id"))
    run_id: Mapped[str | None] = mapped_column(String(64))


class HoldingRow(Base):
    """The number of versions in a person's tree that have a content: its bytes count once."""

    __tablename__ = "holdings"

    owner_id: Mapped[str] = mapped_column(ForeignKey("users.id"), primary_key=True)
    blob: Mapped[str] = mapped_column(String(64), primary_key=True)
    size: Mapped[int] = mapped_column(BigInteger)
    versions: Mapped[int]


class UploadRow(Base):
    """A resumable upload and the file that it becomes. A partial file, named by `id`, or parts have its bytes."""

    __tablename__ = "uploads"
    __table_args__ = (Index("ix_uploads_expires", "expires_at"),)

    id: Mapped[str] = mapped_column(String(32), primary_key=True, default=new_id)
    user_id: Mapped[str] = mapped_column(ForeignKey("users.id"), index=True)
    parent: Mapped[str] = mapped_column(String(32))
    name: Mapped[str] = mapped_column(String(255))
    media_type: Mapped[str | None] = mapped_column(String(255))
    on_conflict: Mapped[str] = mapped_column(String(8))
    length: Mapped[int | None] = mapped_column(BigInteger)
    metadata_header: Mapped[str] = mapped_column(default="")
    modified_at: Mapped[datetime | None]
    item_id: Mapped[str | None] = mapped_column(String(32))
    created_at: Mapped[datetime]
    expires_at: Mapped[datetime]


class UploadPartRow(Base):
    """Bytes of an upload that lie in an object of their own at `place`: `size` of them from `start` on."""

    __tablename__ = "upload_parts"

    upload_id: Mapped[str] = mapped_column(ForeignKey("uploads.id", ondelete="CASCADE"), primary_key=True)
    start: Mapped[int] = mapped_column(BigInteger, primary_key=True, autoincrement=False)
    size: Mapped[int] = mapped_column(BigInteger)
    place: Mapped[str] = mapped_column(String(255))


class ReadRow(Base):
    """When a person last read a file. `node_id` may be of one that is gone."""

    __tablename__ = "reads"
    __table_args__ = (Index("ix_reads_recent", "user_id", "at"),)

    user_id: Mapped[str] = mapped_column(ForeignKey("users.id"), primary_key=True)
    node_id: Mapped[str] = mapped_column(String(32), primary_key=True)
    at: Mapped[datetime]


class StarRow(Base):
    """A person's star on an item: a mark of theirs alone, which no journal records. It goes with the item."""

    __tablename__ = "stars"
    __table_args__ = (Index("ix_stars_recent", "user_id", "at"), Index("ix_stars_node", "node_id"))

    user_id: Mapped[str] = mapped_column(ForeignKey("users.id"), primary_key=True)
    node_id: Mapped[str] = mapped_column(String(32), primary_key=True)
    at: Mapped[datetime]
