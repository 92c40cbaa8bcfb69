"""The same work for the drive, for a folder behind `server-filesystem`, and for a tool that does nothing."""

import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path

from mcp.types import CallToolResult, TextContent

from benchmarks.fixtures.ways import Way

OPERATIONS = ("read 4 kB", "list 100", "search", "write 4 kB", "edit")
MAX_AT_ONCE = 8
LISTED = 100
FILES = 520
FOLDERS = 10
NEEDLE = "needle"
STATES = ("state: even", "state: odd")
TEXT = "A line of about forty characters, again.\n" * 100

Operation = Callable[[int], Awaitable[CallToolResult]]
"""One call by a worker, of which there are up to eight; each changes files of its own."""


def make_folder(root: Path) -> list[Path]:
    """Make the files as files, and return them after the folders that they are in; the drive gets the same."""
    for number in range(FILES):
        folder = root / ("listed" if number < LISTED else f"part {number % FOLDERS}")
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"note {number}{f' {NEEDLE}' if number % 50 == 0 else ''}.md").write_text(f"# Note {number}\n{TEXT}")
    for worker in range(MAX_AT_ONCE):
        (root / f"written {worker}.md").write_text(TEXT)
        (root / f"edited {worker}.md").write_text(f"{STATES[0]}\n{TEXT}")
    return sorted(root.rglob("*"))


@dataclass(frozen=True, slots=True)
class Places:
    """The items that the operations work on, by the drive's ids: they are the same in each copy of the drive."""

    listed: str
    written: list[str]
    edited: list[str]


class Toggle:
    """Says for each worker what an edit finds and what it puts there: one after the other, so that each edits."""

    def __init__(self) -> None:
        self._turns = [0] * MAX_AT_ONCE

    def next(self, worker: int) -> tuple[str, str]:
        """Return what stands there and what shall."""
        turn = self._turns[worker]
        self._turns[worker] += 1
        return STATES[turn % 2], STATES[(turn + 1) % 2]


def of_drive(way: Way, places: Places) -> dict[str, Operation]:
    toggle = Toggle()

    async def edit(worker: int) -> CallToolResult:
        found, put = toggle.next(worker)
        edits = [{"find": found, "replace": put}]
        return await way.call("patch_file", {"file_id": places.edited[worker], "edits": edits})

    def write(worker: int) -> Awaitable[CallToolResult]:
        return way.call("write_file", {"file_id": places.written[worker], "content": f"{time.time_ns()}\n{TEXT}"})

    return {
        "read 4 kB": lambda worker: way.call("read_file", {"file_id": places.written[worker]}),
        "list 100": lambda _: way.call("list_folder", {"folder_id": places.listed}),
        "search": lambda _: way.call("search_files", {"query": NEEDLE}),
        "write 4 kB": write,
        "edit": edit,
    }


def of_filesystem(way: Way, root: Path) -> dict[str, Operation]:
    toggle = Toggle()

    async def edit(worker: int) -> CallToolResult:
        found, put = toggle.next(worker)
        edits = [{"oldText": found, "newText": put}]
        return await way.call("edit_file", {"path": str(root / f"edited {worker}.md"), "edits": edits})

    def written(worker: int) -> str:
        return str(root / f"written {worker}.md")

    def write(worker: int) -> Awaitable[CallToolResult]:
        return way.call("write_file", {"path": written(worker), "content": f"{time.time_ns()}\n{TEXT}"})

    return {
        "read 4 kB": lambda worker: way.call("read_text_file", {"path": written(worker)}),
        "list 100": lambda _: way.call("list_directory", {"path": str(root / "listed")}),
        "search": lambda _: way.call("search_files", {"path": str(root), "pattern": f"**/*{NEEDLE}*"}),
        "write 4 kB": write,
        "edit": edit,
    }


async def of_trivial(way: Way, models: dict[str, Operation]) -> dict[str, Operation]:
    """Return calls that send and answer as much text as the model's do."""

    async def like(name: str) -> Operation:
        result = await models[name](0)
        characters = sum(len(block.text) for block in result.content if isinstance(block, TextContent))
        arguments = {"characters": characters, "content": TEXT if name.startswith("write") else ""}
        return lambda _: way.call("answer", arguments)

    return {name: await like(name) for name in OPERATIONS}
