"""The client's end of a session in this process: it outlives whatever is given up, on either side, and when."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import anyio
import pytest
from mcp.server.fastmcp import Context  # noqa: TC002 - the server looks at the annotations of its tools
from mcp.shared.exceptions import McpError
from mcp.shared.memory import create_client_server_memory_streams
from mcp.shared.message import SessionMessage
from mcp.types import (
    CONNECTION_CLOSED,
    CreateMessageRequest,
    CreateMessageRequestParams,
    CreateMessageResult,
    JSONRPCMessage,
    JSONRPCRequest,
)

from drive_server.connect import in_process_session
from drive_server.mcp.calls.sampling import HostModel
from drive_server.mcp.sdk import InProcessSession
from tests.drive_server.gates import cancel, next_id
from tests.drive_server.lender import reply

if TYPE_CHECKING:
    from mcp import ClientSession
    from mcp.server.session import ServerSession

    from drive_server.drive import Drive
    from drive_server.kernel.access import Actor

PATIENCE = 20
FOR_EVER = timedelta(hours=1)
"""Longer than any test: what does not come at once does not come."""


class Lent:
    """A model that answers once it may; `asked` requests wait for it now, `is_idle` when none does any more."""

    def __init__(self) -> None:
        self.may_answer = anyio.Event()
        self.is_idle = anyio.Event()
        self.asked = 0
        self._comes = anyio.Semaphore(0)

    async def __call__(self, context: Any, params: CreateMessageRequestParams) -> CreateMessageResult:
        """Answer one request."""
        del context, params
        self.asked += 1
        self._comes.release()
        try:
            await self.may_answer.wait()
        finally:
            self.asked -= 1
            if not self.asked:
                self.is_idle.set()
        return reply("Yes.")

    async def is_asked(self, times: int) -> None:
        """Wait until it was asked so many times more."""
        for _ in range(times):
            await self._comes.acquire()


async def ask(session: ServerSession, answers: list[str], times: int = 1) -> None:
    """Ask the host's model so many things at once."""

    async def one() -> None:
        answers.append(await HostModel(session, None, FOR_EVER.total_seconds()).complete("", "Is it?", 10))

    async with anyio.create_task_group() as group:
        for _ in range(times):
            group.start_soon(one)


async def steps(count: int) -> None:
    """Let everything that can go on do so, so many times."""
    for _ in range(count):
        await asyncio.sleep(0)


@pytest.mark.parametrize("at_once", [1, 2, 8])
async def test_requests_to_the_model_can_be_withdrawn_at_every_step_of_their_answers(
    drive: Drive, alice: Actor, at_once: int
) -> None:
    """Withdraw at each step between the model's first word and the last answer."""
    count, answers = 0, list[str]()
    while len(answers) < at_once:
        answers, lent = [], Lent()
        with anyio.fail_after(PATIENCE):
            async with in_process_session(drive, alice.principal, read_timeout=FOR_EVER, sampling=lent) as client:
                (session,) = drive.server.protocol.sessions
                async with anyio.create_task_group() as group:
                    group.start_soon(ask, session, answers, at_once)
                    await lent.is_asked(at_once)
                    lent.may_answer.set()
                    await steps(count)
                    group.cancel_scope.cancel()
                await client.send_ping()
                await ask(session, [], at_once)
                assert not client._in_flight  # pyright: ignore[reportPrivateUsage] - what would be kept for ever
        count += 1
    assert count > 3


async def test_the_model_can_answer_at_every_step_of_the_withdrawal_of_its_request(drive: Drive, alice: Actor) -> None:
    """Let the model answer at each step between the withdrawal and its end."""
    count, is_stopped = 0, False
    while not is_stopped:
        lent = Lent()
        with anyio.fail_after(PATIENCE):
            async with in_process_session(drive, alice.principal, read_timeout=FOR_EVER, sampling=lent) as client:
                (session,) = drive.server.protocol.sessions
                async with anyio.create_task_group() as group:
                    group.start_soon(ask, session, [])
                    await lent.is_asked(1)
                    group.cancel_scope.cancel()
                    with anyio.CancelScope(shield=True):
                        await steps(count)
                    is_stopped = lent.is_idle.is_set()
                    lent.may_answer.set()
                await client.send_ping()
                await ask(session, [])
                assert not client._in_flight  # pyright: ignore[reportPrivateUsage] - what would be kept for ever
        count += 1
    assert count > 3


async def test_a_call_can_be_given_up_at_every_step_of_its_answer(drive: Drive, alice: Actor) -> None:
    """Cancel the caller at each step; the server does not hear of it."""
    count, is_answered = 0, False

    async def ping(client: ClientSession) -> None:
        nonlocal is_answered
        await client.send_ping()
        is_answered = True

    while not is_answered:
        with anyio.fail_after(PATIENCE):
            async with in_process_session(drive, alice.principal, read_timeout=FOR_EVER) as client:
                async with anyio.create_task_group() as group:
                    group.start_soon(ping, client)
                    await steps(count)
                    group.cancel_scope.cancel()
                await client.send_ping()
        count += 1
    assert count > 3


@pytest.mark.parametrize("calls", [1, 2, 5])
async def test_calls_that_are_cancelled_together_take_back_all_they_asked(
    drive: Drive, alice: Actor, calls: int
) -> None:
    lent = Lent()

    async def ask_much(context: Context[Any, Any, Any]) -> None:
        await ask(context.session, [], 8)

    async def call(client: ClientSession) -> None:
        with pytest.raises(McpError):
            await client.call_tool("ask_much")

    drive.server.add_tool(ask_much)
    with anyio.fail_after(PATIENCE):
        async with in_process_session(drive, alice.principal, read_timeout=FOR_EVER, sampling=lent) as client:
            first = next_id(client)
            async with anyio.create_task_group() as group:
                for _ in range(calls):
                    group.start_soon(call, client)
                await lent.is_asked(calls * 8)
                for request_id in range(first, first + calls):
                    await cancel(client, request_id)
            await client.send_ping()
            assert lent.asked == 0


async def test_whoever_waits_for_an_answer_is_told_when_the_session_is_closed(drive: Drive, alice: Actor) -> None:
    lent, codes = Lent(), list[int]()

    async def wait(context: Context[Any, Any, Any]) -> None:
        await ask(context.session, [])

    async def call(client: ClientSession) -> None:
        with pytest.raises(McpError) as refused:
            await client.call_tool("wait")
        codes.append(refused.value.error.code)

    drive.server.add_tool(wait)
    with anyio.fail_after(PATIENCE):
        async with (
            anyio.create_task_group() as group,
            in_process_session(drive, alice.principal, read_timeout=FOR_EVER, sampling=lent) as client,
        ):
            for _ in range(3):
                group.start_soon(call, client)
            await lent.is_asked(3)
    assert codes == [CONNECTION_CLOSED] * 3


async def test_a_model_that_answers_a_server_that_is_gone_breaks_nothing() -> None:
    lent = Lent()
    params = CreateMessageRequestParams(messages=[], maxTokens=10)
    question = CreateMessageRequest(params=params).model_dump(by_alias=True, mode="json", exclude_none=True)
    with anyio.fail_after(PATIENCE):
        async with (
            create_client_server_memory_streams() as (ours, (reading, writing)),
            InProcessSession(*ours, sampling_callback=lent),
        ):
            await writing.send(SessionMessage(JSONRPCMessage(JSONRPCRequest(jsonrpc="2.0", id=1, **question))))
            await lent.is_asked(1)
            writing.close()
            reading.close()
            lent.may_answer.set()
            await lent.is_idle.wait()
            await steps(5)
