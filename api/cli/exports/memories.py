"""The assistant's memories, as files of an export: Markdown to read, JSON to take in again."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from api.cli.exports.format.bounds import whole

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from api.cli.client import ServiceClient
    from api.cli.exports.format.reader import Export
    from api.cli.exports.format.sums import Sums

MEMORIES: Final = "Memories"
ROUTE: Final = "/api/memories"


def export_memories(client: ServiceClient, root: Path, sums: Sums) -> int:
    """Write the assistant's memories; return the number of facts."""
    facts: list[dict[str, Any]] = client.get(ROUTE)["items"]
    lines = [f"- {fact['text']} ({fact['created_at'][:10]})" for fact in facts]
    sums.write(root, f"{MEMORIES}.md", "\n".join(["# Memories", "", *lines, ""]).encode())
    sums.write(root, f"{MEMORIES}.json", json.dumps(facts, ensure_ascii=False, indent=2).encode())
    return len(facts)


def read_memories(export: Export) -> list[dict[str, Any]]:
    """Return the facts of an export. Raises `OSError` and `ValueError` if they are not there, or no facts."""
    with export.files.open(f"{MEMORIES}.json") as file:
        facts = json.loads(whole(file, f"{MEMORIES}.json"))
    if not isinstance(facts, list) or not all(isinstance(fact, dict) for fact in facts):
        raise ValueError(MEMORIES)
    return facts


def send_memories(
    client: ServiceClient,
    export_id: str,
    facts: list[dict[str, Any]],
    file_here: Callable[[str], str | None],
    threads: Mapping[str, str],
) -> dict[str, Any]:
    """Restore the facts; `file_here` and `threads` have the ids here of their sources. Raises `ServiceError`."""

    def wire(fact: dict[str, Any]) -> dict[str, Any]:
        source = fact["source"]
        ids = {"file_id": file_here(source.get("file_id") or ""), "thread_id": threads.get(source.get("thread_id"))}
        said = {name: source.get(name) for name in ("kind", "name", "version")}
        return {name: fact[name] for name in ("id", "text", "created_at", "updated_at")} | {"source": said | ids}

    return client.post(f"{ROUTE}/import", {"export_id": export_id, "items": [wire(fact) for fact in facts]})
