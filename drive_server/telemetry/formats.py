"""The two formats of a log: lines of text for people, and a JSON object a line for programs that gather logs."""

import json
import logging
from datetime import UTC, datetime
from typing import Any, Final

from typing_extensions import override

from drive_server.escaping.logs import LogFormatter, log_text
from drive_server.telemetry.fields import log_fields

LINE: Final = "%(asctime)s %(levelname)s %(name)s: %(message)s"
DETAILS: Final = "details"
"""The attribute of a record with further fields: a mapping from names to plain values."""


class TextFormat(LogFormatter):
    """Lines of text. The fields stand in parentheses at the end."""

    def __init__(self) -> None:
        super().__init__(LINE)

    @override
    def formatMessage(self, record: logging.LogRecord) -> str:
        """Format the message with its fields."""
        line = super().formatMessage(record)
        fields = " ".join(f"{name}={log_text(str(value))}" for name, value in fields_of(record).items())
        return f"{line} ({fields})" if fields else line


class JsonFormat(logging.Formatter):
    """A JSON object a line: `time` (ISO 8601, UTC), `level`, `logger`, `message`, the fields; `trace` of an error."""

    @override
    def format(self, record: logging.LogRecord) -> str:
        """Format the record. JSON escapes line ends; other marks that move a cursor are written as numbers."""
        at = datetime.fromtimestamp(record.created, UTC)
        line: dict[str, Any] = {
            "time": at.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": log_text(record.getMessage()),
            **{name: _plain(value) for name, value in fields_of(record).items()},
        }
        if record.exc_info:
            line["trace"] = [log_text(part) for part in self.formatException(record.exc_info).split("\n")]
        return json.dumps(line, ensure_ascii=False)


def fields_of(record: logging.LogRecord) -> dict[str, Any]:
    """Return the fields of a record: those of the running task, then its own."""
    return {**log_fields(), **getattr(record, DETAILS, {})}


def _plain(value: Any) -> Any:
    return value if isinstance(value, int | float) else log_text(str(value))
