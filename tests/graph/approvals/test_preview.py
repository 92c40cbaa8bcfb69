from typing import Any

import pytest

from graph.approvals.preview import LEADS, WORDS, preview_of
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


def test_it_says_who_gains_access() -> None:
    effect = {**EFFECT, "gains_access": ["bob@example.com"]}
    args = {"email": "bob@example.com", "role": "editor"}
    text = preview_of("share_item", args, effect, "zh")
    assert "共享“计划.md”给 bob@example.com，角色：editor" in text
    assert "将获得访问权限：bob@example.com" in text


def test_a_link_says_in_chinese_who_gets_in_and_on_which_terms() -> None:
    effect = {**EFFECT, "gains_access": ["anyone with the link"]}
    args = {"expires_in_hours": 24, "password": "secret words", "max_downloads": 3}
    text = preview_of("create_share_link", args, effect, "zh")
    assert (
        "为“计划.md”创建分享链接，任何拿到链接的人均可访问，角色：viewer，24 小时后失效，设有密码，最多下载 3 次"
        in text
    )
    assert "将获得访问权限：任何拿到链接的人" in text
    assert "secret words" not in text


def test_a_changed_link_says_in_chinese_what_it_has_no_more() -> None:
    text = preview_of("update_share", {"link_id": "1", "role": "editor", "remove": ["password"]}, EFFECT, "zh")
    assert text.startswith("更改任何拿到链接的人对“计划.md”的访问，角色：editor，不再需要密码\n")
    revoked = preview_of("revoke_share", {"email": "bob@example.com"}, EFFECT, "zh")
    assert revoked.startswith("取消 bob@example.com 对“计划.md”的访问权限")


def test_it_shows_the_difference_of_a_text_and_cuts_a_long_one() -> None:
    assert "-30\n+45" in preview_of("patch_file", {}, {**EFFECT, "diff": "-30\n+45"}, "en")
    long = preview_of("patch_file", {}, {**EFFECT, "diff": "x" * 100_000}, "en")
    assert len(long) < 9_000
    assert "goes on" in long


def test_it_counts_what_it_does_not_list() -> None:
    effect = {**EFFECT, "count": 1_000, "items": [ITEM] * 100}
    assert "… and 950 more" in preview_of("trash_item", {}, effect, "en")


def test_without_an_effect_it_is_the_call_itself() -> None:
    assert preview_of("shred", {"x": 1}, None, "zh") == '调用 shred，参数：{"x":1}'


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("tool", ASKED)
def test_every_asked_tool_has_a_preview_even_for_an_empty_effect(tool: str, language: Any) -> None:
    assert preview_of(tool, {}, {}, language)
    assert tool in LEADS


def test_what_cannot_be_undone_says_so() -> None:
    assert "can't be undone" in preview_of("share_item", {}, {**EFFECT, "reversible": False}, "en")


def test_every_word_exists_in_both_languages() -> None:
    assert all(set(texts) == {"en", "zh"} for texts in WORDS.values())


def test_what_an_undo_can_not_take_back_is_named_with_the_reason() -> None:
    item = {"id": "a", "path": "/a.txt", "what": "goes back to its earlier place and name"}
    left = {"summary": "Renamed 'b' to 'c'.", "reason": "changed since by bob@example.com at 2026-11-21 09:30 UTC"}
    effect = {"summary": "Take back 1 change: Moved 'a.txt'.", "count": 1, "items": [item], "left": [left]}
    english = preview_of("undo_changes", {}, effect, "en")
    assert "Stays as it is: Renamed 'b' to 'c' (changed since by bob@example.com at 2026-11-21 09:30 UTC)" in english
    chinese = preview_of("undo_changes", {}, effect, "zh")
    assert "- /a.txt: 回到原来的位置和名称" in chinese
    assert "（此后被 bob@example.com 于 2026-11-21 09:30 UTC 改动过）" in chinese
