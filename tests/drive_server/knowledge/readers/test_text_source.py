from __future__ import annotations

from typing import TYPE_CHECKING

import anyio
import anyio.to_thread
import pytest

from drive_server.kernel.errors import StorageFailureError
from drive_server.knowledge.readers import text_source as text_module
from drive_server.knowledge.readers.text_source import TextSource
from drive_server.storage.blobs import open_blobs
from tests.drive_server.knowledge import samples

if TYPE_CHECKING:
    from pathlib import Path

    from drive_server.knowledge.text.elements import Extraction
    from drive_server.storage.blobs import BlobStore


@pytest.fixture
async def blobs(tmp_path: Path) -> BlobStore:
    return await open_blobs((tmp_path / "blobs").as_uri())


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the files that are really read in threads, in order."""
    names: list[str] = []
    extract = text_module.extract

    def noting(path: Path, name: str, media_type: str) -> Extraction:
        names.append(name)
        return extract(path, name, media_type)

    monkeypatch.setattr(text_module, "extract", noting)
    return names


async def test_the_same_content_is_read_once(blobs: BlobStore, read: list[str]) -> None:
    source = TextSource(blobs)
    blob = await blobs.put_bytes(samples.LEAVE.encode())
    first = await source.text(blob.hash, "leave.txt", "text/plain")
    assert first.text == samples.LEAVE
    assert await source.text(blob.hash, "renamed.txt", "text/plain") is first
    assert read == ["leave.txt"]


async def test_a_name_of_another_kind_is_read_in_its_way(blobs: BlobStore) -> None:
    source = TextSource(blobs)
    blob = await blobs.put_bytes(b"# Title\n\ntext")
    assert (await source.text(blob.hash, "a.md", "")).elements[0].kind == "title"
    assert (await source.text(blob.hash, "a.py", "")).elements[0].kind == "code"


async def test_two_at_once_share_the_work(blobs: BlobStore, read: list[str]) -> None:
    source = TextSource(blobs)
    blob = await blobs.put_bytes(samples.LEAVE.encode())
    async with anyio.create_task_group() as group:
        for _ in range(5):
            group.start_soon(source.text, blob.hash, "leave.txt", "")
    assert read == ["leave.txt"]


async def test_the_cache_is_bounded_and_forgets_the_oldest(blobs: BlobStore, read: list[str]) -> None:
    source = TextSource(blobs, cached_characters=25_000)
    hashes = [(await blobs.put_bytes(f"{number}".encode() * 10_000)).hash for number in range(3)]
    for blob_hash in (*hashes, hashes[2], hashes[1], hashes[0]):
        await source.text(blob_hash, f"{hashes.index(blob_hash)}.txt", "")
    assert read == ["0.txt", "1.txt", "2.txt", "0.txt"]


async def test_a_text_over_the_bound_is_given_but_not_kept(blobs: BlobStore, read: list[str]) -> None:
    source = TextSource(blobs, cached_characters=5_000)
    blob = await blobs.put_bytes(b"x" * 10_000)
    for _ in range(2):
        assert len((await source.text(blob.hash, "x.txt", "")).text) == 10_000
    assert len(read) == 2


async def test_documents_are_read_in_another_process_and_come_back_whole(blobs: BlobStore) -> None:
    source = TextSource(blobs)
    blob = await blobs.put_bytes(samples.pdf())
    extraction = await source.text(blob.hash, "leave.pdf", "application/pdf")
    assert extraction.state == "ready"
    assert samples.LEAVE in extraction.text
    assert extraction.elements[0].page == 1


async def test_a_pdf_by_another_name_is_read_in_another_process_too(
    blobs: BlobStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(anyio.to_thread, "run_sync", samples.refuse_to_extract(anyio.to_thread.run_sync))
    blob = await blobs.put_bytes(samples.pdf())
    assert samples.LEAVE in (await TextSource(blobs).text(blob.hash, "leave.txt", "text/plain")).text


async def test_a_missing_blob_is_an_error(blobs: BlobStore) -> None:
    with pytest.raises(StorageFailureError):
        await TextSource(blobs).text("0" * 64, "a.txt", "")
