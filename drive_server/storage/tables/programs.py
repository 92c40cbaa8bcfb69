"""Tables of programs that sign in by OAuth: their registrations, and the access that people granted them."""

from datetime import datetime
from typing import Any

from sqlalchemy import String
from sqlalchemy.orm import Mapped, mapped_column

from drive_server.storage.tables.base import Base, new_id


class ProgramRow(Base):
    """A program that registered itself (RFC 7591). `used_at` is when a person last let it in; None: nobody did.

    Its secret, if it wants one, is signed from the id and not stored.
    """

    __tablename__ = "programs"

    id: Mapped[str] = mapped_column(String(36), primary_key=True, default=new_id)
    registration: Mapped[dict[str, Any]]
    created_at: Mapped[datetime]
    used_at: Mapped[datetime | None]


class ProgramGrantRow(Base):
    """The access that a person granted a program. It is a key of the person, `key_id`, whose secret nobody has.

    The code (RFC 6749, 4.1.2) counts once, until `code_expires_at`; `code_used_at` is when it did. Access tokens are
    keys that this one opened. Of the refresh tokens only the digest of the last one is stored: every other one that
    the drive signed was used before. `ends_at` is the end that the person chose.
    """

    __tablename__ = "program_grants"

    key_id: Mapped[str] = mapped_column(String(32), primary_key=True)
    client_id: Mapped[str] = mapped_column(String(1000))
    resource: Mapped[str] = mapped_column(String(1000))
    redirect_uri: Mapped[str] = mapped_column(String(2000))
    is_redirect_explicit: Mapped[bool]
    challenge: Mapped[str] = mapped_column(String(128))
    code_digest: Mapped[str] = mapped_column(String(64), unique=True)
    code_expires_at: Mapped[datetime]
    code_used_at: Mapped[datetime | None]
    refresh_digest: Mapped[str | None] = mapped_column(String(64))
    ends_at: Mapped[datetime]
