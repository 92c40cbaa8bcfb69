"""The id of a request, which its answer and the log name alike."""

import re
from secrets import token_hex
from typing import Final

from starlette.datastructures import Headers
from starlette.types import Scope

from drive_server.kernel.telemetry.fields import begin_log_fields

REQUEST_ID: Final = "X-Request-Id"
_BYTES: Final = 8
_SANE: Final = re.compile(r"[A-Za-z0-9._-]{8,64}", re.ASCII)


def begin_request(scope: Scope) -> str:
    """Return the id of a request that comes in: the client's own if it is a plain word, else a random one."""
    sent = Headers(scope=scope).get(REQUEST_ID, "")
    request_id = sent if _SANE.fullmatch(sent) else token_hex(_BYTES)
    begin_log_fields(request=request_id, address=(scope.get("client") or ("",))[0])
    return request_id
