"""The pool: one session per person and server, told live, closed when idle, and nobody waits for another's."""

import asyncio
import gc
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import replace
from typing import get_args

import anyio
import pytest

from graph.servers.connections import transports
from graph.servers.connections.connection import ServerConnection
from graph.servers.definition import ServerDefinition
from graph.servers.pool import ServerPool
from graph.servers.reasons import TEXTS, Reason, ReasonCode, ServerUnavailableError
from graph.servers.status import Key, ServerStatus, StatusBoard
from tests.fakes.clock import SettableClock
from tests.fakes.raw_server import whole
from tests.graph.servers.conftest import PoolMaker
from tests.graph.servers.hostile import EVENTS, HostileHttp, Message, hostile_http, text
from tests.graph.servers.real import free_port, remote
from tests.graph.servers.test_real_servers import text_of

TOOL: Message = {"name": "search", "description": "Searches.", "inputSchema": {"type": "object"}}


@pytest.fixture
async def server() -> AsyncGenerator[HostileHttp]:
    async with hostile_http() as served:
        served.tools = [TOOL]
        yield served


@pytest.fixture
def pool(make_pool: PoolMaker) -> ServerPool:
    return make_pool()


@pytest.fixture
def definition(server: HostileHttp) -> ServerDefinition:
    return remote("streamableHttp", server.port)


async def names(pool: ServerPool, definition: ServerDefinition) -> list[str]:
    return [tool.name for tool in await pool.tools(definition)]


async def reason(pool: ServerPool, definition: ServerDefinition) -> Reason:
    with pytest.raises(ServerUnavailableError) as raised:
        await pool.tools(definition)
    return raised.value.reason


async def all_closed(pool: ServerPool) -> None:
    """Wait until the sessions that are being closed are closed."""
    owners = pool._sessions._owners  # pyright: ignore[reportPrivateUsage] - nobody else waits for it
    await asyncio.wait(set(owners))


async def test_callers_at_the_same_time_share_one_session_and_one_list(
    pool: ServerPool, server: HostileHttp, definition: ServerDefinition
) -> None:
    listed = await asyncio.gather(*(names(pool, definition) for _ in range(10)))

    assert listed == [["search"]] * 10
    assert len(server.calls("initialize")) == len(server.calls("tools/list")) == 1


async def test_two_people_with_the_same_server_have_sessions_of_their_own(
    pool: ServerPool, server: HostileHttp, definition: ServerDefinition
) -> None:
    mine = replace(definition, headers={"Authorization": "Bearer mine"})
    yours = replace(definition, user_id="u2", headers={"Authorization": "Bearer yours"})
    await asyncio.gather(names(pool, mine), names(pool, yours))

    await pool.close("u1", "s1")

    assert len(server.calls("initialize")) == 2
    assert pool.status("u1", "s1").status == "disconnected"
    assert pool.status("u2", "s1").status == "connected"
    assert not [head for head in server.heads if "mine" in head and "yours" in head]


async def test_tools_are_cached_for_five_minutes(
    pool: ServerPool, server: HostileHttp, definition: ServerDefinition, clock: SettableClock
) -> None:
    await names(pool, definition)
    server.tools = []
    clock.advance(seconds=299)
    assert await names(pool, definition) == ["search"]
    clock.advance(seconds=2)
    assert await names(pool, definition) == []


async def test_the_cache_is_dropped_when_the_server_says_that_its_tools_changed(
    pool: ServerPool, server: HostileHttp, definition: ServerDefinition
) -> None:
    await names(pool, definition)
    note = b'event: message\ndata: {"jsonrpc":"2.0","method":"notifications/tools/list_changed"}\n\n'

    def answer(message: Message) -> bytes:
        server.tools = [TOOL, {**TOOL, "name": "more"}]
        return EVENTS + note + b"data: " + text(message, "done").partition(b"\r\n\r\n")[2] + b"\n\n"

    server.behaviours["tools/call"] = answer
    await pool.call(definition, "search", {})

    assert await names(pool, definition) == ["search", "more"]


