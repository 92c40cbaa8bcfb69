"""The check of a value against a JSON schema that a server or a client made up: it ends, and looks up nothing."""

from collections.abc import Callable, Iterator, Mapping
from contextvars import ContextVar
from itertools import count
from typing import TYPE_CHECKING, Any, Final

from jsonschema import Draft202012Validator
from jsonschema.validators import extend
from referencing import Registry
from referencing.exceptions import Unresolvable

if TYPE_CHECKING:
    from jsonschema.protocols import Validator

MAX_PROBLEMS: Final = 5
MAX_PROBLEM_CHARACTERS: Final = 500
MAX_STEPS: Final = 10_000
"""Keywords of a schema that are checked, each time that they are; some tenths of a second."""
NOT_CHECKABLE: Final = "The arguments can't be checked: the tool's schema is too complicated, or leads nowhere."
_steps: Final = ContextVar[Iterator[int]]("steps")


def problems_of(value: Any, schema: Mapping[str, Any], *, with_patterns: bool = True) -> list[str]:
    """Return how a value breaks a schema, as sentences.

    Leave patterns out where one person makes up both the pattern and the text: the two can keep the process busy.
    """
    checked = _COUNTED if with_patterns else _WITHOUT_PATTERNS
    validator: Validator = checked(schema, registry=Registry[Any]())
    _steps.set(count())
    try:
        errors = sorted(validator.iter_errors(value), key=lambda error: list(map(str, error.path)))
    except (_TooManyStepsError, RecursionError, Unresolvable):
        return [NOT_CHECKABLE]
    return [_sentence(list(error.path), error.message) for error in errors[:MAX_PROBLEMS]]


class _TooManyStepsError(Exception):
    """The check takes longer than any value is worth."""


def _counted(check: Callable[..., Any]) -> Callable[..., Any]:
    def counted(*args: Any) -> Any:
        if next(_steps.get()) >= MAX_STEPS:
            raise _TooManyStepsError
        return check(*args)

    return counted


_COUNTED: Final = extend(
    Draft202012Validator, {name: _counted(check) for name, check in Draft202012Validator.VALIDATORS.items()}
)
_WITHOUT_PATTERNS: Final = extend(_COUNTED, {"pattern": None})


def _sentence(path: list[Any], message: str) -> str:
    said = f"{'.'.join(map(str, path))}: {message}" if path else message
    return said[:MAX_PROBLEM_CHARACTERS]
