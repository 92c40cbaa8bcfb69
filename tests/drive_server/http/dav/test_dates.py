"""The own dates of contents over WebDAV, which are those of every other door."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.drive_server.http.dav.client import properties_of
from tests.drive_server.http.dav.test_files import owner

if TYPE_CHECKING:
    from tests.drive_server.http.dav.client import Dav
    from tests.drive_server.http.service import Service

PATCH = (
    '<D:propertyupdate xmlns:D="DAV:"><D:set><D:prop><lastmodified xmlns="DAV:">{}</lastmodified></D:prop></D:set>'
    "</D:propertyupdate>"
)
"""As rclone sends it to ownCloud and Nextcloud."""


async def test_a_date_before_1970_and_one_with_fractions_are_taken(dav: Dav) -> None:
    for sent, shown in (
        ("-157766400", "Fri, 01 Jan 1965 00:00:00 GMT"),
        ("981169506.123", "Sat, 03 Feb 2001 03:05:06 GMT"),
    ):
        response = await dav.ok("PUT", "/pre.txt", b"1", X_OC_Mtime=sent)
        assert response.headers["x-oc-mtime"] == "accepted"
        assert (await dav.ok("HEAD", "/pre.txt")).headers["last-modified"] == shown
        assert await dav.prop("/pre.txt", "getlastmodified") == shown


async def test_a_put_with_a_date_is_one_change_and_every_door_has_the_date(service: Service, dav: Dav) -> None:
    await dav.ok("PUT", "/mt.txt", b"1", X_OC_Mtime="981169506")
    actor = await owner(service)
    item = await service.drive.files.get(actor, "/mt.txt")
    assert item.modified_at.isoformat() == "2001-02-03T03:05:06+00:00"
    assert len((await service.drive.journal.list_changes(actor)).items) == 1
    await dav.ok("PUT", "/mt.txt", b"1", X_OC_Mtime="1000000000")
    same = await service.drive.files.get(actor, "/mt.txt")
    assert (same.version, same.modified_at.year, same.modified_at.month) == (1, 2001, 9)


async def test_rclone_and_windows_set_a_date_by_a_property_and_it_can_be_undone(service: Service, dav: Dav) -> None:
    await dav.ok("PUT", "/a.txt", b"1", X_OC_Mtime="981169506")
    response = await dav.ok("PROPPATCH", "/a.txt", PATCH.format(1_000_000_000))
    assert b" 200 " in response.content
    assert await dav.prop("/a.txt", "getlastmodified") == "Sun, 09 Sep 2001 01:46:40 GMT"
    actor = await owner(service)
    (change, *_) = (await service.drive.journal.list_changes(actor)).items
    assert change.summary == "Gave 'a.txt' the date 2001-09-09 01:46 UTC."
    await service.drive.undo.undo(actor, change_id=change.id)
    assert await dav.prop("/a.txt", "getlastmodified") == "Sat, 03 Feb 2001 03:05:06 GMT"
    refused = await dav.ok("PROPPATCH", "/a.txt", PATCH.replace("lastmodified", "getetag").format("x"))
    assert b" 403 " in refused.content
    (found,) = properties_of((await dav.send("PROPFIND", "/a.txt", Depth="0")).content).values()
    assert "{DAV:}lastmodified" not in found


async def test_a_save_through_a_draft_brings_the_drafts_date(dav: Dav) -> None:
    await dav.ok("PUT", "/plan.txt", b"old", X_OC_Mtime="981169506")
    await dav.ok("PUT", "/.plan.txt.part", b"new", X_OC_Mtime="1000000000")
    assert (await dav.move("/.plan.txt.part", "/plan.txt")).status_code == 204
    assert await dav.prop("/plan.txt", "getlastmodified") == "Sun, 09 Sep 2001 01:46:40 GMT"
