"""The forms that a server may ask a person to fill in: flat fields of a subset of JSON Schema (MCP, elicitation).

The server wrote all of it: texts are cleaned and cut; names and values, which go back to the letter, are refused if
they have something in them that a person can't see.
"""

from typing import Annotated, Any, Final, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, model_validator
from pydantic.alias_generators import to_camel

from graph.servers.pins import cleaned

MAX_FIELDS: Final = 30
MAX_OPTIONS: Final = 100
MAX_NAME: Final = 64
MAX_VALUE: Final = 200
MAX_TITLE: Final = 100
MAX_DESCRIPTION: Final = 500
MAX_ANSWER: Final = 10_000
"""Characters of one field of an answer."""
FORMATS: Final = frozenset({"email", "uri", "date", "date-time"})


def cut(text: str, most: int) -> str:
    """Return a server's text without invisible characters, and at most so long."""
    shown = cleaned(text)
    return shown if len(shown) <= most else f"{shown[: most - 1]}…"


def _exact(value: str) -> str:
    if cleaned(value) != value or "\n" in value:
        raise ValueError("it has characters that can't be seen")
    return value


def _known_format(value: str | None) -> str | None:
    return value if value in FORMATS else None


Name = Annotated[str, Field(min_length=1, max_length=MAX_NAME), AfterValidator(_exact)]
Value = Annotated[str, Field(max_length=MAX_VALUE), AfterValidator(_exact)]
Title = Annotated[str, AfterValidator(lambda text: cut(text, MAX_TITLE))]
Description = Annotated[str, AfterValidator(lambda text: cut(text, MAX_DESCRIPTION))]
Values = Annotated[list[Value], Field(min_length=1, max_length=MAX_OPTIONS)]
Count = Annotated[int, Field(ge=0)]
Number = int | float


class _Part(BaseModel):
    model_config = ConfigDict(strict=True, extra="ignore", allow_inf_nan=False, alias_generator=to_camel)


class _FormField(_Part):
    title: Title | None = None
    description: Description | None = None


class Option(_Part):
    """A value that may be chosen, and its title."""

    const: Value
    title: Title = ""


Options = Annotated[list[Option], Field(min_length=1, max_length=MAX_OPTIONS)]


class ChoiceField(_FormField):
    """One of several values with titles."""

    type: Literal["string"]
    one_of: Options
    default: Value | None = None


class EnumField(_FormField):
    """One of several values; `enum_names` are titles, as older servers give them."""

    type: Literal["string"]
    enum: Values
    enum_names: Annotated[list[Title], Field(max_length=MAX_OPTIONS)] | None = None
    default: Value | None = None


class TextField(_FormField):
    """Free text."""

    type: Literal["string"]
    min_length: Count | None = None
    max_length: Count | None = None
    format: Annotated[str | None, AfterValidator(_known_format)] = None
    default: Description | None = None
    enum: None = None
    one_of: None = None


class NumberField(_FormField):
    """A number."""

    type: Literal["number", "integer"]
    minimum: Number | None = None
    maximum: Number | None = None
    default: Number | None = None


class YesNoField(_FormField):
    """Yes or no."""

    type: Literal["boolean"]
    default: bool | None = None


class EnumItems(_Part):
    """Values of which several may be chosen."""

    type: Literal["string"]
    enum: Values


class OptionItems(_Part):
    """Values with titles, of which several may be chosen."""

    any_of: Options


class ListField(_FormField):
    """Several of the values."""

    type: Literal["array"]
    items: EnumItems | OptionItems
    min_items: Count | None = None
    max_items: Count | None = None
    default: list[Value] | None = None


FormField = Annotated[
    ChoiceField | EnumField | TextField | NumberField | YesNoField | ListField, Field(union_mode="left_to_right")
]


class Form(_Part):
    """The fields of a form by their names."""

    type: Literal["object"]
    properties: Annotated[dict[Name, FormField], Field(max_length=MAX_FIELDS)]
    required: list[Name] = []

    @model_validator(mode="after")
    def _requires_its_fields(self) -> "Form":
        if not set(self.required) <= self.properties.keys():
            raise ValueError("it requires a field that it does not have")
        return self


def read_form(schema: dict[str, Any]) -> dict[str, Any]:
    """Return a server's schema with only the parts that people are shown.

    Raises `ValueError` for a schema that is no flat form.
    """
    try:
        form = Form.model_validate(schema)
    except ValidationError as error:
        raise ValueError(str(error.errors(include_input=False, include_url=False)[0]["msg"])) from error
    shown = form.model_dump(by_alias=True, exclude_none=True, mode="json")
    return {**shown, "additionalProperties": False}


def defaults_of(schema: dict[str, Any]) -> dict[str, Any]:
    """Return the values that the form is shown with."""
    return {name: field["default"] for name, field in schema["properties"].items() if "default" in field}
