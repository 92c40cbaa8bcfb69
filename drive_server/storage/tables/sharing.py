"""Tables of other people's access, and of the notices about it."""

from datetime import datetime
from typing import Any

from sqlalchemy import BigInteger, ForeignKey, Index, String, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from drive_server.storage.tables.base import Base, new_id


class ShareRow(Base):
    """A role on an item for a person, named by email: it also holds for one who gets an account later.

    For a group `email` is `group:` and its id.
    """

    __tablename__ = "shares"
    __table_args__ = (UniqueConstraint("node_id", "email"), Index("ix_shares_email", "email"))

    id: Mapped[str] = mapped_column(String(32), primary_key=True, default=new_id)
    node_id: Mapped[str] = mapped_column(ForeignKey("nodes.id"))
    email: Mapped[str] = mapped_column(String(320))
    role: Mapped[int]
    created_at: Mapped[datetime]
    created_by: Mapped[str] = mapped_column(ForeignKey("users.id"))


class NoticeRow(Base):
    """Something that was shared with a person, named by email, or with a group of theirs; `by_user` shared it.

    There is one for each person who did so. `node_id` is the item; for a deletion for good by a program of theirs,
    `change:` and the id of that change.
    """

    __tablename__ = "notices"
    __table_args__ = (UniqueConstraint("email", "node_id", "by_user"), Index("ix_notices_by_user", "by_user"))

    id: Mapped[int] = mapped_column(primary_key=True, autoincrement=True)
    email: Mapped[str] = mapped_column(String(320))
    node_id: Mapped[str] = mapped_column(String(32))
    by_user: Mapped[str] = mapped_column(ForeignKey("users.id"))
    created_at: Mapped[datetime]
    read_at: Mapped[datetime | None]


class MailRow(Base):
    """A mail to a person: sent at `due_at`, and again until `ended_at`. Its text is made when it is sent.

    `once` names the cause that there is one mail for.
    """

    __tablename__ = "mails"
    __table_args__ = (UniqueConstraint("once"), Index("ix_mails_due", "ended_at", "due_at"))

    id: Mapped[str] = mapped_column(String(32), primary_key=True, default=new_id)
    user_id: Mapped[str] = mapped_column(ForeignKey("users.id"), index=True)
    kind: Mapped[str] = mapped_column(String(16))
    params: Mapped[dict[str, Any]]
    once: Mapped[str] = mapped_column(String(128))
    attempts: Mapped[int] = mapped_column(default=0)
    created_at: Mapped[datetime]
    due_at: Mapped[datetime]
    ended_at: Mapped[datetime | None]
    is_sent: Mapped[bool] = mapped_column(default=False)


class LinkRow(Base):
    """Access to an item by the link's address, which is derived from `id` and not stored.

    `password_hash` is scrypt with its salt; `downloads` counts up to `max_downloads`.
    """

    __tablename__ = "links"

    id: Mapped[str] = mapped_column(String(32), primary_key=True, default=new_id)
    node_id: Mapped[str] = mapped_column(ForeignKey("nodes.id"), index=True)
    role: Mapped[int]
    password_hash: Mapped[str | None] = mapped_column(String(255))
    expires_at: Mapped[datetime | None]
    max_downloads: Mapped[int | None]
    downloads: Mapped[int] = mapped_column(default=0)
    created_at: Mapped[datetime]
    created_by: Mapped[str] = mapped_column(ForeignKey("users.id"))


class LinkFetchRow(Base):
    """A download by a link that was counted, and how many bytes of it are `left` to fetch.

    `key` is a digest of link, content and address, `visitor` one of link and address; `begun_at` is in POSIX seconds
    of the database's clock.
    """

    __tablename__ = "link_fetches"

    key: Mapped[str] = mapped_column(String(64), primary_key=True)
    visitor: Mapped[str] = mapped_column(String(64), index=True)
    begun_at: Mapped[float] = mapped_column(index=True)
    left: Mapped[int] = mapped_column(BigInteger)
