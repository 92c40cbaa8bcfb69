"""`drive-agent tree` and `du`: the items below a folder, and how much room they take."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from api.cli.references import Item, children, find, is_folder
from api.cli.service.connection import connected
from api.cli.terminal import Terminal, format_size, print_json, visible_line
from api.cli.texts import text

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Iterator

    from api.cli.client import ServiceClient


@dataclass(slots=True)
class Branch:
    """An item with the items below it, down to the depth asked for. `is_cut`: there is more."""

    item: Item
    branches: list[Branch] = field(default_factory=list["Branch"])
    is_cut: bool = False

    @property
    def size(self) -> int:
        """The bytes of all files in it."""
        return int(self.item["size"]) + sum(branch.size for branch in self.branches)

    @property
    def files(self) -> int:
        """The number of files in it."""
        return sum(branch.files for branch in self.branches) if is_folder(self.item) else 1

    def to_json(self) -> dict[str, Any]:
        """Return the item with its `children`."""
        return {**self.item, "children": [branch.to_json() for branch in self.branches], "truncated": self.is_cut}


def tree(arguments: Namespace) -> int:
    """Print a folder with everything below it, or down to a depth."""
    terminal = Terminal()
    with connected(arguments, terminal) as client:
        top = _branch(client, find(client, arguments.path), arguments.depth)
    if arguments.json:
        print_json(top.to_json())
        return 0
    terminal.say(visible_line(top.item["path"]), "bold")
    for line, is_of_folder in _lines(top, ""):
        terminal.say(line, "bold" if is_of_folder else "")
    return 0


def disk_usage(arguments: Namespace) -> int:
    """Print how many bytes the files below each folder have, down to a depth, and in all."""
    terminal = Terminal()
    with connected(arguments, terminal) as client:
        tops = [_branch(client, find(client, path), None) for path in arguments.paths]
    rows = [row for top in tops for row in _usage(top, arguments.depth)]
    if arguments.json:
        print_json([{"path": row.item["path"], "size": row.size, "files": row.files} for row in rows])
        return 0
    for row in rows:
        terminal.say(f"{format_size(row.size):>9}  {visible_line(row.item['path'])}")
    if len(tops) > 1:
        terminal.say(f"{format_size(sum(top.size for top in tops)):>9}  {text('total')}", "bold")
    return 0


def _branch(client: ServiceClient, item: Item, depth: int | None) -> Branch:
    if not is_folder(item):
        return Branch(item)
    if depth == 0:
        return Branch(item, is_cut=bool(item.get("child_count")))
    deeper = None if depth is None else depth - 1
    return Branch(item, [_branch(client, child, deeper) for child in list(children(client, item))])


def _lines(branch: Branch, indent: str) -> Iterator[tuple[str, bool]]:
    for number, below in enumerate(branch.branches, 1):
        is_last = number == len(branch.branches)
        mark = "/" if is_folder(below.item) else ""
        cut = f" {text('more_below')}" if below.is_cut else ""
        yield f"{indent}{'└── ' if is_last else '├── '}{visible_line(below.item['name'])}{mark}{cut}", bool(mark)
        yield from _lines(below, indent + ("    " if is_last else "│   "))


def _usage(branch: Branch, depth: int) -> Iterator[Branch]:
    if depth > 0:
        for below in branch.branches:
            if is_folder(below.item):
                yield from _usage(below, depth - 1)
    yield branch
