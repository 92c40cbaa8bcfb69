"""`drive-agent admin create`: the first administrator, by whoever can reach the database; no service has to run."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from api.cli.configuration import as_command_error, settings_of
from api.cli.service.local_service import log_to_file
from api.cli.terminal import Terminal, visible_line
from api.cli.texts import text
from drive_server.kernel.errors import DriveError
from drive_server.kernel.files.token_file import make_private_directory
from drive_server.kernel.settings import DriveSettings
from drive_server.services.identity.first_admin import create_first_admin as create
from drive_server.storage.drive_database import open_database

if TYPE_CHECKING:
    from argparse import Namespace


def create_first_admin(arguments: Namespace) -> int:
    """Make the administrator of a drive that has none; standard output gets their first key alone."""
    terminal = Terminal()
    settings = settings_of(arguments, DriveSettings)
    make_private_directory(settings.root)
    log_to_file(settings)
    try:
        key = asyncio.run(_create(settings.resolved_database_url, arguments.email))
    except DriveError as error:
        raise as_command_error(error) from error
    terminal.say(key)
    terminal.note(text("key_first", email=visible_line(arguments.email)))
    return 0


async def _create(url: str, email: str) -> str:
    database = await open_database(url)
    try:
        return await create(database, email)
    finally:
        await database.dispose()
