"""wsgidav's request server for one call: which resources there are, and where its answers fall short of RFC 4918."""

from collections.abc import Iterable, Iterator
from http import HTTPStatus
from typing import Any, Final
from urllib.parse import quote

from typing_extensions import override
from wsgidav.dav_error import DAVError, PRECONDITION_CODE_PropfindFiniteDepth
from wsgidav.dav_provider import DAVProvider
from wsgidav.request_server import RequestServer

from drive_server.http.dav.call import CALL, DavCall, DavLocation, RefusedError
from drive_server.http.dav.conditions import path_below, require_conditions
from drive_server.http.dav.href import BY_ID, plain, shielded
from drive_server.http.dav.locking import CallLocks
from drive_server.http.dav.places import is_mount_of_share, place_at, rejoin
from drive_server.http.dav.propfind import multistatus
from drive_server.http.dav.resources import FileResource, FolderResource, resource_at

READ_METHODS: Final = ("OPTIONS", "HEAD", "GET", "PROPFIND")
XML: Final = "application/xml; charset=utf-8"


class DriveProvider(DAVProvider):
    """The drive as one caller sees it, for one request."""

    def __init__(self, call: DavCall) -> None:
        super().__init__()
        self.call = call
        self.mount_path = call.mount
        self.share_path = ""
        self.lock_manager = None if call.is_guest else CallLocks(call)
        self.verbose = 0

    @override
    def is_readonly(self) -> bool:  # pyright: ignore[reportIncompatibleMethodOverride] - wsgidav's says False alone
        """Return whether nothing may be changed: by a link."""
        return self.call.is_guest

    @override
    def get_resource_inst(self, path: str | None, environ: Any) -> FileResource | FolderResource | None:
        """Return the resource at the path, None if there is nothing, or if wsgidav asks above the root."""
        if path is None:
            return None
        place = self._by_id(path) if path.startswith(BY_ID) else place_at(self.call, plain(path))
        return resource_at(place, environ) if place is not None else None

    @override
    def ref_url_to_path(self, ref_url: str) -> str:
        """Return a path that leads to the item of a lock."""
        return f"{BY_ID}{ref_url.strip('/')}"

    def resolve_provider(self, path: str) -> tuple[str, "DriveProvider"]:
        """Return this provider: there is no other, which wsgidav asks of its application."""
        del path
        return "", self

    @override
    def custom_request_handler(self, environ: Any, start_response: Any, default_handler: Any) -> Iterable[bytes]:
        """Answer the request: first the rules of RFC 4918 that wsgidav leaves out."""
        require_conditions(self.call, environ)
        method = environ["REQUEST_METHOD"]
        if method in {"PUT", "LOCK"} and not self.call.is_guest and is_mount_of_share(self.call.path):
            self.call.wait(rejoin, self.call, self.call.path)
        if method == "PROPFIND":
            return self._propfind(environ, start_response)
        if method in {"PUT", "DELETE", "PROPPATCH", "LOCK"}:
            self._require_match(environ)
        if method in {"COPY", "MOVE"}:
            self._prepare_destination(environ)
        if method == "OPTIONS":
            return self._options(start_response)
        return default_handler(environ, start_response)

    def _by_id(self, path: str) -> DavLocation | None:
        try:
            item = self.call.wait(self.call.drive.files.get, self.call.actor, path.removeprefix(BY_ID))
        except RefusedError:
            return None
        return DavLocation(item.path, item)

    def _require_match(self, environ: Any) -> None:
        """Raise 412 if the client wants to change an existing item, and there is none (RFC 9110, section 13.1.1)."""
        if "HTTP_IF_MATCH" in environ and place_at(self.call, self.call.path) is None:
            raise DAVError(HTTPStatus.PRECONDITION_FAILED)

    def _prepare_destination(self, environ: Any) -> None:
        """Check the destination, and write it so that wsgidav reads it right, with any characters."""
        address = environ.get("HTTP_DESTINATION")
        if address is None:
            raise DAVError(HTTPStatus.BAD_REQUEST)
        authority = address.partition("://")[2].partition("/")[0] if "://" in address else ""
        path = path_below(self.call.mount, address)
        if path is None or (authority and authority.lower() != environ["HTTP_HOST"].lower()):
            raise DAVError(HTTPStatus.BAD_GATEWAY)
        environ["HTTP_DESTINATION"] = quote(self.call.mount + shielded(path))
        self.call.replaces = environ.get("HTTP_OVERWRITE", "T").upper() == "T"
        self.call.creates = place_at(self.call, path) is None

    def _options(self, start_response: Any) -> Iterable[bytes]:
        place = place_at(self.call, self.call.path)
        methods = [*READ_METHODS]
        if not self.is_readonly():
            methods += ["PUT", "DELETE", "COPY", "MOVE", "MKCOL", "PROPPATCH", "LOCK", "UNLOCK"]
        if place is not None and place.is_folder:
            methods = [method for method in methods if method not in {"GET", "HEAD", "PUT", "MKCOL"}]
        headers = {
            "DAV": "1, 3" if self.is_readonly() else "1, 2, 3",
            "MS-Author-Via": "DAV",
            "Allow": ", ".join(methods),
            "Accept-Ranges": "bytes",
            "Content-Length": "0",
        }
        start_response("200 OK", [*headers.items()])
        return [b""]

    def _propfind(self, environ: Any, start_response: Any) -> Iterator[bytes]:
        depth = environ.get("HTTP_DEPTH", "infinity")
        if depth not in {"0", "1", "infinity"}:
            raise DAVError(HTTPStatus.BAD_REQUEST)
        if depth == "infinity":
            raise DAVError(HTTPStatus.FORBIDDEN, err_condition=PRECONDITION_CODE_PropfindFiniteDepth)
        place = place_at(self.call, self.call.path)
        if place is None:
            raise DAVError(HTTPStatus.NOT_FOUND)
        pieces = multistatus(self.call, environ, place, with_members=depth == "1" and place.is_folder)
        start_response("207 Multi-Status", [("Content-Type", XML)])
        return pieces


def request_server(call: DavCall, environ: dict[str, Any]) -> tuple[RequestServer, dict[str, Any]]:
    """Return wsgidav's server for the request, and the environment that it wants."""
    provider = DriveProvider(call)
    settings: dict[str, Any] = {"mutable_live_props": [], "hotfixes": {}, "add_header_MS_Author_Via": True}
    return RequestServer(provider), environ | {
        CALL: call,
        "wsgidav.provider": provider,
        "wsgidav.app": provider,
        "wsgidav.config": settings,
        "wsgidav.verbose": 0,
        "wsgidav.auth.user_name": call.actor.user_id,
    }
