"""What a visitor with a link looks at without a download: thumbnails, texts, PDFs in a frame."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.drive_server.http.items import done, file, folder, refused
from tests.drive_server.http.routes.files.test_thumbnails import picture
from tests.drive_server.knowledge import samples

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    import httpx

    from tests.drive_server.http.service import Service


@pytest.fixture
async def visitor(service: Service) -> AsyncIterator[httpx.AsyncClient]:
    async with service.client("") as client:
        yield client


async def link(owner: httpx.AsyncClient, item: dict[str, Any], **terms: Any) -> str:
    """Make a link; return where its routes begin."""
    made = done(await owner.post(f"/api/drive/items/{item['id']}/shares", json={"role": "viewer", **terms}))
    return f"/api/links/{made['url'].rpartition('/')[2]}"


async def downloads(owner: httpx.AsyncClient, item: dict[str, Any]) -> int:
    (found,) = done(await owner.get(f"/api/drive/items/{item['id']}/shares"))["shares"]
    return found["downloads"]


async def test_pictures_and_texts_of_what_the_link_leads_to_and_of_nothing_else(
    owner_client: httpx.AsyncClient, visitor: httpx.AsyncClient
) -> None:
    shared = await folder(owner_client, "Shared")
    photo = await file(owner_client, "photo.png", picture("PNG"), shared["id"])
    notes = await file(owner_client, "notes.txt", b"for guests", shared["id"])
    secret = await file(owner_client, "secret.txt", b"mine")
    place = await link(owner_client, shared)
    shown = await visitor.get(f"{place}/items/{photo['id']}/thumbnail", params={"size": 64})
    assert (shown.headers["content-type"], shown.headers["cache-control"]) == ("image/webp", "private, no-cache")
    read = await visitor.get(f"{place}/items/{notes['id']}/text")
    assert done(read)["text"] == "for guests"
    assert "localhost" not in read.text
    for part in ("thumbnail", "text"):
        assert refused(await visitor.get(f"{place}/items/{secret['id']}/{part}")) == (404, "not_found")
    assert refused(await visitor.get(f"{place}/items/{notes['id']}/thumbnail")) == (404, "not_found")


async def test_reading_a_text_counts_as_a_download_once_and_a_thumbnail_as_none(
    owner_client: httpx.AsyncClient, visitor: httpx.AsyncClient
) -> None:
    notes = await file(owner_client, "notes.txt", b"0123456789" * 10)
    place = f"{await link(owner_client, notes, max_downloads=1)}/items/{notes['id']}"
    for offset in (0, 50):
        done(await visitor.get(f"{place}/text", params={"offset": offset, "limit": 50}))
    assert await downloads(owner_client, notes) == 1
    done(await visitor.get(f"{place}/text", params={"limit": 10}))
    assert refused(await visitor.get(f"{place}/text")) == (404, "not_found")
    photo = await file(owner_client, "photo.png", picture("PNG"))
    assert (await visitor.get(f"{await link(owner_client, photo)}/items/{photo['id']}/thumbnail")).is_success
    assert await downloads(owner_client, photo) == 0


async def test_an_editors_link_shows_no_earlier_version(
    owner_client: httpx.AsyncClient, visitor: httpx.AsyncClient
) -> None:
    notes = await file(owner_client, "notes.txt", b"first")
    done(await owner_client.put(f"/api/drive/files/{notes['id']}/content", content=b"second"))
    place = await link(owner_client, notes, role="editor")
    read = done(await visitor.get(f"{place}/items/{notes['id']}/text", params={"version": 1}))
    assert (read["text"], read["version"]) == ("second", 2)


async def test_a_browser_that_gave_the_password_once_shows_pictures_and_frames(
    owner_client: httpx.AsyncClient, visitor: httpx.AsyncClient
) -> None:
    paper = await file(owner_client, "paper.pdf", samples.pdf())
    place = await link(owner_client, paper, password="open sesame")
    shown = f"{place}/items/{paper['id']}/content?inline=true"
    assert refused(await visitor.get(shown)) == (403, "password_required")
    assert refused(await visitor.post(f"{place}/pass", json={"password": "wrong words"})) == (403, "password_required")
    right, elsewhere = {"password": "open sesame"}, {"Sec-Fetch-Site": "cross-site"}
    assert refused(await visitor.post(f"{place}/pass", json=right, headers=elsewhere)) == (403, "forbidden")
    assert (await visitor.post(f"{place}/pass", json=right)).status_code == 204
    framed = await visitor.get(shown)
    assert framed.content == samples.pdf()
    assert framed.headers["x-frame-options"] == "SAMEORIGIN"
