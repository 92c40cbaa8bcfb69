"""The fields of events and answers whose text people read: every string, unless its type says who wrote it.

`DATA` marks values that programs read back to the letter, such as a call's arguments: clients show them as plain text.
`PRODUCT` marks text that the product made itself: ids, times, codes, addresses of the drive. A `Literal` is one by
its type. All else passes the link filter, also in values without a type.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Annotated, Any, Final, Literal, NotRequired, Protocol, cast, get_args, get_origin, runtime_checkable

from pydantic import BaseModel, GetJsonSchemaHandler, TypeAdapter
from pydantic.json_schema import JsonSchemaValue
from typing_extensions import get_type_hints, is_typeddict

Clean = Callable[[str], str]
Cleaner = Callable[[Any, Clean], Any]


@dataclass(frozen=True, slots=True)
class Marker:
    """A mark on a field, in `Annotated`."""

    name: str


DATA: Final = Marker("data")
PRODUCT: Final = Marker("product")

ProductText = Annotated[str, PRODUCT]
"""Text that the product made itself."""


@dataclass(frozen=True, slots=True)
class Shape:
    """Marks a dictionary with the class that describes its fields, here and in JSON schemas; nothing is checked."""

    schema: type

    def __get_pydantic_json_schema__(self, _: object, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        """Describe the dictionary as the class."""
        return handler(TypeAdapter(self.schema).core_schema)


@runtime_checkable
class HasExactFields(Protocol):
    """A model in which it depends on the value who wrote a field."""

    def exact_fields(self) -> frozenset[str]:
        """Return the fields that stay as they are."""
        ...


def cleaned(schema: Any, value: Any, clean: Clean) -> Any:
    """Return the value with `clean` applied to all text of it that may have been written by a model or in a file."""
    return _cleaner(schema)(value, clean)


def markers(hint: Any) -> tuple[Any, ...]:
    """Return the marks on a field's type."""
    if get_origin(hint) is NotRequired:
        return markers(get_args(hint)[0])
    return get_args(hint)[1:] if get_origin(hint) is Annotated else ()


def unmarked(hint: Any) -> Any:
    """Return the type in `NotRequired` and `Annotated`."""
    while get_origin(hint) in {NotRequired, Annotated}:
        hint = get_args(hint)[0]
    return hint


@cache
def _cleaner(hint: Any) -> Cleaner:
    marked, plain = markers(hint), unmarked(hint)
    if DATA in marked or PRODUCT in marked or get_origin(plain) is Literal:
        return _keep
    if shape := next((mark for mark in marked if isinstance(mark, Shape)), None):
        return _cleaner(shape.schema)
    if is_typeddict(plain):
        return _fields_cleaner(plain)
    if isinstance(plain, type) and issubclass(plain, BaseModel):
        return _model_cleaner(plain)
    inner = [_cleaner(argument) for argument in get_args(plain) if _holds_fields(argument)]
    return _sequence_cleaner(inner[0]) if inner else _clean_all


def _holds_fields(hint: Any) -> bool:
    """Say whether a part of a type has marks or fields of its own: an item of a list, or an optional value."""
    plain = unmarked(hint)
    is_fields = is_typeddict(plain) or (isinstance(plain, type) and issubclass(plain, BaseModel))
    return is_fields or bool(markers(hint)) or any(map(_holds_fields, get_args(plain)))


def _keep(value: Any, clean: Clean) -> Any:
    del clean
    return value


def _fields_cleaner(schema: type) -> Cleaner:
    cleaners = {name: _cleaner(hint) for name, hint in get_type_hints(schema, include_extras=True).items()}

    def clean_fields(value: Any, clean: Clean) -> Any:
        if not isinstance(value, dict):
            return _clean_all(value, clean)
        fields = cast("dict[str, Any]", value)
        return {name: cleaners.get(name, _clean_all)(field, clean) for name, field in fields.items()}

    return clean_fields


@cache
def _field_cleaners(schema: type[BaseModel]) -> Mapping[str, Cleaner]:
    """Return the cleaner of each field: looking them up takes longer than cleaning."""
    return {name: _cleaner(hint) for name, hint in get_type_hints(schema, include_extras=True).items()}


def _model_cleaner(schema: type[BaseModel]) -> Cleaner:
    # Asked once for the type: to look whether a value has a protocol's methods takes longer than to clean it.
    has_exact = issubclass(cast("type", schema), HasExactFields)

    def clean_model(value: Any, clean: Clean) -> Any:
        if type(value) is not schema:
            return _clean_all(value, clean)
        cleaners = _field_cleaners(schema)
        exact = cast("HasExactFields", value).exact_fields() if has_exact else ()
        return value.model_copy(update={name: cleaners[name](one, clean) for name, one in value if name not in exact})

    return clean_model


def _sequence_cleaner(inner: Cleaner) -> Cleaner:
    def clean_items(value: Any, clean: Clean) -> Any:
        if isinstance(value, list):
            return [inner(item, clean) for item in cast("list[Any]", value)]
        return None if value is None else inner(value, clean)

    return clean_items


def _clean_all(value: Any, clean: Clean) -> Any:
    """Clean each string in a value without a type of its own."""
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, BaseModel):
        return _cleaner(type(value))(value, clean)
    if isinstance(value, Mapping):
        return {name: _clean_all(field, clean) for name, field in cast("Mapping[Any, Any]", value).items()}
    if isinstance(value, list | tuple):
        return [_clean_all(item, clean) for item in cast("list[Any]", value)]
    return value
