"""Rows of MCP servers as definitions, and changes to them."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final, cast
from urllib.parse import urlsplit

from typing_extensions import TypedDict

from api.errors import InvalidRequestError
from api.servers.secrets import Secrets
from api.storage.tables import ServerRow, new_id
from graph.servers.definition import CALL_SECONDS, Allowance, ServerDefinition, ServerType, type_of

SecretChange = str | bool | None
"""A new value; True: the one that it has; False or None: none."""
SECRET_FIELDS: Final = ("headers", "env")
PLAIN_FIELDS: Final = (
    "name",
    "is_active",
    "base_url",
    "timeout",
    "command",
    "args",
    "disabled_tools",
    "auto_approve_tools",
    "allows",
)


class ServerChange(TypedDict, total=False):
    """The fields of a server that a request sets; the others stay as they are."""

    name: str
    type: ServerType | None
    is_active: bool
    base_url: str
    headers: Mapping[str, SecretChange]
    timeout: float
    command: str
    args: Sequence[str]
    env: Mapping[str, SecretChange]
    disabled_tools: Sequence[str]
    auto_approve_tools: Sequence[str]
    allows: Sequence[Allowance]


def new_server(user_id: str, now: datetime) -> ServerRow:
    """Return the row of a server that leads nowhere yet."""
    return ServerRow(
        id=new_id(),
        user_id=user_id,
        name="",
        type="",
        is_active=True,
        base_url="",
        headers={},
        timeout=CALL_SECONDS,
        command="",
        args=[],
        env={},
        disabled_tools=[],
        auto_approve_tools=[],
        allows=[],
        credentials="",
        version=0,
        created_at=now,
        updated_at=now,
    )


def change_server(row: ServerRow, change: ServerChange, secrets: Secrets, now: datetime) -> bool:
    """Change a row; return whether it leads to another server now. Raises `InvalidRequestError` if it leads nowhere.

    Another server has nothing that is approved in advance: also another path of the same host, where many have theirs.
    Another origin, or program, gets no secret that was meant for the one before.
    """
    before, address, is_new = _target(row), row.base_url, not row.type
    for name in PLAIN_FIELDS:
        if name in change:
            setattr(row, name, cast("Mapping[str, Any]", change)[name])
    _leave_one_target(row, change)
    row.type = _type(row, change, is_new=row.base_url != address or is_new)
    _require_target(row)
    retargeted = _target(row) != before
    is_another = retargeted or row.base_url != address
    if row.base_url != address:
        row.credentials = ""
    if is_another and not is_new:
        row.auto_approve_tools = []
    for name in SECRET_FIELDS:
        sealed: Mapping[str, str] = dict.fromkeys(getattr(row, name), "") if retargeted else getattr(row, name)
        setattr(row, name, _sealed(sealed, cast("Mapping[str, Any]", change).get(name), secrets))
    row.version += 1
    row.updated_at = now
    return is_another


def definition_of(row: ServerRow, pins: Mapping[str, str], secrets: Secrets) -> ServerDefinition:
    """Return the definition that the connections use; only tools that the person has seen are approved in advance."""
    return ServerDefinition(
        id=row.id,
        user_id=row.user_id,
        name=row.name,
        type=cast("ServerType", row.type),
        base_url=row.base_url,
        headers=secrets.open(row.headers),
        timeout=row.timeout,
        command=row.command,
        args=tuple(row.args),
        env=secrets.open(row.env),
        disabled_tools=frozenset(row.disabled_tools),
        auto_approve_tools=frozenset(row.auto_approve_tools) & pins.keys(),
        pins=pins,
        allows=frozenset(row.allows),
        version=row.version,
    )


def which_are_set(sealed: Mapping[str, str], secrets: Secrets) -> dict[str, bool]:
    """Return the names of secrets, and whether each has a value."""
    opened = secrets.open(sealed)
    return {name: name in opened for name in sealed}


def _target(row: ServerRow) -> tuple[str, ...]:
    """Return the target that gets the secrets: the origin of the address, or the program with its arguments."""
    if row.type == "stdio":
        return ("program", row.command, *row.args)
    parts = urlsplit(row.base_url)
    return ("address", parts.scheme, parts.netloc.lower())


def _leave_one_target(row: ServerRow, change: ServerChange) -> None:
    """A server has an address or a command: the one that was sent replaces the other."""
    if change.get("type"):
        return
    if change.get("command") and "base_url" not in change:
        row.base_url = ""
    elif change.get("base_url") and "command" not in change:
        row.command, row.args = "", []


def _type(row: ServerRow, change: ServerChange, *, is_new: bool) -> str:
    if wanted := change.get("type"):
        return wanted
    fits = bool(row.base_url) != (row.type == "stdio")
    if fits and not is_new:
        return row.type
    # An address that leads nowhere is refused by the rule of its type.
    return type_of(row.base_url, row.command) or ("sse" if row.base_url else "stdio")


def _require_target(row: ServerRow) -> None:
    if row.type == "stdio":
        if not row.command:
            raise InvalidRequestError("stdio_without_command")
        return
    parts = urlsplit(row.base_url)
    if type_of(row.base_url, "") is None or "@" in parts.netloc:
        raise InvalidRequestError("remote_without_url")


def _sealed(before: Mapping[str, str], change: Mapping[str, SecretChange] | None, secrets: Secrets) -> dict[str, str]:
    if change is None:
        return dict(before)
    return {
        name: secrets.seal(value) if isinstance(value, str) else before.get(name, "") if value else ""
        for name, value in change.items()
    }
