"""Routes for bytes: upload and download, streamed both ways."""

from collections.abc import AsyncIterator
from http import HTTPStatus
from typing import Annotated, Final, Literal
from urllib.parse import quote

from fastapi import APIRouter, Header, Query, Request, Response, status
from starlette.requests import ClientDisconnect
from starlette.responses import StreamingResponse

from drive_server.errors import InvalidInputError, TooLargeError
from drive_server.http.access import ActorDep, DriveDep, WriterDep
from drive_server.http.problem import CODES, problem
from drive_server.http.ranges import Span, UnsatisfiableError, matches_etag, parse_range
from drive_server.services.documents import Content
from drive_server.services.nodes import MAX_REF_CHARACTERS
from drive_server.tools.arguments import MAX_NAME_CHARACTERS, MAX_VERSION
from drive_server.tools.results import ItemResult

router = APIRouter(prefix="/files", tags=["drive"])

# What HTTP clients send when nobody chose a type: the file's name tells more.
UNCHOSEN: Final = frozenset(
    {"", "application/octet-stream", "application/x-www-form-urlencoded", "multipart/form-data", "text/plain"}
)
RAW_BODY: Final = {
    "requestBody": {
        "required": True,
        "content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}},
    }
}


@router.post("", name="upload_file", status_code=status.HTTP_201_CREATED, openapi_extra=RAW_BODY)
async def upload(
    request: Request,
    drive: DriveDep,
    actor: WriterDep,
    name: Annotated[str, Query(max_length=MAX_NAME_CHARACTERS)],
    parent_id: Annotated[str, Query(max_length=MAX_REF_CHARACTERS)] = "root",
    on_conflict: Literal["fail", "rename", "replace"] = "fail",
    content_type: Annotated[str, Header()] = "",
    content_length: Annotated[int | None, Header(ge=0)] = None,
) -> ItemResult:
    """Make a file of the request's body, as it is.

    If the name is taken: `fail` answers 409, `rename` takes the next free name, `replace` makes a new version.
    """
    limit = drive.settings.max_upload_bytes
    if content_length is not None and content_length > limit:
        raise TooLargeError("The file is too large.", hint=f"The limit is {limit} bytes.", details={"limit": limit})
    await drive.documents.check_place(actor, parent_id, name)
    given = content_type.partition(";")[0].strip().lower()
    blob = await drive.blobs.put_stream(_body(request), limit)
    outcome = await drive.documents.create_from_blob(
        actor, parent_id, name, blob, None if given in UNCHOSEN else given, on_conflict
    )
    return ItemResult.of(outcome.value)


@router.head("/{file_ref:path}/content", name="download_file", include_in_schema=False)
@router.get("/{file_ref:path}/content", name="download_file", response_class=Response)
async def download(
    request: Request,
    file_ref: str,
    drive: DriveDep,
    actor: ActorDep,
    version: Annotated[int | None, Query(ge=1, le=MAX_VERSION)] = None,
) -> Response:
    """Return the bytes of a file, or of an earlier version of it; single ranges and If-None-Match are honoured."""
    content = await drive.documents.open_content(actor, file_ref, version)
    headers = _headers(content)
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
    return await _answer(request, content, span, headers)


async def _body(request: Request) -> AsyncIterator[bytes]:
    try:
        async for chunk in request.stream():
            yield chunk
    except ClientDisconnect as error:
        # Nobody reads this answer; but an upload that was broken off is no failure of the service.
        raise InvalidInputError("The upload was broken off.", hint="Send it again.") from error


def _range_header(request: Request, etag: str) -> str | None:
    """A range of another content than the client has begun with would not fit to what it has: then all of it."""
    condition = request.headers.get("if-range")
    return request.headers.get("range") if condition in (None, etag) else None


async def _answer(request: Request, content: Content, span: Span | None, headers: dict[str, str]) -> Response:
    part = span or Span(0, content.size)
    headers["Content-Length"] = str(part.end - part.start)
    code = HTTPStatus.OK if span is None else HTTPStatus.PARTIAL_CONTENT
    if span is not None:
        headers["Content-Range"] = f"bytes {part.start}-{part.end - 1}/{content.size}"
    if request.method == "HEAD":
        return Response(None, code, headers)
    return StreamingResponse(await _begun(content.stream(part.start, part.end)), code, headers)


async def _begun(chunks: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """Fetch the first chunk at once: what can't be read has to be an error, not a download that breaks off."""
    first = await anext(chunks, b"")

    async def all_of_them() -> AsyncIterator[bytes]:
        yield first
        async for chunk in chunks:
            yield chunk

    return all_of_them()


def _headers(content: Content) -> dict[str, str]:
    return {
        "Content-Type": content.media_type,
        "Content-Disposition": _disposition(content.item.name),
        "ETag": f'"{content.blob}"',
        "Accept-Ranges": "bytes",
        "Cache-Control": "private, no-cache",
        "X-Content-Type-Options": "nosniff",
        "Content-Security-Policy": "sandbox",
    }


def _disposition(name: str) -> str:
    """Return the header with the name in both forms of RFC 6266: plain for old clients, UTF-8 (RFC 8187) for others."""
    plain = "".join(char if char.isascii() and char.isprintable() and char not in '"\\%' else "_" for char in name)
    return f"attachment; filename=\"{plain}\"; filename*=UTF-8''{quote(name, safe='')}"
