"""Schemas of other servers' tools, in the form that every model's service takes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import jsonschema_specifications
import pytest
from jsonschema import Draft202012Validator

from graph.servers.schemas import AT_TOP, MAX_NOTE, schema_for_models

if TYPE_CHECKING:
    from collections.abc import Iterator

TEXT, NUMBER = {"type": "string"}, {"type": "integer"}
FIELDS = {"a": TEXT, "b": NUMBER}

OLD = ("draft-03/schema", "draft-04/schema")
PUBLIC = sorted(str(name) for name in jsonschema_specifications.REGISTRY if not str(name).endswith(OLD))
"""The metaschemas, but for those of drafts that are no schemas of today."""


def shown(schema: dict[str, Any]) -> dict[str, Any]:
    schema, _ = schema_for_models({"type": "object", **schema})
    return schema


def schemas_in(schema: Any) -> Iterator[dict[str, Any]]:
    """Yield each schema in a schema."""
    assert isinstance(schema, dict), schema
    found = cast("dict[str, Any]", schema)
    yield found
    parts = [*found.get("properties", {}).values(), *found.get("anyOf", []), *found.get("prefixItems", [])]
    beside = [found[key] for key in ("items", "additionalProperties") if not isinstance(found.get(key, True), bool)]
    for part in (*parts, *beside):
        yield from schemas_in(part)


def require_plain(schema: dict[str, Any]) -> None:
    """Require what OpenAI, Anthropic and Gemini all take."""
    Draft202012Validator.check_schema(schema)
    assert schema["type"] == "object"
    assert schema.keys() <= AT_TOP
    assert set(schema.get("required", ())) <= set(schema["properties"])
    for one in schemas_in(schema):
        assert isinstance(one.get("type", ""), str)
        assert one.keys().isdisjoint({"$ref", "$defs", "oneOf", "allOf", "not", "if", "pattern"})


@pytest.mark.parametrize(
    "odd",
    [
        {"oneOf": [{"required": ["a"]}, {"required": ["b"]}]},
        {"anyOf": [{"required": ["a"]}, {"required": ["b"]}]},
        {"not": {"required": ["a", "b"]}},
        {"enum": [{"a": "x"}]},
        {"if": {"required": ["a"]}, "then": {"required": ["b"]}, "else": False},
        {"dependentRequired": {"a": ["b"]}},
    ],
)
def test_conditions_at_the_top_are_told_in_the_description_instead(odd: dict[str, Any]) -> None:
    schema, note = schema_for_models({"type": "object", **odd, "properties": FIELDS})

    assert schema == {"type": "object", "properties": FIELDS}
    assert next(iter(odd)) in note


def test_the_properties_of_alternatives_are_offered_together_and_common_needs_stay() -> None:
    one = {"properties": {"kind": {"const": "x"}, "a": TEXT}, "required": ["kind", "a"]}
    two = {"properties": {"kind": {"const": "y"}, "b": NUMBER}, "required": ["kind"]}
    schema = shown({"oneOf": [one, two], "properties": {"c": TEXT}})

    assert schema["properties"] == {"c": TEXT, "kind": {"enum": ["x", "y"]}, **FIELDS}
    assert schema["required"] == ["kind"]


def test_all_of_several_parts_is_one() -> None:
    base = {"type": "object", "properties": {"a": TEXT}, "required": ["a"]}
    schema = shown({"allOf": [{"$ref": "#/$defs/Base"}, {"properties": {"b": NUMBER}}], "$defs": {"Base": base}})

    assert schema == {"type": "object", "properties": FIELDS, "required": ["a"]}


def test_a_schema_that_is_a_reference_is_followed() -> None:
    assert shown({"$ref": "#/definitions/A", "definitions": {"A": {"properties": FIELDS}}})["properties"] == FIELDS


@pytest.mark.parametrize(
    ("odd", "plain"),
    [
        ({"type": ["string", "null"]}, {"anyOf": [TEXT, {"type": "null"}]}),
        ({"type": ["string"]}, TEXT),
        (
            {"type": ["array", "null"], "items": {"type": ["object", "null"], "properties": {"value": True}}},
            {
                "anyOf": [
                    {
                        "type": "array",
                        "items": {"anyOf": [{"type": "object", "properties": {"value": {}}}, {"type": "null"}]},
                    },
                    {"type": "null"},
                ]
            },
        ),
        (
            {"type": ["integer", "string", "null"], "enum": [1, "x", None, True], "minimum": 1, "description": "One."},
            {
                "anyOf": [
                    {"type": "integer", "minimum": 1, "enum": [1]},
                    {"type": "string", "enum": ["x"]},
                    {"type": "null"},
                ],
                "description": "One.",
            },
        ),
        (True, {}),
        ({"type": "array", "items": True}, {"type": "array"}),
        ({"type": "object", "properties": {"a": False}, "required": ["a"]}, None),
        ({"oneOf": [TEXT, NUMBER]}, {"anyOf": [TEXT, NUMBER]}),
        (
            {"allOf": [{"$ref": "#/$defs/Level"}], "default": "low"},
            {"type": "string", "enum": ["low"], "default": "low"},
        ),
        (
            {"type": "object", "additionalProperties": {"type": ["string"]}},
            {"type": "object", "additionalProperties": TEXT},
        ),
        ({"type": "object", "additionalProperties": False}, {"type": "object", "additionalProperties": False}),
    ],
)
def test_inside_each_part_has_one_type_and_is_an_object(odd: Any, plain: dict[str, Any] | None) -> None:
    level = {"type": "string", "enum": ["low"], "title": "Level"}
    schema = shown({"properties": {"t": odd}, "$defs": {"Level": level}})

    require_plain(schema)
    expected = {"type": "object", "properties": {}, "required": []} if plain is None else plain
    assert schema["properties"]["t"] == expected


def test_names_of_arguments_that_are_keywords_stay() -> None:
    named = {"title": TEXT, "pattern": TEXT, "oneOf": TEXT, "type": TEXT, "$ref": TEXT}
    assert shown({"properties": named, "required": ["title"]})["properties"] == named


def test_a_reference_to_itself_ends_and_so_does_one_that_multiplies() -> None:
    tree = {"type": "object", "properties": {"kids": {"type": "array", "items": {"$ref": "#/$defs/Tree"}}}}
    laughs = {f"d{n}": {"anyOf": [{"$ref": f"#/$defs/d{n + 1}"}] * 3} for n in range(40)}
    schema = shown(
        {
            "properties": {"tree": {"$ref": "#/$defs/Tree"}, "d": {"$ref": "#/$defs/d0"}},
            "$defs": {"Tree": tree, **laughs},
        }
    )

    require_plain(schema)
    assert schema["properties"]["tree"]["properties"]["kids"]["type"] == "array"


def test_a_plain_schema_stays_as_it_is_and_has_no_note() -> None:
    plain = {
        "type": "object",
        "properties": {
            "path": {"type": "string", "description": "Where.", "minLength": 1},
            "tags": {"type": "array", "items": {"type": "string"}, "default": []},
            "either": {"anyOf": [TEXT, {"type": "null"}], "default": None},
        },
        "required": ["path"],
        "additionalProperties": False,
    }
    assert schema_for_models(plain) == (plain, "")


def test_a_long_condition_is_told_shortly() -> None:
    _, note = schema_for_models({"type": "object", "oneOf": [{"required": [f"argument{n}"]} for n in range(500)]})
    assert len(note) < MAX_NOTE + 100


@pytest.mark.parametrize("name", PUBLIC)
def test_public_schemas_are_made_plain(name: str) -> None:
    contents: Any = jsonschema_specifications.REGISTRY.contents(name)
    schema, _ = schema_for_models({**contents, "type": "object"})
    require_plain(schema)
