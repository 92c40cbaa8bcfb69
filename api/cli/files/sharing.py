"""`drive-agent share` and `link`: who has access to an item."""

from __future__ import annotations

import getpass
import shlex
import sys
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote

from api.cli.client import read_json
from api.cli.confirmation import confirmed
from api.cli.failure import CommandError, ServiceError
from api.cli.references import Item, find
from api.cli.service.connection import connected
from api.cli.terminal import Terminal, padded, print_json, print_list, visible_line
from api.cli.texts import text, word

if TYPE_CHECKING:
    from argparse import Namespace

    from api.cli.client import ServiceClient

Share = dict[str, Any]

PERSON: Final = "person"
ASK: Final = ""
"""The value of --password without a password: it is asked for."""


def share(arguments: Namespace) -> int:
    """Share an item with a person, or take that back; without a person, list who has access."""
    terminal = Terminal(machine=arguments.json)
    with connected(arguments, terminal) as client:
        item = find(client, arguments.path)
        if arguments.leave:
            return _leave(client, item, arguments, terminal)
        if arguments.email is None:
            shares = _shares(client, item)
            return print_list(Terminal(), shares, _line, text("nobody"), as_json=arguments.json)
        if arguments.remove:
            done = _send(client, "DELETE", item, arguments.email)
        elif not _is_wanted(client, item, arguments, terminal):
            terminal.note(text("not_shared"))
            return 1
        else:
            done = _give(client, item, arguments.email, arguments.role)
    path, who = visible_line(item["path"]), visible_line(str(done["email"]))
    if arguments.remove:
        terminal.say(text("unshared", who=who, path=path))
    else:
        terminal.say(text("shared", email=who, role=word("role", done["role"]), path=path))
    if arguments.json:
        print_json(done)
    return 0


def _is_wanted(client: ServiceClient, item: Item, arguments: Namespace, terminal: Terminal) -> bool:
    """Tell the person, before it is shared, that nobody has the address; ask where somebody can answer."""
    who = client.get("/api/drive/contacts/account", address=arguments.email)
    if who["has_account"] is not False:
        return True
    command = f"drive-agent link {shlex.quote(visible_line(item['path']))}"
    terminal.note(text("nobody_told", email=visible_line(who["address"]), command=command))
    return arguments.yes or not terminal.interactive or confirmed(terminal, text("ask_share_anyway"))


def _leave(client: ServiceClient, item: Item, arguments: Namespace, terminal: Terminal) -> int:
    """End the caller's own share of an item."""
    own = str(client.get("/api/auth/me")["email"])
    done = _send(client, "DELETE", item, own)
    terminal.say(text("left", path=visible_line(item["path"])))
    if arguments.json:
        print_json(done)
    return 0


def link(arguments: Namespace) -> int:
    """Make a link, whose address alone goes to standard output; or list, change or end the links of an item."""
    terminal = Terminal(machine=arguments.json)
    terms = _terms(arguments)
    with connected(arguments, terminal) as client:
        item = find(client, arguments.path)
        if arguments.list:
            links = [entry for entry in _shares(client, item) if entry["kind"] != PERSON]
            return print_list(Terminal(), links, _line, text("no_links"), as_json=arguments.json)
        if arguments.remove:
            done = _send(client, "DELETE", item, arguments.remove)
        elif arguments.change:
            done = _send(client, "PATCH", item, arguments.change, terms)
        else:
            done = client.post(_address(item), {"role": "viewer", **terms})
    if arguments.remove:
        terminal.say(text("link_gone", who=visible_line(arguments.remove), path=visible_line(item["path"])))
    else:
        terminal.say(str(done["url"] or done["id"]))
        terminal.note(_terms_line(done))
    if arguments.json:
        print_json(done)
    return 0


def _give(client: ServiceClient, item: Item, email: str, role: str | None) -> Share:
    """Give a person a role, also in place of the one that they have, which stays if none is named."""
    own = [entry for entry in _shares(client, item) if entry["email"] == email and not entry["inherited_from"]]
    if own:
        return _send(client, "PATCH", item, email, {"role": role}) if role else own[0]
    return client.post(_address(item), {"email": email, "role": role or "viewer"})


def _send(client: ServiceClient, method: str, item: Item, who: str, body: dict[str, Any] | None = None) -> Share:
    options = {} if body is None else {"json": body}
    try:
        response = client.send(method, f"{_address(item)}/{quote(who, safe='@')}", **options)
        return read_json(response) if response.content else {"item_id": item["id"], "email": who}
    except ServiceError as error:
        raise CommandError(text("refused", ref=who, reason=error.message), hint=error.hint) from error


def _terms(arguments: Namespace) -> dict[str, Any]:
    """Return the terms of a link that were named."""
    password = arguments.password
    if password == ASK:
        password = getpass.getpass(text("ask_password")) if sys.stdin.isatty() else sys.stdin.readline().rstrip("\r\n")
    terms = {
        "role": arguments.role,
        "expires_in_hours": arguments.expires,
        "password": password,
        "max_downloads": arguments.max_downloads,
    }
    return {name: value for name, value in terms.items() if value is not None}


def _address(item: Item) -> str:
    return f"/api/drive/items/{item['id']}/shares"


def _shares(client: ServiceClient, item: Item) -> list[Share]:
    return list(client.pages(_address(item)))


def _line(entry: Share) -> str:
    above = f"  ({visible_line(entry['inherited_from'])})" if entry["inherited_from"] else ""
    if entry["kind"] == PERSON:
        return f"{padded(word('role', entry['role']), 9)} {visible_line(entry['email'])}{above}"
    return f"{entry['id']}  {entry['url'] or ''}  {_terms_line(entry)}{above}"


def _terms_line(entry: Share) -> str:
    most = entry["max_downloads"]
    downloads = text("of_downloads", done=entry["downloads"], most=most) if most else str(entry["downloads"])
    return text(
        "link_terms",
        role=word("role", entry["role"]),
        expires=str(entry["expires_at"])[:16].replace("T", " ") if entry["expires_at"] else text("never"),
        password=text("yes" if entry["has_password"] else "no"),
        downloads=downloads,
    )
