"""The table of actions: what it names exists, what exists is named, and no cell is empty without a reason."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from api.app import create_app
from api.cli.arguments import build_parser
from drive_server.kernel.settings import DriveSettings
from tests.graph.facts import DRIVE_TOOLS

TEXT = (Path(__file__).parents[1] / "docs" / "ACTIONS.md").read_text()
COLUMNS = ["action", "MCP tool", "HTTP route", "command", "WebDAV"]
WEBDAV = {"COPY", "DELETE", "GET", "HEAD", "LOCK", "MKCOL", "MOVE", "PROPFIND", "PROPPATCH", "PUT", "UNLOCK"}
SHORTEST_REASON = 8
PARTS = tuple(f" /api/{part}" for part in ("drive", "auth", "users", "groups", "notices", "links", "threads", "runs"))
"""The routes that have rows, each of them."""
NAMED = re.compile(r"`([^`]+)`")
PARAMETER = re.compile(r"\{[^}]*\}")


class Row(NamedTuple):
    action: str
    tool: str
    route: str
    command: str
    webdav: str


def rows_of(text: str) -> Iterator[Row]:
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if line.startswith("|") and cells != COLUMNS and set(line) - set("|- "):
            yield Row(*cells)


ROWS = [*rows_of(TEXT)]


def names_in(cell: str) -> list[str]:
    """Return what a cell names; nothing of a reason, nor of what is planned."""
    return [] if cell.startswith(("- ", "planned: ")) else NAMED.findall(cell)


def complaint(cell: str) -> str:
    """Return what is wrong with a cell; empty if nothing is."""
    if cell.startswith("- "):
        return "" if len(cell) >= SHORTEST_REASON else "a dash without a reason"
    return "" if NAMED.search(cell) or cell.startswith("planned: ") else "nothing is named, and no reason given"


def routes() -> set[str]:
    paths = create_app(DriveSettings()).openapi()["paths"]
    return {
        f"{method.upper()} {PARAMETER.sub('{}', path)}" for path, operations in paths.items() for method in operations
    }


def commands() -> set[str]:
    return set(re.findall(r"^    ([a-z-]+) ", build_parser().format_help(), re.MULTILINE))


def test_the_table_has_a_row_for_each_action_once() -> None:
    actions = [row.action for row in ROWS]
    assert len(actions) > 50
    assert len(set(actions)) == len(actions)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.action)
def test_no_cell_is_empty_without_a_reason(row: Row) -> None:
    assert {cell: said for cell in row[1:] if (said := complaint(cell))} == {}
    assert not row.tool.startswith("planned")
    assert not row.route.startswith("planned")
    assert not row.webdav.startswith("planned")


@pytest.mark.parametrize("cell", ["", "-", "- no", "later", "–"])
def test_a_cell_that_says_nothing_is_found(cell: str) -> None:
    assert complaint(cell)


def test_every_tool_is_in_the_table_and_no_other() -> None:
    named = [name for row in ROWS for name in names_in(row.tool)]
    assert set(named) == set(DRIVE_TOOLS)


def test_every_route_of_these_parts_is_in_the_table_and_each_that_is_named_exists() -> None:
    named = {PARAMETER.sub("{}", name) for row in ROWS for name in names_in(row.route)}
    existing = routes()
    assert named - existing == set()
    assert {route for route in existing if any(part in route for part in PARTS)} - named == set()


def test_every_command_that_is_named_exists_and_none_that_exists_is_only_planned() -> None:
    named = {name.removeprefix("drive-agent ") for row in ROWS for name in names_in(row.command)}
    planned = {name for row in ROWS if row.command.startswith("planned") for name in NAMED.findall(row.command)}
    assert named - commands() == set()
    assert planned & commands() == set()


def test_every_method_of_webdav_is_one() -> None:
    named = {name for row in ROWS if not row.webdav.startswith("- ") for name in NAMED.findall(row.webdav)}
    assert named - WEBDAV == set()
