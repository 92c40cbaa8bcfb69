"""The buckets of the tests: stores of obstore's in memory, or with `TEST_BUCKET=ceph` buckets of a real gateway."""

from __future__ import annotations

import os
from contextlib import ExitStack
from functools import cache
from typing import TYPE_CHECKING, Final

from obstore.store import MemoryStore

from drive_server.storage.blobs import remote_store

if TYPE_CHECKING:
    from obstore.store import ObjectStore

    from tests.conformance.s3.ceph import Ceph

IS_REAL: Final = os.environ.get("TEST_BUCKET") == "ceph"
_running: Final = ExitStack()


def new_url() -> str:
    """Return the URL of an empty store for `open_blobs`."""
    return f"s3://{server().new_bucket()}/prefix" if IS_REAL else "memory:///"


def new_store() -> ObjectStore:
    """Return an empty store."""
    return remote_store(new_url()) if IS_REAL else MemoryStore()


@cache
def server() -> Ceph:
    """Return the gateway of this process, which runs until `stop_server`; its programs find it as this one does."""
    from tests.conformance.s3.ceph import running_ceph

    ceph = _running.enter_context(running_ceph())
    os.environ.update(ceph.environment)
    return ceph


def stop_server() -> None:
    """End the gateway, if there is one."""
    _running.close()
