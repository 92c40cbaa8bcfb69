"""One scrape: counters and connections of this process, and gauges of the whole service that are looked up now."""

from dataclasses import dataclass
from datetime import datetime
from typing import Final

from prometheus_client import CollectorRegistry, Gauge, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4
from sqlalchemy import Connection, func, select

from api.clock import Clock
from api.drive import DriveForService, Principal
from api.storage.tables import RUNNING, WAITING, ApprovalRow, RunRow
from drive_server.kernel.sql.database import Database
from drive_server.kernel.telemetry.metrics import REGISTRY

CONTENT_TYPE: Final = CONTENT_TYPE_PLAIN_0_0_4


@dataclass(frozen=True, slots=True)
class Work:
    """Open runs by status, when the oldest that works began, and the approvals that wait."""

    runs: dict[str, int]
    oldest: datetime | None
    approvals: int


async def scrape(caller: Principal, database: Database, drive: DriveForService, clock: Clock) -> bytes:
    """Return all metrics in Prometheus' text format. Raises `ForbiddenError` for who is no administrator."""
    measures = await drive.measures(caller)
    work = await database.read_sync(read_work)
    gauges = CollectorRegistry()
    runs = Gauge("drive_agent_open_runs", "Runs that have not ended, by status.", ("status",), registry=gauges)
    for status in (RUNNING, WAITING):
        runs.labels(status).set(work.runs.get(status, 0))
    age = (clock.now() - work.oldest).total_seconds() if work.oldest else 0.0
    _set(gauges, "drive_agent_oldest_run_seconds", "Age of the oldest run that works.", age)
    _set(gauges, "drive_agent_open_approvals", "Approvals that wait for a person.", work.approvals)
    _set(gauges, "drive_agent_people", "Accounts.", measures.people)
    _set(gauges, "drive_agent_contents", "Contents that are stored, each once.", measures.contents)
    _set(gauges, "drive_agent_content_bytes", "Their size in bytes.", measures.bytes)
    files = Gauge("drive_agent_index_files", "Files by their state in the index.", ("state",), registry=gauges)
    for state in {"pending", "ready", *measures.index}:
        files.labels(state).set(measures.index.get(state, 0))
    pool = Gauge("drive_agent_connections", "Database connections in use here.", ("database",), registry=gauges)
    for name, used in {"service": database.connections_in_use, "drive": drive.connections_in_use}.items():
        pool.labels(name).set(used)
    return generate_latest(REGISTRY) + generate_latest(gauges)


def _set(registry: CollectorRegistry, name: str, description: str, value: float) -> None:
    Gauge(name, description, registry=registry).set(value)


def read_work(connection: Connection) -> Work:
    """Return the open work of this moment."""
    unfinished = RunRow.finished_at.is_(None)
    counted = connection.execute(
        select(RunRow.status, func.count().label("number")).where(unfinished).group_by(RunRow.status)
    )
    runs = {row.status: int(row.number) for row in counted}
    oldest = connection.scalar(select(func.min(RunRow.created_at)).where(unfinished, RunRow.status == RUNNING))
    waiting = select(func.count()).select_from(ApprovalRow).where(ApprovalRow.status == WAITING)
    return Work(runs, oldest, connection.scalar(waiting) or 0)
