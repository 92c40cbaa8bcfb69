from __future__ import annotations

import gc
from typing import TYPE_CHECKING, Any

import pytest
from sqlalchemy import event, insert

from drive_server.http.dav.places import PAGE_ITEMS
from drive_server.http.dav.resources import FileResource
from drive_server.services.webdav.properties import MAX_PROPERTIES, MAX_VALUE_CHARACTERS
from drive_server.storage.tables.base import new_id
from drive_server.storage.tables.items import NodeRow
from tests.drive_server.http.dav.client import properties_of
from tests.drive_server.http.dav.test_files import owner

if TYPE_CHECKING:
    from drive_server.drive import Drive
    from tests.drive_server.http.dav.client import Dav
    from tests.drive_server.http.service import Service

MANY = 2_500
FIRST = "{DAV:}resourcetype"


async def fill(drive: Drive, folder_id: str, user_id: str, count: int) -> None:
    folder_row = {"parent_id": folder_id, "owner_id": user_id, "kind": "file", "media_type": "text/plain"}
    async with drive.database.write() as session:
        folder = await session.get_one(NodeRow, folder_id)
        more = {"created_at": folder.created_at, "updated_at": folder.updated_at, "version": 1, "size": 3}
        rows = [{"id": new_id(), "name": f"file {number:05}.txt", **folder_row, **more} for number in range(count)]
        await session.execute(insert(NodeRow), rows)


async def test_a_large_folder_takes_few_queries_and_the_memory_of_two_pages(
    service: Service, dav: Dav, monkeypatch: pytest.MonkeyPatch
) -> None:
    actor = await owner(service)
    folder = (await service.drive.files.create_folder(actor, "root", "many")).value
    await fill(service.drive, folder.id, actor.user_id, MANY)
    statements: list[str] = []
    alive: list[int] = []
    list_folder = service.drive.files.list_folder

    def note(_: Any, __: Any, statement: str, *___: Any) -> None:
        statements.append(statement)

    async def counted(*arguments: Any, **named: Any) -> Any:
        alive.append(sum(type(one) is FileResource for one in gc.get_objects()))
        return await list_folder(*arguments, **named)

    monkeypatch.setattr(service.drive.files, "list_folder", counted)
    event.listen(service.drive.database.engine.sync_engine, "before_cursor_execute", note)
    response = await dav.ok("PROPFIND", "/many", Depth="1")
    event.remove(service.drive.database.engine.sync_engine, "before_cursor_execute", note)
    assert response.content.count(b"</D:response>") == MANY + 1
    assert response.headers["transfer-encoding"] == "chunked"
    assert len(alive) == MANY / PAGE_ITEMS
    assert max(alive) <= 2 * PAGE_ITEMS
    assert len(statements) < 15 * len(alive), "a bounded number for each page, none for each item"


async def test_infinite_depth_is_refused_as_the_standard_says(dav: Dav) -> None:
    for headers in ({"Depth": "infinity"}, {}):
        response = await dav.send("PROPFIND", "/", **headers)
        assert response.status_code == 403
        assert b"propfind-finite-depth" in response.content
    assert (await dav.send("PROPFIND", "/", Depth="2")).status_code == 400


async def test_names_and_values_are_told_as_they_are_asked_for(dav: Dav) -> None:
    await dav.ok("PUT", "/a.txt", b"abc")
    (named,) = (await dav.find("/a.txt", "getcontentlength", "getcontenttype", "quota-used-bytes")).values()
    assert {name: element.text for name, element in named.items()} == {
        "{DAV:}getcontentlength": "3",
        "{DAV:}getcontenttype": "text/plain",
    }
    names = await dav.send("PROPFIND", "/", '<propfind xmlns="DAV:"><propname/></propfind>', Depth="0")
    (found,) = properties_of(names.content).values()
    assert {"{DAV:}quota-used-bytes", "{DAV:}supportedlock", FIRST} <= found.keys()
    assert not [element for element in found.values() if len(element) or element.text]
    more = '<propfind xmlns="DAV:"><allprop/><include><quota-used-bytes/></include></propfind>'
    (found,) = properties_of((await dav.send("PROPFIND", "/", more, Depth="0")).content).values()
    assert {"{DAV:}quota-used-bytes", "{DAV:}displayname", "{DAV:}creationdate"} <= found.keys()


