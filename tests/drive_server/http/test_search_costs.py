"""The thread calls, statements, transactions and queries of the index that a search by meaning takes."""

from __future__ import annotations

from operator import gt
from typing import TYPE_CHECKING, Any

import pytest
from lancedb.query import AsyncQueryBase

from tests.drive_server.costs import counting, is_counted
from tests.drive_server.http.service import running

if TYPE_CHECKING:
    import httpx

    from drive_server.kernel.settings import DriveSettings

TEXTS = {
    "leave.txt": "Mothers and fathers may stay at home for twelve weeks with a newborn child.",
    "ports.txt": "The server listens on port 8000.",
    "soup.txt": "The canteen serves soup on Mondays.",
}
MOST = {
    "How long can a mother stay at home with her newborn?": (4, 7, 3, 5),
    "canteen": (4, 9, 3, 3),
    "soup": (4, 9, 3, 3),
}
"""Thread calls, statements, transactions, queries of the index."""


@pytest.mark.parametrize("query", MOST)
async def test_a_search_by_meaning_costs_no_more_than_it_did(
    drive_settings: DriveSettings, monkeypatch: pytest.MonkeyPatch, query: str
) -> None:
    settings = drive_settings.model_copy(update={"embedding_model": "local"})
    asked: list[object] = []
    to_arrow = AsyncQueryBase.to_arrow

    async def counted(self: AsyncQueryBase, **options: Any) -> Any:
        if is_counted():
            asked.append(self)
        return await to_arrow(self, **options)

    monkeypatch.setattr(AsyncQueryBase, "to_arrow", counted)
    with counting(monkeypatch) as counter:
        async with running(settings, before=counter.around) as service, service.client() as client:
            for name, text in TEXTS.items():
                await client.post(f"/api/drive/files?name={name}", content=text.encode())
            await service.drive.ingester.drain()
            await found(client, query)
            asked.clear()
            assert await found(client, query)
    costs = (counter.last.hops, counter.last.statements, counter.last.transactions, len(asked))
    assert not any(map(gt, costs, MOST[query])), costs


@pytest.mark.usefixtures("own_index_process")
async def test_a_search_in_the_process_of_the_index_costs_no_call_between_threads_more(
    drive_settings: DriveSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = drive_settings.model_copy(update={"embedding_model": "local"})
    with counting(monkeypatch) as counter:
        async with running(settings, before=counter.around) as service, service.client() as client:
            for name, text in TEXTS.items():
                await client.post(f"/api/drive/files?name={name}", content=text.encode())
            await service.drive.ingester.drain()
            await found(client, "canteen")
            assert await found(client, "canteen")
    costs = (counter.last.hops, counter.last.statements, counter.last.transactions)
    assert not any(map(gt, costs, MOST["canteen"])), costs


async def found(client: httpx.AsyncClient, query: str) -> list[Any]:
    answer = await client.get("/api/drive/search", params={"q": query, "mode": "hybrid"})
    assert answer.is_success, answer.text
    return answer.json()["hits"]
