"""What Finder (WebDAVFS) and Windows (the Mini-Redirector) send for everyday actions, over real HTTP.

Written from the documented behaviour of macOS' and Windows' own clients: methods, headers and bodies in their order.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.drive_server.http.dav.client import properties_of
from tests.drive_server.http.dav.test_files import owner

if TYPE_CHECKING:
    import httpx

    from tests.drive_server.http.dav.client import Dav
    from tests.drive_server.http.service import Service

FINDER = {"User-Agent": "WebDAVFS/3.0.0 (03008000) Darwin/23.1.0 (x86_64)", "Accept": "*/*"}
FINDER_LOCK = """<?xml version="1.0" encoding="utf-8"?>
<D:lockinfo xmlns:D="DAV:">
<D:lockscope><D:exclusive/></D:lockscope>
<D:locktype><D:write/></D:locktype>
<D:owner><D:href>http://www.apple.com/webdav_fs/</D:href></D:owner>
</D:lockinfo>
"""
FINDER_STAT = """<?xml version="1.0" encoding="utf-8"?>
<D:propfind xmlns:D="DAV:">
<D:prop>
<D:getlastmodified/>
<D:getcontentlength/>
<D:creationdate/>
<D:resourcetype/>
</D:prop>
</D:propfind>
"""
FINDER_QUOTA = """<?xml version="1.0" encoding="utf-8"?>
<D:propfind xmlns:D="DAV:">
<D:prop>
<D:quota-available-bytes/>
<D:quota-used-bytes/>
<D:quota/>
<D:quotaused/>
</D:prop>
</D:propfind>
"""
WINDOWS = {"User-Agent": "Microsoft-WebDAV-MiniRedir/10.0.19045", "translate": "f", "Connection": "Keep-Alive"}
WINDOWS_LOCK = (
    '<?xml version="1.0" encoding="utf-8" ?><D:lockinfo xmlns:D="DAV:"><D:lockscope><D:exclusive/></D:lockscope>'
    "<D:locktype><D:write/></D:locktype><D:owner><D:href>DESKTOP-1\\ann</D:href></D:owner></D:lockinfo>"
)
WINDOWS_TIMES = (
    '<?xml version="1.0" encoding="utf-8" ?><D:propertyupdate xmlns:D="DAV:" xmlns:Z="urn:schemas-microsoft-com:">'
    "<D:set><D:prop><Z:Win32CreationTime>Mon, 23 Nov 2026 03:00:00 GMT</Z:Win32CreationTime>"
    "<Z:Win32LastAccessTime>Mon, 23 Nov 2026 03:00:01 GMT</Z:Win32LastAccessTime>"
    "<Z:Win32LastModifiedTime>Mon, 23 Nov 2026 03:00:02 GMT</Z:Win32LastModifiedTime>"
    "<Z:Win32FileAttributes>00000020</Z:Win32FileAttributes></D:prop></D:set></D:propertyupdate>"
)


async def in_chunks(content: bytes):
    yield content


async def finder_writes(dav: Dav, path: str, content: bytes) -> None:
    """Make a file as Finder does: empty, locked, looked at, with its content in chunks, the lock renewed and ended."""
    assert (await dav.send("PROPFIND", path, FINDER_STAT, Depth="0")).status_code == 404
    assert (await dav.send("PUT", path, b"")).status_code == 201
    lock = await dav.send("LOCK", path, FINDER_LOCK, Depth="0", Timeout="Second-600", Content_Type="text/xml")
    assert lock.status_code == 200
    token = lock.headers["lock-token"]
    assert token.strip("<>").encode() in lock.content
    assert b"http://www.apple.com/webdav_fs/" in lock.content
    found = await dav.send("PROPFIND", path, FINDER_STAT, Depth="0")
    assert b"<D:getcontentlength>0</D:getcontentlength>" in found.content
    expected = {"X_Expected_Entity_Length": str(len(content)), "Expect": "100-continue"}
    assert (await dav.send("PUT", path, in_chunks(content), If=f"({token})", **expected)).status_code == 204
    refreshed = await dav.send("LOCK", path, If=f"({token})", Timeout="Second-600")
    assert refreshed.status_code == 200
    assert (await dav.send("UNLOCK", path, Lock_Token=token)).status_code == 204


async def test_finder_mounts_copies_renames_and_deletes(service: Service, dav: Dav) -> None:
    dav.http.headers.update(FINDER)
    assert "2" in (await dav.ok("OPTIONS", "/")).headers["dav"]
    assert (await dav.send("PROPFIND", "/", FINDER_QUOTA, Depth="0")).status_code == 207
    assert (await dav.send("PROPFIND", "/", FINDER_STAT, Depth="1")).status_code == 207
    for hidden in ("/._.", "/.DS_Store", "/.hidden", "/.metadata_never_index_unless_rootfs", "/Contents"):
        assert (await dav.send("PROPFIND", hidden, FINDER_STAT, Depth="0")).status_code == 404
    assert (await dav.send("MKCOL", "/untitled folder")).status_code == 201
    assert (await dav.move("/untitled folder", "/Bilder", Overwrite="F")).status_code == 201
    await finder_writes(dav, "/Bilder/Café 1.txt", b"content")
    await finder_writes(dav, "/Bilder/._Café 1.txt", b"\x00\x05\x16\x07" + b"\x00" * 100)
    await finder_writes(dav, "/Bilder/.DS_Store", b"Bud1")
    listed = properties_of((await dav.send("PROPFIND", "/Bilder", FINDER_STAT, Depth="1")).content)
    assert len(listed) == 4
    assert all("{DAV:}getlastmodified" in found for found in listed.values())
    assert (await dav.send("GET", "/Bilder/Café 1.txt", Range="bytes=0-3")).content == b"cont"
    assert (await dav.move("/Bilder/Café 1.txt", "/Bilder/Café 2.txt")).status_code == 201
    assert (await dav.send("DELETE", "/Bilder/._Café 1.txt")).status_code == 204
    assert (await dav.send("DELETE", "/Bilder")).status_code == 204
    changes = (await service.drive.journal.list_changes(await owner(service))).items
    assert {change.method for change in changes} == {"webdav"}


async def windows_writes(dav: Dav, path: str, content: bytes) -> httpx.Response:
    """Make a file as Explorer does: empty, locked, its content and times under the lock, read back, unlocked."""
    assert (await dav.send("PROPFIND", path, Depth="0", Content_Length="0")).status_code == 404
    assert (await dav.send("PUT", path, b"")).status_code == 201
    lock = await dav.send("LOCK", path, WINDOWS_LOCK, Timeout="Second-3600", Content_Type='text/xml; charset="utf-8"')
    token = lock.headers["lock-token"]
    assert (await dav.send("PROPPATCH", path, WINDOWS_TIMES, If=f"({token})")).status_code == 207
    await dav.ok("HEAD", path)
    assert (await dav.send("PUT", path, content, If=f"({token})", Overwrite="T")).status_code == 204
    patched = await dav.send("PROPPATCH", path, WINDOWS_TIMES, If=f"({token})")
    assert (await dav.send("UNLOCK", path, Lock_Token=token)).status_code == 204
    return patched


async def test_windows_maps_copies_renames_and_deletes(service: Service, dav: Dav) -> None:
    dav.http.headers.update(WINDOWS)
    assert (await dav.http.options("/")).headers["dav"]
    options = await dav.ok("OPTIONS", "/")
    assert (options.headers["ms-author-via"], "LOCK" in options.headers["allow"]) == ("DAV", True)
    assert (await dav.send("PROPFIND", "/", Depth="0", Content_Length="0")).status_code == 207
    for probed in ("/desktop.ini", "/Thumbs.db", "/AutoRun.inf"):
        assert (await dav.send("PROPFIND", probed, Depth="0")).status_code == 404
    assert (await dav.send("MKCOL", "/New folder")).status_code == 201
    assert (await dav.move("/New folder", "/报告", Overwrite="F")).status_code == 201
    patched = await windows_writes(dav, "/报告/letter & co.docx", b"PK content")
    assert next(iter(properties_of(patched.content).values())).keys() == {
        f"{{urn:schemas-microsoft-com:}}Win32{name}"
        for name in ("CreationTime", "LastAccessTime", "LastModifiedTime", "FileAttributes")
    }
    await windows_writes(dav, "/报告/~$letter.docx", b"owner")
    listed = properties_of((await dav.send("PROPFIND", "/报告", Depth="1")).content)
    values = next(found for href, found in listed.items() if href.endswith("co.docx"))
    assert values["{urn:schemas-microsoft-com:}Win32FileAttributes"].text == "00000020"
    assert values["{DAV:}getcontentlength"].text == "10"
    assert (await dav.send("DELETE", "/报告/~$letter.docx")).status_code == 204
    assert (await dav.move("/报告/letter & co.docx", "/报告/letter.docx", Overwrite="F")).status_code == 201
    assert (await dav.send("DELETE", "/报告")).status_code == 204
    assert (await service.drive.files.list_trash(await owner(service))).items
