"""People's MCP servers: defined, tested, changed, watched."""

import asyncio
import logging
from collections.abc import AsyncGenerator, Sequence
from contextlib import suppress
from dataclasses import dataclass

from mcp.types import Tool
from sqlalchemy import delete, func, select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncSession

from api.clock import Clock
from api.drive import Principal
from api.errors import NameTakenError, NotFoundError, ServerDownError, TooManyError
from api.servers.definitions import ServerChange, change_server, definition_of, new_server, which_are_set
from api.servers.secrets import Secrets
from api.servers.tools import (
    ListedTool,
    Pins,
    ToolChange,
    ToolEdit,
    forget_pins,
    list_tools,
    pin_new,
    read_pins,
    seen_tools,
)
from api.storage.tables import ChosenServerRow, ServerRow
from drive_server.kernel.sql.database import Database
from graph.servers.connections.connection import ServerDetails
from graph.servers.definition import ServerDefinition
from graph.servers.pool import ServerPool
from graph.servers.reasons import Reason, ServerUnavailableError
from graph.servers.status import ServerStatus

logger = logging.getLogger(__name__)

CHOSEN_SECONDS = 5.0
"""How long a choice of servers waits for their tools."""


@dataclass(frozen=True, slots=True)
class ConnectionTest:
    """The result of a test: the server's details and tools, or the reason why it can't be used."""

    server: ServerRow
    tools: Sequence[ListedTool] = ()
    details: ServerDetails | None = None
    reason: Reason | None = None


