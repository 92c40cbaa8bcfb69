"""The server or assistant that a person names, by its id or its name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from api.cli.failure import CommandError
from api.cli.terminal import visible_line

if TYPE_CHECKING:
    from collections.abc import Sequence

    from api.cli.client import Json, ServiceClient

SERVERS = "/api/mcp-servers"


def find_server(client: ServiceClient, wanted: str) -> Json:
    """Return the server with this id or name."""
    return find_by_id_or_name(client.get(SERVERS)["items"], wanted, "no_server")


def find_by_id_or_name(items: Sequence[Json], wanted: str, none: str) -> Json:
    """Return the item with this id, or else this name. Raises `CommandError` of the code `none` without one."""
    for field in ("id", "name"):
        for item in items:
            if item[field] == wanted:
                return item
    raise CommandError.of(none, name=visible_line(wanted))
