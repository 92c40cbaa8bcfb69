"""`drive-agent servers sign-in` and `sign-out`: OAuth for servers at an address."""

from __future__ import annotations

from typing import TYPE_CHECKING

from api.cli.servers.finding import SERVERS, find_server
from api.cli.service.connection import connected
from api.cli.terminal import Terminal, visible_line

if TYPE_CHECKING:
    from argparse import Namespace

    from api.cli.client import Json


def sign_in(arguments: Namespace) -> int:
    """Print the address at which the person signs in; their browser comes back to the service."""
    terminal = Terminal()
    with connected(arguments, terminal) as client:
        begun: Json = client.post(f"{SERVERS}/{find_server(client, arguments.server)['id']}/authorize")
    terminal.note("Open this address within ten minutes, in a browser that is logged in (`drive-agent login-link`):")
    terminal.say(visible_line(begun["url"]))
    return 0


def sign_out(arguments: Namespace) -> int:
    """Delete the tokens of a server."""
    terminal = Terminal()
    with connected(arguments, terminal) as client:
        found = find_server(client, arguments.server)
        client.delete(f"{SERVERS}/{found['id']}/authorize")
    terminal.say(f"Signed out of {visible_line(found['name'])}.")
    return 0
