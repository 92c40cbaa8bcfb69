"""Contents in a bucket of a real store, which is away, stands still and is overloaded for a while.

SOAK_AWAY_SECONDS says for how long: a minute by `make test-s3`, three seconds before each change.
"""

from __future__ import annotations

import os
import signal
import threading
from contextlib import contextmanager
from hashlib import sha256
from typing import TYPE_CHECKING, Final, TypeVar

import anyio
import obstore
import pytest

from drive_server.kernel.errors import ContentsAwayError
from drive_server.storage.blobs import BlobStore, open_blobs

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Generator
    from contextlib import AbstractContextManager
    from pathlib import Path

    from tests.conformance.s3.ceph import Ceph

T = TypeVar("T")

pytestmark = [pytest.mark.story, pytest.mark.timeout(900)]

MEBIBYTE: Final = 1 << 20
AWAY_SECONDS: Final = float(os.environ.get("SOAK_AWAY_SECONDS", "3"))
PATIENCE_SECONDS: Final = 400
AT_ONCE: Final = 24
ONE_AT_A_TIME: Final = "--rgw_max_concurrent_requests=1"


@pytest.fixture
async def store(ceph: Ceph, tmp_path: Path) -> BlobStore:
    return await open_blobs(f"s3://{ceph.new_bucket()}/prefix", spool=tmp_path / "spool")


def is_whole(store: BlobStore, blob_hash: str, data: bytes) -> bool:
    assert store.objects
    return bytes(obstore.get(store.objects, f"{blob_hash[:2]}/{blob_hash[2:4]}/{blob_hash}").bytes()) == data


async def until_back(step: Callable[[], Awaitable[T]]) -> T:
    """Try the step until it is not told any more that the store is away."""
    with anyio.fail_after(PATIENCE_SECONDS):
        while True:
            try:
                return await step()
            except ContentsAwayError:
                await anyio.sleep(0.1)


@contextmanager
def gateway_away(ceph: Ceph) -> Generator[None]:
    ceph.stop_gateway()
    back = threading.Timer(AWAY_SECONDS, ceph.start_gateway)
    back.start()
    yield
    back.join()


@contextmanager
def disk_standing_still(ceph: Ceph) -> Generator[None]:
    ceph.send("osd", signal.SIGSTOP)
    back = threading.Timer(AWAY_SECONDS, ceph.send, ["osd", signal.SIGCONT])
    back.start()
    yield
    back.join()


@contextmanager
def gateway_with_one_request_at_a_time(ceph: Ceph) -> Generator[None]:
    ceph.stop_gateway()
    ceph.start_gateway(ONE_AT_A_TIME)
    yield
    ceph.stop_gateway()
    ceph.start_gateway()


async def test_a_content_of_many_parts_is_whole(store: BlobStore) -> None:
    data = os.urandom(23 * MEBIBYTE + 7)
    blob = await store.put_bytes(data)

    assert blob.hash == sha256(data).hexdigest()
    assert b"".join([chunk async for chunk in store.stream(blob.hash, 9 * MEBIBYTE)]) == data[9 * MEBIBYTE :]
    assert is_whole(store, blob.hash, data)


@pytest.mark.parametrize("fault", [gateway_away, disk_standing_still, gateway_with_one_request_at_a_time])
async def test_a_store_with_a_fault_costs_only_time(
    ceph: Ceph, store: BlobStore, fault: Callable[[Ceph], AbstractContextManager[None]]
) -> None:
    kept = await store.put_bytes(b"kept")
    contents = [os.urandom(6 * MEBIBYTE if number % 8 == 0 else 10_000) for number in range(AT_ONCE)]
    put: list[str] = []

    async def put_and_read(data: bytes) -> None:
        put.append((await until_back(lambda: store.put_bytes(data))).hash)
        assert await until_back(lambda: store.read(kept.hash)) == b"kept"

    with fault(ceph):
        async with anyio.create_task_group() as people:
            for data in contents:
                people.start_soon(put_and_read, data)
        is_overloaded = " 503 " in ceph.log("gateway")

    assert sorted(put) == sorted(sha256(data).hexdigest() for data in contents)
    assert all(is_whole(store, sha256(data).hexdigest(), data) for data in contents)
    assert is_overloaded == (fault is gateway_with_one_request_at_a_time)


async def test_who_asks_a_store_that_is_away_is_told_so_and_when_to_come_again(ceph: Ceph, store: BlobStore) -> None:
    ceph.stop_gateway()
    try:
        for step in (lambda: store.put_bytes(b"x"), lambda: store.read("0" * 64), store.require_reachable):
            with pytest.raises(ContentsAwayError) as away:
                await step()
            assert away.value.status == 503
            assert away.value.details["retry_after_seconds"] > 0
    finally:
        ceph.start_gateway()
    await store.require_reachable()
