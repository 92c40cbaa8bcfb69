from __future__ import annotations

import asyncio
import unicodedata
from typing import TYPE_CHECKING

import httpx
import pytest
from sqlalchemy import update

from drive_server.kernel.access import ALL_SCOPES, Actor
from drive_server.storage.tables.items import NodeRow

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from tests.drive_server.http.dav.client import Dav
    from tests.drive_server.http.service import Service

NAMES = [
    "plain.txt",
    "报告 2026.md",
    "😀 party.txt",
    "100% of #1 & more?.txt",
    "a;b=c,d+e@f:g!$'()*.txt",
    "[brackets] {braces} ~tilde^.txt",
    "._hidden",
    ".DS_Store",
    "~$letter.docx",
    "Thumbs.db",
    "%41%2e.txt",
    "\U0010fffd end.txt",
]


async def owner(service: Service) -> Actor:
    user, _ = await service.drive.identity.ensure_local_user()
    return Actor(await service.drive.identity.principal_for(user.id, ALL_SCOPES))


@pytest.mark.parametrize("name", NAMES)
async def test_a_file_of_any_name_is_written_listed_moved_and_read(dav: Dav, name: str) -> None:
    assert (await dav.send("PUT", f"/{name}", b"one")).status_code == 201
    assert await dav.names() == [name]
    await dav.ok("MKCOL", "/folder")
    assert (await dav.move(f"/{name}", f"/folder/{name}")).status_code == 201
    assert (await dav.move(f"/folder/{name}", f"/folder/2 {name}", "COPY")).status_code == 201
    assert (await dav.ok("GET", f"/folder/2 {name}")).content == b"one"
    assert sorted(await dav.names("/folder")) == sorted([name, f"2 {name}"])


async def test_a_name_in_another_form_of_unicode_is_the_same_name(dav: Dav) -> None:
    decomposed = unicodedata.normalize("NFD", "Café.txt")
    await dav.ok("PUT", f"/{decomposed}", b"1")
    assert await dav.names() == ["Café.txt"]
    assert (await dav.ok("GET", f"/{decomposed}")).content == b"1"


@pytest.mark.parametrize("name", ["ends with a space ", " begins with one", "back\\slash", "x" * 256])
async def test_a_name_that_the_drive_refuses_is_refused_with_its_reason(dav: Dav, name: str) -> None:
    for method, body in (("PUT", b"1"), ("MKCOL", None)):
        response = await dav.send(method, f"/{name}", body)
        assert response.status_code == 422
        assert b"invalid_name" in response.content
    assert await dav.names() == []


@pytest.mark.parametrize("address", ["/dav/%FF", "/dav/a%2Fb", "/dav/a%00b", "/dav/%0a"])
async def test_an_address_that_no_item_can_have_is_refused(dav: Dav, address: str) -> None:
    assert (await dav.http.request("PROPFIND", address, headers={"Depth": "0"})).status_code == 400
    assert (await dav.http.put(address, content=b"1")).status_code == 400


async def test_the_etag_is_strong_and_that_of_the_drive(service: Service, dav: Dav) -> None:
    made = await dav.ok("PUT", "/a.txt", b"one")
    item = await service.drive.files.get(await owner(service), "/a.txt")
    expected = f'"{item.etag}"'
    read = await dav.ok("GET", "/a.txt")
    assert (made.headers["etag"], read.headers["etag"], await dav.prop("/a.txt", "getetag")) == (expected,) * 3
    assert (await dav.send("GET", "/a.txt", If_None_Match=expected)).status_code == 304


async def test_a_part_of_a_file_is_read_with_its_range(dav: Dav) -> None:
    etag = (await dav.ok("PUT", "/a.txt", b"0123456789")).headers["etag"]
    part = await dav.send("GET", "/a.txt", Range="bytes=2-4", If_Range=etag)
    assert (part.status_code, part.content, part.headers["content-range"]) == (206, b"234", "bytes 2-4/10")
    assert (await dav.send("GET", "/a.txt", Range="bytes=2-4", If_Range='"old"')).status_code == 200
    assert (await dav.send("GET", "/a.txt", Range="bytes=20-")).status_code == 416
    head = await dav.ok("HEAD", "/a.txt")
    assert (head.content, head.headers["content-length"]) == (b"", "10")


