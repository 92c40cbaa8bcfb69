"""Conversations recorded, and written down as a person reads them: ids and times are the same each time."""

import json
import re
from collections.abc import AsyncGenerator, Generator, Iterable, Sequence
from contextlib import AsyncExitStack, ExitStack, asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import takewhile
from pathlib import Path
from typing import Any, Final
from unittest.mock import patch
from uuid import UUID, uuid4

from mcp.types import Tool

from benchmarks.agent.prompts import kind_of
from benchmarks.fixtures.recording import Request, recorded_drive
from graph.context import RunContext
from graph.servers.choices import Choice
from graph.servers.definition import ServerDefinition
from graph.servers.pool import ServerPool
from graph.servers.reasons import ServerUnavailableError
from graph.settings import AgentSettings
from tests.fakes.notes_server import NotesServer, schema
from tests.snapshots.conversations import FILES, HIDDEN, INSTRUCTIONS, Turn

REQUESTS: Final = Path(__file__).parent / "requests"
NOW: Final = datetime(2026, 11, 20, 16, 30, tzinfo=UTC)
"""Another day where the person is than in UTC."""
TOOLS: Final = "tools"
MAKERS: Final = (
    "drive_server.storage.tables.base.uuid4",
    "benchmarks.fixtures.recording.uuid4",
    "graph.messages.written.uuid4",
    "graph.memory.facts.uuid4",
)
"""Every maker of ids that a model may see."""
_ID: Final = re.compile(r"\b[0-9a-f]{6,}(?:-[0-9a-f]{4}){0,3}(?:-[0-9a-f]{12})?(?![0-9a-z])")
_CHANGED_LATER: Final = "TIME, changed here TIME"
"""A listing says so where a file was moved in another minute than it was made: by chance here."""

_TIME: Final = re.compile(r"\b\d{4}-\d\d-\d\d[ T]\d\d:\d\d(?::[\d.]+)?(?:Z|[+-]\d\d:\d\d)?")


async def record(
    turns: Sequence[Turn], directory: Path, *, with_servers: bool = False
) -> tuple[list[Request], list[str]]:
    """Have the conversation on a fresh drive in the directory; return its requests, and the ids that were given.

    `with_servers`: the person has an assistant with two servers, one of which is down.
    """
    requests: list[Request] = []
    with _noted_ids() as given:
        async with AsyncExitStack() as stack:
            chosen, pool = await stack.enter_async_context(_own_servers()) if with_servers else (None, None)
            recorded = await stack.enter_async_context(recorded_drive(directory, lambda: NOW, chosen, pool))
            if chosen and pool:
                await _open_all(chosen, pool, recorded.who())
            for path, text in FILES.items():
                await recorded.put(path, text)
            for turn in turns:
                recorded.model.steps = [*turn.steps]
                place = {
                    f"{kind}_id": (await recorded.drive.files.get(recorded.actor, path)).id
                    for kind, path in (("file", turn.file), ("folder", turn.folder))
                    if path
                }
                requests += await recorded.say("thread", turn.says, *turn.script, **place)
    return requests, given


@dataclass(frozen=True)
class _Chosen:
    servers: Sequence[ServerDefinition]

    async def chosen(self, user: RunContext) -> Choice:
        """Return the same assistant for everybody, with servers of their own."""
        own = tuple(replace(server, user_id=user.user_id) for server in self.servers)
        return Choice(assistant_id="support", instructions=INSTRUCTIONS, servers=own)


@asynccontextmanager
async def _own_servers() -> AsyncGenerator[tuple[_Chosen, ServerPool]]:
    server = NotesServer().start()
    server.tools = [Tool(name="note", title="Note down", description=HIDDEN, inputSchema=schema("text"))]
    away = server.definition(id="s2", name="Calendar")
    pool = ServerPool(AgentSettings(mcp_private_hosts="127.0.0.1"))
    try:
        yield _Chosen([server.definition(name="Tickets"), replace(away, base_url="http://127.0.0.1:9/mcp")]), pool
    finally:
        await pool.aclose()
        server.stop()


