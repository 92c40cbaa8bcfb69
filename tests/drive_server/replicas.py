"""Two drives of one installation, as two machines have them: one PostgreSQL database, one bucket, nothing else shared.

The bucket is a store of obstore's in memory, in the place of S3's, or a real one: see `tests.buckets`.
"""

from __future__ import annotations

from contextlib import AsyncExitStack, asynccontextmanager
from typing import TYPE_CHECKING

from drive_server.connect import open_drive
from drive_server.kernel.settings import DriveSettings
from drive_server.storage import blobs
from drive_server.storage.installation import parts
from tests import buckets
from tests.databases import new_url

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator
    from pathlib import Path

    import pytest
    from obstore.store import ObjectStore

    from drive_server.drive import Drive

BUCKET = "s3://bucket"


@asynccontextmanager
async def two_drives(
    folder: Path, monkeypatch: pytest.MonkeyPatch, blob_url: str = BUCKET
) -> AsyncGenerator[tuple[Drive, Drive]]:
    """Open both drives."""
    bucket = buckets.new_store()

    def store_at(_: str) -> ObjectStore:
        return bucket

    for module in (blobs, parts):
        monkeypatch.setattr(module, "remote_store", store_at)
    url = new_url()
    async with AsyncExitStack() as stack:
        a, b = [await stack.enter_async_context(open_drive(settings_of(folder / name, url, blob_url))) for name in "ab"]
        yield a, b


def settings_of(data_dir: Path, database_url: str, blob_url: str) -> DriveSettings:
    """Return the settings of one of them."""
    return DriveSettings(data_dir=data_dir, database_url=database_url, blob_url=blob_url, embedding_model="none")
