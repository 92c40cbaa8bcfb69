"""The common part of all routes here: the key in the header of LangGraph's SDKs, filtered errors, answers as JSON."""

from collections.abc import Callable, Collection, Coroutine, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final
from uuid import UUID

import orjson
from fastapi import APIRouter, Request
from fastapi.routing import APIRoute
from starlette.responses import Response
from starlette.routing import Match
from starlette.types import Scope

from api.errors import InvalidRequestError
from api.http.filtered_route import filter_error
from drive_server.kernel.errors import DriveError

if TYPE_CHECKING:
    from api.service import Service

KEY_HEADER: Final = b"x-api-key"
TOTAL_HEADER: Final = "X-Pagination-Total"
Json = dict[str, Any]


class ClientRoute(APIRoute):
    """A route that takes the key in `x-api-key` too, and filters the sentences of its errors."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Return the handler, with both around it."""
        handle = super().get_route_handler()

        async def answer(request: Request) -> Response:
            _name_bearer(request)
            try:
                return await handle(Request(request.scope, request.receive))
            except DriveError as error:
                service: Service = request.app.state.service
                filter_error(error, service.graph.link_filter().clean)
                raise

        return answer


class ClientRouter(APIRouter):
    """A router of clients' routes below a prefix. It compares no other address with each of them."""

    def __init__(self, prefix: str) -> None:
        super().__init__(prefix=prefix, route_class=ClientRoute, include_in_schema=False)
        self._beginning = prefix.partition("{")[0]

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        """Return whether, and how, a route takes the request."""
        path: str = scope["path"]
        if not path.removeprefix(scope.get("root_path", "")).startswith(self._beginning):
            return Match.NONE, {}
        return super().matches(scope)


def _name_bearer(request: Request) -> None:
    """Put a key of the SDKs' own header where all doors of the drive look for it; a bearer token goes before it."""
    headers: list[tuple[bytes, bytes]] = request.scope["headers"]
    given = dict(headers)
    if not given.get(b"authorization") and (key := given.get(KEY_HEADER)):
        others = [header for header in headers if header[0] != b"authorization"]
        request.scope["headers"] = [*others, (b"authorization", b"Bearer " + key)]


def answer_json(value: Any, *, status: int = 200, total: int | None = None, **headers: str) -> Response:
    """Return a value as JSON; `total` is the number of all entries of which the value has some."""
    named = {name.replace("_", "-"): text for name, text in headers.items()}
    if total is not None:
        named[TOTAL_HEADER] = str(total)
    body = orjson.dumps(value, default=str, option=orjson.OPT_NON_STR_KEYS)
    return Response(body, status, named, media_type="application/json")


def selected(view: Json, wanted: Collection[str] | None) -> Json:
    """Return the fields of a view that a client selects; None: all of them."""
    return view if wanted is None else {name: view[name] for name in view if name in wanted}


def contains(whole: Any, part: Any) -> bool:
    """Say whether a value has all of another one, as JSON containment: objects by their keys, lists by their items."""
    if isinstance(part, Mapping):
        return isinstance(whole, Mapping) and all(name in whole and contains(whole[name], part[name]) for name in part)
    if isinstance(part, list):
        return isinstance(whole, Sequence) and all(any(contains(one, item) for one in whole) for item in part)
    return bool(whole == part)


def as_uuid(text: str) -> str:
    """Return an id in its usual form. Raises `InvalidRequestError` for a text that is no UUID."""
    try:
        return str(UUID(text))
    except ValueError as error:
        raise InvalidRequestError("not_a_uuid") from error
