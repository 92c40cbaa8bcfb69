"""Events of a run as pieces of an answer."""

from __future__ import annotations

from typing import Any

from api.events.frames import Frame, encode
from api.openai.pieces import Piece, Rendering
from graph.links.allowlist import HostAllowlist
from graph.links.filter import LinkFilter

CITATION = {
    "number": 1,
    "quote": "ten days",
    "verified": True,
    "reason": "",
    "file_id": "f1",
    "name": "plan.md",
    "path": "/a [b](https://evil.example)/plan.md",
    "version": 3,
    "is_current": True,
    "place": "page=2",
    "heading": "",
    "uri": "drive://f1",
    "address": "https://drive.example.com/f/f1?version=3",
}


def pieces_of(*events: dict[str, Any], language: Any = "en") -> list[Piece]:
    def address_of(approval_id: str) -> str:
        return f"https://drive.example.com/approve/{approval_id}"

    rendering = Rendering(language, address_of, LinkFilter(HostAllowlist(["drive.example.com"])).clean)
    return [*rendering.take([Frame(seq, event["type"], encode(event)) for seq, event in enumerate(events, 1)])]


def text_of(*events: dict[str, Any]) -> str:
    return "".join(piece.text for piece in pieces_of(*events) if piece.kind == "text")


def content(text: str, **fields: Any) -> dict[str, Any]:
    return {"type": "content", "text": text, "message_id": "m", **fields}


def test_a_text_that_is_said_anew_continues_what_was_shown() -> None:
    assert text_of(content("One "), content("One two", restarts=True), content(" three")) == "One two three"


def test_a_text_that_takes_the_place_of_another_follows_it() -> None:
    assert text_of(content("Wrong."), content("Right.", restarts=True)) == "Wrong.\n\nRight."


def test_a_text_that_is_taken_back_can_only_be_gone_on_from() -> None:
    assert text_of(content("Kept "), content("thought"), content("Kept ", restarts=True), content("on")) == (
        "Kept thoughton"
    )


def test_text_after_another_event_begins_anew() -> None:
    ended = {
        "type": "tool_call_end",
        "tool_call_id": "c",
        "name": "t",
        "status": "done",
        "result": "",
        "duration_ms": 1,
    }
    assert text_of(content("One. "), ended, content("Two."), content("Two, too.", restarts=True)) == (
        "One. Two.\n\nTwo, too."
    )


def test_sources_are_links_of_the_drive_and_nothing_in_their_names_is_markup() -> None:
    pieces = pieces_of(
        content("It says so."),
        {"type": "citations", "message_id": "m", "citations": [CITATION, {**CITATION, "number": 2, "verified": False}]},
    )
    text = "".join(piece.text for piece in pieces if piece.kind == "text")
    label = "/a \\[b\\](https://evil.example)/plan.md, version 3, page=2"
    assert text == f"It says so.\n\nSources:\n\n[1] [{label}]({CITATION['address']})  "
    assert [one["number"] for one in pieces[-1].event["citations"]] == [1]


def test_a_question_names_each_call_and_the_page_and_no_address_of_others() -> None:
    action = {"tool_call_id": "c", "name": "share_item", "args": {}, "risk": "share", "reason": "It matters."}
    shown = {**action, "preview": "Share plan.md with x, see https://evil.example/y\nmore", "reversible": True}
    event = {"type": "approval_needed", "approval_id": "a1", "expires_at": "2026", "actions": [shown]}
    words, asked = pieces_of(event, language="zh")
    assert words.text.startswith("以下操作等待您的决定：\n- Share plan.md with x, see `https://evil.example/y`")
    assert "https://drive.example.com/approve/a1" in words.text
    assert "more" not in words.text
    assert asked.kind == "approval"


def test_an_end_has_what_the_run_took() -> None:
    done = {
        "type": "done",
        "run_id": "r",
        "status": "success",
        "usage": {"input_tokens": 3},
        "changes": [],
        "groups": [],
    }
    assert pieces_of(done)[-1].event["usage"] == {"input_tokens": 3}


def test_a_run_that_was_stopped_says_so() -> None:
    done = {"type": "done", "run_id": "r", "status": "cancelled", "usage": {}, "changes": [], "groups": []}
    assert text_of(content("Half"), done) == "Half\n\nThis was stopped."


def test_a_plan_that_is_paused_ends_the_answer() -> None:
    pieces = pieces_of({"type": "plan_paused", "plan_id": "p", "version": 1})
    assert [piece.kind for piece in pieces] == ["text", "end"]
