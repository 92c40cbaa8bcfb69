"""`drive-agent get` and `cat`: contents from the drive to this computer."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from api.cli.failure import CommandError, system_reason
from api.cli.files.download import Download, Source, print_stream, stream_of
from api.cli.references import Item, children, expand, is_folder
from api.cli.service.connection import connected
from api.cli.terminal import Terminal, format_size, print_json, visible_line
from api.cli.texts import text
from drive_server.kernel.files.portable_names import portable_names

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Iterator, Sequence

    from api.cli.client import ServiceClient

STREAM: Final = "-"
MARKDOWN: Final = "text/markdown"
TEXTS: Final = ("text/", "application/json", "application/xml", "application/yaml")


@dataclass(frozen=True, slots=True)
class LocalPlace:
    """A place on this computer for a file or folder: a folder, and the name that it has there; empty: its own."""

    folder: Path
    name: str = ""

    def paths_of(self, items: Sequence[Item]) -> list[Path]:
        """Return the path of each item that goes there."""
        return [self.folder / (self.name or name) for name in _local_names(items)]


def get(arguments: Namespace) -> int:
    """Fetch files, with -r also folders with all that is in them."""
    *sources, target = arguments.paths if len(arguments.paths) > 1 else [*arguments.paths, "."]
    terminal = Terminal(machine=arguments.json or target == STREAM)
    with connected(arguments, terminal) as client:
        items = expand(client, sources)
        if target == STREAM:
            _print_one(client, items)
            return 0
        place = local_place(target, is_one=len(items) == 1)
        placed = zip(items, place.paths_of(items), strict=True)
        wanted = [entry for item, path in placed for entry in _wanted(client, item, path, arguments)]
        fetched = Download(client, terminal, arguments.on_conflict).fetch_all(wanted)
    if arguments.json:
        print_json([{"path": str(path), "item": entry.item} for (entry, _), path in zip(wanted, fetched, strict=True)])
    elif len(fetched) == 1:
        terminal.say(text("got", path=visible_line(str(fetched[0])), size=format_size(wanted[0][0].item["size"])))
    else:
        size = format_size(sum(int(source.item["size"]) for source, _ in wanted))
        terminal.say(text("got_many", files=len(fetched), size=size, path=visible_line(target)))
    return 0


def cat(arguments: Namespace) -> int:
    """Print contents: to a pipe as they are; on a terminal text alone, and Markdown as it is meant to look."""
    terminal = Terminal()
    with connected(arguments, terminal) as client:
        for item in expand(client, arguments.paths):
            if is_folder(item):
                raise CommandError.of("is_no_file", ref=item["path"])
            if not terminal.out.is_terminal:
                print_stream(client, Source(item))
            elif not _is_text(item):
                raise CommandError.of("not_for_terminals", ref=item["path"], attempt=["get", str(item["path"])])
            else:
                _show(client, item, terminal)
    return 0


def local_place(target: str, *, is_one: bool = True) -> LocalPlace:
    """Return the place that a target names: an existing folder, or else, for one source, a path."""
    path = Path(target).expanduser()
    if path.is_dir():
        return LocalPlace(path)
    folder = path if target.endswith(os.sep) or not is_one else path.parent
    if not folder.is_dir():
        raise CommandError.of("no_local_folder", path=visible_line(str(folder)))
    return LocalPlace(path.parent, path.name)


def _local_names(items: Sequence[Item]) -> list[str]:
    """Return the names of items of one folder as every file system can have them."""
    return portable_names([str(item["name"]) for item in items])


def _print_one(client: ServiceClient, items: list[Item]) -> None:
    if len(items) != 1:
        raise CommandError.of("one_stream")
    if is_folder(items[0]):
        raise CommandError.of("is_no_file", ref=items[0]["path"])
    print_stream(client, Source(items[0]))


def _wanted(client: ServiceClient, item: Item, path: Path, arguments: Namespace) -> Iterator[tuple[Source, Path]]:
    """Yield each file of the item with its path; folders are made on the way."""
    if not is_folder(item):
        yield Source(item), path
        return
    if not arguments.recursive:
        raise CommandError.of("is_folder", ref=item["path"])
    yield from _inside(client, item, path)


def _inside(client: ServiceClient, folder: Item, path: Path) -> Iterator[tuple[Source, Path]]:
    _make_folder(path)
    items = [*children(client, folder)]
    for inner, name in zip(items, _local_names(items), strict=True):
        if is_folder(inner):
            yield from _inside(client, inner, path / name)
        else:
            yield Source(inner), path / name


def _make_folder(path: Path) -> None:
    try:
        path.mkdir(exist_ok=True)
    except OSError as error:
        raise CommandError.of("no_such_file", path=visible_line(str(path)), reason=system_reason(error)) from error


def _is_text(item: Item) -> bool:
    return str(item["media_type"]).startswith(TEXTS) or not item["size"]


def _show(client: ServiceClient, item: Item, terminal: Terminal) -> None:
    content = b"".join(stream_of(client, Source(item))).decode("utf-8", "replace")
    if str(item["media_type"]).startswith(MARKDOWN):
        terminal.say_markdown(content)
    else:
        terminal.say(content.removesuffix("\n"))
