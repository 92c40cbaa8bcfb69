"""Pages on which a file opens at a passage, for people who follow a citation: `/f/ID?version=3&start=120&end=480`."""

from dataclasses import dataclass
from html import escape
from typing import Annotated, Final
from urllib.parse import quote

from fastapi import APIRouter, Query, Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from drive_server.drive import Drive
from drive_server.http.access import DriveDep, principal_of_request
from drive_server.http.items.contents import PDF, shown_content
from drive_server.http.logins import open_session
from drive_server.http.pages.forms import log_in_form, read_form
from drive_server.http.pages.layout import TEXTS, Words, page, refused, sentence, words_of
from drive_server.kernel.access import Actor
from drive_server.kernel.errors import (
    DriveError,
    ForbiddenError,
    InvalidInputError,
    NotFoundError,
    RateLimitError,
    StateConflictError,
    TooLargeError,
    UnauthenticatedError,
    UnavailableError,
    UnsupportedContentError,
)
from drive_server.kernel.http.credentials import require_same_origin
from drive_server.kernel.http.languages import language_of
from drive_server.kernel.messages import Language
from drive_server.knowledge.text.place import SourceRange, parse_place
from drive_server.mcp.tools.definition.arguments import MAX_INTEGER, MAX_VERSION
from drive_server.models.contents import TextRange
from drive_server.services.text.addresses import PAGE, Passage
from drive_server.services.tree.names import display_name

MAX_MARKED: Final = 50_000
AROUND: Final = 20_000
"""Characters that are shown before and after the passage."""

WORDS: Final[Words] = words_of(TEXTS, "passage")


@dataclass(frozen=True, slots=True)
class PassagePage:
    """The page in one language for one passage: `found` is the marked text, `around` the text that is shown."""

    language: Language
    found: TextRange
    around: TextRange
    is_marked: bool

    def response(self) -> HTMLResponse:
        """Return the page."""
        item = self.found.item
        links = [*self._pdf(), self._link("download", self._download())]
        if self.found.version != item.version:
            links.append(self._link("newest", f"{PAGE}/{quote(item.id, safe='')}"))
        body = (
            f"<p class='small'><bdi>{escape(display_name(item.path))}</bdi></p>{self._version()}"
            f"<p>{' '.join(links)}</p><p class='small'>{sentence(WORDS, self.language, 'extracted')}</p>"
            f"<pre class='text' dir='auto'>\n{self._text()}</pre>"
        )
        return page(self.language, display_name(item.name), body)

    def _text(self) -> str:
        text, offset = self.around.text, self.around.start
        begin, end = self.found.start - offset, self.found.end - offset
        cut = ("" if offset == 0 else "… ", "" if self.around.end == self.around.total_characters else " …")
        if not self.is_marked:
            return f"{cut[0]}{escape(text)}{cut[1]}"
        mark = f"<mark id='{escape(self._passage.anchor)}' tabindex='-1' autofocus>{escape(text[begin:end])}</mark>"
        return f"{cut[0]}{escape(text[:begin])}{mark}{escape(text[end:])}{cut[1]}"

    def _version(self) -> str:
        newest, version, place = self.found.item.version, self.found.version, self._place()
        if version != newest:
            line = sentence(WORDS, self.language, "older", version=str(version), newest=str(newest))
            return f"<p class='notice'>{line}{f' · {place}' if place else ''}</p>"
        line = sentence(WORDS, self.language, "version", version=str(version))
        return f"<p>{line}{f' · {place}' if place else ''}</p>"

    def _place(self) -> str:
        place = parse_place(self.found.place) if self.is_marked else None
        return place_in_words(self.language, place) if place else ""

    @property
    def _passage(self) -> Passage:
        found = self.found
        return Passage(found.item.id, found.version, found.start, found.end, found.place)

    def _pdf(self) -> list[str]:
        if self.found.item.media_type != PDF:
            return []
        place = parse_place(self.found.place)
        fragment = f"#page={place.first}" if place and place.kind == "page" and self.is_marked else ""
        address = f"{PAGE}/{quote(self.found.item.id, safe='')}/document{self._earlier()}{fragment}"
        return [self._link("pdf", address)]

    def _download(self) -> str:
        return f"/api/drive/files/{quote(self.found.item.id, safe='')}/content{self._earlier()}"

    def _earlier(self) -> str:
        """Return the query of an earlier version: viewers get the newest only without a number."""
        return "" if self.found.version == self.found.item.version else f"?version={self.found.version}"

    def _link(self, key: str, address: str) -> str:
        return f"<a class='button' href='{escape(address)}'>{sentence(WORDS, self.language, key)}</a>"


