"""Calls between two processes: each side calls the other by numbers, so that one call does not wait for another.

A message is the length of its pickle and the pickle. A call of which the caller's task is cancelled is cancelled too.
"""

import asyncio
import pickle
import struct
import traceback
from collections.abc import Awaitable, Callable, Mapping
from contextvars import Context
from dataclasses import dataclass
from itertools import count
from typing import Any, Final

import anyio
import anyio.to_thread

from drive_server.kernel.errors import DriveError
from drive_server.kernel.telemetry.faults import trace_of
from drive_server.knowledge.embedding.vectors import EmbedderUnavailableError
from drive_server.knowledge.process import ProcessCrashedError

LENGTH: Final = struct.Struct("!Q")
LARGE_BYTES: Final = 1 << 18
"""From this size on a message is read in a thread: it takes milliseconds."""

CROSSING: Final = (DriveError, EmbedderUnavailableError)
"""Errors that cross as they are; of others but `ValueError` only the text does, as their classes need not pickle."""

CANCEL_SECONDS: Final = 2.0
"""The longest wait for a call to be cancelled."""


@dataclass(frozen=True, slots=True)
class Call:
    """A call of a method, to be answered under its number."""

    number: int
    method: str
    arguments: tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Cancellation:
    """The caller of a call waits no more."""

    number: int


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer to a call: a value, or an error with its trace."""

    number: int
    value: Any = None
    error: Exception | None = None
    trace: str = ""
    way: str = ""


@dataclass(frozen=True, slots=True)
class Notice:
    """A call that needs no answer."""

    method: str
    arguments: tuple[Any, ...]


Received = Call | Cancellation | Answer | Notice


class OtherProcessError(Exception):
    """The trace of an error in the other process, as the cause of the error here; `log_sentence` is without words."""

    def __init__(self, trace: str, way: str) -> None:
        super().__init__(f"\n{trace}")
        self.log_sentence = way


def way_of(error: BaseException) -> str:
    """Return the way to an error in one line, without its words, which may quote contents."""
    return " | ".join(line.strip() for line in trace_of(error))


class Peer:
    """The other process: calls it by number, and answers its calls. For one event loop.

    `send` writes a message at once or buffers it. `methods` answer calls, `notices` hear of messages that need no
    answer.
    """

    def __init__(
        self,
        send: Callable[[bytes], None],
        methods: Mapping[str, Callable[..., Awaitable[Any]]],
        notices: Mapping[str, Callable[..., None]],
    ) -> None:
        self._send = send
        self._methods = methods
        self._notices = notices
        self._numbers = count()
        self._waiting: dict[int, asyncio.Future[Any]] = {}
        self._working: dict[int, asyncio.Task[None]] = {}
        self.is_closed = False
        """True once the other process has ended."""

    async def call(self, method: str, *arguments: Any, is_large: bool = False) -> Any:
        """Return the answer of a method of the other process.

        `is_large`: the arguments take milliseconds to pickle. Raises `ProcessCrashedError` if there is no answer.
        """
        call = Call(next(self._numbers), method, arguments)
        message = await anyio.to_thread.run_sync(packed, call) if is_large else packed(call)
        if self.is_closed:
            raise ProcessCrashedError
        answer = self._waiting[call.number] = asyncio.get_running_loop().create_future()
        self._send(message)
        try:
            return await asyncio.shield(answer)
        except asyncio.CancelledError:
            if not answer.done():
                self._send(packed(Cancellation(call.number)))
                await _ended(answer)
            raise

    def tell(self, method: str, *arguments: Any) -> None:
        """Tell the other process something that needs no answer."""
        if not self.is_closed:
            self._send(packed(Notice(method, arguments)))

    def receive(self, message: Received) -> None:
        """Take a message of the other process."""
        match message:
            case Answer():
                self._settle(message)
            case Call():
                # The caller's own context is in the other process.
                task = asyncio.create_task(self._answer(message), name=f"index-{message.method}", context=Context())
                self._working[message.number] = task
            case Cancellation():
                if message.number in self._working:
                    self._working[message.number].cancel()
            case Notice():
                self._notices[message.method](*message.arguments)

    def close(self) -> None:
        """Note that the other process has ended."""
        self.is_closed = True
        for task in self._working.values():
            task.cancel()
        for answer in self._waiting.values():
            if not answer.done():
                answer.set_exception(ProcessCrashedError())
                answer.exception()  # somebody may wait no more
        self._waiting.clear()

    def _settle(self, message: Answer) -> None:
        answer = self._waiting.pop(message.number, None)
        if answer is None or answer.done():
            return
        if message.error is not None:
            message.error.__cause__ = OtherProcessError(message.trace, message.way)
            answer.set_exception(message.error)
            answer.exception()  # somebody may wait no more
        else:
            answer.set_result(message.value)

    async def _answer(self, call: Call) -> None:
        try:
            answer = Answer(call.number, await self._methods[call.method](*call.arguments))
        except asyncio.CancelledError:
            answer = Answer(call.number, error=ProcessCrashedError())
        except Exception as error:  # noqa: BLE001 - the caller decides
            trace = "".join(traceback.format_exception(error))
            answer = Answer(call.number, error=_portable(error), trace=trace, way=way_of(error))
        finally:
            self._working.pop(call.number, None)
        if not self.is_closed:
            self._send(packed(answer))


def packed(message: Received) -> bytes:
    """Return the bytes of a message."""
    body = pickle.dumps(message, pickle.HIGHEST_PROTOCOL)
    return LENGTH.pack(len(body)) + body


def unpacked(body: bytes) -> Received:
    """Return the message in a body that follows its length."""
    message: Received = pickle.loads(body)  # noqa: S301 - from our own process
    return message


def _portable(error: Exception) -> Exception:
    if isinstance(error, CROSSING):
        return error
    return ValueError(str(error)) if isinstance(error, ValueError) else RuntimeError(f"{type(error).__name__}: {error}")


async def _ended(answer: "asyncio.Future[Any]") -> None:
    """Wait a moment for the other process to note a cancellation: it must not write any more."""
    with anyio.CancelScope(shield=True):
        await asyncio.wait({answer}, timeout=CANCEL_SECONDS)
