"""`drive-agent ls`, `search` and `index`: the items of the drive, and the state of the search index."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from api.cli.client import Reconnection, retry
from api.cli.failure import CommandError
from api.cli.progress import Progress
from api.cli.references import children, find, with_shared
from api.cli.service.connection import connected
from api.cli.terminal import Terminal, format_size, print_json, visible_line
from api.cli.texts import text, word

if TYPE_CHECKING:
    from argparse import Namespace

    from api.cli.client import ServiceClient

MAX_PASSAGE = 240
READ = ("pending", "indexing", "ready", "failed")
"""The states of files that are not skipped."""
WAITING = ("pending", "indexing")
WAIT_SECONDS = 5
DEGRADED = "degraded"
REBUILDING = "rebuilding"


def list_folder(arguments: Namespace) -> int:
    """List a folder, or the one file that is named."""
    terminal = Terminal()
    with connected(arguments, terminal) as client:
        item = find(client, arguments.path)
        is_folder = item["kind"] == "folder"
        items = list(with_shared(client, item, children(client, item))) if is_folder else [item]
    if arguments.json:
        print_json(items)
        return 0
    for item in items:
        folder = item["kind"] == "folder"
        size = "" if folder else format_size(item["size"])
        name = visible_line(item["name"]) + ("/" if folder else "")
        terminal.say(f"{size:>9}  {str(item['modified_at'])[:10]}  {name}", "bold" if folder else "")
    if not items:
        terminal.note(text("empty_folder"))
    return 0


def search(arguments: Namespace) -> int:
    """Print the best hits for a query, best first, or all that the options leave, newest first."""
    terminal = Terminal()
    with connected(arguments, terminal) as client:
        found = client.get("/api/drive/search", q=arguments.query, **_filters(arguments))
    hits = found["items"]
    if arguments.json:
        print_json(hits)
        return 0
    for hit in hits:
        version = text("hit_version", number=hit["version"]) if hit.get("version") else ""
        place = "".join(f"  {part}" for part in (hit.get("heading"), hit.get("place"), version) if part)
        terminal.say(visible_line(hit["file"]["path"] + place), "bold")
        if hit.get("text"):
            terminal.say(f"    {_passage(hit['text'])}")
        if hit.get("address"):
            terminal.say(f"    {visible_line(hit['address'])}", "dim")
    if found.get("note"):
        terminal.note(visible_line(str(found["note"])))
    return 0


def _filters(arguments: Namespace) -> dict[str, str]:
    """Return the options that limit a search."""
    names = ("kind", "type", "belongs_to", "modified_after", "modified_before")
    given = {name: getattr(arguments, name) for name in names}
    return {name: value for name, value in given.items() if value}


def index(arguments: Namespace) -> int:
    """Print the state of the search index, or rebuild it and wait until it is done."""
    terminal = Terminal()
    with connected(arguments, terminal) as client:
        if arguments.rebuild:
            client.post("/api/drive/index/rebuild")
            wait_for_index(client, terminal)
        status = _settled(client) if arguments.rebuild else client.get("/api/drive/index")
    if arguments.json:
        print_json(status)
    else:
        _print_status(status, terminal)
    if arguments.rebuild and status["health"] == DEGRADED:
        raise CommandError.of("rebuild_failed")
    return 0


def wait_for_index(client: ServiceClient, terminal: Terminal) -> dict[str, Any]:
    """Show the progress of indexing until nothing is pending, and return the last status. Ctrl-C ends the wait.

    Files wait in vain while the index is damaged and can't be built anew.
    """
    status = _status_of_index(client)
    total = _waiting(status)
    if not total:
        return status
    with Progress(terminal, text("reading"), total) as progress:
        while (waiting := _waiting(status)) and status["health"] != DEGRADED:
            total = max(total, waiting)
            progress.update(total - waiting, total)
            status = _status_of_index(client, WAIT_SECONDS)
        progress.update(total - _waiting(status), total)
    return status


def _settled(client: ServiceClient) -> dict[str, Any]:
    """Return the status of an index that is whole or damaged: it is noted as whole a moment after its last file."""
    status = _status_of_index(client)
    while status["health"] == REBUILDING:
        status = _status_of_index(client, WAIT_SECONDS)
    return status


def _status_of_index(client: ServiceClient, seconds: float = 0) -> dict[str, Any]:
    """Return the status after its next step, or after these seconds. A service that starts again costs only time."""
    return retry(lambda: client.get("/api/drive/index", wait_seconds=seconds), Reconnection(client).wait)


def _waiting(status: dict[str, Any]) -> int:
    return sum(int(status["counts"].get(state, 0)) for state in WAITING)


def _print_status(status: dict[str, Any], terminal: Terminal) -> None:
    for state, count in status["summary"].items():
        if count:
            states = _states_of(status["counts"]) if state == "skipped" else ""
            terminal.say(f"{count:>7}  {index_word(state)}{states}")
    if not any(status["counts"].values()):
        terminal.say(text("no_files"))
    if waiting := status.get("awaiting_vectors"):
        terminal.say(f"{waiting:>7}  {text('awaiting_vectors')}")
    if status["health"] != "ok":
        terminal.say(text(f"index_{status['health']}"), "yellow")
    for problem in status["problems"]:
        terminal.say(f"{visible_line(problem['path'])}: {visible_line(problem['reason'])}", "yellow")


def _states_of(counts: dict[str, int]) -> str:
    """Return the reasons why files were skipped, as in " (2 needs ocr)"."""
    skipped = (f"{count} {index_word(state)}" for state, count in sorted(counts.items()) if state not in READ)
    return f" ({', '.join(skipped)})"


def index_word(state: str) -> str:
    """Return the words for a state of files in the search index."""
    return word("index", state.replace("_", " "))


def _passage(found: str) -> str:
    line = visible_line(" ".join(found.split()))
    return line if len(line) <= MAX_PASSAGE else line[: MAX_PASSAGE - 1] + "…"
