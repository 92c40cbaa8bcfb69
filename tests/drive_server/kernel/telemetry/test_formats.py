"""The lines of the log, as text and as JSON."""

from __future__ import annotations

import asyncio
import json
import logging
from io import StringIO
from typing import TYPE_CHECKING

import pytest

from drive_server.kernel.telemetry.fields import add_log_fields, begin_log_fields
from drive_server.kernel.telemetry.setup import LogFormat, LogLevel, log_to
from tests.drive_server.kernel.telemetry.capture import fresh_logging

if TYPE_CHECKING:
    from collections.abc import Generator

HOSTILE = "a\nINFO forged: line \x1b[2J \u202e"


@pytest.fixture(autouse=True)
def _fresh() -> Generator[None]:
    with fresh_logging():
        begin_log_fields()
        yield


def written(level: LogLevel = "warning", form: LogFormat = "text") -> StringIO:
    out = StringIO()
    logging.getLogger().handlers[:] = []  # pytest's own
    log_to(logging.StreamHandler(out), level, form)
    return out


def test_a_line_of_text_names_the_request_and_the_person() -> None:
    out = written()
    begin_log_fields(request="r1")
    add_log_fields(user="u1", run="")
    logging.getLogger("api.runs").warning("It failed: %s", HOSTILE)
    (line,) = out.getvalue().splitlines()
    assert "WARNING api.runs: It failed: a" in line
    assert line.endswith("(request=r1 user=u1)")
    assert "\x1b" not in line


def test_a_json_line_is_one_object_whatever_its_message_has() -> None:
    out = written(form="json")
    begin_log_fields(request=HOSTILE)
    try:
        int(HOSTILE)
    except ValueError:
        logging.getLogger("drive_server.x").exception("Broken: %s", HOSTILE)
    (line,) = out.getvalue().split("\n")[:-1]
    found = json.loads(line)
    assert found["level"] == "error"
    assert found["logger"] == "drive_server.x"
    assert found["message"].startswith("Broken: a")
    assert any("ValueError" in part for part in found["trace"])
    assert found["time"].endswith("Z")
    assert "\u202e" not in line
    assert "\x1b" not in line


def test_the_level_is_for_our_own_lines_and_libraries_stay_at_warnings() -> None:
    out = written("debug")
    logging.getLogger("graph.agents").debug("ours")
    logging.getLogger("httpcore").info("a library's")
    logging.getLogger("httpcore").warning("a warning")
    assert [line.rpartition(": ")[2] for line in out.getvalue().splitlines()] == ["ours", "a warning"]


async def test_tasks_have_the_fields_of_what_started_them_and_their_own() -> None:
    out = written()
    logger = logging.getLogger("api")

    async def run(name: str) -> None:
        add_log_fields(run=name)
        await asyncio.sleep(0)
        logger.warning("it")

    begin_log_fields(request="r")
    await asyncio.gather(run("one"), run("two"))
    logger.warning("it")
    ends = [line.partition("(")[2] for line in out.getvalue().splitlines()]
    assert ends == ["request=r run=one)", "request=r run=two)", "request=r)"]
