"""The drive's MCP server over standard input and output, for hosts that start it themselves."""

import logging
import sys

from mcp.server.stdio import stdio_server

from drive_server.connect import open_drive
from drive_server.server import build_server
from drive_server.settings import DriveSettings


async def serve_stdio(settings: DriveSettings) -> None:
    """Serve one host until it closes standard input.

    Calls are made with the key in `settings.api_key` (DRIVE_API_KEY), or the one given to the `authenticate` tool.
    Standard output belongs to the protocol: logs go to standard error.
    """
    logging.basicConfig(level=logging.WARNING, stream=sys.stderr)
    async with open_drive(settings) as drive:
        await drive.identity.ensure_local_user()
        protocol = build_server(drive, default_key=settings.api_key.get_secret_value()).protocol
        async with stdio_server() as (read_stream, write_stream):
            await protocol.run(read_stream, write_stream, protocol.create_initialization_options())
