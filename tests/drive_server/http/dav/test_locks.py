from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest

from drive_server.connect import open_drive
from drive_server.services.webdav import locks as lock_service
from drive_server.services.webdav.locks import MAX_SECONDS, DavLocks
from tests.drive_server.http.dav.test_files import owner

if TYPE_CHECKING:
    from tests.drive_server.http.dav.client import Dav
    from tests.drive_server.http.service import Service

PATCH = '<D:propertyupdate xmlns:D="DAV:"><D:set><D:prop><c xmlns="urn:x">1</c></D:prop></D:set></D:propertyupdate>'


async def test_a_lock_stops_the_same_person_without_its_token_and_nobody_who_has_it(dav: Dav) -> None:
    await dav.ok("MKCOL", "/a")
    await dav.ok("PUT", "/a/x.txt", b"one")
    token = await dav.token("/a/x.txt")
    for method, body in (("PUT", b"two"), ("DELETE", None), ("PROPPATCH", PATCH)):
        response = await dav.send(method, "/a/x.txt", body)
        assert response.status_code == 423
        assert b"lock-token-submitted" in response.content
        assert b"<D:href>/dav/a/x.txt</D:href>" in response.content
    assert (await dav.send("DELETE", "/a")).status_code == 423
    assert (await dav.move("/a", "/b")).status_code == 423
    assert (await dav.move("/a/x.txt", "/a/y.txt")).status_code == 423
    assert (await dav.send("PUT", "/a/x.txt", b"two", If=f"(<{token}>)")).status_code == 204
    assert (await dav.send("UNLOCK", "/a/x.txt", Lock_Token=f"<{token}>")).status_code == 204
    assert (await dav.send("PUT", "/a/x.txt", b"three")).status_code == 204


async def test_a_lock_on_a_folder_holds_for_all_that_is_below_it(dav: Dav) -> None:
    await dav.ok("MKCOL", "/a")
    await dav.ok("MKCOL", "/a/b")
    token = await dav.token("/a", Depth="infinity")
    assert (await dav.send("PUT", "/a/b/new.txt", b"1")).status_code == 423
    assert (await dav.send("MKCOL", "/a/c")).status_code == 423
    assert (await dav.lock("/a/b/new.txt")).status_code == 423
    assert await dav.names("/a/b") == []
    assert (await dav.send("PUT", "/a/b/new.txt", b"1", If=f"</dav/a> (<{token}>)")).status_code == 201
    (found,) = (await dav.find("/a/b/new.txt", "lockdiscovery")).values()
    text = "".join(found["{DAV:}lockdiscovery"].itertext())
    assert token in text
    assert "/dav/a/" in text
    members = await dav.find("/a/b", "lockdiscovery", depth="1")
    assert token in "".join(members["/dav/a/b/new.txt"]["{DAV:}lockdiscovery"].itertext())


async def test_a_lock_holds_for_everybody_who_sees_the_item(service: Service, dav: Dav, bobs_dav: Dav) -> None:
    await dav.ok("MKCOL", "/team")
    await dav.ok("PUT", "/team/x.txt", b"one")
    await service.drive.sharing.share(await owner(service), "/team", "bob@example.com", "editor")
    token = await bobs_dav.token("/Shared with me/team/x.txt")
    for condition in ({}, {"If": f"(<{token}>)"}):
        assert (await dav.send("PUT", "/team/x.txt", b"two", **condition)).status_code == 423
    assert (await dav.send("UNLOCK", "/team/x.txt", Lock_Token=f"<{token}>")).status_code == 403
    assert (await bobs_dav.send("PUT", "/Shared with me/team/x.txt", b"3", If=f"(<{token}>)")).status_code == 204


async def test_a_lock_ends_by_time_and_is_renewed(service: Service, dav: Dav) -> None:
    await dav.ok("PUT", "/x.txt", b"one")
    response = await dav.lock("/x.txt", Timeout="Second-600")
    assert b"Second-599" in response.content or b"Second-600" in response.content
    token = response.headers["lock-token"]
    service.drive.dav_locks._clock = lambda: datetime.now(UTC) + timedelta(seconds=500)  # pyright: ignore[reportPrivateUsage] - time passes
    assert (await dav.send("LOCK", "/x.txt", If=f"({token})", Timeout="Second-600")).status_code == 200
    service.drive.dav_locks._clock = lambda: datetime.now(UTC) + timedelta(seconds=1000)  # pyright: ignore[reportPrivateUsage] - time passes
    assert (await dav.send("PUT", "/x.txt", b"two")).status_code == 423
    service.drive.dav_locks._clock = lambda: datetime.now(UTC) + timedelta(seconds=1200)  # pyright: ignore[reportPrivateUsage] - time passes
    assert (await dav.send("PUT", "/x.txt", b"two")).status_code == 204
    assert (await dav.send("LOCK", "/x.txt", If=f"({token})")).status_code == 412
    assert await service.drive.dav_locks.expire() == 1


async def test_a_lock_for_ever_is_one_for_a_day(dav: Dav) -> None:
    await dav.ok("PUT", "/x.txt", b"one")
    text = (await dav.lock("/x.txt", Timeout="Infinite, Second-4100000000")).text
    assert f"Second-{MAX_SECONDS}" in text or f"Second-{MAX_SECONDS - 1}" in text


