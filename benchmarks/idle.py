"""The idle service: trips to threads and statements a second of all that waits for changes, drive and assistant.

    python -m benchmarks.idle [--seconds 20]
    TEST_DATABASE=postgresql python -m benchmarks.idle

The second one starts a PostgreSQL server, and counts there too: transactions in the service's databases, also those of
one statement, and the connections that were opened.

Every trip comes back by `call_soon_threadsafe`, so that is counted, whichever thread it was.
"""

import argparse
import asyncio
import tempfile
import time
from collections.abc import Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from unittest.mock import patch

from sqlalchemy import Engine, event

from benchmarks.fixtures.services.models import InstantModel
from benchmarks.fixtures.table import print_table
from tests.api.real_service import real_client
from tests.databases import IS_POSTGRES, server, stop_server

if TYPE_CHECKING:
    from collections.abc import Generator

CALM_SECONDS: Final = 40.0
"""After the start: until what begins with the service has been done."""
SERVER_COUNTS: Final = (
    "SELECT sum(xact_commit + xact_rollback), sum(sessions) FROM pg_stat_database WHERE datname <> current_database()"
)
"""Of all databases but the administrator's, from which it is asked."""


@dataclass(slots=True)
class Idle:
    """Counts of the hops between threads and the statements of an idle service."""

    hops: int = 0
    statements: int = 0
    transactions: int = 0
    connections: int = 0


@contextmanager
def counting() -> "Generator[Idle]":
    """Count meanwhile."""
    idle, trip = Idle(), asyncio.base_events.BaseEventLoop.call_soon_threadsafe

    def counted(*arguments: Any, **options: Any) -> Any:
        idle.hops += 1
        return trip(*arguments, **options)

    def on_statement(connection: Any, cursor: Any, statement: str, *others: Any) -> None:
        del connection, cursor, others
        idle.statements += not statement.startswith(("PRAGMA", "BEGIN"))

    event.listen(Engine, "before_cursor_execute", on_statement)
    try:
        with patch.object(asyncio.base_events.BaseEventLoop, "call_soon_threadsafe", counted):
            yield idle
    finally:
        event.remove(Engine, "before_cursor_execute", on_statement)


@contextmanager
def on_server() -> "Generator[Idle]":
    """Count the transactions and the new connections of the databases of the tests' server meanwhile."""
    # Those of the server's own work are none of ours.
    server().execute("ALTER SYSTEM SET autovacuum = off", "SELECT pg_reload_conf()")
    (before,) = server().execute(SERVER_COUNTS)
    idle = Idle()
    yield idle
    (after,) = server().execute(SERVER_COUNTS)
    idle.transactions, idle.connections = (int(now - then) for now, then in zip(after, before, strict=True))


async def measure(seconds: float) -> tuple[Idle, float]:
    """Leave a service idle for `seconds`. Return its counts, and its CPU time in seconds."""
    with tempfile.TemporaryDirectory() as root:
        async with real_client(Path(root), InstantModel()) as client:
            (await client.get("/api/drive/items/root")).raise_for_status()
            await asyncio.sleep(CALM_SECONDS)
            with on_server() if IS_POSTGRES else nullcontext(Idle()) as at_server, counting() as idle:
                begun = time.process_time()
                await asyncio.sleep(seconds)
                cpu = time.process_time() - begun
            return replace(idle, transactions=at_server.transactions, connections=at_server.connections), cpu


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=20.0)
    seconds = parser.parse_args(arguments).seconds
    try:
        idle, cpu = asyncio.run(measure(seconds))
    finally:
        stop_server()
    rows = [["trips to threads", f"{idle.hops / seconds:.2f}"], ["statements", f"{idle.statements / seconds:.2f}"]]
    if IS_POSTGRES:
        rows.append(["transactions", f"{idle.transactions / seconds:.2f}"])
        rows.append(["new connections", f"{idle.connections / seconds:.2f}"])
    print_table(
        f"The idle service, {seconds:.0f} s", ["a second", ""], [*rows, ["ms of CPU", f"{cpu / seconds * 1e3:.1f}"]]
    )


if __name__ == "__main__":
    main()