def place_in_words(language: Language, place: SourceRange) -> str:
    """Return a place as HTML in the words of a language: `page 2`."""
    if place.columns:
        cells = f"{place.columns[0]}{place.first}:{place.columns[1]}{place.last}"
        return sentence(WORDS, language, "sheet", name=display_name(place.name), at=cells)
    return sentence(WORDS, language, place.kind, at=str(place).partition("=")[2])


def problem_page(language: Language, key: str, status: int, instead: str = "") -> HTMLResponse:
    """Say why the file does not open; `key` names the sentence, `instead` is the address of its newest version."""
    link = (
        f"<p><a class='button' href='{escape(instead)}'>{sentence(WORDS, language, 'newest')}</a></p>"
        if instead
        else ""
    )
    return page(language, WORDS[f"{key}_title"][language], f"<p>{sentence(WORDS, language, key)}</p>{link}", status)


router = APIRouter(include_in_schema=False)

Version = Annotated[int | None, Query(ge=1, le=MAX_VERSION)]
Offset = Annotated[int | None, Query(ge=0, le=MAX_INTEGER)]


@router.get(f"{PAGE}/{{file_id}}")
async def open_passage(
    request: Request, file_id: str, drive: DriveDep, version: Version = None, start: Offset = None, end: Offset = None
) -> Response:
    """Show the text of a version with the passage marked and scrolled to; ask who is there first."""
    try:
        actor = Actor(await principal_of_request(drive, request), tool="open_passage")
    except UnauthenticatedError:
        return _log_in_page(request)
    try:
        found = await _passage(drive, actor, file_id, version, start, end)
        around = await _around(drive, actor, found)
    except DriveError as error:
        return _problem(request, error)
    drive.recents.note_read(actor, found.item.id)
    return PassagePage(language_of(request), found, around, is_marked=start is not None).response()


@router.post(f"{PAGE}/{{file_id}}")
async def log_in(
    request: Request, file_id: str, drive: DriveDep, version: Version = None, start: Offset = None, end: Offset = None
) -> Response:
    """Let the person in, and go on to the passage."""
    response = RedirectResponse(f"{request.url.path}?{request.url.query}", 303)
    try:
        require_same_origin(request)
        token = "".join((await read_form(request)).get("token", []))
        principal = await open_session(drive, request, response, token)
    except ForbiddenError:
        return refused(language_of(request))
    except (RateLimitError, UnavailableError, UnauthenticatedError) as error:
        return _log_in_page(request, error)
    # A form drops the fragment of the page's address, by which the browser would scroll to the passage.
    try:
        found = await _passage(drive, Actor(principal), file_id, version, start, end)
    except DriveError:
        return response
    if start is not None:
        passage = Passage(found.item.id, found.version, found.start, found.end, found.place)
        response.headers["location"] = passage.address("")
    return response


@router.get(f"{PAGE}/{{file_id}}/document")
async def open_document(request: Request, file_id: str, drive: DriveDep, version: Version = None) -> Response:
    """Show a PDF in the browser, which opens it at the page that the address names; other files are downloaded."""
    try:
        actor = Actor(await principal_of_request(drive, request), tool="open_document")
        content = await drive.documents.open_content(actor, file_id, version)
    except UnauthenticatedError:
        return _log_in_page(request)
    except DriveError as error:
        return _problem(request, error)
    return await shown_content(request, content)


async def _passage(
    drive: Drive, actor: Actor, file_id: str, version: int | None, start: int | None, end: int | None
) -> TextRange:
    return await drive.documents.read_text(actor, file_id, start=start or 0, end=end, limit=MAX_MARKED, version=version)


async def _around(drive: Drive, actor: Actor, found: TextRange) -> TextRange:
    begin = max(0, found.start - AROUND)
    return await drive.documents.read_text(
        actor, found.item.id, start=begin, end=found.end + AROUND, limit=MAX_MARKED + 2 * AROUND, version=found.version
    )


def _problem(request: Request, error: DriveError) -> HTMLResponse:
    language = language_of(request)
    if isinstance(error, ForbiddenError):
        return problem_page(language, "forbidden", error.status, request.url.path)
    if isinstance(error, UnsupportedContentError | TooLargeError):
        return problem_page(language, "no_text", error.status)
    if isinstance(error, NotFoundError | StateConflictError | InvalidInputError):
        return problem_page(language, "gone", 404)
    raise error


def _log_in_page(request: Request, error: DriveError | None = None) -> HTMLResponse:
    language = language_of(request)
    key = {"rate_limited": "wait", "unavailable": "unavailable"}.get(error.code, "wrong_token") if error else ""
    status = error.status if error else 401
    response = page(language, WORDS["log_in_title"][language], log_in_form(language, key), status)
    if isinstance(error, RateLimitError):
        response.headers["Retry-After"] = str(error.details["retry_after_seconds"])
    return response