@pytest.mark.parametrize(
    "body",
    [
        '<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><propfind xmlns="DAV:"><allprop/></propfind>',
        '<!DOCTYPE x SYSTEM "file:///etc/passwd"><propfind xmlns="DAV:"><allprop/></propfind>',
        '<propfind xmlns="DAV:"><allprop/>',
        "<D:propfind><D:allprop/></D:propfind>",
        '<propfind xmlns="DAV:"><allprop/><propname/></propfind>',
        '<other xmlns="DAV:"/>',
        "no xml",
    ],
)
async def test_a_body_that_is_broken_or_dangerous_is_refused(dav: Dav, body: str) -> None:
    assert (await dav.send("PROPFIND", "/", body, Depth="0")).status_code == 400


async def test_large_bodies_are_refused(service: Service, dav: Dav) -> None:
    body = f'<propfind xmlns="DAV:"><allprop/><!-- {"x" * service.drive.settings.max_request_bytes} --></propfind>'
    assert (await dav.send("PROPFIND", "/", body, Depth="0")).status_code == 413


def patch(*values: tuple[str, str | None]) -> str:
    parts = [
        f"<D:{'remove' if value is None else 'set'}><D:prop><x:{name}>{value or ''}</x:{name}></D:prop>"
        f"</D:{'remove' if value is None else 'set'}>"
        for name, value in values
    ]
    return f'<D:propertyupdate xmlns:D="DAV:" xmlns:x="urn:x">{"".join(parts)}</D:propertyupdate>'


async def test_properties_are_set_and_removed_all_or_none_and_change_no_etag(dav: Dav) -> None:
    etag = (await dav.ok("PUT", "/a.txt", b"1")).headers["etag"]
    await dav.ok("PROPPATCH", "/a.txt", patch(("one", "1"), ("two", "<b>bold</b>")))
    await dav.ok("PROPPATCH", "/a.txt", patch(("one", None), ("three", "3")))
    refused = patch(("four", "4")).replace("</D:prop>", "<D:getetag>mine</D:getetag></D:prop>", 1)
    response = await dav.send("PROPPATCH", "/a.txt", refused)
    assert b"424" in response.content
    assert b"cannot-modify-protected-property" in response.content or b"403" in response.content
    (found,) = (await dav.find("/a.txt")).values()
    assert {name for name in found if name.startswith("{urn:x}")} == {"{urn:x}two", "{urn:x}three"}
    assert found["{urn:x}two"][0].text == "bold"
    assert (await dav.ok("GET", "/a.txt")).headers["etag"] == etag


async def test_properties_are_bounded_in_size_and_number(dav: Dav) -> None:
    await dav.ok("PUT", "/a.txt", b"1")
    long = patch(("long", "x" * (MAX_VALUE_CHARACTERS + 1)))
    many = patch(*((f"p{number}", "1") for number in range(MAX_PROPERTIES + 1)))
    for body in (long, many):
        assert b" 413 " in (await dav.send("PROPPATCH", "/a.txt", body)).content
    (found,) = (await dav.find("/a.txt")).values()
    assert not [name for name in found if name.startswith("{urn:x}")]


async def test_the_time_that_a_client_gives_a_content_stays_with_it_until_the_next(dav: Dav) -> None:
    response = await dav.ok("PUT", "/a.txt", b"1", X_OC_Mtime="1000000000")
    assert response.headers["x-oc-mtime"] == "accepted"
    then = "Sun, 09 Sep 2001 01:46:40 GMT"
    listed = await dav.find("/", "getlastmodified", depth="1")
    assert listed["/dav/a.txt"]["{DAV:}getlastmodified"].text == then
    assert (await dav.ok("GET", "/a.txt")).headers["last-modified"] == then
    assert (await dav.move("/a.txt", "/b.txt")).status_code == 201
    assert (await dav.move("/b.txt", "/c.txt", "COPY")).status_code == 201
    assert [await dav.prop(path, "getlastmodified") for path in ("/b.txt", "/c.txt")] == [then, then]
    await dav.ok("PUT", "/b.txt", b"2")
    assert await dav.prop("/b.txt", "getlastmodified") != then
    for wrong in ("nan", "soon", "9" * 15, "9" * 30):
        response = await dav.ok("PUT", "/d.txt", b"1", X_OC_Mtime=wrong)
        assert "x-oc-mtime" not in response.headers
