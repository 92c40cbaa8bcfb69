"""Routes for visitors with a link and no key: read files, and by an editor's link write them."""

from collections.abc import AsyncIterator, Generator
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime
from typing import Annotated, Final, Literal
from urllib.parse import unquote

from fastapi import APIRouter, Depends, Header, Query, Request, Response, status
from pydantic import BaseModel, ConfigDict, Field

from drive_server.drive import Drive
from drive_server.http.access import DriveDep
from drive_server.http.headers.bytes import Span, chosen_type
from drive_server.http.headers.dates import DateDep
from drive_server.http.items.contents import (
    BYTES,
    RAW_BODY,
    InlineQuery,
    Sender,
    content_response,
    require_upload_fits,
    shown_content,
    store_body,
)
from drive_server.http.items.texts import TEXT_PROBLEMS, PartDep, TextResult, text_of
from drive_server.http.items.thumbnails import PICTURE, SizeQuery, thumbnail_response
from drive_server.http.items.views import has_thumbnail
from drive_server.kernel.access import Actor
from drive_server.kernel.errors import EtagMismatchError, QuotaExceededError
from drive_server.kernel.http.credentials import require_same_origin
from drive_server.mcp.tools.definition.arguments import MAX_NAME_CHARACTERS
from drive_server.models.base import Page
from drive_server.models.items import Item, Kind
from drive_server.services.documents.service import Content
from drive_server.services.quota import Room
from drive_server.services.sharing.link_downloads import Fetch
from drive_server.services.sharing.link_passwords import MAX_CHARACTERS
from drive_server.services.sharing.link_visits import PASS_LASTS, Visit
from drive_server.services.tree.items import MAX_CURSOR_CHARACTERS, MAX_LIMIT

router = APIRouter(prefix="/links/{token}", tags=["links"])

PASS_COOKIE: Final = "drive_link"  # noqa: S105 - its name
MAX_KEY_CHARACTERS: Final = 128


class LinkPassword(BaseModel):
    """The password of a link."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [{"password": "..."}]})

    password: Annotated[str, Field(max_length=MAX_CHARACTERS)]


class LinkItemResult(BaseModel):
    """A file or folder as a visitor sees it. `parent_id` is null for the item of the link itself.

    `is_limited`: the link ends after a number of downloads, and each look into a file is one.
    """

    id: str
    kind: Kind
    name: str
    parent_id: str | None
    etag: str
    size: int
    media_type: str
    version: int
    updated_at: datetime
    modified_at: datetime
    child_count: int | None
    role: str
    has_thumbnail: bool
    is_limited: bool

    @classmethod
    def of(cls, item: Item, visit: Visit) -> "LinkItemResult":
        """Return the item as it is on the wire, without its owner."""
        return cls.model_validate({**dict(item), "has_thumbnail": has_thumbnail(item), "is_limited": visit.is_limited})


class LinkListResult(BaseModel):
    """A page of a folder. `cursor` is null at the end."""

    items: list[LinkItemResult]
    cursor: str | None
    total: int | None

    @classmethod
    def of(cls, page: Page[Item], visit: Visit) -> "LinkListResult":
        """Return the page as it is on the wire."""
        return cls(items=[LinkItemResult.of(item, visit) for item in page.items], cursor=page.cursor, total=page.total)


async def get_visit(
    token: str, request: Request, drive: DriveDep, x_link_password: Annotated[str | None, Header()] = None
) -> Visit:
    """Return the visit of the request: see `LinkVisits.open`. The header is UTF-8, percent-encoded (RFC 3986)."""
    pass_token = request.cookies.get(PASS_COOKIE)
    if pass_token and x_link_password is None:
        require_same_origin(request)
    password = unquote(x_link_password, errors="replace") if x_link_password is not None else None
    return await drive.visits.open(token, address_of(request), password=password, pass_token=pass_token)


VisitDep = Annotated[Visit, Depends(get_visit)]
CursorQuery = Annotated[str | None, Query(max_length=MAX_CURSOR_CHARACTERS)]
LimitQuery = Annotated[int, Query(ge=1, le=MAX_LIMIT)]


@router.post("/pass", operation_id="open_link", status_code=status.HTTP_204_NO_CONTENT)
async def let_in(token: str, typed: LinkPassword, request: Request, response: Response, drive: DriveDep) -> None:
    """Take the link's password; a cookie of this browser stands for it for an hour, also for pictures and frames."""
    require_same_origin(request)
    keep_pass(request, response, token, await drive.visits.pass_for(token, address_of(request), typed.password))


