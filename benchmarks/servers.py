"""Many people with MCP servers of their own: `python -m benchmarks.servers`.

Opens each person's servers, prints the memory of a connection in this process, and closes the idle ones half an hour
later on a clock that is moved. The servers are cheap ones over HTTP in a process beside this one; `--programs` more run
as programs, of which each has a process and a supervisor.

Then turns of some people, who use the drive and servers that work, beside turns of others: first these have servers
that work, too, then such as answer with errors, or not at all. The aim is that nobody else notices.
"""

import argparse
import asyncio
import ctypes
import gc
import os
import tempfile
import time
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from statistics import median, quantiles
from typing import Any, Final, get_args
from uuid import uuid4

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.store.memory import InMemoryStore
from mcp.types import Tool

from benchmarks.fixtures.services.mcp_servers import TOOL, cheap_servers
from benchmarks.fixtures.table import print_table
from drive_server.connect import ALL_SCOPES, Actor, Drive, DriveSettings, open_drive
from graph.build import Graph, build_graph
from graph.context import RunContext
from graph.dependencies import GraphDependencies
from graph.drive.connections import ConnectionPool, drive_sessions
from graph.events.sending import listening
from graph.servers.choices import Choice
from graph.servers.connections.connection import ServerConnection
from graph.servers.connections.supervisor import descendants, resident_bytes
from graph.servers.definition import ServerDefinition
from graph.servers.pins import hash_of
from graph.servers.pool import ServerPool
from graph.settings import AgentSettings, ModelRole
from tests.fakes.chat_model import FakeChatModel, route_to, tool_call, tool_calls
from tests.fakes.small_mcp import program
from tests.graph.servers.real import allowed

SERVERS_EACH: Final = 3
NOTE: Final = "mcp__server_0__note"
MESSAGE: Final = "list my files, then note it"
KINDS: Final = ("good", "broken", "hanging")
IDLE: Final = timedelta(minutes=31)
MAX_WAIT_SECONDS: Final = 30


class MovedClock:
    """Tells the time from where it was moved to."""

    def __init__(self) -> None:
        self.now = datetime(2026, 11, 21, 9, 0, tzinfo=UTC)

    def __call__(self) -> datetime:
        """Return the time."""
        return self.now


class ListingModel(FakeChatModel):
    """Lists a folder and calls a server's tool, then says that it has."""

    def _answer(self, messages: Sequence[BaseMessage], offered: Sequence[str]) -> AIMessage:
        if "RouteDecision" in offered:
            return route_to("drive_agent")
        if not isinstance(messages[-1], HumanMessage):
            return AIMessage("I did.")
        calls = [tool_call("list_folder", f"call_{uuid4().hex}"), tool_call(NOTE, f"call_{uuid4().hex}")]
        return tool_calls(*(call for call in calls if call.tool_calls[0]["name"] in offered))


@dataclass
class Chosen:
    """What each person has chosen, by their id."""

    choices: dict[str, Choice] = field(default_factory=dict[str, Choice])

    async def chosen(self, user: RunContext) -> Choice:
        """Return it."""
        return self.choices[user.user_id]


@dataclass(frozen=True, slots=True)
class Memory:
    """Connections open, and left after half an hour, and objects of them.

    `http_bytes` are what this process has more with those over HTTP open, `again_bytes` what it has more after all were
    opened and closed a second time than after the first: Python keeps what it got from the system, and uses it again.
    """

    opened: int
    left: int
    objects_left: int
    http_bytes: int
    again_bytes: int
    program_bytes: int
    programs_left: int


@dataclass
class Turns:
    """The seconds of each turn, and the outcomes of its calls by tool."""

    seconds: list[float] = field(default_factory=list[float])
    outcomes: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])


