"""The real model over real HTTP, against a scripted OpenAI-compatible server."""

from collections.abc import Callable, Iterable
from typing import Any

import openai
import pytest
from langchain_core import exceptions as neutral
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.tools import tool
from pydantic import BaseModel, SecretStr

from graph.errors import (
    ModelAuthenticationError,
    ModelContextError,
    ModelError,
    ModelNotFoundError,
    ModelOutputError,
    ModelQuotaError,
    ModelRateLimitedError,
    ModelRequestError,
    ModelTimeoutError,
    ModelUnavailableError,
)
from graph.model_factory import Clients, build_models
from graph.models.asking import ask, translate
from graph.models.structured import ask_for
from graph.settings import AgentSettings
from tests.fakes.openai_server import Failure, Garbage, OpenAIServer, Stream, split_call, text

ModelOf = Callable[..., BaseChatModel]

HI = [HumanMessage("hi")]


@pytest.fixture(params=["lean", "openai"])
def model_of(request: pytest.FixtureRequest, clients: Clients) -> ModelOf:
    def build(server: OpenAIServer, **settings: Any) -> BaseChatModel:
        given: dict[str, Any] = {
            "model": "scripted",
            "openai_api_key": "k",
            "openai_base_url": server.url,
            "model_retries": 2,
            "chat_client": request.param,
        }
        return build_models(AgentSettings(**{**given, **settings}), clients)["agent"]

    return build


async def test_no_request_ends_with_the_assistants_words(server: OpenAIServer, model_of: ModelOf) -> None:
    server.replies = [text("more")]
    await ask(model_of(server), [*HI, AIMessage("hello")])
    sent = server.requests[0]["messages"]
    assert [message["role"] for message in sent] == ["user", "assistant", "user"]


@tool
def patch(find: str, replace: str) -> None:
    """Patch."""


class Choice(BaseModel):
    """A choice."""

    name: str


async def test_an_answer_streams_and_counts_its_tokens(model_of: ModelOf, server: OpenAIServer) -> None:
    server.replies = [text("Hel", "lo")]
    assert "".join([chunk.text async for chunk in model_of(server).astream(HI)]) == "Hello"
    server.replies = [text("Hello")]
    answer = await ask(model_of(server), HI)
    assert answer.text == "Hello"
    assert answer.usage_metadata is not None
    assert answer.usage_metadata["total_tokens"] == 10
    assert server.headers[0]["authorization"] == "Bearer k"


async def test_a_tool_call_split_over_deltas_is_put_together(model_of: ModelOf, server: OpenAIServer) -> None:
    server.replies = [split_call("patch", '{"find": "30", "replace": "四十五"}', pieces=7)]
    answer = await ask(model_of(server).bind_tools([patch]), HI)
    assert answer.tool_calls[0]["args"] == {"find": "30", "replace": "四十五"}
    assert server.requests[0]["tools"][0]["function"]["name"] == "patch"


@pytest.mark.parametrize(
    "arguments", ['{"find": "30", ', '{"find": "30', '{"find": nope}', "[1]", '{"a":1}{"b":2}', f'{{"n": {2**70}}}']
)
async def test_malformed_or_cut_arguments_are_an_invalid_call_and_never_guessed_at(
    model_of: ModelOf, server: OpenAIServer, arguments: str
) -> None:
    server.replies = [split_call("patch", arguments)]
    answer = await ask(model_of(server).bind_tools([patch]), HI)
    assert answer.tool_calls == []
    assert [call["args"] for call in answer.invalid_tool_calls] == [arguments]


async def test_a_call_without_arguments_has_none(model_of: ModelOf, server: OpenAIServer) -> None:
    server.replies = [split_call("patch", "")]
    assert (await ask(model_of(server), HI)).tool_calls[0]["args"] == {}


async def test_a_429_is_retried_after_the_time_it_asks_for(model_of: ModelOf, server: OpenAIServer) -> None:
    server.replies = [Failure(429, headers={"retry-after": "1"}), text("there")]
    assert (await ask(model_of(server), HI)).text == "there"
    assert server.arrivals[1] - server.arrivals[0] >= 1


