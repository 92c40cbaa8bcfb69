"""What tests about people's MCP servers ask of the routes."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from tests.graph.servers import hostile_program

if TYPE_CHECKING:
    from tests.e2e.person import Person

SERVERS = "/api/mcp-servers"
SECRET = "s3cret-value-that-nobody-sees"
ZH = {"accept-language": "zh"}
DYING = [sys.executable, "-I", "-S", str(hostile_program.__file__), "die_at_once"]
"""The command of a program that ends before it answers."""


def define(person: Person, name: str = "Small", **fields: Any) -> dict[str, Any]:
    made = person.http.post(SERVERS, json={"name": name, **fields})
    assert made.status_code == 201, made.text
    return made.json()


def define_program(person: Person, line: list[str], **fields: Any) -> dict[str, Any]:
    return define(person, command=line[0], args=line[1:], **fields)


def connect(person: Person, server: dict[str, Any]) -> dict[str, Any]:
    tested = person.http.post(f"{SERVERS}/{server['id']}/connect")
    assert tested.status_code == 200, tested.text
    return tested.json()


def put(person: Person, server: dict[str, Any], **fields: Any) -> dict[str, Any]:
    changed = person.http.put(f"{SERVERS}/{server['id']}", json=fields)
    assert changed.status_code == 200, changed.text
    return changed.json()


def decide(person: Person, server: dict[str, Any], **decision: Any) -> Any:
    return person.http.put(f"{SERVERS}/{server['id']}/tools", json={"tools": [{"name": "echo", **decision}]})


def echo_of(answer: Any) -> dict[str, Any]:
    return next(tool for tool in answer["items"] if tool["name"] == "echo")
