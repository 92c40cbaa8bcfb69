"""The fields of a log line that name its subject: the request, the person, the run."""

from collections.abc import Mapping
from contextvars import ContextVar
from types import MappingProxyType

_fields: ContextVar[Mapping[str, str]] = ContextVar("log_fields", default=MappingProxyType({}))


def begin_log_fields(**fields: str) -> None:
    """Let the lines of the running task, and of tasks that it starts from now on, have these fields and no others."""
    _fields.set({name: value for name, value in fields.items() if value})


def add_log_fields(**fields: str) -> None:
    """Add fields to those that the running task has."""
    _fields.set({**_fields.get(), **{name: value for name, value in fields.items() if value}})


def log_fields() -> Mapping[str, str]:
    """Return the fields of the running task."""
    return _fields.get()
