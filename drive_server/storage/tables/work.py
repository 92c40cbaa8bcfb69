"""Tables of work that takes long: MCP tasks, and files read by a language model."""

from datetime import datetime
from typing import Any

from sqlalchemy import ForeignKey, Index, String, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from drive_server.storage.tables.base import Base, new_id


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


class ProcessLockRow(Base):
    """A kind of work that one process at a time does: its `holder`, until `ends_at`, by the database's clock."""

    __tablename__ = "process_locks"

    name: Mapped[str] = mapped_column(String(32), primary_key=True)
    holder: Mapped[str] = mapped_column(String(32))
    ends_at: Mapped[datetime]
