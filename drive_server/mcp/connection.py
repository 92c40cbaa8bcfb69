"""One client's connection, whatever its transport: what it says is let in by the guard, what it is told is counted."""

from abc import ABC, abstractmethod
from types import TracebackType
from typing import Final, Self

import anyio
from mcp.shared.message import ServerMessageMetadata, SessionMessage
from mcp.types import (
    CONNECTION_CLOSED,
    ErrorData,
    JSONRPCError,
    JSONRPCMessage,
    JSONRPCRequest,
    JSONRPCResponse,
    RequestId,
)

from drive_server.mcp.lowlevel import DriveProtocol
from drive_server.mcp.protocol.guard import Admission, Guard
from drive_server.mcp.protocol.messages import VERSION

MOST_UNREAD: Final = 16


class Connection(ABC):
    """The session's side of a transport: it is the stream that the session writes to.

    Writing in the task of whoever has something to say, and not in one of the transport's, a slow client holds up
    only the call that is for it.
    """

    def __init__(self, protocol: DriveProtocol, guard: Guard) -> None:
        self.admission: Admission = guard.admission()
        self._protocol = protocol
        self._questions: set[RequestId] = set()
        self._inbox, self._reading = anyio.create_memory_object_stream[SessionMessage | Exception](MOST_UNREAD)

    async def run(self) -> None:
        """Serve the client until `close`."""
        await self._protocol.run(self._reading, self, self._protocol.create_initialization_options())

    def close(self) -> None:
        """Let the session end; calls that are going on are cancelled."""
        self._inbox.close()

    async def receive(
        self, message: JSONRPCMessage, key: str, metadata: ServerMessageMetadata | None = None
    ) -> JSONRPCMessage | None:
        """Pass on what the client says, with the key that it uses; return what to answer if it is not let in."""
        root = message.root
        if isinstance(root, JSONRPCRequest):
            if refusal := self.admission.admit(root, key):
                return refusal
        elif isinstance(root, JSONRPCResponse | JSONRPCError):
            self._questions.discard(root.id)
        await self.pass_on(SessionMessage(message, metadata))
        return None

    async def pass_on(self, message: SessionMessage) -> bool:
        """Hand the session a message that was let in; return whether it still is there to take it."""
        try:
            # What was let in is handed over, whoever is cancelled: it would never be answered. It takes no time.
            with anyio.CancelScope(shield=True):
                await self._inbox.send(message)
        except (anyio.ClosedResourceError, anyio.BrokenResourceError):
            return False
        return True

    async def give_up_questions(self) -> None:
        """Answer what the client was asked and has not answered: it will not any more."""
        for question in list(self._questions):
            self._questions.discard(question)
            gone = ErrorData(code=CONNECTION_CLOSED, message="The connection is being closed.")
            await self.pass_on(SessionMessage(JSONRPCMessage(JSONRPCError(jsonrpc=VERSION, id=question, error=gone))))

    async def send(self, message: SessionMessage) -> None:
        """Tell the client something. Part of the stream that the session writes to."""
        root = message.message.root
        if isinstance(root, JSONRPCRequest):
            self._questions.add(root.id)
        await self._deliver(message)
        if isinstance(root, JSONRPCResponse | JSONRPCError):
            self.admission.answered(root)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Part of the stream that the session writes to: it says no more, which the transport sees by itself."""
        del kind, error, trace

    @abstractmethod
    async def _deliver(self, message: SessionMessage) -> None:
        """Bring the message to the client, or keep it for it."""
