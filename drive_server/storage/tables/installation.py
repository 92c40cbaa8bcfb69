"""Tables of the installation: its identity, the marks of its other parts, and contents without a file."""

from datetime import datetime

from sqlalchemy import String
from sqlalchemy.orm import Mapped, mapped_column

from drive_server.storage.tables.base import Base, new_id


class InstallationRow(Base):
    """The identity of the installation, one row, which its other parts have too.

    The collector keeps contents that were put before `keeps_before` unless a file of this database gave them up.
    """

    __tablename__ = "installation"

    id: Mapped[str] = mapped_column(String(32), primary_key=True, default=new_id)
    keeps_before: Mapped[datetime | None]


class MarkRow(Base):
    """The number that a part has: from `written` to `intended`, as a process may be killed between the two."""

    __tablename__ = "installation_marks"

    part: Mapped[str] = mapped_column(String(32), primary_key=True)
    written: Mapped[int]
    intended: Mapped[int]


class ReleasedRow(Base):
    """A content that a person's files gave up, by its SHA-256: it may be removed once no version refers to it."""

    __tablename__ = "released_contents"

    blob: Mapped[str] = mapped_column(String(64), primary_key=True)