def definitions(user_id: str, url: str, kind: str = "good") -> tuple[ServerDefinition, ...]:
    """Return a person's servers over HTTP, whose tool they have seen and approved in advance."""
    seen = {"note": hash_of(Tool.model_validate(TOOL))}
    return tuple(
        ServerDefinition(
            id=f"{user_id}-{number}",
            user_id=user_id,
            name=f"server {number}",
            type="streamableHttp",
            base_url=f"{url}/{kind}/{number}/mcp",
            pins=seen,
            auto_approve_tools=frozenset(seen),
        )
        for number in range(SERVERS_EACH)
    )


async def measure_memory(people: int, programs: int, url: str, folder: Path) -> Memory:
    """Open the servers of so many people, and let them be idle."""
    clock = MovedClock()
    (folder / "small").mkdir(parents=True)
    line = program(folder / "small")
    settings = AgentSettings(mcp_private_hosts="127.0.0.1", stdio_commands=allowed(line))
    pool = ServerPool(settings, folder=folder / "servers", clock=clock)
    over_http = [one for number in range(people) for one in definitions(f"u{number}", url)]
    own: Any = {"type": "stdio", "name": "program", "command": line[0], "args": tuple(line[1:])}
    as_programs = [ServerDefinition(id=f"p{number}", user_id=f"u{number}", **own) for number in range(programs)]
    others = set(descendants())

    async def be_idle() -> int:
        clock.now += IDLE
        pool._reap()  # pyright: ignore[reportPrivateUsage] - a timer calls it every minute
        await _until_closed(pool)
        return _resident()

    try:
        await pool.tools(over_http[0])  # what the first one loads is not the connection's
        before = _resident()
        await _open(pool, over_http)
        http_bytes = _resident() - before
        for one in as_programs:
            await pool.tools(one)
        processes, opened = set(descendants()) - others, pool.open_sessions
        program_bytes = sum(map(resident_bytes, processes))
        after_once = await be_idle()
        programs_left = len(processes.intersection(descendants()))
        await _open(pool, over_http)
        again_bytes = await be_idle() - after_once
        objects = sum(isinstance(one, ServerConnection) for one in gc.get_objects())
        return Memory(opened, pool.open_sessions, objects, http_bytes, again_bytes, program_bytes, programs_left)
    finally:
        await pool.aclose()


async def _open(pool: ServerPool, servers: Sequence[ServerDefinition]) -> None:
    await asyncio.gather(*(pool.tools(one) for one in servers))


async def _until_closed(pool: ServerPool) -> None:
    owners = set(pool._sessions._owners)  # pyright: ignore[reportPrivateUsage] - nobody else waits for it
    if owners:
        await asyncio.wait(owners, timeout=MAX_WAIT_SECONDS)


def _resident() -> int:
    """Return the bytes that this process holds; freed ones are given back before."""
    gc.collect()
    if hasattr(libc := ctypes.CDLL(None), "malloc_trim"):
        libc.malloc_trim(0)
    return resident_bytes(os.getpid())


@asynccontextmanager
async def _assistant(folder: Path, chosen: Chosen) -> AsyncGenerator[tuple[Drive, Graph]]:
    """Open a drive, and the assistant on it."""
    settings = AgentSettings(mcp_private_hosts="127.0.0.1", tool_rate="0", tool_rates="", mcp_calls_per_minute=100_000)
    drive_settings = DriveSettings(data_dir=folder, embedding_model="none", calls_per_minute=100_000)
    async with open_drive(drive_settings) as drive:
        connections, pool = ConnectionPool(drive_sessions(drive)), ServerPool(settings, folder=folder / "servers")
        deps = GraphDependencies(
            models=dict.fromkeys(get_args(ModelRole), ListingModel()),
            connections=connections,
            settings=settings,
            checkpointer=InMemorySaver(),
            store=InMemoryStore(),
            servers=chosen,
            server_pool=pool,
        )
        try:
            yield drive, build_graph(deps)
        finally:
            await pool.aclose()
            await connections.aclose()


async def _people(drive: Drive, count: int) -> list[RunContext]:
    owner, token = await drive.identity.ensure_local_user()
    del owner
    admin = Actor(await drive.identity.authenticate(token))
    made = [await drive.identity.create_user(admin, f"{uuid4().hex}@example.com") for _ in range(count)]
    return [RunContext(user.id, user.email, tuple(ALL_SCOPES)) for user, _ in made]


