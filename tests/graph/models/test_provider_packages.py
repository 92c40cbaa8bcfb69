"""Models by their provider's own package, against scripted servers that speak the providers' protocols."""

import json
import sys
from collections.abc import AsyncGenerator, Callable
from importlib import import_module
from typing import Any

import pytest
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import HumanMessage, SystemMessage, ToolMessage
from langchain_core.tools import tool
from mcp.types import CreateMessageRequestParams, CreateMessageResult, SamplingMessage, TextContent
from pydantic import BaseModel

from graph.errors import (
    ModelAuthenticationError,
    ModelContextError,
    ModelError,
    ModelNotFoundError,
    ModelPackageError,
    ModelRateLimitedError,
    ModelUnavailableError,
)
from graph.events.sending import ReasoningDelta, TextDelta
from graph.model_factory import Clients, build_model_set, build_models
from graph.models import providers
from graph.models.asking import ask
from graph.models.client import LeanChatModel
from graph.models.sampling import LentModel
from graph.models.structured import ask_for
from graph.settings import AgentSettings, split_model
from tests.fakes import providers as scripted
from tests.fakes.openai_server import Failure, OpenAIServer, Pieces, Reply, split_call, text

HI = [SystemMessage("Be brief."), HumanMessage("hi")]
ARGUMENTS = {"find": "30", "replace": "四十五"}


@tool
def patch(find: str, replace: str) -> None:
    """Patch."""


class Choice(BaseModel):
    """A choice."""

    name: str


def events(*bodies: dict[str, Any]) -> Pieces:
    """Return Anthropic's server-sent events."""
    return Pieces([f"event: {body['type']}\ndata: {json.dumps(body)}\n\n".encode() for body in bodies])


def anthropic(said: str = "", called: tuple[str, dict[str, Any]] | None = None, thought: str = "") -> Pieces:
    """Return a whole answer of Anthropic: what it thought, text, then a call."""
    usage = {"input_tokens": 7, "output_tokens": 1}
    message = {"id": "msg_1", "type": "message", "role": "assistant", "model": "claude", "content": [], "usage": usage}
    blocks: list[dict[str, Any]] = [{"type": "message_start", "message": {**message, "stop_reason": None}}]
    deltas: list[tuple[dict[str, Any], dict[str, Any]]] = []
    if thought:
        deltas.append(({"type": "thinking", "thinking": ""}, {"type": "thinking_delta", "thinking": thought}))
    if said:
        deltas.append(({"type": "text", "text": ""}, {"type": "text_delta", "text": said}))
    if called:
        begun = {"type": "tool_use", "id": "toolu_01AAAAAAAAAAAAAAAAAAAAAA", "name": called[0], "input": {}}
        deltas.append((begun, {"type": "input_json_delta", "partial_json": json.dumps(called[1])}))
    for index, (begun, delta) in enumerate(deltas):
        blocks.append({"type": "content_block_start", "index": index, "content_block": begun})
        blocks.append({"type": "content_block_delta", "index": index, "delta": delta})
        blocks.append({"type": "content_block_stop", "index": index})
    ended = {"stop_reason": "tool_use" if called else "end_turn", "stop_sequence": None}
    blocks.append({"type": "message_delta", "delta": ended, "usage": {"input_tokens": 7, "output_tokens": 3}})
    return events(*blocks, {"type": "message_stop"})


def ollama(said: str = "", called: tuple[str, dict[str, Any]] | None = None) -> Pieces:
    """Return a whole answer of Ollama: a line of JSON for each piece."""
    message: dict[str, Any] = {"role": "assistant", "content": said}
    if called:
        message["tool_calls"] = [{"function": {"name": called[0], "arguments": called[1]}}]
    head = {"model": "qwen3", "created_at": "2026-01-01T00:00:00Z"}
    last = {"done": True, "done_reason": "stop", "prompt_eval_count": 7, "eval_count": 3}
    lines = [
        {**head, "message": message, "done": False},
        {**head, "message": {"role": "assistant", "content": ""}, **last},
    ]
    return Pieces([json.dumps(line).encode() + b"\n" for line in lines], media_type="application/x-ndjson")


def deepseek(said: str = "", called: tuple[str, dict[str, Any]] | None = None) -> Reply:
    """Return a whole answer of DeepSeek."""
    return split_call(called[0], json.dumps(called[1])) if called else text(said)


ANSWERS: dict[str, Callable[..., Reply]] = {
    "anthropic:claude-sonnet-5": anthropic,
    "ollama:qwen3:30b": ollama,
    "deepseek:deepseek-chat": deepseek,
}


