"""Downloads whose clients take nothing: each holds little of the file, whether by a link or by a key."""

from __future__ import annotations

import tracemalloc
from typing import TYPE_CHECKING

import pytest
from starlette.requests import Request
from starlette.responses import StreamingResponse

from drive_server.http.items.contents import content_response
from drive_server.services.sharing.link_downloads import Fetch

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from drive_server.drive import Drive
    from drive_server.http.headers.bytes import Span
    from drive_server.kernel.access import Actor

DOWNLOADS = 100
SIZE = 5_000_000
MAX_HELD = 150_000
"""Bytes a download: two chunks, and what the response itself takes."""


@pytest.mark.parametrize("by_link", [True, False])
async def test_a_hundred_unread_downloads_hold_little_each(drive: Drive, alice: Actor, *, by_link: bool) -> None:
    outcome = await drive.documents.create(alice, "root", "large.txt", "x" * SIZE)
    content = await drive.documents.open_content(alice, outcome.value.id)

    async def metered(span: Span, is_part: bool) -> AsyncIterator[bytes]:
        fetch = Fetch("link", content.blob, "127.0.0.1", content.size, span.end - span.start, is_part)
        return drive.visits.metered(fetch, content.stream(span.start, span.end))

    bodies: list[AsyncIterator[str | bytes | memoryview]] = []
    held: list[str | bytes | memoryview] = []
    tracemalloc.start()
    try:
        for _ in range(DOWNLOADS):
            request = Request({"type": "http", "method": "GET", "headers": []})
            response = await content_response(request, content, metered if by_link else None)
            assert isinstance(response, StreamingResponse)
            body = aiter(response.body_iterator)
            await anext(body)
            held.append(await anext(body))
            bodies.append(body)
        growth, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert len(held) == DOWNLOADS
    assert growth < DOWNLOADS * MAX_HELD
