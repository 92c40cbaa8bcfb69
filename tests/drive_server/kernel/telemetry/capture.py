"""Logging as in a process that has just started, for the time of a test."""

from __future__ import annotations

import logging
from contextlib import contextmanager
from typing import TYPE_CHECKING

from drive_server.kernel.telemetry.security import SECURITY
from drive_server.kernel.telemetry.setup import OWN

if TYPE_CHECKING:
    from collections.abc import Generator


@contextmanager
def fresh_logging() -> Generator[None]:
    """Put the handlers and the levels back at the end."""
    loggers = [logging.getLogger(name) for name in (*OWN, SECURITY)]
    root, levels = logging.getLogger(), [logger.level for logger in loggers]
    handlers, level = root.handlers[:], root.level
    try:
        yield
    finally:
        root.handlers[:] = handlers
        root.setLevel(level)
        for logger, before in zip(loggers, levels, strict=True):
            logger.setLevel(before)
