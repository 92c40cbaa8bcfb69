"""Bytes of files: responses, whole or in part, and request bodies."""

from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import aclosing
from datetime import UTC
from email.utils import format_datetime
from http import HTTPStatus
from typing import Annotated, Any, Final, cast

from fastapi import Query, Request, Response
from starlette.requests import ClientDisconnect
from starlette.responses import StreamingResponse

from drive_server.drive import Drive
from drive_server.http.headers.bytes import Span, UnsatisfiableError, matches_etag, parse_range
from drive_server.http.headers.checksums import checked, checksums_of
from drive_server.http.headers.responses import FRAMED_HERE, POLICY
from drive_server.kernel.errors import InvalidInputError, TooLargeError
from drive_server.kernel.escaping.media import attachment
from drive_server.kernel.http.problem import CODES, problem
from drive_server.services.documents.service import Content
from drive_server.services.quota import Room
from drive_server.storage.blobs import Blob

RAW_BODY: Final = {
    "requestBody": {
        "required": True,
        "content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}},
    }
}
# The media type is that of the file, which may be any.
_ANY_BYTES: Final[dict[str, Any]] = {"*/*": {"schema": {"type": "string", "format": "binary"}}}
BYTES: Final[dict[int | str, dict[str, Any]]] = {
    200: {"description": "The bytes of the file, in its own media type.", "content": _ANY_BYTES},
    206: {"description": "Those of the `Range`.", "content": _ANY_BYTES},
    304: {"description": "The bytes are those of the etag in `If-None-Match`."},
}

PDF: Final = "application/pdf"
_PDF_BEGINS: Final = b"%PDF-"

InlineQuery = Annotated[bool, Query(description="Have the browser show a PDF; other files stay downloads.")]
Sender = Callable[[Span, bool], Awaitable[AsyncIterator[bytes]]]


async def content_response(
    request: Request, content: Content, send: Sender | None = None, etag: str | None = None
) -> Response:
    """Answer with the file's bytes; HEAD, single ranges, If-Range and If-None-Match are honoured (RFC 9110).

    `send(span, is_part)` replaces the content's own stream; it is called only if there are bytes to send, and may
    raise. The etag is that of the content, if no other is given.
    """
    headers = _headers(content, etag or content.blob)
    if matches_etag(request.headers.get("if-none-match"), headers["ETag"]):
        return Response(None, HTTPStatus.NOT_MODIFIED, headers)
    try:
        span = parse_range(_range_header(request, headers["ETag"]), content.size)
    except UnsatisfiableError:
        return problem(
            416,
            CODES[416],
            "The range begins after the end of the file.",
            f"The file has {content.size} bytes.",
            {"size": content.size},
            {"Content-Range": f"bytes */{content.size}"},
        )
    return await _answer(request, content, span, headers, send)


async def shown_content(
    request: Request, content: Content, send: Sender | None = None, etag: str | None = None
) -> Response:
    """Answer as `content_response` does, but have the browser show a PDF, also in a frame of our own pages.

    Other content that claims to be one stays a download in a sandbox. The scripts of a PDF never run in our origin.
    """
    response = await content_response(request, content, send, etag)
    if "content-disposition" in response.headers and await _is_pdf(content):
        shown = response.headers["content-disposition"].replace("attachment", "inline", 1)
        response.headers["content-disposition"] = shown
        response.headers[POLICY] = FRAMED_HERE
    return response


async def _is_pdf(content: Content) -> bool:
    if content.media_type != PDF or content.size < len(_PDF_BEGINS):
        return False
    async with aclosing(cast("AsyncGenerator[bytes]", content.stream(0, len(_PDF_BEGINS)))) as chunks:
        return b"".join([chunk async for chunk in chunks]) == _PDF_BEGINS


async def body_of(request: Request) -> AsyncIterator[bytes]:
    """Yield the bytes of the request's body. Raises `InvalidInputError` if it is broken off."""
    try:
        async for chunk in request.stream():
            yield chunk
    except ClientDisconnect as error:
        # Nobody reads this answer; but an upload that was broken off is no failure of the service.
        raise InvalidInputError("The upload was broken off.", hint="Send it again.") from error


def require_upload_fits(drive: Drive, size: int | None) -> None:
    """Raise `TooLargeError` for a declared size, in bytes, that no file may have."""
    limit = drive.settings.max_upload_bytes
    if size is not None and size > limit:
        raise TooLargeError("The file is too large.", hint=f"The limit is {limit} bytes.", details={"limit": limit})


async def store_body(request: Request, drive: Drive, room: Room | None) -> Blob:
    """Store the request's body.

    Raises `TooLargeError`, `QuotaExceededError` if there is no room for it, and `DamagedContentError` if it has another
    checksum than its headers say.
    """
    chunks = checked(body_of(request), checksums_of(request.headers))
    return await drive.blobs.put_stream(room.limited(chunks) if room else chunks, drive.settings.max_upload_bytes)


def _range_header(request: Request, etag: str) -> str | None:
    """Return the Range header; None for other methods than GET, and if the client has begun with another content."""
    condition = request.headers.get("if-range")
    return request.headers.get("range") if request.method == "GET" and condition in (None, etag) else None


async def _answer(
    request: Request, content: Content, span: Span | None, headers: dict[str, str], send: Sender | None
) -> Response:
    part = span or Span(0, content.size)
    headers["Content-Length"] = str(part.end - part.start)
    code = HTTPStatus.OK if span is None else HTTPStatus.PARTIAL_CONTENT
    if span is not None:
        headers["Content-Range"] = f"bytes {part.start}-{part.end - 1}/{content.size}"
    if request.method == "HEAD":
        return Response(None, code, headers)
    chunks = await send(part, span is not None) if send else content.stream(part.start, part.end)
    return StreamingResponse(await _begun(chunks), code, headers)


async def _begun(chunks: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """Fetch the first chunk at once: an unreadable file has to be an error, not a broken download."""
    return _continued([await anext(chunks, b"")], chunks)


async def _continued(begun: list[bytes], chunks: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    yield begun.pop()  # not held until the last one is sent
    async for chunk in chunks:
        yield chunk


def _headers(content: Content, etag: str) -> dict[str, str]:
    return {
        "Content-Type": content.media_type,
        "Content-Disposition": attachment(content.item.name),
        "ETag": f'"{etag}"',
        "Last-Modified": format_datetime(content.modified_at.astimezone(UTC), usegmt=True),
        "Accept-Ranges": "bytes",
        "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'; sandbox",
    }
