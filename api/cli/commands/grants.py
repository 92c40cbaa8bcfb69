"""`drive-agent grants`: list the actions that need no approval, and withdraw them."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any

from api.cli.failure import ServiceError
from api.cli.service.connection import connected
from api.cli.terminal import Terminal, print_json, visible_line
from api.cli.texts import text, word

if TYPE_CHECKING:
    from argparse import Namespace

    from api.cli.client import ServiceClient

GRANTS = "/api/grants"


def list_grants(arguments: Namespace) -> int:
    """List the valid grants."""
    terminal = Terminal()
    with connected(arguments, terminal) as client:
        grants = client.get(GRANTS)["items"]
        lines = [] if arguments.json else [_line(grant, client) for grant in grants]
    if arguments.json:
        print_json(grants)
        return 0
    for line in lines:
        terminal.say(line)
    if not lines:
        terminal.note(text("grants_none"))
    return 0


def withdraw_grant(arguments: Namespace) -> int:
    """End a grant now."""
    terminal = Terminal()
    with connected(arguments, terminal) as client:
        client.delete(f"{GRANTS}/{arguments.grant_id}")
    terminal.say(text("grant_withdrawn", id=visible_line(arguments.grant_id)))
    return 0


def _line(grant: dict[str, Any], client: ServiceClient) -> str:
    until = datetime.fromisoformat(str(grant["expires_at"])).astimezone()
    folders = ", ".join(_path(str(folder), client) for folder in grant["folder_ids"])
    return text(
        "grant",
        id=grant["grant_id"],
        kinds=", ".join(word("grant", kind) for kind in grant["kinds"]),
        folders=folders,
        used=grant["used"],
        most=grant["max_items"],
        time=f"{until:%Y-%m-%d %H:%M %Z}",
    )


def _path(folder_id: str, client: ServiceClient) -> str:
    """Return the folder's current path; its id if it is gone."""
    try:
        return visible_line(str(client.item(folder_id)["path"]))
    except ServiceError:
        return folder_id