async def _open_all(chosen: _Chosen, pool: ServerPool, who: RunContext) -> None:
    """Open the connections before a turn waits for them: it would not wait for long."""
    for server in (await chosen.chosen(who)).servers:
        with suppress(ServerUnavailableError):
            await pool.tools(server)


@contextmanager
def _noted_ids() -> Generator[list[str]]:
    given: list[str] = []

    def note() -> UUID:
        made = uuid4()
        given.extend((made.hex, str(made)))
        return made

    with ExitStack() as stack:
        for maker in MAKERS:
            stack.enter_context(patch(maker, note))
        yield given


def written(requests: Sequence[Request], given: Iterable[str]) -> str:
    """Return the requests as one text; what the one before of the same kind had already is not shown again."""
    parts: list[str] = []
    before: dict[str, tuple[int, Request]] = {}
    for number, request in enumerate(requests, 1):
        kind = kind_of(request)
        parts.append(_request(number, kind, request, before.get(kind)))
        before[kind] = number, request
    return normalised("\n".join(parts), given)


def _request(number: int, kind: str, request: Request, before: tuple[int, Request] | None) -> str:
    earlier_number, earlier = before or (0, {"messages": []})
    (system, *messages), as_before = request["messages"], f"[as in request {earlier_number}]"
    seen = earlier["messages"][1:]
    same = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(messages, seen, strict=False)))
    lines = [f"=== request {number}: {kind}", f"tools: {', '.join(_names(request))}"]
    lines += ["--- system", _system(system, earlier["messages"][:1], as_before)]
    lines += [f"--- {same} messages {as_before}"] if same else []
    return "\n".join([*lines, *(_message(message) for message in messages[same:])]) + "\n"


def _system(message: dict[str, Any], earlier: Sequence[dict[str, Any]], as_before: str) -> str:
    """Return the system message with one line in place of all paragraphs that the earlier one had."""
    seen = {part for one in earlier for part in str(one["content"]).split("\n\n")}
    shown: list[str] = []
    for part in str(message["content"]).split("\n\n"):
        if part not in seen:
            shown.append(part)
        elif shown[-1:] != [as_before]:
            shown.append(as_before)
    return "\n\n".join(shown)


def _message(message: dict[str, Any]) -> str:
    calls = [
        f"calls {call['function']['name']} {call['function']['arguments']}" for call in message.get("tool_calls", ())
    ]
    return "\n".join(part for part in (f"--- {message['role']}", message["content"] or "", *calls) if part)


def _names(request: Request) -> list[str]:
    return [tool["function"]["name"] for tool in request.get("tools") or ()]


def written_tools(requests: Iterable[Request]) -> str:
    """Return each tool as its model gets it, by kind of request."""
    seen: dict[str, dict[str, str]] = {}
    for request in requests:
        for tool in request.get("tools") or ():
            function = tool["function"]
            text = f"{function['description']}\n{json.dumps(function['parameters'], ensure_ascii=False, indent=1)}"
            seen.setdefault(kind_of(request), {})[function["name"]] = text
    return "\n".join(f"=== {kind}: {name}\n{seen[kind][name]}\n" for kind in sorted(seen) for name in seen[kind])


def normalised(text: str, given: Iterable[str]) -> str:
    """Return the text with ids numbered as they appear, and without times."""
    names: dict[str, str] = {}
    known = [*given]

    def named(found: re.Match[str]) -> str:
        whole = next((one.replace("-", "") for one in known if one.startswith(found[0])), "")
        return names.setdefault(whole, f"id{len(names) + 1}") if whole else found[0]

    return _ID.sub(named, _TIME.sub("TIME", text).replace(_CHANGED_LATER, "TIME"))
