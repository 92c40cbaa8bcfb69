"""The pool of sessions: one per person and scopes, reopened when dead, closed when idle, all closed at the end."""

import asyncio
from collections.abc import AsyncGenerator
from dataclasses import replace

import anyio
import pytest
from mcp.types import CallToolResult, ToolAnnotations

from graph.context import RunContext
from graph.drive import connections
from graph.drive.connections import ConnectionPool
from graph.errors import DriveUnavailableError
from graph.policy.rules import Situation, judge
from tests.fakes.clock import SettableClock
from tests.fakes.mcp_server import ScriptedServer, SeenCall, answer, refusal
from tests.graph.assistant import WHO


@pytest.fixture
def server() -> ScriptedServer:
    server = ScriptedServer()
    server.add("ping", lambda _call: answer("pong", {"n": 1}, change_id=7))
    return server


@pytest.fixture
async def pool(server: ScriptedServer, clock: SettableClock) -> AsyncGenerator[ConnectionPool]:
    pool = ConnectionPool(server.open_session, call_seconds=0.3, idle_seconds=60, clock=clock)
    yield pool
    await pool.aclose()


async def ping(pool: ConnectionPool, who: RunContext = WHO) -> CallToolResult:
    return await (await pool.toolbox(who)).call("ping", {}, meta={"drive-agent/run-id": "r"})


async def test_a_call_carries_its_meta_and_brings_back_the_whole_result(
    pool: ConnectionPool, server: ScriptedServer
) -> None:
    result = await ping(pool)
    assert result.structuredContent == {"n": 1}
    assert (result.meta or {})["drive-agent/change-id"] == 7
    assert server.calls == [SeenCall("ping", {}, {"drive-agent/run-id": "r"})]


async def test_one_session_serves_a_person_and_each_set_of_scopes_has_its_own(
    pool: ConnectionPool, server: ScriptedServer
) -> None:
    await asyncio.gather(*(ping(pool) for _ in range(10)))
    assert server.sessions == 1
    await ping(pool, replace(WHO, scopes=tuple(reversed(WHO.scopes))))
    assert server.sessions == 1
    await ping(pool, replace(WHO, scopes=("read",)))
    await ping(pool, replace(WHO, user_id="u2"))
    assert server.sessions == 3


async def test_calls_side_by_side_keep_their_own_meta(pool: ConnectionPool, server: ScriptedServer) -> None:
    server.add("echo", lambda call: answer(call.meta["drive-agent/run-id"]))
    box = await pool.toolbox(WHO)
    runs = [f"run-{number}" for number in range(20)]
    results = await asyncio.gather(*(box.call("echo", {}, meta={"drive-agent/run-id": run}) for run in runs))
    assert [result.content[0].text for result in results if result.content[0].type == "text"] == runs


async def test_a_dead_session_is_replaced_and_the_call_made_once_more(
    pool: ConnectionPool, server: ScriptedServer
) -> None:
    box = await pool.toolbox(WHO)
    await server.hang_up()
    result = await box.call("ping", {}, meta={})
    assert result.structuredContent == {"n": 1}
    assert server.sessions == 2


@pytest.mark.parametrize("code", ["database_away", "contents_away"])
async def test_a_call_waits_for_the_storage_of_the_drive_and_keeps_its_key(
    pool: ConnectionPool, server: ScriptedServer, monkeypatch: pytest.MonkeyPatch, code: str
) -> None:
    away = refusal(code)
    answers = iter([away, away, answer("pong", {"n": 1})])
    server.add("ping", lambda _call: next(answers))
    monkeypatch.setattr(connections, "PAUSES_SECONDS", (0.0, 0.0, 0.0))
    assert (await ping(pool)).structuredContent == {"n": 1}
    assert [call.meta for call in server.calls] == [{"drive-agent/run-id": "r"}] * 3


