"""Undo in the chat: a run's changes are listed and undone, in both languages, with a preview on the approval's card."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.e2e.person import Event, Person, Turn


def say(person: Person, message: str, thread_id: str | None = None) -> tuple[Turn, str, list[Event]]:
    """Say something and approve what is asked; return the turn, its thread, and the cards."""
    cards: list[Event] = []
    with person.chat(message, thread_id=thread_id) as turn:
        while (event := turn.until("approval_needed", "done", "error"))["type"] == "approval_needed":
            cards.append(event)
            assert person.answer(event, "approve").is_success
    assert event["type"] == "done", event
    return turn, turn.seen[0]["thread_id"], cards


@pytest.mark.parametrize(
    ("change", "question", "told", "undo", "card", "undone", "redo"),
    [
        (
            "rename a.txt to c.txt",
            "what did you change?",
            "Renamed 'a.txt' to 'c.txt'",
            "undo that",
            "- /c.txt: goes back to its earlier place and name",
            "Taken back",
            "redo",
        ),
        (
            "把 a.txt 重命名为 c.txt",
            "你改了什么？",
            "a.txt",
            "撤销刚才的操作",
            "- /c.txt: 回到原来的位置和名称",
            "已撤销",
            "重做",
        ),
    ],
)
def test_a_change_is_listed_shown_before_it_is_taken_back_and_taken_back(
    alice: Person, change: str, question: str, told: str, undo: str, card: str, undone: str, redo: str
) -> None:
    alice.upload("a.txt", "30 days")
    alice.upload("other.txt", "nothing")
    turn, thread, _ = say(alice, change)
    assert len(turn.seen[-1]["groups"]) == 1
    assert "c.txt" in alice.names()
    turn, _, _ = say(alice, question, thread)
    assert told in turn.text
    assert "other.txt" not in turn.text
    turn, _, cards = say(alice, undo, thread)
    assert [action["name"] for action in cards[0]["actions"]] == ["undo_changes"]
    assert card in cards[0]["actions"][0]["preview"]
    assert undone in turn.text
    assert sorted(alice.names()) == ["a.txt", "other.txt"]
    say(alice, undo, thread)
    assert sorted(alice.names()) == ["a.txt", "other.txt"]  # an undo is not undone, but done again
    say(alice, redo, thread)
    assert sorted(alice.names()) == ["c.txt", "other.txt"]


@pytest.mark.parametrize(
    ("change", "undo", "named"),
    [
        ("rename a.txt to c.txt", "undo that", "Stays as it is"),
        ("把 a.txt 重命名为 c.txt", "撤销刚才的操作", "保持不变"),
    ],
)
def test_what_was_changed_since_is_named_on_the_card_with_the_reason_and_stays(
    alice: Person, change: str, undo: str, named: str
) -> None:
    alice.upload("a.txt", "30 days")
    _, thread, _ = say(alice, change)
    say(alice, "rename c.txt to d.txt")
    _, _, cards = say(alice, undo, thread)
    assert named in cards[0]["actions"][0]["preview"]
    assert alice.email in cards[0]["actions"][0]["preview"]
    assert alice.names() == ["d.txt"]
