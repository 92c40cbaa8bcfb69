"""Logs: no text in a record ends its line, moves a cursor or turns the direction."""

import logging
from typing import Any

from typing_extensions import override

from drive_server.escaping.characters import UNSAFE, number_of


def log_text(text: str) -> str:
    """Return a text for one record of a log: nothing in it ends a line, moves a cursor or turns the direction."""
    return UNSAFE.sub(lambda match: number_of(match[0]), text)


class LogFormatter(logging.Formatter):
    """Formats records so that none can be forged: a message is one line, and each line of a trace is indented."""

    @override
    def formatMessage(self, record: logging.LogRecord) -> str:
        """Format the message, with everything in it as data."""
        record.message = log_text(record.message)
        return super().formatMessage(record)

    @override
    def formatException(self, ei: Any) -> str:
        """Format the trace, in which messages of errors may quote anything."""
        lines = super().formatException(ei).split("\n")
        return "\n".join(f"  {log_text(line)}" for line in lines)
