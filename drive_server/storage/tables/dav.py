"""Tables of WebDAV clients: their locks and their properties."""

from datetime import datetime

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
