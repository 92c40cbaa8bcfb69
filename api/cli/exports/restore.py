"""`drive-agent import` of an export: the drive as it was, once, however often it is begun; checked at its end."""

from __future__ import annotations

import json
import time
from collections import Counter
from http import HTTPStatus
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, Final

from api.cli.exports.batches import Sender, batches_of
from api.cli.exports.comparison import Comparison, compare, is_group
from api.cli.exports.format.bounds import TooLongError, whole
from api.cli.exports.format.reader import is_export, opened_export
from api.cli.exports.memories import read_memories, send_memories
from api.cli.exports.table import item_table
from api.cli.exports.thread_parts import send_thread
from api.cli.exports.verify import lines_of
from api.cli.failure import CommandError, ServiceError
from api.cli.importing.command import import_directory
from api.cli.progress import Progress
from api.cli.service.connection import connected
from api.cli.terminal import Terminal, visible_line
from api.cli.texts import language, text

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Iterator

    from api.cli.client import ServiceClient
    from api.cli.exports.format.reader import Export
    from api.cli.exports.table import ItemTable

MAX_LINES: Final = 50
ROOT: Final = "root"


def import_any(arguments: Namespace) -> int:
    """Restore an export, or import any other folder."""
    source = Path(arguments.directory)
    if not is_export(source):
        return import_directory(arguments)
    terminal = Terminal()
    with opened_export(source) as export, connected(arguments, terminal) as client, item_table() as table:
        restoration = Restoration(client, export, table, terminal)
        restoration.run(arguments.into)
    return 0


