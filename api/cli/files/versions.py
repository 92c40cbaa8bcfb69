"""`drive-agent versions`: the contents that a file had."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from api.cli.failure import CommandError, ServiceError
from api.cli.files.download import Download, Source, print_stream
from api.cli.files.get import STREAM, local_place
from api.cli.references import find_file
from api.cli.service.connection import connected
from api.cli.terminal import Terminal, format_size, print_json, print_list, visible_line
from api.cli.texts import text

if TYPE_CHECKING:
    from argparse import Namespace

    from api.cli.client import ServiceClient
    from api.cli.references import Item

STYLES = {"+": "green", "-": "red", "@": "cyan"}


def list_versions(arguments: Namespace) -> int:
    """List the versions of a file, newest first."""
    terminal = Terminal()
    with connected(arguments, terminal) as client:
        versions = list(client.pages(_address(find_file(client, arguments.path))))
    return print_list(terminal, versions, _line, as_json=arguments.json)


def get(arguments: Namespace) -> int:
    """Fetch a version."""
    terminal = Terminal(machine=arguments.to == STREAM)
    with connected(arguments, terminal) as client:
        item = find_file(client, arguments.path)
        address = f"{_address(item)}/{arguments.number}/content"
        if arguments.to == STREAM:
            print_stream(client, Source(item, address))
            return 0
        path = local_place(arguments.to).paths_of([item])[0]
        source = Source(item | _date_of(client, item, arguments.number), address)
        Download(client, terminal, arguments.on_conflict).fetch_all([(source, path)])
    return 0


def restore(arguments: Namespace) -> int:
    """Make an earlier content the newest version."""
    terminal = Terminal(machine=arguments.json)
    with connected(arguments, terminal) as client:
        item = find_file(client, arguments.path)
        restored = client.post(f"{_address(item)}/{arguments.number}/restore")
    facts = {"path": visible_line(restored["path"]), "number": arguments.number, "version": restored["version"]}
    terminal.say(text("version_back", **facts))
    if arguments.json:
        print_json(restored)
    return 0


def diff(arguments: Namespace) -> int:
    """Print the differences of two versions of a text; without a second one, from the newest."""
    terminal = Terminal()
    other = {} if arguments.other is None else {"to": arguments.other}
    with connected(arguments, terminal) as client:
        item = find_file(client, arguments.path)
        try:
            found = client.get(f"{_address(item)}/{arguments.number}/diff", **other)
        except ServiceError as error:
            raise CommandError(text("refused", ref=arguments.path, reason=error.message), hint=error.hint) from error
    if arguments.json:
        print_json(found)
        return 0
    for line in str(found["diff"]).splitlines():
        terminal.say(line, STYLES.get(line[:1], ""))
    if not found["diff"]:
        terminal.note(text("same_texts"))
    if found["truncated"]:
        terminal.note(text("diff_cut"))
    return 0


def _address(item: Item) -> str:
    return f"/api/drive/files/{item['id']}/versions"


def _line(version: dict[str, Any]) -> str:
    made = str(version["created_at"])[:16].replace("T", " ")
    mark = f"  {text('current')}" if version["current"] else ""
    by = visible_line(str(version["author"])) + (f"  {version['run_id']}" if version["run_id"] else "")
    return f"{version['number']:>4}  {made}  {format_size(version['size']):>9}  {by}{mark}"


def _date_of(client: ServiceClient, item: Item, number: int) -> dict[str, Any]:
    """Return the date of a version, as the item has that of the newest one."""
    versions = client.pages(_address(item))
    return next(({"modified_at": one["modified_at"]} for one in versions if one["number"] == number), {})
