"""Items as their properties: live ones (RFC 4918, section 15; RFC 4331), and dead ones, which clients note."""

from collections.abc import Mapping
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, Final, cast

from lxml import etree  # pyright: ignore[reportAttributeAccessIssue] - a compiled module without stubs
from wsgidav.dav_error import DAVError, PRECONDITION_CODE_ProtectedProperty
from wsgidav.util import get_rfc1123_time, get_rfc3339_time
from wsgidav.xml_tools import string_to_xml

from drive_server.http.dav.call import CALL, DavCall, DavLocation
from drive_server.http.dav.href import href_of
from drive_server.http.dav.locking import CallLocks
from drive_server.http.headers.dates import parse_date
from drive_server.kernel.access import Scope
from drive_server.kernel.escaping.media import xml_text
from drive_server.models.items import Item
from drive_server.services.quota import Usage
from drive_server.services.webdav.locks import DavLock
from drive_server.services.webdav.properties import Properties

if TYPE_CHECKING:
    from datetime import datetime

EDITORS: Final = frozenset({"editor", "owner"})
FILE_PROPERTIES: Final = ("getcontentlength", "getcontenttype", "getetag")
LOCK_PROPERTIES: Final = ("lockdiscovery", "supportedlock")
QUOTA_PROPERTIES: Final = ("quota-available-bytes", "quota-used-bytes")
DAV: Final = "{DAV:}"
ROOT_NAME: Final = "Drive"
WINDOWS_MODIFIED: Final = "{urn:schemas-microsoft-com:}Win32LastModifiedTime"
MODIFIED: Final = "{DAV:}lastmodified"
"""Of ownCloud and Nextcloud, in seconds since 1970: clients that mount them set a file's date by it."""
OWNCLOUD: Final = "http://owncloud.org/ns"
CHECKSUMS: Final = f"{{{OWNCLOUD}}}checksums"
"""Of ownCloud and Nextcloud: clients compare contents by it without fetching them."""
PROTECTED: Final = frozenset({CHECKSUMS})


class Described:
    """An item with its properties. `locks`, `dead` and `sums` are set where many are described at once."""

    environ: Any
    is_collection: bool
    place: DavLocation
    locks: list[DavLock] | None = None
    dead: Properties | None = None
    sums: Mapping[str, str] | None = None

    def _begin(self, place: DavLocation) -> None:
        self.place = place
        self.call: DavCall = self.environ[CALL]
        self._patch: dict[str, str | None] = {}
        self._date: datetime | None = None
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
        """Return the date of the content, in seconds since 1970."""
        return self.place.item.modified_at.timestamp() if self.place.item else None

    def get_property_names(self, *, is_allprop: bool) -> list[str]:
        """Return the properties there are; slow ones only where names are asked for (RFC 4331, section 3)."""
        names = ["resourcetype", "displayname"]
        if self.place.item is not None:
            names += ["creationdate", "getlastmodified"]
        if not self.is_collection:
            names += FILE_PROPERTIES
        elif not is_allprop and self._usage() is not None:
            names += QUOTA_PROPERTIES
        if not self.prevent_locking():
            names += LOCK_PROPERTIES
        slow = [] if self.is_collection or is_allprop else [CHECKSUMS]
        return [*(f"{DAV}{name}" for name in names), *slow, *self._stored()]

    def get_property_value(self, name: str) -> Any:
        """Return the value: a text or an element. Raises 404 for a property that is not there."""
        if name.startswith(DAV):
            value = self._live(name.removeprefix(DAV))
        elif name == CHECKSUMS:
            value = self._checksums()
        else:
            stored = self._stored().get(name)
            value = None if stored is None else string_to_xml(stored.encode())
        if value is None:
            raise DAVError(HTTPStatus.NOT_FOUND)
        return value

    def set_property_value(self, name: str, value: Any, *, dry_run: bool = False) -> None:
        """Set a dead property, or remove it. The first one that is not dry writes all that were asked for."""
        if name in PROTECTED or (name.startswith(DAV) and (name != MODIFIED or value is None)):
            raise DAVError(HTTPStatus.FORBIDDEN, err_condition=PRECONDITION_CODE_ProtectedProperty)
        if dry_run:
            if name in {MODIFIED, WINDOWS_MODIFIED} and value is not None:
                self._date = parse_date(value.text or "") or self._date
            if name != MODIFIED:
                written = None if value is None else etree.tostring(value, encoding="unicode", with_tail=False)
                self._patch[name] = written
            return
        if self._patched is False:
            self._patched = self._write_properties()
        if isinstance(self._patched, DAVError):
            raise self._patched

    def _live(self, name: str) -> Any:
        item = self.place.item
        if name == "resourcetype":
            return self._type()
        if name == "displayname":
            name = item.name if item else self.place.path.rpartition("/")[2]
            return xml_text(name) or ROOT_NAME
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
        """Return the caller's usage and quota; for their own folders only: that of others is nobody's business."""
        if self.call.is_guest or self.place.item is None or self.place.item.role != "owner":
            return None
        return self.call.wait(self.call.drive.quota.usage, self.call.actor.user_id)

    def _checksums(self) -> Any:
        if self.is_collection or self.place.item is None:
            return None
        item_id = self.place.item.id
        if self.sums is None:
            self.sums = self.call.wait(self.call.drive.dav_checksums.of, [item_id])
        if item_id not in self.sums:
            return None
        found = etree.Element(CHECKSUMS, nsmap={"oc": OWNCLOUD})
        for checksum in self.sums[item_id].split():
            etree.SubElement(found, f"{{{OWNCLOUD}}}checksum").text = checksum
        return found

    def _stored(self) -> Mapping[str, str]:
        if self.place.item is None or self.call.is_guest:
            return {}
        if self.dead is None:
            found = self.call.wait(self.call.drive.dav_properties.of, [self.place.item.id])
            self.dead = found.get(self.place.item.id, {})
        return self.dead

    def _write_properties(self) -> DAVError | bool:
        try:
            if self._patch:
                self.call.wait(self.call.drive.dav_properties.change, self.call.actor, self.item.id, self._patch)
            if self._date is not None:
                self.call.wait(self.call.drive.files.set_date, self.call.actor, self.item.id, self._date)
        except DAVError as error:
            return error
        return True
