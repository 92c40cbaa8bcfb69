"""Scripted providers: each refuses what its real counterpart refuses, and is then asked in its dialect."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Generator
from contextlib import aclosing
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage, ToolMessage
from langchain_core.tools import tool
from pydantic import BaseModel, Field

from graph.agents.specialist import sendable
from graph.errors import ModelContextError, ModelError, ModelLengthError, ModelNotFoundError, ModelRequestError
from graph.events.sending import Delta, ReasoningDelta, TextDelta
from graph.links.allowlist import HostAllowlist
from graph.links.filter import LinkFilter, filter_answer
from graph.messages.written import with_own_ids
from graph.model_factory import Clients, build_models
from graph.models.asking import ask, dialect_of, was_cut
from graph.models.client import LeanChatModel
from graph.models.dialects import FILE_NAME, RULES, Dialects, read_learnt
from graph.models.structured import ask_for
from graph.settings import AgentSettings
from tests.fakes import providers
from tests.fakes.openai_server import Failure, OpenAIServer, Reply, Stream, split_call

Provider = Callable[[dict[str, Any]], Reply]
Ask = Callable[..., LeanChatModel]

HI: list[BaseMessage] = [HumanMessage("hi")]
TODAY = date(2026, 5, 4)


class Choice(BaseModel):
    """A choice."""

    name: str = Field(min_length=1)


@tool
def patch(name: str) -> None:
    """Patch."""


@pytest.fixture
def provider(server: OpenAIServer) -> Generator[OpenAIServer]:
    yield server
    server.brain = None


@pytest.fixture
def model_of(server: OpenAIServer, clients: Clients) -> Ask:
    """Return what builds a model of the server, by default over the same clients, and thus the same memory."""

    def build(of: Clients = clients) -> LeanChatModel:
        given = {"model": "scripted", "openai_api_key": "k", "openai_base_url": server.url, "model_retries": 0}
        model = build_models(AgentSettings.model_validate(given), of)["agent"]
        assert isinstance(model, LeanChatModel)
        return model

    return build


def turn(*, reasoning: str = "") -> list[BaseMessage]:
    """Return a conversation in the middle of a turn: a call was made, its result is there."""
    extra = {"reasoning_content": reasoning} if reasoning else {}
    made: Any = {"name": "patch", "args": {"name": "x"}, "id": "call_0123456789", "type": "tool_call"}
    earlier = AIMessage("Yes.", additional_kwargs={"reasoning_content": "Of the turn before."})
    called = AIMessage("", tool_calls=[made], additional_kwargs=extra)
    return [HumanMessage("hi"), earlier, HumanMessage("go"), called, ToolMessage("done", tool_call_id=made["id"])]


STRUCTURED: dict[str, tuple[Provider, int, set[str]]] = {
    "deepseek, thinking": (providers.deepseek_thinking, 3, {"json_schema", "tool_choice"}),
    "qwen, thinking": (providers.qwen_thinking, 3, {"json_schema", "tool_choice"}),
    "no tools": (providers.without_tools, 4, {"json_schema", "tool_choice", "tools"}),
    "a schema": (providers.with_schema, 1, set()),
}


@pytest.mark.parametrize(("brain", "asked", "learnt"), STRUCTURED.values(), ids=STRUCTURED)
async def test_a_structured_answer_is_asked_for_down_the_ladder_once(
    provider: OpenAIServer, model_of: Ask, brain: Provider, asked: int, learnt: set[str]
) -> None:
    provider.brain = brain
    assert (await ask_for(model_of(), Choice, [SystemMessage("Choose."), *HI])).name == "x"
    assert len(provider.requests) == asked
    assert (await ask_for(model_of(), Choice, [SystemMessage("Choose."), *HI])).name == "x"
    assert len(provider.requests) == asked + 1
    assert {name for name in RULES if dialect_of(model_of()).has(name)} == learnt
    assert [message["role"] for message in provider.requests[-1]["messages"]] == ["system", "user"]


async def test_a_thinking_mode_is_asked_with_auto_and_for_json_in_the_text(
    provider: OpenAIServer, model_of: Ask
) -> None:
    provider.brain = providers.deepseek_thinking
    await ask_for(model_of(), Choice, [SystemMessage("Choose."), *HI])
    first, second, third = provider.requests
    assert first["response_format"]["type"] == "json_schema"
    assert second["tool_choice"] == "required"
    assert third.get("tool_choice", "auto") == "auto"
    assert third["tools"][0]["function"]["name"] == "Choice"
    assert "answer with the JSON of its arguments alone" in third["messages"][0]["content"]


async def test_a_schema_that_is_sent_is_strict(provider: OpenAIServer, model_of: Ask) -> None:
    provider.brain = providers.with_schema
    await ask_for(model_of(), Choice, HI)
    sent = provider.requests[0]["response_format"]["json_schema"]
    assert sent["schema"]["additionalProperties"] is False
    assert "minLength" not in json.dumps(sent)


@pytest.mark.parametrize(
    ("refusal", "error", "asked"),
    [
        (Failure(400, "Your request was flagged."), ModelRequestError, 2),
        (Failure(400, code="context_length_exceeded"), ModelContextError, 1),
        (Failure(404, "No such model"), ModelNotFoundError, 1),
    ],
)
async def test_a_refusal_for_another_reason_teaches_nothing(
    provider: OpenAIServer, model_of: Ask, refusal: Failure, error: type[ModelError], asked: int
) -> None:
    provider.brain = lambda _: refusal
    with pytest.raises(error):
        await ask_for(model_of(), Choice, HI)
    assert len(provider.requests) == asked
    assert not any(dialect_of(model_of()).has(name) for name in RULES)


async def test_a_schema_that_is_refused_without_a_reason_is_left_out(provider: OpenAIServer, model_of: Ask) -> None:
    provider.replies = [Failure(400, "Bad Request"), split_call("Choice", '{"name": "x"}')]
    assert (await ask_for(model_of(), Choice, HI)).name == "x"
    assert dialect_of(model_of()).has("json_schema")


async def test_a_service_that_ignores_the_schema_is_asked_for_a_call_the_next_time(
    provider: OpenAIServer, model_of: Ask
) -> None:
    provider.replies = [Stream([{"content": "I'd rather talk."}]), Stream([{"content": '{"name": "x"}'}])]
    assert (await ask_for(model_of(), Choice, HI, repairs=1)).name == "x"
    assert provider.requests[1]["tool_choice"] == "required"


PARAMETERS: dict[str, tuple[Provider, set[str]]] = {
    "openai, reasoning": (providers.openai_reasoning, {"temperature", "parallel_tool_calls"}),
    "mistral": (providers.mistral, {"max_completion_tokens", "stream_options", "tool_call_id"}),
    "strings only": (providers.strings_only, {"content"}),
    "deepseek, thinking": (providers.deepseek_thinking, {"reasoning_content"}),
    "deepseek r1": (providers.deepseek_r1, set()),
}


@pytest.mark.parametrize(("brain", "learnt"), PARAMETERS.values(), ids=PARAMETERS)
async def test_what_a_service_refuses_is_sent_otherwise_and_remembered(
    provider: OpenAIServer, model_of: Ask, brain: Provider, learnt: set[str]
) -> None:
    provider.brain = brain

    async def go_on() -> str:
        asked = model_of().bind_tools([patch], max_tokens=9, temperature=0)
        return (await ask(asked, turn(reasoning="Of this turn."))).text

    assert await go_on() == "Done."
    before = len(provider.requests)
    assert before == len(learnt) + 1
    assert await go_on() == "Done."
    assert len(provider.requests) == before + 1
    assert {name for name in RULES if dialect_of(model_of()).has(name)} == learnt


async def test_the_limit_of_an_answer_has_the_name_that_the_service_knows(
    provider: OpenAIServer, model_of: Ask
) -> None:
    provider.brain = providers.openai_reasoning
    await ask(model_of().bind(max_tokens=9), HI)
    assert provider.requests[-1]["max_completion_tokens"] == 9
    provider.brain = providers.mistral
    await ask(model_of().bind(max_tokens=9), HI)
    assert provider.requests[-1]["max_tokens"] == 9


async def test_ids_of_calls_are_mapped_alike_in_the_call_and_its_result(provider: OpenAIServer, model_of: Ask) -> None:
    provider.brain = providers.mistral
    await ask(model_of(), turn())
    sent = provider.requests[-1]["messages"]
    assert sent[3]["tool_calls"][0]["id"] == sent[4]["tool_call_id"]
    provider.replies = [Stream([{"tool_calls": [{"index": 0, "id": "D681PevKs", "function": {"name": "patch"}}]}])]
    made = await ask(model_of().bind_tools([patch]), HI)
    provider.replies.clear()
    await ask(model_of(), [*HI, made, ToolMessage("done", tool_call_id="D681PevKs")])
    assert provider.requests[-1]["messages"][-1]["tool_call_id"] == "D681PevKs"


async def test_reasoning_goes_back_only_where_it_is_demanded_and_only_in_its_turn(
    provider: OpenAIServer, model_of: Ask
) -> None:
    provider.brain = providers.deepseek_r1
    await ask(model_of(), turn(reasoning="Of this turn."))
    assert "reasoning_content" not in json.dumps(provider.requests[-1])
    provider.brain = providers.deepseek_thinking
    await ask(model_of(), turn(reasoning="Of this turn."))
    sent = provider.requests[-1]["messages"]
    assert sent[3]["reasoning_content"] == "Of this turn."
    assert "reasoning_content" not in sent[1]
    await ask(model_of(), turn())
    assert provider.requests[-1]["messages"][3]["reasoning_content"] == ""


async def test_a_refusal_of_what_was_demanded_counts(provider: OpenAIServer, model_of: Ask) -> None:
    provider.brain = providers.fickle
    with pytest.raises(ModelRequestError):
        await ask(model_of(), turn(reasoning="Of this turn."))
    assert "reasoning_content" not in json.dumps(provider.requests[-1])
    assert len(provider.requests) == 3


@pytest.mark.parametrize("brain", [providers.deepseek_r1, providers.mistral, providers.without_tools])
async def test_reasoning_is_said_apart_from_the_answer(provider: OpenAIServer, model_of: Ask, brain: Provider) -> None:
    provider.brain = brain
    said: list[Delta] = []
    answer = await ask(model_of(), HI, said=said.append)
    thought = "".join(delta.text for delta in said if isinstance(delta, ReasoningDelta))
    text = "".join(delta.text for delta in said if isinstance(delta, TextDelta))
    assert thought.strip() in {"Let me see.", "Which {one}?"}
    assert text == answer.text
    assert thought == answer.additional_kwargs["reasoning_content"]
    assert "think" not in text
    assert thought.strip() not in text


@pytest.mark.parametrize("said", ["<thin", "<thinking aloud>", " <th", "a <think>b</think>", "< think>"])
async def test_a_text_that_only_looks_like_a_tag_is_said(provider: OpenAIServer, model_of: Ask, said: str) -> None:
    provider.replies = [Stream([{"content": letter} for letter in said])]
    assert (await ask(model_of(), HI)).text == said


async def test_usage_comes_in_the_last_chunk_or_not_at_all(provider: OpenAIServer, model_of: Ask) -> None:
    provider.brain = providers.mistral
    assert ((await ask(model_of(), HI)).usage_metadata or {}).get("input_tokens") == 5
    provider.brain = providers.without_tools
    assert (await ask(model_of(), HI)).usage_metadata is None


async def test_an_answer_of_a_shape_that_was_cut_says_so(provider: OpenAIServer, model_of: Ask) -> None:
    provider.replies = [Stream([{"content": '{"na'}], finish="length")]
    with pytest.raises(ModelLengthError):
        await ask_for(model_of(), Choice, HI)
    assert not dialect_of(model_of()).has("json_schema")


@pytest.mark.parametrize(
    "metadata",
    [
        {"finish_reason": "length"},
        {"stop_reason": "max_tokens"},
        {"incomplete_details": {"reason": "max_output_tokens"}},
    ],
)
def test_a_cut_answer_is_recognized_in_the_words_of_each_library(metadata: dict[str, Any]) -> None:
    assert was_cut(AIMessage("so", response_metadata=metadata))
    assert not was_cut(AIMessage("so", response_metadata={"finish_reason": "stop", "incomplete_details": None}))


async def test_what_was_learnt_outlives_the_process_for_a_month(
    provider: OpenAIServer, model_of: Ask, tmp_path: Path
) -> None:
    path = tmp_path / FILE_NAME
    provider.brain = providers.openai_reasoning
    for expected in (3, 4):
        clients = Clients(Dialects(path, lambda: TODAY))
        await ask(model_of(clients).bind_tools([patch]).bind(temperature=0), HI)
        assert len(provider.requests) == expected
        await clients.aclose()
    assert [service for service, _ in read_learnt(path, TODAY)] == [(provider.url, "scripted")]
    assert [learnt for _, learnt in read_learnt(path, TODAY.replace(month=7))] == [{}]


def test_the_file_of_what_was_learnt_names_no_password_and_may_be_broken(tmp_path: Path) -> None:
    path = tmp_path / FILE_NAME
    dialects = Dialects(path)
    dialects.of("https://me:secret@models.example/v1/", "m").learn("temperature")
    dialects.flush()
    assert "secret" not in path.read_text()
    assert Dialects(path).of("https://models.example/v1", "m").has("temperature")
    path.write_text('[{"url": 1')
    assert not Dialects(path).of("https://models.example/v1", "m").has("temperature")


async def test_what_was_learnt_is_written_by_another_thread_and_the_last_of_it_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    writers, moved = list[int](), Path.replace

    def replace(partial: Path, path: Path) -> Path:
        writers.append(threading.get_ident())
        return moved(partial, path)

    monkeypatch.setattr(Path, "replace", replace)
    async with aclosing(Clients(Dialects(tmp_path / FILE_NAME))) as clients:
        for name in ("temperature", "content", "stream_options"):
            clients.dialects.of("https://models.example", "m").learn(name)
    assert len(writers) == 3
    assert threading.get_ident() not in writers
    assert all(
        Dialects(tmp_path / FILE_NAME).of("https://models.example", "m").has(name)
        for name in ("temperature", "content", "stream_options")
    )


@pytest.mark.parametrize(
    ("refusal", "takes_none"),
    [
        ("Invalid content type. image_url is only supported by certain models.", True),
        ("unknown variant `image_url`, expected `text`", True),
        ("This model does not support image input", True),
        ("404 : No endpoints found that support image input", True),
        ("messages[1].content must be a string", True),
        ("image exceeds 5 MB maximum", False),
        ("unsupported image format: only png and jpeg", False),
        ("Could not process image", False),
        ("messages: text content blocks must be non-empty", False),
    ],
)
def test_a_service_that_takes_no_pictures_is_told_from_one_that_refuses_this_one(
    refusal: str, takes_none: bool
) -> None:
    assert (RULES["pictures"].words.search(refusal) is not None) == takes_none


def test_what_several_processes_learn_at_once_is_joined_in_the_file(tmp_path: Path) -> None:
    path = tmp_path / FILE_NAME
    several = [Dialects(path, lambda: TODAY) for _ in range(4)]
    names = ("temperature", "content", "stream_options", "tool_choice")
    for dialects, name in zip(several, names, strict=True):
        dialects.of("https://models.example", "m").learn(name)
        dialects.of("https://models.example", name).learn(name)
    for dialects in several:
        dialects.flush()
    learnt = dict(read_learnt(path, TODAY))
    assert learnt["https://models.example", "m"].keys() == {*names}
    assert len(learnt) == 1 + len(names)
    assert not list(tmp_path.glob("*.partial"))


@pytest.mark.parametrize("client", ["lean", "openai"])
async def test_both_clients_go_down_the_ladder_and_share_what_was_learnt(
    provider: OpenAIServer, clients: Clients, client: str
) -> None:
    provider.brain = providers.qwen_thinking
    given = {"model": "scripted", "openai_api_key": "k", "openai_base_url": provider.url, "chat_client": client}
    for _ in range(2):
        model = build_models(AgentSettings.model_validate(given), clients)["agent"]
        assert (await ask_for(model, Choice, [SystemMessage("Choose."), *HI])).name == "x"
    assert len(provider.requests) == {"lean": 4, "openai": 3}[client]
    assert clients.dialects.of(provider.url, "scripted").has("tool_choice")


async def test_calls_may_be_parallel_where_the_choice_is_the_models(provider: OpenAIServer, model_of: Ask) -> None:
    provider.replies = [Stream([{"content": "Done."}]), Stream([{"content": "Done."}])]
    await ask(model_of().bind_tools([patch]), HI)
    await ask(model_of().bind_tools([patch], tool_choice="any"), HI)
    assert [request.get("parallel_tool_calls") for request in provider.requests] == [True, None]


async def test_items_of_reasoning_are_said_apart_and_go_back_before_their_calls(
    provider: OpenAIServer, clients: Clients
) -> None:
    provider.brain = providers.openai_responses
    given = {"model": "gpt-5.1-codex", "openai_api_key": "k", "openai_base_url": provider.url, "model_retries": 0}
    model = build_models(AgentSettings.model_validate(given), clients)["agent"].bind_tools([patch])
    said: list[Delta] = []
    made = await ask(model, HI, said=said.append)
    assert "".join(delta.text for delta in said if isinstance(delta, ReasoningDelta)) == "Let me see."
    assert made.text == ""
    stored = sendable(with_own_ids(filter_answer(made, LinkFilter(HostAllowlist())), set()))
    assert isinstance(stored, AIMessage)
    result = ToolMessage("done", tool_call_id=stored.tool_calls[0]["id"] or "")
    assert (await ask(model, [*HI, stored, result])).text == "Done."
    with pytest.raises(ModelRequestError):
        await ask(model, [*HI, AIMessage("", tool_calls=stored.tool_calls), result])
