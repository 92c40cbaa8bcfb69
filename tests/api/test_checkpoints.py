"""The file of checkpoints, when what wrote to it was stopped."""

import asyncio
from pathlib import Path

import pytest
from langgraph.checkpoint.base import empty_checkpoint
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

from api.checkpoints import open_checkpoints

INTERRUPTED = "INSERT INTO checkpoints (thread_id, checkpoint_ns, checkpoint_id) VALUES ('a', 'b', 'c')"


async def keep(saver: AsyncSqliteSaver) -> None:
    await saver.aput({"configurable": {"thread_id": "t", "checkpoint_ns": ""}}, empty_checkpoint(), {}, {})


async def test_a_write_that_was_stopped_before_its_commit_holds_nobody_up_after_the_end(tmp_path: Path) -> None:
    async with open_checkpoints(tmp_path / "graph.db") as saver:
        await keep(saver)
        cursors = [await saver.conn.execute(INTERRUPTED), await saver.conn.execute("SELECT * FROM checkpoints")]
    async with open_checkpoints(tmp_path / "graph.db") as saver:
        await saver.conn.execute("PRAGMA busy_timeout = 0")
        await keep(saver)
        kept = [found async for found in saver.alist(None)]
    assert len(cursors) == 2
    assert len(kept) == 2


@pytest.mark.parametrize("turns", range(12))
async def test_writes_that_come_while_it_ends_hold_nobody_up_either(tmp_path: Path, turns: int) -> None:
    async with open_checkpoints(tmp_path / "graph.db") as saver:
        late = [asyncio.create_task(keep(saver)) for _ in range(20)]
        for _ in range(turns):
            await asyncio.sleep(0)
    ended = await asyncio.gather(*late, return_exceptions=True)
    async with open_checkpoints(tmp_path / "graph.db") as saver:
        await saver.conn.execute("PRAGMA busy_timeout = 0")
        await keep(saver)
    assert len(ended) == 20
