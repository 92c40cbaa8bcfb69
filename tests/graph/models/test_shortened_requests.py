"""A request whose length is refused goes out once more, shorter: for every caller and in every service's words."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import TYPE_CHECKING, Any

import pytest
from langchain_core.messages import HumanMessage, SystemMessage
from pydantic import BaseModel

from graph.errors import ModelContextError
from graph.messages.tokens import tokens_of
from graph.model_factory import Clients, build_models
from graph.models.shortening import shortened
from graph.models.structured import ask_for
from graph.prompts import section
from graph.settings import AgentSettings
from tests.fakes.conductor import Conductor
from tests.fakes.openai_server import Failure, OpenAIServer, text
from tests.graph.assistant import Assistant, assemble
from tests.graph.models.test_refused_length import REFUSALS

if TYPE_CHECKING:
    from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
    from langgraph.store.sqlite.aio import AsyncSqliteStore

    from graph.drive.connections import ConnectionPool
    from tests.fakes.tiny_drive import TinyDrive

Build = Callable[..., Assistant]

WORDS = "The contract ends in March. 合同三月到期。" * 60
LOCAL = {
    "llama.cpp": Failure(400, "the request exceeds the available context size (4096 tokens), try increasing it"),
    "vllm": Failure(400, "This model's maximum context length is 4096 tokens. However, you requested 5000 tokens"),
}
SERVICES = {**REFUSALS, **LOCAL}
STEP: dict[str, Any] = {"title": "It", "agent": "search_agent", "instruction": "Read each file.", "depends_on": []}


class Choice(BaseModel):
    """A choice."""

    name: str


@pytest.fixture
def build(
    clients: Clients,
    server: OpenAIServer,
    pool: ConnectionPool,
    saver: AsyncSqliteSaver,
    store: AsyncSqliteStore,
) -> Build:
    def build(**others: Any) -> Assistant:
        given = {"model": "scripted", "openai_api_key": "k", "openai_base_url": server.url, "model_retries": 0}
        settings = AgentSettings.model_validate({**given, **others})
        return assemble(build_models(settings, clients), pool, saver, settings=settings, store=store)

    return build


@pytest.fixture
def conductor(server: OpenAIServer, monkeypatch: pytest.MonkeyPatch) -> Conductor:
    conductor = Conductor()
    monkeypatch.setattr(server, "brain", conductor)
    return conductor


def both_of(conductor: Conductor, kind: str) -> list[str]:
    """Return the texts of the refused request of a kind and of the one after it."""
    texts = [
        str([one["content"] for one in request["messages"]]) for asked, request in conductor.asked if asked == kind
    ]
    return texts[:2]


@pytest.mark.parametrize("service", SERVICES)
async def test_an_answer_of_a_shape_is_asked_for_with_less(
    server: OpenAIServer, clients: Clients, service: str
) -> None:
    given = {"model": "scripted", "openai_api_key": "k", "openai_base_url": server.url, "model_retries": 0}
    model = build_models(AgentSettings.model_validate(given), clients)["agent"]
    server.replies = [SERVICES[service], text('{"name": "x"}')]
    asked = [SystemMessage(f"Choose.\n\n{section('conversation', WORDS)}"), HumanMessage("Which one?")]
    assert (await ask_for(model, Choice, asked)).name == "x"
    refused, retried = (str(request["messages"][0]["content"]) for request in server.requests)
    assert len(retried) < len(refused)
    assert retried.startswith("Choose.\n\n<conversation>\n…")
    assert server.requests[1]["messages"][1]["content"] == "Which one?"


@pytest.mark.parametrize("service", ["openai", "mistral"])
async def test_the_router_is_asked_with_less(build: Build, conductor: Conductor, service: str) -> None:
    conductor.refuse_first = {"route": SERVICES[service]}
    assistant = build(router_model="small")
    seen = await assistant.say(f"hmm, {WORDS} what would you make of it?")
    assert seen.of("route_decision")[0]["method"] == "model"
    assert seen.of("route_decision")[0]["confidence"] == 0.9
    refused, retried = both_of(conductor, "route")
    assert len(retried) < 0.9 * len(refused)


@pytest.mark.parametrize("service", ["deepseek", "vllm"])
async def test_the_planner_is_asked_with_less(build: Build, conductor: Conductor, service: str) -> None:
    conductor.plan = [{**STEP, "title": title, "kind": "act"} for title in ("One", "Two")]
    conductor.refuse_first = {"plan": SERVICES[service]}
    seen = await build(router_model="small").say(f"create a folder, then share it with bob@example.com. {WORDS}")
    assert [step["title"] for step in seen.of("task_plan")[0]["steps"]] == ["One", "Two"]
    refused, retried = both_of(conductor, "plan")
    assert len(retried) < 0.9 * len(refused)


@pytest.mark.parametrize("service", ["qwen", "ollama"])
async def test_a_step_over_many_files_reads_halves_and_brings_less_together(
    build: Build, conductor: Conductor, drive: TinyDrive, service: str
) -> None:
    drive.texts |= {"a": WORDS, "b": WORDS}
    conductor.plan = [{**STEP, "kind": "map"}]
    conductor.refuse_first = dict.fromkeys(("map", "parts", "whole"), SERVICES[service])
    conductor.said = WORDS
    seen = await build().say("summarise each file in this folder, then the whole", folder_id="root")
    assert "2 of 2 read." in seen.text
    assert "The whole: it says 30 days." in seen.text
    assert conductor.kinds["map"] >= 3
    assert conductor.refuse_first == {}


@pytest.mark.parametrize("service", ["anthropic", "llama.cpp"])
async def test_a_summary_is_asked_for_with_less(build: Build, conductor: Conductor, service: str) -> None:
    assistant = build(window_tokens=2_000)
    conductor.refuse_first = {"summary": SERVICES[service]}
    seen = [await assistant.say(f"what do you think of this? {WORDS}") for _ in range(4)][-1]
    assert any(summary["text"].startswith("The summary") for summary in seen.state["summaries"])
    assert all(datetime.fromisoformat(summary["created_at"]).tzinfo for summary in seen.state["summaries"])
    refused, retried = both_of(conductor, "summary")
    assert len(retried) < 0.9 * len(refused)


async def test_what_is_refused_twice_is_an_error_and_what_can_not_be_shorter_is_not_asked_again(
    server: OpenAIServer, clients: Clients
) -> None:
    given = {"model": "scripted", "openai_api_key": "k", "openai_base_url": server.url, "model_retries": 0}
    model = build_models(AgentSettings.model_validate(given), clients)["agent"]
    server.replies = [SERVICES["openai"]] * 3
    with pytest.raises(ModelContextError):
        await ask_for(model, Choice, [SystemMessage("Choose."), HumanMessage(WORDS)])
    assert len(server.requests) == 2
    with pytest.raises(ModelContextError):
        await ask_for(model, Choice, [SystemMessage("Choose."), HumanMessage("Which one?")])
    assert len(server.requests) == 3


def test_a_limit_that_is_named_is_kept_with_room_for_the_answer() -> None:
    messages = [SystemMessage(f"Choose.\n\n{section('listing', WORDS)}"), HumanMessage(WORDS)]
    cut = shortened(messages, "maximum context length is 1000 tokens")
    assert sum(tokens_of(one.text) for one in cut) <= 750
    assert cut[1].text.startswith("The contract")
    assert cut[1].text.endswith("合同三月到期。")
    assert shortened([SystemMessage(WORDS)], "")[0].text == WORDS
