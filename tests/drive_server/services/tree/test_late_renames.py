"""Turning pages on PostgreSQL: a rename that is committed late, after a change of a higher number, is not missed."""

from __future__ import annotations

from contextlib import AsyncExitStack
from typing import TYPE_CHECKING

import pytest
from sqlalchemy import update

from drive_server.storage.tables.items import NodeRow
from drive_server.storage.tables.journal import ChangeItemRow, ChangeRow
from tests.databases import new_url
from tests.drive_server.services.journal.test_commit_order import SlowChange
from tests.drive_server.services.tree.test_name_order import turn
from tests.drive_server.store import Store, open_store

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from drive_server.models.items import Item


@pytest.fixture
async def stores(tmp_path: Path) -> AsyncIterator[tuple[Store, Store]]:
    url = new_url()
    async with AsyncExitStack() as stack:
        first, second = [await stack.enter_async_context(open_store(tmp_path, url)) for _ in range(2)]
        yield first, second


class SlowRename(SlowChange):
    """A rename that has its number, and is not committed until `commit`."""

    async def rename(self, item: Item, name: str) -> None:
        await self.begin()
        entry = {"table": "nodes", "id": item.id, "before": {"name": item.name}, "after": {"name": name}}
        statement = update(ChangeRow).where(ChangeRow.id == self.id).values(entries=[entry])
        await self.session.execute(statement)
        self.session.add(ChangeItemRow(change_id=self.id, item_id=item.id))
        await self.session.execute(update(NodeRow).where(NodeRow.id == item.id).values(name=name))
        await self.session.flush()


async def test_a_rename_that_commits_between_two_pages_is_seen_although_its_number_is_lower(
    stores: tuple[Store, Store],
) -> None:
    first, second = stores
    ana, ben = await first.person("ana@example.com"), await first.person("ben@example.com")
    files = [await first.file(ana, f"/{letter}.md", letter) for letter in "abcdef"]
    late = SlowRename(second, ana)
    await late.rename(files[5], "0.md")
    await first.file(ben, "/ben.md", "has a higher number")
    page, cursor = await turn(first, ana, "/", 3)
    await late.commit()
    rest, end = await turn(first, ana, "/", 9, cursor)

    assert (page, end) == ([file.id for file in files[:3]], "")
    assert rest == [files[5].id, files[3].id, files[4].id]


async def test_a_rename_that_a_page_has_shown_already_is_not_taken_for_a_new_one(stores: tuple[Store, Store]) -> None:
    first, second = stores
    ana, ben = await first.person("ana@example.com"), await first.person("ben@example.com")
    files = [await first.file(ana, f"/{letter}.md", letter) for letter in "abcdef"]
    open_change = SlowChange(second, ben)
    await open_change.begin()
    await first.files.rename(ana, "/a.md", "z.md")
    page, cursor = await turn(first, ana, "/", 2)
    more, cursor = await turn(first, ana, "/", 2, cursor)
    await open_change.commit()
    rest, end = await turn(first, ana, "/", 9, cursor)

    assert end == ""
    assert [*page, *more, *rest] == [files[place].id for place in (1, 2, 3, 4, 5, 0)]
