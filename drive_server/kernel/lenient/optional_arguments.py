"""Arguments that are null because a model fills in each one that it knows: an optional one counts as left out."""

from collections.abc import Mapping
from typing import Any, Final, cast

from drive_server.kernel.lenient.json_text import read_json

Schema = Mapping[str, Any]

MAX_REFERENCES: Final = 8
_NOTHING: Final[Schema] = {}


def without_nulls(arguments: Mapping[str, Any], schema: Schema, *, keeps_allowed: bool = False) -> dict[str, Any]:
    """Return the arguments without those that are null and may be left out, also in objects and lists of objects.

    A required one stays, so that its check names it. `keeps_allowed` keeps a null that the schema (JSON Schema 2020-12)
    allows: to whoever made that up, it may mean something else than no value.
    """
    return cast("dict[str, Any]", _Reader(schema, keeps_allowed=keeps_allowed).read(dict(arguments), schema))


class _Reader:
    def __init__(self, root: Schema, *, keeps_allowed: bool) -> None:
        self._root = root
        self._keeps_allowed = keeps_allowed

    def read(self, value: Any, schema: Any) -> Any:
        if isinstance(value, dict):
            return self._read_object(cast("dict[str, Any]", value), self._shape(schema, "object"))
        if isinstance(value, str):
            value = self._read_text(value, schema)
        if isinstance(value, list):
            items = self._shape(schema, "array").get("items")
            return [self.read(one, items) for one in cast("list[Any]", value)]
        return value

    def _read_object(self, values: dict[str, Any], shape: Schema) -> dict[str, Any]:
        properties = _mapping(shape.get("properties"))
        required = shape.get("required", ())
        return {
            name: self.read(value, properties.get(name))
            for name, value in values.items()
            if value is not None or name not in properties or name in required or self._is_kept(properties[name])
        }

    def _read_text(self, text: str, schema: Any) -> Any:
        """Return a list that came as JSON text, if it has objects: tools that take lists take them so, too."""
        wanted = self._shape(schema, "array")
        if wanted.get("type") != "array" or "null" not in text or self._keeps_allowed:
            return text
        try:
            return read_json(text.encode(errors="replace"))
        except ValueError:
            return text

    def _is_kept(self, schema: Any) -> bool:
        return self._keeps_allowed and self._allows_null(schema)

    def _allows_null(self, schema: Any, depth: int = MAX_REFERENCES) -> bool:
        if not isinstance(schema, Mapping) or depth == 0:
            return schema is not False
        wanted = self._resolved(cast("Schema", schema))
        if "enum" in wanted or "const" in wanted:
            return None in wanted.get("enum", [wanted.get("const", ...)])
        if options := _options(wanted):
            return any(self._allows_null(option, depth - 1) for option in options)
        return "null" in _types(wanted) or "type" not in wanted

    def _shape(self, schema: Any, kind: str) -> Schema:
        """Return the schema of an object or a list; nothing if there is none, or several."""
        wanted = self._resolved(_mapping(schema))
        options = [shape for option in _options(wanted) if (shape := self._resolved(_mapping(option)))]
        fitting = [option for option in options if kind in _types(option)]
        if "properties" in wanted or "items" in wanted or not options:
            return wanted
        return fitting[0] if len(fitting) == 1 else _NOTHING

    def _resolved(self, schema: Schema) -> Schema:
        for _ in range(MAX_REFERENCES):
            if "$ref" not in schema:
                break
            place = str(schema["$ref"]).split("/")[-2:]
            found = _mapping(self._root.get(place[0])).get(place[-1]) if len(place) > 1 else None
            schema = {**_mapping(found), **{key: value for key, value in schema.items() if key != "$ref"}}
        return schema


def _mapping(value: Any) -> Schema:
    return cast("Schema", value) if isinstance(value, Mapping) else _NOTHING


def _options(schema: Schema) -> list[Any]:
    found = schema.get("anyOf") or schema.get("oneOf") or ()
    return list(cast("list[Any]", found)) if isinstance(found, list) else []


def _types(schema: Schema) -> list[Any]:
    named = schema.get("type", [])
    return list(cast("list[Any]", named)) if isinstance(named, list) else [named]
