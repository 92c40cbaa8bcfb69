"""The calls that one connection waits for: their progress, their time, and the questions of their server."""

import asyncio
import json
import logging
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import ExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from time import monotonic
from typing import Any, Final

from mcp.shared.context import RequestContext
from mcp.shared.session import ProgressFnT
from mcp.types import (
    INVALID_PARAMS,
    ElicitRequestParams,
    ElicitResult,
    ErrorData,
    LoggingMessageNotificationParams,
)

from graph.servers.elicitation.questions import Ask, read_question
from graph.servers.pins import cleaned

logger = logging.getLogger(__name__)

REPORT_SECONDS: Final = 0.1
"""The shortest time between the first two reports of one call's progress."""
REPORTS_UNTIL_TWICE: Final = 10
"""Reports after which the time between two has doubled: a call of a minute has about 100, one of an hour 840."""
MAX_REPORT_CHARACTERS: Final = 500
QUIET_LEVELS: Final = frozenset({"debug"})


class ProgressReports:
    """The progress of one call, and the server's log meanwhile, for the person: cleaned, and ever less often."""

    def __init__(self, report: ProgressFnT, clock: Callable[[], float] = monotonic) -> None:
        self._report = report
        self._clock = clock
        self._not_before = 0.0
        self._reports = 0
        self._progress: tuple[float, float | None] = (0.0, None)

    async def __call__(self, progress: float, total: float | None, message: str | None) -> None:
        """Report progress."""
        self._progress = (progress, total)
        await self.log(message)

    async def log(self, message: str | None) -> None:
        """Report a message, with the progress until now."""
        if self._clock() < self._not_before:
            return
        self._not_before = self._clock() + REPORT_SECONDS * (1 + self._reports / REPORTS_UNTIL_TWICE)
        self._reports += 1
        try:
            await self._report(*self._progress, cleaned(message)[:MAX_REPORT_CHARACTERS] if message else None)
        except Exception:
            # The SDK would log the whole message of the server.
            logger.exception("The progress of a call could not be reported.")


@dataclass(slots=True, eq=False)
class CallInFlight:
    """One call. Its server has `seconds` to answer it, not counted those in which the person is asked."""

    seconds: float
    reports: ProgressReports | None = None
    ask: Ask | None = None
    open_questions: int = 0
    _timeout: asyncio.Timeout | None = None
    _pauses: int = 0
    _left: float = 0.0

    @asynccontextmanager
    async def time(self) -> AsyncGenerator[None]:
        """Let the time run meanwhile. Raises `TimeoutError` when it is over."""
        async with asyncio.timeout(self.seconds) as timeout:
            self._timeout = timeout
            try:
                yield
            finally:
                self._timeout = None

    @contextmanager
    def paused(self) -> Generator[None]:
        """Stop the time meanwhile."""
        self._pause()
        try:
            yield
        finally:
            self._resume()

    def _pause(self) -> None:
        self._pauses += 1
        if self._pauses == 1 and self._timeout and (end := self._timeout.when()) is not None:
            self._left = end - asyncio.get_running_loop().time()
            self._timeout.reschedule(None)

    def _resume(self) -> None:
        self._pauses -= 1
        if self._pauses == 0 and self._timeout and not self._timeout.expired():
            self._timeout.reschedule(asyncio.get_running_loop().time() + self._left)


@dataclass(slots=True, eq=False)
class CallsInFlight:
    """The calls of one connection, in the order in which they were made."""

    _calls: list[CallInFlight] = field(default_factory=list[CallInFlight])
    _asking: set["asyncio.Future[ElicitResult]"] = field(default_factory=set["asyncio.Future[ElicitResult]"])

    @contextmanager
    def making(self, call: CallInFlight) -> Generator[None]:
        """Count a call meanwhile; when the last one ends, nobody is asked any more."""
        self._calls.append(call)
        try:
            yield
        finally:
            self._calls.remove(call)
            for question in () if self._calls else tuple(self._asking):
                question.cancel()

    async def log(self, params: LoggingMessageNotificationParams) -> None:
        """Report a message of the server's log in all calls: it does not say which one it belongs to."""
        if params.level in QUIET_LEVELS:
            return
        text = params.data if isinstance(params.data, str) else json.dumps(params.data, ensure_ascii=False)
        for call in list(self._calls):
            if call.reports:
                await call.reports.log(text)

    async def elicit(self, context: RequestContext[Any, Any], params: ElicitRequestParams) -> ElicitResult | ErrorData:
        """Ask the person; nobody is asked while no call waits.

        No transport says which call a question belongs to: of several it is the newest one without another question.
        The time of all of them stands still meanwhile, as any of them may wait for the answer.
        """
        del context
        asked = sorted((call for call in self._calls if call.ask), key=lambda call: call.open_questions)
        newest = [call for call in asked if call.open_questions == asked[0].open_questions]
        if not newest or not (ask := newest[-1].ask):
            return ElicitResult(action="decline")
        try:
            question = read_question(params)
        except ValueError as error:
            return ErrorData(code=INVALID_PARAMS, message=f"This can't be asked: {error}.")
        task = asyncio.ensure_future(ask(question))
        with ExitStack() as pauses:
            for call in self._calls:
                pauses.enter_context(call.paused())
            pauses.enter_context(_counted(newest[-1]))
            return await self._answer(task)

    async def _answer(self, task: "asyncio.Future[ElicitResult]") -> ElicitResult:
        self._asking.add(task)
        try:
            await asyncio.wait({task})
            return ElicitResult(action="cancel") if task.cancelled() else task.result()
        finally:
            task.cancel()
            self._asking.discard(task)


@contextmanager
def _counted(call: CallInFlight) -> Generator[None]:
    call.open_questions += 1
    try:
        yield
    finally:
        call.open_questions -= 1
