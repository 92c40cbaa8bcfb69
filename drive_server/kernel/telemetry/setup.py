"""The log as the settings want it: where it goes, from which level on, in which format."""

import logging
from typing import Final, Literal

from drive_server.kernel.telemetry.formats import JsonFormat, TextFormat
from drive_server.kernel.telemetry.security import SECURITY

LogLevel = Literal["debug", "info", "warning", "error"]
LogFormat = Literal["text", "json"]

OWN: Final = ("api", "graph", "drive_server")
"""Only these follow the level: libraries' records below a warning may quote contents."""


def log_to(handler: logging.Handler, level: LogLevel = "warning", form: LogFormat = "text") -> None:
    """Send the log of this process to the handler, unless it has one already.

    The security channel is kept from `info` on, but with the level `error`. Words of errors, which may quote
    contents, are kept with the level `debug` only.
    """
    chosen = JsonFormat if form == "json" else TextFormat
    handler.setFormatter(chosen(quotes=level == "debug"))
    logging.basicConfig(level=max(logging.WARNING, _number(level)), handlers=[handler])
    for name in OWN:
        logging.getLogger(name).setLevel(_number(level))
    logging.getLogger(SECURITY).setLevel(logging.ERROR if level == "error" else logging.INFO)


def _number(level: LogLevel) -> int:
    return logging.getLevelNamesMapping()[level.upper()]
