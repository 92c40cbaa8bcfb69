"""The pages of links, `/s/{token}` for people, and download addresses, `/d/{token}` for programs."""

from dataclasses import dataclass
from html import escape
from typing import Annotated, Final
from urllib.parse import quote, urlencode

from fastapi import APIRouter, Query, Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from drive_server.drive import Drive
from drive_server.http.access import DriveDep
from drive_server.http.headers.responses import REVALIDATED
from drive_server.http.items.contents import content_response
from drive_server.http.pages.forms import read_form
from drive_server.http.pages.layout import TEXTS, Words, notice, page, refused, sentence, words_of
from drive_server.http.routes.links import PASS_COOKIE, address_of, keep_pass
from drive_server.kernel.errors import (
    ForbiddenError,
    InvalidInputError,
    NotFoundError,
    PasswordRequiredError,
    RateLimitError,
)
from drive_server.kernel.http.credentials import require_same_origin
from drive_server.kernel.http.languages import LANGUAGE_FIELD, language_of
from drive_server.kernel.messages import Language
from drive_server.models.base import Page
from drive_server.models.items import Item
from drive_server.services.sharing.link_visits import Visit
from drive_server.services.tree.items import MAX_CURSOR_CHARACTERS
from drive_server.services.tree.names import display_name

PAGE_SIZE: Final = 200
MAX_ITEM_CHARACTERS: Final = 64
UNITS: Final = ("B", "KB", "MB", "GB", "TB")
UNIT: Final = 1000
WORDS: Final[Words] = words_of(TEXTS, "link")


@dataclass(frozen=True, slots=True)
class LinkPage:
    """The page of one link in one language. `chosen`: the language is named in the address, and stays there."""

    language: Language
    token: str
    chosen: bool = False

    def file(self, item: Item) -> HTMLResponse:
        """Show a file."""
        body = (
            f"<h2>{_named(item)}</h2>{self._up(item)}<p class='small'>{_size(item.size)}</p>"
            f"<p>{self._download(item)}</p>"
        )
        return self._page("title", body)

    def folder(self, item: Item, listed: Page[Item]) -> HTMLResponse:
        """Show a folder with a part of its items."""
        rows = "".join(f"<li>{self._entry(entry)}</li>" for entry in listed.items)
        listing = f"<ul class='items'>{rows}</ul>" if rows else f"<p>{self._say('empty')}</p>"
        count = f"<p class='small'>{self._say('count', count=f'{listed.total or 0:,}')}</p>"
        more = self._link("more", item.id, listed.cursor) if listed.cursor else ""
        return self._page("title", f"<h2>{_named(item)}</h2>{self._up(item)}{count}{listing}{more}")

    def locked(self, key: str = "", status: int = 403) -> HTMLResponse:
        """Ask for the password."""
        form = (
            f"{notice(WORDS, self.language, key)}<form method='post'><label>{self._say('password')}"
            "<input type='password' name='password' required autocomplete='off' maxlength='128' autofocus></label>"
            f"<button class='main'>{self._say('open')}</button></form>"
        )
        return self._page("locked_title", form, status)

    def gone(self) -> HTMLResponse:
        """Say that there is no such link, or none any more."""
        return self._page("gone_title", f"<p>{self._say('gone')}</p>", 404)

    def _entry(self, item: Item) -> str:
        if item.kind == "folder":
            return f"<span>📁 <a href='{self._address(item.id)}'>{_named(item)}</a></span>"
        size = f"<span class='small'>{_size(item.size)}</span>"
        return f"<span>📄 {_named(item)}</span>{size}{self._download(item)}"

    def _download(self, item: Item) -> str:
        address = f"/api/links/{quote(self.token)}/items/{quote(item.id)}/content"
        return f"<a class='button' href='{address}' download>{self._say('download')}</a>"

    def _up(self, item: Item) -> str:
        return f"<p>{self._link('up', item.parent_id)}</p>" if item.parent_id else ""

    def _link(self, key: str, item_id: str, cursor: str | None = None) -> str:
        return f"<a href='{self._address(item_id, cursor)}'>{self._say(key)}</a>"

    def _address(self, item_id: str, cursor: str | None = None) -> str:
        query = {"item": item_id, "cursor": cursor, LANGUAGE_FIELD: self.language if self.chosen else None}
        return escape(f"/s/{quote(self.token)}?{urlencode({key: value for key, value in query.items() if value})}")

    def _page(self, title: str, body: str, status: int = 200) -> HTMLResponse:
        return page(self.language, WORDS[title][self.language], body, status)

    def _say(self, key: str, **parts: str) -> str:
        return sentence(WORDS, self.language, key, **parts)


def _named(item: Item) -> str:
    """Return the name, isolated: one that is written from right to left turns nothing around it."""
    return f"<bdi>{escape(display_name(item.name))}</bdi>"


def _size(size: int) -> str:
    amount, unit = float(size), 0
    while amount >= UNIT and unit < len(UNITS) - 1:
        amount, unit = amount / UNIT, unit + 1
    return f"{amount:.0f} {UNITS[unit]}" if unit == 0 else f"{amount:.1f} {UNITS[unit]}"


router = APIRouter(include_in_schema=False)


@router.get("/s/{token}")
async def show(
    token: str,
    request: Request,
    drive: DriveDep,
    item: Annotated[str | None, Query(max_length=MAX_ITEM_CHARACTERS)] = None,
    cursor: Annotated[str | None, Query(max_length=MAX_CURSOR_CHARACTERS)] = None,
) -> Response:
    """Show the item of a link, or a folder or file below it; ask for the password first if there is one."""
    view = _view(request, token)
    try:
        visit = await drive.visits.open(token, address_of(request), pass_token=request.cookies.get(PASS_COOKIE))
        return await _response(drive, view, visit, item or visit.node_id, cursor)
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
    response = await content_response(request, await drive.downloads.open(token))
    response.headers["Cache-Control"] = REVALIDATED
    return response


async def _response(drive: Drive, view: LinkPage, visit: Visit, item_id: str, cursor: str | None) -> Response:
    found = await drive.files.get(visit.actor, item_id)
    if found.kind == "file":
        return view.file(found)
    return view.folder(found, await drive.files.list_folder(visit.actor, item_id, limit=PAGE_SIZE, cursor=cursor))


def _let_in(request: Request, token: str, pass_token: str) -> Response:
    query = f"?{request.url.query}" if request.url.query else ""
    response = RedirectResponse(f"{request.url.path}{query}", 303)
    keep_pass(request, response, token, pass_token)
    return response


def _view(request: Request, token: str) -> LinkPage:
    return LinkPage(language_of(request), token, chosen=LANGUAGE_FIELD in request.query_params)
