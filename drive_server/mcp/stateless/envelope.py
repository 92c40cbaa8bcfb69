"""The envelope of a request: the revision and the client, as its `_meta` has them (MCP 2026-07-28, basic, "_meta")."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from mcp.types import (
    INVALID_PARAMS,
    METHOD_NOT_FOUND,
    ClientCapabilities,
    ErrorData,
    Implementation,
    InitializeRequestParams,
    LoggingLevel,
)
from pydantic import ValidationError

from drive_server.kernel.errors import DriveError, InvalidInputError, MalformedRequestError
from drive_server.kernel.messages import Message
from drive_server.mcp.protocol.messages import as_error
from drive_server.mcp.protocol.revisions import RESERVED, REVISION, VERSION_KEY
from drive_server.mcp.protocol.sessions import LEVELS

HEADER_MISMATCH: Final = -32020
MISSING_CAPABILITY: Final = -32021
CAPABILITIES_KEY: Final = f"{RESERVED}clientCapabilities"
CLIENT_KEY: Final = f"{RESERVED}clientInfo"
LEVEL_KEY: Final = f"{RESERVED}logLevel"
TASKS: Final = f"{RESERVED}tasks"
NOBODY: Final = Implementation(name="", version="")


class RequestRefusedError(Exception):
    """A request that is answered before anything is done; `status` is HTTP's."""

    def __init__(self, status: int, error: ErrorData) -> None:
        super().__init__(error.message)
        self.status = status
        self.error = error


@dataclass(frozen=True, slots=True)
class Envelope:
    """The client as a request tells of it. `log_level`: the least severe log message that it wants, None: none."""

    client: InitializeRequestParams
    announced: frozenset[str]
    takes_tasks: bool
    log_level: LoggingLevel | None


def envelope_of(params: Mapping[str, Any] | None) -> Envelope:
    """Return the envelope. Raises `RequestRefusedError` for one that lacks a required key."""
    meta = (params or {}).get("_meta")
    stated: Mapping[str, Any] = meta if isinstance(meta, dict) else {}
    if not isinstance(stated.get(VERSION_KEY), str):
        raise _incomplete(VERSION_KEY)
    capabilities = _read(ClientCapabilities, stated, CAPABILITIES_KEY)
    client = _read(Implementation, stated, CLIENT_KEY) if CLIENT_KEY in stated else NOBODY
    level = stated.get(LEVEL_KEY)
    if level is not None and level not in LEVELS:
        raise _incomplete(LEVEL_KEY)
    extensions = (capabilities.model_extra or {}).get("extensions")
    announced = capabilities.model_dump(exclude_none=True)
    # A model is lent in the middle of a call, for which there is no way here that would not read all files anew.
    capabilities.sampling = None
    return Envelope(
        InitializeRequestParams(protocolVersion=REVISION, capabilities=capabilities, clientInfo=client),
        frozenset(announced),
        takes_tasks=isinstance(extensions, dict) and TASKS in extensions,
        log_level=level,
    )


def unknown_method() -> RequestRefusedError:
    """Return the refusal of a method that this revision does not have."""
    return refused(404, METHOD_NOT_FOUND, InvalidInputError(Message.of("no_method_here", revision=REVISION)))


def lacks_tasks() -> RequestRefusedError:
    """Return the refusal of a request about tasks of a client that does not announce them."""
    return RequestRefusedError(400, lacking("tasks_not_announced", {"extensions": {TASKS: {}}}))


def lacking(reason: str, capabilities: dict[str, Any]) -> ErrorData:
    """Return the error for a call that needs capabilities which the client does not announce."""
    error = InvalidInputError(Message.of(reason))
    data = {**error.to_dict(), "requiredCapabilities": capabilities}
    return ErrorData(code=MISSING_CAPABILITY, message=error.message, data=data)


def refused(status: int, code: int, error: DriveError) -> RequestRefusedError:
    """Return the refusal with one of the drive's errors."""
    return RequestRefusedError(status, as_error(code, error))


def _read(kind: type[Any], stated: Mapping[str, Any], key: str) -> Any:
    try:
        return kind.model_validate(stated[key])
    except (KeyError, ValidationError) as error:
        raise _incomplete(key) from error


def _incomplete(key: str) -> RequestRefusedError:
    return refused(400, INVALID_PARAMS, MalformedRequestError(Message.of("envelope_incomplete", key=key)))
