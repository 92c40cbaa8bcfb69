from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from sqlalchemy import inspect

from drive_server.kernel.errors import DriveError
from drive_server.services.tree.nodes import locate_many_sync, locate_sync
from drive_server.storage.tables.base import new_id
from drive_server.storage.tables.items import NodeRow
from drive_server.storage.tables.sharing import LinkRow

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from drive_server.kernel.access import Actor, Principal
    from drive_server.services.tree.ancestors import Reader
    from drive_server.services.tree.nodes import NodeView
    from tests.drive_server.store import Store

BEN = "ben@example.com"
COLUMNS = [column.key for column in inspect(NodeRow).columns]


def told(node: NodeView) -> dict[str, Any]:
    row = {name: getattr(node.row, name) for name in COLUMNS}
    seen = (node.role, node.path, node.ancestors, node.shared, node.subject.en, node.is_root)
    return {"row": row, "seen": seen}


def answer(reader: Reader, principal: Principal, ref: str) -> Any:
    try:
        return told(locate_sync(reader, principal, ref))
    except DriveError as error:
        return error.to_dict()


async def both(store: Store, principal: Principal, ref: str) -> tuple[Any, Any]:
    """Return what a session finds, and what a bare connection does."""
    async with store.database.read() as session:
        in_session = await session.run_sync(answer, principal, ref)
    return in_session, await store.database.read_sync(lambda connection: answer(connection, principal, ref))


async def by_link(store: Store, actor: Actor, node_id: str) -> Principal:
    link_id = new_id()
    async with store.database.write() as session:
        now = (await session.get_one(NodeRow, node_id)).created_at
        session.add(LinkRow(id=link_id, node_id=node_id, role=1, created_by=actor.user_id, created_at=now))
    return replace(actor.principal, link_id=link_id, method="link")


@pytest.mark.parametrize(
    "ref",
    [
        "root",
        "/",
        "/计划",
        "/计划/deep/a.txt/",
        "/Shared with me",
        "/Shared with me/计划/deep",
        "//",
        "",
        "nobody",
        "/\0",
    ],
)
async def test_a_connection_finds_what_a_session_does(store: Store, ana: Actor, ben: Actor, ref: str) -> None:
    for path in ("/计划", "/计划/deep"):
        await store.folder(ana, path)
    await store.file(ana, "/计划/deep/a.txt")
    await store.sharing.share(ana, "/计划", BEN, "editor")

    for actor in (ana, ben):
        in_session, by_connection = await both(store, actor.principal, ref)
        assert by_connection == in_session


async def test_by_id_too_for_owners_and_others_by_links_and_in_the_trash(store: Store, ana: Actor, ben: Actor) -> None:
    top = await store.folder(ana, "/top")
    item = await store.file(ana, "/top/a.txt", "🙂")
    await store.sharing.share(ana, top.id, BEN, "viewer")
    link = await by_link(store, ana, top.id)
    principals = [ana.principal, ben.principal, link]

    async def found() -> list[str]:
        pairs = [await both(store, principal, item.id) for principal in principals]
        assert all(in_session == by_connection for in_session, by_connection in pairs)
        return ["seen" if "seen" in pair[0] else pair[0]["code"] for pair in pairs]

    assert await found() == ["seen", "seen", "seen"]
    await store.files.trash(ana, item.id)
    assert await found() == ["seen", "not_found", "not_found"]


async def test_many_are_found_alike(store: Store, ana: Actor, ben: Actor) -> None:
    own = [(await store.folder(ana, f"/{name}")).id for name in "abc"]
    foreign = (await store.folder(ben, "/theirs")).id

    def look(connection: Connection) -> set[str]:
        return set(locate_many_sync(connection, ana.principal, [*own, foreign, "unknown", *own]))

    assert await store.database.read_sync(look) == set(own)
    assert await store.database.read_sync(lambda connection: locate_many_sync(connection, ana.principal, [])) == {}


async def test_who_has_no_account_any_more_has_no_root(store: Store, ana: Actor) -> None:
    gone = replace(ana.principal, user_id=new_id())
    for ref in ("root", "/a"):
        in_session, by_connection = await both(store, gone, ref)
        assert in_session["code"] == by_connection["code"] == "not_found"
