"""Turning the pages of a folder while others create, delete, rename and move what is in it."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import anyio
import pytest

from drive_server.kernel.errors import InvalidCursorError

if TYPE_CHECKING:
    from drive_server.kernel.access import Actor
    from drive_server.models.items import Item
    from tests.drive_server.store import Store


async def turn(store: Store, actor: Actor, ref: str, size: int, cursor: str | None = None) -> tuple[list[str], str]:
    page = await store.files.list_folder(actor, ref, limit=size, cursor=cursor)
    return [item.id for item in page.items], page.cursor or ""


@pytest.fixture
async def files(store: Store, ana: Actor) -> list[Item]:
    return [await store.file(ana, f"/{letter}.md", letter) for letter in "abcdefgh"]


def named(files: list[Item], letters: str) -> list[str]:
    by_name = {item.name[0]: item.id for item in files}
    return [by_name[letter] for letter in letters]


async def test_pages_follow_one_another(store: Store, ana: Actor, files: list[Item]) -> None:
    folder = await store.folder(ana, "/z")
    first, cursor = await turn(store, ana, "/", 4)
    second, cursor = await turn(store, ana, "/", 3, cursor)
    third, end = await turn(store, ana, "/", 3, cursor)

    assert first == [folder.id, *named(files, "abc")]
    assert (second, third, end) == (named(files, "def"), named(files, "gh"), "")


async def test_what_was_listed_and_is_renamed_to_come_later_does_not_come_again(
    store: Store, ana: Actor, files: list[Item]
) -> None:
    first, cursor = await turn(store, ana, "/", 3)
    await store.files.rename(ana, "/a.md", "y.md")
    await store.files.rename(ana, "/y.md", "z.md")
    second, cursor = await turn(store, ana, "/", 3, cursor)
    await store.files.rename(ana, "/b.md", "zz.md")
    third, end = await turn(store, ana, "/", 3, cursor)

    assert first + second + third == named(files, "abcdefgh")
    assert end == ""


async def test_what_was_not_listed_and_is_renamed_to_come_earlier_is_not_missed(
    store: Store, ana: Actor, files: list[Item]
) -> None:
    first, cursor = await turn(store, ana, "/", 3)
    await store.files.rename(ana, "/h.md", "0.md")
    await store.files.rename(ana, "/g.md", "1.md")
    second, cursor = await turn(store, ana, "/", 1, cursor)
    third, cursor = await turn(store, ana, "/", 2, cursor)
    rest, end = await turn(store, ana, "/", 9, cursor)

    assert [first, second, third, rest] == [named(files, part) for part in ("abc", "h", "gd", "ef")]
    assert end == ""


async def test_renaming_there_and_back_changes_nothing(store: Store, ana: Actor, files: list[Item]) -> None:
    first, cursor = await turn(store, ana, "/", 3)
    for name in ("/a.md", "/h.md"):
        await store.files.rename(ana, name, "m.md")
        await store.files.rename(ana, "/m.md", name[1:])
    rest, _ = await turn(store, ana, "/", 9, cursor)

    assert first + rest == named(files, "abcdefgh")


async def test_what_is_put_into_the_folder_and_renamed_meanwhile_comes_once_at_most(
    store: Store, ana: Actor, files: list[Item]
) -> None:
    await store.folder(ana, "/Other")
    strange = await store.file(ana, "/Other/x.md")
    _, cursor = await turn(store, ana, "/", 4)
    await store.files.move(ana, strange.id, "/")
    await store.files.rename(ana, strange.id, "cc.md")
    rest, _ = await turn(store, ana, "/", 20, cursor)

    assert rest.count(strange.id) <= 1
    assert [item for item in rest if item != strange.id] == named(files, "defgh")


@pytest.mark.parametrize("seed", range(6))
async def test_a_list_is_complete_and_without_doubles_while_others_write(store: Store, ana: Actor, seed: int) -> None:
    chance = random.Random(seed)
    await store.folder(ana, "/F")
    kept = [(await store.file(ana, f"/F/k{number}.md")).id for number in range(30)]
    listed: list[str] = []
    done = anyio.Event()

    async def write() -> None:
        number = 0
        while not done.is_set():
            number += 1
            action = chance.choice(["create", "delete", "rename", "rename", "rename", "content"])
            if action == "create":
                await store.file(ana, f"/F/{chance.random()}.md")
            elif action == "delete":
                extra = await store.file(ana, f"/F/{chance.random()}.md")
                await store.files.trash(ana, extra.id)
            elif action == "rename":
                await store.files.rename(ana, chance.choice(kept), f"{chance.choice('0aknz')}{seed}-{number}.md")
            else:
                await store.documents.write_text(ana, chance.choice(kept), f"{number}")

    async def read() -> None:
        cursor = None
        for _ in range(400):
            page = await store.files.list_folder(ana, "/F", limit=2, cursor=cursor)
            listed.extend(item.id for item in page.items)
            cursor = page.cursor
            if cursor is None:
                break
        done.set()

    async with anyio.create_task_group() as group:
        group.start_soon(write)
        group.start_soon(read)

    assert len(listed) == len(set(listed))
    assert set(kept) <= set(listed)


async def test_what_is_shared_with_a_person_is_listed_in_the_same_way(store: Store, ana: Actor, ben: Actor) -> None:
    for letter in "abcd":
        await store.file(ana, f"/{letter}.md")
        await store.sharing.share(ana, f"/{letter}.md", "ben@example.com", "viewer")
    first = await store.sharing.shared_with_me(ben, limit=2)
    await store.files.rename(ana, "/a.md", "y.md")
    await store.files.rename(ana, "/d.md", "0.md")
    rest = await store.sharing.shared_with_me(ben, limit=5, cursor=first.cursor)

    assert [item.name for item in first.items] == ["a.md", "b.md"]
    assert [item.name for item in rest.items] == ["0.md", "c.md"]


async def test_a_cursor_is_good_for_its_folder_and_its_person_only(store: Store, ana: Actor, ben: Actor) -> None:
    for place in ("/A", "/B"):
        await store.folder(ana, place)
        for name in "ab":
            await store.file(ana, f"{place}/{name}.md")
    await store.sharing.share(ana, "/A", "ben@example.com", "viewer")
    shared = (await store.sharing.shared_with_me(ben)).items[0]
    cursor = (await store.files.list_folder(ana, "/A", limit=1)).cursor

    assert (await store.files.list_folder(ana, shared.id, limit=5, cursor=cursor)).items[0].name == "b.md"
    with pytest.raises(InvalidCursorError):
        await store.files.list_folder(ana, "/B", cursor=cursor)
    with pytest.raises(InvalidCursorError):
        await store.files.list_folder(ben, shared.id, cursor=cursor)
    with pytest.raises(InvalidCursorError):
        await store.files.list_trash(ana, cursor=cursor)
