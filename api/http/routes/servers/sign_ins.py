"""Signing in to MCP servers: begin, come back with a code, sign out."""

from html import escape
from typing import Annotated, Final

from fastapi import APIRouter, Query, Request
from starlette.responses import HTMLResponse, Response

from api.errors import NotFoundError
from api.http.dependencies import ServiceDep, WriterDep, get_caller, get_writer
from api.http.filtered_route import FilteredRoute, filter_error, filtered_view
from api.http.server_requests import AuthorizationBody
from api.http.server_schemas import AuthorizationView, ServerView, server_view
from api.service import Service
from drive_server.http.pages.layout import Words, page, refused, sentence, words_of
from drive_server.kernel.errors import DriveError, ForbiddenError, UnauthenticatedError
from drive_server.kernel.http.credentials import require_same_origin
from drive_server.kernel.http.languages import language_of
from drive_server.kernel.http.problem import problem_responses
from drive_server.kernel.texts import Texts
from graph.language import Language
from graph.servers.oauth.sign_in import Comeback, OwnClient

CALLBACK: Final = "/mcp-servers/{server_id}/callback"
TEXTS: Final = Texts.beside(__file__)
WORDS: Final[Words] = words_of(TEXTS, "sign_ins")

router = APIRouter(prefix="/mcp-servers", tags=["mcp servers"], route_class=FilteredRoute)
Parameter = Annotated[str, Query(max_length=4_096)]


@router.post("/{server_id}/authorize", responses=problem_responses(403, 404, 409))
async def begin_server_sign_in(
    server_id: str, caller: WriterDep, service: ServiceDep, body: AuthorizationBody | None = None
) -> AuthorizationView:
    """Begin to sign in to a server by OAuth; return the address that you have to open in your browser.

    It leads back to `.../callback` here, within ten minutes. A new sign-in ends an earlier one. 409 `sign_in_failed`,
    whose `reason` says why: `sign_in_unneeded` for a server that wants none, `not_registered` if it needs a
    `client_id`.
    """
    own = OwnClient(body.client_id, body.client_secret) if body and body.client_id else None
    redirect = f"{service.drive.public_address()}/api{CALLBACK.format(server_id=server_id)}"
    return AuthorizationView(url=await service.sign_ins.begin(caller, server_id, redirect, own))


@router.delete("/{server_id}/authorize", responses=problem_responses(403, 404))
async def sign_out_of_server(server_id: str, request: Request, caller: WriterDep, service: ServiceDep) -> ServerView:
    """Sign out of a server: its tokens are deleted, and revoked if its sign-in service can do that."""
    row = await service.sign_ins.sign_out(caller, server_id)
    return server_view(row, service.servers, language_of(request))


@router.get("/{server_id}/callback", include_in_schema=False)
async def come_back(server_id: str, request: Request, service: ServiceDep) -> HTMLResponse:
    """Ask the person who comes back from a sign-in whether they want to finish it.

    A page that another site leads to gets no cookie of the session: the form does.
    """
    del server_id, service
    language = language_of(request)
    return page(language, WORDS["title"][language], f"<p>{sentence(WORDS, language, 'asks')}</p>{_form(language)}")


@router.post("/{server_id}/callback", responses=problem_responses(403, 404, 409), response_model=ServerView)
async def finish_server_sign_in(
    server_id: str,
    request: Request,
    service: ServiceDep,
    state: Parameter,
    code: Parameter = "",
    error: Parameter = "",
    iss: Parameter = "",
) -> Response | ServerView:
    """Finish a sign-in with the parameters that the browser came back with, as the person who began it.

    The `state` counts once. A browser gets a page.
    """
    back, language = Comeback(state=state, code=code, error=error, issuer=iss), language_of(request)
    if "text/html" not in request.headers.get("accept", ""):
        return await _finish(server_id, request, service, back)
    try:
        require_same_origin(request)
        view = filtered_view(await _finish(server_id, request, service, back), service)
    except (UnauthenticatedError, NotFoundError):
        body = f"<p>{sentence(WORDS, language, 'log_in')}</p>{_form(language, 'again')}"
        return page(language, WORDS["log_in_title"][language], body, 401)
    except ForbiddenError:
        return refused(language)
    except DriveError as failure:
        filter_error(failure, service.graph.link_filter().clean)
        text = escape(failure.texts(language)[0])
        return page(language, WORDS["failed_title"][language], f"<p>{text}</p>", failure.status)
    assert isinstance(view, ServerView)  # noqa: S101 - the filter leaves the class
    body = f"<p>{sentence(WORDS, language, 'done', name=view.name)}</p>"
    return page(language, WORDS["done_title"][language], body)


async def _finish(server_id: str, request: Request, service: Service, back: Comeback) -> ServerView:
    caller = await get_writer(await get_caller(request, service))
    row = await service.sign_ins.finish(caller, server_id, back)
    return server_view(row, service.servers, language_of(request))


def _form(language: Language, key: str = "button") -> str:
    return f"<form method='post'><button class='main'>{sentence(WORDS, language, key)}</button></form>"
