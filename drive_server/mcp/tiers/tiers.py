"""The tools that a request's list has: a core, all of them in few words, or all with their whole schemas."""

from collections.abc import Iterable, Mapping
from typing import Final, get_args

from mcp.types import Tool
from starlette.requests import Request

from drive_server.kernel.access import Principal, Scope
from drive_server.kernel.errors import InvalidInputError
from drive_server.kernel.lenient.short_schemas import short_description, short_schema
from drive_server.kernel.messages import Message
from drive_server.kernel.settings import Tier
from drive_server.mcp.calls.authentication import IN_PROCESS
from drive_server.mcp.protocol.sessions import DriveSession
from drive_server.mcp.tools.definition.spec import ToolSpec

PARAMETER: Final = "tools"
"""The parameter of `/mcp` that names a tier."""
TIERS: Final[tuple[Tier, ...]] = get_args(Tier)
PLACES: Final = frozenset({"item_id", "file_id", "folder_id", "item_ids"})
PLACE_WORDS: Final = "id, or path from the root"


class Tiers:
    """Chooses the tools of a list, and how they are shown. A call takes any tool, whatever was listed.

    `stated` is the tier of the settings. `labels` has the group of each of the drive's tools; `more` is the name of the
    one that tells of those beside the core.
    """

    def __init__(self, specs: Mapping[str, ToolSpec], stated: Tier) -> None:
        self._specs = specs
        self.stated: Tier = stated
        self.labels: dict[str, str] = {}
        self.more = ""

    def tier_of(self, request: Request | None, caller: Principal | None) -> Tier:
        """Return the tier of a request: as its address has it, else as the key does, else as the settings do.

        The assistant in this process gets whole schemas. Raises `InvalidInputError` for an address with another word.
        """
        if caller is not None and caller.method == IN_PROCESS:
            return "whole"
        stated = caller.tools if caller and caller.tools else self.stated
        return (_named(request) if request else None) or stated

    def listed(self, tools: Iterable[Tool], tier: Tier, session: DriveSession, *, is_signed_in: bool) -> list[Tool]:
        """Return those of the tools that are listed in the tier, as it shows them. Plain tools are shown as they are.

        In the core are also the tools that the session asked for, in this order, and, before anybody signed in, the
        one by which somebody does.
        """
        allowed = {tool.name: tool for tool in tools}
        if tier != "core":
            rest = [tool for name, tool in allowed.items() if name != self.more]
            return rest if tier == "whole" else [self.shown(tool) for tool in rest]
        first = [name for name in allowed if self._is_first(name, is_signed_in=is_signed_in)]
        wanted = [name for name in session.asked_tools if name in allowed and name not in first]
        more = {self.more: self._with_names(allowed[self.more], allowed)} if self.more in allowed else {}
        return [self.shown({**allowed, **more}[name]) for name in [*first, *wanted]]

    def shown(self, tool: Tool) -> Tool:
        """Return one of the drive's tools in few words, without a schema of its results; a plain one as it is."""
        if tool.name not in self._specs:
            return tool
        schema = short_schema(tool.inputSchema)
        for name in PLACES.intersection(schema["properties"]):
            schema["properties"][name]["description"] = PLACE_WORDS
        said = short_description(tool.description or "")
        return tool.model_copy(update={"description": said, "inputSchema": schema, "outputSchema": None})

    def further(self, scopes: frozenset[Scope]) -> dict[str, list[str]]:
        """Return the names of the tools beside the core that these scopes allow, by the label of their group."""
        found: dict[str, list[str]] = {}
        for name, label in self.labels.items():
            if name != self.more and not self._specs[name].is_core and self.allows(name, scopes):
                found.setdefault(label, []).append(name)
        return found

    def allows(self, name: str, scopes: frozenset[Scope]) -> bool:
        """Return whether a key with these scopes may call the tool."""
        return name in self._specs and self._specs[name].scope in {None, *scopes}

    def _is_first(self, name: str, *, is_signed_in: bool) -> bool:
        spec = self._specs.get(name)
        return spec is None or spec.is_core or name == self.more or (spec.signs_in and not is_signed_in)

    def _with_names(self, more: Tool, allowed: Mapping[str, Tool]) -> Tool:
        """Return `more_tools` with the groups of the allowed tools and their names in its description."""
        groups = {label: [name for name in names if name in allowed] for label, names in self.further(_ANY).items()}
        listed = "; ".join(f"{label}: {', '.join(names)}" for label, names in groups.items() if names)
        return more.model_copy(update={"description": f"{more.description}\nGroups: {listed}."})


_ANY: Final = frozenset(Scope)


def _named(request: Request) -> Tier | None:
    named = request.query_params.get(PARAMETER)
    if named is None:
        return None
    for tier in TIERS:
        if named == tier:
            return tier
    raise InvalidInputError(Message.of("no_tier"), details={"tiers": list(TIERS)})
