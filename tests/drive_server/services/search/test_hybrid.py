"""Names and passages found together, as the page's search does."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from drive_server.kernel.access import Scope
from drive_server.kernel.errors import MissingScopeError
from drive_server.services.search.service import SearchService
from tests.drive_server.actors import with_scopes
from tests.drive_server.services.search.test_service import LEAVE, KnowledgeIndexWithDiary, make, make_folder, names

if TYPE_CHECKING:
    from drive_server.drive import Drive
    from drive_server.kernel.access import Actor


async def test_names_and_passages_are_found_together_and_the_index_is_asked_once(drive: Drive, alice: Actor) -> None:
    folder = await make_folder(drive, alice, "Parental leave")
    await make(drive, alice, "handbook.md", LEAVE)
    await make(drive, alice, "leave.md", "The canteen serves soup.")
    await drive.ingester.drain()
    diary = KnowledgeIndexWithDiary(drive)
    search = SearchService(drive.database, diary)  # type: ignore[arg-type] # the part of the index that search uses
    named, fitting = await search.hybrid(alice, "parental leave")
    assert [hit.item.id for hit in named] == [folder.id]
    assert names(fitting) == ["handbook.md"]
    assert len(diary.asked) == 1
    by_name = (await search.find(alice, "parental leave", limit=5)).items[: len(named)]
    assert [hit.item.id for hit in by_name] == [hit.item.id for hit in named]


async def test_no_more_names_than_half_of_the_hits_come_first(drive: Drive, alice: Actor) -> None:
    for number in range(5):
        await make(drive, alice, f"leave {number}.md", "The canteen serves soup.")
    await drive.ingester.drain()
    for limit, most in ((1, 1), (2, 1), (4, 2), (20, 5)):
        named, _ = await drive.search.hybrid(alice, "leave", limit=limit)
        assert len(named) == most


async def test_a_slip_in_a_name_is_forgiven_unless_a_text_has_the_very_words(drive: Drive, alice: Actor) -> None:
    await make(drive, alice, "handbook.md", LEAVE)
    await drive.ingester.drain()
    named, _ = await drive.search.hybrid(alice, "hanbdook")
    assert [hit.item.name for hit in named] == ["handbook.md"]
    await make(drive, alice, "slips.md", "Nobody writes hanbdook.")
    await drive.ingester.drain()
    named, fitting = await drive.search.hybrid(alice, "hanbdook")
    assert (list(named), names(fitting)) == ([], ["slips.md"])


async def test_names_and_passages_of_others_are_not_found_together(drive: Drive, alice: Actor, bob: Actor) -> None:
    await make(drive, alice, "leave.md", LEAVE)
    await drive.ingester.drain()
    named, fitting = await drive.search.hybrid(bob, "leave")
    assert (list(named), names(fitting)) == ([], [])
    with pytest.raises(MissingScopeError):
        await drive.search.hybrid(with_scopes(alice, Scope.WRITE), "leave")
