"""The doctor's lines about models."""

from collections.abc import Generator
from typing import Any

import pytest

from api.cli.commands import model_checks
from api.cli.commands.model_checks import Check, check_model, check_models
from graph.models import providers
from graph.settings import AgentSettings
from tests.fakes.openai_server import OpenAIServer, running_server
from tests.graph.models.test_serving import answering


@pytest.fixture(scope="module")
def server() -> Generator[OpenAIServer]:
    with running_server() as server:
        yield server


def checks(**settings: Any) -> list[Check]:
    return list(check_models(AgentSettings(**settings)))


def not_installed(name: str) -> None:
    """Find no package."""
    del name


def test_without_a_model_every_role_has_the_offline_one() -> None:
    found = checks()
    assert [check.name for check in found] == [
        "model",
        "model, router",
        "model, planner",
        "model, reader",
        "model, summarizer",
    ]
    assert all(check.state == "ok" and "offline" in check.text for check in found)


def test_each_role_is_named_with_its_model_and_so_is_what_people_may_choose(server: OpenAIServer) -> None:
    found = checks(
        model="gpt-4.1",
        models="gpt-5",
        router_model="gpt-4.1-nano",
        openai_api_key="k",
        openai_base_url=server.url,
    )
    texts = {check.name: check.text.split()[0] for check in found}
    assert texts == {
        "model": "gpt-4.1",
        "model, router": "gpt-4.1-nano",
        "model, planner": "gpt-4.1",
        "model, reader": "gpt-4.1",
        "model, summarizer": "gpt-4.1-nano",
        "model, to choose": "gpt-5",
    }
    assert {check.state for check in found} == {"warn"}  # the scripted service lists no models


def test_a_missing_package_and_a_missing_key_are_said(monkeypatch: pytest.MonkeyPatch) -> None:
    (check, *_) = checks(model="anthropic:claude-sonnet-5")
    assert check.state == "warn"
    assert "without ANTHROPIC_API_KEY" in check.text
    monkeypatch.setattr(providers, "find_spec", not_installed)
    (check, *_) = checks(model="anthropic:claude-sonnet-5")
    assert check.state == "fail"
    assert "pip install 'drive-agent[anthropic]'" in check.text


def test_a_local_service_that_is_not_there_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(model_checks, "MODEL_SECONDS", 2)
    (check, *_) = checks(model="ollama:qwen3", ollama_base_url="127.0.0.1:9")
    assert check.state == "fail"
    assert "http://127.0.0.1:9 can't be reached" in check.text


def test_a_limit_of_the_cost_that_can_not_see_a_model_is_said() -> None:
    assert checks(max_run_cost=1)[-1].state == "ok"
    blind = checks(model="a-model-of-ours", max_run_cost=1)[-1]
    assert blind.state == "warn"
    assert "a-model-of-ours" in blind.text
    assert checks(model="a-model-of-ours", max_run_cost=1, input_price=1, output_price=2)[-1].state == "ok"


@pytest.mark.parametrize(
    ("answers", "mend"),
    [
        ({"/props": {"default_generation_settings": {"n_ctx": 4096}}}, "--ctx-size 16384"),
        ({"/api/show": {"details": {"parameter_size": "3B"}}}, "OLLAMA_CONTEXT_LENGTH=16384"),
        ({"/v1/models": {"data": [{"id": "m", "max_model_len": 4096}]}}, "--max-model-len 16384"),
    ],
)
def test_a_context_that_is_too_small_is_named_with_the_line_that_mends_it(answers: dict[str, Any], mend: str) -> None:
    with answering({"/v1/models": {"data": []}, **answers}) as url:
        found = check_model(AgentSettings.model_validate({"openai_base_url": url, "openai_api_key": "k"}), "m")
    assert found.state == "warn"
    assert "4,096" in found.text
    assert mend in found.hint