async def test_another_process_of_the_drive_sees_the_lock(service: Service, dav: Dav) -> None:
    await dav.ok("PUT", "/x.txt", b"one")
    await dav.token("/x.txt")
    item = await service.drive.files.get(await owner(service), "/x.txt")
    async with open_drive(service.drive.settings) as other:
        assert len((await other.dav_locks.around(item.id)).covering) == 1
        await other.dav_locks.release_tree(item.id)
    assert (await dav.send("PUT", "/x.txt", b"two")).status_code == 204


async def test_locks_exclude_each_other_unless_they_are_shared(dav: Dav) -> None:
    await dav.ok("MKCOL", "/a")
    await dav.ok("PUT", "/a/x.txt", b"one")
    await dav.token("/a/x.txt", scope="shared")
    assert (await dav.lock("/a/x.txt", scope="shared")).status_code == 200
    response = await dav.lock("/a/x.txt")
    assert response.status_code == 423
    assert b"no-conflicting-lock" in response.content
    assert (await dav.lock("/a", Depth="infinity")).status_code == 423
    assert (await dav.lock("/a", Depth="0")).status_code == 200


async def test_a_lock_on_nothing_makes_an_empty_file(service: Service, dav: Dav) -> None:
    response = await dav.lock("/new.docx")
    assert response.status_code == 201
    assert (await dav.ok("GET", "/new.docx")).content == b""
    change = (await service.drive.journal.list_changes(await owner(service))).items[0]
    assert (change.method, change.action) == ("webdav", "create_file")
    token = response.headers["lock-token"]
    assert (await dav.send("PUT", "/new.docx", b"PK", If=f"({token})")).status_code == 204


async def test_a_lock_does_not_move_along_and_ends_with_its_item(service: Service, dav: Dav) -> None:
    await dav.ok("PUT", "/x.txt", b"one")
    token = await dav.token("/x.txt")
    assert (await dav.move("/x.txt", "/y.txt", If=f"</dav/x.txt> (<{token}>)")).status_code == 201
    assert (await dav.send("PUT", "/y.txt", b"two")).status_code == 204
    await dav.token("/y.txt")
    assert await service.drive.dav_locks.find(token) is None


@pytest.mark.parametrize(
    ("condition", "status"),
    [
        ("(<TOKEN>)", 204),
        ("(<TOKEN> [ETAG])", 204),
        ('(<TOKEN> ["other"])', 412),
        ('(["other"]) (<TOKEN>)', 204),
        ("(Not <DAV:no-lock> <TOKEN>)", 204),
        ("(<DAV:no-lock>) (<TOKEN>)", 204),
        ("</dav/x.txt> (<TOKEN> [ETAG])", 204),
        ('<BASE/dav/x.txt> (<TOKEN> ["other"])', 412),
        ("<BASE/dav/missing.txt> (<TOKEN>)", 412),
        ("<BASE/dav/missing.txt> (Not <TOKEN>)", 204),
        ("(<urn:uuid:unknown>)", 412),
        ("nonsense", 400),
    ],
)
async def test_the_header_if_is_read_as_the_standard_says(dav: Dav, condition: str, status: int) -> None:
    etag = (await dav.ok("PUT", "/x.txt", b"one")).headers["etag"]
    token = await dav.token("/x.txt")
    base = str(dav.http.base_url).rstrip("/")
    header = condition.replace("TOKEN", token).replace("ETAG", etag).replace("BASE", base)
    assert (await dav.send("PUT", "/x.txt", b"two", If=header)).status_code == status


async def test_a_lock_that_comes_while_a_body_is_on_its_way_counts(service: Service, dav: Dav) -> None:
    await dav.ok("PUT", "/x.txt", b"one")
    item = await service.drive.files.get(await owner(service), "/x.txt")

    async def body():
        yield b"two"
        await service.drive.dav_locks.create(
            (await owner(service)).user_id, item.id, is_shared=False, is_deep=False, owner="", seconds=60
        )
        yield b"three"

    assert (await dav.send("PUT", "/x.txt", body())).status_code == 423
    assert (await dav.ok("GET", "/x.txt")).content == b"one"


async def test_nobody_takes_locks_without_end(service: Service, dav: Dav, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lock_service, "MAX_LOCKS", 1)
    for name in "ab":
        await dav.ok("PUT", f"/{name}", b"1")
    await dav.token("/a")
    assert (await dav.lock("/b")).status_code == 403
    assert isinstance(service.drive.dav_locks, DavLocks)


async def test_who_may_only_read_locks_nothing(service: Service, dav: Dav, bobs_dav: Dav) -> None:
    await dav.ok("PUT", "/x.txt", b"one")
    await service.drive.sharing.share(await owner(service), "/x.txt", "bob@example.com", "viewer")
    assert (await bobs_dav.lock("/Shared with me/x.txt")).status_code == 403
    assert (await bobs_dav.send("PUT", "/Shared with me/x.txt", b"2")).status_code == 403
    _, secret = await service.drive.identity.create_key(await owner(service), "reader", ["read"])
    dav.http.auth = ("x", secret)
    for answer in (await dav.lock("/x.txt"), await dav.send("PUT", "/x.txt", b"2"), await dav.send("MKCOL", "/a")):
        assert answer.status_code == 403
    assert (await dav.ok("GET", "/x.txt")).content == b"one"
