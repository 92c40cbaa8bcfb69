"""The log of the index's process, which the service writes: each line has the fields of the call that led to it."""

import logging
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from drive_server.kernel.telemetry.fields import log_fields
from drive_server.kernel.telemetry.formats import DETAILS, without_words
from drive_server.knowledge.index_process.calls import OtherProcessError, way_of


@dataclass(frozen=True, slots=True)
class LogLine:
    """A line of the log. `trace` has the words of errors, `way` has not; both are empty if it is about no error."""

    logger: str
    level: int
    message: str
    fields: Mapping[str, str]
    trace: str = ""
    way: str = ""


class ReportedLog(logging.Handler):
    """Hands lines to `report`. Messages have the words of errors with the level `debug` alone, as in any log."""

    def __init__(self, level: int, report: Callable[[LogLine], None]) -> None:
        super().__init__(level)
        self._report = report

    def emit(self, record: logging.LogRecord) -> None:
        """Hand over a line."""
        if self.level > logging.DEBUG:
            record.args = without_words(record.args)
        error = record.exc_info[1] if record.exc_info else None
        trace = "".join(traceback.format_exception(error)) if error else ""
        line = LogLine(
            record.name, record.levelno, record.getMessage(), dict(log_fields()), trace, way_of(error) if error else ""
        )
        self._report(line)


def write_line(line: LogLine) -> None:
    """Write a line of the other process into the log of this one."""
    logger = logging.getLogger(line.logger)
    error = OtherProcessError(line.trace, line.way) if line.trace else None
    logger.log(line.level, "%s", line.message, exc_info=error, extra={DETAILS: line.fields})
