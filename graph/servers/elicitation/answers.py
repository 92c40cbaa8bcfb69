"""The check of an answer against the form that was shown, with a sentence for each field in both languages."""

import json
import re
from collections.abc import Callable, Mapping
from datetime import date, datetime
from math import isfinite
from typing import Any, Final
from urllib.parse import urlsplit

from jsonschema import Draft202012Validator, FormatChecker, ValidationError

from graph.servers.elicitation.forms import MOST_ANSWER

Sentence = tuple[str, str]
"""English and Chinese."""
FORMAT_WORDS: Final[Mapping[str, Sentence]] = {
    "email": ("an email address", "电子邮件地址"),
    "uri": ("an address such as https://example.com", "网址，例如 https://example.com"),
    "date": ("a date such as 2026-01-31", "日期，例如 2026-01-31"),
    "date-time": ("a time such as 2026-01-31T09:30:00Z", "时间，例如 2026-01-31T09:30:00Z"),
}
TYPE_WORDS: Final[Mapping[str, Sentence]] = {
    "string": ("a text", "文本"),
    "number": ("a number", "数字"),
    "integer": ("a whole number", "整数"),
    "boolean": ("yes (true) or no (false)", "“是”（true）或“否”（false）"),
    "array": ("a list", "列表"),
}
SENTENCES: Final[Mapping[str, Sentence]] = {
    "type": ("It has to be {en}.", "必须是{zh}。"),
    "format": ("It has to be {en}.", "必须是{zh}。"),
    "enum": ("It has to be one of the choices.", "必须是所列选项之一。"),
    "minLength": ("It has to have at least {value} characters.", "至少需要 {value} 个字符。"),
    "maxLength": ("It may have at most {value} characters.", "最多 {value} 个字符。"),
    "minimum": ("It has to be at least {value}.", "不能小于 {value}。"),
    "maximum": ("It may be at most {value}.", "不能大于 {value}。"),
    "minItems": ("At least {value} have to be chosen.", "至少选择 {value} 项。"),
    "maxItems": ("At most {value} may be chosen.", "最多选择 {value} 项。"),
    "required": ("It has to be filled in.", "必须填写。"),
    "additionalProperties": ("The question has no such field.", "问题中没有这个字段。"),
}
BOOLEANS: Final = {"true": True, "yes": True, "是": True, "false": False, "no": False, "否": False}
EMAIL: Final = re.compile(r"[^@\s]+@[^@\s]+\.[^@\s]+")
DATE: Final = re.compile(r"\d{4}-\d\d-\d\d")


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


def read_answer(schema: Mapping[str, Any], given: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Sentence]]:
    """Return the answer as the server gets it, and the problems by the names of the fields.

    Plain forms send every value as text, and an empty field as an empty text.
    """
    fields: Mapping[str, Any] = schema["properties"]
    required = frozenset(schema.get("required", ()))
    read = {name: _value(value, fields[name]) if name in fields else value for name, value in given.items()}
    answer = {name: value for name, value in read.items() if name in required or not _is_empty(value)}
    problems: dict[str, Sentence] = {}
    for error in Draft202012Validator(schema, format_checker=FORMAT_CHECKER).iter_errors(answer):
        for name in _fields_of(error, answer, fields):
            problems.setdefault(name, _sentence(error))
    for name in required & answer.keys():
        if _is_empty(answer[name]):
            problems[name] = SENTENCES["required"]
    for name, value in answer.items():
        if isinstance(value, str) and len(value) > MOST_ANSWER:
            problems.setdefault(name, _filled(SENTENCES["maxLength"], MOST_ANSWER))
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


def _sentence(error: ValidationError) -> Sentence:
    keyword, value = str(error.validator), error.validator_value
    words = TYPE_WORDS if keyword == "type" else FORMAT_WORDS
    if keyword in {"type", "format"}:
        english, chinese = words[str(value)]
        return SENTENCES[keyword][0].format(en=english), SENTENCES[keyword][1].format(zh=chinese)
    return _filled(SENTENCES.get(keyword, SENTENCES["enum"]), value)


def _filled(sentence: Sentence, value: Any) -> Sentence:
    return sentence[0].format(value=value), sentence[1].format(value=value)