async def test_a_list_that_changes_while_it_is_read_is_read_again_next_time(
    pool: ServerPool, server: HostileHttp, definition: ServerDefinition
) -> None:
    note = b'event: message\ndata: {"jsonrpc":"2.0","method":"notifications/tools/list_changed"}\n\n'

    def answer(message: Message) -> bytes:
        del server.behaviours["tools/list"]
        old = server.tools_list(message).partition(b"\r\n\r\n")[2]
        server.tools = []
        return EVENTS + note + b"data: " + old + b"\n\n"

    server.behaviours["tools/list"] = answer

    assert await names(pool, definition) == ["search"]
    assert await names(pool, definition) == []


async def test_a_server_hears_that_its_session_is_over(
    pool: ServerPool, server: HostileHttp, definition: ServerDefinition
) -> None:
    await names(pool, definition)
    await pool.close("u1", "s1")

    (head,) = [head for head in server.heads if head.startswith("DELETE")]
    assert "mcp-session-id: hostile-1" in head.lower()


async def test_a_server_that_does_not_take_leave_holds_nothing_up(
    pool: ServerPool, server: HostileHttp, definition: ServerDefinition, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(transports, "LEAVE_SECONDS", 0.05)
    server.behaviours["DELETE"] = lambda _message: None
    await names(pool, definition)

    async with asyncio.timeout(10):
        await pool.close("u1", "s1")

    assert pool.open_sessions == 0


async def test_a_server_that_is_switched_off_ends_its_calls_at_once(
    pool: ServerPool, server: HostileHttp, definition: ServerDefinition
) -> None:
    server.behaviours["tools/call"] = lambda _message: None
    call = asyncio.create_task(pool.call(definition, "search", {}))
    await server.wait_for("tools/call")

    async with asyncio.timeout(10):
        await pool.close("u1", "s1")
        with pytest.raises(ServerUnavailableError) as ended:
            await call

    assert ended.value.outcome_unknown
    assert ended.value.sentence == (
        "The server real can't be used: It closed the connection. Whether the call was carried out is unknown."
    )
    assert pool.status("u1", "s1").status == "disconnected"


async def test_a_server_that_was_deleted_is_not_connected_to_again_by_a_turn_that_goes_on(
    pool: ServerPool, definition: ServerDefinition
) -> None:
    await names(pool, definition)
    await pool.remove("u1", "s1")

    assert (await reason(pool, definition)).code == "changed"


@pytest.mark.parametrize("url", ["", "nonsense", "ftp://host/mcp", "http://", "http://[/mcp", "http://a b/mcp"])
async def test_an_address_that_is_none_is_told(pool: ServerPool, definition: ServerDefinition, url: str) -> None:
    assert (await reason(pool, replace(definition, base_url=url))).code in {"definition", "host_unknown"}


async def test_no_more_tools_are_taken_than_the_limit_and_none_twice(
    make_pool: PoolMaker, server: HostileHttp, definition: ServerDefinition
) -> None:
    server.tools = [TOOL, TOOL, {**TOOL, "name": ""}, {**TOOL, "name": "x" * 500}]
    server.tools += [{**TOOL, "name": f"t{number}"} for number in range(100)]

    assert await names(make_pool(mcp_tools_per_server=3), definition) == ["search", "t0", "t1"]


async def test_an_idle_session_is_closed_after_half_an_hour_without_anyone_asking(
    pool: ServerPool, server: HostileHttp, definition: ServerDefinition, clock: SettableClock
) -> None:
    await names(pool, definition)
    clock.advance(minutes=29)
    pool._reap()  # pyright: ignore[reportPrivateUsage] - a timer calls it every minute
    assert pool.open_sessions == 1

    clock.advance(minutes=2)
    pool._reap()  # pyright: ignore[reportPrivateUsage]
    await all_closed(pool)

    assert pool.open_sessions == 0
    assert pool.status("u1", "s1") == ServerStatus("disconnected")
    assert await names(pool, definition) == ["search"]
    assert len(server.calls("initialize")) == 2


async def test_a_changed_definition_gets_a_new_session_and_the_older_one_is_refused(
    pool: ServerPool, server: HostileHttp, definition: ServerDefinition
) -> None:
    await names(pool, definition)
    (older,) = pool._sessions._owners  # pyright: ignore[reportPrivateUsage] - nobody else waits for it
    changed = replace(definition, headers={"X-Key": "new"}, version=1)

    assert await names(pool, changed) == ["search"]

    assert (await reason(pool, definition)).code == "changed"
    assert len(server.calls("initialize")) == 2
    await asyncio.wait({older})
    assert pool.open_sessions == 1
    assert pool.status("u1", "s1").status == "connected"


async def test_a_session_that_ends_while_the_one_that_replaces_it_opens_says_nothing_of_it(
    pool: ServerPool, server: HostileHttp, definition: ServerDefinition, monkeypatch: pytest.MonkeyPatch
) -> None:
    await names(pool, definition)
    set_status, ended = StatusBoard.set, pool._ended  # pyright: ignore[reportPrivateUsage] - the moment is the point
    older = pool._places["u1", "s1"].newest  # pyright: ignore[reportPrivateUsage] - as above
    assert isinstance(older, ServerConnection)

    def set_and_end(board: StatusBoard, key: Key, status: ServerStatus) -> None:
        set_status(board, key, status)
        if status.status == "connected":
            ended(key, older, None)

    monkeypatch.setattr(StatusBoard, "set", set_and_end)
    await names(pool, replace(definition, version=1))

    assert len(server.calls("initialize")) == 2
    assert pool.status("u1", "s1").status == "connected"


async def test_a_broken_server_is_tried_again_after_longer_and_longer(
    pool: ServerPool, server: HostileHttp, definition: ServerDefinition, clock: SettableClock
) -> None:
    server.behaviours["initialize"] = lambda _message: whole(b"", status="500 Oops")
    waits: list[object] = []
    for _ in range(12):
        assert (await reason(pool, definition)).code == "http_status"
        refused = await reason(pool, definition)
        waits.append(refused.params["seconds"])
        clock.advance(seconds=float(str(refused.params["seconds"])))

    assert waits == [1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300, 300]
    assert len(server.calls("initialize")) == 12


async def test_a_test_of_the_connection_waits_for_no_backoff_and_ends_it(
    pool: ServerPool, server: HostileHttp, definition: ServerDefinition
) -> None:
    server.behaviours["initialize"] = lambda _message: whole(b"", status="500 Oops")
    await reason(pool, definition)
    del server.behaviours["initialize"]

    details = await pool.details(definition)

    assert (details.name, details.version) == ("hostile", "1")
    assert await names(pool, definition) == ["search"]


async def test_one_persons_silent_server_delays_nobody_else(pool: ServerPool, definition: ServerDefinition) -> None:
    async with hostile_http() as silent:
        silent.behaviours["initialize"] = lambda _message: None
        waiting = asyncio.create_task(names(pool, replace(remote("streamableHttp", silent.port), user_id="u2")))
        await silent.wait_for("initialize")

        async with asyncio.timeout(10):
            assert await names(pool, definition) == ["search"]
        assert not waiting.done()
        assert pool.status("u2", "s1").status == "connecting"

        await pool.close("u2", "s1")
        with pytest.raises(ServerUnavailableError):
            await waiting
        assert pool.status("u2", "s1").status == "disconnected"


async def test_a_turn_waits_no_longer_than_it_wants_while_the_connection_is_opened(
    pool: ServerPool, server: HostileHttp, definition: ServerDefinition
) -> None:
    gate: list[bytes] = []
    server.behaviours["initialize"] = lambda _message: gate.pop() if gate else None

    with pytest.raises(ServerUnavailableError) as late:
        await pool.tools(definition, wait_seconds=0.05)

    assert late.value.reason.code == "timeout"
    assert pool.status("u1", "s1").status == "connecting"


async def test_statuses_are_told_live_and_to_their_person_only(
    pool: ServerPool, server: HostileHttp, definition: ServerDefinition
) -> None:
    await names(pool, replace(definition, id="s0"))
    seen: list[tuple[str, str]] = []

    async def watch() -> None:
        async with aclosing(pool.watch("u1")) as changes:
            async for server_id, status in changes:
                seen.append((server_id, status.status))

    async def do(*steps: object) -> None:
        del steps
        await anyio.wait_all_tasks_blocked()

    watching = asyncio.create_task(watch())
    await do()
    await do(await names(pool, definition))
    await do(await names(pool, replace(definition, user_id="u2")))
    await do(await pool.close("u1", "s1"))
    server.behaviours["initialize"] = lambda _message: whole(b"", status="500 Oops")
    await do(await reason(pool, definition))
    watching.cancel()

    assert seen[0] == ("s0", "connected")
    assert [status for server_id, status in seen if server_id == "s1"] == [
        *("connecting", "connected", "disconnected", "connecting", "error")
    ]


async def test_a_slow_watcher_sees_the_newest_state_of_each_server(
    pool: ServerPool, definition: ServerDefinition
) -> None:
    watcher = pool.watch("u1")
    first = asyncio.ensure_future(anext(watcher))
    await anyio.wait_all_tasks_blocked()
    for _ in range(3):
        await names(pool, definition)
        await pool.close("u1", "s1")

    assert (await first)[0] == "s1"
    assert await anext(watcher) == ("s1", ServerStatus("disconnected"))
    await watcher.aclose()


async def test_calls_a_minute_are_limited_for_each_server(
    make_pool: PoolMaker, definition: ServerDefinition, clock: SettableClock
) -> None:
    pool = make_pool(mcp_calls_per_minute=2)
    for _ in range(2):
        await pool.call(definition, "search", {})

    with pytest.raises(ServerUnavailableError) as busy:
        await pool.call(definition, "search", {})

    assert busy.value.reason == Reason("busy", {"limit": 2, "seconds": 60})
    await pool.call(replace(definition, id="s2"), "search", {})
    clock.advance(seconds=61)
    await pool.call(definition, "search", {})


async def test_a_call_carries_its_meta(pool: ServerPool, server: HostileHttp, definition: ServerDefinition) -> None:
    answer = await pool.call(definition, "search", {"q": 1}, meta={"drive-agent/call": "c1"})

    assert text_of(answer) == "done"
    params = server.calls()[0]["params"]
    assert params == {"name": "search", "arguments": {"q": 1}, "_meta": {"drive-agent/call": "c1"}}


async def test_the_sessions_of_many_people_are_closed_when_idle_and_nothing_of_them_stays(
    pool: ServerPool, definition: ServerDefinition, clock: SettableClock
) -> None:
    people = [replace(definition, user_id=f"u{person}", id=f"s{number}") for person in range(8) for number in range(3)]
    await asyncio.gather(*(names(pool, one) for one in people))
    assert pool.open_sessions == 24

    clock.advance(minutes=31)
    pool._reap()  # pyright: ignore[reportPrivateUsage] - a timer calls it every minute
    await all_closed(pool)
    gc.collect()

    assert not [thing for thing in gc.get_objects() if isinstance(thing, ServerConnection)]
    assert {pool.status(one.user_id, one.id).status for one in people} == {"disconnected"}


async def test_the_address_of_a_server_that_is_gone_is_told(pool: ServerPool) -> None:
    gone = remote("streamableHttp", free_port())

    with pytest.raises(ServerUnavailableError) as raised:
        await pool.tools(gone)

    assert raised.value.sentence == "The server real can't be used: 127.0.0.1 can't be reached."
    assert raised.value.in_language("zh").sentence == "服务器 real 无法使用：无法连接到 127.0.0.1。"


def test_every_reason_has_its_sentence() -> None:
    assert {code for code in TEXTS.codes if code.startswith("reason.")} == {
        f"reason.{code}" for code in get_args(ReasonCode)
    }
