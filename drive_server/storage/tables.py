"""The drive's tables. Ids are UUID hex strings; times are UTC."""

from datetime import datetime
from pathlib import Path
from typing import Any, Final
from uuid import uuid4

from sqlalchemy import BigInteger, ForeignKey, Index, Integer, String, UniqueConstraint, text
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

from drive_server.errors import NameConflictError
from drive_server.messages import Message
from drive_server.storage.schema import COLUMN_TYPES, Schema

LIVE_NAME_INDEX: Final = "uq_nodes_live_name"
LIVE_NAME_COLUMNS: Final = "nodes.parent_id, nodes.name"
"""SQLite names the columns of a broken index, PostgreSQL the index."""


def new_id() -> str:
    """Return a fresh random id."""
    return uuid4().hex


class Base(DeclarativeBase):
    """Base of all tables."""

    type_annotation_map = COLUMN_TYPES


class UserRow(Base):
    """A person with a drive. `email` is normalised (NFC, lower case).

    `used_bytes` is the sum of the person's holdings; `quota_bytes` its limit, None for the one in the settings.
    `name`, `time_zone` (an IANA name) and `language` are what the person says of themselves; empty: nothing. Since
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


class NodeRow(Base):
    """A file or folder. `revision` counts every change of the row and is its etag.

    `trash_id` is the id of the item that was moved to the trash when this one went with it (itself for that item);
    a person's root has no parent. `owner_id` is the user in whose tree the item stands.
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
    trash_id: Mapped[str | None] = mapped_column(String(32))
    trashed_at: Mapped[datetime | None]


class NamePositionRow(Base):
    """The places of a name's characters, from 1: what the triggers of the index of names count with."""

    __tablename__ = "name_positions"

    position: Mapped[int] = mapped_column(primary_key=True)


class NameKeyRow(Base):
    """The number of an item in the index of names, `name_grams` (migration 0010). Written by triggers only."""

    __tablename__ = "name_keys"
    __table_args__ = (UniqueConstraint("node_id"),)

    key: Mapped[int] = mapped_column(primary_key=True, autoincrement=True)
    node_id: Mapped[str] = mapped_column(String(32))


class VersionRow(Base):
    """One content of a file; `blob` is the SHA-256 of the bytes in hex. Numbers count from 1 and are never reused."""

    __tablename__ = "versions"
    __table_args__ = (UniqueConstraint("node_id", "number"),)

    id: Mapped[int] = mapped_column(primary_key=True, autoincrement=True)
    node_id: Mapped[str] = mapped_column(ForeignKey("nodes.id"))
    number: Mapped[int]
    blob: Mapped[str] = mapped_column(String(64), index=True)
    size: Mapped[int] = mapped_column(BigInteger)
    media_type: Mapped[str] = mapped_column(String(255))
    created_at: Mapped[datetime]
    author_id: Mapped[str] = mapped_column(ForeignKey("users.id"))
    run_id: Mapped[str | None] = mapped_column(String(64))


class HoldingRow(Base):
    """The number of versions in a person's tree that have a content: its bytes count once."""

    __tablename__ = "holdings"

    owner_id: Mapped[str] = mapped_column(ForeignKey("users.id"), primary_key=True)
    blob: Mapped[str] = mapped_column(String(64), primary_key=True)
    size: Mapped[int] = mapped_column(BigInteger)
    versions: Mapped[int]


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
    """Something that was shared with a person, named by email, or with a group of theirs; `by_user` shared it."""

    __tablename__ = "notices"
    __table_args__ = (UniqueConstraint("email", "node_id"), Index("ix_notices_by_user", "by_user"))

    id: Mapped[int] = mapped_column(primary_key=True, autoincrement=True)
    email: Mapped[str] = mapped_column(String(320))
    node_id: Mapped[str] = mapped_column(String(32))
    by_user: Mapped[str] = mapped_column(ForeignKey("users.id"))
    created_at: Mapped[datetime]
    read_at: Mapped[datetime | None]


class MailRow(Base):
    """A mail to a person: sent at `due_at`, and again until `ended_at`. Its text is made when it is sent.

    `once` is what there is one mail for.
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


class UploadRow(Base):
    """A resumable upload and the file that it becomes. A partial file, named by `id`, holds its bytes so far."""

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
    item_id: Mapped[str | None] = mapped_column(String(32))
    created_at: Mapped[datetime]
    expires_at: Mapped[datetime]


class TaskRow(Base):
    """A tool call that runs on after its answer: queued, running, or ended with a result.

    It belongs to the user, not to the session that made it. `caller` is the principal as JSON; `lease_until` says that
    the process `worker` holds it until then. `cancel_requested` tells that process to stop. The journal knows its
    work by `idempotency_key`.
    """

    __tablename__ = "tasks"
    __table_args__ = (
        UniqueConstraint("user_id", "idempotency_key"),
        Index("ix_tasks_user", "user_id", "created_at"),
        Index("ix_tasks_status", "status"),
    )

    id: Mapped[str] = mapped_column(String(32), primary_key=True, default=new_id)
    user_id: Mapped[str] = mapped_column(ForeignKey("users.id"))
    caller: Mapped[dict[str, Any]]
    tool: Mapped[str] = mapped_column(String(64))
    arguments: Mapped[dict[str, Any]]
    meta: Mapped[dict[str, Any]]
    idempotency_key: Mapped[str] = mapped_column(String(255))
    status: Mapped[str] = mapped_column(String(16), default="working")
    status_message: Mapped[str] = mapped_column(default="")
    cancel_requested: Mapped[bool] = mapped_column(default=False)
    result: Mapped[dict[str, Any] | None]
    worker: Mapped[str | None] = mapped_column(String(32))
    lease_until: Mapped[datetime | None]
    created_at: Mapped[datetime]
    updated_at: Mapped[datetime]
    expires_at: Mapped[datetime | None]


class BulkResultRow(Base):
    """The result of reading many files, stored for its caller until `expires_at`. `summary` is all but the files."""

    __tablename__ = "bulk_results"
    __table_args__ = (
        Index("ix_bulk_results_user", "user_id", "created_at"),
        Index("ix_bulk_results_expiry", "expires_at"),
    )

    id: Mapped[str] = mapped_column(String(32), primary_key=True, default=new_id)
    user_id: Mapped[str] = mapped_column(ForeignKey("users.id"))
    summary: Mapped[dict[str, Any]]
    created_at: Mapped[datetime]
    expires_at: Mapped[datetime]


class BulkFindingRow(Base):
    """The part of one file in such a result, in the result's order from 0."""

    __tablename__ = "bulk_findings"

    result_id: Mapped[str] = mapped_column(ForeignKey("bulk_results.id", ondelete="CASCADE"), primary_key=True)
    position: Mapped[int] = mapped_column(primary_key=True)
    finding: Mapped[dict[str, Any]]


