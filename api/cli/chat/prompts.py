"""`/prompt SERVER NAME ARGUMENT=VALUE ...`: a prompt of an MCP server, shown before it is sent."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from api.cli.confirmation import is_yes
from api.cli.failure import CommandError
from api.cli.servers.finding import SERVERS, find_server
from api.cli.terminal import visible_line
from api.cli.texts import text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from api.cli.client import Json, ServiceClient
    from api.cli.terminal import Terminal

COMMAND = "/prompt"


def chosen_prompt(client: ServiceClient, line: str, terminal: Terminal) -> str | None:
    """Return the text that the person agreed to send, None for none. Raises `CommandError` and `ServiceError`."""
    words = _words(line)
    if not words:
        raise CommandError.of("prompt_which", hint=_usage())
    path = f"{SERVERS}/{find_server(client, words[0])['id']}/prompts"
    if len(words) == 1:
        _list(client.get(path)["items"], terminal)
        return None
    parts = [word.partition("=") for word in words[2:]]
    arguments = {name: value for name, _, value in parts}
    written: str = client.post(path, {"name": words[1], "arguments": arguments})["text"]
    terminal.note(text("prompt_written"))
    terminal.say(written)
    agreed = is_yes(terminal.ask(text("prompt_ask")))
    return written if written.strip() and agreed else None


def _usage() -> str:
    return text("prompt_usage", name=COMMAND)


def _words(line: str) -> Sequence[str]:
    try:
        return shlex.split(line.removeprefix(COMMAND))
    except ValueError:
        raise CommandError.of("prompt_quote", hint=_usage()) from None


def _list(prompts: Sequence[Json], terminal: Terminal) -> None:
    for prompt in prompts:
        names = " ".join(f"{visible_line(name)}=" for name in prompt["arguments"])
        terminal.say(f"{visible_line(prompt['name'])} {names}  {visible_line(prompt['description'])}")
    if not prompts:
        terminal.say(text("prompt_none"))
