"""The state of the whole service for its operator: versions, sizes, backlog, people, and working parts."""

import platform
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

import anyio

from api.clock import Clock
from api.drive import DriveForService, Principal
from api.metrics.scrape import read_work
from api.storage.tables import RUNNING, WAITING
from drive_server.kernel.sql.database import Database
from drive_server.storage.installation.sizes import database_bytes, embedded_bytes, folder_bytes


@dataclass(frozen=True, slots=True)
class ServiceStatus:
    """Sizes are in bytes; `index_bytes` is None if the index is not on this machine.

    `index` counts files by their state: `pending` and `indexing` are the backlog.
    """

    version: str
    python: str
    schema: str
    database: str
    database_bytes: int
    contents: int
    content_bytes: int
    index_bytes: int | None
    index: dict[str, int]
    index_health: str
    people: int
    runs_at_work: int
    oldest_run_seconds: float
    runs_waiting: int
    approvals_open: int


@dataclass(frozen=True, slots=True)
class StatusReader:
    """Reads the status. `files` are the databases of this machine beside the drive's, `index` the index's folder."""

    drive: DriveForService
    database: Database
    clock: Clock
    files: Sequence[Path]
    index: Path | None

    async def read(self, caller: Principal) -> ServiceStatus:
        """Return the status of this moment. Raises the drive's `ForbiddenError` for who is no administrator."""
        measures = await self.drive.measures(caller)
        work = await self.database.read_sync(read_work)
        age = (self.clock.now() - work.oldest).total_seconds() if work.oldest else 0.0
        main = self.drive.database
        return ServiceStatus(
            version=version("drive-agent"),
            python=platform.python_version(),
            schema=await main.schema_version() or "",
            database=main.engine.dialect.name,
            database_bytes=await main.read_sync(database_bytes)
            + await anyio.to_thread.run_sync(embedded_bytes, self.files),
            contents=measures.contents,
            content_bytes=measures.bytes,
            index_bytes=await anyio.to_thread.run_sync(folder_bytes, self.index) if self.index else None,
            index=measures.index,
            index_health=self.drive.index_state,
            people=measures.people,
            runs_at_work=work.runs.get(RUNNING, 0),
            oldest_run_seconds=age,
            runs_waiting=work.runs.get(WAITING, 0),
            approvals_open=work.approvals,
        )
