"""The service is killed again and again, anywhere: afterwards the log, the thread and the drive tell the same."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from random import Random
from typing import TYPE_CHECKING, Any, Final

import pytest

from tests.e2e.killed import PLACES, Victim
from tests.e2e.soaking import SECONDS_A_KILL, SEED, Soak, kills

if TYPE_CHECKING:
    from pathlib import Path

    from tests.e2e.person import Event, Person

pytestmark = pytest.mark.story

KILLS: Final = kills(10)
CALLS: Final = 6
FROM_START_SHARE: Final = 0.3


class Round:
    """One message, sent until the service has it, and followed until its run is over."""

    def __init__(self, name: str, data_dir: Path) -> None:
        self.name = name
        self._data_dir = data_dir
        self.run_id = ""
        self.thread_id = ""

    def go_on(self, person: Person) -> None:
        """Send it, or find out what became of it; answer what is asked, up to the end."""
        found = [thread for thread in person.get("/api/threads", limit="1")["items"] if thread["title"] == self.name]
        if found:
            self.thread_id = found[0]["thread_id"]
            self.run_id = person.get(f"/api/threads/{self.thread_id}")["run"]["run_id"]
            with person.follow(self.run_id) as turn:
                self._answer(person, turn)
        else:
            with person.chat(self.name) as turn:
                begun = turn.until("run")
                self.run_id, self.thread_id = begun["run_id"], begun["thread_id"]
                self._answer(person, turn)

    def _answer(self, person: Person, turn: Any) -> None:
        while (event := turn.until("approval_needed", "done", "error"))["type"] == "approval_needed":
            assert person.answer(event, "approve").status_code in {200, 409}

    def check(self, person: Person) -> None:
        """Compare the log, the thread and the drive."""
        with person.follow(self.run_id) as turn:
            done = turn.finish()
        log, messages = turn.seen, person.get(f"/api/threads/{self.thread_id}")["messages"]
        changes = self._changes()
        results = {message["tool_call_id"]: message for message in messages if message["role"] == "tool"}
        ends = {event["tool_call_id"]: event for event in log if event["type"] == "tool_call_end"}

        assert [int(event["_id"]) for event in log] == list(range(1, len(log) + 1))
        assert_calls_are_whole(log)
        assert said_in(log) == "".join(message["text"] for message in messages if message["role"] == "assistant")
        # A call that is repeated adds to its result that it was made before: the texts may differ.
        assert {key: (end["name"], end["status"]) for key, end in ends.items()} == {
            key: (message["name"], "done") for key, message in results.items()
        }
        assert len(results) == CALLS
        made = [event["tool_call_id"] for event in log if event["type"] == "tool_call_start"]
        assert sorted(changes) == sorted(key for key in made if ends[key]["name"] != "list_folder")
        assert len(done["changes"]) == len(changes)
        assert person.names(done["changes"][0]["item_id"]) == ["part 1", "part 2"]

    def _changes(self) -> list[str]:
        """Return the calls of the run's changes, straight from the drive's journal."""
        with closing(sqlite3.connect(self._data_dir / "drive.db")) as connection:
            query = "SELECT tool_call_id FROM changes WHERE run_id = ?"
            return [call for (call,) in connection.execute(query, (self.run_id,))]


def assert_calls_are_whole(log: list[Event]) -> None:
    """Every call starts once and ends once, in this order."""
    is_open: dict[str, bool] = {}
    for event in log:
        if event["type"] == "tool_call_start":
            assert event["tool_call_id"] not in is_open
            is_open[event["tool_call_id"]] = True
        elif event["type"] == "tool_call_end":
            assert is_open[event["tool_call_id"]]
            is_open[event["tool_call_id"]] = False
    assert not any(is_open.values())


def said_in(log: list[Event]) -> str:
    """Return the answer as a client shows it: what restarts replaces the text since the last other event."""
    text = before = ""
    for event in log:
        if event["type"] != "content":
            before = text
        else:
            text = (before if event.get("restarts") else text) + event["text"]
    return text


@pytest.mark.timeout(60 + SECONDS_A_KILL * KILLS)
def test_whenever_it_is_killed_the_log_the_thread_and_the_drive_tell_the_same(tmp_path: Path) -> None:
    random, from_start = Random(SEED), False
    soak = Soak(lambda number: Round(f"round {number}", tmp_path))
    for kill in range(KILLS + 1):
        # Five starts in a row that end in a kill are taken for a message that no process survives.
        from_start = not from_start and random.random() < FROM_START_SHARE
        place = random.randint(1, PLACES) if kill < KILLS else 0
        soak.serve(Victim(tmp_path, place, from_start=from_start), place)
    assert soak.rounds > KILLS // 2
