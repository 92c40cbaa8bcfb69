"""Whole turns with each provider's rules: what it refuses is refused once, and then no turn meets it again."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest
from mcp.types import CreateMessageRequestParams, CreateMessageResult, SamplingMessage, TextContent

from graph.model_factory import Clients, build_models
from graph.models.asking import dialect_of
from graph.models.dialects import RULES
from graph.models.sampling import LentModel
from graph.settings import AgentSettings
from tests.fakes import providers
from tests.fakes.anthropic_server import in_front_of
from tests.fakes.conductor import Conductor
from tests.graph.assistant import Assistant, approve, assemble, cancelled
from tests.graph.models.test_provider_packages import close

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from langchain_core.language_models import BaseChatModel
    from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
    from langgraph.store.sqlite.aio import AsyncSqliteStore

    from graph.drive.connections import ConnectionPool
    from tests.fakes.openai_server import OpenAIServer
    from tests.fakes.tiny_drive import TinyDrive

Build = Callable[..., Assistant]
STEPS: list[dict[str, Any]] = [
    {"title": "One", "agent": "drive_agent", "instruction": "create the folder", "kind": "act", "depends_on": []},
    {"title": "Two", "agent": "drive_agent", "instruction": "rename the file", "kind": "act", "depends_on": ["1"]},
]
EACH: list[dict[str, Any]] = [
    {"title": "Each", "agent": "search_agent", "instruction": "Read each.", "kind": "map", "depends_on": []}
]
LADDER = {"json_schema", "tool_choice"}
CONDUCTORS: dict[str, tuple[Conductor, set[str]]] = {
    "openai": (Conductor(), set()),
    "openai, reasoning": (Conductor(providers.openai_reasoning), {"parallel_tool_calls"}),
    "mistral": (
        Conductor(providers.mistral, usage="last chunk"),
        {"max_completion_tokens", "stream_options", "tool_call_id"},
    ),
    "deepseek, thinking": (Conductor(providers.deepseek_thinking, thinks=True), {*LADDER, "reasoning_content"}),
    "deepseek r1": (Conductor(providers.deepseek_r1, thinks=True), set()),
    "qwen, thinking": (Conductor(providers.qwen_thinking, thinks=True), LADDER),
    "strings only": (Conductor(providers.strings_only, usage="none"), {"content"}),
    "anthropic": (Conductor(), set()),
}


@pytest.fixture(params=CONDUCTORS)
def provider(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture
def conductor(provider: str, server: OpenAIServer, monkeypatch: pytest.MonkeyPatch) -> Conductor:
    made, _ = CONDUCTORS[provider]
    conductor = Conductor(made.rules, thinks=made.thinks, usage=made.usage)
    monkeypatch.setattr(server, "brain", in_front_of(conductor) if provider == "anthropic" else conductor)
    return conductor


@pytest.fixture
async def models() -> AsyncGenerator[list[BaseChatModel]]:
    """Return the models that were built, to be closed at the end."""
    built: list[BaseChatModel] = []
    yield built
    for model in built:
        await close(model)


@pytest.fixture
def build(
    provider: str,
    server: OpenAIServer,
    clients: Clients,
    pool: ConnectionPool,
    saver: AsyncSqliteSaver,
    store: AsyncSqliteStore,
    models: list[BaseChatModel],
) -> Build:
    def build(**others: Any) -> Assistant:
        name = "anthropic:claude-sonnet-5" if provider == "anthropic" else "scripted"
        given: dict[str, Any] = {
            "model": name,
            "openai_api_key": "k",
            "openai_base_url": server.url,
            "anthropic_api_key": "k",
            "anthropic_base_url": server.url.removesuffix("/v1"),
            "model_retries": 0,
        }
        settings = AgentSettings.model_validate({**given, **others})
        roles = build_models(settings, clients)
        models.append(roles["agent"])
        return assemble(roles, pool, saver, settings=settings, store=store)

    return build


async def test_no_turn_breaks_a_rule_of_a_provider_twice(
    build: Build,
    conductor: Conductor,
    models: list[BaseChatModel],
    drive: TinyDrive,
    server: OpenAIServer,
    provider: str,
) -> None:
    assistant = build()
    for turn in (_chat, _approved, _planned, _over_files, _after_a_cancel):
        await turn(Assistant(assistant.graph), conductor, drive)
        assert conductor.problems == [], turn.__name__
    assert len(conductor.refused) == len(set(conductor.refused))
    await _lent(models[0])
    learnt = {name for name in RULES if dialect_of(models[0]).has(name)}
    assert learnt == CONDUCTORS[provider][1]
    refused = len(conductor.refused)
    await _chat(Assistant(assistant.graph), conductor, drive)
    narrow = build(window_tokens=1_500, router_model="anthropic:small" if provider == "anthropic" else "small")
    await _routed(narrow, conductor)
    await _summarised(Assistant(narrow.graph), conductor)
    assert conductor.problems == []
    assert not any("temperature" in request for request in server.requests)
    offers = [request for request in server.requests if request.get("tools") and "tool_choice" not in request]
    if provider != "anthropic" and "parallel_tool_calls" not in learnt:
        assert all(request["parallel_tool_calls"] for request in offers)
    assert len(conductor.refused) - refused <= len(learnt)  # the router is another model: it learns for itself


async def _chat(assistant: Assistant, conductor: Conductor, drive: TinyDrive) -> None:
    del drive
    seen = await assistant.say("find the contract")
    assert seen.ends == [("read_file", "done")]
    assert seen.text.strip().endswith("Done.")
    conductor.finish = "length"
    assert "cut off here" in (await assistant.say("what else is there?")).text
    conductor.finish = "stop"


async def _approved(assistant: Assistant, conductor: Conductor, drive: TinyDrive) -> None:
    del conductor
    asked = (await assistant.say("delete the old file")).asked
    assert asked is not None
    seen = await assistant.answer(approve(asked["actions"][0]["tool_call_id"]))
    assert seen.ends == [("trash_item", "done")]
    assert "trash_item" in [tool for tool, _ in drive.done]


async def _planned(assistant: Assistant, conductor: Conductor, drive: TinyDrive) -> None:
    del drive
    conductor.plan = STEPS
    seen = await assistant.say("create a folder called New and then rename a to c")
    while seen.asked:
        seen = await assistant.answer(approve(*(action["tool_call_id"] for action in seen.asked["actions"])))
    assert [step["status"] for step in seen.state["plan"]["steps"]] == ["completed", "completed"]


async def _over_files(assistant: Assistant, conductor: Conductor, drive: TinyDrive) -> None:
    del drive
    conductor.plan = EACH
    seen = await assistant.say("summarise each file in this folder, then the whole", folder_id="root")
    assert "2 of 2 read." in seen.text
    assert {"map", "whole"} <= set(conductor.kinds)


async def _after_a_cancel(assistant: Assistant, conductor: Conductor, drive: TinyDrive) -> None:
    del conductor
    running, gate = drive.hold_create_folder()
    await cancelled(asyncio.create_task(assistant.say("create a folder New")), running)
    gate.set()
    assert (await assistant.say("find the contract")).ends == [("read_file", "done")]


async def _lent(model: BaseChatModel) -> None:
    said = SamplingMessage(role="user", content=TextContent(type="text", text="How long?"))
    answered = await LentModel(model)(None, CreateMessageRequestParams(messages=[said], maxTokens=77))
    assert isinstance(answered, CreateMessageResult)


async def _routed(assistant: Assistant, conductor: Conductor) -> None:
    conductor.plan = []
    seen = await assistant.say("hmm, what would you make of it?")
    assert seen.of("route_decision")[0]["method"] == "model"
    assert seen.of("route_decision")[0]["confidence"] == 0.9


async def _summarised(assistant: Assistant, conductor: Conductor) -> None:
    said = f"what is this? {'The contract ends in March. ' * 60}"
    seen = [await assistant.say(said) for _ in range(4)][-1]
    assert any(one["text"].startswith("The summary") for one in seen.state["summaries"])
    assert conductor.kinds["summary"] >= 1
