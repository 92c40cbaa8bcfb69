from __future__ import annotations

from datetime import UTC, datetime, timedelta
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


async def drafted(dav: Dav) -> None:
    """Save as editors do: the new content under another name first."""
    await dav.ok("PUT", "/plan.txt", b"first")
    await dav.ok("PUT", "/.plan.txt.part", b"")
    await dav.ok("PUT", "/.plan.txt.part", b"second")


async def test_a_draft_that_is_moved_over_a_file_is_a_new_version_of_it(service: Service, dav: Dav) -> None:
    await drafted(dav)
    actor = await owner(service)
    before = await service.drive.files.get(actor, "/plan.txt")
    await service.drive.sharing.share(actor, before.id, "bob@example.com", "viewer")
    assert (await dav.send("PROPPATCH", "/plan.txt", COLOUR)).status_code == 207
    assert (await dav.move("/.plan.txt.part", "/plan.txt", X_OC_Mtime="1700000000")).status_code == 204
    item = await service.drive.files.get(actor, "/plan.txt")
    assert (item.id, item.version, item.media_type) == (before.id, 2, before.media_type)
    assert (await dav.ok("GET", "/plan.txt")).content == b"second"
    assert (await dav.ok("GET", "/plan.txt")).headers["last-modified"] == "Tue, 14 Nov 2023 22:13:20 GMT"
    assert (await dav.names(), await colour(dav, "/plan.txt")) == (["plan.txt"], "red")
    assert [share.email for share in await service.drive.sharing.list_shares(actor, item.id)] == ["bob@example.com"]


async def test_the_undo_of_such_a_save_gives_the_earlier_content_back(service: Service, dav: Dav) -> None:
    await drafted(dav)
    await dav.move("/.plan.txt.part", "/plan.txt")
    actor = await owner(service)
    change = (await service.drive.journal.list_changes(actor, kind="edit")).items[0]
    assert change.summary == "Saved 'plan.txt'."
    outcome = await service.drive.undo.undo(actor, change_id=change.id)
    assert outcome.value.skipped == ()
    assert (await dav.names(), (await dav.ok("GET", "/plan.txt")).content) == (["plan.txt"], b"first")
    assert (await service.drive.undo.redo(actor, change_id=change.id)).value.skipped == ()
    assert (await dav.names(), (await dav.ok("GET", "/plan.txt")).content) == (["plan.txt"], b"second")


async def test_a_draft_with_a_name_that_people_give_goes_to_the_trash_and_comes_back(
    service: Service, dav: Dav
) -> None:
    await dav.ok("PUT", "/plan.txt", b"first")
    await dav.ok("PUT", "/new plan.txt", b"second")
    assert (await dav.move("/new plan.txt", "/plan.txt")).status_code == 204
    actor = await owner(service)
    change = (await service.drive.journal.list_changes(actor, kind="edit")).items[0]
    assert change.summary == "Replaced the content of 'plan.txt' by that of 'new plan.txt', which went to the trash."
    assert (await service.drive.undo.undo(actor, change_id=change.id)).value.skipped == ()
    assert [(await dav.ok("GET", path)).content for path in ("/plan.txt", "/new plan.txt")] == [b"first", b"second"]
    assert (await service.drive.undo.redo(actor, change_id=change.id)).value.skipped == ()
    assert (await dav.names(), (await dav.ok("GET", "/plan.txt")).content) == (["plan.txt"], b"second")


async def test_a_file_with_a_life_of_its_own_takes_the_place_of_another(service: Service, dav: Dav) -> None:
    actor = await owner(service)
    await dav.ok("MKCOL", "/folder")
    for name, by_others in (("old", False), ("shared", True), ("elsewhere", False)):
        folder = "/folder" if name == "elsewhere" else ""
        await dav.ok("PUT", "/plan.txt", b"first")
        await dav.ok("PUT", f"{folder}/{name}", name.encode())
        item = await service.drive.files.get(actor, f"{folder}/{name}")
        if by_others:
            await service.drive.sharing.share(actor, item.id, "bob@example.com", "viewer")
        late = timedelta(minutes=61 if name == "old" else 59)
        service.drive.saves.clock = lambda late=late: datetime.now(UTC) + late
        assert (await dav.move(f"{folder}/{name}", "/plan.txt")).status_code == 204
        assert (await service.drive.files.get(actor, "/plan.txt")).id == item.id


async def test_what_somebody_else_wrote_is_no_draft(service: Service, dav: Dav, bobs_dav: Dav) -> None:
    await dav.ok("MKCOL", "/team")
    await service.drive.sharing.share(await owner(service), "/team", "bob@example.com", "editor")
    await dav.ok("PUT", "/team/plan.txt", b"first")
    await dav.ok("PUT", "/team/draft", b"Ann's")
    draft = await dav.prop("/team/draft", "getetag")
    assert (await bobs_dav.move("/Shared with me/team/draft", "/Shared with me/team/plan.txt")).status_code == 204
    assert draft is not None
    assert (await dav.prop("/team/plan.txt", "getetag") or "")[:9] == draft[:9]
    await bobs_dav.ok("PUT", "/Shared with me/team/draft", b"Bob's")
    assert (await bobs_dav.move("/Shared with me/team/draft", "/Shared with me/team/plan.txt")).status_code == 204
    assert (await dav.prop("/team/plan.txt", "getetag") or "")[:9] == draft[:9]
    assert (await dav.ok("GET", "/team/plan.txt")).content == b"Bob's"


async def test_a_draft_that_changed_or_that_a_lock_covers_is_not_saved(service: Service, dav: Dav) -> None:
    await drafted(dav)
    token = await dav.token("/plan.txt")
    assert (await dav.move("/.plan.txt.part", "/plan.txt")).status_code == 423
    given = {"If": f"</dav/plan.txt> (<{token}>)"}
    assert (await dav.move("/.plan.txt.part", "/plan.txt", If_Match='"other"', **given)).status_code == 412
    assert (await dav.move("/.plan.txt.part", "/plan.txt", **given)).status_code == 204
    assert await service.drive.dav_locks.find(token) is not None
    assert (await dav.send("PUT", "/plan.txt", b"third", **given)).status_code == 204


async def test_the_root_is_neither_deleted_nor_moved(dav: Dav) -> None:
    await tree(dav)
    assert (await dav.send("DELETE", "/")).status_code == 403
    assert (await dav.move("/", "/a/root")).status_code == 403
    assert (await dav.move("/", "/a/root", "COPY")).status_code == 403
    assert await dav.names() == ["a", "b.txt"]
