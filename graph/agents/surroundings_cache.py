"""The surroundings of turns, each read once for a few rounds of calls, whether router, planner or specialist asks."""

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Hashable
from datetime import datetime, timedelta
from itertools import chain
from typing import Any, Final, Generic, TypeVar

from langgraph.runtime import Runtime

from graph.agents.attachments import attached_before, read_attachments, read_pictures, takes_pictures
from graph.agents.surroundings import DriveReader, Surroundings, SurroundingsReader, read_folder_surroundings
from graph.clock import Clock
from graph.context import RunContext
from graph.dependencies import GraphDependencies
from graph.drive.connections import Toolbox
from graph.errors import ModelError
from graph.memory.view import read_room
from graph.models.asking import dialect_of
from graph.models.dialects import PICTURES, RULES
from graph.single_flight import SingleFlight
from graph.state import State, current_step, running_turn, said_last

CACHE_ENTRIES: Final = 256
FRESH: Final = timedelta(seconds=30)
PICTURE_TURNS: Final = 4
"""Turns of which the pictures are cached, up to 33 MB each."""
A_TURN: Final = timedelta(minutes=10)
LISTED_FOR: Final = timedelta(minutes=15)
"""How long a turn, or a step, sees the listing that it began with. Results tell the turn's changes since; another
listing in front of them would make a service read them all again."""
T = TypeVar("T")


class ReadCache(Generic[T]):
    """Caches an answer per key for a few rounds of calls; the key has to tell persons apart."""

    def __init__(self, clock: Clock, most: int = CACHE_ENTRIES, fresh: timedelta = FRESH) -> None:
        self._clock, self._most, self._fresh = clock, most, fresh
        self._entries: OrderedDict[Hashable, tuple[datetime, T]] = OrderedDict()
        self._flights = SingleFlight[T]()

    async def get(self, key: Hashable, read: Callable[[], Awaitable[T]]) -> T:
        """Return the value of the key, read anew unless it is fresh; drop the oldest of too many keys."""
        cached = self._entries.get(key)
        if cached and self._clock() - cached[0] < self._fresh:
            return cached[1]
        return await self._flights.do(key, lambda: self._read(key, read))

    async def _read(self, key: Hashable, read: Callable[[], Awaitable[T]]) -> T:
        cached = self._entries.get(key)
        if cached and self._clock() - cached[0] < self._fresh:
            return cached[1]
        value = await read()
        self._entries[key] = (self._clock(), value)
        self._entries.move_to_end(key)
        if len(self._entries) > self._most:
            self._entries.popitem(last=False)
        return value


class SurroundingsCache:
    """Reads the surroundings of a turn's message, for all who need them."""

    def __init__(self, deps: GraphDependencies) -> None:
        self._deps = deps
        self._seen = ReadCache[Surroundings](deps.clock)
        self._listed = ReadCache[Surroundings](deps.clock, fresh=LISTED_FOR)
        self._pictures = ReadCache[list[dict[str, Any]]](deps.clock, PICTURE_TURNS, A_TURN)

    async def read(self, read: SurroundingsReader, state: State, runtime: Runtime[RunContext]) -> Surroundings:
        """Return the surroundings of the message. Raises `DriveUnavailableError`."""
        user, reader = await self._reader(state, runtime)
        if read is read_folder_surroundings:
            return await self._listed.get((user, *_step_key(state)), lambda: read(reader))
        return await self._seen.get((user, read, *turn_key(state)), lambda: read(reader))

    async def with_attachments(
        self, read: SurroundingsReader, state: State, runtime: Runtime[RunContext]
    ) -> Surroundings:
        """Return them with the attachments of this message and of earlier ones of the thread.

        Raises `DriveUnavailableError`.
        """
        readers = [self.read(read, state, runtime)]
        if state.get("place", {}).get("attachments"):
            readers.append(self._attached(state, runtime))
        if state.get("attached"):
            readers.append(self._attached_before(state, runtime))
        parts = await asyncio.gather(*readers)
        sections, reads = [part.sections for part in parts], [part.reads for part in parts]
        sources = chain(*(part.sources for part in parts))
        return Surroundings(tuple(chain(*sections)), tuple(chain(*reads)), parts[0].beginning, tuple(sources))

    async def pictures(self, state: State, runtime: Runtime[RunContext]) -> list[dict[str, Any]]:
        """Return the attached pictures, read once for a turn; none for a model that can't see them."""
        if not (self._sees(runtime) and state.get("place", {}).get("attachments")):
            return []
        user, reader = await self._reader(state, runtime)
        return await self._pictures.get((user, running_turn(state)["run_id"]), lambda: read_pictures(reader))

    def learn_blindness(self, refused: ModelError, runtime: Runtime[RunContext]) -> bool:
        """Note that the model's service takes no pictures if its refusal says so. Return whether it does."""
        if refused_pictures := RULES[PICTURES].words.search(refused.detail) is not None:
            dialect_of(self._deps.model("agent", runtime)).learn(PICTURES)
        return refused_pictures

    def _sees(self, runtime: Runtime[RunContext]) -> bool:
        named = takes_pictures(self._deps.settings, self._deps.model_name("agent", runtime))
        return named and not dialect_of(self._deps.model("agent", runtime)).has(PICTURES)

    async def _attached_before(self, state: State, runtime: Runtime[RunContext]) -> Surroundings:
        user, reader = await self._reader(state, runtime)

        async def read() -> Surroundings:
            shown = await attached_before(reader, state.get("attached", []))
            return Surroundings((shown,) if shown else (), tuple(reader.reads))

        return await self._seen.get((user, "attached before", *turn_key(state)), read)

    async def _attached(self, state: State, runtime: Runtime[RunContext]) -> Surroundings:
        user, reader = await self._reader(state, runtime)
        settings, model, sees = self._deps.settings, self._deps.model_name("agent", runtime), self._sees(runtime)
        room = await read_room(self._deps, "agent", runtime)
        budget = min(settings.attachment_tokens, room.for_messages() // 2)

        async def read() -> Surroundings:
            shown = await read_attachments(reader, budget, sees=sees)
            return Surroundings((shown,), tuple(reader.reads), sources=tuple(reader.sources))

        return await self._seen.get((user, "attachments", model, sees, *turn_key(state)), read)

    async def _reader(self, state: State, runtime: Runtime[RunContext]) -> tuple[RunContext, DriveReader]:
        user = self._deps.user(runtime)
        return user, drive_reader(state, await self._deps.connections.toolbox(user))


def drive_reader(state: State, toolbox: Toolbox) -> DriveReader:
    """Return the reader of the drive around the message, or around the step of a plan."""
    return DriveReader(toolbox, state.get("place", {}), query_of(state))


def query_of(state: State) -> str:
    """Return the present request: the step of a plan, else the message."""
    step = current_step(state)
    return step["instruction"] if step else said_last(state)


def turn_key(state: State) -> tuple[Any, ...]:
    """Return a key that differs between two moments of which the surroundings may differ."""
    return *_step_key(state), len(running_turn(state)["changes"])


def _step_key(state: State) -> tuple[Any, ...]:
    """Return a key of the turn, or of the step of a plan, at its place."""
    turn, step, place = running_turn(state), current_step(state), state.get("place", {})
    return place.get("file_id"), place.get("folder_id"), turn["run_id"], step["id"] if step else None
