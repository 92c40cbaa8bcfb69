"""Questions of MCP servers in `drive-agent chat`, asked field by field."""

from __future__ import annotations

from typing import Any

import pytest

from tests.api.cli.chat.test_command import chat, decided
from tests.api.cli.scripted_service import DECISION, DONE, RUN, ScriptedService, action, approval

FIELDS: dict[str, Any] = {
    "city": {"type": "string", "title": "City", "description": "Where you go."},
    "days": {"type": "integer", "default": 3},
    "sea": {"type": "boolean"},
    "hotel": {"type": "string", "oneOf": [{"const": "h-1", "title": "Grand"}, {"const": "h-2", "title": "Small"}]},
    "fish": {"type": "array", "items": {"type": "string", "enum": ["tuna", "trout"]}},
    "note": {"type": "string"},
}


def question(mode: str = "form", language: str = "en") -> dict[str, Any]:
    """Return an approval with a question."""
    view = {
        "server_name": "trips",
        "mode": mode,
        "schema": {"type": "object", "properties": FIELDS, "required": ["city"]},
        "language": language,
    }
    preview = "trips asks, before it goes on with Book. In its own words:\n> Where to?"
    return approval(action("mcp__trips__book", "delete", preview=preview, question=view))


def test_a_form_is_asked_field_by_field(scripted: ScriptedService) -> None:
    scripted.script = [RUN, question(), DECISION, DONE]
    lines = ["y", "", "Oslo", "", "y", "9", "Small", "tuna, 2", ""]
    result = chat(scripted, "Book a trip", stdin="\n".join(lines) + "\n")
    assert result.returncode == 0, result.stderr
    (decision,) = decided(scripted)
    assert decision["type"] == "edit"
    assert decision["args"] == {"city": "Oslo", "days": 3, "sea": True, "hotel": "h-2", "fish": ["tuna", "trout"]}
    assert "> Where to?" in result.stdout
    assert "This has to be filled in." in result.stdout
    assert "Write a number or a value from the list." in result.stdout


@pytest.mark.parametrize(
    ("mode", "word", "kind"), [("url", "y", "approve"), ("url", "n", "reject"), ("form", "n", "reject")]
)
def test_an_address_is_confirmed_and_both_can_be_declined(
    scripted: ScriptedService, mode: str, word: str, kind: str
) -> None:
    scripted.script = [RUN, question(mode), DECISION, DONE]
    chat(scripted, "--yes-to", "write", "Book a trip", stdin=f"{word}\n")
    assert [decision["type"] for decision in decided(scripted)] == [kind]


def test_it_is_asked_in_chinese_where_the_conversation_is(scripted: ScriptedService) -> None:
    scripted.script = [RUN, question(language="zh"), DECISION, DONE]
    result = chat(scripted, "订一次旅行", stdin="是\nOslo\n-\n\n\n\n\n")
    assert "回答吗？" in result.stdout
    assert decided(scripted)[0]["args"] == {"city": "Oslo"}


def test_what_is_not_answered_is_declined_and_reported(scripted: ScriptedService) -> None:
    scripted.script = [RUN, question(), DECISION, DONE]
    result = chat(scripted, "Book a trip", stdin="y\n")
    assert [decision["type"] for decision in decided(scripted)] == ["reject"]
    assert result.returncode != 0
