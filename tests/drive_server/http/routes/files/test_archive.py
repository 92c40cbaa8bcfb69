"""Items as a zip file, made while it is sent."""

from __future__ import annotations

import io
import zipfile
from typing import TYPE_CHECKING

import anyio

from drive_server.kernel.access import Actor
from drive_server.services.files import archives
from drive_server.storage.blobs import BlobStore
from tests.drive_server.http.items import DRIVE, ITEMS, done, file, folder, refused, share

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    import httpx
    import pytest

    from tests.drive_server.http.service import Service

ARCHIVE = f"{DRIVE}/archive"


async def archive(client: httpx.AsyncClient, *ids: str) -> httpx.Response:
    return await client.get(ARCHIVE, params={"ids": list(ids)})


def opened(answer: httpx.Response) -> zipfile.ZipFile:
    assert answer.headers["content-type"] == "application/zip", answer.text
    packed = zipfile.ZipFile(io.BytesIO(answer.content))
    assert packed.testzip() is None
    return packed


async def test_folders_come_whole_with_names_in_utf_8_and_the_times_of_their_files(
    owner_client: httpx.AsyncClient,
) -> None:
    place = await folder(owner_client, "项目 🗂️")
    inner = await folder(owner_client, "تقارير", place["id"])
    await folder(owner_client, "empty", place["id"])
    await file(owner_client, "计划.md", "状态".encode(), inner["id"])
    made = await file(owner_client, "b.png", b"\x89PNG" * 1000, place["id"])

    answer = await archive(owner_client, place["id"])

    packed = opened(answer)
    assert sorted(packed.namelist()) == [
        "项目 🗂️/",
        "项目 🗂️/b.png",
        "项目 🗂️/empty/",
        "项目 🗂️/تقارير/",
        "项目 🗂️/تقارير/计划.md",
    ]
    assert packed.read("项目 🗂️/تقارير/计划.md").decode() == "状态"
    assert "UTF-8''%E9%A1%B9%E7%9B%AE" in answer.headers["content-disposition"]
    year = int(made["updated_at"][:4])
    assert {entry.date_time[0] for entry in packed.infolist()} <= {year, year + 1}
    assert all(entry.flag_bits & 0x800 for entry in packed.infolist())
    again = await archive(owner_client, place["id"])
    assert again.content == answer.content


async def test_several_items_get_numbers_for_one_name_and_what_is_named_twice_is_there_once(
    owner_client: httpx.AsyncClient,
) -> None:
    places = [await folder(owner_client, name) for name in ("A", "B")]
    files = [await file(owner_client, "same.md", place["name"].encode(), place["id"]) for place in places]

    several = opened(await archive(owner_client, files[0]["id"], files[1]["id"], files[0]["id"]))
    assert {name: several.read(name) for name in several.namelist()} == {"same.md": b"A", "same (2).md": b"B"}
    nested = opened(await archive(owner_client, places[0]["id"], files[0]["id"], "/B"))
    assert nested.namelist() == ["A/", "A/same.md", "B/", "B/same.md"]
    whole = opened(await archive(owner_client, "root"))
    assert sorted(whole.namelist()) == ["A/", "A/same.md", "B/", "B/same.md"]
    assert 'filename="Drive.zip"' in (await archive(owner_client, "root")).headers["content-disposition"]


async def test_only_what_the_caller_may_read_is_packed(
    owner_client: httpx.AsyncClient, bobs_client: httpx.AsyncClient
) -> None:
    place = await folder(owner_client, "Team")
    made = await file(owner_client, "a.txt", b"team", place["id"])
    other = await file(owner_client, "secret.txt")
    trashed = await file(owner_client, "old.txt", parent=place["id"])
    done(await owner_client.post(f"{ITEMS}/{trashed['id']}/trash"))

    assert refused(await archive(bobs_client, made["id"])) == (404, "not_found")
    await share(owner_client, place, "bob@example.com", "viewer")
    assert refused(await archive(bobs_client, place["id"], other["id"])) == (404, "not_found")
    assert opened(await archive(bobs_client, place["id"])).namelist() == ["Team/", "Team/a.txt"]
    assert refused(await archive(owner_client, trashed["id"])) == (409, "state_conflict")


