"""The permission to run a program as an MCP server: on a machine of one person, that person is asked, once."""

from __future__ import annotations

import os
import shlex
from typing import TYPE_CHECKING

from dotenv import set_key

from api.cli.configuration import settings_of
from api.cli.confirmation import is_yes
from api.cli.failure import CommandError
from api.cli.service.connection import CliSettings, find_running
from api.cli.terminal import visible_line
from api.cli.texts import text
from drive_server.kernel.settings import DriveSettings
from graph.servers.connections.stdio import AllowedCommands
from graph.settings import AgentSettings

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Collection, Sequence

    from api.cli.terminal import Terminal

SETTING = "AGENT_STDIO_COMMANDS"


def ask_permission(
    arguments: Namespace, command: Sequence[str], variables: Collection[str], terminal: Terminal
) -> None:
    """Ask whether the command may run here with these variables, unless it may; write the answer into the settings.

    The settings of a service elsewhere are its operator's. Raises `CommandError` if the person does not agree.
    """
    if arguments.url or settings_of(arguments, CliSettings).url:
        return
    allowed = settings_of(arguments, AgentSettings).stdio_commands
    names = AllowedCommands(allowed.split(",")).variables(command[0], command[1:])
    if names is not None and names.issuperset(variables):
        return
    line = shlex.join([*(f"{name}=" for name in variables), *command])
    if SETTING in os.environ or "," in line:
        raise CommandError.of("stdio_refused", setting=SETTING, line=visible_line(line))
    terminal.say(text("stdio_runs", line=visible_line(line)))
    if not is_yes(terminal.ask(text("stdio_ask"))):
        raise CommandError.of("stdio_denied")
    drive = settings_of(arguments, DriveSettings)
    path = arguments.config or drive.config_path
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    set_key(path, SETTING, ",".join(filter(None, [allowed, line])))
    if find_running(drive.root):
        terminal.note(text("stdio_restart"), "yellow")
