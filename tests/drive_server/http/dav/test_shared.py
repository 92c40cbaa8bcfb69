from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from drive_server.kernel.access import Actor
from tests.drive_server.http.dav.client import Dav, dav_of
from tests.drive_server.http.dav.test_files import owner

if TYPE_CHECKING:
    from tests.drive_server.http.service import Service

SHARED = "/Shared with me"


async def actor_of(service: Service, key: str) -> Actor:
    return Actor(await service.drive.identity.authenticate(key))


async def test_the_folder_of_shared_things_is_there_once_something_is_shared(
    service: Service, dav: Dav, bobs_dav: Dav
) -> None:
    assert (await bobs_dav.names(), (await bobs_dav.send("PROPFIND", SHARED, Depth="0")).status_code) == ([], 404)
    await dav.ok("MKCOL", "/team")
    await dav.ok("PUT", "/team/x.txt", b"one")
    await dav.ok("PUT", "/secret.txt", b"no")
    await service.drive.sharing.share(await owner(service), "/team", "bob@example.com", "viewer")
    assert (await bobs_dav.names(), await bobs_dav.names(SHARED)) == (["Shared with me"], ["team"])
    assert (await bobs_dav.ok("GET", f"{SHARED}/team/x.txt")).content == b"one"
    assert (await bobs_dav.send("GET", f"{SHARED}/secret.txt")).status_code == 404
    assert await bobs_dav.prop(f"{SHARED}/team", "quota-used-bytes") is None
    for method, path in (("PUT", "team/x.txt"), ("PUT", "team/new.txt"), ("MKCOL", "team/a"), ("DELETE", "team/x.txt")):
        assert (await bobs_dav.send(method, f"{SHARED}/{path}")).status_code == 403, (method, path)
    assert (await bobs_dav.send("PUT", f"{SHARED}/new.txt", b"1")).status_code == 403
    assert (await bobs_dav.send("DELETE", SHARED)).status_code == 403


async def test_an_editor_writes_into_the_owner_s_folder(service: Service, dav: Dav, bobs_dav: Dav) -> None:
    await dav.ok("MKCOL", "/team")
    await dav.ok("PUT", "/alone.txt", b"one")
    actor = await owner(service)
    for path in ("/team", "/alone.txt"):
        await service.drive.sharing.share(actor, path, "bob@example.com", "editor")
    assert (await bobs_dav.send("PUT", f"{SHARED}/team/new.txt", b"by Bob")).status_code == 201
    assert (await bobs_dav.send("PUT", f"{SHARED}/alone.txt", b"two")).status_code == 204
    assert (await bobs_dav.move(f"{SHARED}/alone.txt", f"{SHARED}/other.txt")).status_code == 201
    assert (await dav.ok("GET", "/team/new.txt")).content == b"by Bob"
    assert (await dav.ok("GET", "/other.txt")).content == b"two"
    response = await bobs_dav.move(f"{SHARED}/team/new.txt", "/mine.txt")
    assert response.status_code == 403, "it belongs to another person's drive"
    assert (await bobs_dav.move(f"{SHARED}/team/new.txt", "/mine.txt", "COPY")).status_code == 201
    assert (await bobs_dav.ok("GET", "/mine.txt")).content == b"by Bob"


async def test_things_of_the_same_name_are_told_apart(service: Service, dav: Dav, bobs_dav: Dav) -> None:
    cara = await service.add_person("cara@example.com")
    async with dav_of(service, cara) as caras_dav:
        senders = {b"one": (dav, await owner(service)), b"two": (caras_dav, await actor_of(service, cara))}
        for content, (sender, actor) in senders.items():
            await sender.ok("MKCOL", "/plans")
            await sender.ok("PUT", "/plans/x.txt", content)
            await service.drive.sharing.share(actor, "/plans", "bob@example.com", "viewer")
    names = await bobs_dav.names(SHARED)
    assert len(set(names)) == 2
    contents = {(await bobs_dav.ok("GET", f"{SHARED}/{name}/x.txt")).content for name in names}
    assert contents == {b"one", b"two"}


