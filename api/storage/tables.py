"""The service's own tables: threads, runs, their events, approvals. Ids are UUID strings; times are UTC."""

import time
from datetime import datetime
from secrets import randbits
from typing import Any, cast
from uuid import UUID

from sqlalchemy import BigInteger, Float, ForeignKey, Index, String, Table, Text, text
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

from drive_server.kernel.sql.schema import COLUMN_TYPES

RUNNING = "running"
WAITING = "waiting"
SUCCESS = "success"
FAILED = "error"
CANCELLED = "cancelled"
DECIDED = "decided"
EXPIRED = "expired"
PAUSED = "paused"
BUILT_IN = "drive_agent"
"""The id of the assistant that everybody has; it is no row."""


def new_id() -> str:
    """Return a fresh id in the form that LangGraph's clients expect: a UUID of version 7 (RFC 9562, 5.7).

    It begins with the time, so that new rows come to the end of each index: PostgreSQL logs fewer splits of pages, and
    fewer whole pages after a checkpoint. 74 of its bits are random.
    """
    milliseconds = time.time_ns() // 1_000_000
    return str(UUID(int=milliseconds << 80 | 7 << 76 | randbits(12) << 64 | 2 << 62 | randbits(62)))


class Base(DeclarativeBase):
    """Base of all tables."""

    type_annotation_map = COLUMN_TYPES


class ThreadRow(Base):
    """A conversation of one user. `deleted_at` hides it at once; the rows follow when its checkpoints are gone.

    `model` is the one that the person chose for it; empty: the one of its assistant, or of the settings.
    """

    __tablename__ = "threads"
    __table_args__ = (Index("ix_threads_user", "user_id", "updated_at"),)

    id: Mapped[str] = mapped_column(String(36), primary_key=True, default=new_id)
    user_id: Mapped[str] = mapped_column(String(32))
    title: Mapped[str] = mapped_column(String(255))
    model: Mapped[str] = mapped_column(String(255), default="", server_default="")
    assistant_id: Mapped[str] = mapped_column(String(64), default=BUILT_IN, server_default=BUILT_IN)
    created_at: Mapped[datetime]
    updated_at: Mapped[datetime]
    deleted_at: Mapped[datetime | None]


class RunRow(Base):
    """One turn of the assistant, with all that is needed to start it again in another process.

    `email` and `scopes` are those of the caller who started it: the run can do no more than they could. `status` is
    running, waiting (for an approval), success, error or cancelled; `finished_at` is set with the last three. `key_id`
    is the key or the session that began it; it ends when that is revoked. `cancel_key` names the key that asked to stop
    it. `mode` is attended or unattended. `model` is its thread's when it began; `time_zone` is the person's, empty: the
    drive's. `owner` is the process that has it, empty: none; `starts` counts the processes that took it up, `stops`
    those of them that were asked to stop, `number` the runs of its thread. `instructions` are those of the client's
    program for this turn alone; they give no rights.

    A message that was edited or answered anew has several runs, its versions: `replaces` is the one before this one,
    `version_of` the first. `base_checkpoint` is where the branch of a later version begins (empty: at nothing),
    `head_checkpoint` where an earlier one was left (empty: it had no checkpoint); None: it is on the thread's path.
    """

    __tablename__ = "runs"
    __table_args__ = (
        Index(
            "uq_runs_active_thread",
            "thread_id",
            unique=True,
            sqlite_where=text("finished_at IS NULL"),
            postgresql_where=text("finished_at IS NULL"),
        ),
        Index("ix_runs_thread", "thread_id", "created_at"),
        Index("ix_runs_user", "user_id", "created_at"),
        Index("ix_runs_version_of", "version_of"),
    )

    id: Mapped[str] = mapped_column(String(36), primary_key=True, default=new_id)
    thread_id: Mapped[str] = mapped_column(ForeignKey("threads.id"))
    user_id: Mapped[str] = mapped_column(String(32))
    email: Mapped[str] = mapped_column(String(320))
    scopes: Mapped[list[Any]]
    key_id: Mapped[str | None] = mapped_column(String(32))
    assistant_id: Mapped[str] = mapped_column(String(64))
    message: Mapped[str] = mapped_column(Text)
    instructions: Mapped[str] = mapped_column(Text, default="", server_default="")
    place: Mapped[dict[str, Any]]
    mode: Mapped[str] = mapped_column(String(16), default="attended", server_default="attended")
    time_zone: Mapped[str] = mapped_column(String(64), default="", server_default="")
    model: Mapped[str] = mapped_column(String(255), default="", server_default="")
    status: Mapped[str] = mapped_column(String(16), default=RUNNING)
    cancel_requested: Mapped[bool] = mapped_column(default=False)
    cancel_key: Mapped[str | None] = mapped_column(String(255))
    owner: Mapped[str] = mapped_column(String(36), default="", server_default="")
    starts: Mapped[int] = mapped_column(default=1)
    stops: Mapped[int] = mapped_column(default=0, server_default="0")
    number: Mapped[int] = mapped_column(default=0, server_default="0")
    replaces: Mapped[str | None] = mapped_column(String(36))
    version_of: Mapped[str | None] = mapped_column(String(36))
    base_checkpoint: Mapped[str | None] = mapped_column(String(64))
    head_checkpoint: Mapped[str | None] = mapped_column(String(64))
    created_at: Mapped[datetime]
    finished_at: Mapped[datetime | None]


