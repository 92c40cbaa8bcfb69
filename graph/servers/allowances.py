"""The requests that a server may make of its client: nothing, unless its person allows it for that server.

Other abilities are not announced to the server, and a request for them is refused.
"""

from pathlib import Path
from typing import Any, Final

from mcp.client.session import ListRootsFnT, SamplingFnT
from mcp.shared.context import RequestContext
from mcp.types import (
    INVALID_PARAMS,
    INVALID_REQUEST,
    CreateMessageRequestParams,
    CreateMessageResult,
    CreateMessageResultWithTools,
    ErrorData,
    ListRootsResult,
    Root,
)
from pydantic import FileUrl

from drive_server.kernel.rate_limiter import SlidingWindow
from graph.servers.definition import ServerDefinition

MAX_TOKENS: Final = 2_000
"""Tokens of one answer of the model."""
MAX_CHARACTERS: Final = 100_000
"""Characters of one request to the model."""


def sampling_for(definition: ServerDefinition, model: SamplingFnT | None, rate: SlidingWindow) -> SamplingFnT | None:
    """Return the function that asks the model for a server, within limits; None if its person does not allow that.

    The model sees the server's messages, and nothing else.
    """
    if model is None or "sampling" not in definition.allows:
        return None

    async def sample(
        context: RequestContext[Any, Any], params: CreateMessageRequestParams
    ) -> CreateMessageResult | CreateMessageResultWithTools | ErrorData:
        if params.tools:
            return ErrorData(code=INVALID_REQUEST, message="The model has no tools here.")
        if len(params.model_dump_json()) > MAX_CHARACTERS:
            return ErrorData(code=INVALID_PARAMS, message=f"More than {MAX_CHARACTERS} characters.")
        key = f"{definition.user_id}\0{definition.id}"
        if seconds := rate.wait_seconds(key):
            return ErrorData(code=INVALID_REQUEST, message=f"Too many requests. Wait {seconds} seconds.")
        rate.count(key)
        most = min(params.maxTokens, MAX_TOKENS)
        return await model(context, params.model_copy(update={"maxTokens": most}))

    return sample


def roots_for(definition: ServerDefinition, folder: Path) -> ListRootsFnT | None:
    """Return the function that names the working directory of a program to it; None if its person does not allow that.

    A server elsewhere hears of no directory of this machine.
    """
    if "roots" not in definition.allows:
        return None

    own = [Root(uri=FileUrl(folder.absolute().as_uri()), name="working directory")]

    async def roots(context: RequestContext[Any, Any]) -> ListRootsResult | ErrorData:
        del context
        return ListRootsResult(roots=own if definition.type == "stdio" else [])

    return roots
