"""Thumbnails, made in a reader's process."""

from __future__ import annotations

import io
import struct
import zlib
from typing import TYPE_CHECKING, Any

import anyio
from PIL import Image
from reportlab.pdfgen.canvas import Canvas

from drive_server.knowledge.readers.text_source import TextSource
from drive_server.services.documents import thumbnails
from tests.drive_server.http.items import FILES, done, file, folder, refused, share

if TYPE_CHECKING:
    from pathlib import Path

    import httpx
    import pytest

    from tests.drive_server.http.service import Service

from drive_server.knowledge.readers.thumbnail import make_thumbnail


def picture(kind: str, size: tuple[int, int] = (800, 400), mode: str = "RGB", **options: Any) -> bytes:
    written = io.BytesIO()
    Image.new(mode, size, "red").save(written, kind, **options)
    return written.getvalue()


def turned() -> bytes:
    exif = Image.Exif()
    exif[0x0112] = 6
    return picture("JPEG", exif=exif)


def page() -> bytes:
    written = io.BytesIO()
    canvas = Canvas(written, pagesize=(200, 400))
    canvas.drawString(20, 200, "One page")
    canvas.save()
    return written.getvalue()


def bomb() -> bytes:
    """Return a PNG of a few bytes that says it has 10,000,000,000 pixels."""
    header = struct.pack(">IIBBBBB", 100_000, 100_000, 8, 2, 0, 0, 0)
    chunk = b"IHDR" + header
    return b"\x89PNG\r\n\x1a\n" + struct.pack(">I", 13) + chunk + struct.pack(">I", zlib.crc32(chunk))


async def thumbnail(client: httpx.AsyncClient, item: dict[str, Any], size: int = 256, etag: str = "") -> httpx.Response:
    headers = {"If-None-Match": etag} if etag else {}
    return await client.get(f"{FILES}/{item['id']}/thumbnail", params={"size": size}, headers=headers)


async def test_images_and_pdfs_have_one_whose_etag_spares_sending_it_again(owner_client: httpx.AsyncClient) -> None:
    for name, data, expected in (
        ("照片.png", picture("PNG"), (256, 128)),
        ("turned.jpg", turned(), (128, 256)),
        ("clear.webp", picture("WEBP", mode="RGBA"), (256, 128)),
        ("small.gif", picture("GIF", (10, 10)), (10, 10)),
        ("page.pdf", page(), (128, 256)),
    ):
        made = await file(owner_client, name, data)
        assert made["has_thumbnail"]
        answer = await thumbnail(owner_client, made)
        assert answer.headers["content-type"] == "image/webp", (name, answer.text)
        assert answer.headers["cache-control"] == "private, no-cache"
        with Image.open(io.BytesIO(answer.content)) as image:
            assert image.size == expected, name
        unchanged = await thumbnail(owner_client, made, etag=answer.headers["etag"])
        assert (unchanged.status_code, unchanged.content) == (304, b"")
        assert (await thumbnail(owner_client, made, 64)).headers["etag"] != answer.headers["etag"]


async def test_other_files_damaged_ones_and_bombs_have_none(owner_client: httpx.AsyncClient) -> None:
    for name, data in (
        ("a.txt", b"words"),
        ("broken.png", b"\x89PNG\r\n\x1a\nbroken"),
        ("bomb.png", bomb()),
        ("broken.pdf", b"%PDF-1.4 broken"),
        ("script.png", b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n"),
        ("empty.jpg", b""),
        ("cut.jpg", picture("JPEG")[:300]),
    ):
        answer = await thumbnail(owner_client, await file(owner_client, name, data))
        assert refused(answer) == (404, "not_found"), name
    assert refused(await thumbnail(owner_client, await folder(owner_client, "A"))) == (422, "invalid_argument")
    made = await file(owner_client, "b.png", picture("PNG"))
    assert (await thumbnail(owner_client, made, 100_000)).status_code == 422


async def test_one_content_is_drawn_once_a_size_however_many_ask_and_whatever_the_file_is_called(
    owner_client: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs: list[str] = []
    run = TextSource.run

    async def counted(self: TextSource, work: Any, refusal: Any, blob_hash: str, *rest: Any) -> Any:
        runs.append(blob_hash)
        return await run(self, work, refusal, blob_hash, *rest)

    monkeypatch.setattr(TextSource, "run", counted)
    files = [await file(owner_client, name, picture("PNG")) for name in ("a.png", "b.png")]
    broken = await file(owner_client, "c.png", b"no picture")
    async with anyio.create_task_group() as group:
        for item in [*files, broken] * 3:
            group.start_soon(thumbnail, owner_client, item)

    assert len(runs) == 2


async def test_a_new_content_has_another_one_and_only_readers_see_it(
    owner_client: httpx.AsyncClient, bobs_client: httpx.AsyncClient
) -> None:
    made = await file(owner_client, "a.png", picture("PNG"))
    before = await thumbnail(owner_client, made)
    done(await owner_client.put(f"{FILES}/{made['id']}/content", content=picture("PNG", (10, 20))))
    after = await thumbnail(owner_client, made, etag=before.headers["etag"])

    assert after.status_code == 200
    assert refused(await thumbnail(bobs_client, made)) == (404, "not_found")
    await share(owner_client, made, "bob@example.com", "viewer")
    assert (await thumbnail(bobs_client, made)).content == after.content


async def test_nothing_is_drawn_of_a_very_large_file(
    owner_client: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(thumbnails, "MAX_BYTES", 100)
    made = await file(owner_client, "a.png", picture("PNG"))
    assert refused(await thumbnail(owner_client, made)) == (404, "not_found")


async def test_the_cache_has_a_limit(service: Service, owner_client: httpx.AsyncClient) -> None:
    made_by: Any = service.drive.thumbnails
    made_by._limit = 1000
    for number in range(4):
        made = await file(owner_client, f"{number}.png", picture("PNG", (100 + number, 50)))
        assert (await thumbnail(owner_client, made)).status_code == 200
    assert len(made_by._cache) < 4
    assert made_by._size <= 1000


def test_a_page_of_absurd_size_is_no_picture(tmp_path: Path) -> None:
    written = io.BytesIO()
    canvas = Canvas(written, pagesize=(1e9, 1e9))
    canvas.showPage()
    canvas.save()
    (tmp_path / "a").write_bytes(written.getvalue())
    assert make_thumbnail(256, tmp_path / "a", "", "").state == "failed"
