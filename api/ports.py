"""What the service needs from the drive and the graph, as protocols: `api/app.py` plugs the real ones in."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal, Protocol

from langgraph.types import Interrupt
from starlette.requests import Request

from graph.link_filter import LinkFilter

Mode = Literal["attended", "unattended"]


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
    """One thing that a run changed in the drive, by the journal's id.

    `tool_call_id` is the model's call, `approved_by` (an email), `approval_id` and `grant_id` what allowed it;
    `versions` are the contents that it made: file id, number before (None: a new file) and after. `undone_by` is the
    change that took it back.
    """

    id: int
    tool: str
    summary: str
    item_id: str | None
    action: str = ""
    at: datetime | None = None
    tool_call_id: str | None = None
    approved_by: str | None = None
    approval_id: str | None = None
    grant_id: str | None = None
    undone_by: int | None = None
    messages: Mapping[str, Any] = field(default_factory=dict[str, Any])
    versions: tuple[Mapping[str, Any], ...] = ()


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

    async def undo(
        self, caller: Caller, run_ids: Sequence[str], change_id: int | None = None, *, preview: bool
    ) -> RunUndo:
        """Take back what the runs changed, as one change; or only the change of that id."""
        ...

    async def redo(self, caller: Caller, run_id: str, *, preview: bool) -> RunUndo:
        """Do again what was taken back of a run; what is done again is in `undone`."""
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


class Output(Protocol):
    """What a run of the graph came to, as LangGraph's `GraphOutput` has it."""

    @property
    def value(self) -> Mapping[str, Any] | None:
        """The channels; None if there was nothing to do."""
        ...

    @property
    def interrupts(self) -> Sequence[Interrupt]:
        """What it waits for."""
        ...


class Graph(Protocol):
    """The part of a compiled graph that runs are made of."""

    async def ainvoke(self, input: Any, config: Any, **options: Any) -> Output:  # noqa: A002 - LangGraph's name
        """Run the graph on from where the thread is."""
        ...

    async def aget_state(self, config: Any) -> Snapshot:
        """Return the state of the thread."""
        ...


@dataclass(frozen=True, slots=True)
class GrantInfo:
    """What a person lets the assistant do unasked: kinds of action in folders (by id), so long and so many items."""

    grant_id: str
    kinds: tuple[str, ...]
    folder_ids: tuple[str, ...]
    max_items: int
    used: int
    until: datetime
    given_at: datetime
    approval_id: str


@dataclass(frozen=True, slots=True)
class ModelCall:
    """One request to a model in a run: the answer's id, and what was sent, put together from what was noted of it.

    `tokens` is what that was estimated to take; `reported` is what the service said, None if it said nothing.
    """

    message_id: str
    messages: tuple[Mapping[str, Any], ...]
    tokens: int
    reported: int | None


class MemoryPort(Protocol):
    """What is remembered: facts about a person, long results, and what models saw."""

    async def facts(self, caller: Caller) -> Sequence[Mapping[str, Any]]:
        """Return the caller's facts, the newest first, without those of files in the trash."""
        ...

    async def fact(self, caller: Caller, fact_id: str) -> Mapping[str, Any] | None:
        """Return one of the caller's facts."""
        ...

    async def edit(self, caller: Caller, fact_id: str, text: str) -> Mapping[str, Any] | None:
        """Give a fact of the caller another text; None if there is no such fact."""
        ...

    async def forget(self, caller: Caller, fact_id: str) -> bool:
        """Forget a fact of the caller for good; False if there is no such fact."""
        ...

    async def seen(self, user_id: str, thread_id: str, run_id: str) -> Sequence[ModelCall]:
        """Return what the models of a run were sent, in order."""
        ...

    async def result(self, user_id: str, thread_id: str, reference: str) -> str | None:
        """Return a long result of the thread in full."""
        ...


class GraphPort(Protocol):
    """The graph with what the service has to know about it."""

    @property
    def graph(self) -> Graph:
        """The compiled graph."""
        ...

    @property
    def memory(self) -> MemoryPort:
        """What is remembered."""
        ...

    def context(self, user_id: str, email: str, scopes: Sequence[str], mode: Mode) -> Any:
        """Return the run context for a caller."""
        ...

    def link_filter(self, message: str) -> LinkFilter:
        """Return the link filter for the answer to a message."""
        ...

    def expired(self, payload: Mapping[str, Any]) -> Any:
        """Return what the interrupt is resumed with when nobody decided in time."""
        ...

    def check_edit(self, payload: Mapping[str, Any], tool_call_id: str, args: Mapping[str, Any]) -> str | None:
        """Return what is wrong with edited arguments, None if they fit the tool."""
        ...

    def check_grant(self, payload: Mapping[str, Any], tool_call_id: str, grant: Mapping[str, Any]) -> str | None:
        """Return why a grant can't be given with an approval of that action, None if it can."""
        ...

    async def grants(self, user_id: str) -> Sequence[GrantInfo]:
        """Return what the person lets the assistant do unasked now, the newest first."""
        ...

    async def withdraw_grant(self, user_id: str, grant_id: str) -> bool:
        """End a grant of the person now; False if they have none of that id."""
        ...

    def failure(self, error: Exception) -> tuple[str, str, bool]:
        """Return an error as (code, sentence, whether trying again may help)."""
        ...

    async def saved(self, thread_id: str) -> None:
        """Return when all that a thread came to is on disk; raises if something of it can't be stored."""
        ...

    async def settle(self, thread_id: str) -> None:
        """Make what a run left in the thread's checkpoints small, now that it is over."""
        ...

    async def forget(self, user_id: str, thread_id: str) -> None:
        """Delete all that the graph keeps of a user's thread."""
        ...

    async def check(self) -> None:
        """Raise if the graph's own storage can't answer."""
        ...
