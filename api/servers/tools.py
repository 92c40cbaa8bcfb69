"""The tools of a server as its person sees and changes them, and the definitions of them that the person has seen."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from mcp.types import Tool
from sqlalchemy import delete, select
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import Session

from api.errors import NotFoundError, ToolChangedError
from api.storage.tables import PinRow, ServerRow
from graph.servers.pins import FieldChange, PinnedTool, cleaned, cleaned_values, difference, hash_of, label, pinned

MAX_PINS = 1_000
"""A server that has other tools each time must not fill the database."""
Pins = Mapping[str, PinRow]
"""The pins of the definitions that the person has seen, by the name of the tool."""


@dataclass(frozen=True, slots=True)
class ToolChange:
    """A person's decisions about a tool: None leaves it. `accept` is the hash of the definition that they saw."""

    name: str
    is_enabled: bool | None = None
    is_auto_approve: bool | None = None
    accept: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedTool:
    """A tool as its person sees it; the texts are cleaned. `changed`: the server gave it another definition."""

    name: str
    display_name: str
    description: str
    input_schema: dict[str, Any]
    hash: str
    is_enabled: bool
    is_auto_approve: bool
    changed: bool
    difference: Sequence[FieldChange]


def list_tools(row: ServerRow, pins: Pins, tools: Sequence[Tool]) -> list[ListedTool]:
    """Return the tools of a server. One that changed, or that the person has not seen before, is disabled."""
    return [_listed(row, pins.get(tool.name), tool) for tool in tools]


def seen_tools(pins: Pins) -> list[Tool]:
    """Return the tools as they were when the person saw them."""
    return [_seen(cast("PinnedTool", pin.definition)) for pin in pins.values()]


async def read_pins(session: AsyncSession, server_id: str) -> dict[str, PinRow]:
    """Return the pins of the tools that the person has seen of a server."""
    rows = await session.scalars(select(PinRow).where(PinRow.server_id == server_id).order_by(PinRow.name))
    return {pin.name: pin for pin in rows}


async def forget_pins(session: AsyncSession, server_id: str) -> None:
    """Forget the pins of a server's tools."""
    await session.execute(delete(PinRow).where(PinRow.server_id == server_id))


def pin_new(session: Session, row: ServerRow, tools: Sequence[Tool]) -> None:
    """Pin the tools of which the person has seen nothing before, as far as there is room: the others stay disabled."""
    before = set(session.scalars(select(PinRow.name).where(PinRow.server_id == row.id)))
    new = [tool for tool in {tool.name: tool for tool in tools}.values() if tool.name not in before]
    session.add_all([_pin(row, tool) for tool in new[: max(0, MAX_PINS - len(before))]])


class ToolEdit:
    """Changes a person's decisions about the tools of a server. `tools`: those that it has now, None if it is down."""

    def __init__(self, session: Session, row: ServerRow, pins: Pins, tools: Sequence[Tool] | None) -> None:
        self._session = session
        self._row = row
        self._pins = pins
        self._tools = {tool.name: tool for tool in tools or ()}
        self._disabled, self._approved = dict.fromkeys(row.disabled_tools), dict.fromkeys(row.auto_approve_tools)

    def apply(self, changes: Sequence[ToolChange]) -> None:
        """Carry out all changes. Raises `NotFoundError` and `ToolChangedError`."""
        for change in changes:
            self._apply(change)
        self._row.disabled_tools, self._row.auto_approve_tools = list(self._disabled), list(self._approved)

    def _apply(self, change: ToolChange) -> None:
        tool, pin = self._tools.get(change.name), self._pins.get(change.name)
        if tool is None and pin is None:
            raise NotFoundError("no_tool", name=change.name)
        if change.accept is not None:
            self._accept(tool, pin, change.name, change.accept)
        elif change.is_auto_approve and tool is not None and pin is not None and pin.hash != hash_of(tool):
            raise ToolChangedError(name=change.name)
        _put(self._disabled, change.name, is_in=None if change.is_enabled is None else not change.is_enabled)
        _put(self._approved, change.name, is_in=change.is_auto_approve)

    def _accept(self, tool: Tool | None, pin: PinRow | None, name: str, accepted: str) -> None:
        if tool is None or hash_of(tool) != accepted:
            raise ToolChangedError(name=name)
        if pin is None:
            self._session.add(_pin(self._row, tool))
        elif pin.hash != accepted:
            # The advance approval was for the tool that it replaces.
            self._approved.pop(name, None)
            pin.hash, pin.definition = accepted, dict(pinned(tool))


def _put(names: dict[str, None], name: str, *, is_in: bool | None) -> None:
    if is_in:
        names[name] = None
    elif is_in is False:
        names.pop(name, None)


def _listed(row: ServerRow, pin: PinRow | None, tool: Tool) -> ListedTool:
    now, shown = hash_of(tool), pinned(tool)
    changed, is_agreed = pin is not None and pin.hash != now, pin is not None and pin.hash == now
    return ListedTool(
        name=tool.name,
        display_name=label(shown["title"]) or tool.name,
        description=cleaned(shown["description"]),
        input_schema=cleaned_values(tool.inputSchema),
        hash=now,
        is_enabled=tool.name not in row.disabled_tools and is_agreed,
        is_auto_approve=tool.name in row.auto_approve_tools and is_agreed,
        changed=changed,
        difference=difference(cast("PinnedTool", pin.definition), tool) if pin and changed else (),
    )


def _pin(row: ServerRow, tool: Tool) -> PinRow:
    return PinRow(server_id=row.id, name=tool.name, hash=hash_of(tool), definition=dict(pinned(tool)))


def _seen(seen: PinnedTool) -> Tool:
    return Tool(
        name=seen["name"],
        title=seen["title"] or None,
        description=seen["description"],
        inputSchema=seen["input_schema"],
    )
