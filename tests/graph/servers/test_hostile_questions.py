"""Questions of servers that misbehave, and of one that nobody here wrote; and the time of a call meanwhile."""

import asyncio
import json
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import pytest
from mcp.types import ElicitResult

from graph.servers.connections.in_flight import CallInFlight
from graph.servers.definition import ServerDefinition, ServerType
from graph.servers.elicitation.questions import Question, UrlsRequiredError
from graph.servers.pool import ServerPool
from tests.graph.servers import hostile_program
from tests.graph.servers.conftest import PoolMaker
from tests.graph.servers.real import EVERYTHING, allowed, everything, free_port, remote, stdio
from tests.graph.servers.test_real_servers import text_of

PROGRAM = [sys.executable, "-I", "-S", str(hostile_program.__file__)]


def hostile() -> ServerDefinition:
    return stdio([*PROGRAM, ""])


@pytest.fixture
def pool(make_pool: PoolMaker) -> ServerPool:
    return make_pool(stdio_commands=allowed([*PROGRAM, "*"], EVERYTHING))


@asynccontextmanager
async def served(kind: ServerType) -> AsyncGenerator[ServerDefinition]:
    if kind == "stdio":
        yield stdio(EVERYTHING)
        return
    port = free_port()
    async with everything(kind, port):
        yield remote(kind, port)


@pytest.mark.parametrize("kind", ["stdio", "streamableHttp"])
async def test_a_server_that_others_wrote_asks_with_every_kind_of_field_and_for_addresses(
    pool: ServerPool, kind: ServerType
) -> None:
    asked: list[Question] = []

    async def ask(question: Question) -> ElicitResult:
        asked.append(question)
        return ElicitResult(action="accept", content={"name": "Ada"} if question.mode == "form" else None)

    async with served(kind) as definition:
        form = await pool.call(definition, "trigger-elicitation-request", {}, ask=ask)
        declined = await pool.call(definition, "trigger-elicitation-request", {})
        page = {"url": "https://example.com/form", "elicitationId": "e1"}
        visit = await pool.call(definition, "trigger-url-elicitation", page, ask=ask)
        with pytest.raises(UrlsRequiredError) as required:
            await pool.call(definition, "trigger-url-elicitation", {**page, "errorPath": True}, ask=ask)

    assert [question.mode for question in asked] == ["form", "url"]
    assert len(asked[0].schema["properties"]) == 13
    assert (asked[1].host, asked[1].elicitation_id) == ("example.com", "e1")
    assert "- Name: Ada" in text_of(form)
    assert "declined" in text_of(declined)
    assert "completed the URL elicitation" in text_of(visit)
    assert [question.host for question in required.value.questions] == ["modelcontextprotocol.io"]


async def test_what_it_asks_while_no_call_waits_is_declined(pool: ServerPool) -> None:
    definition = stdio([*PROGRAM, "asks"])
    await pool.tools(definition)
    assert json.loads(text_of(await pool.call(definition, "what_was_answered", {}))) == [{"action": "decline"}]


async def test_a_question_that_it_takes_back_waits_no_longer(pool: ServerPool) -> None:
    cancelled = asyncio.Event()

    async def ask(question: Question) -> ElicitResult:
        del question
        try:
            return await asyncio.get_running_loop().create_future()
        finally:
            cancelled.set()

    assert text_of(await pool.call(hostile(), "ask_and_withdraw", {}, ask=ask)) == "never mind"
    await asyncio.wait_for(cancelled.wait(), 5)


@pytest.mark.parametrize("kind", ["nested", "invisible", "script", "user"])
async def test_what_a_person_can_not_be_shown_is_refused(pool: ServerPool, kind: str) -> None:
    async def ask(question: Question) -> ElicitResult:
        raise AssertionError(question)

    answer = json.loads(text_of(await pool.call(hostile(), "ask_badly", {"kind": kind}, ask=ask)))

    assert answer["error"]["message"].startswith("This can't be asked")


async def test_the_time_of_a_call_stands_still_while_the_person_is_asked() -> None:
    call = CallInFlight(0.01)
    never: asyncio.Future[None] = asyncio.get_running_loop().create_future()
    steps: list[str] = []

    async def work() -> None:
        async with call.time():
            with call.paused():
                await asyncio.wait({never}, timeout=0.05)
            steps.append("asked")
            await never

    with pytest.raises(TimeoutError):
        await work()
    assert steps == ["asked"]
