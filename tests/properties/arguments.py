"""Arguments for a tool, drawn by its schema: right ones, ones at the edge, and wrong ones."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

Schema = dict[str, Any]

HOSTILE = (
    "",
    " ",
    "/",
    "//",
    "/..",
    "../../etc/passwd",
    "root",
    "trash",
    "shared",
    "null",
    "NaN",
    "-1",
    "0" * 32,
    "a\0b",
    "\ufeff",
    "\u202egnp.exe",
    "раураl.md",
    "名" * 86,
    "🙂" * 64,
    "' OR 1=1 --",
    "%2e%2e%2f",
    "{{7*7}}",
    "<script>alert(1)</script>",
    "x" * 9000,
    "2026-11-21T10:00:00Z",
    "9999-12-31T23:59:59+14:00",
    "bob@example.com",
    "Bob <bob@example.com>",
    "dak_nonsense",
)
ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)


def arguments_for(schema: Schema, known: list[str]) -> st.SearchStrategy[dict[str, Any]]:
    """Return arguments of which most are of the right type; `known` are texts that name something in the drive."""
    values = {
        name: st.one_of(*[_value(part, schema.get("$defs", {}), known)] * 9, ANYTHING)
        for name, part in schema.get("properties", {}).items()
    }
    required = {name: values[name] for name in schema.get("required", [])}
    optional = {name: value for name, value in values.items() if name not in required}
    right = st.fixed_dictionaries(required, optional=optional)
    loose = st.fixed_dictionaries({}, optional={**values, "user_id": ANYTHING})
    return st.one_of(*[right] * 9, loose)


def _value(schema: Schema, definitions: dict[str, Schema], known: list[str]) -> st.SearchStrategy[Any]:
    if "$ref" in schema:
        return _value(definitions[schema["$ref"].rpartition("/")[2]], definitions, known)
    if "anyOf" in schema:
        return st.one_of(*(_value(part, definitions, known) for part in schema["anyOf"]))
    if "enum" in schema:
        return st.sampled_from(schema["enum"])
    if "const" in schema:
        return st.just(schema["const"])
    return _of_type(schema, definitions, known)


def _of_type(schema: Schema, definitions: dict[str, Schema], known: list[str]) -> st.SearchStrategy[Any]:
    kind = schema.get("type")
    if kind == "integer":
        low, high = schema.get("minimum", -(2**53)), schema.get("maximum", 2**53)
        return st.one_of(*[st.integers(low, min(high, low + 50))] * 5, st.integers(low - 2, high + 2))
    if kind == "boolean":
        return st.booleans()
    if kind == "array":
        items = _value(schema.get("items", {}), definitions, known)
        return st.lists(items, max_size=min(schema.get("maxItems", 3), 3))
    if kind == "object":
        parts = schema.get("properties", {}).items()
        return st.fixed_dictionaries({name: _value(part, definitions, known) for name, part in parts})
    if kind == "null":
        return st.none()
    return st.one_of(*[st.sampled_from(known)] * 5, st.sampled_from(HOSTILE), st.text(max_size=30))
