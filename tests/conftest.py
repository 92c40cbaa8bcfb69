from __future__ import annotations

import gc
from contextlib import nullcontext
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

import portalocker.portalocker
import pytest

from drive_server import connect
from drive_server.knowledge.index_process.proxy import IndexProcess
from tests import buckets, databases, once
from tests.fakes.file_locks import KINDS, VARIABLE, use_named

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator

pytest_plugins = ("tests.second_run",)
STORIES = Path(__file__).parent / "web" / "browser"


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="session", autouse=True)
def done_once(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Do once what most tests would repeat, and wait for no disk, unless the tests run plain; end their server."""
    with pytest.MonkeyPatch.context() as monkeypatch:
        with nullcontext() if once.PLAIN else once.done_once(monkeypatch, tmp_path_factory.mktemp("migrated")):
            yield
        databases.stop_server()
        buckets.stop_server()


@pytest.fixture
def own_index_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have the index of a drive in a process of its own, as it is in a service."""
    monkeypatch.setattr(connect, "IndexProcess", IndexProcess)


@pytest.fixture(params=KINDS)
def file_locks(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run the test with each kind of locks, in processes that begin with `USE` too."""
    monkeypatch.setenv(VARIABLE, request.param)
    monkeypatch.setattr(portalocker.portalocker, "LOCKER", portalocker.portalocker.LOCKER)
    use_named()


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Leave out what is about SQLite itself where the tests run on PostgreSQL."""
    marker = item.get_closest_marker("sqlite")
    if marker is not None and databases.IS_POSTGRES:
        pytest.skip(f"SQLite alone: {marker.args[0]}")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Start with the long tests, those that need more time than the others: nobody waits for them alone at the end.

    The stories of the page wait for a browser much of their time: put them evenly among the tests that compute.
    """
    items.sort(key=lambda item: item.get_closest_marker("timeout") is None)
    modules = [list(module) for _, module in groupby(items, key=lambda item: item.path)]
    is_story = [STORIES in module[0].path.parents for module in modules]
    places = {kind: iter(range(is_story.count(kind))) for kind in (True, False)}
    order = [(next(places[kind]) + 1) / is_story.count(kind) for kind in is_story]
    items[:] = [item for at in sorted(range(len(modules)), key=order.__getitem__) for item in modules[at]]


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Keep the garbage collector from looking at all modules and tests, now and later: they stay till the end."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.collect()
        gc.freeze()
        gc.enable()
