"""The host's language model, asked by MCP sampling (MCP 2025-11-25, client/sampling)."""

from typing import Any, Final

import anyio
from mcp.server.session import ServerSession
from mcp.shared.exceptions import McpError
from mcp.shared.message import ServerMessageMetadata
from mcp.types import (
    CONNECTION_CLOSED,
    INVALID_PARAMS,
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    CreateMessageRequest,
    CreateMessageRequestParams,
    CreateMessageResult,
    RequestId,
    SamplingMessage,
    ServerRequest,
    TextContent,
)
from pydantic import ValidationError

from drive_server.mcp.sdk import cancel_request, next_request_id
from drive_server.services.map_reduce.language_model import (
    ModelBusyError,
    ModelDeclinedError,
    ModelError,
    ModelLostError,
)

REJECTED: Final = -1
"""The code of a host's answer when its person says no (MCP 2025-11-25, client/sampling, "Error Handling")."""
NOBODY: Final = frozenset({CONNECTION_CLOSED, INVALID_REQUEST, METHOD_NOT_FOUND})


class HostModel:
    """The model of the host behind a session; `request_id` is that of the call, None for a task.

    `meta` goes along with each request.

    Hosts may answer one request after another, and ask their person about each. So the time runs for all of them
    together: only `silent_seconds` without any answer mean that no more will come.
    """

    def __init__(
        self, session: ServerSession, request_id: RequestId | None, silent_seconds: float, **meta: Any
    ) -> None:
        self.name = "the host's model"
        self._session = session
        self._request_id = request_id
        self._silent_seconds = silent_seconds
        self._meta = meta
        self._waiting: set[anyio.CancelScope] = set()

    async def complete(self, system: str, text: str, max_tokens: int) -> str:
        """Return the answer.

        Raises `ModelDeclinedError` if the person said no, `ModelLostError` if the host is gone, silent, or has no
        model, and `ModelBusyError` for any other failure and for an answer that is no text.
        """
        answer = await self._asked(system, text, max_tokens)
        self.name = answer.model.strip()[:100] or self.name
        said = answer.content.text.strip() if isinstance(answer.content, TextContent) else ""
        if answer.role != "assistant" or not said:
            raise ModelBusyError("the host's model gave no text")
        return said

    async def _asked(self, system: str, text: str, max_tokens: int) -> CreateMessageResult:
        asked = next_request_id(self._session)
        request = self._request(system, text, max_tokens)
        scope = anyio.CancelScope(deadline=anyio.current_time() + self._silent_seconds)
        self._waiting.add(scope)
        try:
            with scope:
                metadata = ServerMessageMetadata(related_request_id=self._request_id)
                return await self._session.send_request(request, CreateMessageResult, metadata=metadata)
        except anyio.get_cancelled_exc_class():
            await cancel_request(self._session, asked, self._request_id)
            raise
        except McpError as error:
            raise _failure(error) from error
        except ValidationError as error:
            raise ModelBusyError("the host's answer can't be understood") from error
        except (anyio.BrokenResourceError, anyio.ClosedResourceError) as error:
            raise ModelLostError("the host is gone") from error
        finally:
            self._waiting.discard(scope)
            if not scope.cancelled_caught:
                self._be_patient()
        await cancel_request(self._session, asked, self._request_id)
        raise ModelLostError("the host's model did not answer in time")

    def _request(self, system: str, text: str, max_tokens: int) -> ServerRequest:
        message = SamplingMessage(role="user", content=TextContent(type="text", text=text))
        params = CreateMessageRequestParams(messages=[message], systemPrompt=system, maxTokens=max_tokens)
        if self._meta:
            params.meta = CreateMessageRequestParams.Meta(**self._meta)
        return ServerRequest(CreateMessageRequest(params=params))

    def _be_patient(self) -> None:
        deadline = anyio.current_time() + self._silent_seconds
        for scope in self._waiting:
            scope.deadline = deadline


def can_sample(session: ServerSession) -> bool:
    """Return whether the host lends its model (MCP 2025-11-25, client/sampling, "Capabilities")."""
    client = session.client_params
    return client is not None and client.capabilities.sampling is not None


def _failure(error: McpError) -> ModelError:
    code = error.error.code
    if code == REJECTED:
        return ModelDeclinedError("the person at the host does not want its model to be used for this")
    if code in NOBODY:
        return ModelLostError("the host has no model to lend, or is gone")
    if code == INVALID_PARAMS:
        return ModelError("the host's model does not take this text")
    return ModelBusyError("the host's model failed")