async def test_too_many_and_none_are_refused(owner_client: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch) -> None:
    place = await folder(owner_client, "A")
    for name in ("a", "b", "c"):
        await file(owner_client, name, parent=place["id"])
    monkeypatch.setattr(archives, "MAX_ITEMS", 3)

    assert refused(await archive(owner_client, place["id"])) == (413, "too_large")
    assert (await owner_client.get(ARCHIVE)).status_code == 422
    assert (await archive(owner_client, *["x"] * 501)).status_code == 422


async def test_a_member_over_4_gib_is_zip64(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its bytes are not sent here: the header before them tells."""
    member = archives.Member("large.bin", service.drive.clock(), "0" * 64, 5 << 30, is_packed=True)

    async def some(*_: object) -> AsyncIterator[bytes]:
        yield b"\0" * (2 << 20)

    monkeypatch.setattr(BlobStore, "stream", some)
    chunks = service.drive.archives.stream(archives.Archive("a.zip", [member]))
    first = await anext(chunks)
    await chunks.aclose()

    assert first[:4] == b"PK\x03\x04"
    assert first[4] == 45  # the version that is needed to extract it
    assert b"\x01\x00\x10\x00" in first[: 30 + 9 + 40]


async def test_a_client_that_goes_away_stops_it_and_little_is_read_ahead(
    service: Service, owner_client: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(30):
        await file(owner_client, f"{number}.bin", bytes([number]) * 1_000_000)
    read: list[str] = []
    ended = anyio.Event()
    stream = archives.ArchiveService.stream
    bytes_of = BlobStore.stream

    async def counted(self: BlobStore, blob: str, *span: int) -> AsyncIterator[bytes]:
        read.append(blob)
        async for chunk in bytes_of(self, blob, *span):
            yield chunk

    async def watched(self: archives.ArchiveService, chosen: archives.Archive) -> AsyncIterator[bytes]:
        try:
            async for chunk in stream(self, chosen):
                # What does not compress, so that it has to be sent.
                yield chunk.ljust(1 << 20, b"\0")
        finally:
            ended.set()

    monkeypatch.setattr(BlobStore, "stream", counted)
    monkeypatch.setattr(archives.ArchiveService, "stream", watched)
    with anyio.fail_after(30):
        async with service.client() as client, client.stream("GET", ARCHIVE, params={"ids": "root"}) as answer:
            await anext(answer.aiter_bytes(1000))
        await ended.wait()

    assert len(read) < 30


async def test_others_are_answered_while_an_archive_is_made(service: Service, owner_client: httpx.AsyncClient) -> None:
    principal = await service.drive.identity.authenticate(service.token)
    await file(owner_client, "a.bin", b"x" * 2_000_000)
    chosen = await service.drive.archives.choose(Actor(principal), ["root"])
    chunks = service.drive.archives.stream(chosen)
    await anext(chunks)
    assert (await owner_client.get(f"{ITEMS}/root")).status_code == 200
    await chunks.aclose()


async def test_names_that_windows_refuses_are_replaced_and_no_file_is_lost(owner_client: httpx.AsyncClient) -> None:
    top = await folder(owner_client, "CON")
    place = await folder(owner_client, "aux.d", top["id"])
    names = [
        "a*b?.txt",
        "a_b_.txt",
        "A_B_.TXT",
        "CON.txt",
        "minutes: final.txt",
        "dots...",
        "nul.tar.gz",
        "Größe 报告 🎉.txt",
    ]
    for name in names:
        await file(owner_client, name, name.encode(), place["id"])
    await file(owner_client, "x", b"x", (await folder(owner_client, "dots", place["id"]))["id"])

    answer = await archive(owner_client, top["id"])

    packed = opened(answer)
    assert answer.headers["content-disposition"].startswith('attachment; filename="CON_.zip"')
    found = {name.removeprefix("CON_/aux_.d/"): packed.read(name).decode() for name in packed.namelist()}
    del found["CON_/"], found[""]
    assert found == {
        "a_b_ (3).txt": "a*b?.txt",
        "A_B_.TXT": "A_B_.TXT",
        "a_b_ (2).txt": "a_b_.txt",
        "CON_.txt": "CON.txt",
        "minutes_ final.txt": "minutes: final.txt",
        "dots/": "",
        "dots/x": "x",
        "dots (2)": "dots...",
        "nul_.tar.gz": "nul.tar.gz",
        "Größe 报告 🎉.txt": "Größe 报告 🎉.txt",
    }
