"""Checkpoints and what was written at them as rows, as langgraph's saver for SQLite stores them."""

import json
from collections.abc import Iterator

from langgraph.checkpoint.base import WRITES_IDX_MAP, get_checkpoint_metadata
from langgraph.checkpoint.serde.base import SerializerProtocol

from api.storage.gathering import Change
from api.storage.unstored import Step, Unstored, Written

_CHECKPOINT = """
INSERT OR REPLACE INTO checkpoints
(thread_id, checkpoint_ns, checkpoint_id, parent_checkpoint_id, type, checkpoint, metadata) VALUES (?, ?, ?, ?, ?, ?, ?)
"""
_WRITES = """
INSERT OR {otherwise} INTO writes
(thread_id, checkpoint_ns, checkpoint_id, task_id, task_path, idx, channel, type, value)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
"""
_REPLACED, _ONCE = _WRITES.format(otherwise="REPLACE"), _WRITES.format(otherwise="IGNORE")


def rows_of(unstored: Unstored, steps: list[Step], serde: SerializerProtocol) -> Iterator[Change]:
    """Yield what stores the steps that stay, and all that was written. Raises what can't be serialized."""
    for written in unstored.written:
        yield _written(written, serde)
    for step in steps:
        yield _step(step, serde)
        for written in step.written:
            yield _written(written, serde)


def _step(step: Step, serde: SerializerProtocol) -> Change:
    named = step.config.get("configurable", {})
    metadata = json.dumps(get_checkpoint_metadata(step.config, step.metadata), ensure_ascii=False)
    where = (str(named["thread_id"]), named["checkpoint_ns"], step.id, step.parent or None)
    return Change(_CHECKPOINT, (*where, *serde.dumps_typed(step.checkpoint), metadata.encode("utf-8", "ignore")))


def _written(written: Written, serde: SerializerProtocol) -> Change:
    named = written.config.get("configurable", {})
    where = (str(named["thread_id"]), str(named["checkpoint_ns"]), written.checkpoint_id)
    rows = [
        (
            *where,
            written.task_id,
            written.task_path,
            WRITES_IDX_MAP.get(channel, index),
            channel,
            *serde.dumps_typed(value),
        )
        for index, (channel, value) in enumerate(written.writes)
    ]
    is_special = all(channel in WRITES_IDX_MAP for channel, _ in written.writes)
    return Change(_REPLACED if is_special else _ONCE, rows, many=True)