class SignInRow(Base):
    """A host that waits until a person lets it in with the browser: `key_id` is then its key."""

    __tablename__ = "sign_ins"

    id: Mapped[str] = mapped_column(String(32), primary_key=True, default=new_id)
    client_name: Mapped[str] = mapped_column(String(255))
    key_id: Mapped[str | None] = mapped_column(String(32))
    declined_at: Mapped[datetime | None]
    created_at: Mapped[datetime]
    expires_at: Mapped[datetime]


class SecretRow(Base):
    """A secret of the drive, made once: it signs links, cursors and addresses."""

    __tablename__ = "secrets"

    name: Mapped[str] = mapped_column(String(32), primary_key=True)
    value: Mapped[str] = mapped_column(String(128))


class ApiKeyRow(Base):
    """An API key; only the SHA-256 of its secret is stored (256 random bits need no slow hash).

    A browser's session is one too: `opened_by` is then the id of the key that was shown, and ends it when revoked;
    `device` says in words which browser it is.
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


class ChangeRow(Base):
    """The journal: one row per call that changed something, written in the transaction of the change.

    `entries` is a list of {"table", "id", "before", "after"}; `result` is the answer of the call, so
    that a repeated `idempotency_key` gets the same; `arguments_digest` tells a repeat from a different call.
    `message` is the summary as a code with parameters; earlier changes have none.
    `tool_call_id` is the model's call in the run; `approval_id` or `grant_id` allowed it. `approved_key` is the name of
    the key that the person said yes with.
    """

    __tablename__ = "changes"
    __table_args__ = (
        UniqueConstraint("user_id", "idempotency_key"),
        Index("ix_changes_run", "run_id"),
        Index("ix_changes_item", "item_id"),
    )

    id: Mapped[int] = mapped_column(primary_key=True, autoincrement=True)
    at: Mapped[datetime]
    user_id: Mapped[str] = mapped_column(ForeignKey("users.id"))
    method: Mapped[str] = mapped_column(String(16))
    key_name: Mapped[str | None] = mapped_column(String(255))
    tool: Mapped[str] = mapped_column(String(64))
    run_id: Mapped[str | None] = mapped_column(String(64))
    idempotency_key: Mapped[str | None] = mapped_column(String(255))
    arguments_digest: Mapped[str] = mapped_column(String(64))
    action: Mapped[str] = mapped_column(String(32))
    summary: Mapped[str]
    message: Mapped[dict[str, Any] | None]
    item_id: Mapped[str | None] = mapped_column(String(32))
    entries: Mapped[list[Any]]
    result: Mapped[dict[str, Any]]
    approved_by: Mapped[str | None] = mapped_column(String(320))
    approved_key: Mapped[str | None] = mapped_column(String(255))
    undoes: Mapped[int | None]
    undone_by: Mapped[int | None]
    tool_call_id: Mapped[str | None] = mapped_column(String(190))
    approval_id: Mapped[str | None] = mapped_column(String(64))
    grant_id: Mapped[str | None] = mapped_column(String(64))


class ChangeItemRow(Base):
    """An item that a change touched: it finds the changes of an undo or a folder too."""

    __tablename__ = "change_items"

    change_id: Mapped[int] = mapped_column(ForeignKey("changes.id"), primary_key=True)
    item_id: Mapped[str] = mapped_column(String(32), primary_key=True, index=True)


class RevokedRunRow(Base):
    """A run that was ended: the calls of it that are still under way change nothing more."""

    __tablename__ = "revoked_runs"

    user_id: Mapped[str] = mapped_column(ForeignKey("users.id"), primary_key=True)
    run_id: Mapped[str] = mapped_column(String(64), primary_key=True)
    at: Mapped[datetime]


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


def _conflict(error: IntegrityError) -> NameConflictError | None:
    reason = str(error.orig)
    if LIVE_NAME_INDEX not in reason and LIVE_NAME_COLUMNS not in reason:
        return None
    return NameConflictError(Message.of("name_taken_now"))


SCHEMA: Final = Schema(Base.metadata, Path(__file__).parent / "migrations/versions", "alembic_version", _conflict)
"""The drive's tables."""
