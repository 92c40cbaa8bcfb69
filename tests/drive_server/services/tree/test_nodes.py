from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from sqlalchemy import select

from drive_server.kernel.access import Role
from drive_server.kernel.errors import ForbiddenError, NotFoundError
from drive_server.services.tree.nodes import locate, locate_many, visible_ids
from drive_server.storage.tables.items import NodeRow

if TYPE_CHECKING:
    from drive_server.kernel.access import Actor
    from tests.drive_server.store import Store

BEN = "ben@example.com"


async def visible(store: Store, actor: Actor, folder_id: str | None = None) -> set[str]:
    async with store.database.read() as session:
        query = select(NodeRow.name).where(NodeRow.id.in_(visible_ids(actor.principal, folder_id)))
        return set(await session.scalars(query))


async def test_the_highest_role_on_the_way_up_holds(store: Store, ana: Actor, ben: Actor) -> None:
    outer, inner = await store.folder(ana, "/outer"), await store.folder(ana, "/outer/inner")
    item = await store.file(ana, "/outer/inner/a.txt")
    await store.sharing.share(ana, inner.id, BEN, "editor")
    await store.sharing.share(ana, outer.id, BEN, "viewer")
    await store.sharing.share(ana, item.id, BEN, "viewer")
    roles = {ref: (await store.files.get(ben, ref)).role for ref in (outer.id, inner.id, item.id)}
    assert roles == {outer.id: "viewer", inner.id: "editor", item.id: "editor"}
    listed = (await store.files.list_folder(ben, outer.id)).items
    assert [(seen.id, seen.role, seen.path) for seen in listed] == [(inner.id, "editor", "/Shared with me/outer/inner")]


async def test_what_lies_above_a_share_stays_hidden(store: Store, ana: Actor, ben: Actor) -> None:
    await store.folder(ana, "/Secret")
    await store.folder(ana, "/Secret/Team")
    await store.file(ana, "/Secret/Team/a.txt")
    team = await store.files.get(ana, "/Secret/Team")
    await store.sharing.share(ana, team.id, BEN, "viewer")
    seen = await store.files.get(ben, team.id)
    assert (seen.path, seen.parent_id, seen.shared) == ("/Shared with me/Team", None, True)
    below = await store.files.get(ben, "/Shared with me/Team/a.txt")
    assert (below.path, below.parent_id) == ("/Shared with me/Team/a.txt", team.id)
    with pytest.raises(NotFoundError):
        await store.files.get(ben, "/Secret/Team")


async def test_a_path_that_two_shares_have_names_neither(store: Store, ana: Actor, ben: Actor) -> None:
    eve = await store.person("eve@example.com")
    first, second = await store.file(ana, "/a.txt"), await store.file(eve, "/a.txt")
    await store.sharing.share(ana, first.id, BEN, "viewer")
    assert (await store.files.get(ben, "/Shared with me/a.txt")).id == first.id
    await store.sharing.share(eve, second.id, BEN, "viewer")
    with pytest.raises(NotFoundError):
        await store.files.get(ben, "/Shared with me/a.txt")


async def test_an_own_folder_of_the_reserved_name_wins(store: Store, ben: Actor) -> None:
    own = await store.folder(ben, "/Shared with me")
    assert (await store.files.get(ben, "/Shared with me")).id == own.id


async def test_an_item_knows_whether_it_is_shared(store: Store, ana: Actor) -> None:
    await store.folder(ana, "/Team")
    inner = await store.file(ana, "/Team/a.txt")
    assert not (await store.files.get(ana, inner.id)).shared
    await store.sharing.share(ana, "/Team", BEN, "viewer")
    assert (await store.files.get(ana, inner.id)).shared
    assert [item.shared for item in (await store.files.list_folder(ana, "/Team")).items] == [True]


async def test_the_query_for_what_is_visible_follows_the_rights_at_once(store: Store, ana: Actor, ben: Actor) -> None:
    team = await store.folder(ana, "/Team")
    await store.folder(ana, "/Team/deep")
    await store.file(ana, "/Team/deep/a.txt")
    await store.file(ana, "/secret.txt")
    await store.file(ben, "/own.txt")
    assert await visible(store, ben) == {"", "own.txt"}
    await store.sharing.share(ana, team.id, BEN, "viewer")
    assert await visible(store, ben) == {"", "own.txt", "Team", "deep", "a.txt"}
    assert await visible(store, ben, team.id) == {"deep", "a.txt"}
    await store.files.trash(ana, "/Team/deep")
    assert await visible(store, ben) == {"", "own.txt", "Team"}
    await store.sharing.revoke(ana, team.id, BEN)
    assert await visible(store, ben) == {"", "own.txt"}


async def test_many_items_are_located_at_once_and_foreign_ones_left_out(store: Store, ana: Actor, ben: Actor) -> None:
    own = [(await store.files.create_folder(ana, "/", f"f{number}")).value.id for number in range(3)]
    foreign = await store.folder(ben, "/foreign")
    async with store.database.read() as session:
        found = await locate_many(session, ana.principal, [*own, foreign.id, "unknown", *own])
        assert set(found) == set(own)
        with pytest.raises(NotFoundError):
            await locate(session, ana.principal, foreign.id)


async def test_too_low_a_role_is_forbidden_and_says_which_is_needed(store: Store, ana: Actor, ben: Actor) -> None:
    item = await store.file(ana, "/a.txt")
    await store.sharing.share(ana, item.id, BEN, "viewer")
    async with store.database.read() as session:
        with pytest.raises(ForbiddenError) as caught:
            await locate(session, ben.principal, item.id, Role.EDITOR)
    assert caught.value.details == {"needed": "editor", "role": "viewer"}
