from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.drive_server.http.dav.test_files import owner

if TYPE_CHECKING:
    from tests.drive_server.http.dav.client import Dav
    from tests.drive_server.http.service import Service

COLOUR = '<D:propertyupdate xmlns:D="DAV:"><D:set><D:prop><c xmlns="urn:x">red</c></D:prop></D:set></D:propertyupdate>'


async def colour(dav: Dav, path: str) -> str | None:
    (found,) = (await dav.find(path)).values()
    return found["{urn:x}c"].text if "{urn:x}c" in found else None


async def tree(dav: Dav) -> None:
    await dav.ok("MKCOL", "/a")
    await dav.ok("MKCOL", "/a/deep")
    await dav.ok("PUT", "/a/deep/x.txt", b"x")
    await dav.ok("PUT", "/b.txt", b"b")


async def test_a_folder_moves_to_another_folder_and_name_as_one_change(service: Service, dav: Dav) -> None:
    await tree(dav)
    await dav.ok("MKCOL", "/to")
    assert (await dav.move("/a", "/to/new name")).status_code == 201
    assert (await dav.ok("GET", "/to/new name/deep/x.txt")).content == b"x"
    actor = await owner(service)
    change = (await service.drive.journal.list_changes(actor)).items[0]
    assert (change.action, change.summary) == ("move", "Moved 'a' to 'to' as 'new name'.")
    await service.drive.undo.undo(actor, change_id=change.id)
    assert (await dav.ok("GET", "/a/deep/x.txt")).content == b"x"


async def test_a_new_name_in_the_same_folder_is_a_rename(service: Service, dav: Dav) -> None:
    await tree(dav)
    assert (await dav.move("/b.txt", "/c.txt")).status_code == 201
    change = (await service.drive.journal.list_changes(await owner(service))).items[0]
    assert change.summary == "Renamed 'b.txt' to 'c.txt'."


@pytest.mark.parametrize("method", ["MOVE", "COPY"])
async def test_something_of_any_kind_takes_the_place_of_anything_else(service: Service, dav: Dav, method: str) -> None:
    await tree(dav)
    assert (await dav.move("/b.txt", "/a", method, Overwrite="F")).status_code == 412
    assert (await dav.move("/b.txt", "/a", method)).status_code == 204
    assert (await dav.ok("GET", "/a")).content == b"b"
    trash = await service.drive.files.list_trash(await owner(service))
    assert [item.name for item in trash.items] == ["a"]
    assert await dav.names() == (["a"] if method == "MOVE" else ["a", "b.txt"])


async def test_a_key_that_may_not_delete_replaces_nothing(service: Service, dav: Dav) -> None:
    await tree(dav)
    actor = await owner(service)
    _, secret = await service.drive.identity.create_key(actor, "no deletion", ["read", "write"])
    dav.http.auth = ("x", secret)
    assert (await dav.move("/b.txt", "/a")).status_code == 403
    assert (await dav.send("DELETE", "/b.txt")).status_code == 403
    assert (await dav.move("/b.txt", "/c.txt")).status_code == 201


async def test_a_folder_is_copied_whole_or_by_itself(dav: Dav) -> None:
    await tree(dav)
    assert (await dav.move("/a", "/whole", "COPY")).status_code == 201
    assert (await dav.move("/a", "/shallow", "COPY", Depth="0")).status_code == 201
    assert await dav.names("/whole") == ["deep"]
    assert (await dav.ok("GET", "/whole/deep/x.txt")).content == b"x"
    assert await dav.names("/shallow") == []


@pytest.mark.parametrize("method", ["MOVE", "COPY"])
async def test_what_clients_noted_about_items_goes_along(dav: Dav, method: str) -> None:
    await tree(dav)
    for path in ("/a", "/a/deep/x.txt"):
        assert (await dav.send("PROPPATCH", path, COLOUR)).status_code == 207
    assert (await dav.move("/a", "/c", method)).status_code == 201
    assert [await colour(dav, path) for path in ("/c", "/c/deep", "/c/deep/x.txt")] == ["red", None, "red"]


async def test_a_move_leads_nowhere_else(dav: Dav) -> None:
    await tree(dav)
    for address in ("http://other.example/dav/c.txt", f"{dav.http.base_url}api/c.txt", "/elsewhere"):
        assert (await dav.send("MOVE", "/b.txt", Destination=address)).status_code == 502
    assert (await dav.send("MOVE", "/b.txt", Destination="/dav/%FF")).status_code == 400
    assert (await dav.send("MOVE", "/b.txt")).status_code == 400
    assert (await dav.move("/b.txt", "/missing/c.txt")).status_code == 409
    assert (await dav.move("/a", "/a/deep/a")).status_code == 403
    assert (await dav.move("/b.txt", "/ends with a space ")).status_code == 422
    assert await dav.names() == ["a", "b.txt"]
