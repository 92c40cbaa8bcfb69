"""`drive-agent mv`, `cp`, `rm` and `mkdir`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from api.cli.client import read_json
from api.cli.failure import CommandError, ServiceError
from api.cli.invocation import again
from api.cli.references import Destination, Item, below, expand, is_folder, look_up, open_folder, place_at, said_by
from api.cli.service.connection import connected
from api.cli.terminal import Terminal, print_json, visible_line
from api.cli.texts import text

if TYPE_CHECKING:
    from argparse import Namespace

    from api.cli.client import ServiceClient

ITEMS: Final = "/api/drive/items"
MAX_AT_ONCE: Final = 500
MAX_NAMED: Final = 3
TAKEN: Final = "name_conflict"


def move(arguments: Namespace) -> int:
    """Move or rename items."""
    return _to_place(arguments, "move", "moved")


def copy(arguments: Namespace) -> int:
    """Copy items within the drive."""
    return _to_place(arguments, "copy", "copied")


def remove(arguments: Namespace) -> int:
    """Move items to the trash."""
    terminal = Terminal()
    with connected(arguments, terminal) as client:
        items = expand(client, arguments.paths)
        results = change_many(client, "trash", items)
    for result in _done(results):
        terminal.say(text("trashed", path=visible_line(_by_id(items, result)["path"])))
    if changed := _done(results):
        ids = [str(result["id"]) for result in changed]
        words = ["trash", "restore", *ids] if len(ids) <= MAX_NAMED else ["trash", "list"]
        terminal.note(text("trashed_hint", command=again(arguments, words)))
    return _conclude(results, items, arguments, terminal)


def make_folders(arguments: Namespace) -> int:
    """Make folders."""
    terminal = Terminal(machine=arguments.json)
    made: list[Item] = []
    with connected(arguments, terminal) as client:
        for path in arguments.paths:
            made += _make(client, path, parents=arguments.parents)
            for folder in made[-1:]:
                terminal.say(text("made_folder", path=visible_line(folder["path"])))
    if arguments.json:
        print_json(made)
    return 0


def change_many(client: ServiceClient, action: str, items: list[Item], **terms: Any) -> list[dict[str, Any]]:
    """Do one thing to many items, as one change where they are 500 at most. Return each item with its outcome."""
    results: list[dict[str, Any]] = []
    for start in range(0, len(items), MAX_AT_ONCE):
        named = [{"id": item["id"]} for item in items[start : start + MAX_AT_ONCE]]
        results += client.post(f"{ITEMS}/bulk", {"action": action, "items": named, **terms})["results"]
    return results


def as_conflict(error: ServiceError, ref: str) -> CommandError:
    """Return the error for the person, who chooses how to resolve a taken name."""
    if error.code == TAKEN:
        return CommandError.of("drive_exists", ref=ref, hint=text("exists.hint"))
    return CommandError(text("refused", ref=ref, reason=error.message), hint=error.hint)


def _to_place(arguments: Namespace, action: str, code: str) -> int:
    *sources, target = arguments.paths
    terminal = Terminal(machine=arguments.json)
    with connected(arguments, terminal) as client:
        items = expand(client, sources)
        place = place_at(client, target, is_one=len(items) == 1)
        if len(items) == 1:
            results = [
                {"id": items[0]["id"], "item": _one(client, action, items[0], place, arguments), "problem": None}
            ]
        else:
            terms = {"parent_id": place.folder["id"], "on_conflict": arguments.on_conflict}
            results = change_many(client, action, items, **terms)
    for result in _done(results):
        paths = {"was": _by_id(items, result)["path"], "path": result["item"]["path"]}
        terminal.say(text(code, **{name: visible_line(path) for name, path in paths.items()}))
    return _conclude(results, items, arguments, terminal)


def _one(client: ServiceClient, action: str, item: Item, place: Destination, arguments: Namespace) -> Item:
    body = {"parent_id": place.folder["id"], "on_conflict": arguments.on_conflict}
    if place.name:
        body["name"] = place.name
    address = f"{ITEMS}/{item['id']}"
    try:
        if action == "move":
            return read_json(client.send("PATCH", address, json=body))
        return client.post(f"{address}/copy", body)
    except ServiceError as error:
        raise as_conflict(error, place.path_of(item["name"])) from error


def _make(client: ServiceClient, path: str, *, parents: bool) -> list[Item]:
    """Make a folder; with `parents` those above it that are missing, and no complaint if it is there."""
    existing = look_up(client, path)
    if existing and parents and is_folder(existing):
        return []
    if existing:
        raise CommandError.of("drive_exists", ref=path, hint=" ")
    above, _, name = path.rstrip("/").rpartition("/")
    made = _make(client, above, parents=True) if parents and above else []
    folder = look_up(client, above or "/")
    if folder is None:
        raise CommandError.of("no_target_folder", ref=above, attempt=["mkdir", "-p", path])
    try:
        return [*made, client.post(ITEMS, {"kind": "folder", "name": name, "parent_id": open_folder(folder)["id"]})]
    except ServiceError as error:
        raise as_conflict(error, below(folder, name)) from error


def _done(results: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [result for result in results if result["problem"] is None]


def _by_id(items: list[Item], result: dict[str, Any]) -> Item:
    return next(item for item in items if item["id"] == result["id"])


def _conclude(results: list[dict[str, Any]], items: list[Item], arguments: Namespace, terminal: Terminal) -> int:
    if arguments.json:
        print_json([result["item"] for result in _done(results)])
    failed = [result for result in results if result["problem"] is not None]
    for result in failed:
        terminal.note(said_by(result["problem"], visible_line(_by_id(items, result)["path"])), "red")
    if failed:
        is_taken = any(result["problem"].get("code") == TAKEN for result in failed)
        raise CommandError.of("many_failed", count=len(failed), hint=text("exists.hint") if is_taken else "")
    return 0
