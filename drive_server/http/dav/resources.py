"""Files and folders of the drive as wsgidav's resources; every change of them goes through the services."""

from collections.abc import Iterator, Mapping
from http import HTTPStatus
from typing import Any, Final, cast

from lxml import etree
from typing_extensions import override
from wsgidav.dav_error import DAVError
from wsgidav.dav_provider import (
    DAVCollection,
    DAVNonCollection,
    PRECONDITION_CODE_ProtectedProperty,
)
from wsgidav.util import get_rfc1123_time, get_rfc3339_time, parse_time_string
from wsgidav.xml_tools import string_to_xml

from drive_server.access import Scope
from drive_server.http.dav.call import CALL, DavCall, Place
from drive_server.http.dav.href import href_of
from drive_server.http.dav.locking import CallLocks
from drive_server.http.dav.places import find_place, names_in, path_of
from drive_server.http.dav.writing import Target, Writer
from drive_server.models import Item
from drive_server.services.quota import Usage
from drive_server.services.webdav.locks import DavLock
from drive_server.services.webdav.properties import MODIFIED, Properties, modification, modified

EDITORS: Final = frozenset({"editor", "owner"})
FILE_PROPERTIES: Final = ("getcontentlength", "getcontenttype", "getetag")
LOCK_PROPERTIES: Final = ("lockdiscovery", "supportedlock")
QUOTA_PROPERTIES: Final = ("quota-available-bytes", "quota-used-bytes")
DAV: Final = "{DAV:}"
ROOT_NAME: Final = "Drive"
WINDOWS_MODIFIED: Final = "{urn:schemas-microsoft-com:}Win32LastModifiedTime"
MOST_DIGITS: Final = 12
UNSTORABLE: Final = dict.fromkeys((65534, 65535), "�")
"""Characters that XML does not have, and names may."""