class ReplicaRow(Base):
    """A process that shares this database with others, and when it was alive last, by the database's clock."""

    __tablename__ = "replicas"

    id: Mapped[str] = mapped_column(String(36), primary_key=True)
    seen_at: Mapped[datetime]


class WordsRow(Base):
    """The words of a thread's title (`id` is the thread's) or of one run (its own), to search threads by.

    `others` are the ids of other people's items that the run's answer was made of, between blanks; `is_whole`: the
    answer's words are there.
    """

    __tablename__ = "thread_words"
    __table_args__ = (Index("ix_thread_words_user", "user_id", "thread_id"),)

    id: Mapped[str] = mapped_column(String(36), primary_key=True)
    thread_id: Mapped[str] = mapped_column(String(36))
    user_id: Mapped[str] = mapped_column(String(32))
    words: Mapped[str] = mapped_column(Text)
    others: Mapped[str] = mapped_column(Text)
    is_whole: Mapped[bool]


class EventRow(Base):
    """One event of a run as it was sent: `data` is the JSON text, `seq` counts from 1 within the run."""

    __tablename__ = "run_events"

    run_id: Mapped[str] = mapped_column(String(36), primary_key=True)
    seq: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    type: Mapped[str] = mapped_column(String(32))
    data: Mapped[str] = mapped_column(Text)


class PlanRow(Base):
    """The plan of a run, as people see and edit it while the run works on it.

    `version` counts people's changes; `status` is running, paused, revising, stopped or done.
    """

    __tablename__ = "plans"
    __table_args__ = (Index("ix_plans_thread", "thread_id", "updated_at"),)

    run_id: Mapped[str] = mapped_column(ForeignKey("runs.id"), primary_key=True)
    thread_id: Mapped[str] = mapped_column(String(36))
    user_id: Mapped[str] = mapped_column(String(32))
    plan: Mapped[dict[str, Any]]
    version: Mapped[int]
    status: Mapped[str] = mapped_column(String(16))
    updated_at: Mapped[datetime]


class ApprovalRow(Base):
    """A question that a run waits on, answered once. `status` is waiting, decided, expired or cancelled.

    `decided_by` is the email of the person who answered, `decided_key` the name of their key.
    """

    __tablename__ = "approvals"
    __table_args__ = (
        Index("ix_approvals_user", "user_id", "status"),
        Index("ix_approvals_run", "run_id"),
        Index(
            "ix_approvals_waiting",
            "expires_at",
            sqlite_where=text("status = 'waiting'"),
            postgresql_where=text("status = 'waiting'"),
        ),
    )

    id: Mapped[str] = mapped_column(String(64), primary_key=True)
    run_id: Mapped[str] = mapped_column(ForeignKey("runs.id"))
    thread_id: Mapped[str] = mapped_column(String(36))
    user_id: Mapped[str] = mapped_column(String(32))
    payload: Mapped[dict[str, Any]]
    status: Mapped[str] = mapped_column(String(16), default=WAITING)
    created_at: Mapped[datetime]
    expires_at: Mapped[datetime]
    decisions: Mapped[list[Any]]
    decided_by: Mapped[str | None] = mapped_column(String(320))
    decided_key: Mapped[str | None] = mapped_column(String(255))
    decided_at: Mapped[datetime | None]


