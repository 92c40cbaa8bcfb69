"""The record of a tool: all facts besides code, description and arguments; published as the tool's `_meta`."""

from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import KW_ONLY, dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Any, ClassVar, Final, Literal, TypeVar, cast

import anyio.to_thread
from mcp.types import CallToolResult, Icon, ToolAnnotations

from drive_server.kernel.access import Actor, Scope
from drive_server.kernel.context import META_TOOL
from drive_server.kernel.moments import to_iso, zone_of
from drive_server.kernel.risks import ASKS, Asks, Kind, Risk
from drive_server.kernel.texts import ORIGINAL, Language, Texts
from drive_server.mcp import icons
from drive_server.registry import ServiceRegistry
from drive_server.services.journal.changes import ChangeKind

TITLES: Final = Texts.beside(str(Path(__file__).parent))
Action = Literal["create", "write", "rename", "move", "copy", "trash"]
"""Actions that a person may allow in a folder for a while. All of them can be undone."""
ToolFunction = Callable[..., Awaitable[CallToolResult]]
Function = TypeVar("Function", bound=ToolFunction)


def _annotations(*, read_only: bool = False, destructive: bool = False, idempotent: bool = False) -> ToolAnnotations:
    """Return MCP's annotations. No tool reaches beyond the drive."""
    return ToolAnnotations(
        readOnlyHint=read_only, destructiveHint=destructive, idempotentHint=idempotent, openWorldHint=False
    )


READS: Final = _annotations(read_only=True, idempotent=True)
ADDS: Final = _annotations()
BRINGS_BACK: Final = _annotations(idempotent=True)
OVERWRITES: Final = _annotations(destructive=True, idempotent=True)
EDITS: Final = _annotations(destructive=True)
SIGNS_IN: Final = _annotations(idempotent=True)


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """One tool; as a decorator it names itself after the function and stays with it.

    Without its `scope` a call always fails; None if it needs none. `action` is the kind that a grant or a plan may
    allow. `writes` says whether it makes the whole text of a file or a part of it. With `has_preview` it only reads
    while its argument `preview` is true. If it `can_be_task`, the host may let it go on and fetch its result later.
    `changes` has the actions under which the journal records its effects, each with its kind (`records`). If it
    `is_core`, every host is shown it.
    """

    scope: Scope | None
    kind: Kind
    risk: Risk
    annotations: ToolAnnotations
    _: KW_ONLY
    action: Action | None = None
    writes: Literal["whole", "part"] | None = None
    has_preview: bool = False
    can_be_task: bool = False
    is_core: bool = False
    name: str = ""
    changes: Mapping[str, ChangeKind] = field(default_factory=dict[str, ChangeKind])

    def __call__(self, function: Function) -> Function:
        """Give the function this record."""
        function.__dict__["spec"] = replace(self, name=function.__name__)
        return function

    def title(self, language: Language = ORIGINAL) -> str:
        """Return its name for people; a tool without one has only the name that models see."""
        return TITLES.say(self.name, language) if self.name in TITLES else self.name

    @property
    def meta(self) -> dict[str, Any]:
        """The record as `_meta` publishes it."""
        facts = {
            "kind": self.kind,
            "risk": self.risk,
            "scope": self.scope and self.scope.value,
            "asks": ASKS[self.kind, self.risk],
            **{f"title_{language}": self.title(language) for language in TITLES.languages if language != ORIGINAL},
            "action": self.action,
            "writes": self.writes,
            "has_preview": self.has_preview,
            "can_be_task": self.can_be_task,
        }
        return {META_TOOL: {key: value for key, value in facts.items() if value}}

    @property
    def deletes_for_good(self) -> bool:
        """Whether nothing brings back the items it removes."""
        return (self.kind, self.risk) == ("removal", "high")

    @property
    def signs_in(self) -> bool:
        """Whether it changes who acts in the session."""
        return (self.kind, self.risk) == ("execution", "high")

    def scope_for(self, arguments: Any) -> Scope | None:
        """Return the scope that a call with these arguments needs in every case."""
        is_preview = self.has_preview and isinstance(arguments, dict) and arguments.get("preview") not in (None, False)
        return Scope.READ if is_preview else self.scope

    def asks_for(self, arguments: Any) -> Asks:
        """Return when a call with these arguments, checked or not, asks the person.

        A call that puts another item into the trash to take its place removes; one that gives a file another content
        writes.
        """
        values: Mapping[str, Any] = arguments if isinstance(arguments, dict) else {}
        if self.has_preview and values.get("preview") is True:
            return ASKS["execution", "low"]
        if self.kind == "write" and values.get("on_conflict") == "replace":
            return ASKS["write", "high"] if self.writes else ASKS["removal", "medium"]
        return ASKS[self.kind, self.risk]


def spec_of(function: ToolFunction) -> ToolSpec:
    """Return the record of a tool. Raises `AttributeError` for a function that is none."""
    return cast("Any", function).spec


def records(kind: ChangeKind, *actions: str) -> Callable[[Function], Function]:
    """Add to a tool's record the kind of its changes in the journal, and their actions: its name, if not others."""

    def add(function: Function) -> Function:
        spec = spec_of(function)
        function.__dict__["spec"] = replace(spec, changes=dict.fromkeys(actions or (spec.name,), kind))
        return function

    return add


class ToolGroup:
    """Tools about one noun, each named as its method; its docstring is the description for a model.

    Its `label` is the word by which a host's model asks for them.
    """

    icon: ClassVar[Icon] = icons.DRIVE
    label: ClassVar[str] = ""

    def __init__(self, drive: ServiceRegistry) -> None:
        self._drive = drive

    async def now(self, actor: Actor) -> tuple[datetime, str]:
        """Return the local time of the person who calls, and their zone's name; empty: the server's has none."""
        return await anyio.to_thread.run_sync(self._now, actor)

    def _now(self, actor: Actor) -> tuple[datetime, str]:
        """Zones are read from files."""
        stated = actor.time_zone or actor.principal.time_zone
        name = stated if zone_of(stated) else self._drive.settings.resolved_time_zone
        return self._drive.clock().astimezone(zone_of(name)), name

    async def span(self, actor: Actor, since: str | None, until: str | None) -> tuple[str | None, str | None]:
        """Return both ends of a span of time as ISO 8601, where the person named them in words or without a zone."""
        if since is None and until is None:
            return None, None
        now, _ = await self.now(actor)
        return to_iso(since, now, "start"), to_iso(until, now, "end")

    @classmethod
    def specs(cls) -> list[ToolSpec]:
        """Return the records of its tools, in their order."""
        return [spec_of(member) for member in vars(cls).values() if hasattr(member, "spec")]

    def tools(self) -> Iterator[tuple[ToolSpec, ToolFunction]]:
        """Yield each tool with its record."""
        for spec in self.specs():
            yield spec, getattr(self, spec.name)
