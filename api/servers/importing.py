"""The lists of MCP servers that other programs keep, in the fields of ours."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, cast

from api.errors import InvalidRequestError
from graph.servers.definition import ServerType

LISTS: Final = ("mcpServers", "servers")
"""Claude Desktop, Cursor and most others; VS Code's `mcp.json`."""
PLACEHOLDER: Final = re.compile(r"\$\{[^}]*\}")
VARIABLE: Final = re.compile(r"\$\{env:([^}]*)\}")
TYPES: Final[Mapping[str, ServerType]] = {
    "stdio": "stdio",
    "sse": "sse",
    "http": "streamableHttp",
    "streamable-http": "streamableHttp",
    "streamable_http": "streamableHttp",
    "streamablehttp": "streamableHttp",
}


@dataclass(frozen=True, slots=True)
class ForeignServer:
    """A server in another program's list: our fields, and the names of those that the list has no values of."""

    name: str
    fields: Mapping[str, Any]
    missing: Sequence[str] = ()


def read_servers(document: Mapping[str, Any]) -> list[ForeignServer]:
    """Return the servers of a document. Raises `InvalidRequestError` if it has no list of them."""
    nested = document.get("mcp")
    for holder in (document, nested if isinstance(nested, Mapping) else {}):
        for key in LISTS:
            if isinstance(found := holder.get(key), Mapping):
                return [_read(str(name), entry) for name, entry in cast("Mapping[Any, Any]", found).items()]
    raise InvalidRequestError("no_servers_in_document")


def fill_placeholders(value: Any, values: Mapping[str, str]) -> Any:
    """Return JSON with `${env:NAME}` replaced in its texts, as far as there are values."""
    if isinstance(value, str):
        return VARIABLE.sub(lambda match: values.get(match[1], match[0]), value)
    if isinstance(value, dict):
        return {name: fill_placeholders(one, values) for name, one in cast("dict[str, Any]", value).items()}
    if isinstance(value, list):
        return [fill_placeholders(one, values) for one in cast("list[Any]", value)]
    return value


def placeholders(value: Any) -> set[str]:
    """Return the names of the variables that the texts of JSON ask for."""
    if isinstance(value, str):
        return set(VARIABLE.findall(value))
    inner = cast("dict[str, Any]", value).values() if isinstance(value, dict) else value
    return set[str]().union(*map(placeholders, cast("list[Any]", inner))) if isinstance(value, dict | list) else set()


def _read(name: str, entry: Any) -> ForeignServer:
    if not isinstance(entry, Mapping):
        return ForeignServer(name, {"name": name})
    found = cast("Mapping[str, Any]", entry)
    stated = str(found.get("type") or found.get("transport") or "").lower()
    address = found.get("url") or found.get("serverUrl")
    fields = {
        "name": name,
        "type": TYPES.get(stated),
        "base_url": address,
        "command": found.get("command"),
        "args": found.get("args"),
        "timeout": found.get("timeout"),
        "disabled_tools": found.get("disabledTools"),
        "is_active": False if found.get("disabled") is True else None,
    }
    secrets = {name: _secrets(found.get(name)) for name in ("headers", "env")}
    missing = [key for values in secrets.values() for key, value in values.items() if value is None]
    missing += [key for key in ("base_url", "command", "args") if PLACEHOLDER.search(str(fields[key]))]
    sent = {key: value for key, value in {**fields, **secrets}.items() if value not in (None, {})}
    return ForeignServer(name, sent, missing)


def _secrets(values: Any) -> dict[str, Any]:
    """Return the values; None for one that the program asks its person for, or reads from elsewhere."""
    if not isinstance(values, Mapping):
        return {}
    pairs = cast("Mapping[str, Any]", values).items()
    return {
        name: None if value in ("", None) or PLACEHOLDER.search(str(value)) else str(value) for name, value in pairs
    }
