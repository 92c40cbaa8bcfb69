"""Whether a file can be searched, and if not, why and what to do."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, get_args

from drive_server.http.routes.index_states import CODES
from drive_server.knowledge.index.health import IndexHealth
from drive_server.knowledge.text.elements import ExtractionState
from tests.drive_server.http.items import ITEMS, done, file, folder, refused

if TYPE_CHECKING:
    import httpx
    import pytest

    from tests.drive_server.http.service import Service


async def state(client: httpx.AsyncClient, item: dict[str, Any], language: str = "en") -> dict[str, Any]:
    return done(await client.get(f"{ITEMS}/{item['id']}/index", params={"lang": language}))


async def test_a_file_says_whether_it_can_be_searched_in_the_persons_language(
    service: Service, owner_client: httpx.AsyncClient
) -> None:
    notes = await file(owner_client, "notes.txt")
    data = await file(owner_client, "data.bin", bytes(range(256)))
    await service.drive.ingester.drain()
    ready = await state(owner_client, notes)
    assert (ready["state"], ready["index_state"], ready["counts"]) == ("indexed", "ready", None)
    skipped, chinese = await state(owner_client, data), await state(owner_client, data, "zh")
    assert (skipped["state"], skipped["index_state"]) == ("skipped", "unsupported")
    assert skipped["sentence"] == "The file has no text that is read."
    assert chinese["sentence"] == "文件中没有可读取的文字。"
    assert skipped["hint"].isascii()
    assert not chinese["hint"].isascii()
    assert skipped["reason"] == "The file is not text, or its encoding is not known."
    assert chinese["reason"] == "该文件不是文本，或其编码未知。"
    assert skipped["omissions"] == []


async def test_a_folder_counts_what_is_below_it_and_nothing_else(
    service: Service, owner_client: httpx.AsyncClient
) -> None:
    top = await folder(owner_client, "Top")
    below = await folder(owner_client, "Below", top["id"])
    await file(owner_client, "a.txt", b"a", below["id"])
    await file(owner_client, "b.bin", bytes(range(256)), top["id"])
    await file(owner_client, "beside.txt")
    await service.drive.ingester.drain()
    told = await state(owner_client, top)
    assert (told["kind"], told["state"]) == ("folder", None)
    assert told["counts"] == {"pending": 0, "indexing": 0, "indexed": 1, "skipped": 1, "failed": 0}


async def test_strangers_are_told_of_no_file(owner_client: httpx.AsyncClient, bobs_client: httpx.AsyncClient) -> None:
    notes = await file(owner_client, "notes.txt")
    assert refused(await bobs_client.get(f"{ITEMS}/{notes['id']}/index")) == (404, "not_found")
    assert (await owner_client.get(f"{ITEMS}/%2Fnotes.txt/index")).is_success
    assert refused(await owner_client.get(f"{ITEMS}/%2Fnotes.txt%2Findex")) == (404, "not_found")


def test_every_state_has_its_sentence() -> None:
    assert {*CODES} == {"pending", "indexing", *get_args(ExtractionState)}


async def test_the_note_of_a_search_is_in_the_language_of_the_person(
    owner_client: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(IndexHealth, "is_incomplete", True)
    for mode in ("hybrid", "text"):
        found = await owner_client.get("/api/drive/search", params={"q": "anything", "mode": mode, "lang": "zh"})
        note = found.json()["note"]
        assert "正在重建" in note
        assert "index" not in note
