"""The two formats of a log: lines of text for people, and a JSON object a line for programs that gather logs.

Both keep out the words of errors unless they are told otherwise: `drive_server.kernel.telemetry.faults`.
"""

import json
import logging
import traceback
from copy import copy
from datetime import UTC, datetime
from typing import Any, Final

from typing_extensions import override

from drive_server.kernel.escaping.logs import log_text
from drive_server.kernel.telemetry.faults import kind_of, trace_of
from drive_server.kernel.telemetry.fields import log_fields

LINE: Final = "%(asctime)s %(levelname)s %(name)s: %(message)s"
DETAILS: Final = "details"
"""The attribute of a record with further fields: a mapping from names to plain values."""


class _LineFormat(logging.Formatter):
    """The common part of both formats. `quotes`: errors are written with their own words, which may quote contents."""

    def __init__(self, *, quotes: bool = False) -> None:
        super().__init__(LINE)
        self._quotes = quotes

    @override
    def format(self, record: logging.LogRecord) -> str:
        """Format a record that no other handler sees changed."""
        # A trace that another formatter wrote has the words of the error.
        shown = copy(record)
        shown.exc_text = None
        if not self._quotes:
            shown.args = without_words(record.args)
        return self._write(shown)

    def _write(self, record: logging.LogRecord) -> str:
        return super().format(record)

    def _trace(self, error: BaseException) -> list[str]:
        lines = "".join(traceback.format_exception(error)).splitlines() if self._quotes else trace_of(error)
        return [log_text(line) for line in lines]


class TextFormat(_LineFormat):
    """Lines of text that can't be forged: a message is one line, with the fields in parentheses at its end."""

    @override
    def formatMessage(self, record: logging.LogRecord) -> str:
        """Format the message with its fields."""
        record.message = log_text(record.message)
        fields = " ".join(f"{name}={log_text(str(value))}" for name, value in fields_of(record).items())
        line = super().formatMessage(record)
        return f"{line} ({fields})" if fields else line

    @override
    def formatException(self, ei: Any) -> str:
        """Format the trace of an error; each of its lines is indented."""
        return "\n".join(f"  {line}" for line in self._trace(ei[1])) if ei[1] else ""


class JsonFormat(_LineFormat):
    """A JSON object a line: `time` (ISO 8601, UTC), `level`, `logger`, `message`, the fields; `trace` of an error."""

    @override
    def _write(self, record: logging.LogRecord) -> str:
        at = datetime.fromtimestamp(record.created, UTC)
        line: dict[str, Any] = {
            "time": at.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
            "level": record.levelname.lower(),
            "logger": record.name,
            # JSON escapes line ends; other marks that move a cursor are written as numbers.
            "message": log_text(record.getMessage()),
            **{name: _plain(value) for name, value in fields_of(record).items()},
        }
        if record.exc_info and record.exc_info[1]:
            line["trace"] = self._trace(record.exc_info[1])
        return json.dumps(line, ensure_ascii=False)


def fields_of(record: logging.LogRecord) -> dict[str, Any]:
    """Return the fields of a record: those of the running task, then its own."""
    return {**log_fields(), **getattr(record, DETAILS, {})}


def without_words(arguments: Any) -> Any:
    """Return the arguments of a record with the kinds of errors in the places of errors."""
    if isinstance(arguments, tuple):
        return tuple(kind_of(one) if isinstance(one, BaseException) else one for one in arguments)
    return arguments


def _plain(value: Any) -> Any:
    return value if isinstance(value, int | float) else log_text(str(value))
