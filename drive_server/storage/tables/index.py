"""Tables of the index: the state of each file in it, and the outcome of reading each content."""

from datetime import datetime
from typing import Any

from sqlalchemy import JSON, Index, String, false
from sqlalchemy.orm import Mapped, mapped_column

from drive_server.storage.tables.base import Base


class IndexEntryRow(Base):
    """The state of a file in the index: written as `pending` in the transaction of every change of content.

    It outlives a file that is deleted for good, until the index has dropped the file's passages. `content` is the key
    of the content whose passages the index has of it, in the table `index_table`; both are empty if it has none.
    `omissions` counts the reader's omissions by kind; `is_partial` says that content of a `ready` file is missing,
    more than repetitions; `awaits_ocr` that pages of it are pictures and were not read yet. `properties`: of a photo.
    """

    __tablename__ = "index_entries"
    __table_args__ = (Index("ix_index_entries_state", "state"), Index("ix_index_entries_content", "content"))

    file_id: Mapped[str] = mapped_column(String(32), primary_key=True)
    owner_id: Mapped[str] = mapped_column(String(32))
    version: Mapped[int]
    state: Mapped[str] = mapped_column(String(16), default="pending")
    reason: Mapped[str] = mapped_column(default="")
    omissions: Mapped[dict[str, int]] = mapped_column(JSON, default=dict, server_default="{}")
    is_partial: Mapped[bool] = mapped_column(default=False, server_default=false())
    awaits_ocr: Mapped[bool] = mapped_column(default=False, server_default=false())
    properties: Mapped[dict[str, str]] = mapped_column(JSON, default=dict, server_default="{}")
    attempts: Mapped[int] = mapped_column(default=0)
    updated_at: Mapped[datetime]
    content: Mapped[str] = mapped_column(String(160), default="", server_default="")
    index_table: Mapped[str] = mapped_column(String(128), default="", server_default="")


class ReadingRow(Base):
    """The outcome of reading a content, so that a copy of it is not read again: state, reason, number of passages."""

    __tablename__ = "readings"

    content: Mapped[str] = mapped_column(String(160), primary_key=True)
    state: Mapped[str] = mapped_column(String(16))
    reason: Mapped[str] = mapped_column(default="")
    omissions: Mapped[dict[str, int]] = mapped_column(JSON, default=dict, server_default="{}")
    passages: Mapped[int]
    properties: Mapped[dict[str, str]] = mapped_column(JSON, default=dict, server_default="{}")


class RecognizedPageRow(Base):
    """A page that is a picture, as OCR read it: its parts (kind, text, level), null if it could not be read.

    Page 0 says that all such pages of the content are there.
    """

    __tablename__ = "recognized_pages"

    blob: Mapped[str] = mapped_column(String(64), primary_key=True)
    page: Mapped[int] = mapped_column(primary_key=True)
    parts: Mapped[list[Any] | None] = mapped_column(JSON(none_as_null=True))


class IndexHealthRow(Base):
    """The health of an index that several services share, in one row; `rebuilds` are Unix seconds."""

    __tablename__ = "index_health"

    id: Mapped[int] = mapped_column(primary_key=True)
    state: Mapped[str] = mapped_column(String(16), default="ok")
    rebuilds: Mapped[list[float]] = mapped_column(JSON)
    request: Mapped[str] = mapped_column(String(16), default="")
