"""A person who writes Chinese reads the drive in Chinese: changes, cards, what an undo leaves, refusals."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tests.e2e.test_undo_in_chat import say

if TYPE_CHECKING:
    from tests.e2e.person import Person

ENGLISH_SENTENCE = re.compile(r"[A-Za-z]+ [a-z]+ [a-z]+")


def test_changes_and_cards_are_in_chinese(alice: Person) -> None:
    alice.upload("a.txt", "30 days")
    alice.folder("报告")
    renamed, _, _ = say(alice, "把 a.txt 重命名为 c.txt")
    moved, _, _ = say(alice, "把 c.txt 移动到 报告")
    shared, _, cards = say(alice, "把 c.txt 共享给 bob@example.com")

    assert _texts(renamed.seen[-1]) == ["把“a.txt”重命名为“c.txt”。"]
    assert _texts(moved.seen[-1]) == ["把“c.txt”移到了“报告”。"]
    assert _texts(shared.seen[-1]) == ["把“c.txt”共享给了 bob@example.com，角色：查看者；当时此邮箱没有账户。"]
    preview = cards[0]["actions"][0]["preview"]
    assert preview.startswith("把“c.txt”共享给 bob@example.com，角色：查看者。")
    assert "此邮箱在这里没有账户" in preview
    assert not ENGLISH_SENTENCE.search(preview)


def test_what_an_undo_leaves_is_in_chinese(alice: Person) -> None:
    alice.upload("a.txt", "30 days")
    _, thread, _ = say(alice, "把 a.txt 重命名为 c.txt")
    say(alice, "把 c.txt 重命名为 d.txt")
    turn, _, cards = say(alice, "撤销刚才的操作", thread)
    left = f"此后被 {alice.email} 于"
    assert left in cards[0]["actions"][0]["preview"]
    assert left in turn.text
    assert not ENGLISH_SENTENCE.search(turn.text)


def test_a_refusal_of_the_drive_is_in_chinese_without_json(alice: Person) -> None:
    alice.upload("a.txt", "30 days")
    alice.upload("b.txt", "45 days")
    turn, _, _ = say(alice, "把 a.txt 重命名为 b.txt")
    assert "文件夹中已有“b.txt”。" in turn.text
    assert "{" not in turn.text
    assert not ENGLISH_SENTENCE.search(turn.text)


def _texts(done: dict[str, object]) -> list[str]:
    changes = done["changes"]
    assert isinstance(changes, list)
    return [change["text"] for change in changes]