@router.get("", operation_id="get_link")
async def get_shared(drive: DriveDep, visit: VisitDep) -> LinkItemResult:
    """Look at the item of the link."""
    return LinkItemResult.of(await drive.files.get(visit.actor, visit.node_id), visit)


@router.get("/children", operation_id="list_link_children")
async def list_shared(
    drive: DriveDep, visit: VisitDep, limit: LimitQuery = 100, cursor: CursorQuery = None
) -> LinkListResult:
    """List the folder of the link."""
    return await list_below(visit.node_id, drive, visit, limit, cursor)


@router.get("/items/{item_id}", operation_id="get_link_item")
async def get_below(item_id: str, drive: DriveDep, visit: VisitDep) -> LinkItemResult:
    """Look at an item in the folder of the link, at any depth."""
    return LinkItemResult.of(await drive.files.get(visit.actor, item_id), visit)


@router.get("/items/{item_id}/children", operation_id="list_link_item_children")
async def list_below(
    item_id: str, drive: DriveDep, visit: VisitDep, limit: LimitQuery = 100, cursor: CursorQuery = None
) -> LinkListResult:
    """List a folder below that of the link."""
    page = await drive.files.list_folder(visit.actor, item_id, limit=limit, cursor=cursor)
    return LinkListResult.of(page, visit)


@router.head("/items/{item_id}/content", include_in_schema=False)
@router.get("/items/{item_id}/content", operation_id="download_link_file", response_class=Response, responses=BYTES)
async def download(
    item_id: str, request: Request, drive: DriveDep, visit: VisitDep, *, inline: InlineQuery = False
) -> Response:
    """Return the bytes of a file; single ranges and If-None-Match are honoured. It counts as a download.

    Parts that are fetched with ranges belong to the download that the same address has begun.
    """
    content = await drive.documents.open_content(visit.actor, item_id)
    answer = shown_content if inline else content_response
    return await answer(request, content, counted(drive, visit, content, address_of(request)))


@router.get("/items/{item_id}/thumbnail", operation_id="link_thumbnail", response_class=Response, responses=PICTURE)
async def thumbnail(
    item_id: str, request: Request, drive: DriveDep, visit: VisitDep, size: SizeQuery = "256"
) -> Response:
    """Return a picture of an image or of a PDF's first page; 404 for other files. It counts as no download."""
    return await thumbnail_response(request, drive, visit.actor, item_id, size)


@router.get("/items/{item_id}/text", operation_id="show_link_text", responses=TEXT_PROBLEMS)
async def show_text(item_id: str, request: Request, drive: DriveDep, visit: VisitDep, part: PartDep) -> TextResult:
    """Return the text of a file, as `show_text` does. It counts as a download of as much of the file."""
    content = await drive.documents.open_content(visit.actor, item_id)
    shown = await text_of(drive, visit.actor, item_id, part)
    share = content.size * (shown.end - shown.start) // max(1, shown.total_characters)
    await drive.visits.count(Fetch(visit.link_id, content.blob, address_of(request), content.size, share, is_part=True))
    return shown


@router.put("/items/{item_id}/content", operation_id="replace_link_file", openapi_extra=RAW_BODY)
async def replace_content(
    item_id: str,
    request: Request,
    drive: DriveDep,
    visit: VisitDep,
    modified_at: DateDep,
    if_match: Annotated[str | None, Header()] = None,
    content_type: Annotated[str, Header()] = "",
    idempotency_key: Annotated[str | None, Header(max_length=MAX_KEY_CHARACTERS)] = None,
) -> LinkItemResult:
    """Make the request's body the newest version of a file; by an editor's link. `If-Match` takes the item's etag."""
    visit.require_editor()
    etag = if_match.strip().strip('"') if if_match else None
    media_type = chosen_type(content_type)
    with _anonymous_errors():
        await drive.files.get(visit.actor, item_id)
        blob = await store_body(request, drive, await _room(request, drive, visit))
        actor = _with_key(visit, idempotency_key)
        outcome = await drive.documents.replace_from_blob(
            actor, item_id, blob, media_type, if_match=etag, modified_at=modified_at
        )
    return LinkItemResult.of(outcome.value, visit)