async def test_writing_over_a_file_makes_a_version_and_can_be_undone(service: Service, dav: Dav) -> None:
    await dav.ok("PUT", "/a.txt", b"one")
    assert (await dav.send("PUT", "/a.txt", b"two")).status_code == 204
    actor = await owner(service)
    versions = await service.drive.documents.list_versions(actor, "/a.txt")
    assert [version.number for version in versions.items] == [2, 1]
    change = (await service.drive.journal.list_changes(actor)).items[0]
    assert (change.method, change.tool, change.action) == ("webdav", "webdav", "write")
    await service.drive.undo.undo(actor, change_id=change.id)
    assert (await dav.ok("GET", "/a.txt")).content == b"one"


async def test_an_empty_file_that_gets_its_content_gets_the_type_of_that_too(service: Service, dav: Dav) -> None:
    assert (await dav.send("PUT", "/scan", b"")).status_code == 201
    assert (await dav.ok("GET", "/scan")).content == b""
    assert (await dav.send("PUT", "/scan", b"\x00\x01\x02\xff" * 100)).status_code == 204
    assert (await service.drive.files.get(await owner(service), "/scan")).media_type == "application/octet-stream"


async def test_deleting_moves_to_the_trash(service: Service, dav: Dav) -> None:
    await dav.ok("MKCOL", "/folder")
    await dav.ok("PUT", "/folder/a.txt", b"one")
    assert (await dav.send("DELETE", "/folder")).status_code == 204
    assert (await dav.send("GET", "/folder/a.txt")).status_code == 404
    trash = await service.drive.files.list_trash(await owner(service))
    assert [item.name for item in trash.items] == ["folder"]


async def test_conditions_hold_for_files_that_are_there_and_that_are_not(dav: Dav) -> None:
    assert (await dav.send("PUT", "/a.txt", b"one", If_Match="*")).status_code == 412
    etag = (await dav.ok("PUT", "/a.txt", b"one", If_None_Match="*")).headers["etag"]
    assert (await dav.send("PUT", "/a.txt", b"two", If_None_Match="*")).status_code == 412
    newer = (await dav.ok("PUT", "/a.txt", b"two", If_Match=etag)).headers["etag"]
    assert (await dav.send("PUT", "/a.txt", b"three", If_Match=etag)).status_code == 412
    assert (await dav.send("DELETE", "/a.txt", If_Match=etag)).status_code == 412
    assert (await dav.ok("GET", "/a.txt")).content == b"two"
    assert (await dav.send("DELETE", "/a.txt", If_Match=newer)).status_code == 204


async def test_a_body_of_unknown_length_is_taken_and_bounded(service: Service, dav: Dav) -> None:
    async def chunks(size: int) -> AsyncIterator[bytes]:
        for _ in range(size):
            yield b"x" * 65_536

    await dav.ok("PUT", "/a.bin", chunks(3), X_Expected_Entity_Length=str(3 * 65_536))
    assert await dav.prop("/a.bin", "getcontentlength") == str(3 * 65_536)
    assert (await dav.send("PUT", "/b.bin", chunks(60))).status_code == 413
    announced = str(service.drive.settings.max_upload_bytes + 1)
    assert (await dav.send("PUT", "/c.bin", chunks(1), X_Expected_Entity_Length=announced)).status_code == 413
    assert await dav.names() == ["a.bin"]


async def test_an_upload_that_breaks_off_leaves_nothing(service: Service, dav: Dav) -> None:
    await dav.ok("PUT", "/a.txt", b"whole")
    for path in ("/dav/a.txt", "/dav/new.txt"):
        host = httpx.URL(service.url)
        _, writer = await asyncio.open_connection(host.host, host.port)
        key = f"Authorization: Bearer {service.token}\r\n"
        writer.write(f"PUT {path} HTTP/1.1\r\nHost: x\r\n{key}Content-Length: 1000\r\n\r\nhalf".encode())
        await writer.drain()
        writer.close()
        await writer.wait_closed()
    # Its thread is one of the same person's: the next upload comes after it.
    await dav.ok("PUT", "/after.txt", b"1")
    assert (await dav.ok("GET", "/a.txt")).content == b"whole"
    assert await dav.names() == ["a.txt", "after.txt"]


async def test_a_file_that_has_no_room_is_refused_before_it_is_sent(service: Service, dav: Dav) -> None:
    actor = await owner(service)
    admin = await service.drive.identity.authenticate(service.token)
    await service.drive.quota.set_quota(Actor(admin), actor.principal.email, 10)
    response = await dav.send("PUT", "/a.txt", b"x" * 11)
    assert (response.status_code, b"quota_exceeded" in response.content) == (507, True)
    await dav.ok("PUT", "/a.txt", b"x" * 9)
    assert (await dav.prop("/", "quota-used-bytes"), await dav.prop("/", "quota-available-bytes")) == ("9", "1")
    everything = await dav.find("/")
    assert "{DAV:}quota-used-bytes" not in next(iter(everything.values()))


