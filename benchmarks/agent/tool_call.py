"""One tool call through everything, against the service call that it ends in: `-m benchmarks.agent.tool_call`."""

import argparse
import asyncio
import tempfile
import time
from collections.abc import Awaitable, Callable
from itertools import count
from pathlib import Path
from typing import Any
from uuid import uuid4

from langgraph.graph import START, StateGraph

from benchmarks.fixtures.services.models import InstantModel
from benchmarks.fixtures.table import milliseconds, print_table
from drive_server.connect import ALL_SCOPES, META_IDEMPOTENCY_KEY, Actor, Drive, open_drive
from drive_server.kernel.settings import DriveSettings
from graph.approvals.act import ActTask, make_act
from graph.context import RunContext
from graph.dependencies import GraphDependencies
from graph.drive.connections import ConnectionPool, drive_sessions
from graph.policy.contract import digest
from graph.settings import AgentSettings
from graph.state import Call

WARM_UP = 20
TEXT = "A line of about forty characters, again.\n" * 100

Operation = Callable[[], Awaitable[Any]]


async def measure(operation: Operation, times: int) -> list[float]:
    """Return the seconds of each call."""
    for _ in range(WARM_UP):
        await operation()
    taken: list[float] = []
    for _ in range(times):
        begun = time.perf_counter()
        await operation()
        taken.append(time.perf_counter() - begun)
    return taken


def call_of(name: str, args: dict[str, Any]) -> Call:
    """Return a call that the gateway has allowed."""
    return {
        "tool_call_id": uuid4().hex,
        "name": name,
        "args": args,
        "risk": "write",
        "reason": "",
        "preview": "",
        "reversible": True,
        "etag": None,
        "digest": digest(name, args, None),
        "standing": "allowed",
        "approved_by": None,
    }


class Paths:
    """The same call by each way: the bare service, MCP, the adapters' tool, and the graph's node."""

    def __init__(self, drive: Drive, who: RunContext, actor: Actor, file_id: str) -> None:
        self._drive = drive
        self._who = who
        self._actor = actor
        self._file_id = file_id
        self._numbers = count()
        self.pool = ConnectionPool(drive_sessions(drive))
        model = InstantModel()
        deps = GraphDependencies(
            models={"router": model, "planner": model, "agent": model}, connections=self.pool, settings=AgentSettings()
        )
        builder = StateGraph(ActTask, context_schema=RunContext)
        builder.add_node("act", make_act(deps))
        builder.add_edge(START, "act")
        self._graph: Any = builder.compile()

    def ways(self, name: str) -> list[tuple[str, Operation]]:
        """Return the ways for a tool."""
        bare = {"read_file": self._read, "create_folder": self._create}[name]
        return [
            ("bare service", bare),
            ("in-process MCP", lambda: self._over_mcp(name)),
            ("the adapters' tool over it", lambda: self._adapted(name)),
            ("the graph's node over it", lambda: self._in_graph(name)),
        ]

    async def _read(self) -> None:
        await self._drive.documents.read_text(self._actor, self._file_id)

    async def _create(self) -> None:
        await self._drive.files.create_folder(self._actor, "root", self._new_name())

    async def _over_mcp(self, name: str) -> None:
        toolbox = await self.pool.toolbox(self._who)
        result = await toolbox.call(name, self._args(name), meta={META_IDEMPOTENCY_KEY: uuid4().hex})
        assert not result.isError, result

    async def _adapted(self, name: str) -> None:
        toolbox = await self.pool.toolbox(self._who)
        await toolbox.tools[name].ainvoke(self._args(name))

    async def _in_graph(self, name: str) -> None:
        task = {"call": call_of(name, self._args(name)), "run_id": uuid4().hex, "language": "en"}
        await self._graph.ainvoke(task, context=self._who)

    def _args(self, name: str) -> dict[str, Any]:
        return {"file_id": self._file_id} if name == "read_file" else {"name": self._new_name()}

    def _new_name(self) -> str:
        return f"folder {next(self._numbers)}"


async def run(times: int) -> list[list[str]]:
    """Return the rows: each tool by each way."""
    rows: list[list[str]] = []
    with tempfile.TemporaryDirectory() as root:
        async with open_drive(DriveSettings(data_dir=Path(root), embedding_model="none")) as drive:
            user, _ = await drive.identity.ensure_local_user()
            actor = Actor(await drive.identity.principal_for(user.id, ALL_SCOPES))
            file = (await drive.documents.create(actor, "root", "text.txt", TEXT)).value
            who = RunContext(user_id=user.id, email=user.email, scopes=tuple(ALL_SCOPES))
            paths = Paths(drive, who, actor, file.id)
            for name in ("read_file", "create_folder"):
                for way, operation in paths.ways(name):
                    rows.append([f"{name}: {way}", milliseconds(await measure(operation, times))])
            await paths.pool.aclose()
    return rows


def main() -> None:
    """Measure a read of 4 kB and a change."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--times", type=int, default=200)
    times = parser.parse_args().times
    print_table(f"One tool call, medians of {times}", ["way", "ms"], asyncio.run(run(times)))


if __name__ == "__main__":
    main()
