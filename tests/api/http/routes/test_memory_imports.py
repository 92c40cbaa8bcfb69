"""Remembered facts of an export are taken in, each once, and only what the person may see is their origin."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest

from graph.memory.facts import MAX_FACTS

if TYPE_CHECKING:
    from tests.e2e.person import Person

TIME = "2020-02-03T04:05:06Z"
IMPORT = "/api/memories/import"


def fact(text: str, **source: Any) -> dict[str, Any]:
    said = {"kind": "said"} | source
    return {"id": f"id of {text}"[:64], "text": text, "source": said, "created_at": TIME, "updated_at": TIME}


def take(person: Person, *facts: dict[str, Any], export_id: str = "e") -> dict[str, Any]:
    answer = person.http.post(IMPORT, json={"export_id": export_id, "items": [*facts]})
    assert answer.is_success, answer.text
    return answer.json()


def facts_of(person: Person) -> list[dict[str, Any]]:
    return person.get("/api/memories")["items"]


def test_a_fact_that_is_there_by_its_text_or_was_edited_since_is_not_made_twice(owner: Person) -> None:
    with closing(owner.add_new("twice")) as person:
        first = take(person, fact("I like tea"), fact("My accountant is Li Wei"))
        (tea,) = (one for one in facts_of(person) if "tea" in one["text"])
        person.http.patch(f"/api/memories/{tea['id']}", json={"text": "I like coffee"}).raise_for_status()

        again = take(person, fact("I like tea"), fact("My accountant is Li Wei"))
        other = take(person, fact("my accountant is LI WEI"), export_id="another")

        assert [[one["is_new"] for one in done["items"]] for done in (first, again, other)] == [
            [True, True],
            [False, False],
            [False],
        ]
        assert sorted(one["text"] for one in facts_of(person)) == ["I like coffee", "My accountant is Li Wei"]


def test_a_fact_comes_without_links_to_what_the_person_can_not_see_and_is_not_forgotten(owner: Person) -> None:
    file = owner.upload("of the owner.md", "secret")
    with closing(owner.add_new("curious")) as person:
        take(person, fact("It is secret", kind="file", file_id=file["id"], name="of the owner.md", thread_id="x"))

        (shown,) = facts_of(person)
        assert (shown["source"]["file_id"], shown["source"]["thread_id"]) == (None, None)
        assert shown["source"]["name"] == "of the owner.md"


def test_facts_for_which_there_is_no_room_are_named(owner: Person) -> None:
    with closing(owner.add_new("full")) as person:
        take(person, *(fact(f"fact {number}") for number in range(MAX_FACTS)))

        answer = take(person, fact("fact 1"), fact("one more"))

        assert answer == {"items": [{"source_id": "id of fact 1", "is_new": False}], "left": ["id of one more"]}


@pytest.mark.parametrize(
    "wrong", [{"text": " "}, {"text": "x" * 501}, {"created_at": "2020-01-01"}, {"user_id": "me"}], ids=str
)
def test_what_is_no_fact_is_refused(owner: Person, wrong: dict[str, Any]) -> None:
    body = {"export_id": "e", "items": [fact("I like tea") | wrong]}
    assert owner.http.post(IMPORT, json=body).status_code == 422
