"""One client's connection over any transport: the guard admits its requests, and counts their answers."""

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

MAX_UNREAD: Final = 16


class SessionConnection(ABC):
    """The session's side of a transport: the stream that the session writes to."""

    def __init__(self, protocol: DriveProtocol, guard: Guard) -> None:
        self.admission: Admission = guard.admission()
        self._protocol = protocol
        self._questions: set[RequestId] = set()
        self._inbox, self._reading = anyio.create_memory_object_stream[SessionMessage | Exception](MAX_UNREAD)

    async def run(self) -> None:
        """Serve the client until `close`."""
        await self._protocol.run(self._reading, self, self._protocol.create_initialization_options())

    def close(self) -> None:
        """Let the session end; calls that are going on are cancelled."""
        self._inbox.close()

    async def receive(
        self, message: JSONRPCMessage, key: str, metadata: ServerMessageMetadata | None = None
    ) -> JSONRPCMessage | None:
        """Forward a message of the client, which uses the key; return the answer if the guard refuses it."""
        root = message.root
        if isinstance(root, JSONRPCRequest):
            if refusal := self.admission.admit(root, key):
                return refusal
        elif isinstance(root, JSONRPCResponse | JSONRPCError):
            self._questions.discard(root.id)
        await self.forward(SessionMessage(message, metadata))
        return None

    async def forward(self, message: SessionMessage) -> bool:
        """Give the session a message that the guard admitted; return False if the session has ended."""
        try:
            # A message that was let in is handed over, whoever is cancelled: else nobody answers it. It takes no time.
            with anyio.CancelScope(shield=True):
                await self._inbox.send(message)
        except (anyio.ClosedResourceError, anyio.BrokenResourceError):
            return False
        return True

    async def cancel_questions(self) -> None:
        """Answer the open questions to the client with an error: it will not answer them any more."""
        for question in list(self._questions):
            self._questions.discard(question)
            gone = ErrorData(code=CONNECTION_CLOSED, message="The connection is being closed.")
            await self.forward(SessionMessage(JSONRPCMessage(JSONRPCError(jsonrpc=VERSION, id=question, error=gone))))

    async def send(self, message: SessionMessage) -> None:
        """Send the client a message. Part of the stream that the session writes to."""
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
        """Part of the stream that the session writes to: the session has ended, which the transport sees by itself."""
        del kind, error, trace

    @abstractmethod
    async def _deliver(self, message: SessionMessage) -> None:
        """Send the message to the client, or store it until the client comes back."""
