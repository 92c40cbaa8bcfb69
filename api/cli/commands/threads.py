"""`drive-agent threads`: the conversations with the assistant."""

from __future__ import annotations

import sys
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from api.cli.client import read_json
from api.cli.confirmation import confirmed
from api.cli.failure import CommandError, system_reason
from api.cli.service.connection import connected
from api.cli.terminal import Terminal, format_size, print_json, print_list, visible_line
from api.cli.texts import hint_of, text

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Iterator

    from api.cli.client import ServiceClient

Thread = dict[str, Any]

THREADS = "/api/threads"
STREAM = "-"
MAX_TITLE = 60


def list_threads(arguments: Namespace) -> int:
    """List the conversations, the one used last first."""
    terminal = Terminal()
    with connected(arguments, terminal) as client:
        threads = list(client.pages(THREADS))
    none = f"{text('no_threads')} {hint_of('no_threads')}"
    return print_list(terminal, threads, _line, none, as_json=arguments.json)


def search(arguments: Namespace) -> int:
    """List the conversations that have all words of a query, in their title or their messages."""
    terminal = Terminal()
    with connected(arguments, terminal) as client:
        threads = list(client.pages(THREADS, q=arguments.query))
    return print_list(terminal, threads, _line, text("nothing_found"), as_json=arguments.json)


def export(arguments: Namespace) -> int:
    """Write a whole conversation to a new file, or to standard output."""
    terminal = Terminal(machine=True)
    with connected(arguments, terminal) as client:
        answer = client.send("GET", f"{_address(arguments.thread)}/export", params={"format": arguments.format})
    if arguments.to == STREAM:
        sys.stdout.buffer.write(answer.content)
        sys.stdout.buffer.flush()
        return 0
    path = Path(arguments.to).expanduser()
    try:
        with path.open("xb") as file:
            file.write(answer.content)
    except FileExistsError as error:
        raise CommandError.of("local_exists", path=visible_line(arguments.to)) from error
    except OSError as error:
        raise CommandError.of("no_such_file", path=visible_line(arguments.to), reason=system_reason(error)) from error
    terminal.say(text("got", path=visible_line(arguments.to), size=format_size(len(answer.content))))
    return 0


def show(arguments: Namespace) -> int:
    """Print the messages of a conversation."""
    terminal = Terminal()
    with connected(arguments, terminal) as client:
        thread = client.get(_address(arguments.thread))
    if arguments.json:
        print_json(thread)
        return 0
    terminal.say(visible_line(thread["title"]), "bold")
    for message in _spoken(thread):
        is_person = message["role"] == "user"
        terminal.say(f"{text('person' if is_person else 'assistant')}:", "cyan" if is_person else "green")
        if is_person:
            terminal.say(message["text"])
        else:
            terminal.say_markdown(message["text"])
    return 0


def rename(arguments: Namespace) -> int:
    """Give a conversation another title."""
    terminal = Terminal()
    with connected(arguments, terminal) as client:
        thread = read_json(client.send("PATCH", _address(arguments.thread), json={"title": arguments.title}))
    terminal.say(text("thread_renamed", id=thread["thread_id"], title=visible_line(thread["title"])))
    return 0


def delete(arguments: Namespace) -> int:
    """Delete conversations for good; their changes in the drive stay."""
    terminal = Terminal()
    with connected(arguments, terminal) as client:
        for thread_id in arguments.threads:
            thread = client.get(_address(thread_id))
            question = text("ask_delete_thread", title=visible_line(thread["title"]))
            if not arguments.yes and not confirmed(terminal, question):
                terminal.say(text("nothing_changed"))
                return 0
            client.delete(_address(thread_id))
            terminal.say(text("thread_deleted", id=visible_line(thread_id)))
    return 0


def newest_thread(client: ServiceClient) -> str:
    """Return the id of the conversation that was used last; empty if there is none."""
    threads = client.get(THREADS, limit=1)["items"]
    return str(threads[0]["thread_id"]) if threads else ""


def _spoken(thread: Thread) -> Iterator[dict[str, Any]]:
    """Yield the messages that have words."""
    return (message for message in thread["messages"] if message.get("text"))


def _line(thread: Thread) -> str:
    used = datetime.fromisoformat(str(thread["updated_at"])).astimezone()
    return f"{thread['thread_id']}  {used:%Y-%m-%d %H:%M}  {visible_line(thread['title'])[:MAX_TITLE]}"


def _address(thread_id: str) -> str:
    return f"{THREADS}/{quote(thread_id, safe='')}"