class Servers:
    """A person's MCP servers; `most` is how many one person may have."""

    def __init__(self, database: Database, secrets: Secrets, pool: ServerPool, clock: Clock, most: int) -> None:
        self._database = database
        self.secrets = secrets
        self._pool = pool
        self._clock = clock
        self._most = most
        self._is_ending = False
        self._pinning: set[asyncio.Task[None]] = set()

    async def of(self, caller: Principal) -> list[ServerRow]:
        """Return the caller's servers by name."""
        query = select(ServerRow).where(ServerRow.user_id == caller.user_id).order_by(ServerRow.name)
        async with self._database.read() as session:
            return [*await session.scalars(query)]

    async def get(self, caller: Principal, server_id: str) -> ServerRow:
        """Return a server of the caller. Raises `NotFoundError`, also for somebody else's."""
        async with self._database.read() as session:
            return await _find(session, caller, server_id)

    @property
    def pool(self) -> ServerPool:
        """Return the connections of all people."""
        return self._pool

    async def definition(self, caller: Principal, server_id: str) -> ServerDefinition:
        """Return a server of the caller for connections. Raises `NotFoundError`."""
        return self._definition(*await self._read(caller, server_id))

    async def reconnect(self, caller: Principal, server_id: str) -> ServerRow:
        """Close the connection to a server, in other processes, too: the next one is opened anew."""
        async with self._database.write(caller.user_id) as session:
            row = await _find(session, caller, server_id)
            row.version += 1
        await self._pool.close(caller.user_id, server_id)
        return row

    def which_are_set(self, row: ServerRow) -> tuple[dict[str, bool], dict[str, bool]]:
        """Return the names of headers and of variables of the environment, and whether each has a value."""
        return which_are_set(row.headers, self.secrets), which_are_set(row.env, self.secrets)

    async def create(self, caller: Principal, change: ServerChange) -> ServerRow:
        """Define a server. Raises `NameTakenError`, `TooManyError`, and `InvalidRequestError` if it leads nowhere."""
        row = new_server(caller.user_id, self._clock.now())
        change_server(row, change, self.secrets, self._clock.now())
        count = select(func.count()).select_from(ServerRow).where(ServerRow.user_id == caller.user_id)
        try:
            async with self._database.write(caller.user_id) as session:
                if (await session.scalar(count) or 0) >= self._most:
                    raise TooManyError(limit=str(self._most))
                session.add(row)
        except IntegrityError:
            # Without the cause, which quotes the row.
            raise NameTakenError(name=row.name) from None
        return row

    async def update(self, caller: Principal, server_id: str, change: ServerChange) -> ServerRow:
        """Change the fields of a server that are given. Its connection is closed."""
        is_chosen = select(ChosenServerRow.mcp_server_id).where(ChosenServerRow.mcp_server_id == server_id).limit(1)
        try:
            async with self._database.write(caller.user_id) as session:
                row = await _find(session, caller, server_id)
                if is_another := change_server(row, change, self.secrets, self._clock.now()):
                    await forget_pins(session, row.id)
                is_in_use = await session.scalar(is_chosen) is not None
        except IntegrityError:
            raise NameTakenError(name=change.get("name", "")) from None
        await self._pool.close(caller.user_id, server_id)
        if is_another and is_in_use:
            self._pin_later(caller, server_id)
        return row

    async def delete(self, caller: Principal, server_id: str) -> None:
        """Delete a server, and take it from the assistants that use it."""
        async with self._database.write(caller.user_id) as session:
            row = await _find(session, caller, server_id)
            await session.execute(delete(ChosenServerRow).where(ChosenServerRow.mcp_server_id == row.id))
            await forget_pins(session, row.id)
            await session.delete(row)
        await self._pool.remove(caller.user_id, server_id)

    async def connect(self, caller: Principal, server_id: str) -> ConnectionTest:
        """Connect to a server now. The person sees its tools by that: those that are new are pinned."""
        row, pins = await self._read(caller, server_id)
        try:
            details = await self._pool.details(self._definition(row, pins))
        except ServerUnavailableError as error:
            return ConnectionTest(row, reason=error.reason)
        pins = await self._pin(row, details.tools)
        if not row.is_active:
            await self._pool.close(caller.user_id, server_id)
        return ConnectionTest(row, list_tools(row, pins, details.tools), details)

    async def tools(self, caller: Principal, server_id: str) -> ConnectionTest:
        """Return the tools of a server; of one that is down, or switched off, those that the person has seen.

        By this they have seen the new ones, too, unless their key may only read.
        """
        row, pins = await self._read(caller, server_id)
        tools, reason = await self._live(row, pins)
        if tools and "write" in caller.scopes:
            pins = await self._pin(row, tools)
        return ConnectionTest(row, list_tools(row, pins, seen_tools(pins) if tools is None else tools), reason=reason)

    async def update_tools(self, caller: Principal, server_id: str, changes: Sequence[ToolChange]) -> ConnectionTest:
        """Change the decisions about tools. Raises `NotFoundError`, `ToolChangedError` and `ServerDownError`."""
        row, pins = await self._read(caller, server_id)
        tools, reason = await self._live(row, pins)
        if reason and any(change.accept for change in changes):
            raise ServerDownError((reason.sentence("en"), reason.sentence("zh")))
        await self._pin(row, tools or ())
        async with self._database.write(caller.user_id) as session:
            row = await _find(session, caller, server_id)
            pins = await read_pins(session, row.id)
            await session.run_sync(lambda sync: ToolEdit(sync, row, pins, tools).apply(changes))
            row.version, row.updated_at = row.version + 1, self._clock.now()
        row, pins = await self._read(caller, server_id)
        return ConnectionTest(row, list_tools(row, pins, seen_tools(pins) if tools is None else tools), reason=reason)

    async def pin_chosen(self, caller: Principal, server_ids: Sequence[str]) -> None:
        """Pin the tools of servers that were chosen, so that a later change of them shows.

        A server that does not answer soon is waited for in the background.
        """
        if tasks := [self._pin_later(caller, server_id) for server_id in server_ids]:
            await asyncio.wait(tasks, timeout=CHOSEN_SECONDS)

    def status(self, row: ServerRow) -> ServerStatus:
        """Return the state of the connection to a server."""
        return self._pool.status(row.user_id, row.id)

    async def watch(self, caller: Principal, idle_seconds: float) -> AsyncGenerator[dict[str, ServerStatus]]:
        """Yield the states of the caller's servers, then each change; nothing after `idle_seconds` without one."""
        with self._pool.watching(caller.user_id) as watch:
            shown = {row.id: self.status(row) for row in await self.of(caller)}
            yield dict(shown)
            while watch.is_open and not self._is_ending:
                change = await watch.next(idle_seconds)
                if change is None and watch.is_open:
                    yield {}
                elif change is not None and shown.get(change[0]) != change[1]:
                    shown |= [change]
                    yield dict([change])

    def end_watches(self) -> None:
        """End all watches and background tasks, so that the server can shut down."""
        self._is_ending = True
        self._pool.end_watches()
        for task in self._pinning:
            task.cancel()

    def _pin_later(self, caller: Principal, server_id: str) -> asyncio.Task[None]:
        task = asyncio.create_task(self._pin_chosen(caller, server_id), name=f"pin {server_id}")
        self._pinning.add(task)
        task.add_done_callback(self._pinning.discard)
        return task

    async def _pin_chosen(self, caller: Principal, server_id: str) -> None:
        try:
            row, pins = await self._read(caller, server_id)
            if not pins:
                tools, _ = await self._live(row, pins)
                await self._pin(row, tools or ())
        except NotFoundError:
            return
        except Exception:
            logger.exception("the tools of an MCP server could not be pinned; a test of it pins them")

    async def _read(self, caller: Principal, server_id: str) -> tuple[ServerRow, Pins]:
        async with self._database.read() as session:
            row = await _find(session, caller, server_id)
            return row, await read_pins(session, row.id)

    async def _live(self, row: ServerRow, pins: Pins) -> tuple[Sequence[Tool] | None, Reason | None]:
        if not row.is_active:
            return None, None
        try:
            return await self._pool.tools(self._definition(row, pins)), None
        except ServerUnavailableError as error:
            return None, error.reason

    async def _pin(self, row: ServerRow, tools: Sequence[Tool]) -> Pins:
        # Another process may pin the same.
        with suppress(IntegrityError):
            async with self._database.write(row.user_id) as session:
                # The server may be deleted, or lead elsewhere, since it was asked for its tools.
                current = await session.get(ServerRow, row.id)
                if current and current.version == row.version:
                    await session.run_sync(lambda sync: pin_new(sync, row, tools))
        async with self._database.read() as session:
            return await read_pins(session, row.id)

    def _definition(self, row: ServerRow, pins: Pins) -> ServerDefinition:
        return definition_of(row, {name: pin.hash for name, pin in pins.items()}, self.secrets)


async def _find(session: AsyncSession, caller: Principal, server_id: str) -> ServerRow:
    row = await session.get(ServerRow, server_id)
    if row is None or row.user_id != caller.user_id:
        raise NotFoundError("no_server")
    return row
