"""Results and errors as this revision has them."""

from collections.abc import Mapping
from typing import Any, Final

from mcp.types import INVALID_PARAMS, ErrorData

from drive_server.mcp.protocol.failures import RESOURCE_NOT_FOUND
from drive_server.mcp.protocol.revisions import RESERVED

SERVER_KEY: Final = f"{RESERVED}serverInfo"
TYPE: Final = "resultType"
COMPLETE: Final = "complete"
INPUT_REQUIRED: Final = "input_required"
TASK: Final = "task"
MINUTE: Final = 60_000
HOUR: Final = 60 * MINUTE
# How long a client may keep a result, in milliseconds, and whether it is the same for everybody. Cursors are one's own.
CACHED: Final[dict[str, tuple[int, str]]] = {
    "server/discover": (HOUR, "public"),
    "tools/list": (MINUTE, "private"),
    "prompts/list": (HOUR, "private"),
    "resources/templates/list": (HOUR, "private"),
    "resources/list": (0, "private"),
    "resources/read": (0, "private"),
}


def shown(method: str, result: dict[str, Any], server: dict[str, Any]) -> dict[str, Any]:
    """Return the result of a request, made as for 2025-11-25, with the fields that this revision adds."""
    if method == "tools/list":
        for tool in result["tools"]:
            tool.pop("execution", None)  # which calls become tasks is the server's choice here
    more: dict[str, Any] = {TYPE: result.get(TYPE, COMPLETE)}
    if method in CACHED and more[TYPE] == COMPLETE:
        more["ttlMs"], more["cacheScope"] = CACHED[method]
    return {**result, **more, "_meta": {**result.get("_meta", {}), SERVER_KEY: server}}


def shown_error(error: ErrorData, params: Mapping[str, Any]) -> ErrorData:
    """Return the error with a number that this revision has."""
    if error.code != RESOURCE_NOT_FOUND:
        return error
    data = error.data if isinstance(error.data, dict) else {}
    return ErrorData(code=INVALID_PARAMS, message=error.message, data={**data, "uri": params.get("uri")})