@router.post("/files", operation_id="upload_to_link", status_code=status.HTTP_201_CREATED, openapi_extra=RAW_BODY)
async def upload(
    request: Request,
    drive: DriveDep,
    visit: VisitDep,
    modified_at: DateDep,
    name: Annotated[str, Query(max_length=MAX_NAME_CHARACTERS)],
    parent_id: Annotated[str | None, Query(max_length=MAX_KEY_CHARACTERS)] = None,
    on_conflict: Literal["fail", "rename", "replace"] = "fail",
    content_type: Annotated[str, Header()] = "",
    idempotency_key: Annotated[str | None, Header(max_length=MAX_KEY_CHARACTERS)] = None,
) -> LinkItemResult:
    """Make a file of the request's body in the folder, or in one below it; by an editor's link."""
    visit.require_editor()
    folder, actor = parent_id or visit.node_id, _with_key(visit, idempotency_key)
    with _anonymous_errors():
        await drive.documents.check_place(actor, folder, name)
        blob = await store_body(request, drive, await _room(request, drive, visit))
        outcome = await drive.documents.create_from_blob(
            actor, folder, name, blob, chosen_type(content_type), on_conflict, modified_at=modified_at
        )
    return LinkItemResult.of(outcome.value, visit)


def counted(drive: Drive, visit: Visit, content: Content, address: str) -> Sender:
    """Return the function that sends a content by the link, counted as a download."""

    async def send(span: Span, is_part: bool) -> AsyncIterator[bytes]:
        fetch = Fetch(visit.link_id, content.blob, address, content.size, span.end - span.start, is_part)
        await drive.visits.count(fetch)
        return drive.visits.metered(fetch, content.stream(span.start, span.end))

    return send


def keep_pass(request: Request, response: Response, token: str, pass_token: str) -> None:
    """Have the browser keep a pass, for the pages of the link and for its routes."""
    # Lax, not strict: a person comes back to the page from the message that has the link in it.
    for path in (f"/s/{token}", f"/api/links/{token}"):
        response.set_cookie(
            PASS_COOKIE,
            pass_token,
            max_age=int(PASS_LASTS.total_seconds()),
            path=path,
            httponly=True,
            samesite="lax",
            secure=request.url.scheme == "https",
        )


def address_of(request: Request) -> str:
    """Return the address that the request comes from, as far as the HTTP server knows it."""
    return request.client.host if request.client else ""


async def _room(request: Request, drive: Drive, visit: Visit) -> Room:
    """Return the room of the link's owner for the request's body, whose usage stays private."""
    declared = request.headers.get("content-length", "")
    require_upload_fits(drive, int(declared[:18]) if declared.isdecimal() else None)
    return Room(await drive.quota.usage(visit.actor.user_id), is_own=False)


def _with_key(visit: Visit, idempotency_key: str | None) -> Actor:
    """Bind an idempotency key to the link: a visitor can't guess those of its owner's calls."""
    return replace(visit.actor, idempotency_key=f"link {visit.link_id} {idempotency_key}" if idempotency_key else None)


@contextmanager
def _anonymous_errors() -> Generator[None]:
    """Remove from errors the person who changed an item and the usage of its owner."""
    try:
        yield
    except EtagMismatchError as error:
        details = {key: error.details[key] for key in ("id", "etag", "updated_at") if key in error.details}
        raise error.with_details(details) from error
    except QuotaExceededError as error:
        raise QuotaExceededError(
            "There is no room for it where this link leads.", hint="Ask whoever gave you the link to make room."
        ) from error