async def test_a_500_is_retried(model_of: ModelOf, server: OpenAIServer) -> None:
    server.replies = [Failure(500, headers={"retry-after-ms": "1"}), text("there")]
    assert (await ask(model_of(server), HI)).text == "there"
    assert len(server.requests) == 2


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        (Failure(429), ModelRateLimitedError),
        (Failure(429, "pay", code="insufficient_quota"), ModelQuotaError),
        (Failure(402, "Insufficient Balance"), ModelQuotaError),
        (Failure(500), ModelUnavailableError),
        (Failure(503), ModelUnavailableError),
        (Failure(401), ModelAuthenticationError),
        (Failure(403), ModelAuthenticationError),
        (Failure(404), ModelNotFoundError),
        (Failure(400), ModelRequestError),
        (Failure(422), ModelRequestError),
        (Failure(400, "maximum context length", code="context_length_exceeded"), ModelContextError),
        (Failure(400, "This model's maximum context length is 4096 tokens."), ModelContextError),
        (Garbage("data: {not json\n\n"), ModelOutputError),
        (Garbage("data: [DONE]\n\n"), ModelOutputError),
        (Garbage('data: {"error": {"message": "overloaded"}}\n\n'), ModelUnavailableError),
    ],
)
async def test_what_goes_wrong_has_one_of_our_codes(
    model_of: ModelOf, server: OpenAIServer, reply: Any, expected: type[ModelError]
) -> None:
    server.replies = [reply]
    with pytest.raises(expected) as caught:
        await ask(model_of(server, model_retries=0), HI)
    assert type(caught.value) is expected


async def test_a_stream_that_falls_silent_ends_in_a_timeout(model_of: ModelOf, server: OpenAIServer) -> None:
    server.replies = [Stream([{"content": "Hel"}], stalls=True)]
    with pytest.raises(ModelTimeoutError):
        await ask(model_of(server, model_stall_seconds=0.2), HI)


async def test_a_service_that_is_not_there_is_unavailable(model_of: ModelOf) -> None:
    nowhere = OpenAIServer(url="http://127.0.0.1:9/v1")
    with pytest.raises(ModelUnavailableError):
        await ask(model_of(nowhere, model_retries=0), HI)


async def test_a_structured_answer_is_read_from_a_call_or_the_text(model_of: ModelOf, server: OpenAIServer) -> None:
    server.replies = [split_call("Choice", '{"name": "x"}'), text('```json\n{"name": "y"}\n```')]
    model = model_of(server)
    assert (await ask_for(model, Choice, HI)).name == "x"
    assert (await ask_for(model, Choice, HI)).name == "y"


@pytest.mark.parametrize("reply", [text("no idea"), split_call("Choice", '{"nam": 1}'), text("}{")])
async def test_nonsense_for_structure_is_an_output_error(model_of: ModelOf, server: OpenAIServer, reply: Any) -> None:
    server.replies = [reply]
    with pytest.raises(ModelOutputError):
        await ask_for(model_of(server), Choice, HI)


def test_without_a_key_the_offline_model_is_used_and_shared() -> None:
    models = build_models(AgentSettings(openai_api_key=SecretStr("")))
    assert models["agent"]._llm_type.startswith("offline")  # pyright: ignore[reportPrivateUsage] - LangChain's name for a model's kind
    assert models["agent"] is models["router"] is models["planner"]


@pytest.mark.parametrize(
    ("name", "client", "kind"),
    [
        ("gpt-4.1-mini", "lean", "LeanChatModel"),
        ("deepseek-chat", "lean", "LeanChatModel"),
        ("o4-mini", "lean", "LeanChatModel"),
        ("gpt-5.2-pro", "lean", "ChatOpenAI"),
        ("gpt-5.1-codex-max", "lean", "ChatOpenAI"),
        ("gpt-6-mini", "lean", "ChatOpenAI"),
        ("gpt-4.1-mini", "openai", "ChatOpenAI"),
    ],
)
def test_models_that_speak_another_protocol_are_asked_by_openais_own_client(name: str, client: str, kind: str) -> None:
    settings = AgentSettings.model_validate({"openai_api_key": "k", "model": name, "chat_client": client})
    assert type(build_models(settings)["agent"]).__name__ == kind


@pytest.mark.parametrize("router", ["", "a"])
def test_no_model_routes_that_would_take_as_long_as_the_agents_own(router: str) -> None:
    assert "router" not in build_models(AgentSettings(openai_api_key=SecretStr("k"), model="a", router_model=router))


def test_roles_may_have_models_of_their_own() -> None:
    models = build_models(AgentSettings(openai_api_key=SecretStr("k"), model="a", router_model="b"))
    assert models["agent"] is models["planner"]
    assert models["agent"] is not models["router"]


def subclasses(of: type[Exception]) -> Iterable[type[Exception]]:
    for direct in of.__subclasses__():
        yield direct
        yield from subclasses(direct)


@pytest.mark.parametrize("foreign", [*subclasses(openai.OpenAIError), *subclasses(neutral.ModelError)])
def test_every_error_of_the_model_libraries_is_translated(foreign: type[Exception]) -> None:
    assert isinstance(translate(foreign.__new__(foreign)), ModelError)


def test_an_error_that_is_no_models_stays_what_it_is() -> None:
    assert translate(RuntimeError("a bug")) is None
