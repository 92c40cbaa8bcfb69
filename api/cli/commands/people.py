"""`drive-agent user` and `group`: accounts and groups, for administrators."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from api.cli.confirmation import is_yes
from api.cli.failure import CommandError
from api.cli.service.connection import connected
from api.cli.terminal import Terminal, padded, print_list, visible_line
from api.cli.texts import text, word

if TYPE_CHECKING:
    from argparse import Namespace

USERS = "/api/users"
GROUPS = "/api/groups"
CHANGES: dict[str, dict[str, bool]] = {
    "disable": {"is_disabled": True},
    "enable": {"is_disabled": False},
    "promote": {"is_admin": True},
    "demote": {"is_admin": False},
}


def add_user(arguments: Namespace) -> int:
    """Make an account; standard output gets the person's first key alone."""
    terminal = Terminal()
    with connected(arguments, terminal) as client:
        created = client.post(USERS, {"email": arguments.email})
    terminal.say(str(created["key"]))
    terminal.note(text("key_first", email=visible_line(arguments.email)))
    return 0


def list_users(arguments: Namespace) -> int:
    """List everybody who has an account."""
    terminal = Terminal()
    with connected(arguments, terminal) as client:
        users = list(client.pages(USERS))
    return print_list(terminal, users, _user_line, as_json=arguments.json)


def change_user(arguments: Namespace) -> int:
    """Disable or enable a person, or make them an administrator or not."""
    terminal = Terminal()
    with connected(arguments, terminal) as client:
        client.send("PATCH", _path(USERS, arguments.user), json=CHANGES[arguments.change])
    terminal.say(text(f"user_{arguments.change}", user=visible_line(arguments.user)))
    return 0


def reset_password(arguments: Namespace) -> int:
    """Print an address at which a person sets a new password, once; standard output gets it alone."""
    terminal = Terminal()
    with connected(arguments, terminal) as client:
        link = client.post(f"{_path(USERS, arguments.user)}/password-reset", {})
    terminal.say(str(link["url"]))
    terminal.note(text("user_password", user=visible_line(arguments.user), time=link["expires_at"]))
    return 0


def remove_user(arguments: Namespace) -> int:
    """Remove a person; the files go to another one, or are deleted. A person is asked first."""
    terminal = Terminal()
    heir = arguments.hand_over_to
    names = {"user": visible_line(arguments.user), "heir": visible_line(heir or "")}
    if not arguments.yes and not is_yes(terminal.ask(text("ask_hand_over" if heir else "ask_remove", **names))):
        raise CommandError.of("not_removed")
    choice = {"hand_over_to": heir} if heir else {"delete_files": "true"}
    with connected(arguments, terminal) as client:
        client.send("DELETE", _path(USERS, arguments.user), params=choice)
    terminal.say(text("handed_over" if heir else "removed", **names))
    return 0


def list_groups(arguments: Namespace) -> int:
    """List the groups, and for administrators who is in them."""
    terminal = Terminal()
    with connected(arguments, terminal) as client:
        groups = list(client.pages(GROUPS))
    return print_list(terminal, groups, _group_line, as_json=arguments.json)


def create_group(arguments: Namespace) -> int:
    """Make a group."""
    terminal = Terminal()
    with connected(arguments, terminal) as client:
        made: dict[str, Any] = client.post(GROUPS, {"name": arguments.name, "members": arguments.member})
    terminal.say(visible_line(made["address"]))
    terminal.note(text("group_made"))
    return 0


def change_group(arguments: Namespace) -> int:
    """Rename a group, or change who is in it."""
    terminal = Terminal()
    change = {"name": arguments.name, "add": arguments.add, "remove": arguments.remove}
    with connected(arguments, terminal) as client:
        changed = client.send("PATCH", _path(GROUPS, arguments.group), json=change).json()
    terminal.say(f"{visible_line(changed['name'])}: {', '.join(map(visible_line, changed['members']))}")
    return 0


def delete_group(arguments: Namespace) -> int:
    """Delete a group with all access that it was given."""
    terminal = Terminal()
    with connected(arguments, terminal) as client:
        client.delete(_path(GROUPS, arguments.group))
    terminal.say(text("one_deleted", name=visible_line(arguments.group)))
    return 0


def _user_line(user: dict[str, Any]) -> str:
    role = "disabled" if user["disabled_at"] else "administrator" if user["is_admin"] else "user"
    shown = padded(word("user", role), 13)
    return text("user", id=user["id"], date=str(user["created_at"])[:10], role=shown, email=visible_line(user["email"]))


def _group_line(group: dict[str, Any]) -> str:
    members = ", ".join(map(visible_line, group["members"] or []))
    return f"{visible_line(group['name'])}: {members}" if members else visible_line(group["name"])


def _path(collection: str, ref: str) -> str:
    return f"{collection}/{quote(ref, safe='')}"
