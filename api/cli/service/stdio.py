"""`drive-agent mcp`: the drive as an MCP server over standard input and output."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import anyio
from pydantic import SecretStr

from api.cli.configuration import as_command_error, settings_of
from api.cli.service.data_dir import require_usable
from api.cli.texts import text
from drive_server.connect import DriveSettings, open_drive
from drive_server.kernel.errors import DriveError
from drive_server.kernel.garbage_collector import paused_collector
from drive_server.storage.installation.service_record import running_address
from drive_server.transports.stdio import serve_stdio as serve

if TYPE_CHECKING:
    from argparse import Namespace


def serve_stdio(arguments: Namespace) -> int:
    """Serve one MCP host until it closes standard input; as the local user, unless DRIVE_API_KEY names another key."""
    settings = settings_of(arguments, DriveSettings)
    require_usable(settings.root)
    # Addresses lead to the service that answers there, if one runs.
    if address := running_address(settings.root):
        settings = settings.listening_at(address)
        print(text("runs_at", url=address), file=sys.stderr)  # noqa: T201 - standard output is the protocol's
    if arguments.tools:
        settings = settings.model_copy(update={"mcp_tools": arguments.tools})
    try:
        with paused_collector():
            anyio.run(_serve, settings)
    except DriveError as error:
        raise as_command_error(error) from error
    return 0


async def _serve(settings: DriveSettings) -> None:
    if settings.is_embedded and not settings.api_key.get_secret_value():
        settings = settings.model_copy(update={"api_key": SecretStr(await _local_token(settings))})
    await serve(settings)


async def _local_token(settings: DriveSettings) -> str:
    path = anyio.Path(settings.token_path)
    if await path.exists():
        return (await path.read_text(encoding="utf-8")).strip()
    async with open_drive(settings) as drive:
        _, token = await drive.identity.ensure_local_user()
    return token
