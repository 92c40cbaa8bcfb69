"""The schemas of other servers' tools in the form that every model's service takes.

OpenAI and Anthropic refuse each message of an assistant with one tool whose schema has `oneOf` and its like at the top;
Gemini refuses lists of types, `true` as a schema and references. The server still gets the arguments, and checks them.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, cast
from urllib.parse import unquote

Schema = dict[str, Any]

MAX_ARGUMENT_DESCRIPTION: Final = 300
MAX_NOTE: Final = 400
"""Characters of the part of a schema that is told in the tool's description."""
MAX_PARTS: Final = 2_000
"""Schemas in the schema of one tool, references followed; beyond, any value is taken."""
MAX_DEEP: Final = 24
NOTE: Final = "\nThe arguments also have to fit this JSON schema: {}"
AT_TOP: Final = frozenset({"type", "properties", "required", "additionalProperties", "description"})
NOT_FOR_MODELS: Final = frozenset(
    {"$schema", "$id", "$anchor", "$dynamicAnchor", "$comment", "$defs", "definitions", "examples", "title"}
    | {"pattern", "patternProperties", "propertyNames", "not", "if", "then", "else", "contains", "$dynamicRef"}
    | {"dependentSchemas", "dependentRequired", "dependencies", "unevaluatedProperties", "unevaluatedItems"}
)
"""Keywords that models don't need; a pattern of somebody else could also take for ever to check."""
NOTED: Final = ("oneOf", "anyOf", "allOf", "not", "enum", "const", "if", "then", "else", "dependentRequired")
OF_TYPE: Final[Mapping[str, frozenset[str]]] = {
    "array": frozenset({"items", "prefixItems", "minItems", "maxItems", "uniqueItems"}),
    "object": frozenset({"properties", "required", "additionalProperties", "minProperties", "maxProperties"}),
    "string": frozenset({"minLength", "maxLength", "format"}),
    "number": frozenset({"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"}),
}
PYTHON_TYPES: Final[Mapping[str, tuple[type, ...]]] = {
    "string": (str,),
    "number": (int, float),
    "integer": (int,),
    "boolean": (bool,),
    "null": (type(None),),
    "array": (list,),
    "object": (dict,),
}


def schema_for_models(schema: Mapping[str, Any]) -> tuple[Schema, str]:
    """Return the schema of a tool's arguments for models, and a note on dropped rules of the top, for its description.

    The top has `type`, `properties` and `required`: properties of alternatives are offered together, and those that
    each alternative needs stay needed. References are followed, one to itself becomes any value.
    """
    reader = _Reader(schema)
    top = reader.merged(reader.resolved(dict(schema), ()), ())
    properties: Schema = top.get("properties", {})
    needed = [name for name in top.get("required", ()) if isinstance(name, str)]
    kept = {key: value for key, value in top.items() if key in AT_TOP}
    kept |= {"type": "object", "properties": {**properties, **{name: {} for name in needed if name not in properties}}}
    return {**kept, **({"required": needed} if needed else {})}, _note(schema)


def _note(schema: Mapping[str, Any]) -> str:
    left = {key: schema[key] for key in NOTED if key in schema}
    text = json.dumps(left, ensure_ascii=False, default=str) if left else ""
    return NOTE.format(text[:MAX_NOTE]) if text else ""


@dataclass(slots=True)
class _Reader:
    """Reads one schema; `root` is where its references lead to."""

    root: Mapping[str, Any]
    left: int = field(default=MAX_PARTS)

    def read(self, schema: Any, seen: tuple[str, ...]) -> Schema | None:
        """Return a schema inside of the tool's; None for one that nothing fits."""
        if schema is False:
            return None
        self.left -= 1
        if not isinstance(schema, Mapping) or self.left < 0 or len(seen) > MAX_DEEP:
            return {}
        found = dict(cast("Mapping[str, Any]", schema))
        seen = (*seen, str(found.get("$ref", "")))
        return _with_one_type(self.merged(self.resolved(found, seen[:-1]), seen))

    def resolved(self, schema: Schema, seen: tuple[str, ...]) -> Schema:
        """Return the schema with its reference followed; one to itself is left out."""
        reference = schema.pop("$ref", None)
        if not isinstance(reference, str) or reference in seen:
            return schema
        found = self._at(reference)
        return self.resolved({**found, **schema}, (*seen, reference))

    def merged(self, schema: Schema, seen: tuple[str, ...]) -> Schema:
        """Return the schema in one part: all of `allOf`, and the properties of alternatives of objects."""
        shown = self._shown(schema, seen)
        for part in self._parts(schema.get("allOf"), seen):
            shown = _joined(shown, part, needs=_needed(part))
        options = [*self._parts(schema.get("anyOf"), seen), *self._parts(schema.get("oneOf"), seen)]
        if not options:
            return shown
        if len(seen) > 0 and "properties" not in shown:
            return {**shown, "anyOf": options}
        return _joined_options(shown, options)

    def _at(self, reference: str) -> Schema:
        value: Any = self.root
        for part in unquote(reference).removeprefix("#").split("/")[1:]:
            key = part.replace("~1", "/").replace("~0", "~")
            if isinstance(value, list):
                listed = cast("list[Any]", value)
                value = listed[int(key)] if key.isdecimal() and int(key) < len(listed) else None
            else:
                value = cast("Mapping[str, Any]", value).get(key) if isinstance(value, Mapping) else None
        return dict(cast("Mapping[str, Any]", value)) if isinstance(value, Mapping) else {}

    def _parts(self, listed: Any, seen: tuple[str, ...]) -> list[Schema]:
        read = [self.read(one, (*seen, "")) for one in cast("list[Any]", listed)] if isinstance(listed, list) else []
        return [one for one in read if one is not None]

    def _shown(self, schema: Schema, seen: tuple[str, ...]) -> Schema:
        shown: Schema = {}
        for key, value in schema.items():
            if key in NOT_FOR_MODELS or key in {"allOf", "anyOf", "oneOf"}:
                continue
            shown |= self._keyword(key, value, (*seen, ""))
        _drop_needed(shown, schema)
        return shown

    def _keyword(self, key: str, value: Any, seen: tuple[str, ...]) -> Schema:
        if key == "description":
            return {key: str(value)[:MAX_ARGUMENT_DESCRIPTION]}
        if key == "properties":
            named = cast("Mapping[str, Any]", value if isinstance(value, Mapping) else {})
            read = {name: self.read(one, seen) for name, one in named.items()}
            return {key: {name: one for name, one in read.items() if one is not None}}
        if key == "prefixItems":
            return {key: self._parts(value, seen)}
        if key not in {"items", "additionalProperties"} or isinstance(value, bool):
            return {} if key == "items" else {key: value}
        if isinstance(value, list):  # a tuple, as drafts before 2020-12 have it
            return {"prefixItems": self._parts(value, seen)}
        return {key: self.read(value, seen) or {}}


