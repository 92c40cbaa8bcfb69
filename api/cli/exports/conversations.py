"""Threads as files: Markdown to read, JSON to take in again."""

from __future__ import annotations

from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from api.cli.exports.format.layout import THREADS
from api.cli.exports.format.names import MAX_BYTES
from api.cli.failure import ServiceError
from drive_server.kernel.files.portable_names import key_of, portable_name

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from api.cli.client import ServiceClient
    from api.cli.exports.format.sums import Sums


def export_threads(client: ServiceClient, root: Path, sums: Sums) -> Iterator[dict[str, Any]]:
    """Write each thread as Markdown and as JSON; yield its entry for the manifest."""
    taken = set[str]()
    for thread in client.pages("/api/threads"):
        address = f"/api/threads/{thread['thread_id']}/export"
        name = portable_name(f"{thread['created_at'][:10]} {thread['title']}"[:80], taken, MAX_BYTES)
        taken.add(key_of(name))
        paths = {"markdown": f"{THREADS}/{name}.md", "json": f"{THREADS}/{name}.json"}
        entry: dict[str, Any] = {
            "id": thread["thread_id"],
            "title": thread["title"],
            "created_at": thread["created_at"],
            "updated_at": thread["updated_at"],
        }
        try:
            bodies = {form: client.send("GET", address, params={"format": form}).content for form in paths}
        except ServiceError as error:
            if error.status == HTTPStatus.NOT_FOUND:  # deleted meanwhile
                continue
            raise
        for form, path in paths.items():
            entry[form] = {"path": path, "sha256": sums.write(root, path, bodies[form])}
        yield entry