class Resource:
    """What files and folders have in common. `locks` and `dead` are set where many are described at once."""

    environ: Any
    is_collection: bool
    place: Place
    locks: list[DavLock] | None = None
    dead: Properties | None = None

    def _begin(self, place: Place) -> None:
        self.place = place
        self.call: DavCall = self.environ[CALL]
        self._patch: dict[str, str | None] = {}
        self._patched: DAVError | bool = False

    @property
    def manager(self) -> CallLocks:
        """The locks of the call."""
        return cast("CallLocks", self.environ["wsgidav.provider"].lock_manager)

    @property
    def item(self) -> Item:
        """The item. Raises 403 for a folder that is none."""
        if self.place.item is None:
            raise DAVError(HTTPStatus.FORBIDDEN)
        return self.place.item

    def get_href(self) -> str:
        """Return the address."""
        return href_of(self.call.mount, self.place.path, is_folder=self.is_collection)

    def get_ref_url(self) -> str:
        """Return the name by which locks know the item, the same for everybody who sees it."""
        return f"/{self.place.item.id if self.place.item else ''}"

    def prevent_locking(self) -> bool:
        """Return whether the caller may not lock it: who may not change it."""
        may_write = Scope.WRITE in self.call.actor.principal.scopes and not self.call.is_guest
        return not may_write or self.place.item is None or self.place.item.role not in EDITORS

    def get_last_modified(self) -> float | None:
        """Return the time that a client gave the content, else that of the last change."""
        item = self.place.item
        if item is None:
            return None
        return modified(self._stored(), item.version) or item.updated_at.timestamp()

    def get_property_names(self, *, is_allprop: bool) -> list[str]:
        """Return the properties there are; those of the quota only where names are asked for (RFC 4331, section 3)."""
        names = ["resourcetype", "displayname"]
        if self.place.item is not None:
            names += ["creationdate", "getlastmodified"]
        if not self.is_collection:
            names += FILE_PROPERTIES
        elif not is_allprop and self._usage() is not None:
            names += QUOTA_PROPERTIES
        if not self.prevent_locking():
            names += LOCK_PROPERTIES
        return [*(f"{DAV}{name}" for name in names), *self._dead()]

    def get_property_value(self, name: str) -> Any:
        """Return the value: a text or an element. Raises 404 for a property that is not there."""
        if not name.startswith(DAV):
            if (value := self._dead().get(name)) is not None:
                return string_to_xml(value.encode())
            raise DAVError(HTTPStatus.NOT_FOUND)
        value = self._live(name.removeprefix(DAV))
        if value is None:
            raise DAVError(HTTPStatus.NOT_FOUND)
        return value

    def set_property_value(self, name: str, value: Any, *, dry_run: bool = False) -> None:
        """Set a dead property, or remove it. The first one that is not dry writes all that were asked for."""
        if name.startswith(DAV):
            raise DAVError(HTTPStatus.FORBIDDEN, err_condition=PRECONDITION_CODE_ProtectedProperty)
        if dry_run:
            self._patch[name] = None if value is None else etree.tostring(value, encoding="unicode", with_tail=False)
            if name == WINDOWS_MODIFIED and value is not None and (at := parse_time_string(value.text or "")):
                self._patch |= modification(int(at), self.item.version)
            return
        if self._patched is False:
            self._patched = self._write_properties()
        if isinstance(self._patched, DAVError):
            raise self._patched

    def handle_delete(self) -> bool:
        """Move the item to the trash."""
        tokens = self.environ["wsgidav.ifLockTokenList"]
        user = self.call.actor.user_id
        item = self.item
        self.manager.check_write_permission(url=self.get_ref_url(), depth="infinity", token_list=tokens, principal=user)
        self.call.wait(self.call.drive.files.trash, self.call.actor, item.id, if_match=self.condition())
        self.call.wait(self.call.drive.dav_locks.release_tree, item.id)
        return True

    def handle_move(self, dest_path: str) -> bool:
        """Move the item, as one change; what is there goes to the trash."""
        item, (folder, name) = self.item, self._destination(dest_path)
        files, actor = self.call.drive.files, self.call.actor
        if folder.item is None and self.place.path.rpartition("/")[0] == folder.path:
            choice = "replace" if self.call.replaces and not self.call.creates else "fail"
            self.call.wait(files.rename, actor, item.id, name, if_match=self.condition(), on_conflict=choice)
        elif folder.item is None:
            raise DAVError(HTTPStatus.FORBIDDEN)
        else:
            self.call.wait(
                files.relocate,
                actor,
                item.id,
                folder.item.id,
                name,
                replace=self.call.replaces,
                if_match=self.condition(),
            )
        self.call.wait(self.call.drive.dav_locks.release_tree, item.id)
        self.note_time(item)
        return True

    def handle_copy(self, dest_path: str, *, depth_infinity: bool) -> bool:
        """Copy the item with its properties; what is at the destination goes to the trash."""
        item, (folder, name) = self.item, self._destination(dest_path)
        if folder.item is None:
            raise DAVError(HTTPStatus.FORBIDDEN)
        outcome = self.call.wait(
            self.call.drive.files.copy,
            self.call.actor,
            item.id,
            folder.item.id,
            name,
            on_conflict="replace" if self.call.replaces else "fail",
            replaces_any_kind=True,
            with_contents=depth_infinity,
        )
        self.call.wait(self.call.drive.dav_properties.copy, item.id, outcome.value.id)
        self.note_time(outcome.value)
        return True

    def note_time(self, item: Item) -> None:
        """Remember the time that the client gave the content (ownCloud's `X-OC-Mtime`, which rclone sends)."""
        seconds = self.environ.get("HTTP_X_OC_MTIME", "").partition(".")[0]
        if seconds.isdecimal() and len(seconds) <= MOST_DIGITS and item.kind == "file":
            changes = modification(int(seconds), item.version)
            self.call.wait(self.call.drive.dav_properties.change, self.call.actor, item.id, changes)
            self.call.headers["X-OC-MTime"] = "accepted"

    def condition(self) -> str | None:
        """Return the etag that the item must still have when it is changed, if the client set a condition."""
        is_conditional = any(header in self.environ for header in ("HTTP_IF_MATCH", "HTTP_IF_UNMODIFIED_SINCE"))
        return self.item.etag if is_conditional else None

    def _destination(self, path: str) -> tuple[Place, str]:
        *above, name = names_in(self.environ["wsgidav.provider"].plain(path))
        folder = self.call.wait(find_place, self.call, path_of(above))
        if folder is None or not folder.is_folder:
            raise DAVError(HTTPStatus.CONFLICT)
        return folder, name

    def _live(self, name: str) -> Any:
        item = self.place.item
        if name == "resourcetype":
            return self._type()
        if name == "displayname":
            name = item.name if item else self.place.path.rpartition("/")[2]
            return name.translate(UNSTORABLE) or ROOT_NAME
        if name in QUOTA_PROPERTIES:
            return self._quota(name)
        if name in LOCK_PROPERTIES:
            return None if self.prevent_locking() else self._lock_property(name)
        if item is None:
            return None
        if name == "creationdate":
            return get_rfc3339_time(item.created_at.timestamp())
        if name == "getlastmodified":
            return get_rfc1123_time(self.get_last_modified())
        return None if self.is_collection else self._of_file(name, item)

    def _of_file(self, name: str, item: Item) -> str | None:
        values = {"getcontentlength": str(item.size), "getcontenttype": item.media_type, "getetag": f'"{item.etag}"'}
        return values.get(name)

    def _type(self) -> Any:
        found = etree.Element(f"{DAV}resourcetype")
        if self.is_collection:
            etree.SubElement(found, f"{DAV}collection")
        return found

    def _lock_property(self, name: str) -> Any:
        if name == "lockdiscovery":
            locks = self.locks
            if locks is None:
                locks = list(self.call.wait(self.call.drive.dav_locks.around, self.item.id).covering)
            return self.manager.describe(locks)
        found = etree.Element(f"{DAV}supportedlock")
        for scope in ("exclusive", "shared"):
            entry = etree.SubElement(found, f"{DAV}lockentry")
            etree.SubElement(etree.SubElement(entry, f"{DAV}lockscope"), f"{DAV}{scope}")
            etree.SubElement(etree.SubElement(entry, f"{DAV}locktype"), f"{DAV}write")
        return found

    def _quota(self, name: str) -> str | None:
        usage = self._usage() if self.is_collection else None
        if usage is None:
            return None
        if name == "quota-used-bytes":
            return str(usage.used_bytes)
        return str(usage.left) if usage.left is not None else None

    def _usage(self) -> Usage | None:
        """Return what the caller stores and may; for their own folders only: that of others is nobody's business."""
        if self.call.is_guest or self.place.item is None or self.place.item.role != "owner":
            return None
        return self.call.wait(self.call.drive.quota.usage, self.call.actor.user_id)

    def _dead(self) -> Mapping[str, str]:
        return {name: value for name, value in self._stored().items() if name != MODIFIED}

    def _stored(self) -> Mapping[str, str]:
        if self.place.item is None or self.call.is_guest:
            return {}
        if self.dead is None:
            found = self.call.wait(self.call.drive.dav_properties.of, [self.place.item.id])
            self.dead = found.get(self.place.item.id, {})
        return self.dead

    def _write_properties(self) -> DAVError | bool:
        try:
            self.call.wait(self.call.drive.dav_properties.change, self.call.actor, self.item.id, self._patch)
        except DAVError as error:
            return error
        return True