def _drop_needed(shown: Schema, schema: Schema) -> None:
    """Need no property that can have no value."""
    refused = {name for name, one in (schema.get("properties") or {}).items() if one is False}
    if isinstance(shown.get("required"), list):
        shown["required"] = [name for name in shown["required"] if name not in refused]


def _needed(schema: Mapping[str, Any]) -> list[str]:
    found: Any = schema.get("required")
    return [str(name) for name in found] if isinstance(found, list) else []


def _joined(schema: Schema, part: Schema, needs: Iterable[str]) -> Schema:
    """Return both in one: the first of two that differ counts, but for properties, where either will do."""
    joined = {**part, **schema}
    before: Schema = schema.get("properties", {})
    more: Schema = part.get("properties", {})
    if before or more:
        joined["properties"] = {**before, **{name: _either(before.get(name), one) for name, one in more.items()}}
    needed = list(dict.fromkeys([*_needed(schema), *needs]))
    joined.pop("required", None)
    return {**joined, "required": needed} if needed else joined


def _joined_options(schema: Schema, options: Sequence[Schema]) -> Schema:
    common = [name for name in _needed(options[0]) if all(name in _needed(one) for one in options)]
    for option in options:
        fields = {key: value for key, value in option.items() if key in {"type", "properties"}}
        schema = _joined(schema, fields, common)
    return schema


def _either(before: Any, now: Schema) -> Schema:
    """Return one of two schemas of a property; values that each of them lists are listed together."""
    if not before or before == now:
        return now
    if not now:
        return before
    values = [value for one in (before, now) for value in one.get("enum", [one["const"]] if "const" in one else [])]
    if all("enum" in one or "const" in one for one in (before, now)):
        rest = {key: value for key, value in {**now, **before}.items() if key != "const"}
        return {**rest, "enum": [value for place, value in enumerate(values) if value not in values[:place]]}
    options = before["anyOf"] if set(before) == {"anyOf"} else [before]
    return before if now in options else {"anyOf": [*options, now]}


def _with_one_type(schema: Schema) -> Schema:
    """Return the schema with one type in each part: a list of types becomes alternatives."""
    named: Any = schema.get("type")
    if not isinstance(named, list):
        return schema
    rest = {key: value for key, value in schema.items() if key != "type"}
    types = [str(one) for one in cast("list[Any]", named)]
    if "anyOf" in rest or not types:
        return rest
    if len(types) == 1:
        return {"type": types[0], **rest}
    parts = set[str]().union(*OF_TYPE.values()) | {"enum"}
    outside = {key: value for key, value in rest.items() if key not in parts}
    return {"anyOf": [_of_type(rest, one) for one in types], **outside}


def _of_type(schema: Schema, kind: str) -> Schema:
    own = OF_TYPE.get("number" if kind == "integer" else kind, frozenset())
    part = {"type": kind, **{key: value for key, value in schema.items() if key in own}}
    if isinstance(schema.get("enum"), list):
        values = [value for value in schema["enum"] if _is_of(value, kind)]
        return {**part, "enum": values} if values and kind != "null" else part
    return part


def _is_of(value: Any, kind: str) -> bool:
    is_boolean = isinstance(value, bool)
    return isinstance(value, PYTHON_TYPES.get(kind, ())) and (not is_boolean or kind == "boolean")