async def _turn(graph: Graph, who: RunContext, into: Turns) -> None:
    """Say something in a new thread, and note how long it took and what became of its calls."""

    def hear(said: Any) -> None:
        if isinstance(said, dict) and said["type"] == "tool_call_end":
            into.outcomes.append((said["name"], said["status"]))

    message = HumanMessage(MESSAGE, id=str(uuid4()))
    context = RunContext(who.user_id, who.email, who.scopes, run_id=str(message.id))
    config: Any = {"configurable": {"thread_id": str(uuid4())}}
    begun = time.perf_counter()
    with listening(hear):
        await graph.ainvoke({"messages": [message], "place": {}}, config, context=context, version="v2")
    into.seconds.append(time.perf_counter() - begun)


async def measure_turns(people: int, others: int, turns: int, kind: str, url: str, folder: Path) -> Turns:
    """Return the turns of people whose servers work, beside others, whose servers are of a kind."""
    chosen, found, beside = Chosen(), Turns(), Turns()
    async with _assistant(folder, chosen) as (drive, graph):
        mine, theirs = await _people(drive, people), await _people(drive, others)
        chosen.choices = {one.user_id: Choice(servers=definitions(one.user_id, url)) for one in mine}
        chosen.choices |= {one.user_id: Choice(servers=definitions(one.user_id, url, kind)) for one in theirs}
        await asyncio.gather(*(_turn(graph, one, Turns()) for one in mine))

        async def again_and_again(who: RunContext) -> None:
            while True:
                await _turn(graph, who, beside)

        load = [asyncio.create_task(again_and_again(one)) for one in theirs]
        for _ in range(turns):
            await asyncio.gather(*(_turn(graph, one, found) for one in mine))
        for task in load:
            task.cancel()
        await asyncio.wait(load) if load else None
    return found


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure memory, and turns beside servers of each kind."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--people", type=int, default=100)
    parser.add_argument("--programs", type=int, default=6)
    parser.add_argument("--turns", type=int, default=20)
    chosen = parser.parse_args(arguments)
    with cheap_servers() as url, tempfile.TemporaryDirectory() as root:
        memory = asyncio.run(measure_memory(chosen.people, chosen.programs, url, Path(root) / "memory"))
        _print_memory(memory, chosen.people, chosen.programs)
        group = max(1, chosen.people // 10)
        rows: list[list[str]] = []
        for kind in KINDS:
            found = asyncio.run(measure_turns(group, group, chosen.turns, kind, url, Path(root) / kind))
            rows.append([kind, str(len(found.seconds)), *_times(found.seconds)])
        title = f"Turns of {group} people whose servers work, beside {group} others whose servers are"
        print_table(title, ["", "turns", "median ms", "p95 ms"], rows)


def _times(seconds: Sequence[float]) -> list[str]:
    late = quantiles(seconds, n=20)[-1] if len(seconds) > 1 else seconds[0]
    return [f"{one * 1000:.1f}" for one in (median(seconds), late)]


def _print_memory(memory: Memory, people: int, programs: int) -> None:
    over_http = people * SERVERS_EACH
    rows = [
        ["connections open", str(memory.opened)],
        ["kB a connection over HTTP", f"{memory.http_bytes / 1000 / max(1, over_http - 1):.0f}"],
        ["MB a program, with its supervisor", f"{memory.program_bytes / 1e6 / max(1, programs):.1f}"],
        ["connections after half an hour", str(memory.left)],
        ["objects of connections then", str(memory.objects_left)],
        ["processes after half an hour", str(memory.programs_left)],
        ["MB more after a second time", f"{memory.again_bytes / 1e6:.1f}"],
    ]
    print_table(f"{people} people with {SERVERS_EACH} servers each, and {programs} programs", ["", ""], rows)


if __name__ == "__main__":
    main()
