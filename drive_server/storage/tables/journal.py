"""Tables of the journal: changes, the items that they touched, runs that may not change anything any more."""

from datetime import datetime
from typing import Any

from sqlalchemy import ForeignKey, Index, String, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from drive_server.storage.tables.base import Base


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
