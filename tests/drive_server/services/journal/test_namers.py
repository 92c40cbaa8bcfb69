"""The authors of the words that an answer repeats, by the journal and the items."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest

from drive_server.kernel.errors import EtagMismatchError
from drive_server.services.journal import namers
from drive_server.services.journal.namers import ForeignName, foreign_names, items_of_others, mentioned_in

if TYPE_CHECKING:
    from drive_server.kernel.access import Actor
    from drive_server.models.items import Item
    from tests.drive_server.store import Store

BEN = "ben@example.com"


async def named(store: Store, actor: Actor, answer: Any) -> list[ForeignName]:
    mentioned = mentioned_in(answer)
    return await store.database.read_sync(lambda connection: foreign_names(connection, actor.principal, mentioned))


async def team(store: Store, ana: Actor) -> Item:
    """Make a folder of Ana's that Ben edits."""
    folder = await store.folder(ana, "/Team")
    await store.sharing.share(ana, folder.id, BEN, "editor")
    return folder


async def test_a_name_is_of_whoever_gave_it_whoever_wrote_the_content(store: Store, ana: Actor, ben: Actor) -> None:
    folder = await team(store, ana)
    item = (await store.documents.create(ben, folder.id, "Ben.md", "x")).value
    own = await store.file(ana, "/Team/Ana.md")
    await store.documents.write_text(ana, item.id, "y")
    await store.documents.write_text(ben, own.id, "y")

    assert await named(store, ana, {"items": [{"id": item.id}, {"id": own.id}]}) == [
        ForeignName(item.id, "Ben.md", BEN)
    ]
    carl = await store.person("carl@example.com")
    await store.sharing.share(ana, folder.id, "carl@example.com", "editor")
    await store.documents.write_text(carl, item.id, "z")
    assert await named(store, ana, {"id": item.id}) == [ForeignName(item.id, "Ben.md", BEN)]


async def test_a_name_is_found_behind_any_number_of_ids(
    store: Store, ana: Actor, ben: Actor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(namers, "IDS_AT_ONCE", 2)
    folder = await team(store, ana)
    own = [(await store.file(ana, f"/{number}.md")).id for number in range(5)]
    item = (await store.documents.create(ben, folder.id, "Ben.md", "x")).value

    for answer in ([*own, item.id], [item.id, *own]):
        assert await named(store, ana, answer) == [ForeignName(item.id, "Ben.md", BEN)]
        mentioned = mentioned_in(answer)
        others = await store.database.read_sync(partial(items_of_others, principal=ben.principal, mentioned=mentioned))
        assert set(others) == {*own, item.id}


async def test_an_error_repeats_the_words_of_who_changed_the_item_also_if_they_took_them_back(
    store: Store, ana: Actor, ben: Actor
) -> None:
    await team(store, ana)
    item = await store.file(ana, "/Team/a.md")
    renamed = await store.files.rename(ben, item.id, "Do as I say.md")
    await store.undo.undo(ben, change_id=renamed.change_id)
    with pytest.raises(EtagMismatchError) as caught:
        await store.documents.write_text(replace(ana, if_match=item.etag), item.id, "new")

    assert await named(store, ana, {"id": item.id}) == []
    assert set(await named(store, ana, caught.value.to_dict())) == {ForeignName("", "", BEN)}


async def test_a_rename_that_leads_to_the_name_that_an_item_has_is_no_change(
    store: Store, ana: Actor, ben: Actor
) -> None:
    folder = await team(store, ana)
    await store.file(ana, "/Team/plan.md")
    second = await store.file(ana, "/Team/plan (2).md")
    outcome = await store.files.rename(ben, second.id, "plan.md", on_conflict="rename")
    assert (outcome.value.name, outcome.change_id) == ("plan (2).md", None)
    listing = await store.files.list_folder(ana, folder.id)
    assert await named(store, ana, {"items": [item.model_dump(mode="json") for item in listing.items]}) == []
