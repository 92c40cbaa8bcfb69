"""Files and folders of the drive as wsgidav's resources; every change of them goes through the services."""
# pyright: reportIncompatibleMethodOverride=false, reportIncompatibleVariableOverride=false
# wsgidav's base classes have no types: from methods that only raise, the checker takes it that they never return.

from collections.abc import Iterator
from http import HTTPStatus
from typing import Any

from typing_extensions import override
from wsgidav.dav_error import DAVError
from wsgidav.dav_provider import DAVCollection, DAVNonCollection

from drive_server.http.dav.call import DavLocation
from drive_server.http.dav.described import Described
from drive_server.http.dav.href import plain, shielded
from drive_server.http.dav.places import is_mount_of_share, names_in, path_of, place_at
from drive_server.http.dav.writing import ACCEPTED, Target, Writer
from drive_server.http.headers.dates import date_of_headers
from drive_server.models.items import Item, OnConflict
from drive_server.services.saves.recognition import Destination


class Resource(Described):
    """The common part of files and folders: how they are deleted, moved and copied."""

    def handle_delete(self) -> bool:
        """Move the item to the trash; leave a share whose own place among the shared things this is."""
        tokens = self.environ["wsgidav.ifLockTokenList"]
        user = self.call.actor.user_id
        item = self.item
        self.manager.check_write_permission(url=self.get_ref_url(), depth="infinity", token_list=tokens, principal=user)
        call, began = self.call, self.call.began
        if item.role != "owner" and is_mount_of_share(self.place.path):
            call.wait(call.drive.sharing.revoke, call.actor, item.id, call.actor.principal.email)
            return True
        is_gone = call.wait(call.drive.saves.delete, call.actor, item.id, began=began, if_match=self.condition())
        if is_gone:
            call.wait(call.drive.dav_locks.release_tree, item.id)
        return True

    def handle_move(self, dest_path: str) -> bool:
        """Move the item, as one change; an item there goes to the trash, or gets the content of a draft."""
        item, (folder, name) = self.item, self._destination(dest_path)
        options: dict[str, Any] = {"if_match": self.condition(), "on_conflict": self._choice()}
        if folder.item is not None:
            self._move(item, Destination(folder.item.id, name), options)
            return True
        if self.place.path.rpartition("/")[0] != folder.path:
            raise DAVError(HTTPStatus.FORBIDDEN)
        if self.call.creates:  # to replace something, one has to see the folder
            options["on_conflict"] = "fail"
        self.call.wait(self.call.drive.files.rename, self.call.actor, item.id, name, **options)
        self.call.wait(self.call.drive.dav_locks.release_tree, item.id)
        self.note_time(item)
        return True

    def handle_copy(self, dest_path: str, *, depth_infinity: bool) -> bool:
        """Copy the item with its properties; an item at the destination goes to the trash."""
        item, (folder, name) = self.item, self._destination(dest_path)
        if folder.item is None:
            raise DAVError(HTTPStatus.FORBIDDEN)
        outcome = self.call.wait(
            self.call.drive.files.copy,
            self.call.actor,
            item.id,
            folder.item.id,
            name,
            on_conflict=self._choice(),
            replaces_any_kind=True,
            with_contents=depth_infinity,
        )
        self.call.wait(self.call.drive.dav_properties.copy, item.id, outcome.value.id)
        self.note_time(outcome.value)
        return True

    def note_time(self, item: Item) -> None:
        """Give a file that was moved or copied the date that the client says (ownCloud's `X-OC-Mtime`)."""
        date = date_of_headers(self.call.request.headers)
        if date is not None and item.kind == "file":
            self.call.wait(self.call.drive.files.set_date, self.call.actor, item.id, date)
            self.call.headers |= ACCEPTED

    def condition(self) -> str | None:
        """Return the etag that the item must still have when it is changed, if the client set a condition."""
        is_conditional = any(header in self.environ for header in ("HTTP_IF_MATCH", "HTTP_IF_UNMODIFIED_SINCE"))
        return self.item.etag if is_conditional else None

    def _move(self, item: Item, to: Destination, options: dict[str, Any]) -> None:
        """Move the item, and end the locks on it (RFC 4918, 7.5). A file that it is a save of keeps its own locks.

        The file stays itself, and clients such as davfs2 hold its lock from when it is opened until it is closed.
        """
        call = self.call
        moved = call.wait(call.drive.saves.move, call.actor, item.id, to, began=call.began, **options).value
        if moved.id == item.id or not call.creates:
            call.wait(call.drive.dav_locks.release_tree, item.id)
        self.note_time(moved)

    def _choice(self) -> OnConflict:
        return "replace" if self.call.replaces else "fail"

    def _destination(self, path: str) -> tuple[DavLocation, str]:
        *above, name = names_in(plain(path))
        folder = place_at(self.call, path_of(above))
        if folder is None or not folder.is_folder:
            raise DAVError(HTTPStatus.CONFLICT)
        return folder, name


