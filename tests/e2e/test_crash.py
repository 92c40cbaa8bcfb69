"""The service is killed, or told to end, while people have to answer: what they approve happens exactly once."""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING

import pytest

from tests.e2e.person import Person
from tests.e2e.service import Service, running

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.story


@pytest.fixture
def own_service(tmp_path: Path) -> Iterator[Service]:
    with running(tmp_path) as service:
        yield service


MESSAGES = ("delete everything in Old", "删除Old里的所有内容")
PLANS = (
    "create a folder First, share First with bob@example.com, then create a folder Last",
    "新建文件夹First，把First共享给bob@example.com，然后新建文件夹Last",
)


def same(service: Service, person: Person) -> Person:
    """Return the same person at the service that was started again."""
    person.close()
    return Person(service.url, person.token, person.email)


def test_story_6_what_was_approved_happens_once_though_the_service_was_killed(own_service: Service) -> None:
    own_service.add_person("bob@example.com").close()
    people = [own_service.add_person(f"person{number}@example.com") for number in range(4)]
    with ExitStack() as open_chats:
        deleting = [Deleting(person, message, open_chats) for person, message in zip(people, MESSAGES, strict=False)]
        paused = [Paused(person, message, open_chats) for person, message in zip(people[2:], PLANS, strict=True)]
        own_service.kill()

    own_service.start()
    for waiting in (*deleting, *paused):
        waiting.person = same(own_service, waiting.person)
        waiting.go_on()
        waiting.person.close()


def test_an_approval_that_waits_does_not_keep_the_service_from_ending_and_is_there_again(own_service: Service) -> None:
    owner = own_service.owner()
    with ExitStack() as open_chats:
        deleting = Deleting(owner, MESSAGES[0], open_chats)
        assert own_service.end() == 0

    own_service.start()
    deleting.person = same(own_service, owner)
    deleting.still_waits()
    deleting.person.close()


class Deleting:
    """Someone who has yet to approve a deletion."""

    def __init__(self, person: Person, message: str, open_chats: ExitStack) -> None:
        self.person = person
        self._old = person.folder("Old")
        person.upload("kept.txt", "kept")
        for name in ("a.txt", "b.txt"):
            person.upload(name, name, self._old["id"])
        turn = open_chats.enter_context(person.chat(message))
        self._run_id = turn.until("run")["run_id"]
        self._approval = turn.until("approval_needed")

    def still_waits(self) -> None:
        """Nothing was done, and the question is there."""
        waiting = self.person.get("/api/approvals")["items"]
        assert [entry["approval_id"] for entry in waiting] == [self._approval["approval_id"]]
        assert sorted(self.person.names(self._old["id"])) == ["a.txt", "b.txt"]

    def go_on(self) -> None:
        """Approve it: it is done once, and told once."""
        self.still_waits()
        assert self.person.answer(self._approval, "approve").status_code == 200
        with self.person.follow(self._run_id) as turn:
            done = turn.finish()
        assert self.person.names(self._old["id"]) == []
        assert self.person.names() == ["Old", "kept.txt"]
        assert len(done["changes"]) == 2
        assert len(self.person.get(f"/api/runs/{self._run_id}/changes")["items"]) == 2
        assert self.person.answer(self._approval, "approve").status_code == 409
        ids = [int(event["_id"]) for event in turn.seen]
        assert ids == sorted(set(ids))


class Paused:
    """Someone whose plan is paused after its second step."""

    def __init__(self, person: Person, message: str, open_chats: ExitStack) -> None:
        self.person = person
        turn = open_chats.enter_context(person.chat(message))
        begun = turn.until("run")
        approval = turn.until("approval_needed")
        self._run_id = begun["run_id"]
        self._plan = f"/api/threads/{begun['thread_id']}/plan"
        assert person.http.post(f"{self._plan}/pause").status_code == 200
        assert person.answer(approval, "approve").status_code == 200
        turn.until("plan_paused")

    def go_on(self) -> None:
        """Resume it: the rest is done once."""
        assert self.person.get(self._plan)["status"] == "paused"
        assert self.person.names() == ["First"]
        assert self.person.http.post(f"{self._plan}/resume").status_code == 200
        with self.person.follow(self._run_id) as turn:
            done = turn.finish()
        assert self.person.names() == ["First", "Last"]
        assert [step["status"] for step in self.person.get(self._plan)["steps"]] == ["completed"] * 3
        assert len(done["changes"]) == 3
