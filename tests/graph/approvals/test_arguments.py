from typing import Any

import pytest

from graph.approvals.arguments import fit

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "name": {"type": "string"},
        "limit": {"anyOf": [{"type": "integer"}, {"type": "null"}], "default": None},
        "deep": {"type": "boolean"},
        "edits": {"type": "array", "items": {"$ref": "#/$defs/Edit"}},
        "edit": {"$ref": "#/$defs/Edit"},
        "either": {"anyOf": [{"type": "string"}, {"type": "integer"}]},
        "free": {},
    },
    "required": ["name"],
    "$defs": {"Edit": {"type": "object", "properties": {"find": {"type": "string"}}, "required": ["find"]}},
}


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"limit": "5"}, {"limit": 5}),
        ({"limit": " 5 "}, {"limit": 5}),
        ({"limit": "null"}, {"limit": None}),
        ({"limit": ""}, {"limit": None}),
        ({"deep": "true"}, {"deep": True}),
        ({"deep": "False"}, {"deep": False}),
        ({"edits": '[{"find": "x"}]'}, {"edits": [{"find": "x"}]}),
        ({"edit": '{"find": "x"}'}, {"edit": {"find": "x"}}),
        ({"either": "5"}, {"either": "5"}),
        ({"free": "5"}, {"free": "5"}),
        ({"name": "5"}, {"name": "5"}),
        ({"name": "true"}, {"name": "true"}),
    ],
)
def test_strings_become_what_the_schema_wants(given: dict[str, Any], expected: dict[str, Any]) -> None:
    fitted, problems = fit({"name": "x", **given}, SCHEMA)
    assert problems == []
    assert fitted == {"name": "x", **expected}


@pytest.mark.parametrize(
    "given",
    [
        {"limit": "five"},
        {"limit": "5.5"},
        {"deep": "maybe"},
        {"edits": "[{"},
        {"edits": [{}]},
        {"edit": "x"},
        {"name": None},
        {"name": 5},
        {"user_id": "x"},
        {"limit": True},
    ],
)
def test_what_does_not_fit_is_said(given: dict[str, Any]) -> None:
    _, problems = fit({"name": "x", **given}, SCHEMA)
    assert problems


def test_what_is_missing_is_said() -> None:
    _, problems = fit({}, SCHEMA)
    assert problems == ["'name' is a required property"]


def test_at_most_five_problems_are_told() -> None:
    _, problems = fit({"name": "x", "edits": [{} for _ in range(50)]}, SCHEMA)
    assert len(problems) == 5
