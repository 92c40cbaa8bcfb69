"""The routes below `/store`. Every namespace that a client names lies below one that is its person's alone."""

from typing import Annotated, Any, Final

from fastapi import Query
from langgraph.store.base import Item
from pydantic import BaseModel, Field
from starlette.responses import Response
from starlette.status import HTTP_204_NO_CONTENT

from api.assistant import client_prefix
from api.drive import Principal
from api.errors import InvalidRequestError, NotFoundError
from api.http.dependencies import CallerDep, ServiceDep, WriterDep
from api.langgraph.entrance import ClientRouter, Json, answer_json

router = ClientRouter("/store")

OWN_LABELS: Final = len(client_prefix(""))
MAX_LABELS: Final = 16
MAX_CHARACTERS: Final = 256
Labels = Annotated[list[str], Field(max_length=MAX_LABELS)]
Key = Annotated[str, Field(min_length=1, max_length=MAX_CHARACTERS)]


class NewItem(BaseModel):
    """A value to store."""

    namespace: Labels
    key: Key
    value: dict[str, Any]


class ItemName(BaseModel):
    """The name of a value."""

    namespace: Labels = []
    key: Key


class ItemSearch(BaseModel):
    """Which values to list."""

    namespace_prefix: Labels = []
    filter: dict[str, Any] | None = None
    limit: int = Field(default=10, ge=1, le=1000)
    offset: int = Field(default=0, ge=0)


class NamespaceSearch(BaseModel):
    """Which namespaces to list."""

    prefix: Labels | None = None
    suffix: Labels | None = None
    max_depth: int | None = Field(default=None, ge=1, le=MAX_LABELS)
    limit: int = Field(default=100, ge=1, le=1000)
    offset: int = Field(default=0, ge=0)


@router.put("/items")
async def put_item(body: NewItem, caller: WriterDep, service: ServiceDep) -> Response:
    """Store a value, in place of the one of that name."""
    await service.graph.store.aput(_below(caller, body.namespace), body.key, body.value)
    return Response(status_code=HTTP_204_NO_CONTENT)


@router.get("/items")
async def get_item(
    caller: CallerDep,
    service: ServiceDep,
    key: Annotated[str, Query(min_length=1, max_length=MAX_CHARACTERS)],
    namespace: Annotated[list[str] | None, Query(max_length=MAX_LABELS)] = None,
) -> Response:
    """Return a value. A namespace comes with dots, or as repeated labels."""
    labels = [label for one in namespace or [] for label in one.split(".")]
    found = await service.graph.store.aget(_below(caller, labels), key)
    if found is None:
        raise NotFoundError("no_item")
    return answer_json(_view(found))


@router.delete("/items")
async def delete_item(body: ItemName, caller: WriterDep, service: ServiceDep) -> Response:
    """Remove a value; one that is not there is no error."""
    await service.graph.store.adelete(_below(caller, body.namespace), body.key)
    return Response(status_code=HTTP_204_NO_CONTENT)


@router.post("/items/search")
async def search_items(caller: CallerDep, service: ServiceDep, body: ItemSearch | None = None) -> Response:
    """List the values below a namespace."""
    wanted = body or ItemSearch()
    place = _below(caller, wanted.namespace_prefix, may_be_empty=True)
    found = await service.graph.store.asearch(place, filter=wanted.filter, limit=wanted.limit, offset=wanted.offset)
    return answer_json({"items": [_view(item) for item in found]})


@router.post("/namespaces")
async def list_namespaces(caller: CallerDep, service: ServiceDep, body: NamespaceSearch | None = None) -> Response:
    """List the namespaces of the person."""
    wanted = body or NamespaceSearch()
    own = client_prefix(caller.user_id)
    found = await service.graph.store.alist_namespaces(
        prefix=_below(caller, wanted.prefix or [], may_be_empty=True),
        suffix=tuple(wanted.suffix) if wanted.suffix else None,
        max_depth=wanted.max_depth and wanted.max_depth + len(own),
        limit=wanted.limit,
        offset=wanted.offset,
    )
    return answer_json({"namespaces": [[*namespace[len(own) :]] for namespace in found]})


def _below(caller: Principal, labels: list[str], *, may_be_empty: bool = False) -> tuple[str, ...]:
    """Return a namespace below that of the caller. Raises `InvalidRequestError` for labels that can't be used."""
    is_usable = all(label and len(label) <= MAX_CHARACTERS and not set(label) & {".", "\x00"} for label in labels)
    if not is_usable or not (labels or may_be_empty):
        raise InvalidRequestError("bad_namespace")
    return (*client_prefix(caller.user_id), *labels)


def _view(item: Item) -> Json:
    return {
        "namespace": [*item.namespace[OWN_LABELS:]],
        "key": item.key,
        "value": item.value,
        "created_at": item.created_at.isoformat(),
        "updated_at": item.updated_at.isoformat(),
    }
