"""A damaged index heals by itself: each kind of damage on each kind of Lance's files, found at the start and later."""

from __future__ import annotations

import os
import shutil
from datetime import timedelta
from typing import TYPE_CHECKING

import anyio
import pytest

from drive_server.knowledge.embedding.embedder import NoEmbedder
from drive_server.knowledge.index import index as index_module
from drive_server.knowledge.index.health import MAX_REBUILDS, IndexHealth
from drive_server.knowledge.index.index import KnowledgeIndex
from drive_server.knowledge.index.maintenance import maintain
from drive_server.knowledge.index.quarantine import MARK
from drive_server.knowledge.ingest.ingester import Ingester
from drive_server.knowledge.readers.text_source import TextSource
from drive_server.services.search.service import SearchService
from drive_server.storage.installation.parts import FolderPart, Look, Mark
from drive_server.storage.process_locks import FileLock
from tests.drive_server.knowledge import samples
from tests.drive_server.store import Store, open_store
from tests.fakes.clock import SettableClock

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from drive_server.kernel.access import Actor

pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")

FILES = 3
PARTS = {
    "data": "*.lance/data/*",
    "manifests": "*.lance/_versions/*.manifest",
    "transactions": "*.lance/_transactions/*",
    "indices": "*.lance/_indices/*/*",
    "words": "*.lance/_indices/*/part_*",
}


def cut_to_nothing(path: Path) -> None:
    path.write_bytes(b"")


