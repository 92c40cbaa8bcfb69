"""`drive-agent trash`: list it, bring items back, delete them for good."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from api.cli.client import read_json
from api.cli.confirmation import confirmed
from api.cli.failure import CommandError, ServiceError
from api.cli.files.organise import as_conflict
from api.cli.references import Item, find, is_folder
from api.cli.service.connection import connected
from api.cli.terminal import Terminal, format_size, print_json, print_list, visible_line
from api.cli.texts import text

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Sequence

    from api.cli.client import ServiceClient

TRASH: Final = "/api/drive/trash"


def list_trash(arguments: Namespace) -> int:
    """List the items in the trash, the last trashed first."""
    terminal = Terminal()
    with connected(arguments, terminal) as client:
        items = list(client.pages(TRASH))
    return print_list(terminal, items, _line, text("trash_empty"), as_json=arguments.json)


def restore(arguments: Namespace) -> int:
    """Bring items back to where they were, or to another folder."""
    terminal = Terminal(machine=arguments.json)
    with connected(arguments, terminal) as client:
        body = {"on_conflict": arguments.on_conflict}
        if arguments.to:
            body["parent_id"] = find(client, arguments.to)["id"]
        restored = [_restore(client, item, body) for item in _named(client, arguments.items)]
    for item in restored:
        terminal.say(text("restored", path=visible_line(item["path"])))
    if arguments.json:
        print_json(restored)
    return 0


def delete(arguments: Namespace) -> int:
    """Delete items of the trash for good."""
    terminal = Terminal()
    with connected(arguments, terminal) as client:
        items = _named(client, arguments.items)
        for item in items:
            if not arguments.yes and not confirmed(terminal, text("ask_delete", path=visible_line(item["path"]))):
                terminal.say(text("nothing_changed"))
                return 0
        count = sum(read_json(client.send("DELETE", f"/api/drive/items/{item['id']}"))["count"] for item in items)
    terminal.say(text("deleted", count=count))
    return 0


def empty(arguments: Namespace) -> int:
    """Delete everything in the trash for good."""
    terminal = Terminal()
    with connected(arguments, terminal) as client:
        count = sum(1 for _ in client.pages(TRASH))
        if not count:
            terminal.say(text("trash_empty"))
            return 0
        if not arguments.yes and not confirmed(terminal, text("ask_empty", count=count)):
            terminal.say(text("nothing_changed"))
            return 0
        count = read_json(client.send("DELETE", TRASH))["count"]
    terminal.say(text("deleted", count=count))
    return 0


def _restore(client: ServiceClient, item: Item, body: dict[str, str]) -> Item:
    try:
        return client.post(f"/api/drive/items/{item['id']}/restore", body)
    except ServiceError as error:
        raise as_conflict(error, str(item["path"])) from error


def _named(client: ServiceClient, refs: Sequence[str]) -> list[Item]:
    """Return the items of the trash with these ids, former paths or names."""
    items = list(client.pages(TRASH))
    return [_one(items, ref) for ref in refs]


def _one(items: Sequence[Item], ref: str) -> Item:
    for field in ("id", "path", "name"):
        found = [item for item in items if item[field] == ref]
        if len(found) == 1:
            return found[0]
        if found:
            raise CommandError.of("several_in_trash", ref=ref, attempt=["trash", "list"])
    raise CommandError.of("not_in_trash", ref=ref, attempt=["trash", "list"])


def _line(item: Item) -> str:
    size = "" if is_folder(item) else format_size(item["size"])
    mark = "/" if is_folder(item) else ""
    return f"{item['id']}  {str(item['trashed_at'])[:10]}  {size:>9}  {visible_line(item['path'])}{mark}"
