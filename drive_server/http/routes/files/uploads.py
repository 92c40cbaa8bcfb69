"""Routes for resumable uploads: the protocol tus 1.0.0 (https://tus.io/protocols/resumable-upload)."""

import re
from collections.abc import AsyncIterator
from contextlib import suppress
from email.utils import format_datetime
from http import HTTPStatus
from typing import Any, Final

import anyio
from fastapi import Request, Response
from fastapi.routing import APIRoute
from starlette.datastructures import MutableHeaders
from starlette.requests import ClientDisconnect
from starlette.types import Message, Receive, Scope, Send

from drive_server.drive import Drive
from drive_server.http.access import ActorDep, DriveDep, require_still_proved
from drive_server.http.headers.tus import (
    ALGORITHMS,
    EXPOSED,
    EXTENSIONS,
    SENT,
    VERSION,
    content_length,
    has_bytes,
    new_upload,
    offset_of,
    require_bytes,
    require_version,
    upload_length,
    verifier_of,
)
from drive_server.http.items.routers import DriveRouter
from drive_server.http.items.writes import CHANGE_ID
from drive_server.kernel.access import Actor
from drive_server.kernel.errors import DriveError, InvalidInputError
from drive_server.kernel.http.problem import problem_responses
from drive_server.kernel.messages import Message as ErrorMessage
from drive_server.services.uploads.service import Upload

SILENCE_SECONDS: Final = 60
"""A silent request ends after so long: until then nobody else can continue the upload."""
OVERRIDE: Final = "x-http-method-override"


class TusRoute(APIRoute):
    """A route whose answers, the refusals too, say which protocol this is, and may be read by any page."""

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer as any route does, with these headers."""

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers["Tus-Resumable"] = headers["Tus-Version"] = VERSION
                headers["Access-Control-Allow-Origin"] = "*"
                headers["Access-Control-Expose-Headers"] = EXPOSED
            await send(message)

        await super().handle(scope, receive, send_with_headers)


def _headers(**described: str) -> dict[str, Any]:
    """Return the headers of a request for the description; every request names the version of the protocol."""
    version: dict[str, Any] = {
        "name": "Tus-Resumable",
        "required": True,
        "schema": {"type": "string", "pattern": rf"^{re.escape(VERSION)}$", "example": VERSION},
    }
    optional = [
        {"name": name.replace("_", "-"), "description": text, "schema": {"type": "string"}}
        for name, text in described.items()
    ]
    return {"parameters": [{**one, "in": "header"} for one in (version, *optional)]}


OFFSET: Final = "The number of bytes that the drive has."
LENGTH: Final = "The number of bytes of the whole."
CHECKSUM: Final = "The algorithm (sha1, sha256), a blank, and the checksum of the body in base64."
BEGIN: Final = _headers(
    Upload_Length=LENGTH,
    Upload_Defer_Length="1: the length comes later.",
    Upload_Metadata="Names, each with its value in base64: filename, filetype, parent_id, on_conflict, mtime.",
    Upload_Checksum=CHECKSUM,
)
SEND: Final = _headers(Upload_Offset=OFFSET, Upload_Length=LENGTH, Upload_Checksum=CHECKSUM)
"""The body is not described: generators of clients don't know its type, application/offset+octet-stream."""

router = DriveRouter(
    prefix="/uploads",
    tags=["uploads"],
    route_class=TusRoute,
    responses=problem_responses(400, 403, 404, 409, 412, 413, 415, 423, 429, 460, 507),
)


@router.options("", include_in_schema=False)
@router.options("/{upload_id}", include_in_schema=False)
async def describe(drive: DriveDep) -> Response:
    """Describe the supported protocol; needs no key."""
    headers = {
        "Tus-Extension": EXTENSIONS,
        "Tus-Max-Size": str(drive.settings.max_upload_bytes),
        "Tus-Checksum-Algorithm": ",".join(ALGORITHMS),
        "Access-Control-Allow-Methods": "OPTIONS, POST, HEAD, PATCH, DELETE",
        "Access-Control-Allow-Headers": SENT,
        "Access-Control-Max-Age": "86400",
    }
    return Response(None, HTTPStatus.NO_CONTENT, headers)


@router.post(
    "",
    name="upload_file",
    operation_id="begin_upload",
    status_code=HTTPStatus.CREATED,
    response_class=Response,
    openapi_extra=BEGIN,
)
@router.post("/", name="upload_file", include_in_schema=False)
async def create(request: Request, drive: DriveDep, actor: ActorDep) -> Response:
    """Begin an upload, with its first bytes if the body has any; `Location` says where it goes on.

    `Upload-Metadata` has `filename`, and may have `filetype`, `parent_id` and `on_conflict` (fail, rename, replace),
    and the content's own date: `mtime` in seconds since 1970, or `lastModified` in milliseconds.
    """
    require_version(request.headers)
    new = new_upload(request.headers)
    upload = await drive.uploads.create(actor, new)
    if has_bytes(request.headers) or new.length == 0:
        upload = await _with_first_bytes(request, drive, actor, upload)
    return _answer(request, upload, HTTPStatus.CREATED, {"Location": _below(request, "uploads") + upload.id})


