"""The trips to threads, statements, transactions and checkpoints of turns, which do not depend on the machine."""

from __future__ import annotations

from dataclasses import astuple
from operator import gt
from typing import TYPE_CHECKING

import pytest

from api.events import log
from api.http import run_streams
from graph.settings import AgentSettings
from tests.api.real_service import DriveRouter, real_client
from tests.api.turn_costs import counting_turns
from tests.fakes.chat_model import ScriptedChatModel, tool_call

if TYPE_CHECKING:
    from pathlib import Path

    from httpx import AsyncClient

ANSWER = "There is nothing in this folder yet."
MOST = {
    ("Who are you?", 0): (10, 12, 4, 4, 2),
    ("List the folder", 0): (11, 12, 4, 4, 2),
    ("List the folder", 3): (20, 15, 7, 7, 5),
}
"""By the message and the calls of a turn, one after the other: trips to threads, statements, transactions, checkpoints,
writes. Small talk does not read the folder."""


@pytest.mark.parametrize(("message", "calls"), MOST)
async def test_turns_cost_no_more_than_they_did(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, message: str, calls: int
) -> None:
    # No timer stores events in between, however slow the machine is.
    monkeypatch.setattr(log, "BATCH_SECONDS", 600.0)
    monkeypatch.setattr(log, "MAX_BATCH_SECONDS", 600.0)
    # Nor is the caller's key looked at again in the middle.
    monkeypatch.setattr(run_streams, "LOOKED_EVERY_SECONDS", 600.0)
    model = ScriptedChatModel()
    with counting_turns(monkeypatch) as counter:
        agent = AgentSettings(model="offline", tool_rate="0")
        async with real_client(tmp_path, model, router=DriveRouter(), agent=agent) as client:
            for turn in range(3):
                model.script = [
                    *(tool_call("list_folder", f"{turn}-{n}", folder_id="root") for n in range(calls)),
                    ANSWER,
                ]
                counter.begin()
                await say(client, message)
            costs = astuple(counter.costs)

    assert not any(map(gt, costs, MOST[message, calls])), costs


async def say(client: AsyncClient, message: str) -> None:
    answer = await client.post("/api/chat", json={"message": message})
    assert ANSWER.split()[0] in answer.text, answer.text
    assert '"status":"success"' in answer.text.replace(" ", ""), answer.text
