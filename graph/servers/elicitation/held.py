"""Calls that go on in this process while their run waits for a person, as their server has asked something.

Such a call is never sent a second time: the run that asks is resumed, finds it here, and hands the answer over. It is
given up with its run, with its connection, and when `most_seconds` are over.
"""

import asyncio
from collections.abc import Callable, Coroutine, Iterable, Mapping
from contextvars import Context
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any, Final, Literal

from mcp.shared.session import ProgressFnT
from mcp.types import ElicitResult

from graph.servers.elicitation.questions import MAX_QUESTIONS, Question

Note = Literal["unattended", "too_many", "declined", "expired"]
YIELD_SECONDS: Final = 1.0
"""The wait for a call whose server asks something in another call of the same run: it may be this one that waits."""


@dataclass(frozen=True, slots=True)
class CallKey:
    """One call of one run. `server` is its person and server: calls of one may share a connection."""

    run_id: str
    tool_call_id: str
    server: tuple[str, str] = ("", "")


@dataclass(slots=True, eq=False)
class OpenQuestion:
    """A question that waits for its answer. `problem` is why an earlier answer could not be used, for the person."""

    question: Question
    answer: "asyncio.Future[ElicitResult]"
    problem: str = ""

    def give(self, result: ElicitResult) -> None:
        """Hand the answer over, unless there is one."""
        if not self.answer.done():
            self.answer.set_result(result)


@dataclass(frozen=True, slots=True)
class Shown:
    """A question as it is shown by a task of the graph: its approval, and the value of the interrupt."""

    task_id: str
    asked: OpenQuestion
    approval: Mapping[str, Any]
    payload: Mapping[str, Any]


@dataclass(slots=True, eq=False)
class HeldCall:
    """One call that is made in a task of its own. `notes` are the outcomes of questions without an answer.

    `tasks` are the tasks of the graph that have asked: each asks once, as a resumed task begins from its top.
    """

    key: CallKey
    attended: bool
    notes: list[Note] = field(default_factory=list[Note])
    tasks: set[str] = field(default_factory=set[str])
    open: OpenQuestion | None = None
    shown: Shown | None = None
    on_progress: ProgressFnT | None = None
    begun: float = field(default_factory=perf_counter)
    contents: dict[str, Mapping[str, Any]] = field(default_factory=dict[str, Mapping[str, Any]])
    changed: asyncio.Event = field(default_factory=asyncio.Event)
    _questions: int = 0
    _one_at_a_time: asyncio.Lock = field(default_factory=asyncio.Lock)
    _on_question: Callable[[], None] = lambda: None
    _task: "asyncio.Task[Any] | None" = None

    def start(self, work: Coroutine[Any, Any, Any], on_question: Callable[[], None], most_seconds: float) -> None:
        """Make the call."""

        async def bounded() -> Any:
            async with asyncio.timeout(most_seconds):
                return await work

        self._on_question = on_question
        # A context of its own: the call may outlive the run's task that begins it.
        self._task = asyncio.create_task(bounded(), name="held-call", context=Context())

    @property
    def task(self) -> "asyncio.Task[Any]":
        """Return the task that makes the call."""
        assert self._task  # noqa: S101 - nobody gets the call before it is started
        return self._task

    async def ask(self, question: Question) -> ElicitResult:
        """Return the person's answer, once it is there; one question after the other."""
        if not self.attended or self._questions >= MAX_QUESTIONS:
            self.notes.append("too_many" if self.attended else "unattended")
            return ElicitResult(action="decline")
        self._questions += 1
        async with self._one_at_a_time:
            self.open = asked = OpenQuestion(question, asyncio.get_running_loop().create_future())
            self._on_question()
            try:
                return await asked.answer
            finally:
                self.open = None

    async def progress(self, progress: float, total: float | None, message: str | None) -> None:
        """Report progress to the run, while it is at work."""
        if self.on_progress:
            await self.on_progress(progress, total, message)

    def drop(self) -> None:
        """Give the call up: its server hears that the question is over, and that nobody waits."""
        if self.open:
            self.open.give(ElicitResult(action="cancel"))
        self.task.cancel()


class HeldCalls:
    """The calls of all runs of this process that are under way."""

    def __init__(self) -> None:
        self._calls: dict[tuple[str, str], HeldCall] = {}
        self._asking: dict[str, HeldCall] = {}

    def __len__(self) -> int:
        return len(self._calls)

    def get(self, run_id: str, tool_call_id: str) -> HeldCall | None:
        """Return a call that is under way, or whose outcome was not taken yet."""
        return self._calls.get((run_id, tool_call_id))

    def start(
        self,
        key: CallKey,
        make: Callable[[HeldCall], Coroutine[Any, Any, Any]],
        *,
        attended: bool,
        most_seconds: float,
    ) -> HeldCall:
        """Make a call; nobody is asked for it unless the run is `attended`."""
        call = self._calls[key.run_id, key.tool_call_id] = HeldCall(key, attended)
        call.start(make(call), lambda: self._wake(key.run_id), most_seconds)
        return call

    def claim(self, call: HeldCall) -> bool:
        """Say whether this call may ask now: of the calls of one run one asks at a time."""
        asking = self._asking.setdefault(call.key.run_id, call)
        return asking is call

    def release(self, call: HeldCall) -> None:
        """Let another call of the run ask."""
        if self._asking.get(call.key.run_id) is call:
            del self._asking[call.key.run_id]

    async def wait(self, call: HeldCall) -> None:
        """Return when the call has ended, when its server asks something, or when it may have asked in another call.

        That other call is of the same run and the same server, which does not say which one it asks in.
        """
        while not (call.task.done() or call.open):
            if any(other.open for other in self._mates(call)):
                await asyncio.wait({call.task}, timeout=YIELD_SECONDS)
                return
            call.changed.clear()
            changed = asyncio.ensure_future(call.changed.wait())
            try:
                await asyncio.wait({call.task, changed}, return_when=asyncio.FIRST_COMPLETED)
            finally:
                changed.cancel()

    def forget(self, call: HeldCall) -> None:
        """Forget a call whose outcome was taken."""
        self.release(call)
        self._calls.pop((call.key.run_id, call.key.tool_call_id), None)

    def drop(self, call: HeldCall) -> None:
        """Give a call up."""
        call.drop()
        self.forget(call)

    def drop_run(self, run_id: str) -> None:
        """Give up all calls of a run that is over."""
        for call in [call for call in self._calls.values() if call.key.run_id == run_id]:
            self.drop(call)

    async def aclose(self) -> None:
        """Give up all calls, and wait until each has ended."""
        calls = list(self._calls.values())
        for call in calls:
            self.drop(call)
        await asyncio.gather(*(call.task for call in calls), return_exceptions=True)

    def _mates(self, call: HeldCall) -> Iterable[HeldCall]:
        same = call.key.run_id, call.key.server
        return (one for one in self._calls.values() if one is not call and (one.key.run_id, one.key.server) == same)

    def _wake(self, run_id: str) -> None:
        for call in self._calls.values():
            if call.key.run_id == run_id:
                call.changed.set()
