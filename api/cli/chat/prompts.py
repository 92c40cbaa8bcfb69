"""`/prompt SERVER NAME ARGUMENT=VALUE ...`: a prompt of an MCP server, shown before it is sent."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from api.cli.failure import CommandError
from api.cli.servers.finding import SERVERS, find_server
from api.cli.terminal import visible_line

if TYPE_CHECKING:
    from collections.abc import Sequence

    from api.cli.client import Json, ServiceClient
    from api.cli.terminal import Terminal

COMMAND = "/prompt"
USAGE = f"{COMMAND} SERVER lists its prompts; {COMMAND} SERVER NAME ARGUMENT=VALUE ... shows one, and asks to send it."
YES = frozenset({"y", "yes"})


def chosen_prompt(client: ServiceClient, line: str, terminal: Terminal) -> str | None:
    """Return the text that the person agreed to send, None for none. Raises `CommandError` and `ServiceError`."""
    words = _words(line)
    if not words:
        raise CommandError("Which server?", hint=USAGE)
    path = f"{SERVERS}/{find_server(client, words[0])['id']}/prompts"
    if len(words) == 1:
        _list(client.get(path)["items"], terminal)
        return None
    parts = [word.partition("=") for word in words[2:]]
    arguments = {name: value for name, _, value in parts}
    text: str = client.post(path, {"name": words[1], "arguments": arguments})["text"]
    terminal.note("The server wrote this. It is sent as your message:")
    terminal.say(text)
    answer = terminal.ask("Send it? (y/n) ") or ""
    return text if text.strip() and answer.strip().lower() in YES else None


def _words(line: str) -> Sequence[str]:
    try:
        return shlex.split(line.removeprefix(COMMAND))
    except ValueError:
        raise CommandError("A quotation mark is not closed.", hint=USAGE) from None


def _list(prompts: Sequence[Json], terminal: Terminal) -> None:
    for prompt in prompts:
        names = " ".join(f"{visible_line(name)}=" for name in prompt["arguments"])
        terminal.say(f"{visible_line(prompt['name'])} {names}  {visible_line(prompt['description'])}")
    if not prompts:
        terminal.say("This server has no prompts.")
