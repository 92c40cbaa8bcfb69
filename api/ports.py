"""What the service needs from the drive and the graph, as protocols: `api/app.py` plugs the real ones in."""

from collections.abc import AsyncGenerator, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from starlette.requests import Request


class Caller(Protocol):
    """Who is calling, as the request's credentials established it."""

    @property
    def user_id(self) -> str:
        """The id of the user."""
        ...

    @property
    def email(self) -> str:
        """The user's email."""
        ...

    @property
    def scopes(self) -> Collection[str]:
        """What the credentials may be used for: read, write, share, delete."""
        ...


class Authenticator(Protocol):
    """Finds out who is calling."""

    async def __call__(self, request: Request) -> Caller:
        """Return the caller; raises the drive's 401 or 403 otherwise."""
        ...


@dataclass(frozen=True, slots=True)
class Place:
    """Where the person is: the ids of the open file and folder, if any."""

    file_id: str | None = None
    folder_id: str | None = None


@dataclass(frozen=True, slots=True)
class RunChange:
    """One thing that a run changed in the drive, by the journal's id."""

    id: int
    tool: str
    summary: str
    item_id: str | None


@dataclass(frozen=True, slots=True)
class RunUndo:
    """What an undo took back (or, in a preview, would), and what it leaves with the reason for each."""

    undone: tuple[RunChange, ...]
    skipped: tuple[dict[str, Any], ...]
    change_id: int | None
    preview: bool


class DrivePort(Protocol):
    """The few things that the service asks the drive directly; errors are the drive's own."""

    async def locate(self, caller: Caller, place: Place) -> Place:
        """Return the place with ids of items that the caller can see; raises the drive's 404 or 422 otherwise."""
        ...

    async def changes(self, user_id: str, run_id: str) -> tuple[RunChange, ...]:
        """Return what a run of this user changed, in order."""
        ...

    async def undo(self, caller: Caller, run_id: str, *, preview: bool) -> RunUndo:
        """Take back what a run changed."""
        ...

    async def check(self) -> None:
        """Raise if the drive can't answer."""
        ...


class Snapshot(Protocol):
    """The state of a thread, as LangGraph's `StateSnapshot` has it."""

    @property
    def values(self) -> Mapping[str, Any]:
        """The channels."""
        ...

    @property
    def tasks(self) -> Sequence[Any]:
        """What is still to do; with their interrupts."""
        ...


class Graph(Protocol):
    """The part of a compiled graph that runs are made of."""

    def astream(self, input: Any, config: Any, **options: Any) -> AsyncGenerator[Any]:  # noqa: A002 - LangGraph's name
        """Run the graph on from where the thread is."""
        ...

    async def aget_state(self, config: Any) -> Snapshot:
        """Return the state of the thread."""
        ...


class GraphPort(Protocol):
    """The graph with what the service has to know about it."""

    @property
    def graph(self) -> Graph:
        """The compiled graph."""
        ...

    @property
    def text_nodes(self) -> frozenset[str]:
        """The nodes whose model's text is the assistant's answer."""
        ...

    def context(self, user_id: str, email: str, scopes: Sequence[str]) -> Any:
        """Return the run context for a caller."""
        ...

    def expired(self, payload: Mapping[str, Any]) -> Any:
        """Return what the interrupt is resumed with when nobody decided in time."""
        ...

    def check_edit(self, payload: Mapping[str, Any], tool_call_id: str, args: Mapping[str, Any]) -> str | None:
        """Return what is wrong with edited arguments, None if they fit the tool."""
        ...

    def failure(self, error: Exception) -> tuple[str, str, bool]:
        """Return an error as (code, sentence, whether trying again may help)."""
        ...

    async def forget(self, thread_id: str) -> None:
        """Delete the thread's checkpoints."""
        ...

    async def check(self) -> None:
        """Raise if the graph's own storage can't answer."""
        ...
