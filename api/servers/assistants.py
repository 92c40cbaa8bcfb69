"""People's assistants: defined, changed, and given servers. Everybody has the built-in one, which is no row."""

from collections import OrderedDict
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from functools import partial
from time import monotonic
from typing import Any

from sqlalchemy import Connection, bindparam, delete, func, select, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import Session
from typing_extensions import TypedDict

from api.clock import Clock
from api.drive import Principal
from api.errors import (
    BuiltInAssistantError,
    InvalidRequestError,
    ModelNotAllowedError,
    NameTakenError,
    NotFoundError,
    TooManyError,
)
from api.servers.definitions import definition_of
from api.servers.secrets import Secrets
from api.storage.tables import (
    BUILT_IN,
    AssistantRow,
    ChosenServerRow,
    PinRow,
    RunRow,
    ServerRow,
    ThreadRow,
    new_id,
    table_of,
)
from drive_server.kernel.sql.database import Database
from graph.context import RunContext
from graph.servers.choices import Choice

MAX_ASSISTANTS = 100
MAX_AHEAD = 1_000
AHEAD_SECONDS = 1.0
"""How old a choice may be that was read when its run began."""

_ASSISTANTS, _SERVERS, _LINKS, _TOOLS = map(table_of, (AssistantRow, ServerRow, ChosenServerRow, PinRow))
_OWN = select(_ASSISTANTS.c.id, _ASSISTANTS.c.instructions, _ASSISTANTS.c.drive_tools).where(
    _ASSISTANTS.c.id == bindparam("assistant"), _ASSISTANTS.c.owner == bindparam("user")
)
_DEFAULT = select(_ASSISTANTS.c.id, _ASSISTANTS.c.model).where(
    _ASSISTANTS.c.owner == bindparam("user"), _ASSISTANTS.c.is_default
)
_CHOSEN = (
    select(_SERVERS)
    .join(_LINKS, _LINKS.c.mcp_server_id == _SERVERS.c.id)
    .where(_LINKS.c.assistant_id == bindparam("assistant"), _SERVERS.c.user_id == bindparam("user"))
    .where(_SERVERS.c.is_active)
    .order_by(_SERVERS.c.name)
)
_PINS = select(_TOOLS.c.server_id, _TOOLS.c.name, _TOOLS.c.hash).where(
    _TOOLS.c.server_id.in_(bindparam("servers", expanding=True))
)


_Chosen = tuple[Any, list[ServerRow], Mapping[str, dict[str, str]]]


class AssistantChange(TypedDict, total=False):
    """The fields of an assistant that a request sets; the others stay as they are."""

    name: str
    description: str
    model: str
    instructions: str
    drive_tools: Sequence[str] | None
    is_default: bool


