"""Plans over real HTTP: the service, its offline model, both languages."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.e2e.person import Person


@pytest.mark.parametrize(
    "message", ["summarise each file in Notes, then the whole", "总结Notes文件夹里的每个文件，再给一个整体总结"]
)
def test_each_file_and_then_the_whole(alice: Person, message: str) -> None:
    notes = alice.folder("Notes")
    for number in range(5):
        alice.upload(f"{number}.md", f"The note number {number} is about the rent.\n", notes["id"])
    with alice.chat(message) as turn:
        turn.finish()
    assert len(turn.of("map_progress")) == 5
    assert "5 of 5 read." in turn.text or "共 5 个文件，已读 5 个。" in turn.text
