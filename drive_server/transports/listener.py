"""The socket that a service listens on, and the address by which it is reached."""

import os
import socket
from typing import Final

from drive_server.kernel.errors import InvalidInputError

BACKLOG: Final = 2048
REACHABLE: Final = {"": "127.0.0.1", "0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104 - compared with, never bound


def listen(host: str, port: int) -> socket.socket:
    """Return a listening socket; port 0 takes a free one. Raises `InvalidInputError`."""
    try:
        family = socket.getaddrinfo(host or None, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0][0]
        return socket.create_server((host, port), family=family, backlog=BACKLOG)
    except socket.gaierror as error:
        raise InvalidInputError(f"{host} is not an address to listen on.", hint="Use e.g. --host 127.0.0.1.") from error
    except OSError as error:
        raise InvalidInputError(
            f"Can't listen on {host}, port {port}: {os.strerror(error.errno or 0).lower()}.",
            hint="Choose another port with --port; --port 0 takes a free one.",
        ) from error


def address_of(listener: socket.socket, host: str, scheme: str = "http") -> str:
    """Return the URL of the listening server, from this machine if it listens everywhere."""
    return url_of(REACHABLE.get(host, host), listener.getsockname()[1], scheme)


def url_of(host: str, port: int, scheme: str = "http") -> str:
    """Return the URL of a host, an IPv6 address in brackets."""
    return f"{scheme}://[{host}]:{port}" if ":" in host else f"{scheme}://{host}:{port}"
