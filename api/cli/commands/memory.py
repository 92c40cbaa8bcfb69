"""`drive-agent memory`: the facts that the assistant remembers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from api.cli.service.connection import connected
from api.cli.terminal import Terminal, print_list, visible_line
from api.cli.texts import text

if TYPE_CHECKING:
    from argparse import Namespace

MEMORIES = "/api/memories"


def list_memories(arguments: Namespace) -> int:
    """List the remembered facts, the newest first, with their origin."""
    terminal = Terminal()
    with connected(arguments, terminal) as client:
        memories: list[dict[str, Any]] = client.get(MEMORIES)["items"]
    return print_list(terminal, memories, _line, text("memories_none"), as_json=arguments.json)


def _line(memory: dict[str, Any]) -> str:
    return f"{memory['id']}  {visible_line(memory['text'])}{_origin(memory['source'])}"


def forget(arguments: Namespace) -> int:
    """Forget a fact for good."""
    terminal = Terminal()
    with connected(arguments, terminal) as client:
        client.delete(f"{MEMORIES}/{quote(arguments.memory, safe='')}")
    terminal.say(text("forgotten", id=arguments.memory))
    return 0


def edit(arguments: Namespace) -> int:
    """Give a fact another text."""
    terminal = Terminal()
    with connected(arguments, terminal) as client:
        edited = client.send(
            "PATCH", f"{MEMORIES}/{quote(arguments.memory, safe='')}", json={"text": arguments.text}
        ).json()
    terminal.say(f"{edited['id']}  {visible_line(edited['text'])}")
    return 0


def _origin(source: dict[str, Any]) -> str:
    return text("memory_origin", name=visible_line(source["name"])) if source.get("name") else ""