class FolderResource(Resource, DAVCollection):
    """A folder; also the two that are no items: "Shared with me", and that of a link to a file."""

    def __init__(self, place: DavLocation, environ: Any) -> None:
        DAVCollection.__init__(self, shielded(place.path), environ)
        self._begin(place)

    @override
    def get_member_names(self) -> list[str]:
        """Return nothing: members are listed page by page, see `propfind`."""
        return []

    @override
    def create_collection(self, name: str) -> None:
        """Make a folder."""
        name = plain(name)
        self.call.wait(self.call.drive.files.create_folder, self.call.actor, self.item.id, name)

    @override
    def create_empty_resource(self, name: str) -> "FileResource":
        """Return a file to write to; for a lock, which needs one, it is made at once."""
        name = plain(name)
        path = f"{self.place.path.rstrip('/')}/{name}"
        resource = FileResource(DavLocation(path, None), self.environ, (self.item, name))
        if self.environ["REQUEST_METHOD"] == "LOCK":
            user = self.call.actor.user_id
            tokens = self.environ["wsgidav.ifLockTokenList"]
            self.manager.check_write_permission(url=self.get_ref_url(), depth="0", token_list=tokens, principal=user)
            resource.create_empty()
        return resource


class FileResource(Resource, DAVNonCollection):
    """A file, or one that is to be made: `new` has its folder and its name."""

    def __init__(self, place: DavLocation, environ: Any, new: tuple[Item, str] | None = None) -> None:
        DAVNonCollection.__init__(self, shielded(place.path), environ)
        self._begin(place)
        self._new = new

    @override
    def get_ref_url(self) -> str:
        """Return the name for locks; those of a file that is to be made are the ones on its folder."""
        if self.place.item is None and self._new is not None:
            return f"/{self._new[0].id}"
        return super().get_ref_url()

    @override
    def get_content_length(self) -> int:
        """Return the size in bytes."""
        return self.item.size

    @override
    def get_content_type(self) -> str:
        """Return the media type."""
        return self.item.media_type

    @override
    def get_etag(self) -> str:
        """Return the drive's etag."""
        return self.item.etag

    @override
    def support_etag(self) -> bool:
        """Return True."""
        return True

    @override
    def support_ranges(self) -> bool:
        """Return True."""
        return True

    @override
    def get_content(self) -> Iterator[bytes]:
        """Refuse: contents are sent by the event loop, see `DavEndpoint`."""
        raise NotImplementedError

    @override
    def begin_write(self, *, content_type: str | None = None) -> Writer:
        """Return the writer of the body."""
        del content_type
        item = self.place.item
        folder_id, name = (self._new[0].id, self._new[1]) if self._new else (self.item.parent_id, self.item.name)
        is_new = item is None and "HTTP_IF_NONE_MATCH" in self.environ
        target = Target(item, folder_id, name, self.condition() if item else None, is_new)
        return Writer(self.call, target, self._require_unlocked, self.set_item)

    def create_empty(self) -> None:
        """Make the file, without content."""
        self.begin_write().close()

    def _require_unlocked(self) -> None:
        tokens, user = self.environ["wsgidav.ifLockTokenList"], self.call.actor.user_id
        self.manager.check_write_permission(url=self.get_ref_url(), depth="0", token_list=tokens, principal=user)

    def set_item(self, item: Item) -> None:
        """Take note of the item as it is now."""
        self.place = DavLocation(self.place.path, item)


def resource_at(place: DavLocation, environ: Any) -> FileResource | FolderResource:
    """Return the resource at the place."""
    return FolderResource(place, environ) if place.is_folder else FileResource(place, environ)