class Assistants:
    """A person's assistants. `allows_model` tells which models one may have, `drive_tools` which tools."""

    def __init__(
        self,
        database: Database,
        clock: Clock,
        allows_model: Callable[[str], bool],
        drive_tools: Callable[[Principal], Awaitable[Collection[str]]],
    ) -> None:
        self._database = database
        self._clock = clock
        self._allows_model = allows_model
        self._drive_tools = drive_tools

    async def of(self, caller: Principal) -> list[AssistantRow]:
        """Return the caller's assistants: the built-in one, then their own by name."""
        query = select(AssistantRow).where(AssistantRow.owner == caller.user_id).order_by(AssistantRow.name)
        async with self._database.read() as session:
            rows = [*await session.scalars(query)]
        return [built_in(caller.user_id, is_default=not any(row.is_default for row in rows)), *rows]

    async def get(self, caller: Principal, assistant_id: str) -> AssistantRow:
        """Return an assistant of the caller. Raises `NotFoundError`, also for somebody else's."""
        return await self._database.look(lambda session: session.run_sync(find_assistant, caller.user_id, assistant_id))

    async def create(self, caller: Principal, change: AssistantChange) -> AssistantRow:
        """Define an assistant. Raises `NameTakenError`, `TooManyError` and the errors of `check`."""
        await self._check(caller, change)
        now = self._clock.now()
        row = built_in(caller.user_id, is_default=False)
        row.id, row.created_at = new_id(), now
        _change(row, change)
        row.updated_at = now
        count = select(func.count()).select_from(AssistantRow).where(AssistantRow.owner == caller.user_id)
        try:
            async with self._database.write(caller.user_id) as session:
                if (await session.scalar(count) or 0) >= MAX_ASSISTANTS:
                    raise TooManyError("too_many_assistants", limit=str(MAX_ASSISTANTS))
                if row.is_default:
                    await _no_default(session, caller)
                session.add(row)
        except IntegrityError:
            raise NameTakenError(name=row.name) from None
        return row

    async def update(self, caller: Principal, assistant_id: str, change: AssistantChange) -> AssistantRow:
        """Change the fields of an assistant that are given; of the built-in one, only that it is the default."""
        await self._check(caller, change)
        if assistant_id == BUILT_IN and change != {"is_default": True}:
            raise BuiltInAssistantError
        try:
            async with self._database.write(caller.user_id) as session:
                row = await session.run_sync(find_assistant, caller.user_id, assistant_id)
                if change.get("is_default"):
                    await _no_default(session, caller)
                _change(row, change)
                row.updated_at = self._clock.now()
        except IntegrityError:
            raise NameTakenError(name=change.get("name", "")) from None
        return row

    async def delete(self, caller: Principal, assistant_id: str) -> None:
        """Delete an assistant; its threads go on with the built-in one."""
        if assistant_id == BUILT_IN:
            raise BuiltInAssistantError
        async with self._database.write(caller.user_id) as session:
            row = await session.run_sync(find_assistant, caller.user_id, assistant_id)
            await session.execute(delete(ChosenServerRow).where(ChosenServerRow.assistant_id == row.id))
            threads = update(ThreadRow).where(ThreadRow.user_id == caller.user_id, ThreadRow.assistant_id == row.id)
            await session.execute(threads.values(assistant_id=BUILT_IN))
            await session.delete(row)

    async def servers(self, caller: Principal, assistant_id: str) -> list[str]:
        """Return the ids of the servers that an assistant uses, by their names."""
        async with self._database.read() as session:
            await session.run_sync(find_assistant, caller.user_id, assistant_id)
            return [row.id for row in await _chosen(session, caller.user_id, assistant_id)]

    async def choose(self, caller: Principal, assistant_id: str, server_ids: Sequence[str]) -> list[str]:
        """Let an assistant use these servers and no others; return those that it did not use before.

        Raises `NotFoundError` if the assistant or one of the servers is not the caller's.
        """
        wanted = dict.fromkeys(server_ids)
        own = select(ServerRow.id).where(ServerRow.user_id == caller.user_id)
        async with self._database.write(caller.user_id) as session:
            await session.run_sync(find_assistant, caller.user_id, assistant_id)
            if wanted.keys() - {*await session.scalars(own)}:
                raise NotFoundError("no_server")
            before = {row.id for row in await _chosen(session, caller.user_id, assistant_id)}
            links = ChosenServerRow.assistant_id == assistant_id, ChosenServerRow.mcp_server_id.in_(before)
            await session.execute(delete(ChosenServerRow).where(*links))
            session.add_all([ChosenServerRow(assistant_id=assistant_id, mcp_server_id=key) for key in wanted])
        return [key for key in wanted if key not in before]

    async def _check(self, caller: Principal, change: AssistantChange) -> None:
        if change.get("name") == BUILT_IN:
            raise NameTakenError(name=BUILT_IN)
        if (model := change.get("model")) and not self._allows_model(model):
            raise ModelNotAllowedError(model=model)
        if names := change.get("drive_tools"):
            known = await self._drive_tools(caller)
            if unknown := sorted(set(names) - set(known)):
                raise InvalidRequestError(
                    "unknown_drive_tools", said={"names": ", ".join(unknown)}, details={"known": sorted(known)}
                )