class WebhookRow(Base):
    """A message to another program: `body` is the JSON text. It is sent at `due_at`, and again until `ended_at`.

    One to the `url` of a client waits without a body until the run ends, and has none when it was sent. Without a `url`
    it goes to the operator's. `user_id` and `key_id` say who wanted it; it ends with the key.
    """

    __tablename__ = "webhooks"
    __table_args__ = (Index("ix_webhooks_due", "ended_at", "due_at"), Index("ix_webhooks_thread", "thread_id"))

    id: Mapped[str] = mapped_column(String(64), primary_key=True)
    thread_id: Mapped[str] = mapped_column(String(36))
    body: Mapped[str] = mapped_column(Text)
    attempts: Mapped[int]
    created_at: Mapped[datetime]
    due_at: Mapped[datetime]
    ended_at: Mapped[datetime | None]
    is_delivered: Mapped[bool | None]
    url: Mapped[str] = mapped_column(Text, default="")
    user_id: Mapped[str] = mapped_column(String(32), default="")
    key_id: Mapped[str] = mapped_column(String(32), default="")


class ServerRow(Base):
    """A person's MCP server. `version` grows with each change.

    The values of `headers` and `env` are encrypted, by name; an empty one is not set. `credentials` are the tokens of a
    sign-in, encrypted; empty without one. `timeout` is that of a call, in seconds.
    """

    __tablename__ = "mcp_servers"
    __table_args__ = (Index("uq_mcp_servers_name", "user_id", "name", unique=True),)

    id: Mapped[str] = mapped_column(String(36), primary_key=True, default=new_id)
    user_id: Mapped[str] = mapped_column(String(32))
    name: Mapped[str] = mapped_column(String(64))
    type: Mapped[str] = mapped_column(String(16))
    is_active: Mapped[bool]
    base_url: Mapped[str] = mapped_column(Text)
    headers: Mapped[dict[str, Any]]
    timeout: Mapped[float] = mapped_column(Float)
    command: Mapped[str] = mapped_column(Text)
    args: Mapped[list[Any]]
    env: Mapped[dict[str, Any]]
    disabled_tools: Mapped[list[Any]]
    auto_approve_tools: Mapped[list[Any]]
    allows: Mapped[list[Any]]
    credentials: Mapped[str] = mapped_column(Text, default="", server_default="")
    version: Mapped[int]
    created_at: Mapped[datetime]
    updated_at: Mapped[datetime]


class PinRow(Base):
    """The definition of a server's tool that the person has seen, and its hash."""

    __tablename__ = "mcp_server_tools"

    server_id: Mapped[str] = mapped_column(ForeignKey("mcp_servers.id"), primary_key=True)
    name: Mapped[str] = mapped_column(Text, primary_key=True)
    hash: Mapped[str] = mapped_column(String(64))
    definition: Mapped[dict[str, Any]]


class AssistantRow(Base):
    """An assistant of a person. `drive_tools` are the tools of the drive that it may use; None: all of them."""

    __tablename__ = "assistants"
    __table_args__ = (Index("uq_assistants_name", "owner", "name", unique=True),)

    id: Mapped[str] = mapped_column(String(36), primary_key=True, default=new_id)
    owner: Mapped[str] = mapped_column(String(32))
    name: Mapped[str] = mapped_column(String(64))
    description: Mapped[str] = mapped_column(Text)
    model: Mapped[str] = mapped_column(String(255))
    instructions: Mapped[str] = mapped_column(Text)
    drive_tools: Mapped[list[Any] | None]
    is_default: Mapped[bool]
    created_at: Mapped[datetime]
    updated_at: Mapped[datetime]


