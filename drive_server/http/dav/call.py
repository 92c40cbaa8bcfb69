"""One request of WebDAV: who makes it, below which address, and how its thread reaches the services."""

import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import datetime
from http import HTTPStatus
from typing import Any, Final, TypeVar

import anyio
from fastapi import Request
from wsgidav.dav_error import DAVError

from drive_server.drive import Drive
from drive_server.kernel.access import Actor
from drive_server.kernel.errors import DriveError, EtagMismatchError, StateConflictError
from drive_server.kernel.telemetry.security import record_if_refused
from drive_server.models.items import Item
from drive_server.services.quota import Room
from drive_server.services.sharing.link_visits import Visit
from drive_server.services.webdav.locks import DavLockConflictError, LocksAround

logger = logging.getLogger(__name__)

T = TypeVar("T")
CALL: Final = "drive.call"
"""The key of the call in the WSGI environment."""


@dataclass(frozen=True, slots=True)
class DavLocation:
    """A path, without a slash at its end but for the root's, and the item there; None for a folder that is no item."""

    path: str
    item: Item | None

    @property
    def is_folder(self) -> bool:
        """Return whether it is a collection."""
        return self.item is None or self.item.kind == "folder"


class RefusedError(DAVError):
    """A refusal of the drive, with its code and sentences."""

    def __init__(self, error: DriveError) -> None:
        super().__init__(status_of(error))
        self.error = error


@dataclass(slots=True, eq=False)
class DavCall:
    """A call in its thread. `mount` is the address of the root, without a slash at its end; `path` is below it.

    `visit` is a guest's. `began` is when the request came. `rooms` and `locks` are those of items as the call began,
    by their ids; each is used once, as they may change.

    `replaces`: a copy or a move may put the item at its destination into the trash; `creates`: nothing is there.
    `refusal` is the last one of a service or of a lock; `headers` are for the answer.
    """

    drive: Drive
    actor: Actor
    request: Request
    mount: str
    path: str
    began: datetime
    visit: Visit | None = None
    places: dict[str, DavLocation | None] = field(default_factory=dict[str, DavLocation | None])
    rooms: dict[str, Room] = field(default_factory=dict[str, Room])
    locks: dict[str, LocksAround] = field(default_factory=dict[str, LocksAround])
    replaces: bool = True
    creates: bool = False
    refusal: DAVError | None = None
    headers: dict[str, str] = field(default_factory=dict[str, str])

    @property
    def is_guest(self) -> bool:
        """Return whether somebody came by a link."""
        return self.visit is not None

    @property
    def top(self) -> str:
        """The id of the item at the mount."""
        return self.visit.node_id if self.visit else "root"

    def wait(self, work: Callable[..., Awaitable[T]], *arguments: Any, **named: Any) -> T:
        """Return the result of work that the event loop does for this thread. Raises errors as `DAVError` only."""

        async def done() -> T:
            return await work(*arguments, **named)

        try:
            return anyio.from_thread.run(done)
        except DriveError as error:
            if error.status >= HTTPStatus.INTERNAL_SERVER_ERROR:
                logger.exception("%s failed: %s", self.request.method, error.message)
            record_if_refused(error.code)
            self.refusal = RefusedError(error)
            raise self.refusal from error
        except (DAVError, DavLockConflictError):
            raise
        except Exception as error:
            logger.exception("%s failed.", self.request.method)
            raise DAVError(HTTPStatus.INTERNAL_SERVER_ERROR) from error


def status_of(error: DriveError) -> int:
    """Return the status by which a WebDAV client understands the error."""
    if isinstance(error, EtagMismatchError):
        return HTTPStatus.PRECONDITION_FAILED
    if type(error) is StateConflictError:
        # For WebDAV a conflict is a folder that is missing (RFC 4918, section 9.7.1).
        return HTTPStatus.FORBIDDEN
    return error.status
