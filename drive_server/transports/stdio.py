"""The drive's MCP server over standard input and output, for hosts that start it themselves."""

import asyncio
import logging
import os
import signal
import sys
from collections.abc import Generator
from contextlib import contextmanager, suppress
from typing import Final

import anyio
from mcp.shared.message import SessionMessage
from mcp.types import INVALID_REQUEST, JSONRPCError, JSONRPCRequest, JSONRPCResponse

from drive_server.connect import open_drive
from drive_server.kernel.errors import TooLargeError
from drive_server.kernel.garbage_collector import freeze_objects
from drive_server.kernel.settings import DriveSettings
from drive_server.kernel.telemetry.setup import log_to
from drive_server.mcp.connection import SessionConnection
from drive_server.mcp.lowlevel import DriveProtocol
from drive_server.mcp.protocol.failures import REQUEST_CANCELLED
from drive_server.mcp.protocol.guard import Guard
from drive_server.mcp.protocol.messages import (
    Batch,
    BatchAnswers,
    MessageError,
    as_error,
    read_messages,
    write_batch,
    write_failure,
    write_message,
)
from drive_server.transports.lines import LineReader, LineWriter, TooLongLine
from drive_server.transports.process import Shutdown

ONLY_KEY: Final = "stdio"
CALLS_END_WITHIN_SECONDS: Final = 4.0
FLUSH_WITHIN_SECONDS: Final = 1.0
SIGNALS: Final = (signal.SIGTERM, signal.SIGINT)


async def serve_stdio(settings: DriveSettings) -> None:
    """Serve one host until it closes standard input, or SIGTERM or Ctrl-C comes.

    Calls are made with the key in `settings.api_key` (DRIVE_API_KEY), or the one given to the `authenticate` tool.
    Standard output belongs to the protocol: logs and prints go to standard error.
    """
    log_to(logging.StreamHandler(sys.stderr), settings.log_level, settings.log_format)
    with standard_streams() as (reading, writing):
        async with open_drive(settings) as drive:
            if settings.is_embedded:
                await drive.identity.ensure_local_user()
            freeze_objects()
            connection = StdioConnection(drive.server.protocol, settings, reading, writing)
            with connection.ended_by_signals():
                await connection.serve()


@contextmanager
def standard_streams() -> Generator[tuple[int, int]]:
    """Keep standard input and output for the protocol: yield private descriptors of both."""
    sys.stdout.flush()
    reading, writing = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.dup2(2, 1)
    try:
        yield reading, writing
    finally:
        sys.stdout.flush()
        os.dup2(reading, 0)
        os.dup2(writing, 1)
        for descriptor in (nothing, reading, writing):
            os.close(descriptor)


class StdioConnection(SessionConnection):
    """The one connection of a process that a host started: a message a line, in UTF-8."""

    def __init__(self, protocol: DriveProtocol, settings: DriveSettings, reading: int, writing: int) -> None:
        self._guard = Guard(settings)
        super().__init__(protocol, self._guard)
        self._most_bytes = settings.max_request_bytes
        self._reader = LineReader(reading, settings.max_request_bytes)
        self._writer = LineWriter(writing)
        self._shutdown = Shutdown()
        self._receiving = anyio.CancelScope()
        self._batches: dict[str, BatchAnswers] = {}

    @contextmanager
    def ended_by_signals(self) -> Generator[None]:
        """Let SIGTERM and Ctrl-C end it while this is open."""
        loop = asyncio.get_running_loop()
        with suppress(NotImplementedError):  # Windows: Ctrl-C ends it as it ends any program
            for number in SIGNALS:
                loop.add_signal_handler(number, self._on_signal, number)
        try:
            yield
        finally:
            with suppress(NotImplementedError):
                for number in SIGNALS:
                    loop.remove_signal_handler(number)

    async def serve(self) -> None:
        """Serve until the host closes its side, or a signal comes; running calls may end."""
        async with anyio.create_task_group() as group:
            group.start_soon(self.run)
            group.start_soon(self._stop_without_host)
            with self._receiving:
                async for line in self._reader.lines():
                    await self._receive_line(line)
            await self._wind_down()
            group.cancel_scope.cancel()
        with anyio.move_on_after(FLUSH_WITHIN_SECONDS):
            await self._writer.flush()

    async def _wind_down(self) -> None:
        self._shutdown.begin()
        self._guard.is_ending = True
        await self.cancel_questions()
        with anyio.move_on_after(CALLS_END_WITHIN_SECONDS):
            await self.admission.wait_idle()
        self.close()

    async def _stop_without_host(self) -> None:
        """Stop when the host reads no answers any more, though its other side may be open."""
        await self._writer.gone.wait()
        self._receiving.cancel()

    def _on_signal(self, number: int) -> None:
        self._shutdown.on_signal(number)
        self._receiving.cancel()

    async def _receive_line(self, line: bytes | TooLongLine) -> None:
        if isinstance(line, TooLongLine):
            error = TooLargeError(
                "This message is too large.",
                hint=f"The limit is {self._most_bytes} bytes.",
                details={"limit": self._most_bytes},
            )
            await self._writer.write(write_failure(None, as_error(INVALID_REQUEST, error)))
        elif line.strip():
            await self._receive_message(line)

    async def _receive_message(self, line: bytes) -> None:
        try:
            message = read_messages(line, takes_batches=self.admission.takes_batches)
        except MessageError as error:
            await self._writer.write(write_failure(error.request_id, error.error))
            return
        if isinstance(message, Batch):
            await self._receive_batch(message)
        elif refusal := await self.receive(message, ONLY_KEY):
            await self._writer.write(write_message(refusal))

    async def _receive_batch(self, batch: Batch) -> None:
        """Pass on its messages; their answers are sent together, once all are there."""
        answers = BatchAnswers()
        for entry in batch.entries:
            if isinstance(entry, MessageError):
                answers.answers.append(write_failure(entry.request_id, entry.error))
            elif not isinstance(entry.root, JSONRPCRequest):
                await self.receive(entry, ONLY_KEY)
            elif refusal := self.admission.admit(entry.root, ONLY_KEY):
                answers.answers.append(write_message(refusal))
            else:
                answers.open += 1
                self._batches[str(entry.root.id)] = answers
                await self.forward(SessionMessage(entry))
        answers.open -= 1
        await self._send_batch(answers)

    async def _send_batch(self, answers: BatchAnswers) -> None:
        if answers.answers and not answers.open:
            await self._writer.write(write_batch(answers.answers))

    async def _deliver(self, message: SessionMessage) -> None:
        root = message.message.root
        is_answer = isinstance(root, JSONRPCResponse | JSONRPCError)
        batch = self._batches.pop(str(root.id), None) if is_answer else None
        # A client that cancels wants no answer (MCP 2025-11-25, basic/utilities/cancellation).
        is_wanted = not (isinstance(root, JSONRPCError) and root.error.code == REQUEST_CANCELLED)
        if batch is not None:
            batch.open -= 1
            batch.answers += [write_message(message.message)] if is_wanted else []
            await self._send_batch(batch)
        elif is_wanted:
            await self._writer.write(write_message(message.message))
