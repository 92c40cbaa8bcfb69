"""Events are stored before their checkpoint, so that a kill between the two loses none."""

from __future__ import annotations

import json
import sqlite3
from typing import TYPE_CHECKING, Any

import pytest

from api.events.log import EventLog
from api.storage.sqlite_threads import SqliteThreads

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.api.serving import RunningService
    from tests.e2e.person import Person


class Watch:
    """Compares, at each write of a checkpoint, the events that were sent to the log with those that it has."""

    def __init__(self) -> None:
        self.path = ""
        self.sent: list[dict[str, Any]] = []
        self.missing: list[Any] = []
        self.writes = 0

    def check(self) -> None:
        self.writes += 1
        with sqlite3.connect(self.path) as connection:
            stored = [json.loads(data) for (data,) in connection.execute("SELECT data FROM run_events ORDER BY seq")]
        connection.close()
        if shape(self.sent) != shape([event for event in stored if event["type"] != "run"]):
            self.missing.append(self.sent[-1])


def shape(events: list[dict[str, Any]]) -> tuple[str, list[str]]:
    text = "".join(event["text"] for event in events if event["type"] == "content")
    return text, [event["type"] for event in events if event["type"] not in {"content", "approval_needed"}]


@pytest.fixture
def watch(service: RunningService, monkeypatch: pytest.MonkeyPatch) -> Watch:
    watch = Watch()
    watch.path = str(service.parts.data_dir / "api.db")
    append = EventLog.append

    def appended(log: EventLog, run_id: str, event: dict[str, Any]) -> None:
        watch.sent.append(event)
        append(log, run_id, event)

    def watched(write: Callable[..., Any]) -> Callable[..., Any]:
        def checked(*args: Any, **options: Any) -> Any:
            watch.check()
            return write(*args, **options)

        return checked

    monkeypatch.setattr(EventLog, "append", appended)
    for name in ("put", "put_writes"):
        monkeypatch.setattr(SqliteThreads, name, watched(getattr(SqliteThreads, name)))
    return watch


@pytest.mark.sqlite("watches the file of the log when SQLite's saver stores")
def test_an_answer_is_in_the_log_before_it_is_in_the_thread(watch: Watch, alice: Person) -> None:
    with alice.chat("say see [one](") as turn:
        turn.finish()
    assert turn.text == "see [one] ("
    assert watch.writes > 2
    assert watch.missing == []


@pytest.mark.sqlite("watches the file of the log when SQLite's saver stores")
def test_calls_and_their_ends_are_in_the_log_before_they_are_in_the_thread(watch: Watch, alice: Person) -> None:
    with alice.chat("two") as turn:
        alice.answer(turn.until("approval_needed"), "approve")
        turn.finish()
    assert len(turn.of("tool_call_end")) == 2
    assert watch.missing == []
