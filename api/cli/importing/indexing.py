"""Waits until the files of the drive can be searched."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from api.cli.progress import Progress

if TYPE_CHECKING:
    from api.cli.client import ServiceClient
    from api.cli.terminal import Terminal

WAIT_SECONDS = 5
WAITING_STATES = ("pending", "indexing")


def wait_for_index(client: ServiceClient, terminal: Terminal) -> dict[str, Any]:
    """Show the indexing until nothing is pending, and return the last status. Ctrl-C stops the waiting only."""
    status = client.get("/api/drive/index")
    total = _waiting(status)
    if not total:
        return status
    with Progress(terminal, "Reading for search", total) as progress:
        while waiting := _waiting(status):
            total = max(total, waiting)
            progress.update(total - waiting, total)
            status = client.get("/api/drive/index", wait_seconds=WAIT_SECONDS)
        progress.update(total, total)
    return status


def _waiting(status: dict[str, Any]) -> int:
    return sum(int(status["counts"].get(state, 0)) for state in WAITING_STATES)
