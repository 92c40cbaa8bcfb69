"""Errors in the log: their kind and the way to them, and none of the words that they quote."""

from __future__ import annotations

import json
import logging
import sqlite3
from typing import TYPE_CHECKING

import pytest

from drive_server.kernel.errors import NameConflictError, StorageFailureError
from drive_server.kernel.messages import Message
from drive_server.kernel.telemetry.faults import kind_of, trace_of
from tests.drive_server.kernel.telemetry.capture import fresh_logging
from tests.drive_server.kernel.telemetry.test_formats import written

if TYPE_CHECKING:
    from collections.abc import Generator

    from drive_server.kernel.telemetry.setup import LogFormat

SECRET = "Divorce papers.md"
FORMATS: tuple[LogFormat, ...] = ("text", "json")


@pytest.fixture(autouse=True)
def _fresh() -> Generator[None]:
    with fresh_logging():
        yield


def broken() -> None:
    try:
        {}[SECRET]
    except KeyError as error:
        raise ExceptionGroup(SECRET, [ValueError(SECRET)]) from error


@pytest.mark.parametrize("form", FORMATS)
def test_the_words_of_errors_are_kept_at_the_level_debug_alone(form: LogFormat) -> None:
    told: list[str] = []
    for level in ("warning", "debug"):
        out = written(level, form)
        try:
            broken()
        except ExceptionGroup as error:
            logging.getLogger("api").error("It failed: %s", error, exc_info=True)
        told.append(out.getvalue())
    assert SECRET not in told[0]
    assert "in broken" in told[0]
    assert all(kind in told[0] for kind in ("KeyError", "ExceptionGroup", "ValueError"))
    assert told[1].count(SECRET) >= 4


def test_a_trace_that_another_handler_wrote_before_is_not_taken_over() -> None:
    out = written(form="text")
    record = logging.LogRecord("api", logging.ERROR, "f", 1, "failed", (), (ValueError, ValueError(SECRET), None))
    logging.Formatter().format(record)
    logging.getLogger("api").handle(record)
    assert record.exc_text
    assert SECRET in record.exc_text
    assert SECRET not in out.getvalue()
    assert "ValueError" in out.getvalue()


def test_an_error_without_a_trace_and_a_line_without_an_error_are_lines_as_well() -> None:
    out = written(form="json")
    logging.getLogger("api").error("alone", exc_info=ValueError(SECRET))
    logging.getLogger("api").error("%(name)s", {"name": "as a mapping"})
    alone, mapping = (json.loads(line) for line in out.getvalue().splitlines())
    assert alone["trace"] == ["ValueError"]
    assert mapping["message"] == "as a mapping"
    assert "trace" not in mapping


def test_the_kind_of_an_error_has_the_reason_of_its_system_or_catalogue() -> None:
    with pytest.raises(sqlite3.OperationalError) as refused:
        sqlite3.connect(":memory:").execute("SELECT 'Divorce papers.md' FROM nowhere")
    assert kind_of(FileNotFoundError(2, "No such file or directory", SECRET)) == (
        "FileNotFoundError (No such file or directory)"
    )
    assert kind_of(refused.value) == "OperationalError (SQLITE_ERROR)"
    assert kind_of(ValueError(SECRET)) == "ValueError"
    assert kind_of(NameConflictError(SECRET)).startswith("NameConflictError (")
    assert SECRET not in kind_of(NameConflictError(SECRET))


def test_the_sentence_of_an_error_is_told_without_its_parameters() -> None:
    error = StorageFailureError(Message.of("database_damaged", file=SECRET))
    assert "{file}" in kind_of(error)
    assert SECRET not in "\n".join(trace_of(error))


def test_errors_that_are_each_others_cause_end() -> None:
    first, second = ValueError("a"), TypeError("b")
    first.__cause__, second.__cause__ = second, first
    assert trace_of(first)[-1] == "ValueError"