class ChosenServerRow(Base):
    """A server that an assistant uses. The built-in assistant has those of every person who chose some for it."""

    __tablename__ = "assistant_mcp_servers"
    __table_args__ = (Index("ix_assistant_mcp_servers_server", "mcp_server_id"),)

    assistant_id: Mapped[str] = mapped_column(String(64), primary_key=True)
    mcp_server_id: Mapped[str] = mapped_column(ForeignKey("mcp_servers.id"), primary_key=True)


class ThreadImportRow(Base):
    """An import of a thread whose last part did not come yet: the bytes of the parts that did."""

    __tablename__ = "thread_imports"
    __table_args__ = (Index("ix_thread_imports_user", "user_id"),)

    thread_id: Mapped[str] = mapped_column(String(36), primary_key=True)
    user_id: Mapped[str] = mapped_column(String(32))
    size: Mapped[int] = mapped_column(BigInteger)
    updated_at: Mapped[datetime]


class ClientThreadRow(Base):
    """The data that a client of LangGraph's API stored with a thread: `about` is its metadata there.

    `drafts` are messages that a state update added, for the next run. A thread that `is_temporary` goes with its run.
    """

    __tablename__ = "client_threads"

    thread_id: Mapped[str] = mapped_column(ForeignKey("threads.id"), primary_key=True)
    about: Mapped[dict[str, Any]]
    config: Mapped[dict[str, Any]]
    drafts: Mapped[list[Any]]
    is_temporary: Mapped[bool] = mapped_column(default=False)


class ClientRunRow(Base):
    """A run of a client of LangGraph's API: the events from `first_seq` to `last_seq` of one of our runs.

    Without a `run_id` it is pending. `wanted` is the request as far as it is still needed, `about` its metadata.
    `number` counts those of its thread. `status` is pending, running, success, error or interrupted; the outcome of a
    running one is in the events.
    """

    __tablename__ = "client_runs"
    __table_args__ = (
        Index("ix_client_runs_thread", "thread_id", "number"),
        Index("ix_client_runs_status", "status"),
    )

    id: Mapped[str] = mapped_column(String(36), primary_key=True, default=new_id)
    thread_id: Mapped[str] = mapped_column(ForeignKey("threads.id"))
    user_id: Mapped[str] = mapped_column(String(32))
    assistant_id: Mapped[str] = mapped_column(String(64))
    number: Mapped[int]
    run_id: Mapped[str | None] = mapped_column(String(36))
    first_seq: Mapped[int]
    last_seq: Mapped[int | None]
    wanted: Mapped[dict[str, Any]]
    about: Mapped[dict[str, Any]]
    strategy: Mapped[str] = mapped_column(String(16))
    status: Mapped[str] = mapped_column(String(16))
    created_at: Mapped[datetime]
    updated_at: Mapped[datetime]


class OpenAITurnRow(Base):
    """A turn of a client of OpenAI's API. The same client finds the thread again by the messages that it sends.

    `digest` is that of the conversation up to the turn's message, or of the client's own name for the conversation.
    The answer is a `preface` and the events of the run that follow the number `after`.
    """

    __tablename__ = "openai_turns"
    __table_args__ = (
        Index("ix_openai_turns_digest", "digest", "user_id"),
        Index("ix_openai_turns_thread", "thread_id"),
    )

    id: Mapped[str] = mapped_column(String(36), primary_key=True, default=new_id)
    user_id: Mapped[str] = mapped_column(String(32))
    key_id: Mapped[str] = mapped_column(String(32))
    thread_id: Mapped[str] = mapped_column(String(36))
    run_id: Mapped[str] = mapped_column(String(36))
    digest: Mapped[str] = mapped_column(String(64))
    after: Mapped[int]
    preface: Mapped[str] = mapped_column(Text)
    created_at: Mapped[datetime]


def table_of(row: type[Base]) -> Table:
    """Return the table of a class. A statement on it costs half of one on the class, where no objects are at stake."""
    return cast("Table", row.__table__)


def values_of(row: Base) -> dict[str, Any]:
    """Return the values of a row by column, to be inserted without a session. Defaults of the class count."""
    columns = table_of(type(row)).columns
    return {column.name: getattr(row, column.name) for column in columns if column.name in row.__dict__}
