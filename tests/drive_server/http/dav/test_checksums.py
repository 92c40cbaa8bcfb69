"""Checksums over WebDAV, as ownCloud and Nextcloud have them."""

from __future__ import annotations

from hashlib import md5, sha1
from typing import TYPE_CHECKING

import pytest
from sqlalchemy import update

from drive_server.kernel.files.spool import CHECKED_BYTES
from drive_server.services.webdav import checksums
from drive_server.storage.tables.items import VersionRow
from tests.drive_server.http.dav.client import properties_of
from tests.drive_server.http.dav.test_files import owner

if TYPE_CHECKING:
    from drive_server.drive import Drive
    from tests.drive_server.http.dav.client import Dav
    from tests.drive_server.http.service import Service

CHECKSUMS = "{http://owncloud.org/ns}checksums"
ASKED = (
    '<D:propfind xmlns:D="DAV:" xmlns:oc="http://owncloud.org/ns"><D:prop><D:getetag/><oc:checksums/></D:prop>'
    "</D:propfind>"
)
NULLS = "0" * 40
SHA1 = "a9993e364706816aba3e25717850c26c9cd0d89d"


async def sums(dav: Dav, path: str, depth: str = "0") -> dict[str, str | None]:
    """Return the checksums in a PROPFIND by address; None for those that are not found."""
    found = properties_of((await dav.ok("PROPFIND", path, ASKED, Depth=depth)).content)
    return {href: _text(properties.get(CHECKSUMS)) for href, properties in found.items()}


def _text(element: object) -> str | None:
    return None if element is None else " ".join(element.itertext())  # pyright: ignore[reportAttributeAccessIssue]


def of(content: bytes) -> str:
    digests = {"SHA1": sha1(content, usedforsecurity=False), "MD5": md5(content, usedforsecurity=False)}
    return " ".join(f"{kind}:{digest.hexdigest()}" for kind, digest in digests.items())


async def forget(drive: Drive) -> None:
    """Make all contents as old as before the column."""
    async with drive.database.write() as session:
        await session.execute(update(VersionRow).values(checksums=None))


async def test_files_have_checksums_and_folders_none(service: Service, dav: Dav) -> None:
    await dav.ok("MKCOL", "/f")
    await dav.ok("PUT", "/f/ck.txt", b"abc")
    await dav.ok("PUT", "/f/empty.txt", b"")
    expected = {"/dav/f/": None, "/dav/f/ck.txt": of(b"abc"), "/dav/f/empty.txt": of(b"")}
    assert await sums(dav, "/f", "1") == expected
    assert (await dav.ok("GET", "/f/ck.txt")).headers["oc-checksum"] == f"SHA1:{SHA1}"
    await forget(service.drive)
    assert "oc-checksum" not in (await dav.ok("GET", "/f/ck.txt")).headers
    assert await sums(dav, "/f", "1") == expected, "an old file answers as well"
    assert (await dav.ok("HEAD", "/f/ck.txt")).headers["oc-checksum"] == f"SHA1:{SHA1}", "and is read once"


async def test_a_large_content_is_read_when_somebody_asks(
    service: Service, dav: Dav, monkeypatch: pytest.MonkeyPatch
) -> None:
    large = [bytes([number]) * (CHECKED_BYTES + 1) for number in range(2)]
    for number, content in enumerate(large):
        await dav.ok("PUT", f"/{number}.bin", content)
    assert "oc-checksum" not in (await dav.ok("HEAD", "/0.bin")).headers
    monkeypatch.setattr(checksums, "MAX_BYTES", CHECKED_BYTES)
    listed = await sums(dav, "/", "1")
    assert sorted(listed.values(), key=str)[-1] is not None
    assert list(listed.values()).count(None) == 2, "the folder, and what is left for the next time"
    assert await sums(dav, "/", "1") == {"/dav/": None, "/dav/0.bin": of(large[0]), "/dav/1.bin": of(large[1])}
    stored = (await service.drive.documents.open_content(await owner(service), "/0.bin")).checksums
    assert stored == of(large[0])


async def test_a_copy_an_edit_and_an_earlier_version_have_theirs(service: Service, dav: Dav) -> None:
    await dav.ok("PUT", "/a.txt", b"abc")
    await dav.move("/a.txt", "/b.txt", "COPY")
    actor = await owner(service)
    await service.drive.documents.append(actor, "/a.txt", "x")
    assert await sums(dav, "/a.txt") == {"/dav/a.txt": of(b"abc\nx")}
    await service.drive.documents.restore_version(actor, "/a.txt", 1)
    for path in ("/a.txt", "/b.txt"):
        assert await sums(dav, path) == {f"/dav{path}": of(b"abc")}


async def test_all_properties_and_their_names_do_not_make_it_read_old_files(service: Service, dav: Dav) -> None:
    await dav.ok("PUT", "/a.txt", b"abc")
    await forget(service.drive)
    (found,) = properties_of((await dav.send("PROPFIND", "/a.txt", Depth="0")).content).values()
    assert CHECKSUMS not in found
    patched = await dav.ok(
        "PROPPATCH",
        "/a.txt",
        '<D:propertyupdate xmlns:D="DAV:" xmlns:oc="http://owncloud.org/ns"><D:set><D:prop><oc:checksums>SHA1:0'
        "</oc:checksums></D:prop></D:set></D:propertyupdate>",
    )
    assert b" 403 " in patched.content


@pytest.mark.parametrize(
    "header", [f"SHA1:{NULLS}", "MD5:0", "ADLER32:00000001", "SHA256:", "SHA1", f"SHA1:{SHA1} MD5:0"]
)
async def test_what_arrives_damaged_is_refused_and_nothing_is_stored(dav: Dav, header: str) -> None:
    refused = await dav.send("PUT", "/ck.txt", b"abc", OC_Checksum=header)
    assert refused.status_code == 400
    assert b"invalid_argument" in refused.content
    assert await dav.names() == []
    await dav.ok("PUT", "/ck.txt", b"before")
    assert (await dav.send("PUT", "/ck.txt", b"abc", OC_Checksum=header)).status_code == 400
    assert (await dav.ok("GET", "/ck.txt")).content == b"before"
    assert await dav.names() == ["ck.txt"]


@pytest.mark.parametrize("header", [f"SHA1:{SHA1}", f"sha1:{SHA1.upper()}", "XXH128:00", ""])
async def test_a_right_checksum_and_one_of_an_unknown_kind_are_taken(dav: Dav, header: str) -> None:
    assert (await dav.send("PUT", "/ck.txt", b"abc", OC_Checksum=header)).status_code == 201


async def test_an_upload_over_http_is_checked_as_well(service: Service) -> None:
    async with service.client() as client:
        address = "/api/drive/files?name=a.txt"
        refused = await client.post(address, content=b"abc", headers={"OC-Checksum": f"SHA1:{NULLS}"})
        assert (refused.status_code, refused.json()["code"]) == (400, "invalid_argument")
        assert "SHA1" in refused.json()["detail"]
        made = await client.post(address, content=b"abc", headers={"OC-Checksum": f"SHA1:{SHA1}"})
        assert made.status_code == 201
