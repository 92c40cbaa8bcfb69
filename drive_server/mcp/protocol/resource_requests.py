"""Requests about resources: list, read, subscribe (MCP 2025-11-25, server/resources)."""

from base64 import b64encode
from collections.abc import Awaitable, Callable
from typing import Any, Final
from urllib.parse import urlsplit

from mcp.server.lowlevel.helper_types import ReadResourceContents
from mcp.types import (
    BlobResourceContents,
    EmptyResult,
    ListResourcesRequest,
    ListResourcesResult,
    ListResourceTemplatesRequest,
    ListResourceTemplatesResult,
    ReadResourceRequest,
    ReadResourceResult,
    ServerResult,
    SubscribeRequest,
    TextResourceContents,
    UnsubscribeRequest,
)
from pydantic import AnyUrl

from drive_server.kernel.access import Actor
from drive_server.kernel.errors import NotFoundError
from drive_server.mcp.icons import at_address
from drive_server.mcp.protocol.failures import RESOURCE_NOT_FOUND, as_protocol_error
from drive_server.mcp.protocol.pages import Pages, cursor_of
from drive_server.mcp.protocol.sessions import DriveSession
from drive_server.mcp.protocol.subscriptions import Subscriptions
from drive_server.mcp.resources import INDEX, SCHEME, TEMPLATES, Contents, DriveResources
from drive_server.mcp.sdk import SdkServer

PLAIN_TYPE: Final = "text/plain"
BYTES_TYPE: Final = "application/octet-stream"


class ResourceRequests:
    """Answers for the drive's resources, and for those that were added to `server` the way FastMCP has it."""

    def __init__(
        self,
        server: SdkServer,
        resources: DriveResources,
        subscriptions: Subscriptions,
        pages: Pages,
        actor: Callable[[str], Awaitable[Actor]],
    ) -> None:
        self._server = server
        self._resources = resources
        self._subscriptions = subscriptions
        self._pages = pages
        self._actor = actor

    def handlers(self) -> dict[type, Callable[[Any], Awaitable[ServerResult]]]:
        """Return the handler of each kind of request."""
        return {
            ListResourcesRequest: self._list,
            ListResourceTemplatesRequest: self._list_templates,
            ReadResourceRequest: self._read,
            SubscribeRequest: self._subscribe,
            UnsubscribeRequest: self._unsubscribe,
        }

    async def _list(self, request: ListResourcesRequest) -> ServerResult:
        """Recent files, page by page; the others are few, and follow on the last page."""
        with as_protocol_error("resources/list"):
            actor = await self._actor("list_resources")
            shown, cursor = await self._resources.recent(actor, self._pages.size, cursor_of(request))
        if cursor is None:
            shown += [INDEX, *await self._server.list_resources()]
        placed = at_address(shown, self._resources.address)
        return ServerResult(ListResourcesResult(resources=placed, nextCursor=cursor))

    async def _list_templates(self, request: ListResourceTemplatesRequest) -> ServerResult:
        templates = [*TEMPLATES, *await self._server.list_resource_templates()]
        shown, cursor = await self._pages.answer("templates", templates, lambda one: one.uriTemplate, request)
        placed = at_address(shown, self._resources.address)
        return ServerResult(ListResourceTemplatesResult(resourceTemplates=placed, nextCursor=cursor))

    async def _read(self, request: ReadResourceRequest) -> ServerResult:
        uri = str(request.params.uri)
        with as_protocol_error("resources/read", not_found=RESOURCE_NOT_FOUND):
            if self._is_plain(uri):
                read = await self._server.read_resource(uri)
                contents = [_contents(request.params.uri, part) for part in read]
            else:
                contents = await self._resources.read(await self._actor("read_resource"), uri)
        return ServerResult(ReadResourceResult(contents=list(contents)))

    async def _subscribe(self, request: SubscribeRequest) -> ServerResult:
        uri = str(request.params.uri)
        with as_protocol_error("resources/subscribe", not_found=RESOURCE_NOT_FOUND):
            if self._is_plain(uri):
                self._subscriptions.subscribe_plain(self._session, uri)
            else:
                await self._subscriptions.subscribe(self._session, await self._actor("subscribe"), uri)
        return ServerResult(EmptyResult())

    async def _unsubscribe(self, request: UnsubscribeRequest) -> ServerResult:
        self._subscriptions.unsubscribe(self._session, str(request.params.uri))
        return ServerResult(EmptyResult())

    @property
    def _session(self) -> DriveSession:
        session = self._server.get_context().request_context.session
        assert isinstance(session, DriveSession)  # noqa: S101 - the protocol's sessions all are
        return session

    def _is_plain(self, uri: str) -> bool:
        """Return whether it was added the way FastMCP has it. Raises `NotFoundError` for an unknown address."""
        if urlsplit(uri).scheme == SCHEME:
            return False
        if self._server.has_resource(uri):
            return True
        raise NotFoundError("There is no such resource.", hint="List the resources and their templates.")


def _contents(uri: AnyUrl, part: ReadResourceContents) -> Contents:
    if isinstance(part.content, str):
        return TextResourceContents(uri=uri, text=part.content, mimeType=part.mime_type or PLAIN_TYPE, _meta=part.meta)
    data = b64encode(part.content).decode()
    return BlobResourceContents(uri=uri, blob=data, mimeType=part.mime_type or BYTES_TYPE, _meta=part.meta)
