"""Marks for the caches of services that keep nothing without them, measured as such a service counts."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from langchain_core.messages import HumanMessage, SystemMessage

from graph.model_factory import Clients, build_models
from graph.models.asking import ask
from graph.settings import AgentSettings
from tests.fakes.openai_server import Failure, OpenAIServer, Stream
from tests.graph.assistant import assemble
from tests.graph.models.test_provider_packages import anthropic, close, settings_for

if TYPE_CHECKING:
    from collections.abc import Sequence

    from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

    from graph.drive.connections import ConnectionPool

MARK = {"type": "ephemeral"}
ASKED = [SystemMessage("Be brief."), HumanMessage("hi")]
CLAUDE = "anthropic/claude-sonnet-5"


def marks_in(value: Any) -> int:
    return json.dumps(value).count('"cache_control"')


def through(server: OpenAIServer, clients: Clients, provider: str, model: str) -> Any:
    address = {"openrouter": "openrouter_api_base", "together": "together_api_base", "": "openai_base_url"}[provider]
    name = f"{provider}:{model}" if provider else model
    given = {"model": name, address: server.url, "openai_api_key": "k", "openrouter_api_key": "k", "model_retries": 0}
    return build_models(AgentSettings.model_validate(given), clients)["agent"]


async def test_a_gateway_to_claude_gets_marks_in_the_parts_of_its_messages(
    server: OpenAIServer, clients: Clients
) -> None:
    server.replies = [Stream([{"content": "Hello"}])]
    await ask(through(server, clients, "openrouter", CLAUDE), ASKED)
    assert server.requests[0]["messages"] == [
        {"role": "system", "content": [{"type": "text", "text": "Be brief.", "cache_control": MARK}]},
        {"role": "user", "content": [{"type": "text", "text": "hi", "cache_control": MARK}]},
    ]


@pytest.mark.parametrize(
    ("provider", "model"),
    [("openrouter", "qwen/qwen3-30b"), ("", CLAUDE), ("", "gpt-4.1"), ("together", "claude-like")],
)
async def test_no_other_service_gets_a_field_that_it_may_refuse(
    server: OpenAIServer, clients: Clients, provider: str, model: str
) -> None:
    server.replies = [Stream([{"content": "Hello"}])]
    await ask(through(server, clients, provider, model), ASKED)
    assert marks_in(server.requests) == 0
    assert [message["content"] for message in server.requests[0]["messages"]] == ["Be brief.", "hi"]


async def test_a_gateway_that_refuses_the_marks_is_never_sent_them_again(
    server: OpenAIServer, clients: Clients
) -> None:
    refusal = Failure(400, "messages.0.content.0.cache_control: extra fields not permitted", code="invalid")
    server.replies = [refusal, Stream([{"content": "Hello"}]), Stream([{"content": "Hello"}])]
    model = through(server, clients, "openrouter", CLAUDE)
    await ask(model, ASKED)
    await ask(model, ASKED)
    assert [marks_in(request) for request in server.requests] == [2, 0, 0]


def blocks_of(request: dict[str, Any]) -> list[tuple[str, bool]]:
    """Return the blocks of a request in the order of the cache, tools first, each with whether a mark ends it."""
    found: list[Any] = [*request.get("tools", ())]
    parts = [request["system"], *(message["content"] for message in request["messages"])]
    for content in parts:
        found += [{"type": "text", "text": content}] if isinstance(content, str) else content
    marked = [(block, "cache_control" in block) for block in found]
    return [(json.dumps({k: v for k, v in block.items() if k != "cache_control"}), mark) for block, mark in marked]


def reused(requests: Sequence[dict[str, Any]]) -> list[float]:
    """Return the share of each request, by characters, that the cache has from one before it."""
    cached: list[list[str]] = []
    shares: list[float] = []
    for request in requests:
        blocks = blocks_of(request)
        texts = [text for text, _ in blocks]
        hits = [sum(map(len, known)) for known in cached if texts[: len(known)] == known]
        shares.append(max(hits, default=0) / sum(map(len, texts)))
        cached += [texts[: at + 1] for at, (_, mark) in enumerate(blocks) if mark]
    return shares


async def test_claude_reads_a_conversation_from_its_cache(
    server: OpenAIServer, clients: Clients, pool: ConnectionPool, saver: AsyncSqliteSaver
) -> None:
    settings = settings_for("anthropic:claude-sonnet-5", server.url.removesuffix("/v1"))
    model = build_models(settings, clients)["agent"]
    assistant = assemble({"agent": model}, pool, saver, settings=settings)
    server.replies = [
        anthropic("", ("list_folder", {"folder_id": "root"})),
        anthropic("Two things."),
        anthropic("Yes."),
    ]
    await assistant.say("list the folder")
    await assistant.say("is that all?")
    await close(model)
    shares = reused(server.requests)
    assert shares[0] == 0
    assert min(shares[1:]) > 0.8
    assert all(2 <= marks_in(request) <= 4 for request in server.requests)
