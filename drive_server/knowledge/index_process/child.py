"""The service's end of the process of the index: it starts the process, and passes messages to and from it."""

import asyncio
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from contextvars import Context
from typing import Any, Final

import anyio
import anyio.to_thread

from drive_server.knowledge.index_process.calls import LARGE_BYTES, LENGTH, Peer, unpacked
from drive_server.knowledge.process import child_environment

MODULE: Final = "drive_server.knowledge.index_process.worker"
NAME: Final = "index"
BUFFER_BYTES: Final = 1 << 20
END_SECONDS: Final = 5.0
"""How long a process that is to end may take for it."""


class Child:
    """A running process of the index. `peer` calls it."""

    def __init__(
        self,
        process: Process,
        methods: Mapping[str, Callable[..., Awaitable[Any]]],
        notices: Mapping[str, Callable[..., None]],
    ) -> None:
        assert process.stdin is not None  # noqa: S101 - both are pipes
        assert process.stdout is not None  # noqa: S101
        self._process = process
        self._requests, self._answers = process.stdin, process.stdout
        self.peer = Peer(self._requests.write, methods, notices)
        # Not in the context of whoever happens to be the first to call.
        self._reading = asyncio.create_task(self._read(), name="index-answers", context=Context())

    @property
    def is_running(self) -> bool:
        """True until the process has ended or was killed."""
        return not self.peer.is_closed

    @property
    def process_id(self) -> int:
        """The number that the system has for the process."""
        return self._process.pid

    def kill(self) -> None:
        """Kill the process, which runs; callers that wait for it get `ProcessCrashedError`."""
        self.peer.close()
        with suppress(ProcessLookupError):
            self._process.kill()

    async def end(self) -> None:
        """End the process, which does no more work."""
        with anyio.CancelScope(shield=True):
            self._requests.close()
            with anyio.move_on_after(END_SECONDS) as late:
                await self.ended()
            if late.cancelled_caught:
                self.kill()
                await self.ended()

    async def ended(self) -> int:
        """Wait until the process has ended; return its exit status."""
        await asyncio.wait({self._reading})
        return await self._process.wait()

    async def _read(self) -> None:
        """Take messages until the process ends."""
        try:
            with suppress(asyncio.IncompleteReadError, ConnectionError):
                while True:
                    (size,) = LENGTH.unpack(await self._answers.readexactly(LENGTH.size))
                    body = await self._answers.readexactly(size)
                    message = await anyio.to_thread.run_sync(unpacked, body) if size > LARGE_BYTES else unpacked(body)
                    self.peer.receive(message)
        finally:
            self.peer.close()


async def start(
    variables: Mapping[str, str],
    methods: Mapping[str, Callable[..., Awaitable[Any]]],
    notices: Mapping[str, Callable[..., None]],
) -> Child:
    """Start the process, with these variables in its environment. Raises `OSError`."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        MODULE,
        NAME,
        env={**variables, **child_environment()},
        stdin=PIPE,
        stdout=PIPE,
        limit=BUFFER_BYTES,
    )
    return Child(process, methods, notices)