async def test_folders_are_made_where_their_parents_are(dav: Dav) -> None:
    assert (await dav.send("MKCOL", "/a/b")).status_code == 409
    assert (await dav.send("PUT", "/a/b.txt", b"1")).status_code == 409
    assert (await dav.send("MKCOL", "/a")).status_code == 201
    assert (await dav.send("MKCOL", "/a")).status_code == 405
    assert (await dav.send("MKCOL", "/b", b"<x/>")).status_code == 415
    assert (await dav.send("PUT", "/a", b"1")).status_code == 405


async def test_errors_name_no_paths_and_no_traces(service: Service, dav: Dav, monkeypatch: pytest.MonkeyPatch) -> None:
    async def fail(*_: object, **__: object) -> None:
        raise RuntimeError("/secret/path")

    monkeypatch.setattr(service.drive.files, "create_folder", fail)
    monkeypatch.setattr(service.drive.saves, "delete", fail)
    await dav.ok("PUT", "/a.txt", b"1")
    for method, path in (("MKCOL", "/b"), ("DELETE", "/a.txt")):
        response = await dav.send(method, path)
        assert response.status_code == 500
        assert b"internal" in response.content
        assert not [word for word in (b"secret", b"Traceback", b"wsgidav", b".py") if word in response.content]


ESCAPES = ["\ufdd0", "\ufdd1", "\ufdd2", "\ufdd03f\ufdd0", "\ufdd0id\ufdd0", "\ufffe", "\U0001ffff"]


@pytest.mark.parametrize("escape", ESCAPES)
async def test_a_name_that_looks_like_an_escape_is_no_other_name(service: Service, dav: Dav, escape: str) -> None:
    for name in ("a?.txt", "a;.txt", "a.txt"):
        await dav.ok("PUT", f"/{name}", b"one")
    item = (await service.drive.files.list_folder(await owner(service), "root")).items[0]
    for path in (f"/a{escape}.txt", f"/{escape}{item.id}", f"/{escape}/{item.id}"):
        assert (await dav.send("GET", path)).status_code == 404
        assert (await dav.send("DELETE", path)).status_code == 404
        assert (await dav.move(path, "/b.txt")).status_code == 404
        assert (await dav.move("/a.txt", path)).status_code in {400, 409, 422}
        assert (await dav.send("PUT", path, b"two")).status_code in {400, 409, 422}
    assert sorted(await dav.names()) == ["a.txt", "a;.txt", "a?.txt"]


@pytest.mark.parametrize("end", ["%0A", "%09", "%0D"])
async def test_a_destination_with_a_line_end_in_it_is_no_other_name(dav: Dav, end: str) -> None:
    await dav.ok("PUT", "/a.txt", b"one")
    await dav.ok("PUT", "/b.txt", b"two")
    base = str(dav.http.base_url).rstrip("/")
    moved = await dav.send("MOVE", "/a.txt", Destination=f"{base}/dav/b{end}.txt")
    assert moved.status_code in {400, 409, 422}
    assert ((await dav.ok("GET", "/a.txt")).content, (await dav.ok("GET", "/b.txt")).content) == (b"one", b"two")


@pytest.mark.parametrize("escape", ESCAPES)
async def test_an_old_name_with_a_noncharacter_is_listed_read_renamed_and_deleted_alone(
    service: Service, dav: Dav, escape: str
) -> None:
    await dav.ok("PUT", "/a?.txt", b"question")
    await dav.ok("PUT", "/old.txt", b"old")
    async with service.drive.database.write() as session:
        await session.execute(update(NodeRow).where(NodeRow.name == "old.txt").values(name=f"a{escape}.txt"))
    assert sorted(await dav.names()) == sorted(["a?.txt", f"a{escape}.txt"])
    assert (await dav.ok("GET", f"/a{escape}.txt")).content == b"old"
    assert (await dav.move(f"/a{escape}.txt", "/new.txt")).status_code == 201
    change = (await service.drive.journal.list_changes(await owner(service))).items[0]
    assert (escape in change.summary, "\\u{" in change.summary) == (False, True)
    await dav.ok("DELETE", "/new.txt")
    assert (await dav.ok("GET", "/a?.txt")).content == b"question"
