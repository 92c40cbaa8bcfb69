"""Sessions over HTTP: their lifetime, and the messages that are stored of them."""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING

import anyio
import pytest
from mcp.shared.message import SessionMessage
from mcp.types import JSONRPCMessage, JSONRPCNotification, JSONRPCRequest
from starlette.requests import Request

from drive_server.http.streamable_http.event_store import Stream
from drive_server.http.streamable_http.sessions import SessionTable
from drive_server.kernel.errors import RateLimitError
from drive_server.mcp.protocol.guard import Guard
from tests.drive_server.http.wire import Gate
from tests.fakes.clock import Seconds
from tests.handshake import INTRODUCTION

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from drive_server.drive import Drive
    from drive_server.http.streamable_http.sessions import HttpSession

IDLE = 1800
MOST = 5
BARE_REQUEST = {"type": "http", "method": "POST", "path": "/mcp", "headers": []}


@pytest.fixture
def clock() -> Seconds:
    return Seconds(1000)


@pytest.fixture
async def table(drive: Drive, clock: Seconds) -> AsyncIterator[SessionTable]:
    settings = drive.settings.model_copy(update={"sessions_per_user": MOST, "session_idle_seconds": IDLE})
    table = SessionTable(drive.server.protocol, Guard(settings, clock), settings, clock)
    async with table.running():
        yield table


async def ask(session: HttpSession, method: str, params: object, number: int) -> Stream:
    request = JSONRPCRequest.model_validate({"jsonrpc": "2.0", "id": number, "method": method, "params": params})
    stream = await session.call(request, "key", Request(BARE_REQUEST), can_resume=True)
    assert isinstance(stream, Stream)
    return stream


async def answered(stream: Stream) -> bytes:
    while not stream.is_complete:
        await stream.wait()
    return stream.take()[-1].data


async def test_a_session_without_a_word_ends_and_is_not_found_any_more(table: SessionTable, clock: Seconds) -> None:
    session = table.open("alice")
    clock.now += IDLE - 1
    assert table.find(session.id, "alice") is session
    with session.in_use():
        clock.now += 10 * IDLE
        table.close_idle()
        assert table.find(session.id, "alice") is session
    clock.now += IDLE

    assert table.find(session.id, "alice") is None
    assert len(table) == 0


async def test_a_session_with_a_call_that_goes_on_is_not_idle(
    drive: Drive, table: SessionTable, clock: Seconds
) -> None:
    gate = Gate(drive)
    session = table.open("alice")
    await answered(await ask(session, "initialize", INTRODUCTION, 0))
    call = await ask(session, "tools/call", {"name": "wait_at_the_gate"}, 1)
    await gate.entered.acquire()
    clock.now += 2 * IDLE
    table.close_idle()
    assert table.find(session.id, "alice") is session

    gate.is_open.set()
    assert b"through" in await answered(call)


async def test_sessions_that_are_left_behind_leave_nothing_behind(
    drive: Drive, table: SessionTable, clock: Seconds
) -> None:
    for person in range(100):
        for _ in range(MOST):
            await answered(await ask(table.open(f"person {person}"), "initialize", INTRODUCTION, 0))
    assert (len(table), len(drive.server.sessions)) == (500, 500)
    clock.now += IDLE
    table.close_idle()
    await anyio.wait_all_tasks_blocked()

    assert (len(table), len(drive.server.sessions)) == (0, 0)


async def test_of_too_many_sessions_the_one_that_was_idle_longest_ends(table: SessionTable, clock: Seconds) -> None:
    others = table.open("bob")
    mine = [table.open("alice") for _ in range(MOST)]
    for session in reversed(mine):
        clock.now += 100
        with session.in_use():
            pass

    with mine[-1].in_use():
        newest = table.open("alice")

    left = [table.find(session.id, session.user_id) for session in (others, *mine, newest)]
    assert left == [others, *mine[:-2], None, mine[-1], newest]


async def test_too_many_sessions_are_refused_while_each_is_at_work(table: SessionTable) -> None:
    with ExitStack() as uses:
        for _ in range(MOST):
            uses.enter_context(table.open("alice").in_use())
        with pytest.raises(RateLimitError) as raised:
            table.open("alice")

    assert raised.value.details == {"limit": MOST, "unit": "sessions", "retry_after_seconds": 1}


async def test_news_of_a_resource_wait_until_they_are_read_and_nothing_else_does(table: SessionTable) -> None:
    session = table.open("alice")
    own = session.log.own

    def said(method: str) -> SessionMessage:
        return SessionMessage(JSONRPCMessage(JSONRPCNotification(jsonrpc="2.0", method=method, params={})))

    async with anyio.create_task_group() as group:
        group.start_soon(session.send, said("notifications/resources/updated"))
        await session.send(said("notifications/resources/list_changed"))
        await anyio.wait_all_tasks_blocked()
        assert own.unread == 1
        own.attach()
        assert [b"list_changed" in event.data for event in own.take()] == [True]

    assert [b"updated" in event.data for event in own.take()] == [True]


async def test_winding_down_lets_calls_end_and_answers_those_that_do_not(drive: Drive, table: SessionTable) -> None:
    gate = Gate(drive)
    session = table.open("alice")
    await answered(await ask(session, "initialize", INTRODUCTION, 0))
    call = await ask(session, "tools/call", {"name": "wait_at_the_gate"}, 1)
    await gate.entered.acquire()

    await table.wind_down(0)

    assert b"unavailable" in await answered(call)
    assert gate.cancelled.is_set()
    assert len(table) == 0
