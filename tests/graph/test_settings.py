import pytest
from pydantic import ValidationError

from graph.settings import DEFAULT_MODEL, AgentSettings


def test_without_a_key_the_model_is_the_offline_one() -> None:
    assert AgentSettings().resolved_model == "offline"


def test_with_a_key_it_is_a_real_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    settings = AgentSettings()
    assert settings.resolved_model == DEFAULT_MODEL
    assert "k" not in repr(settings.openai_api_key)


def test_the_model_may_be_named_and_offline_stays_possible_with_a_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://localhost:11434/v1")
    monkeypatch.setenv("AGENT_MODEL", "offline")
    settings = AgentSettings()
    assert settings.resolved_model == "offline"
    assert settings.openai_base_url == "http://localhost:11434/v1"


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("AGENT_APPROVAL_TTL_SECONDS", "0"),
        ("AGENT_APPROVAL_TTL_SECONDS", "soon"),
        ("AGENT_MAX_TOOL_ROUNDS", "-1"),
        ("AGENT_MODEL_RETRIES", "1000"),
    ],
)
def test_nonsense_is_refused_at_the_start(monkeypatch: pytest.MonkeyPatch, name: str, value: str) -> None:
    monkeypatch.setenv(name, value)
    with pytest.raises(ValidationError):
        AgentSettings()


def test_the_contracts_defaults_hold() -> None:
    settings = AgentSettings()
    assert settings.approval_ttl_seconds == 300
    assert settings.max_tool_rounds == 20


def test_every_setting_says_what_it_is() -> None:
    assert all(field.description for field in AgentSettings.model_fields.values())