class PersonsChoices:
    """Reads a person's choice for an assistant, for the graph."""

    def __init__(self, database: Database, secrets: Secrets) -> None:
        self._database = database
        self._secrets = secrets
        self._ahead: OrderedDict[str, tuple[float, _Chosen]] = OrderedDict()
        self._of_runs: dict[str, str] = {}

    def begin(self, run: RunRow) -> None:
        """Note the instructions of a run that is at work here, until `end`."""
        if run.instructions:
            self._of_runs[run.id] = run.instructions

    def end(self, run_id: str) -> None:
        """Forget the instructions of a run that is not at work here any more."""
        self._of_runs.pop(run_id, None)

    def read_ahead(self, connection: Connection, run: RunRow) -> None:
        """Read the choice in the transaction that begins the run: its first round, which comes at once, uses it."""
        self._ahead[run.id] = monotonic(), _read_choice(run.user_id, run.assistant_id, connection)
        if len(self._ahead) > MAX_AHEAD:
            self._ahead.popitem(last=False)

    async def chosen(self, user: RunContext) -> Choice:
        """Return the choice for the assistant of this run; that of the built-in one if the person has no such.

        The instructions of the run follow those of the assistant.

        It takes one statement where nothing is chosen.
        """
        read_at, ahead = self._ahead.pop(user.run_id, (float("-inf"), None))
        if ahead is None or monotonic() - read_at >= AHEAD_SECONDS:
            ahead = await self._database.read_sync(partial(_read_choice, user.user_id, user.assistant_id))
        row, servers, pins = ahead
        return Choice(
            assistant_id=row.id if row else "",
            instructions="\n\n".join(filter(None, [row.instructions if row else "", self._of_runs.get(user.run_id)])),
            drive_tools=None if row is None or row.drive_tools is None else frozenset(row.drive_tools),
            servers=tuple(definition_of(server, pins.get(server.id, {}), self._secrets) for server in servers),
        )


def _read_choice(user_id: str, assistant_id: str, connection: Connection) -> _Chosen:
    """Return the columns of the person's own assistant (None: the built-in one), its active servers, and their pins."""
    assistant_id = assistant_id or BUILT_IN
    own = {"assistant": assistant_id, "user": user_id}
    row = None if assistant_id == BUILT_IN else connection.execute(_OWN, own).first()
    chosen = connection.execute(_CHOSEN, own if row else {**own, "assistant": BUILT_IN}).mappings()
    servers = [ServerRow(**found) for found in chosen]
    return row, servers, _read_pins(connection, [server.id for server in servers])


def _read_pins(connection: Connection, server_ids: Sequence[str]) -> Mapping[str, dict[str, str]]:
    pins: dict[str, dict[str, str]] = {}
    for server_id, name, digest in connection.execute(_PINS, {"servers": server_ids}) if server_ids else ():
        pins.setdefault(server_id, {})[name] = digest
    return pins


def find_assistant(session: Session, user_id: str, assistant_id: str | None) -> AssistantRow:
    """Return an assistant of a person; None: their default one. Raises `NotFoundError`, also for somebody else's."""
    default = session.scalar(select(AssistantRow).where(AssistantRow.owner == user_id, AssistantRow.is_default))
    if assistant_id == BUILT_IN or (assistant_id is None and default is None):
        return built_in(user_id, is_default=default is None)
    row = default if assistant_id is None else session.get(AssistantRow, assistant_id)
    if row is None or row.owner != user_id:
        raise NotFoundError("no_assistant")
    return row


def default_assistant(connection: Connection, user_id: str) -> tuple[str, str]:
    """Return the id and the model of a person's default assistant; the built-in one has the model of the settings."""
    row = connection.execute(_DEFAULT, {"user": user_id}).first()
    return (row.id, row.model) if row else (BUILT_IN, "")


async def _chosen(session: AsyncSession, user_id: str, assistant_id: str) -> Sequence[ServerRow]:
    """Return the person's servers that an assistant uses: the built-in one is everybody's."""
    query = select(ServerRow).join(ChosenServerRow, ChosenServerRow.mcp_server_id == ServerRow.id)
    of_both = query.where(ChosenServerRow.assistant_id == assistant_id, ServerRow.user_id == user_id)
    return (await session.scalars(of_both.order_by(ServerRow.name))).all()


async def _no_default(session: AsyncSession, caller: Principal) -> None:
    await session.execute(update(AssistantRow).where(AssistantRow.owner == caller.user_id).values(is_default=False))


def _change(row: AssistantRow, change: AssistantChange) -> None:
    for name, value in change.items():
        setattr(row, name, value)


def built_in(user_id: str, *, is_default: bool = False) -> AssistantRow:
    """Return the assistant that everybody has, as if it were a row."""
    return AssistantRow(
        id=BUILT_IN,
        owner=user_id,
        name=BUILT_IN,
        description="",
        model="",
        instructions="",
        drive_tools=None,
        is_default=is_default,
        created_at=None,
        updated_at=None,
    )
