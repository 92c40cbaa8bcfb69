"""Tables of WebDAV clients: their locks and their properties."""

from datetime import datetime
from typing import Any

from sqlalchemy import ForeignKey, Index, String
from sqlalchemy.orm import Mapped, mapped_column

from drive_server.storage.tables.base import Base


class DavLockRow(Base):
    """A WebDAV lock (RFC 4918, section 6) on an item, until `expires_at`; `is_deep`: on all that is below it too.

    `tree_owner_id` is the owner of the item, in whose tree conflicts are searched; `owner` is the client's XML.
    """

    __tablename__ = "dav_locks"
    __table_args__ = (Index("ix_dav_locks_tree", "tree_owner_id", "expires_at"),)

    token: Mapped[str] = mapped_column(String(64), primary_key=True)
    node_id: Mapped[str] = mapped_column(ForeignKey("nodes.id", ondelete="CASCADE"), index=True)
    tree_owner_id: Mapped[str] = mapped_column(String(32))
    user_id: Mapped[str] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"), index=True)
    is_shared: Mapped[bool]
    is_deep: Mapped[bool]
    owner: Mapped[str]
    seconds: Mapped[int]
    expires_at: Mapped[datetime]


class DavPropertyRow(Base):
    """A dead property (RFC 4918, section 4.3) of an item: its name in Clark notation, and its element as XML."""

    __tablename__ = "dav_properties"

    node_id: Mapped[str] = mapped_column(ForeignKey("nodes.id", ondelete="CASCADE"), primary_key=True)
    name: Mapped[str] = mapped_column(String(512), primary_key=True)
    value: Mapped[str]


class DavDepartureRow(Base):
    """The file that a WebDAV client took away from a name, in the change `change_id`; the latest one of each name.

    `locks` are those that it had there, as rows of the table of locks with texts for times.
    """

    __tablename__ = "dav_departures"
    __table_args__ = (Index("ix_dav_departures_left_at", "left_at"),)

    folder_id: Mapped[str] = mapped_column(ForeignKey("nodes.id", ondelete="CASCADE"), primary_key=True)
    name: Mapped[str] = mapped_column(String(255), primary_key=True)
    node_id: Mapped[str] = mapped_column(ForeignKey("nodes.id", ondelete="CASCADE"), index=True)
    user_id: Mapped[str] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"))
    left_at: Mapped[datetime]
    change_id: Mapped[int] = mapped_column(default=0)
    locks: Mapped[list[Any]] = mapped_column(default=list)