def cut_in_half(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def flip(path: Path) -> None:
    path.write_bytes(bytes(byte ^ 0xFF for byte in path.read_bytes()))


def delete(path: Path) -> None:
    path.unlink()


def replace_by_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


def overwrite(path: Path) -> None:
    path.write_bytes(b"something else\n" * 300)


DAMAGES = (cut_to_nothing, cut_in_half, flip, delete, replace_by_folder, overwrite)


class Desk:
    """A drive with a few indexed files, and as many processes at work on its index as are opened."""

    def __init__(self, folder: Path, store: Store, actor: Actor) -> None:
        self.folder = folder
        self.store = store
        self.actor = actor
        self.clock = SettableClock()
        self.indices: list[KnowledgeIndex] = []

    @property
    def index_folder(self) -> Path:
        return self.folder / "index"

    def open(self) -> tuple[Ingester, SearchService]:
        """Open the index as another process would."""
        health = IndexHealth(self.folder / "index.health", self.clock)
        index = KnowledgeIndex(str(self.index_folder), NoEmbedder(), health=health)
        self.indices.append(index)
        ingester = Ingester(
            self.store.database,
            TextSource(self.store.blobs),
            NoEmbedder(),
            index,
            FileLock(self.folder / "index.lock"),
            retry_after=timedelta(0),
        )
        return ingester, SearchService(self.store.database, index)

    async def found(self, search: SearchService) -> tuple[int, str]:
        """Return how many files are found by a word that is in all of them, and the note."""
        page = await search.find(self.actor, "parents")
        return len(page.items), page.note

    async def ripen(self) -> None:
        """Bring the rows into the indices, as the writer does when it has time."""
        table = await self.indices[-1]._tables.current.readable()  # pyright: ignore[reportPrivateUsage]
        await maintain(table)

    def damage(self, part: str, harm: object) -> None:
        paths = [path for path in self.index_folder.glob(PARTS[part]) if path.is_file()]
        assert paths
        for path in paths:
            assert callable(harm)
            harm(path)

    def close(self) -> None:
        for index in self.indices:
            index.close()


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[Desk]:
    async with open_store(tmp_path / "store") as store:
        desk = Desk(tmp_path, store, await store.person("ana@example.com"))
        for number in range(FILES):
            await store.file(desk.actor, f"/{number}.txt", f"{samples.LEAVE} {number}")
        yield desk
        desk.close()


async def healed(desk: Desk, ingester: Ingester, search: SearchService) -> None:
    """Search until the index is whole; every search meanwhile is answered, and says if it is incomplete."""
    with anyio.fail_after(120):
        while True:
            count, note = await desk.found(search)
            if count == FILES and not note:
                return
            assert note or count == FILES
            await ingester.drain()


PAIRS = [(part, harm) for part in PARTS for harm in DAMAGES]
FEW = PAIRS[:: len(DAMAGES) - 1]
"""Each part and each damage at least once; `SOAK_KILLS` asks for all of them, as `make soak` does."""


@pytest.mark.parametrize(("part", "harm"), PAIRS if "SOAK_KILLS" in os.environ else FEW)
async def test_any_damage_heals_at_the_start_and_between_two_searches(desk: Desk, part: str, harm: object) -> None:
    ingester, search = desk.open()
    await ingester.drain()
    await desk.ripen()
    assert await desk.found(search) == (FILES, "")
    desk.damage(part, harm)
    successor, its_search = desk.open()
    await successor.drain()
    assert await desk.found(its_search) == (FILES, "")
    desk.clock.advance(hours=2)
    await healed(desk, ingester, search)
    await desk.ripen()
    desk.damage(part, harm)
    for index in desk.indices:  # as after the second in which a process sees what others write
        index._tables.forget()  # pyright: ignore[reportPrivateUsage] - else the test would have to wait
    await healed(desk, ingester, search)
    assert ingester.health.state == "ok"
    assert len(list(desk.folder.glob(f"index{MARK}*"))) <= 1


async def test_an_index_that_is_gone_is_noticed_by_the_next_search(desk: Desk) -> None:
    ingester, search = desk.open()
    await ingester.drain()
    assert await desk.found(search) == (FILES, "")
    shutil.rmtree(desk.index_folder)
    desk.indices[0]._tables.forget()  # pyright: ignore[reportPrivateUsage]
    assert (await desk.found(search))[0] < FILES
    await healed(desk, ingester, search)


async def test_an_idle_writer_notices_that_the_newest_manifest_is_gone(desk: Desk) -> None:
    ingester, search = desk.open()
    await ingester.drain()
    index = desk.indices[0]
    await desk.store.file(desk.actor, "/new.txt", samples.LEAVE)
    await ingester.drain()
    await index.look()
    newest = min(desk.index_folder.glob(PARTS["manifests"]))  # they count down
    newest.unlink()
    (newest.parent / "latest_version_hint.json").unlink(missing_ok=True)
    index._tables.forget()  # pyright: ignore[reportPrivateUsage]
    await index.look()
    assert ingester.health.requested == "inspect"
    await ingester.drain()
    assert (await desk.found(search))[0] == FILES + 1


async def test_a_table_of_another_schema_or_model_is_built_anew(desk: Desk) -> None:
    import lancedb
    import pyarrow as pa

    ingester, search = desk.open()
    await ingester.drain()
    name = next(desk.index_folder.glob("*.lance")).stem
    for columns in (
        pa.schema([pa.field("a", pa.int64())]),
        pa.schema(
            [pa.field(one, pa.string()) for one in ("file_id", "owner_id", "content", "digest", "passage", "words")],
            metadata={"model": "another"},
        ),
    ):
        shutil.rmtree(desk.index_folder)
        connection = await lancedb.connect_async(desk.index_folder)
        await connection.create_table(name, schema=columns)
        desk.indices[0]._tables.forget()  # pyright: ignore[reportPrivateUsage]
        ingester.health.request("inspect")
        await healed(desk, ingester, search)
        desk.clock.advance(hours=2)


async def test_a_file_at_the_place_of_the_index_is_set_aside(desk: Desk) -> None:
    desk.index_folder.write_bytes(b"not an index")
    ingester, search = desk.open()
    await ingester.drain()
    assert await desk.found(search) == (FILES, "")


async def test_the_mark_of_the_installation_stays_when_the_index_is_set_aside(desk: Desk) -> None:
    ingester, search = desk.open()
    await ingester.drain()
    part = FolderPart("index", desk.index_folder, "*.lance", derived=True)
    part.write(Mark("mine", 3))
    await ingester.rebuild()
    await ingester.drain()

    assert await desk.found(search) == (FILES, "")
    assert part.look() == Look("marked", Mark("mine", 3))


async def test_searches_that_take_too_long_on_a_busy_machine_never_drop_a_sound_index(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    ingester, search = desk.open()
    await ingester.drain()
    assert await desk.found(search) == (FILES, "")
    with monkeypatch.context() as patched:
        patched.setattr(index_module, "SEARCH_SECONDS", 0.0)
        for _ in range(MAX_REBUILDS * 2):
            assert (await desk.found(search))[1]
    assert ingester.health.requested == "inspect"
    await ingester.drain()

    assert not list(desk.folder.glob(f"index{MARK}*"))
    assert await desk.found(search) == (FILES, "")


async def test_another_process_asks_the_writer_to_look(desk: Desk) -> None:
    writer, _ = desk.open()
    await writer.drain()
    with anyio.fail_after(120):
        async with anyio.create_task_group() as group:
            group.start_soon(writer.run)
            other, search = desk.open()
            assert await desk.found(search) == (FILES, "")
            desk.damage("data", cut_in_half)
            desk.indices[1]._tables.forget()  # pyright: ignore[reportPrivateUsage]
            await healed(desk, other, search)
            group.cancel_scope.cancel()
    assert len(list(desk.folder.glob(f"index{MARK}*"))) == 1


async def test_a_disk_that_damages_it_again_and_again_ends_in_a_clear_state(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    ingester, search = desk.open()
    await ingester.drain()
    for _ in range(MAX_REBUILDS):
        desk.damage("data", cut_in_half)
        ingester.health.request("inspect")
        await ingester.drain()
        assert ingester.health.state == "ok"
    desk.damage("data", cut_in_half)
    ingester.health.request("inspect")
    await ingester.drain()
    assert ingester.health.state == "degraded"
    assert (await ingester.status(desk.actor.user_id)).health == "degraded"
    count, note = await desk.found(search)
    assert count == 0
    assert "could not be built anew" in note
    assert (await search.find(desk.actor, "0.txt")).items

    async def inspected() -> None:
        raise AssertionError("it rests")

    with monkeypatch.context() as patch:
        patch.setattr(desk.indices[0], "inspect", inspected)
        await ingester.drain()
    await ingester.rebuild()
    await ingester.drain()
    assert await desk.found(search) == (FILES, "")


async def test_after_an_hour_it_is_tried_once_more(desk: Desk) -> None:
    ingester, search = desk.open()
    await ingester.drain()
    for _ in range(MAX_REBUILDS + 1):
        desk.damage("data", cut_in_half)
        ingester.health.request("inspect")
        await ingester.drain()
    assert ingester.health.state == "degraded"
    assert "无法重建" in (await search.find(desk.actor, "parents", language="zh")).note
    desk.clock.advance(hours=1, seconds=1)
    await ingester.drain()
    assert await desk.found(search) == (FILES, "")


async def test_a_person_may_have_it_dropped_unread(desk: Desk) -> None:
    ingester, search = desk.open()
    await ingester.drain()
    desk.damage("manifests", overwrite)
    await ingester.rebuild()
    assert (await ingester.status(desk.actor.user_id)).health == "rebuilding"
    await ingester.drain()
    assert await desk.found(search) == (FILES, "")
    assert (await ingester.status(desk.actor.user_id)).health == "ok"


async def test_one_of_many_people_never_begins_anew_what_is_being_built_for_all(desk: Desk) -> None:
    ingester, search = desk.open()
    await ingester.drain()
    ingester.health.request("inspect")
    await ingester.rebuild(desk.actor.user_id)
    assert ingester.health.requested == "inspect"
    ingester.health.begin_rebuild(by_request=False)
    await ingester.rebuild(desk.actor.user_id)
    assert ingester.health.requested == "inspect"
    await ingester.drain()
    assert await desk.found(search) == (FILES, "")
    assert not list(desk.folder.glob(f"index{MARK}*"))
    ingester.health.give_up()
    await ingester.rebuild(desk.actor.user_id)
    assert ingester.health.requested == "rebuild"


async def test_a_state_that_can_not_be_read_counts_as_sound(desk: Desk) -> None:
    (desk.folder / "index.health").write_bytes(os.urandom(100))
    ingester, search = desk.open()
    await ingester.drain()
    assert ingester.health.state == "ok"
    assert await desk.found(search) == (FILES, "")


async def test_who_waits_for_the_status_is_told_when_the_index_is_whole_again(desk: Desk) -> None:
    ingester, _ = desk.open()
    await ingester.drain()
    desk.indices[-1].health.begin_rebuild(by_request=True)
    told: list[str] = []

    async def wait() -> None:
        told.append((await ingester.status(desk.actor.user_id, wait_seconds=60)).health)

    async with anyio.create_task_group() as group:
        with anyio.fail_after(60):
            group.start_soon(wait)
            await anyio.wait_all_tasks_blocked()
            await ingester.drain()
    assert told == ["ok"]