class Restoration:
    """The import of one export into a folder of the caller's drive."""

    def __init__(self, client: ServiceClient, export: Export, table: ItemTable, terminal: Terminal) -> None:
        self._client = client
        self._export = export
        self._table = table
        self._terminal = terminal
        self._lock = Lock()
        self._bytes = 0
        self._counts = Counter[str]()
        self._left: list[str] = []
        self._failed: list[str] = []
        self._lacking: dict[str, list[str]] = {}
        self._threads: dict[str, str] = {}

    def run(self, into: str | None) -> None:
        """Restore everything, report it, and check it. Raises `CommandError`, also if the check finds anything."""
        begun = time.monotonic()
        for item in self._export.entries("items"):
            self._table.put(item)
        for item_id in self._table.orphans():
            self._table.set_parent(item_id, None)
        _place(self._table)
        folder = self._folder(into)
        self._restore_items(folder)
        self._restore_threads()
        self._restore_memories()
        found = compare(self._client, self._table, self._lacking)
        self._report(time.monotonic() - begun, into, found)
        if self._failed or found.problems:
            count = len(self._failed) + len(found.problems)
            raise CommandError.of("restored_in_part", count=count)

    def _folder(self, into: str | None) -> str:
        """Return the id of the folder of the import, which is made if it is not there."""
        if into is None:
            return str(self._client.item(ROOT)["id"])
        try:
            return str(self._client.item(into)["id"])
        except ServiceError as error:
            if error.status != HTTPStatus.NOT_FOUND or "/" in into.strip("/"):
                raise
        body = {"kind": "folder", "name": into.strip("/"), "parent_id": ROOT}
        return str(self._client.post("/api/drive/items", body)["id"])

    def _restore_items(self, folder: str) -> None:
        total, accounts = self._table.count("depth IS NOT NULL"), self._accounts()
        sender = Sender(self._client, self._export.files, self._export.header.export_id, folder, self._count_bytes)
        with Progress(self._terminal, text("restoring"), total) as progress:
            for batch in batches_of(self._items(accounts)):
                answer = sender.send(batch, self._fail)
                for made in answer["items"]:
                    self._note(made)
                names = {item["id"]: item["name"] for item in batch}
                for left in answer["left"]:
                    self._leave(left["source_id"], names[left["source_id"]], left["what"], _reason(left))
                progress.update(self._counts["restored"] + self._counts["there"] + len(self._failed), total)

    def _items(self, accounts: set[str] | None) -> Iterator[dict[str, Any]]:
        for item in self._table.by_depth():
            if accounts is not None:
                strangers = [email for email in _people(item["shares"]) if email not in accounts]
                for email in strangers:
                    self._leave(item["id"], item["name"], email, text("no_account"))
                item["shares"] = [share for share in item["shares"] if share["email"] not in strangers]
            yield item

    def _leave(self, item_id: str, name: str, what: str, reason: str) -> None:
        self._left.append(f"{name}: {what}: {reason}")
        self._lacking.setdefault(item_id, []).append(what)

    def _accounts(self) -> set[str] | None:
        """Return the addresses of all accounts; None for who may not know them: then a share waits for its person."""
        try:
            return {user["email"] for user in self._client.get("/api/users")["items"]}
        except ServiceError as error:
            if error.status == HTTPStatus.FORBIDDEN:
                return None
            raise

    def _note(self, made: dict[str, Any]) -> None:
        self._counts["restored" if made["is_new"] else "there"] += 1
        self._table.connection.execute(
            "UPDATE items SET here = ?, here_name = ?, is_new = ? WHERE id = ?",
            (made["id"], made["name"], made["is_new"], made["source_id"]),
        )

    def _fail(self, item: dict[str, Any], reason: str) -> None:
        self._failed.append(f"{item['name']}: {reason}")

    def _count_bytes(self, size: int) -> None:
        with self._lock:
            self._bytes += size

    def _restore_threads(self) -> None:
        for entry in self._export.entries("threads"):
            name = text("a_thread", title=entry.get("title", "?"))
            try:
                with self._export.files.open(entry["json"]["path"]) as file:
                    thread = json.loads(whole(file, entry["json"]["path"]))
                here, is_new = send_thread(self._client, self._export.header.export_id, thread)
            except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
                self._failed.append(f"{name}: {type(error).__name__}")
            except (ServiceError, TooLongError) as error:
                self._failed.append(f"{name}: {error.message}")
            else:
                self._threads[thread["thread_id"]] = here
                self._counts["threads" if is_new else "threads there"] += 1

    def _restore_memories(self) -> None:
        """Restore the memories, if there are any, after the files and threads that they are from."""
        if not self._export.header.counts.get("memories"):
            return
        try:
            facts = read_memories(self._export)
            export_id = self._export.header.export_id
            answer = send_memories(self._client, export_id, facts, self._table.here, self._threads)
        except (OSError, ValueError, KeyError, AttributeError) as error:
            self._failed.append(f"{text('the_memories')}: {type(error).__name__}")
        except (ServiceError, TooLongError) as error:
            self._failed.append(f"{text('the_memories')}: {error.message}")
        else:
            for made in answer["items"]:
                self._counts["memories" if made["is_new"] else "memories there"] += 1
            texts = {fact["id"]: fact["text"] for fact in facts}
            self._left += [f"{texts[source_id]}: {text('no_memory_room')}" for source_id in answer["left"]]

    def _report(self, seconds: float, into: str | None, found: Comparison) -> None:
        say, counts = self._terminal.say, self._counts
        facts = {"items": counts["restored"], "threads": counts["threads"], "memories": counts["memories"]}
        say(text("drive_restored", place=visible_line(into or "/"), seconds=f"{seconds:.1f}", **facts), "bold")
        if there := sum(counts[what] for what in ("there", "threads there", "memories there")):
            say(text("restored_before", count=there))
        links = self._table.connection.execute(
            "SELECT coalesce(sum(json_array_length(body, '$.links')), 0) FROM items"
        ).fetchone()[0]
        if links:
            say(text("new_links"))
        self._list("left_list", self._left, "yellow")
        self._list("failed_list", self._failed, "red")
        self._list("changed_list", found.changed, "yellow")
        self._list("other_list", found.problems, "red")
        if not self._failed and not found.problems:
            say(text("restored_checked"))

    def _list(self, heading: str, entries: list[str], style: str) -> None:
        if entries:
            self._terminal.say(text(heading), style)
        for line in lines_of(entries, MAX_LINES):
            self._terminal.say(f"  {visible_line(line)}")


def _people(shares: list[dict[str, Any]]) -> list[str]:
    """Return the addresses of people: whether a group is here, the service says."""
    return [share["email"] for share in shares if not is_group(share["email"])]


def _reason(left: dict[str, Any]) -> str:
    """Return why something was left, in the terminal's language."""
    messages = left.get("messages", {}).get("reason", {})
    return str(messages.get(language()) or left["reason"])


def _place(table: ItemTable) -> None:
    """Store the depth of each item, so that folders come before their items."""
    table.connection.execute("UPDATE items SET depth = 0, path = '' WHERE parent_id IS NULL")
    level = 0
    while table.connection.execute(
        "UPDATE items SET depth = ?1 + 1, path = '' WHERE depth IS NULL"
        " AND parent_id IN (SELECT id FROM items WHERE depth = ?1)",
        (level,),
    ).rowcount:
        level += 1
