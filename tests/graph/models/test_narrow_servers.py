"""Whole conversations with servers of small models: strict about roles, narrow, and without a parser for calls."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from graph.errors import AgentError
from graph.model_factory import Clients, build_models
from graph.models.client import LeanChatModel
from graph.models.serving import ServedModelReader
from graph.settings import AgentSettings
from tests.fakes.openai_server import Failure, OpenAIServer, Reply, text
from tests.graph.assistant import Assistant, assemble
from tests.graph.models.test_serving import answering

if TYPE_CHECKING:
    from collections.abc import Sequence

    from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

    from graph.drive.connections import ConnectionPool

NARROW = 4_096
CHARACTERS_A_TOKEN = 4
AS_TEXT = '<tool_call>\n{"name": "list_folder", "arguments": {"folder_id": "root"}}\n</tool_call>'
ALTERNATE = "Conversation roles must alternate user/assistant/user/assistant/..."


def breaks_order(messages: Sequence[dict[str, Any]]) -> bool:
    """Say whether Mistral's template refuses the roles: calls and their results do not count."""
    counted = [one["role"] for one in messages if one["role"] in {"user", "assistant"} and not one.get("tool_calls")]
    return any(role != ("user", "assistant")[at % 2] for at, role in enumerate(counted)) or counted[-1:] == [
        "assistant"
    ]


class SmallServer:
    """Answers with its lines, and refuses whatever order of roles or length a small model can't take."""

    def __init__(self, *lines: Reply) -> None:
        self.lines = [*lines]
        self.refused: list[str] = []

    def __call__(self, request: dict[str, Any]) -> Reply:
        """Return a refusal, or the next line."""
        if breaks_order(request["messages"]):
            self.refused.append("order")
            return Failure(400, ALTERNATE)
        size = len(str(request["messages"])) + len(str(request.get("tools", "")))
        if size / CHARACTERS_A_TOKEN > NARROW:
            self.refused.append("length")
        return self.lines.pop(0)


def build(url: str, server: OpenAIServer, clients: Clients, pool: ConnectionPool, saver: AsyncSqliteSaver) -> Assistant:
    settings = AgentSettings.model_validate({"model": "m", "openai_base_url": server.url, "model_retries": 0})
    model = build_models(settings, clients)["agent"]
    assert isinstance(model, LeanChatModel)
    model.served = ServedModelReader(url, "m", lambda: clients.openai(60))
    return assemble({"agent": model}, pool, saver, settings=settings)


async def test_a_conversation_goes_on_after_a_failed_turn_a_call_in_the_text_and_a_long_message(
    server: OpenAIServer,
    clients: Clients,
    pool: ConnectionPool,
    saver: AsyncSqliteSaver,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    brain = SmallServer(
        Failure(500, "out of memory"), text(AS_TEXT), text("There are two."), text("Fine."), text("Yes.")
    )
    monkeypatch.setattr(server, "brain", brain)
    with answering({"/props": {"default_generation_settings": {"n_ctx": NARROW}}}) as url:
        assistant = build(url, server, clients, pool, saver)
        with pytest.raises(AgentError):
            await assistant.say("list the folder")
        seen = await assistant.say("list the folder, please")
        assert seen.ends == [("list_folder", "done")]
        assert "tool_call" not in seen.text
        await assistant.say("I like long words. " + "extraordinarily " * 300)
        last = await assistant.say("Is all well?")
    assert last.text.strip() == "Yes."
    assert brain.refused == []
    assert {request["temperature"] for request in server.requests} == {0}
    assert {request["max_completion_tokens"] for request in server.requests} == {2_048}


async def test_a_call_that_is_only_described_is_asked_for_by_the_grammar_of_the_server(
    server: OpenAIServer, clients: Clients, pool: ConnectionPool, saver: AsyncSqliteSaver
) -> None:
    described = text("You would call `list_folder` for that.")
    server.replies = [described, text('{"name": "list_folder", "arguments": {}}'), text("There are two.")]
    with answering({"/props": {"default_generation_settings": {"n_ctx": NARROW}}}) as url:
        seen = await build(url, server, clients, pool, saver).say("list the folder")
    assert [request.get("tool_choice") for request in server.requests] == [None, "none", None]
    offered = server.requests[1]["tools"]
    assert offered == server.requests[0]["tools"]
    form = server.requests[1]["response_format"]["json_schema"]["schema"]["anyOf"]
    assert [(one["properties"]["name"]["const"], one["properties"]["arguments"]) for one in form] == [
        (tool["function"]["name"], tool["function"]["parameters"]) for tool in offered
    ]
    assert seen.ends == [("list_folder", "done")]
    assert seen.text.strip().startswith("There are two.")


async def test_a_call_that_can_not_be_read_is_asked_for_again_by_the_grammar_or_without_if_that_is_refused(
    server: OpenAIServer, clients: Clients, pool: ConnectionPool, saver: AsyncSqliteSaver
) -> None:
    broken = text('<tool_call>\n{"name": "list_folder", "argum')
    refusal = Failure(400, "failed to parse grammar")
    server.replies = [broken, refusal, text('{"name": "list_folder", "arguments": {}}'), text("There are two.")]
    with answering({"/props": {"default_generation_settings": {"n_ctx": NARROW}}}) as url:
        seen = await build(url, server, clients, pool, saver).say("list the folder")
    assert [request.get("tool_choice") for request in server.requests] == [None, "none", None, None]
    assert seen.ends == [("list_folder", "done")]
    assert seen.text.strip().startswith("There are two.")


@pytest.mark.parametrize(
    ("words", "answer", "told"),
    [
        ("Hello!", "Hi.", "can read only 4,096 tokens, which is too few"),
        ("你好", "你好。", "只能读取 4,096 个词元"),
    ],
)
async def test_a_context_that_is_too_small_is_told_once_in_a_conversation_with_the_line_that_mends_it(
    server: OpenAIServer,
    clients: Clients,
    pool: ConnectionPool,
    saver: AsyncSqliteSaver,
    words: str,
    answer: str,
    told: str,
) -> None:
    server.replies = [text(answer), text(answer)]
    with answering({"/props": {"default_generation_settings": {"n_ctx": NARROW}}}) as url:
        assistant = build(url, server, clients, pool, saver)
        first, second = await assistant.say(words), await assistant.say(words)
    assert told in first.text
    assert "-c 16384" in first.text
    assert second.text.strip() == answer


async def test_a_context_that_is_large_enough_is_not_told(
    server: OpenAIServer, clients: Clients, pool: ConnectionPool, saver: AsyncSqliteSaver
) -> None:
    server.replies = [text("Hi.")]
    with answering({"/props": {"default_generation_settings": {"n_ctx": 16_384}}}) as url:
        seen = await build(url, server, clients, pool, saver).say("Hello!")
    assert seen.text.strip() == "Hi."
