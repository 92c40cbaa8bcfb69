"""Shapes of answers that a client asks for by a JSON schema of its own, for `structured.ask_for`."""

from collections.abc import Mapping
from typing import Any, ClassVar, Self, cast

import orjson
from jsonschema import Draft202012Validator, SchemaError
from pydantic import BaseModel, RootModel, model_validator
from typing_extensions import override

from graph.limits.schemas import problems_of


class AnswerShape(RootModel[dict[str, Any]]):
    """Base of such shapes: an object that fits `form`. Patterns of it are for the model and are not checked here."""

    form: ClassVar[Mapping[str, Any]]
    response_format: ClassVar[Mapping[str, Any]]

    @classmethod
    @override
    def model_json_schema(cls, *args: Any, **options: Any) -> dict[str, Any]:
        """Return the client's schema. A tool that is made of it takes its name from the title."""
        del args, options
        return {**cls.form, "title": cls.__name__}

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if problems := problems_of(self.root, self.form, with_patterns=False):
            raise ValueError("; ".join(problems))
        return self


def shape_of(form: Mapping[str, Any], name: str, response_format: Mapping[str, Any]) -> type[AnswerShape]:
    """Return the shape for a client's schema; `response_format` is its wish as services of chat completions take it.

    Raises `ValueError` for a schema that is none, of something other than an object, or too deep, and for names of
    properties by patterns.
    """
    try:
        Draft202012Validator.check_schema(form)
    except (SchemaError, RecursionError) as error:
        raise ValueError("no schema") from error
    if form.get("type", "object") != "object" or b'"patternProperties"' in orjson.dumps(form):
        raise ValueError("no schema of an object with known names")
    return cast("type[AnswerShape]", type(name, (AnswerShape,), {"form": form, "response_format": response_format}))


def is_of_client(schema: type[BaseModel]) -> bool:
    """Say whether a client made the schema up. A refusal of it says nothing about the service."""
    return issubclass(schema, AnswerShape)