class FolderResource(Resource, DAVCollection):
    """A folder; also the two that are no items: "Shared with me", and that of a link to a file."""

    def __init__(self, place: Place, environ: Any) -> None:
        DAVCollection.__init__(self, place.path, environ)
        self._begin(place)

    @override
    def get_member_names(self) -> list[str]:
        """Return nothing: members are listed page by page, see `propfind`."""
        return []

    @override
    def create_collection(self, name: str) -> None:
        """Make a folder."""
        name = self.environ["wsgidav.provider"].plain(name)
        self.call.wait(self.call.drive.files.create_folder, self.call.actor, self.item.id, name)

    @override
    def create_empty_resource(self, name: str) -> "FileResource":
        """Return a file to write to; for a lock, which needs one, it is made at once."""
        name = self.environ["wsgidav.provider"].plain(name)
        path = f"{self.place.path.rstrip('/')}/{name}"
        resource = FileResource(Place(path, None), self.environ, (self.item, name))
        if self.environ["REQUEST_METHOD"] == "LOCK":
            user = self.call.actor.user_id
            tokens = self.environ["wsgidav.ifLockTokenList"]
            self.manager.check_write_permission(url=self.get_ref_url(), depth="0", token_list=tokens, principal=user)
            resource.create_empty()
        return resource


class FileResource(Resource, DAVNonCollection):
    """A file, or one that is to be made: `new` has its folder and its name."""

    def __init__(self, place: Place, environ: Any, new: tuple[Item, str] | None = None) -> None:
        DAVNonCollection.__init__(self, place.path, environ)
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
        """Return what takes the body."""
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
        self.place = Place(self.place.path, item)
        self.note_time(item)


def resource_at(place: Place, environ: Any) -> FileResource | FolderResource:
    """Return the resource at the place."""
    return FolderResource(place, environ) if place.is_folder else FileResource(place, environ)
