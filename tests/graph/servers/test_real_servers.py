"""Servers that nobody here wrote, over all three transports."""

import json
import os
from collections.abc import AsyncGenerator
from contextlib import aclosing, asynccontextmanager
from pathlib import Path

import pytest
from mcp.types import CallToolResult, TextContent

from graph.servers.connections import in_flight
from graph.servers.definition import ServerDefinition, ServerType
from graph.servers.pool import ServerPool
from graph.servers.reasons import ServerUnavailableError
from graph.servers.status import StatusName
from tests.fakes.clock import SettableClock
from tests.graph.servers.conftest import PoolMaker
from tests.graph.servers.real import (
    EVERYTHING,
    TIME,
    allowed,
    everything,
    filesystem,
    free_port,
    memory,
    remote,
    stdio,
)

TRANSPORTS: list[ServerType] = ["stdio", "sse", "streamableHttp"]


def text_of(result: CallToolResult) -> str:
    return "".join(block.text for block in result.content if isinstance(block, TextContent))


async def told(pool: ServerPool, name: StatusName) -> None:
    """Wait until the state of a connection is this one."""
    async with aclosing(pool.watch("u1")) as changes:
        async for _, status in changes:
            if status.status == name:
                return


@asynccontextmanager
async def served(kind: ServerType) -> AsyncGenerator[ServerDefinition]:
    if kind == "stdio":
        yield stdio(EVERYTHING)
        return
    port = free_port()
    async with everything(kind, port):
        yield remote(kind, port)


@pytest.mark.parametrize("kind", TRANSPORTS)
async def test_every_transport_tells_what_there_is_calls_and_reports_progress(
    make_pool: PoolMaker, kind: ServerType, monkeypatch: pytest.MonkeyPatch
) -> None:
    # On a busy machine two reports come together; all of them are told then, too.
    monkeypatch.setattr(in_flight, "REPORT_SECONDS", 0)
    pool, seen = make_pool(stdio_commands=allowed(EVERYTHING)), list[tuple[float, float | None]]()

    async def on_progress(progress: float, total: float | None, message: str | None) -> None:
        del message
        seen.append((progress, total))

    async with served(kind) as definition:
        details = await pool.details(definition)
        echo = await pool.call(definition, "echo", {"message": "hello"})
        slow = {"duration": 0.6, "steps": 3}
        await pool.call(definition, "trigger-long-running-operation", slow, on_progress=on_progress)

        assert (details.name, details.protocol) == ("Everything Reference Server", "2025-11-25")
        assert {"echo", "get-sum"} < {tool.name for tool in details.tools}
        assert {prompt.name for prompt in details.prompts} > {"simple-prompt"}
        assert details.resources
        assert text_of(echo) == "Echo: hello"
        assert seen == [(1, 3), (2, 3), (3, 3)]
        assert pool.status("u1", "s1").status == "connected"


@pytest.mark.parametrize("kind", TRANSPORTS)
async def test_prompts_and_resources_can_be_read(make_pool: PoolMaker, kind: ServerType) -> None:
    pool = make_pool(stdio_commands=allowed(EVERYTHING))

    async with served(kind) as definition:
        details = await pool.details(definition)
        prompt = await pool.prompt(definition, "args-prompt", {"city": "Oslo"})
        resource = await pool.resource(definition, str(details.resources[0].uri))

    assert "Oslo" in prompt.model_dump_json()
    assert resource.contents


@pytest.mark.parametrize("kind", ["sse", "streamableHttp"])
@pytest.mark.story
async def test_a_server_that_was_killed_comes_back_at_the_next_call(
    make_pool: PoolMaker, clock: SettableClock, kind: ServerType
) -> None:
    pool, port = make_pool(), free_port()
    definition = remote(kind, port)
    async with everything(kind, port):
        await pool.call(definition, "echo", {"message": "one"})
    if kind == "sse":
        await told(pool, "error")  # over Streamable HTTP nothing shows before the next call

    with pytest.raises(ServerUnavailableError) as gone:
        await pool.call(definition, "echo", {"message": "two"})
    assert gone.value.reason.code == "unreachable"
    assert pool.status("u1", "s1").sentence == "127.0.0.1 can't be reached."

    clock.advance(seconds=400)
    async with everything(kind, port):
        assert text_of(await pool.call(definition, "echo", {"message": "three"})) == "Echo: three"


async def test_a_server_that_was_restarted_does_not_know_the_session_and_gets_a_new_one(make_pool: PoolMaker) -> None:
    pool, port = make_pool(), free_port()
    definition = remote("streamableHttp", port)
    async with everything("streamableHttp", port):
        await pool.call(definition, "echo", {"message": "one"})

    async with everything("streamableHttp", port):
        assert text_of(await pool.call(definition, "echo", {"message": "two"})) == "Echo: two"


async def test_a_program_sees_its_own_environment_and_nothing_of_the_services(
    make_pool: PoolMaker, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    pool = make_pool(stdio_commands=allowed(["GITHUB_TOKEN=", "COPY=", *EVERYTHING]))
    definition = stdio(EVERYTHING, env={"GITHUB_TOKEN": "mine", "COPY": "${OPENAI_API_KEY}"})

    seen = json.loads(text_of(await pool.call(definition, "get-env", {})))

    assert seen.pop("HOME").startswith(str(tmp_path / "servers"))
    assert seen == {
        "PATH": os.environ["PATH"],
        "LANG": "C.UTF-8",
        "GITHUB_TOKEN": "mine",
        "COPY": "${OPENAI_API_KEY}",
    }


async def test_the_filesystem_server_works_in_the_folder_that_it_was_given(
    make_pool: PoolMaker, tmp_path: Path
) -> None:
    folder = tmp_path / "shared"
    folder.mkdir()
    command = filesystem(folder)
    pool, definition = make_pool(stdio_commands=allowed(command)), stdio(command)

    await pool.call(definition, "write_file", {"path": str(folder / "a.txt"), "content": "hello"})
    refused = await pool.call(definition, "read_text_file", {"path": "/etc/passwd"})

    assert (folder / "a.txt").read_text() == "hello"
    assert refused.isError


async def test_the_memory_server_remembers_over_a_restart(make_pool: PoolMaker, tmp_path: Path) -> None:
    command = memory()
    pool = make_pool(stdio_commands=allowed(["MEMORY_FILE_PATH=", *command]))
    definition = stdio(command, env={"MEMORY_FILE_PATH": str(tmp_path / "memory.json")})
    facts = {"entities": [{"name": "Ada", "entityType": "person", "observations": ["likes tea"]}]}

    await pool.call(definition, "create_entities", facts)
    await pool.close("u1", "s1")
    assert pool.open_sessions == 0

    assert "likes tea" in text_of(await pool.call(definition, "read_graph", {}))


async def test_the_time_server_from_pypi_tells_the_time(make_pool: PoolMaker) -> None:
    pool, definition = make_pool(stdio_commands=allowed(TIME)), stdio(TIME)

    names = [tool.name for tool in await pool.tools(definition)]
    answer = await pool.call(definition, "get_current_time", {"timezone": "Asia/Shanghai"})

    assert names == ["get_current_time", "convert_time"]
    assert json.loads(text_of(answer))["timezone"] == "Asia/Shanghai"
