"""Questions that two drives on one database ask: either takes the answer, and only one of them does."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from drive_server.kernel.access import ALL_SCOPES, Principal
from drive_server.kernel.errors import InvalidInputError
from drive_server.mcp.calls.questions import InputRequiredError, Question
from drive_server.mcp.stateless.questions import Questions
from tests.drive_server.replicas import two_drives

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

ALICE = Principal("alice", "alice@example.com", ALL_SCOPES, "api_key")
CALL: dict[str, Any] = {"name": "write_file", "arguments": {"file_id": "/a.txt", "content": "b"}}
ASKED = Question("Replace the content of 'a.txt'.", "a-1")
YES = {"confirm": {"action": "accept", "content": {}}}
Pair = tuple[Questions, Questions]


@pytest.fixture
async def pair(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Pair]:
    async with two_drives(tmp_path, monkeypatch) as (a, b):
        yield Questions(a.database, 60), Questions(b.database, 60)


async def test_the_answer_to_a_question_of_one_is_taken_by_the_other_and_by_neither_again(pair: Pair) -> None:
    here, there = pair
    asking = here.of_call(ALICE, "tools/call", CALL)
    with pytest.raises(InputRequiredError):
        await asking.answer_to(ASKED, {})
    assert asking.asked is not None
    answered = {**CALL, "requestState": asking.asked["requestState"], "inputResponses": YES}

    answer, seen = await there.of_call(ALICE, "tools/call", answered).answer_to(ASKED, {})

    assert (answer.action, seen) == ("accept", ASKED)
    for questions in (here, there):
        with pytest.raises(InvalidInputError, match="used before"):
            await questions.of_call(ALICE, "tools/call", answered).answer_to(ASKED, {})
