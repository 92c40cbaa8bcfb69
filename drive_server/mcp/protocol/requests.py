"""Checks of requests before anything answers them, so that a client learns the fault of one."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, get_args

from mcp.types import METHOD_NOT_FOUND, ClientRequest, ErrorData
from mcp.types import ClientRequestType as AnyRequest
from pydantic import ValidationError

from drive_server.kernel.errors import InvalidInputError
from drive_server.kernel.messages import Message
from drive_server.mcp.protocol.failures import error_data

REVISION: Final = "2025-11-25"
MAX_PROBLEMS: Final = 5
MAX_CHARACTERS: Final = 64
_KINDS: Final[dict[str, Any]] = {kind.model_fields["method"].default: kind for kind in get_args(AnyRequest)}


@dataclass(frozen=True, slots=True)
class _Nothing:
    params: None = None


@dataclass(frozen=True, slots=True)
class Refusal:
    """Stands for a request that is none: `error` is its answer."""

    error: ErrorData
    root: _Nothing = _Nothing()


class Requests:
    """Checks the client's requests; takes the place of the SDK's type of all requests."""

    @staticmethod
    def model_validate(found: Mapping[str, Any]) -> ClientRequest | Refusal:
        """Return the request, or the answer in its place."""
        kind = _KINDS.get(found["method"])
        return Refusal(unknown_method()) if kind is None else checked(kind, found, REVISION)


def checked(kind: type[Any], found: Mapping[str, Any], revision: str) -> ClientRequest | Refusal:
    """Return the request of this kind, or the answer that names its faults by this revision of the protocol."""
    try:
        return ClientRequest.model_construct(kind.model_validate(found))
    except ValidationError as error:
        return Refusal(_wrong_params(error, revision))


def unknown_method() -> ErrorData:
    """Return the answer to a method that there is not (JSON-RPC 2.0, section 5.1)."""
    error = InvalidInputError(Message.of("no_method"))
    return ErrorData(code=METHOD_NOT_FOUND, message=error.message, data=error.to_dict())


def _wrong_params(error: ValidationError, revision: str) -> ErrorData:
    """Name the wrong parameters, without their values."""
    found = error.errors(include_url=False, include_context=False, include_input=False)[:MAX_PROBLEMS]
    problems = [{"argument": _place(one["loc"]), "problem": one["msg"][:200]} for one in found]
    wrong = InvalidInputError(
        "The parameters of this request can't be used.",
        hint=f"Send them as protocol {revision} has them.",
        details={"problems": problems},
    )
    return error_data(wrong)


def _place(location: tuple[int | str, ...]) -> str:
    return ".".join(str(part)[:MAX_CHARACTERS] for part in location[:MAX_PROBLEMS])
