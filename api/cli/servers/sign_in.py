"""`drive-agent servers sign-in` and `sign-out`: OAuth for servers at an address."""

from __future__ import annotations

from typing import TYPE_CHECKING

from api.cli.servers.finding import SERVERS, find_server
from api.cli.service.connection import connected
from api.cli.terminal import Terminal, visible_line
from api.cli.texts import text

if TYPE_CHECKING:
    from argparse import Namespace

    from api.cli.client import Json


def sign_in(arguments: Namespace) -> int:
    """Print the address at which the person signs in; their browser comes back to the service."""
    terminal = Terminal()
    with connected(arguments, terminal) as client:
        begun: Json = client.post(f"{SERVERS}/{find_server(client, arguments.server)['id']}/authorize")
    terminal.note(text("sign_in_there"))
    terminal.say(visible_line(begun["url"]))
    return 0


def sign_out(arguments: Namespace) -> int:
    """Delete the tokens of a server."""
    terminal = Terminal()
    with connected(arguments, terminal) as client:
        found = find_server(client, arguments.server)
        client.delete(f"{SERVERS}/{found['id']}/authorize")
    terminal.say(text("signed_out", name=visible_line(found["name"])))
    return 0
