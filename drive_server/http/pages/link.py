"""The addresses that links and download addresses are: `/s/{token}` for people, `/d/{token}` for whatever fetches."""

from typing import Annotated, Final

from fastapi import APIRouter, Query, Request
from starlette.responses import RedirectResponse, Response

from drive_server.drive import Drive
from drive_server.errors import (
    ForbiddenError,
    InvalidInputError,
    NotFoundError,
    PasswordRequiredError,
    RateLimitError,
)
from drive_server.http.access import DriveDep, require_same_origin
from drive_server.http.contents import content_response
from drive_server.http.pages.forms import read_form
from drive_server.http.pages.layout import LANGUAGE_FIELD, language_of, refused
from drive_server.http.pages.link_texts import LinkPage
from drive_server.http.routes.links import PASS_COOKIE, address_of
from drive_server.services.sharing.link_visits import PASS_LASTS, Visit
from drive_server.services.tree.items import MAX_CURSOR_CHARACTERS

PAGE_SIZE: Final = 200
MAX_ITEM_CHARACTERS: Final = 64

router = APIRouter(include_in_schema=False)


@router.get("/s/{token}")
async def show(
    token: str,
    request: Request,
    drive: DriveDep,
    item: Annotated[str | None, Query(max_length=MAX_ITEM_CHARACTERS)] = None,
    cursor: Annotated[str | None, Query(max_length=MAX_CURSOR_CHARACTERS)] = None,
) -> Response:
    """Show what a link leads to, or a folder or file below it; ask for the password first if there is one."""
    view = _view(request, token)
    try:
        visit = await drive.visits.open(token, address_of(request), pass_token=request.cookies.get(PASS_COOKIE))
        return await _shown(drive, view, visit, item or visit.node_id, cursor)
    except PasswordRequiredError:
        return view.locked()
    except (NotFoundError, InvalidInputError):
        return view.gone()


@router.post("/s/{token}")
async def unlock(token: str, request: Request, drive: DriveDep) -> Response:
    """Take the password that a person typed; a cookie remembers for an hour that it was right."""
    view = _view(request, token)
    try:
        require_same_origin(request)
        password = "".join((await read_form(request)).get("password", []))
        pass_token = await drive.visits.pass_for(token, address_of(request), password)
    except PasswordRequiredError:
        return view.locked("wrong")
    except RateLimitError as error:
        response = view.locked("wait", error.status)
        response.headers["Retry-After"] = str(error.details["retry_after_seconds"])
        return response
    except NotFoundError:
        return view.gone()
    except ForbiddenError:
        return refused(view.language)
    return _let_in(request, token, pass_token)


@router.head("/d/{token}")
@router.get("/d/{token}")
async def fetch(token: str, request: Request, drive: DriveDep) -> Response:
    """Return the bytes behind a download address; single ranges and If-None-Match are honoured."""
    return await content_response(request, await drive.downloads.open(token))


async def _shown(drive: Drive, view: LinkPage, visit: Visit, item_id: str, cursor: str | None) -> Response:
    found = await drive.files.get(visit.actor, item_id)
    if found.kind == "file":
        return view.file(found)
    return view.folder(found, await drive.files.list_folder(visit.actor, item_id, limit=PAGE_SIZE, cursor=cursor))


def _let_in(request: Request, token: str, pass_token: str) -> Response:
    query = f"?{request.url.query}" if request.url.query else ""
    response = RedirectResponse(f"{request.url.path}{query}", 303)
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
    return response


def _view(request: Request, token: str) -> LinkPage:
    return LinkPage(language_of(request), token, chosen=LANGUAGE_FIELD in request.query_params)
