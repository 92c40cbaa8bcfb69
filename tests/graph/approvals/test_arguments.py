from typing import Any

import pytest

from graph.approvals.arguments import editable_of, fit
from graph.limits.schemas import NOT_CHECKABLE

FIELDS = {"find": {"type": "string"}, "with": {"type": "string", "default": ""}}
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
    "$defs": {"Edit": {"type": "object", "properties": FIELDS, "required": ["find"]}},
}


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"limit": "5"}, {"limit": 5}),
        ({"limit": " 5 "}, {"limit": 5}),
        ({"limit": "null"}, {}),
        ({"limit": ""}, {}),
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


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"limit": None, "deep": None, "edits": None, "edit": None, "either": None}, {}),
        ({"limit": None, "deep": True}, {"deep": True}),
        ({"edits": [{"find": "x", "with": None}]}, {"edits": [{"find": "x"}]}),
        ({"edits": '[{"find": "x", "with": null}]'}, {"edits": [{"find": "x"}]}),
        ({"edit": {"find": "null", "with": None}}, {"edit": {"find": "null"}}),
    ],
)
def test_null_for_an_argument_that_may_be_left_out_is_its_absence(
    given: dict[str, Any], expected: dict[str, Any]
) -> None:
    assert fit({"name": "x", **given}, SCHEMA) == ({"name": "x", **expected}, [])


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ({"name": None}, "name: None is not of type 'string'"),
        ({"edits": [{"find": None}]}, "edits.0.find: None is not of type 'string'"),
        ({"edits": [None]}, "edits.0: None is not of type 'object'"),
    ],
)
def test_null_for_what_is_needed_stays_an_error_that_names_it(given: dict[str, Any], problem: str) -> None:
    assert problem in fit({"name": "x", **given}, SCHEMA)[1]


def test_a_tool_of_another_server_gets_null_where_its_schema_allows_it_and_nowhere_else() -> None:
    given = {
        "name": "x",
        "limit": None,
        "deep": None,
        "free": None,
        "either": None,
        "edit": {"find": "x", "with": None},
    }

    fitted, problems = fit(given, SCHEMA, is_outside=True)

    assert (fitted, problems) == ({"name": "x", "limit": None, "free": None, "edit": {"find": "x"}}, [])


def test_what_is_missing_is_said() -> None:
    _, problems = fit({}, SCHEMA)
    assert problems == ["'name' is a required property"]


def test_at_most_five_problems_are_told() -> None:
    _, problems = fit({"name": "x", "edits": [{} for _ in range(50)]}, SCHEMA)
    assert len(problems) == 5


LAUGHS = {f"d{n}": {"allOf": [{"$ref": f"#/$defs/d{n + 1}"}] * 2} for n in range(40)}


@pytest.mark.parametrize(
    "schema",
    [
        {"properties": {"a": {"$ref": "#/$defs/d0"}}, "$defs": {**LAUGHS, "d40": {"type": "string"}}},
        {"properties": {"a": {}}, "$ref": "#"},
        {"properties": {"a": {"$ref": "#/$defs/a"}}, "$defs": {"a": {"$ref": "#/$defs/a"}}},
        {"properties": {"a": {"$ref": "#/nowhere"}}},
        {"properties": {"a": {"$ref": "http://127.0.0.1:9/schema"}}},
        {"properties": {"a": {"$ref": "file:///etc/hostname"}}},
    ],
)
def test_a_schema_that_can_not_be_checked_is_a_problem_and_nothing_is_fetched_for_it(schema: dict[str, Any]) -> None:
    assert fit({"a": "x"}, schema)[1] == [NOT_CHECKABLE]


@pytest.mark.parametrize("value", ["[" * 100_000, "9" * 5_000])
def test_a_text_that_can_not_be_read_as_json_stays_a_text(value: str) -> None:
    schema = {"properties": {"a": True, "b": {"type": "array"}}}

    assert fit({"a": value, "b": value}, schema)[0] == {"a": value, "b": value}


def test_the_sentence_about_a_problem_is_short() -> None:
    (problem,) = fit({"a": "x"}, {"properties": {"a": {"enum": ["word " * 1_000]}}})[1]

    assert len(problem) == 500


def test_an_edit_offers_what_a_person_can_mean_and_no_ids_etags_or_keys() -> None:
    text = {"type": "string"}
    move = {"properties": {"item_id": text, "folder_id": text, "if_match": text, "on_conflict": text}}
    assert editable_of(move, is_outside=False) == {"folder_id": "folder", "on_conflict": "choice"}
    rename = {"properties": {"item_ids": {}, "folder_id": text, "match": text, "pattern": text}}
    assert editable_of(rename, is_outside=False) == {"pattern": "name"}
    plan = {"properties": {"folders": {"type": "array"}, "kinds": {"type": "array"}, "max_items": {"type": "integer"}}}
    assert editable_of(plan, is_outside=False) == {"kinds": "choice", "max_items": "number"}
    outside = {"properties": {"message": text, "If-Match": text, "idempotencyKey": text, "item": text}}
    assert list(editable_of(outside, is_outside=True)) == ["message", "item"]
