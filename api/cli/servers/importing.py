"""`drive-agent servers import`: take over the MCP servers of Claude Desktop, Cursor or VS Code."""

from __future__ import annotations

import json
import os
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from api.cli.failure import CommandError
from api.cli.servers.finding import SERVERS
from api.cli.service.connection import connected
from api.cli.terminal import Terminal, visible_line
from api.cli.texts import text
from api.servers.importing import fill_placeholders, placeholders

if TYPE_CHECKING:
    from argparse import Namespace

# VS Code's files may have comments, and commas before a closing bracket. Texts come first: they may look like both.
TOKENS = re.compile(r'("(?:\\.|[^"\\])*")|//[^\n]*|/\*.*?\*/|,(?=(?:\s|//[^\n]*|/\*.*?\*/)*[}\]])', re.DOTALL)


def import_servers(arguments: Namespace) -> int:
    """Import the servers of a file. Exit code 1 if one of them could not be taken over."""
    terminal = Terminal()
    document = _read(arguments.file)
    if used := sorted(placeholders(document) & os.environ.keys()):
        terminal.note(text("environment_taken", names=", ".join(map(visible_line, used))))
    document = fill_placeholders(document, os.environ)
    with connected(arguments, terminal) as client:
        outcomes: list[dict[str, Any]] = client.post(f"{SERVERS}/import", document)["items"]
    for one in outcomes:
        name = visible_line(one["name"])
        if one["problem"]:
            terminal.note(text("server_left_out", name=name, problem=one["problem"]), "red")
            continue
        terminal.say(text("server_imported", name=name, id=one["id"]))
        if one["missing"]:
            terminal.note(text("server_needs", names=", ".join(map(visible_line, one["missing"]))), "yellow")
    return 1 if any(one["problem"] for one in outcomes) else 0


def _read(name: str) -> dict[str, Any]:
    try:
        content = sys.stdin.read() if name == "-" else Path(name).expanduser().read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise CommandError.of("no_text_file", name=visible_line(name)) from error
    try:
        document = json.loads(TOKENS.sub(lambda match: match[1] or "", content))
    except ValueError as error:
        raise CommandError.of("no_json_file", name=visible_line(name)) from error
    if not isinstance(document, dict):
        raise CommandError.of("no_server_list", name=visible_line(name))
    return document
