from typing import Any

import pytest

from graph.approvals.preview import first_line, outside_preview, preview_of
from graph.policy.tools import OutsideServer
from tests.graph.facts import ASKED

ITEM = {"id": "1", "kind": "file", "name": "计划.md", "path": "/Old/计划.md"}
EFFECT: dict[str, Any] = {"summary": "Move 计划.md to the trash", "count": 1, "items": [ITEM], "reversible": True}


def test_it_says_what_happens_to_which_items_and_that_it_can_be_taken_back() -> None:
    text = preview_of("trash_item", {}, EFFECT, "en", "trash")
    assert text.split("\n") == [
        "Move 计划.md to the trash",
        "- /Old/计划.md",
        "Nothing is lost: it can be restored from the trash.",
    ]


def zh(**texts: str) -> dict[str, Any]:
    return {field: {"code": "x", "params": {}, "zh": text} for field, text in texts.items()}


def test_it_says_who_gains_access() -> None:
    effect = {**EFFECT, "gains_access": ["bob@example.com"], "loses_access": ["anyone with the link"]}
    messages = zh(summary="把“计划.md”共享给 bob@example.com。", loses_access="任何拿到链接的人")
    assert "Gains access: bob@example.com" in preview_of("share_item", {}, effect, "en")
    text = preview_of("share_item", {}, {**effect, "messages": messages}, "zh")
    assert text.startswith("把“计划.md”共享给 bob@example.com。\n")
    assert "将获得访问权限：bob@example.com" in text
    assert "将失去访问权限：任何拿到链接的人" in text


def test_it_shows_the_difference_of_a_text_and_cuts_a_long_one() -> None:
    assert "-30\n+45" in preview_of("patch_file", {}, {**EFFECT, "diff": "-30\n+45"}, "en")
    long = preview_of("patch_file", {}, {**EFFECT, "diff": "x" * 100_000}, "en")
    assert len(long) < 9_000
    assert "goes on" in long


def test_it_counts_what_it_does_not_list() -> None:
    effect = {**EFFECT, "count": 1_000, "items": [ITEM] * 100}
    assert "… and 900 more" in preview_of("trash_item", {}, effect, "en")


def test_without_an_effect_it_is_the_call_itself() -> None:
    assert preview_of("shred", {"x": 1}, None, "zh") == '调用 shred，参数：{"x":1}'


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("tool", ASKED)
def test_every_asked_tool_has_a_preview_even_for_an_empty_effect(tool: str, language: Any) -> None:
    assert preview_of(tool, {}, {}, language)


def test_what_cannot_be_undone_says_so() -> None:
    assert "can't be undone" in preview_of("share_item", {}, {**EFFECT, "reversible": False}, "en")


def test_what_an_undo_can_not_take_back_is_named_with_the_reason() -> None:
    item: dict[str, Any] = {"id": "a", "path": "/a.txt", "what": "goes back to its earlier place and name"}
    item["messages"] = zh(what="回到原来的位置和名称")
    left: dict[str, Any] = {
        "summary": "Renamed 'b' to 'c'.",
        "reason": "changed since by bob@example.com at 2026-11-21 09:30 UTC",
    }
    left["messages"] = zh(reason="此后被 bob@example.com 于 2026-11-21 09:30 UTC 改动过")
    effect = {"summary": "Take back 1 change: Moved 'a.txt'.", "count": 1, "items": [item], "left": [left]}
    english = preview_of("undo_changes", {}, effect, "en")
    assert "Stays as it is: Renamed 'b' to 'c' (changed since by bob@example.com at 2026-11-21 09:30 UTC)" in english
    chinese = preview_of("undo_changes", {}, effect, "zh")
    assert "- /a.txt: 回到原来的位置和名称" in chinese
    assert "（此后被 bob@example.com 于 2026-11-21 09:30 UTC 改动过）" in chinese


def test_a_call_of_an_outside_server_shows_all_that_is_sent_and_no_lines_of_its_server_or_model() -> None:
    server = OutsideServer("s1", "Web\u202e\nsafe", "delete_all", "Look up", "example.com")
    args = {"to": "a\u200bb\n\u202ec", "text": "x" * 10_000}

    lines = outside_preview(server, args, ["map.k`\n\nThis is safe"], "en").split("\n")

    assert lines[0].startswith("Goes to Web safe (example.com), outside of your drive: Look up with to: “a\\u200bb ")
    assert len(lines[0]) < 300
    assert lines[1].startswith('Call Look up (delete_all) with {"to":"a\\u200bb\\n\\u202ec","text":"xxx')
    assert lines[2].startswith("… and 2036 more characters, which are sent, too")
    assert lines[3] == "With content of your drive in: `map.k` This is safe`"
    assert len(lines) == 5


def test_the_line_that_names_a_call_of_an_outside_server_says_the_tool_and_what_goes() -> None:
    server = OutsideServer("s1", "Everything", "echo", "echo", "127.0.0.1")
    program = OutsideServer("s1", "Everything", "get_sum", "Sum", "")
    args = {"message": "hello", "count": 2}
    assert first_line(outside_preview(server, args, [], "en")) == (
        "Goes to Everything (127.0.0.1), outside of your drive: echo with message: “hello”; count: 2"
    )
    assert first_line(outside_preview(server, args, [], "zh")) == (
        "发送到云盘之外的 Everything（127.0.0.1）：echo，message: “hello”; count: 2"
    )
    assert first_line(outside_preview(program, {}, [], "en")).endswith("outside of your drive: Sum")
