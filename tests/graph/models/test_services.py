"""Providers that speak OpenAI's protocol: the lean client asks them at their addresses, by what is known of them."""

from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage, ToolMessage
from pydantic import BaseModel

from api.cli.commands.doctor import check_dialects
from graph.model_factory import Clients, build_models
from graph.models import providers as packages
from graph.models.asking import ask
from graph.models.client import LeanChatModel
from graph.models.dialects import FILE_NAME, RULES, Dialects
from graph.models.services import AS_OF, SERVICES, access_to
from graph.models.structured import ask_for
from graph.settings import PROVIDERS, AgentSettings, split_model
from tests.fakes import providers
from tests.fakes.openai_server import OpenAIServer, Reply, text

HI: list[BaseMessage] = [SystemMessage("Choose."), HumanMessage("hi")]
CALLED: Any = {"name": "patch", "args": {}, "id": "call_0123456789", "type": "tool_call"}
RESULT: list[BaseMessage] = [
    *HI,
    AIMessage("", tool_calls=[CALLED], additional_kwargs={"reasoning_content": "Let me see."}),
    ToolMessage("done", tool_call_id="call_0123456789"),
]


class Choice(BaseModel):
    """A choice."""

    name: str


def no_package(name: str) -> None:
    """Find no package."""
    del name


def settings_for(provider: str, url: str, **others: Any) -> AgentSettings:
    service = SERVICES[provider]
    given = {service.key.lower(): f"key of {provider}", service.address.lower(): url, "model_retries": 0, **others}
    return AgentSettings.model_validate({"model": f"{provider}:scripted", **given})


@pytest.mark.parametrize("provider", SERVICES)
async def test_a_provider_is_asked_at_its_address_with_its_key_and_without_a_package(
    server: OpenAIServer, clients: Clients, provider: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(packages, "find_spec", no_package)
    server.replies = [text("Hello")]
    model = build_models(settings_for(provider, server.url), clients)["agent"]
    assert (await ask(model, HI)).text == "Hello"
    assert server.headers[0]["authorization"] == f"Bearer key of {provider}"
    assert server.requests[0]["model"] == "scripted"


@pytest.mark.parametrize("provider", SERVICES)
async def test_without_an_address_of_the_settings_it_is_the_one_of_the_table(clients: Clients, provider: str) -> None:
    model = build_models(settings_for(provider, ""), clients)["agent"]
    assert isinstance(model, LeanChatModel)
    assert model.endpoint.url == SERVICES[provider].url


def test_the_table_names_rules_and_providers_that_there_are() -> None:
    assert set(SERVICES) <= set(PROVIDERS)
    assert set().union(*(service.rules for service in SERVICES.values())) <= set(RULES)
    assert date.fromisoformat(AS_OF) >= date(2026, 11, 1)
    assert split_model("qwen:7b") == ("", "qwen:7b")
    assert split_model("mistral:7b") == ("", "mistral:7b")


BRAINS: dict[str, tuple[Callable[[dict[str, Any]], Reply], int, set[str]]] = {
    "deepseek": (providers.deepseek_thinking, 3, {"json_schema", "tool_choice"}),
    "dashscope": (providers.qwen_thinking, 3, {"json_schema", "tool_choice"}),
    "openrouter": (providers.without_tools, 4, {"json_schema", "tool_choice", "tools"}),
}


@pytest.mark.parametrize("provider", BRAINS)
async def test_what_a_provider_refuses_is_learnt_and_the_doctor_says_it_once(
    server: OpenAIServer, provider: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    brain, asked, learnt = BRAINS[provider]
    monkeypatch.setattr(server, "brain", brain)
    clients = Clients(Dialects(tmp_path / FILE_NAME))
    settings = settings_for(provider, server.url)
    for _ in range(2):
        assert (await ask_for(build_models(settings, clients)["agent"], Choice, HI)).name == "x"
    assert len(server.requests) == asked + 1
    await clients.aclose()
    (check,) = check_dialects(settings, tmp_path)
    assert all(check.text.count(RULES[name].description) == 1 for name in learnt)
    assert list(check_dialects(AgentSettings(), tmp_path)) == []


async def test_a_rule_that_is_known_is_followed_before_anything_is_refused(
    server: OpenAIServer, clients: Clients, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server, "brain", providers.mistral)
    model = build_models(settings_for("mistralai", server.url), clients)["agent"]
    assert (await ask(model.bind(max_tokens=9), RESULT)).text == "Done."
    (request,) = server.requests
    assert request["max_tokens"] == 9
    assert "stream_options" not in request
    assert len(request["messages"][-1]["tool_call_id"]) == 9


@pytest.mark.parametrize(
    ("provider", "name"), [("deepseek", "max_tokens"), ("together", "max_tokens"), ("xai", "max_completion_tokens")]
)
async def test_a_service_gets_the_limit_of_an_answer_under_its_own_name(
    server: OpenAIServer, clients: Clients, provider: str, name: str
) -> None:
    server.replies = [text("ok")]
    await ask(build_models(settings_for(provider, server.url), clients)["agent"].bind(max_tokens=9), HI)
    assert server.requests[0][name] == 9


def test_a_bare_name_at_the_address_of_a_service_that_is_known_gets_its_rules_too() -> None:
    access = access_to(AgentSettings(openai_base_url="https://api.mistral.ai/v1/"), "openai")
    assert access.url == "https://api.mistral.ai/v1"
    assert access.rules == SERVICES["mistralai"].rules
    assert access_to(AgentSettings(openai_base_url="http://127.0.0.1:11434/v1"), "openai").rules == frozenset()
