"""The names under which a model sees tools of outside servers, `mcp__{server}__{tool}`, and the way back."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Final

PREFIX: Final = "mcp__"
MAX_CHARACTERS: Final = 63
"""Every model's service takes names of 64."""
DIGEST_CHARACTERS: Final = 8
_REPLACED: Final = re.compile(r"[^A-Za-z0-9_]")


@dataclass(frozen=True, slots=True, order=True)
class ToolName:
    """One tool of one server, by the server's id and the server's own name of the tool."""

    server_id: str
    tool: str


def is_outside(name: str) -> bool:
    """Say whether a name is that of a tool of an outside server."""
    return name.startswith(PREFIX)


def name_of(server_name: str, tool: ToolName, *, exact: bool = False) -> str:
    """Return the name for models; `exact` adds a digest of the server and tool, as does a name that is too long."""
    name = f"{PREFIX}{_REPLACED.sub('_', server_name)}__{_REPLACED.sub('_', tool.tool)}"
    if len(name) <= MAX_CHARACTERS and not exact:
        return name
    digest = sha256(f"{tool.server_id}\0{tool.tool}".encode(errors="surrogatepass")).hexdigest()[:DIGEST_CHARACTERS]
    return f"{name[: MAX_CHARACTERS - DIGEST_CHARACTERS - 1]}_{digest}"


def name_table(tools: Iterable[tuple[str, ToolName]]) -> Mapping[str, ToolName]:
    """Return the tools by their names for models, from pairs of a server's name and a tool.

    Tools whose names would be the same all get a digest: which tool a name stands for does not depend on their order.
    """
    pairs = list(dict.fromkeys(tools))
    exact: set[ToolName] = set()
    while True:
        named = [(name_of(server_name, tool, exact=tool in exact), tool) for server_name, tool in pairs]
        counts = Counter(name for name, _ in named)
        shared = {tool for name, tool in named if counts[name] > 1} - exact
        if not shared:
            return dict(named)
        exact |= shared
