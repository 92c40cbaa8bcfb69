"""`drive-agent key` and `login-link`: API keys, and a way into a browser."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from api.cli.failure import CommandError
from api.cli.service.connection import connected, service_address
from api.cli.terminal import Terminal, padded, print_json, print_list, visible_line
from api.cli.texts import text

if TYPE_CHECKING:
    from argparse import Namespace

    from api.cli.client import ServiceClient

    Key = dict[str, Any]

KEYS = "/api/auth/keys"


def create_key(arguments: Namespace) -> int:
    """Make an API key; standard output gets the secret alone, so that a script can take it."""
    terminal = Terminal(machine=arguments.json)
    body = {"name": arguments.name, "scopes": arguments.scope, "days": arguments.days, "tools": arguments.tools}
    with connected(arguments, terminal) as client:
        created = client.post(KEYS, body)
    if arguments.json:
        print_json(created)
        return 0
    terminal.say(str(created["key"]))
    terminal.note(text("key_made", name=created["name"], scopes=", ".join(created["scopes"])))
    return 0


def list_keys(arguments: Namespace) -> int:
    """List the caller's keys, without their secrets."""
    terminal = Terminal()
    with connected(arguments, terminal) as client:
        keys = _all_keys(client)
    return print_list(terminal, keys, _key_line, as_json=arguments.json)


def _key_line(key: Key) -> str:
    scopes = ",".join(key["scopes"])
    return f"{key['id']}  {key['prefix']}…  {scopes:<24} {padded(_validity(key), 20)} {visible_line(key['name'])}"


def revoke_key(arguments: Namespace) -> int:
    """Revoke the key with this id, or the only valid one with this name."""
    terminal = Terminal()
    with connected(arguments, terminal) as client:
        key = _find(arguments.key, _all_keys(client))
        client.delete(f"{KEYS}/{key['id']}")
    terminal.say(text("key_revoked", name=visible_line(key["name"]), id=key["id"]))
    return 0


def login_link(arguments: Namespace) -> int:
    """Print an address that logs a browser in, once; only a service that goes on running can make one."""
    terminal = Terminal()
    if not service_address(arguments):
        raise CommandError.of("no_browser_service", hint=text("login_start"))
    with connected(arguments, terminal) as client:
        made: dict[str, Any] = client.post("/api/auth/login-links")
    terminal.say(made["url"])
    terminal.note(text("once"))
    return 0


def _all_keys(client: ServiceClient) -> list[Key]:
    return list(client.pages(KEYS))


def _find(wanted: str, keys: list[Key]) -> Key:
    by_id = [key for key in keys if key["id"] == wanted]
    by_name = [key for key in keys if key["name"] == wanted and not key.get("revoked_at")]
    found = by_id or by_name
    if len(found) == 1:
        return found[0]
    raise CommandError.of("several_keys" if found else "no_key")


def _validity(key: Key) -> str:
    if key.get("revoked_at"):
        return text("key_ended", date=str(key["revoked_at"])[:10])
    return text("key_until", date=str(key["expires_at"])[:10]) if key.get("expires_at") else text("key_endless")
