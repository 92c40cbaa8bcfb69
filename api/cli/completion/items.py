"""Asks a running service for the paths of the drive that begin with a word; gives up soon, and never starts one."""

from __future__ import annotations

from argparse import ArgumentError, ArgumentParser, Namespace
from contextlib import suppress
from itertools import islice
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Final
from unicodedata import normalize
from urllib.parse import quote

from api.cli.failure import CommandError
from api.cli.references import SHARED, is_folder, with_shared
from api.cli.service.connection import connected_if_running
from api.cli.terminal import visible_line

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from api.cli.client import ServiceClient

MAX_PATHS: Final = 200
SECONDS: Final = 3.0
"""The longest time that a shell waits for paths."""


def paths_for(words: Sequence[str]) -> list[str]:
    """Return paths that begin with the last word of a command line; none if the service does not answer soon."""
    *before, word = words
    found: list[str] = []
    if word.startswith("/") or not word:
        # The name of a host may take longer to look up than any limit of a connection.
        search = Thread(target=_search, args=(before, word or "/", found), daemon=True)
        search.start()
        search.join(SECONDS)
    return found[:MAX_PATHS]


def _search(before: Sequence[str], word: str, found: list[str]) -> None:
    with suppress(ArgumentError, CommandError, OSError), connected_if_running(_address_in(before)) as client:
        found.extend(islice(_beginning_with(client, word), MAX_PATHS))


def _address_in(words: Sequence[str]) -> Namespace:
    """Return the options of a command line that say where the service is."""
    parser = ArgumentParser(add_help=False, exit_on_error=False, allow_abbrev=False)
    for option in ("--url", "--token"):
        parser.add_argument(option)
    parser.add_argument("--config", type=Path)
    return parser.parse_known_args(words)[0]


def _beginning_with(client: ServiceClient, word: str) -> Iterator[str]:
    """Yield the paths that begin with the word, letter for letter as it was typed; folders end with a slash."""
    above, _, typed = word.rpartition("/")
    folder, start = normalize("NFC", above) or "/", normalize("NFC", typed)
    items = client.pages(f"/api/drive/items/{quote(folder, safe='')}/children", name_starts_with=start)
    may_be_shared = folder == "/" and bool(start) and SHARED.startswith(start)
    for item in with_shared(client, {"path": "/"}, items) if may_be_shared else items:
        name = str(item["name"])
        if visible_line(name) == name and name.startswith(start):
            yield word + name[len(start) :] + "/" * is_folder(item)
