"""Tables of people: how they prove who they are, their groups, their keys; and the secrets of the drive itself."""

from datetime import datetime
from typing import Any

from sqlalchemy import BigInteger, ForeignKey, Index, String
from sqlalchemy.orm import Mapped, mapped_column

from drive_server.storage.tables.base import Base, new_id


class UserRow(Base):
    """A person with a drive. `email` is normalised (NFC, lower case).

    `used_bytes` is the sum of the person's holdings; `quota_bytes` its limit, None for the one in the settings.
    `name`, `time_zone` (an IANA name) and `language` are the person's profile; empty: nothing. Since
    `disabled_at` nobody acts as them. Since `removed_at` the row is a placeholder for the journal, without a name.
    `password_hash` is argon2id with its salt.
    """

    __tablename__ = "users"

    id: Mapped[str] = mapped_column(String(32), primary_key=True, default=new_id)
    email: Mapped[str] = mapped_column(String(320), unique=True)
    root_id: Mapped[str] = mapped_column(String(32))
    is_admin: Mapped[bool] = mapped_column(default=False)
    quota_bytes: Mapped[int | None] = mapped_column(BigInteger)
    used_bytes: Mapped[int] = mapped_column(BigInteger, default=0, server_default="0")
    name: Mapped[str] = mapped_column(String(100), default="", server_default="")
    time_zone: Mapped[str] = mapped_column(String(64), default="", server_default="")
    language: Mapped[str] = mapped_column(String(2), default="", server_default="")
    disabled_at: Mapped[datetime | None]
    removed_at: Mapped[datetime | None]
    password_hash: Mapped[str | None] = mapped_column(String(255))
    created_at: Mapped[datetime]


class IdentityRow(Base):
    """A person as an OpenID Connect issuer knows them."""

    __tablename__ = "identities"

    issuer: Mapped[str] = mapped_column(String(255), primary_key=True)
    subject: Mapped[str] = mapped_column(String(255), primary_key=True)
    user_id: Mapped[str] = mapped_column(ForeignKey("users.id"), index=True)
    created_at: Mapped[datetime]


class PasskeyRow(Base):
    """A passkey of a person. `credential`, its id, and `public_key` (COSE) are base64url; `sign_count` only grows."""

    __tablename__ = "passkeys"

    id: Mapped[str] = mapped_column(String(32), primary_key=True, default=new_id)
    user_id: Mapped[str] = mapped_column(ForeignKey("users.id"), index=True)
    name: Mapped[str] = mapped_column(String(100))
    credential: Mapped[str] = mapped_column(String(1400), unique=True)
    public_key: Mapped[str] = mapped_column(String(2000))
    sign_count: Mapped[int] = mapped_column(BigInteger)
    created_at: Mapped[datetime]
    last_used_at: Mapped[datetime | None]


class GroupRow(Base):
    """People who are given roles together. `name_key` is the name as it is compared."""

    __tablename__ = "groups"

    id: Mapped[str] = mapped_column(String(32), primary_key=True, default=new_id)
    name: Mapped[str] = mapped_column(String(100))
    name_key: Mapped[str] = mapped_column(String(300), unique=True)
    created_at: Mapped[datetime]


class GroupMemberRow(Base):
    """A person in a group."""

    __tablename__ = "group_members"

    group_id: Mapped[str] = mapped_column(ForeignKey("groups.id"), primary_key=True)
    user_id: Mapped[str] = mapped_column(ForeignKey("users.id"), primary_key=True, index=True)


class SignInRow(Base):
    """A host that waits until a person lets it in with the browser: `key_id` is then its key."""

    __tablename__ = "sign_ins"

    id: Mapped[str] = mapped_column(String(32), primary_key=True, default=new_id)
    client_name: Mapped[str] = mapped_column(String(255))
    key_id: Mapped[str | None] = mapped_column(String(32))
    declined_at: Mapped[datetime | None]
    created_at: Mapped[datetime]
    expires_at: Mapped[datetime]


class LoginLinkRow(Base):
    """An address that logs one browser in, once; `digest` is that of its secret, `caller` the principal as JSON."""

    __tablename__ = "login_links"

    digest: Mapped[str] = mapped_column(String(64), primary_key=True)
    user_id: Mapped[str] = mapped_column(ForeignKey("users.id"), index=True)
    caller: Mapped[dict[str, Any]]
    created_at: Mapped[datetime]
    expires_at: Mapped[datetime]


class AttemptRow(Base):
    """An attempt that counts for its `key`, a digest, until `ends_at`; without `is_checked` it may have been right.

    Times are POSIX seconds of the database's clock: those of several machines may differ.
    """

    __tablename__ = "attempts"
    __table_args__ = (Index("ix_attempts_key", "key", "ends_at"), Index("ix_attempts_ends_at", "ends_at"))

    id: Mapped[str] = mapped_column(String(32), primary_key=True, default=new_id)
    key: Mapped[str] = mapped_column(String(64))
    is_checked: Mapped[bool]
    at: Mapped[float]
    ends_at: Mapped[float]


class SecretRow(Base):
    """A secret of the drive, made once: it signs links, cursors and addresses."""

    __tablename__ = "secrets"

    name: Mapped[str] = mapped_column(String(32), primary_key=True)
    value: Mapped[str] = mapped_column(String(128))


class ApiKeyRow(Base):
    """An API key; only the SHA-256 of its secret is stored (256 random bits need no slow hash).

    `opened_by` is the id of the key with which it was made, which ends it when revoked. A browser's session is one too:
    `proof` says how it was opened, `proof_id` with which passkey, `proved_at` when its person last proved who they are;
    `device` says in words which browser it is; `tools` which tools an MCP host with the key is shown, None: as the
    settings say.
    """

    __tablename__ = "api_keys"

    id: Mapped[str] = mapped_column(String(32), primary_key=True, default=new_id)
    user_id: Mapped[str] = mapped_column(ForeignKey("users.id"), index=True)
    name: Mapped[str] = mapped_column(String(255))
    prefix: Mapped[str] = mapped_column(String(16))
    secret_hash: Mapped[str] = mapped_column(String(64), unique=True)
    method: Mapped[str] = mapped_column(String(16), default="api_key")
    scopes: Mapped[list[Any]]
    created_at: Mapped[datetime]
    expires_at: Mapped[datetime | None]
    revoked_at: Mapped[datetime | None]
    last_used_at: Mapped[datetime | None]
    opened_by: Mapped[str | None] = mapped_column(String(32))
    device: Mapped[str] = mapped_column(String(64), default="", server_default="")
    proof: Mapped[str] = mapped_column(String(16), default="", server_default="")
    proof_id: Mapped[str | None] = mapped_column(String(32))
    proved_at: Mapped[datetime | None]
    tools: Mapped[str | None] = mapped_column(String(8))
