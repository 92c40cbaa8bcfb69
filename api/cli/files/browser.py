"""`drive-agent open`: the page of the drive, or of a file, in a browser."""

from __future__ import annotations

import os
import sys
import webbrowser
from typing import TYPE_CHECKING, Final
from urllib.parse import quote, urljoin

from api.cli.failure import CommandError
from api.cli.references import find, is_folder
from api.cli.service.connection import connected, service_address
from api.cli.terminal import Terminal, visible_line
from api.cli.texts import text

if TYPE_CHECKING:
    from argparse import Namespace

DISPLAYS: Final = ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER")


def open_in_browser(arguments: Namespace) -> int:
    """Open the browser; without a display, print the address."""
    terminal = Terminal()
    address = service_address(arguments)
    if not address:
        raise CommandError.of("no_browser_service", attempt=["serve"])
    with connected(arguments, terminal) as client:
        item = find(client, arguments.path) if arguments.path else None
        if item is not None and not is_folder(item):
            url, is_once = urljoin(address, f"/f/{quote(str(item['id']), safe='')}"), False
        else:
            url, is_once = str(client.post("/api/auth/login-links")["url"]), True
    if not arguments.print and has_display() and webbrowser.open(url):
        terminal.note(text("opened", url=visible_line(url)))
        return 0
    terminal.note(text("open_this"))
    terminal.say(url)
    if is_once:
        terminal.note(text("once"))
    return 0


def has_display() -> bool:
    """Return whether a browser has a screen to open on."""
    return sys.platform in {"win32", "darwin"} or any(os.environ.get(name) for name in DISPLAYS)