async def test_an_own_folder_of_that_name_goes_before(service: Service, dav: Dav) -> None:
    key = await service.add_person("bob@example.com")
    await dav.ok("MKCOL", "/team")
    await service.drive.sharing.share(await owner(service), "/team", "bob@example.com", "viewer")
    await service.drive.files.create_folder(await actor_of(service, key), "root", "Shared with me")
    async with dav_of(service, key) as bobs_dav:
        assert (await bobs_dav.names(), await bobs_dav.names(SHARED)) == (["Shared with me"], [])


async def test_a_body_for_a_shared_file_is_not_stored_without_room_or_right(
    service: Service, dav: Dav, bobs_dav: Dav
) -> None:
    actor = await owner(service)
    for name, role in (("full.txt", "editor"), ("read.txt", "viewer")):
        await dav.ok("PUT", f"/{name}", b"one")
        await service.drive.sharing.share(actor, f"/{name}", "bob@example.com", role)
    admin = Actor(await service.drive.identity.authenticate(service.token))
    await service.drive.quota.set_quota(admin, actor.principal.email, 10)
    stored = {path.name for path in service.drive.settings.root.rglob("blobs/**/*")}
    assert (await bobs_dav.send("PUT", f"{SHARED}/full.txt", b"x" * 11)).status_code == 507
    assert (await bobs_dav.send("PUT", f"{SHARED}/read.txt", b"two")).status_code == 403
    assert {path.name for path in service.drive.settings.root.rglob("blobs/**/*")} == stored


async def test_deleting_the_place_of_a_share_leaves_it(service: Service, dav: Dav, bobs_dav: Dav) -> None:
    actor = await owner(service)
    await dav.ok("MKCOL", "/team")
    await dav.ok("PUT", "/team/x.txt", b"one")
    for name, role in (("/team", "editor"), ("/team/x.txt", "viewer")):
        await service.drive.sharing.share(actor, name, "bob@example.com", role)
    assert sorted(await bobs_dav.names(SHARED)) == ["team", "x.txt"]
    assert (await bobs_dav.send("DELETE", f"{SHARED}/x.txt")).status_code == 204
    assert await bobs_dav.names(SHARED) == ["team"]
    assert (await bobs_dav.send("DELETE", f"{SHARED}/team/")).status_code == 204
    assert await bobs_dav.names() == []
    assert (await dav.ok("GET", "/team/x.txt")).content == b"one"
    await service.drive.sharing.share(actor, "/team", "bob@example.com", "editor")
    assert (await bobs_dav.send("DELETE", f"{SHARED}/team/x.txt")).status_code == 204
    assert await dav.names("/team") == []
    assert [item.name for item in (await service.drive.files.list_trash(actor)).items] == ["x.txt"]


async def test_what_is_shared_by_a_group_says_so(service: Service, dav: Dav, bobs_dav: Dav) -> None:
    admin = Actor(await service.drive.identity.authenticate(service.token))
    await dav.ok("MKCOL", "/team")
    await service.drive.groups.create(admin, "Crew", ["bob@example.com"])
    await service.drive.sharing.share(admin, "/team", "group:Crew", "editor")
    response = await bobs_dav.send("DELETE", f"{SHARED}/team")
    assert (response.status_code, b"Crew" in response.content) == (403, True)
    assert await bobs_dav.names(SHARED) == ["team"]


async def test_a_program_that_deletes_a_shared_file_and_writes_it_anew_stays_in(
    service: Service, dav: Dav, bobs_dav: Dav
) -> None:
    actor = await owner(service)
    await dav.ok("PUT", "/l.odt", b"one")
    before = await service.drive.files.get(actor, "/l.odt")
    await service.drive.sharing.share(actor, "/l.odt", "bob@example.com", "editor")
    assert (await bobs_dav.send("DELETE", f"{SHARED}/l.odt")).status_code == 204
    assert (await bobs_dav.send("PUT", f"{SHARED}/l.odt", b"two")).status_code == 204
    now = await service.drive.files.get(actor, before.id)
    assert (now.version, (await dav.ok("GET", "/l.odt")).content) == (2, b"two")
    assert [share.email for share in await service.drive.sharing.list_shares(actor, now.id)] == ["bob@example.com"]
    assert (await bobs_dav.send("DELETE", f"{SHARED}/l.odt")).status_code == 204
    service.drive.saves.clock = lambda: datetime.now(UTC) + timedelta(seconds=31)
    assert (await bobs_dav.send("PUT", f"{SHARED}/l.odt", b"three")).status_code == 409
