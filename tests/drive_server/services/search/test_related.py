from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from drive_server.kernel.access import Scope
from drive_server.kernel.errors import InvalidInputError, MissingScopeError, NotFoundError, UnsupportedContentError
from drive_server.services.search.service import EXCERPT_CHARACTERS, EXCERPTS, excerpts
from tests.drive_server.actors import with_scopes

if TYPE_CHECKING:
    from drive_server.drive import Drive
    from drive_server.kernel.access import Actor
    from drive_server.models.items import Item

ALICE = "alice@example.com"
LEAVE = "Parents may take sixteen weeks of paid leave after the birth of a child."
LEAVE_ZH = "员工在孩子出生后可以享受十六周的带薪育儿假，期间工资照发。"


async def make(drive: Drive, actor: Actor, name: str, text: str, parent: str = "root") -> Item:
    return (await drive.documents.create(actor, parent, name, text)).value


async def related(drive: Drive, actor: Actor, item: Item, limit: int = 10) -> list[str]:
    return [hit.item.name for hit in (await drive.related.find(actor, item.id, limit=limit)).items]


async def test_what_is_about_the_same_comes_first_each_file_once_and_never_the_file_itself(
    drive: Drive, alice: Actor
) -> None:
    mine = await make(drive, alice, "handbook.md", f"# Leave\n\n{LEAVE}")
    await make(drive, alice, "memo.md", f"{LEAVE} " * 40)
    await make(drive, alice, "soup.md", "The canteen serves tomato soup on Mondays.")
    chinese = await make(drive, alice, "手册.md", LEAVE_ZH)
    await make(drive, alice, "通知.md", f"通知：{LEAVE_ZH}")
    await drive.ingester.drain()
    found = await related(drive, alice, mine)
    assert found[0] == "memo.md"
    assert found.count("memo.md") == 1
    assert "handbook.md" not in found
    assert (await related(drive, alice, chinese))[0] == "通知.md"
    hit = (await drive.related.find(alice, mine.id)).items[0]
    assert "paid leave" in hit.text
    assert hit.score == 1.0


async def test_a_long_file_does_not_fill_the_places_with_itself(drive: Drive, alice: Actor) -> None:
    long = await make(drive, alice, "long.md", "\n\n".join(f"# Part {part}\n\n{LEAVE}" for part in range(60)))
    await make(drive, alice, "short.md", "A child is born: leave for the parents.")
    await drive.ingester.drain()
    assert await related(drive, alice, long, limit=1) == ["short.md"]


async def test_only_what_the_person_may_see_now_is_related(drive: Drive, alice: Actor, bob: Actor) -> None:
    mine = await make(drive, alice, "mine.md", LEAVE)
    folder = (await drive.files.create_folder(bob, "root", "Team")).value
    await make(drive, bob, "theirs.md", LEAVE, folder.id)
    await drive.ingester.drain()
    before = await drive.related.find(alice, mine.id)
    await drive.sharing.share(bob, folder.id, ALICE, "viewer")
    assert await related(drive, alice, mine) == ["theirs.md"]
    await drive.sharing.revoke(bob, folder.id, ALICE)
    assert await drive.related.find(alice, mine.id) == before
    assert before.items == ()


async def test_a_file_that_is_not_there_has_none_and_one_without_text_says_so(
    drive: Drive, alice: Actor, bob: Actor
) -> None:
    picture = (await drive.documents.create(alice, "root", "a.png", b"\x89PNG\r\n\x1a\n\0\0", "image/png")).value
    folder = (await drive.files.create_folder(alice, "root", "F")).value
    for ref, error in (
        (picture.id, UnsupportedContentError),
        (folder.id, InvalidInputError),
        ("0" * 32, NotFoundError),
        ("\x00", NotFoundError),
    ):
        with pytest.raises(error):
            await drive.related.find(alice, ref)
    with pytest.raises(NotFoundError):
        await drive.related.find(bob, picture.id)
    with pytest.raises(MissingScopeError):
        await drive.related.find(with_scopes(alice, Scope.WRITE), picture.id)


@pytest.mark.parametrize("text", ["", "   \n", "🚀", "مرحبا", "a b " * 1000, "好" * 30_000])
async def test_any_text_can_be_asked_about(drive: Drive, alice: Actor, text: str) -> None:
    item = await make(drive, alice, "a.md", text)
    await drive.ingester.drain()
    assert await related(drive, alice, item) == []


@given(st.text(max_size=6000))
def test_excerpts_are_few_short_and_of_the_text(text: str) -> None:
    taken = excerpts(text)
    words = " ".join(text.replace("\0", " ").split())
    assert len(taken) <= EXCERPTS
    assert all(0 < len(part) <= EXCERPT_CHARACTERS and part in words for part in taken)
    assert taken or not words or len(text) > EXCERPT_CHARACTERS
