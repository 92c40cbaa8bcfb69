"""What a server that others wrote may ask of its client: nothing, unless its person allows it for that server."""

from typing import Any

import pytest
from mcp.types import (
    CallToolResult,
    CreateMessageRequestParams,
    CreateMessageResult,
    ErrorData,
    SamplingMessage,
    TextContent,
)

from drive_server.kernel.rate_limiter import SlidingWindow
from graph.servers.allowances import MAX_CHARACTERS, MAX_TOKENS, roots_for, sampling_for
from tests.graph.servers.conftest import PoolMaker
from tests.graph.servers.real import EVERYTHING, allowed, remote, stdio

ASKING = {"trigger-sampling-request", "get-roots-list"}
asked: list[CreateMessageRequestParams] = []


async def model(context: Any, params: CreateMessageRequestParams) -> CreateMessageResult:
    del context
    asked.append(params)
    return CreateMessageResult(role="assistant", content=TextContent(type="text", text="Four."), model="m")


def text_of(result: CallToolResult) -> str:
    return "".join(block.text for block in result.content if isinstance(block, TextContent))


def request(text: str = "2 + 2?", most: int = 10, **fields: Any) -> CreateMessageRequestParams:
    message = SamplingMessage(role="user", content=TextContent(type="text", text=text))
    return CreateMessageRequestParams(messages=[message], maxTokens=most, **fields)


async def test_a_server_may_ask_for_nothing_that_is_not_allowed(make_pool: PoolMaker) -> None:
    pool = make_pool(stdio_commands=allowed(EVERYTHING), sampling=model)
    tools = {tool.name for tool in await pool.tools(stdio(EVERYTHING))}
    assert "echo" in tools
    assert not tools & ASKING


async def test_a_server_asks_the_model_and_for_its_folder_once_the_person_allows_it(make_pool: PoolMaker) -> None:
    pool = make_pool(stdio_commands=allowed(EVERYTHING), sampling=model)
    server = stdio(EVERYTHING, allows=frozenset({"sampling", "roots"}))
    tools = {tool.name for tool in await pool.tools(server)}
    sampled = await pool.call(server, "trigger-sampling-request", {"prompt": "2 + 2?", "maxTokens": 50})
    roots = await pool.call(server, "get-roots-list", {})
    assert tools >= ASKING
    assert "Four." in text_of(sampled)
    assert "/servers/" in text_of(roots)


@pytest.mark.parametrize(
    ("params", "code"),
    [
        (request("x" * MAX_CHARACTERS), "characters"),
        (request(tools=[{"name": "t", "inputSchema": {"type": "object"}}]), "no tools"),
    ],
)
async def test_a_request_that_is_too_long_or_brings_tools_is_refused(
    params: CreateMessageRequestParams, code: str
) -> None:
    sample = sampling_for(stdio(["x"], allows=frozenset({"sampling"})), model, SlidingWindow(5, clock=lambda: 0.0))
    assert sample
    answer = await sample(None, params)  # pyright: ignore[reportArgumentType] - it is handed on
    assert isinstance(answer, ErrorData)
    assert code in answer.message


async def test_answers_are_short_and_requests_a_minute_are_counted() -> None:
    asked.clear()
    sample = sampling_for(stdio(["x"], allows=frozenset({"sampling"})), model, SlidingWindow(2, clock=lambda: 0.0))
    assert sample
    answers = [await sample(None, request(most=100_000)) for _ in range(3)]  # pyright: ignore[reportArgumentType] - as above
    assert [isinstance(answer, ErrorData) for answer in answers] == [False, False, True]
    assert [params.maxTokens for params in asked] == [MAX_TOKENS, MAX_TOKENS]


async def test_a_server_elsewhere_hears_of_no_folder_of_this_machine(tmp_path: Any) -> None:
    roots = roots_for(remote("sse", 1, allows=frozenset({"roots"})), tmp_path)
    assert roots
    answer: Any = await roots(None)  # pyright: ignore[reportArgumentType] - it is not looked at
    assert answer.roots == []