@pytest.fixture(params=ANSWERS)
def name(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture
async def model(name: str, server: OpenAIServer, clients: Clients) -> AsyncGenerator[BaseChatModel]:
    root = server.url.removesuffix("/v1")
    model = build_models(settings_for(name, root), clients)["agent"]
    yield model
    await close(model)


async def close(model: BaseChatModel) -> None:
    """Close the connections that a provider's package keeps open until the process ends."""
    package = type(model).__module__.partition(".")[0]
    if package == "langchain_anthropic":
        await getattr(model, "_async_client").close()  # noqa: B009 - private, and nothing else closes it
        import_module("langchain_anthropic._client_utils")._get_default_async_httpx_client.cache_clear()
    elif package == "langchain_ollama":
        await getattr(model, "_async_client")._client.aclose()  # noqa: B009 - as above


def without_providers(name: str) -> object:
    """Find every package but those of providers."""
    return None if name.startswith("langchain_") else object()


def settings_for(name: str, root: str, **others: Any) -> AgentSettings:
    given: dict[str, Any] = {
        "model": name,
        "anthropic_api_key": "key-a",
        "anthropic_base_url": root,
        "deepseek_api_key": "key-d",
        "deepseek_api_base": f"{root}/v1",
        "ollama_base_url": root,
        "model_retries": 0,
        "chat_client": "openai",
        **others,
    }
    return AgentSettings(**given)


async def test_an_answer_streams_and_counts_its_tokens(name: str, model: BaseChatModel, server: OpenAIServer) -> None:
    server.replies = [ANSWERS[name]("Hello"), ANSWERS[name]("Hello")]
    answer = await ask(model, HI)
    assert answer.text == "Hello"
    assert answer.usage_metadata is not None
    assert answer.usage_metadata["total_tokens"] == 10
    assert "".join([chunk.text async for chunk in model.astream(HI)]) == "Hello"


async def test_a_call_comes_whole_and_goes_back_with_its_result_also_under_another_id(
    name: str, model: BaseChatModel, server: OpenAIServer
) -> None:
    called = ("patch", ARGUMENTS)
    server.replies = [ANSWERS[name]("", called), ANSWERS[name]("Done.")]
    bound = model.bind_tools([patch])
    answer = await ask(bound, HI)
    assert answer.tool_calls[0]["args"] == ARGUMENTS
    renamed = answer.model_copy(update={"tool_calls": [{**answer.tool_calls[0], "id": "call_new"}]})
    assert (await ask(bound, [*HI, renamed, ToolMessage("ok", tool_call_id="call_new")])).text == "Done."
    sent = json.dumps(server.requests[-1]["messages"], ensure_ascii=False)
    assert sent.count('"patch"') == 1
    assert "toolu_" not in sent
    assert sent.count("四十五") == 1 or name.startswith("deepseek")


async def test_an_answer_of_a_shape_is_read(name: str, model: BaseChatModel, server: OpenAIServer) -> None:
    server.replies = [ANSWERS[name]("", ("Choice", {"name": "a"}))]
    assert (await ask_for(model, Choice, HI)).name == "a"


async def test_a_model_can_be_lent_to_the_drive_with_a_limit(
    name: str, model: BaseChatModel, server: OpenAIServer
) -> None:
    server.replies = [ANSWERS[name]("Forty-five days.")]
    said = SamplingMessage(role="user", content=TextContent(type="text", text="How long?"))
    answer = await LentModel(model)(None, CreateMessageRequestParams(messages=[said], maxTokens=77))
    assert isinstance(answer, CreateMessageResult)
    assert isinstance(answer.content, TextContent)
    assert answer.content.text == "Forty-five days."
    assert "77" in json.dumps(server.requests[0])


@pytest.mark.parametrize(
    ("status", "message", "kind"),
    [
        (400, "prompt is too long: 210000 tokens > 200000 maximum", ModelContextError),
        (413, "request_too_large", ModelContextError),
        (401, "wrong key", ModelAuthenticationError),
        (404, "no such model", ModelNotFoundError),
        (429, "slow down", ModelRateLimitedError),
        (500, "broken", ModelUnavailableError),
    ],
)
async def test_a_refusal_is_one_of_our_errors(
    model: BaseChatModel, server: OpenAIServer, status: int, message: str, kind: type[ModelError]
) -> None:
    server.replies = [Failure(status, message)]
    with pytest.raises(ModelError) as refused:
        await ask(model, HI)
    assert type(refused.value) is kind


async def test_a_service_that_is_not_there_is_one_of_our_errors(name: str, clients: Clients) -> None:
    model = build_models(settings_for(name, "http://127.0.0.1:9"), clients)["agent"]
    with pytest.raises(ModelUnavailableError):
        await ask(model, HI)
    await close(model)


async def test_ollama_is_told_how_much_it_has_to_read(server: OpenAIServer, clients: Clients) -> None:
    root = server.url.removesuffix("/v1")
    for settings in (settings_for("ollama:qwen3:30b", root), settings_for("ollama:mine", root, context_tokens=65_536)):
        server.replies = [ollama("ok")]
        model = build_models(settings, clients)["agent"]
        await ask(model, HI)
        await close(model)
    assert [request["options"]["num_ctx"] for request in server.requests] == [32_768, 65_536]
    assert server.requests[0]["model"] == "qwen3:30b"


async def test_the_names_of_openai_and_bare_names_stay_with_the_lean_client(clients: Clients) -> None:
    for name in ("openai:gpt-4.1", "gpt-4.1", "qwen3:30b"):
        model = build_models(AgentSettings(model=name), clients)["agent"]
        assert isinstance(model, LeanChatModel)
        assert model.model_name == name.removeprefix("openai:")


@pytest.mark.parametrize(
    ("provider", "wanted"),
    [("anthropic", "'drive-agent[anthropic]'"), ("google_genai", "langchain langchain-google-genai")],
)
def test_a_missing_package_is_named_with_the_command_that_installs_it(
    provider: str, wanted: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(providers, "find_spec", without_providers)
    with pytest.raises(ModelPackageError) as missing:
        build_models(AgentSettings(model=f"{provider}:some-model"))
    for language in ("en", "zh"):
        sentence = missing.value.in_language(language).sentence
        assert f"{sys.executable} -m pip install {wanted}" in sentence


def test_each_role_and_each_choice_has_its_model_and_equal_names_are_one() -> None:
    settings = AgentSettings(
        model="gpt-4.1", models="gpt-5, gpt-4.1 ,", router_model="gpt-4.1-nano", reader_model="gpt-4.1-mini"
    )
    built = build_model_set(settings)
    names = {role: getattr(model, "model_name", "") for role, model in built.models.items()}
    assert names == {
        "agent": "gpt-4.1",
        "planner": "gpt-4.1",
        "router": "gpt-4.1-nano",
        "summarizer": "gpt-4.1-nano",
        "reader": "gpt-4.1-mini",
    }
    assert list(built.choices) == ["gpt-4.1", "gpt-5"]
    assert getattr(built.choices["gpt-5"]["planner"], "model_name", "") == "gpt-5"
    assert built.choices["gpt-5"]["router"] is built.models["router"]


def test_a_tag_is_no_provider() -> None:
    assert split_model("qwen3:30b") == ("", "qwen3:30b")
    assert split_model("ollama:qwen3:30b") == ("ollama", "qwen3:30b")
    assert split_model("openai:") == ("", "openai:")


async def test_thinking_stays_in_an_answer_that_goes_back(server: OpenAIServer, clients: Clients) -> None:
    model = build_models(settings_for("anthropic:claude-sonnet-5", server.url.removesuffix("/v1")), clients)["agent"]
    server.replies = [anthropic("Yes.", thought="Hm."), anthropic("ok")]
    bound = model.bind_tools([patch])
    await ask(bound, [*HI, await ask(bound, HI), HumanMessage("and?")])
    await close(model)
    thought, said = server.requests[1]["messages"][1]["content"]
    assert (thought["type"], thought["thinking"], said["text"]) == ("thinking", "Hm.", "Yes.")


@pytest.mark.parametrize("begun", ["anthropic:claude-sonnet-5", "gpt-5.1-codex"])
async def test_a_thread_goes_on_with_the_model_of_another_provider_that_reads_the_text_alone(
    name: str, model: BaseChatModel, server: OpenAIServer, clients: Clients, begun: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if begun == name:
        return
    root = server.url.removesuffix("/v1")
    before = build_models(settings_for(begun, root, openai_api_key="k", openai_base_url=server.url), clients)["agent"]
    monkeypatch.setattr(server, "brain", scripted.openai_responses if begun.startswith("gpt") else None)
    server.replies = [] if server.brain else [anthropic("So.", ("patch", ARGUMENTS), "Hm.")]
    made = await ask(before.bind_tools([patch]), HI)
    assert not isinstance(made.content, str)
    monkeypatch.setattr(server, "brain", None)
    server.replies = [ANSWERS[name]("Done.")]
    result = ToolMessage("ok", tool_call_id=made.tool_calls[0]["id"] or "")
    assert (await ask(model.bind_tools([patch]), [*HI, made, result])).text == "Done."
    sent = json.dumps(server.requests[-1]["messages"], ensure_ascii=False)
    assert made.text in sent
    assert not any(kind in sent for kind in ('"thinking"', '"reasoning"'))
    await close(before)


async def test_thinking_between_tags_is_no_answer_where_a_package_leaves_it_in_the_text(
    server: OpenAIServer, clients: Clients
) -> None:
    model = build_models(settings_for("ollama:qwen3:30b", server.url.removesuffix("/v1")), clients)["agent"]
    server.replies = [ollama("<think>Hm.</think>\n\nYes."), ollama("<think>{}</think>", ("Choice", {"name": "x"}))]
    heard: list[Any] = []
    answer = await ask(model, HI, said=heard.append)
    assert (answer.text, answer.additional_kwargs["reasoning_content"]) == ("Yes.", "Hm.")
    assert [(type(one), one.text) for one in heard if one.text] == [(ReasoningDelta, "Hm."), (TextDelta, "Yes.")]
    assert (await ask_for(model, Choice, HI)).name == "x"
    server.replies = [ollama("<thi"), ollama("  a < b")]
    heard.clear()
    assert [(await ask(model, HI, said=heard.append)).text for _ in range(2)] == ["<thi", "  a < b"]
    assert all(one.message_id for one in heard if one.text)
    await close(model)
