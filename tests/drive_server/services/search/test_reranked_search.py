from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from drive_server.connect import open_drive
from tests.drive_server.actors import new_person
from tests.drive_server.knowledge.rerank_server import Script, rerank_server

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Generator

    from drive_server.drive import Drive
    from drive_server.kernel.access import Actor
    from drive_server.kernel.settings import DriveSettings


@pytest.fixture
def server() -> Generator[Script]:
    with rerank_server() as script:
        yield script


@pytest.fixture
async def reranked(drive_settings: DriveSettings, server: Script) -> AsyncIterator[Drive]:
    changed = drive_settings.model_copy(update={"rerank_url": server.url, "rerank_model": "cross"})
    async with open_drive(changed) as drive:
        yield drive


async def fill(drive: Drive, actor: Actor, *texts: str) -> None:
    for number, text in enumerate(texts):
        await drive.documents.create(actor, "root", f"{number}.md", text)
    await drive.ingester.drain()


async def test_a_configured_service_orders_the_passages(reranked: Drive, server: Script) -> None:
    alice = await new_person(reranked.identity, "alice@example.com")
    await fill(reranked, alice, "leave leave leave", "the best of all leave", "something else")
    server.favourite = "something"
    plain = [hit.text for hit in (await reranked.search.semantic(alice, "leave")).items]
    server.favourite = "best"
    page = await reranked.search.semantic(alice, "leave")
    assert [hit.text for hit in page.items] == [plain[1], plain[0]]
    assert page.items[0].text == "the best of all leave"
    assert [hit.score for hit in page.items] == [1, 0.5]


async def test_the_service_orders_the_passages_beside_names_too(reranked: Drive, server: Script) -> None:
    alice = await new_person(reranked.identity, "alice@example.com")
    await fill(reranked, alice, "leave leave leave", "the best of all leave")
    await reranked.documents.create(alice, "root", "leave.md", "soup")
    await reranked.ingester.drain()
    server.favourite = "best"
    named, fitting = await reranked.search.hybrid(alice, "leave", limit=1)
    assert [hit.item.name for hit in named] == ["leave.md"]
    assert [hit.text for hit in fitting.items] == ["the best of all leave"]
    assert "soup" not in server.requests[-1]["documents"]


async def test_what_is_beyond_the_limit_is_judged_too_and_the_limit_holds(reranked: Drive, server: Script) -> None:
    alice = await new_person(reranked.identity, "alice@example.com")
    await fill(reranked, alice, "leave", "leave of absence", "leave days and many other words that are the best")
    page = await reranked.search.semantic(alice, "leave", limit=1)
    assert [hit.text for hit in page.items] == ["leave days and many other words that are the best"]
    assert len(server.requests[0]["documents"]) == 3


async def test_the_service_never_sees_what_the_person_may_not(reranked: Drive, server: Script) -> None:
    alice = await new_person(reranked.identity, "alice@example.com")
    bob = await new_person(reranked.identity, "bob@example.com")
    await fill(reranked, bob, "bob's secret leave")
    await fill(reranked, alice, "leave in summer", "leave in winter", "leave in the trash")
    await reranked.files.trash(alice, "/2.md")
    await reranked.search.semantic(alice, "leave")
    assert sorted(server.requests[0]["documents"]) == ["leave in summer", "leave in winter"]


async def test_searches_for_names_and_by_one_side_are_not_sent_anywhere(reranked: Drive, server: Script) -> None:
    alice = await new_person(reranked.identity, "alice@example.com")
    await fill(reranked, alice, "leave", "leave too")
    await reranked.search.find(alice, "leave")
    await reranked.search.semantic(alice, "leave", mode="words")
    assert server.requests == []


async def test_a_failing_service_leaves_the_order(reranked: Drive, server: Script) -> None:
    alice = await new_person(reranked.identity, "alice@example.com")
    await fill(reranked, alice, "leave leave", "the best of all leave")
    server.status = 500
    page = await reranked.search.semantic(alice, "leave")
    assert [hit.text for hit in page.items] == ["leave leave", "the best of all leave"]
