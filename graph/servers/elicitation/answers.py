"""The check of an answer against the form that was shown, with a sentence for each field."""

import json
import re
from collections.abc import Callable, Mapping
from datetime import date, datetime
from math import isfinite
from typing import Any, Final, NamedTuple
from urllib.parse import urlsplit

from jsonschema import Draft202012Validator, FormatChecker, ValidationError

from drive_server.kernel.texts import Texts
from graph.language import Language
from graph.servers.elicitation.forms import MAX_ANSWER

TEXTS: Final = Texts.beside(__file__)
BOOLEANS: Final = {"true": True, "yes": True, "是": True, "false": False, "no": False, "否": False}
EMAIL: Final = re.compile(r"[^@\s]+@[^@\s]+\.[^@\s]+")
DATE: Final = re.compile(r"\d{4}-\d\d-\d\d")


class Problem(NamedTuple):
    """The problem with the answer in a field, by its code; `value` is the limit that the form sets."""

    code: str
    value: Any = None

    def sentence(self, language: Language) -> str:
        """Return the sentence about it."""
        return TEXTS.say(self.code, language, value=self.value)

    @property
    def sentences(self) -> Mapping[Language, str]:
        """The sentence in each language."""
        return {language: self.sentence(language) for language in TEXTS.languages}


def _is_date(value: str) -> bool:
    return bool(DATE.fullmatch(value)) and bool(date.fromisoformat(value))


def _is_uri(value: str) -> bool:
    parts = urlsplit(value)
    return bool(parts.scheme) and bool(parts.netloc or parts.path) and not re.search(r"\s", value)


CHECKS: Final[Mapping[str, Callable[[Any], bool]]] = {
    "email": lambda value: not isinstance(value, str) or bool(EMAIL.fullmatch(value)),
    "uri": lambda value: not isinstance(value, str) or _is_uri(value),
    "date": lambda value: not isinstance(value, str) or _is_date(value),
    "date-time": lambda value: not isinstance(value, str) or datetime.fromisoformat(value).tzinfo is not None,
}
FORMAT_CHECKER: Final = FormatChecker(formats=())
for _name, _check in CHECKS.items():
    FORMAT_CHECKER.checks(_name, raises=ValueError)(_check)


def read_answer(schema: Mapping[str, Any], given: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Problem]]:
    """Return the answer as the server gets it, and the problems by the names of the fields.

    Plain forms send every value as text, and an empty field as an empty text.
    """
    fields: Mapping[str, Any] = schema["properties"]
    required = frozenset(schema.get("required", ()))
    read = {name: _value(value, fields[name]) if name in fields else value for name, value in given.items()}
    answer = {name: value for name, value in read.items() if name in required or not _is_empty(value)}
    problems: dict[str, Problem] = {}
    for error in Draft202012Validator(schema, format_checker=FORMAT_CHECKER).iter_errors(answer):
        for name in _fields_of(error, answer, fields):
            problems.setdefault(name, _problem(error))
    for name in required & answer.keys():
        if _is_empty(answer[name]):
            problems[name] = Problem("problem.required")
    for name, value in answer.items():
        if isinstance(value, str) and len(value) > MAX_ANSWER:
            problems.setdefault(name, Problem("problem.maxLength", MAX_ANSWER))
    return answer, problems


def _is_empty(value: Any) -> bool:
    return value is None or value == ""


def _value(value: Any, field: Mapping[str, Any]) -> Any:
    kind = field["type"]
    if not isinstance(value, str) or kind == "string":
        return value
    text = value.strip()
    if kind == "boolean":
        return BOOLEANS.get(text.lower(), value)
    try:
        read = json.loads(text) if text else None
    except ValueError:
        return value
    return value if isinstance(read, float) and not isfinite(read) else read


def _fields_of(error: ValidationError, answer: Mapping[str, Any], fields: Mapping[str, Any]) -> list[str]:
    required: Any = error.validator_value
    if error.path:
        return [str(error.path[0])]
    if error.validator == "required":
        return [name for name in required if name not in answer]
    return [name for name in answer if name not in fields]


def _problem(error: ValidationError) -> Problem:
    keyword, value = str(error.validator), error.validator_value
    if keyword in {"type", "format"}:
        return Problem(f"{keyword}.{value}")
    code = f"problem.{keyword}"
    return Problem(code if code in TEXTS else "problem.enum", value)
