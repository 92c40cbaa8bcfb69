"""Threads and memories, copied from LangGraph's SQLite files to its PostgreSQL tables and compared by hashes."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from datetime import UTC, datetime
from hashlib import sha256
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

from api.cli.failure import CommandError, system_reason
from api.storage.threads import open_threads

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from langgraph.checkpoint.base import CheckpointTuple

NUL: Final = "\x00"
REPLACEMENT: Final = "\ufffd"
_THREADS: Final = "SELECT DISTINCT thread_id FROM checkpoints"
_CHECKPOINTS: Final = """
SELECT thread_id, checkpoint_ns, parent_checkpoint_id, type, checkpoint, metadata FROM checkpoints
ORDER BY checkpoint_id
"""
_WRITES: Final = """
SELECT thread_id, checkpoint_ns, checkpoint_id, task_id, task_path, idx, channel, type, value FROM writes
"""
_MEMORIES: Final = "SELECT prefix, key, value, created_at, updated_at, expires_at, ttl_minutes FROM store"
_PUT_MEMORY: Final = """
INSERT INTO store (prefix, key, value, created_at, updated_at, expires_at, ttl_minutes)
VALUES (%s, %s, %s, %s, %s, %s, %s) ON CONFLICT (prefix, key) DO NOTHING
"""


async def copy_threads(files: tuple[Path, Path], url: str) -> tuple[int, int]:
    """Copy threads and memories of two SQLite files, in one transaction; return their numbers.

    A copy that was broken off may be made again. Raises `CommandError` for a database with other threads, and for one
    that does not read back as the files do.
    """
    try:
        return await _copy_and_compare(*files, url)
    except import_module("psycopg").Error as error:
        raise CommandError.of("migrate_failed", reason=system_reason(error)) from error


async def _copy_and_compare(threads: Path, memories: Path, url: str) -> tuple[int, int]:
    async with open_threads(f"sqlite:///{threads}") as before, open_threads(url) as after:
        # LangGraph's own savers, whose other methods the service's types don't have.
        old, new = _any(before.saver), _any(after.saver)
        await new.thread.run(new.put_all, [lambda: _copy(old, new, memories)], None)
        names = await old.thread.run(lambda: [name for (name,) in old.conn.execute(_THREADS)])
        for name in names:
            mine = await old.thread.run(_digest, old, name)
            if mine != await new.thread.run(_digest, new, name):
                raise CommandError.of("migrate_differs", what=f"thread {name}")
        return len(names), await new.thread.run(_count_memories, new, memories)


def _copy(old: Any, new: Any, memories: Path) -> None:
    known = {str(name) for (name,) in old.conn.execute(_THREADS)}
    if any(row["thread_id"] not in known for row in new.conn.execute(_THREADS)):
        raise CommandError.of("restore_database_full", database="AGENT_THREADS_URL")
    for thread_id, namespace, parent, kind, content, metadata in old.conn.execute(_CHECKPOINTS):
        checkpoint = old.serde.loads_typed((kind, content))
        at = {"thread_id": thread_id, "checkpoint_ns": namespace, "checkpoint_id": parent}
        new.put({"configurable": at}, checkpoint, json.loads(metadata or "{}"), checkpoint["channel_versions"])
    with new.conn.cursor() as cursor:
        cursor.executemany(new.UPSERT_CHECKPOINT_WRITES_SQL, [*old.conn.execute(_WRITES)])
        cursor.executemany(_PUT_MEMORY, [*_memories(memories)])


def _memories(path: Path) -> Iterator[tuple[Any, ...]]:
    """Yield the rows of the store; SQLite's times have no zone, and are UTC."""
    with closing(sqlite3.connect(path)) as connection:
        for prefix, key, value, *times, minutes in connection.execute(_MEMORIES):
            yield prefix, key, _json(json.loads(value)), *map(_time, times), minutes


def _time(stored: str | None) -> datetime | None:
    if stored is None:
        return None
    time = datetime.fromisoformat(stored)
    return time if time.tzinfo else time.replace(tzinfo=UTC)


def _count_memories(new: Any, path: Path) -> int:
    """Return the number of memories. Raises `CommandError` if the database has others than the file."""
    query = "SELECT prefix, key, value FROM store"
    with new.conn.connection() as connection:
        found = {(row["prefix"], row["key"], _json(row["value"])) for row in connection.execute(query)}
    if found != {(prefix, key, value) for prefix, key, value, *_ in _memories(path)}:
        raise CommandError.of("migrate_differs", what="memories")
    return len(found)


def _digest(saver: Any, thread_id: str) -> str:
    """Return a hash of all checkpoints of a thread, with their values, their order and their pending writes."""
    digest = sha256()
    for found in saver.list({"configurable": {"thread_id": thread_id}}):
        digest.update("\n".join(_parts(saver, found)).encode())
    return digest.hexdigest()


def _parts(saver: Any, found: CheckpointTuple) -> Iterator[str]:
    parent: Any = (found.parent_config or {}).get("configurable", {})
    checkpoint: Any = {**found.checkpoint, "channel_values": None}
    yield _json([found.config.get("configurable"), parent.get("checkpoint_id"), found.metadata, checkpoint])
    for name, value in sorted(found.checkpoint["channel_values"].items()):
        yield f"{name} {_stored(saver, value)}"
    yield from sorted(
        f"{task} {channel} {_stored(saver, value)}" for task, channel, value in found.pending_writes or ()
    )


def _stored(saver: Any, value: Any) -> str:
    clean = value.replace(NUL, REPLACEMENT) if isinstance(value, str) else value
    kind, content = saver.serde.dumps_typed(clean)
    return f"{kind} {content.hex()}"


def _json(value: Any) -> str:
    return json.dumps(value, sort_keys=True, default=str).replace("\\u0000", "\\ufffd")


def _any(saver: Any) -> Any:
    return saver
