"""Errors as the log has them: their kind and the way to them. Their own words may quote names, contents and keys."""

import os
import traceback
from collections.abc import Iterator

CAUSE = "The above exception was the direct cause of the following exception:"
CONTEXT = "During handling of the above exception, another exception occurred:"


def kind_of(error: BaseException) -> str:
    """Return the class of an error, with the reason that its system or message gives, without anything it quotes."""
    reason = _reason(error)
    return f"{type(error).__name__} ({reason})" if reason else type(error).__name__


def trace_of(error: BaseException) -> list[str]:
    """Return the lines of its trace, those of its causes before, with `kind_of` in the place of each error's words."""
    return list(_lines(error, frozenset()))


def _reason(error: BaseException) -> str:
    if isinstance(error, OSError) and error.errno:
        return os.strerror(error.errno)
    for name in ("log_sentence", "sqlite_errorname", "sqlstate", "code"):
        if isinstance(reason := getattr(error, name, None), str):
            return reason
    return ""


def _lines(error: BaseException, seen: frozenset[int]) -> Iterator[str]:
    before = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    if before is not None and id(before) not in seen:
        yield from _lines(before, seen | {id(error)})
        yield CAUSE if error.__cause__ else CONTEXT
    if error.__traceback__:
        yield "Traceback (most recent call last):"
        yield from "".join(traceback.format_tb(error.__traceback__)).splitlines()
    yield kind_of(error)
    if isinstance(error, BaseExceptionGroup):
        for one in error.exceptions:
            yield from (f"  {line}" for line in _lines(one, seen | {id(error)}))
