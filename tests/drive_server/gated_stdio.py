"""A server over stdio whose copies stand still half-way, until they are cancelled. Run as a process of its own."""

from __future__ import annotations

import anyio

from drive_server.kernel.settings import DriveSettings
from drive_server.services.files import copying
from drive_server.transports.stdio import serve_stdio
from tests.drive_server.gates import Gate


def main() -> None:
    """Serve."""
    copying._insert = Gate().after(copying._insert)  # pyright: ignore[reportPrivateUsage] - nothing else is half-way
    anyio.run(serve_stdio, DriveSettings())


if __name__ == "__main__":
    main()