async def test_a_database_that_stays_away_is_the_answer_in_the_end(
    pool: ConnectionPool, server: ScriptedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.add("ping", lambda _call: refusal("database_away"))
    monkeypatch.setattr(connections, "PAUSES_SECONDS", (0.0,))
    result = await ping(pool)
    assert (result.isError, (result.structuredContent or {})["code"]) == (True, "database_away")
    assert len(server.calls) == 2


async def test_a_silent_server_is_an_error_of_its_own_and_its_session_is_given_up(
    pool: ConnectionPool, server: ScriptedServer
) -> None:
    async def silent(_call: SeenCall) -> CallToolResult:
        await anyio.sleep_forever()
        raise AssertionError

    server.add("silent", silent)
    box = await pool.toolbox(WHO)
    with pytest.raises(DriveUnavailableError):
        await box.call("silent", {}, meta={})
    assert len(server.calls) == 1
    await ping(pool)
    assert server.sessions == 2


async def test_a_session_that_can_not_be_opened_is_an_error_and_the_next_try_is_free(
    pool: ConnectionPool, server: ScriptedServer
) -> None:
    server.breaks_on_open = PermissionError("no such user")
    with pytest.raises(DriveUnavailableError):
        await pool.toolbox(WHO)
    server.breaks_on_open = None
    await ping(pool)


async def test_a_resource_that_can_not_be_read_is_none(pool: ConnectionPool, server: ScriptedServer) -> None:
    box = await pool.toolbox(WHO)
    assert await box.read_resource("drive://files/none") is None
    await pool.aclose()
    server.breaks_on_open = PermissionError("no such user")
    assert await box.read_resource("drive://files/none") is None


async def test_an_idle_session_is_closed_when_the_pool_is_next_used(
    pool: ConnectionPool, server: ScriptedServer, clock: SettableClock
) -> None:
    await ping(pool)
    clock.advance(61)
    await ping(pool, replace(WHO, user_id="u2"))
    await anyio.wait_all_tasks_blocked()
    assert pool.open_sessions == 1
    assert len(server.live) == 1


async def test_closing_the_pool_closes_every_session(pool: ConnectionPool, server: ScriptedServer) -> None:
    for number in range(5):
        await ping(pool, replace(WHO, user_id=str(number)))
    await pool.aclose()
    assert pool.open_sessions == 0
    assert server.live == []


async def test_a_caller_that_gives_up_leaves_the_session_to_the_others(
    pool: ConnectionPool, server: ScriptedServer
) -> None:
    gate = anyio.Event()

    async def slow(_call: SeenCall) -> CallToolResult:
        await gate.wait()
        return answer("slow")

    server.add("slow", slow)
    box = await pool.toolbox(WHO)
    task = asyncio.create_task(box.call("slow", {}, meta={}))
    await anyio.wait_all_tasks_blocked()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    gate.set()
    await ping(pool)
    assert server.sessions == 1


async def test_progress_reaches_the_caller(pool: ConnectionPool, server: ScriptedServer) -> None:
    seen: list[float] = []
    server.reports_progress("long", [0.5, 1.0])

    async def on_progress(progress: float, total: float | None, message: str | None) -> None:
        del total, message
        seen.append(progress)

    box = await pool.toolbox(WHO)
    await box.call("long", {}, meta={}, on_progress=on_progress)
    assert seen == [0.5, 1.0]


async def test_only_a_drive_of_this_process_speaks_for_its_tools(clock: SettableClock) -> None:
    for is_foreign in (False, True):
        server = ScriptedServer(is_foreign=is_foreign)
        server.add("read_file", lambda _call: answer("text"), annotations=ToolAnnotations(readOnlyHint=True))
        pool = ConnectionPool(server.open_session, clock=clock)
        tool = (await pool.toolbox(WHO)).facts_of("read_file")
        verdict = judge(tool, {}, Situation(language="en")).verdict
        assert (tool.rule is None, verdict) == ((True, "ask") if is_foreign else (False, "allow"))
        assert tool.read_only
        await pool.aclose()
