"""Two people write the same file at the same moment, again and again: one wins, or both did; nobody is overwritten."""

from __future__ import annotations

from contextlib import AsyncExitStack
from typing import TYPE_CHECKING

import anyio
import pytest

from drive_server.kernel.errors import EtagMismatchError, NameConflictError
from drive_server.services.documents.edits import Edit
from tests.drive_server.store import Store, open_store
from tests.e2e.soaking import SOAKS

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable
    from pathlib import Path

    from drive_server.kernel.access import Actor

pytestmark = pytest.mark.timeout(300)

RACES = 100 if SOAKS else 25


class Racers:
    """The owner and an editor of one folder, each with connections of their own, as two processes would have."""

    def __init__(self, first: Store, second: Store, ana: Actor, ben: Actor) -> None:
        self.stores = (first, second)
        self.people = (ana, ben)

    async def race(self, *calls: Callable[[], Awaitable[object]]) -> list[Exception | None]:
        """Start all at once; return for each the error it raised, or None."""
        outcomes: list[Exception | None] = [None] * len(calls)

        async def run(number: int) -> None:
            try:
                await calls[number]()
            except (EtagMismatchError, NameConflictError) as error:
                outcomes[number] = error

        async with anyio.create_task_group() as group:
            for number in range(len(calls)):
                group.start_soon(run, number)
        return outcomes


@pytest.fixture
async def racers(tmp_path: Path) -> AsyncIterator[Racers]:
    async with AsyncExitStack() as stack:
        first = await stack.enter_async_context(open_store(tmp_path / "store"))
        second = await stack.enter_async_context(open_store(tmp_path / "store"))
        ana, ben = await first.person("ana@example.com"), await first.person("ben@example.com")
        await first.folder(ana, "/Shared")
        await first.sharing.share(ana, "/Shared", "ben@example.com", "editor")
        yield Racers(first, second, ana, ben)


async def test_of_two_who_replace_what_they_read_one_wins_and_the_other_is_told(racers: Racers) -> None:
    (first, second), (ana, ben) = racers.stores, racers.people
    item = await first.file(ana, "/Shared/plan.md", "nobody's")
    for number in range(RACES):
        etag = (await first.files.get(ana, item.id)).etag
        hers, his = f"ana {number}", f"ben {number}"
        lost = await racers.race(
            lambda etag=etag, hers=hers: first.documents.write_text(ana, item.id, hers, if_match=etag),
            lambda etag=etag, his=his: second.documents.write_text(ben, item.id, his, if_match=etag),
        )
        assert sum(error is not None for error in lost) == 1, number
        assert await first.text(ana, item.id) == (his if lost[0] else hers)
        assert (await first.files.get(ana, item.id)).version == number + 2


async def test_of_two_who_edit_different_places_both_edits_are_there(racers: Racers) -> None:
    (first, second), (ana, ben) = racers.stores, racers.people
    item = await first.file(ana, "/Shared/list.md", "A0\nB0\n")
    for number in range(RACES):
        await racers.race(
            lambda number=number: first.documents.patch(ana, item.id, [Edit(f"A{number}\n", f"A{number + 1}\n")]),
            lambda number=number: second.documents.patch(ben, item.id, [Edit(f"B{number}\n", f"B{number + 1}\n")]),
        )
        assert await first.text(ana, item.id) == f"A{number + 1}\nB{number + 1}\n"


async def test_of_two_who_take_the_same_name_one_gets_it(racers: Racers) -> None:
    (first, second), (ana, ben) = racers.stores, racers.people
    folder = (await first.files.get(ana, "/Shared")).id
    for number in range(RACES):
        name = f"{number}.md"
        lost = await racers.race(
            lambda name=name: first.documents.create(ana, folder, name, "ana"),
            lambda name=name: second.documents.create(ben, folder, name, "ben"),
        )
        assert sum(error is not None for error in lost) == 1, number
        assert await first.text(ana, f"/Shared/{name}") == ("ben" if lost[0] else "ana")
    assert (await first.files.get(ana, folder)).child_count == RACES


async def test_one_who_writes_and_one_who_renames_what_they_both_read_never_undo_each_other(racers: Racers) -> None:
    (first, second), (ana, ben) = racers.stores, racers.people
    item = await first.file(ana, "/Shared/0", "text 0")
    for number in range(1, RACES + 1):
        before = await first.files.get(ana, item.id)
        text = await first.text(ana, item.id)
        lost = await racers.race(
            lambda etag=before.etag, number=number: first.documents.write_text(
                ana, item.id, f"text {number}", if_match=etag
            ),
            lambda etag=before.etag, number=number: second.files.rename(ben, item.id, str(number), if_match=etag),
        )
        after = await first.files.get(ana, item.id)
        assert sum(error is not None for error in lost) == 1, number
        assert (after.name, await first.text(ana, item.id)) == (
            (str(number), text) if lost[0] else (before.name, f"text {number}")
        )