@router.head(
    "/{upload_id}", name="upload_file", operation_id="get_upload", response_class=Response, openapi_extra=_headers()
)
async def head(request: Request, upload_id: str, drive: DriveDep, actor: ActorDep) -> Response:
    """Return the offset of the upload."""
    require_version(request.headers)
    upload = await drive.uploads.resume(actor, upload_id)
    headers: dict[str, str] = {}
    if upload.length is None:
        headers["Upload-Defer-Length"] = "1"
    else:
        headers["Upload-Length"] = str(upload.length)
    if upload.metadata:
        headers["Upload-Metadata"] = upload.metadata
    return _answer(request, upload, HTTPStatus.OK, headers)


@router.patch(
    "/{upload_id}",
    name="upload_file",
    operation_id="send_upload",
    status_code=HTTPStatus.NO_CONTENT,
    response_class=Response,
    openapi_extra=SEND,
)
async def send(request: Request, upload_id: str, drive: DriveDep, actor: ActorDep) -> Response:
    """Append the body at `Upload-Offset`; with the last byte the upload becomes a file, named in `Upload-Item-Id`."""
    require_version(request.headers)
    require_bytes(request.headers)
    return _answer(request, await _receive(request, drive, actor, upload_id, offset_of(request.headers)))


@router.delete(
    "/{upload_id}",
    name="upload_file",
    operation_id="end_upload",
    status_code=HTTPStatus.NO_CONTENT,
    response_class=Response,
    openapi_extra=_headers(),
)
async def terminate(request: Request, upload_id: str, drive: DriveDep, actor: ActorDep) -> Response:
    """End the upload. The file that it became, if it did, stays."""
    require_version(request.headers)
    await drive.uploads.terminate(actor, upload_id)
    return Response(None, HTTPStatus.NO_CONTENT)


@router.post("/{upload_id}", name="upload_file", include_in_schema=False)
async def overridden(request: Request, upload_id: str, drive: DriveDep, actor: ActorDep) -> Response:
    """Carry out the method in X-HTTP-Method-Override, for clients whose surroundings let only GET and POST through."""
    routes = {"HEAD": head, "PATCH": send, "DELETE": terminate}
    method = request.headers.get(OVERRIDE, "").upper()
    if method not in routes:
        raise InvalidInputError(ErrorMessage.of("tus_method"))
    return await routes[method](request, upload_id, drive, actor)


async def _with_first_bytes(request: Request, drive: Drive, actor: Actor, upload: Upload) -> Upload:
    """Receive the first bytes, and end the upload if they are refused: its client has no address of it."""
    try:
        return await _receive(request, drive, actor, upload.id, 0)
    except BaseException:
        with anyio.CancelScope(shield=True), suppress(DriveError):
            await drive.uploads.terminate(actor, upload.id)
        raise


async def _receive(request: Request, drive: Drive, actor: Actor, upload_id: str, offset: int) -> Upload:
    return await drive.uploads.receive(
        actor,
        upload_id,
        offset,
        _body_of_caller(request, drive),
        length=upload_length(request.headers),
        announced=content_length(request.headers) or 0,
        verifier=verifier_of(request.headers),
    )


async def _body_of_caller(request: Request, drive: Drive) -> AsyncIterator[bytes]:
    """Yield the body; raise at its end, before it becomes a file, if the caller's key ended meanwhile."""
    async for chunk in _body(request):
        yield chunk
    await require_still_proved(drive, request)


async def _body(request: Request) -> AsyncIterator[bytes]:
    chunks = aiter(request.stream())
    try:
        while True:
            with anyio.fail_after(SILENCE_SECONDS):
                chunk = await anext(chunks, None)
            if chunk is None:
                return
            yield chunk
    except (ClientDisconnect, TimeoutError) as error:
        # Nobody reads this answer; but an upload that was broken off is no failure of the service.
        raise InvalidInputError("The request was broken off.", hint="Go on where the upload stopped.") from error


def _answer(
    request: Request, upload: Upload, code: HTTPStatus = HTTPStatus.NO_CONTENT, more: dict[str, str] | None = None
) -> Response:
    headers = {"Upload-Offset": str(upload.offset), **(more or {})}
    if upload.item_id is None:
        headers["Upload-Expires"] = format_datetime(upload.expires_at, usegmt=True)
    else:
        headers["Upload-Item-Id"] = upload.item_id
        headers["Content-Location"] = _below(request, "items") + upload.item_id
    if upload.change_id is not None:
        headers[CHANGE_ID] = str(upload.change_id)
    return Response(None, code, headers)


def _below(request: Request, folder: str) -> str:
    """Return a reference to a route below this folder of routes, relative to the request's own address."""
    beyond = request.url.path.rpartition("/uploads")[2].count("/")
    return "../" * beyond + f"{folder}/"
