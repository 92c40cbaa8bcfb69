"""Routes about one item that their path names: an id, `root`, or a path whose slashes are escaped."""

import re
from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import unquote

from fastapi.routing import APIRoute
from starlette.routing import Match
from starlette.types import Scope

ESCAPED_SLASH: Final = re.compile("%2f", re.IGNORECASE)
MARK: Final = "\0"
"""No address below `/api` has one: `PlainAddress` sees to that."""


class ItemRoute(APIRoute):
    """A route that takes an escaped slash for a part of the item's path, and never for the address's own.

    So `.../items/%2FA%2Fchildren` is the item `/A/children`, and not the list of `/A`.
    """

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        """Match the address as it was sent."""
        sent: bytes | None = scope.get("raw_path")
        if not sent or b"%" not in sent or not ESCAPED_SLASH.search(sent.decode("latin-1")):
            return super().matches(scope)
        path = unquote(ESCAPED_SLASH.sub(MARK, sent.decode("latin-1")))
        match, child = super().matches({**scope, "path": path})
        if "path_params" in child:
            child["path_params"] = _restored(child["path_params"])
        return match, child


def _restored(parameters: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value.replace(MARK, "/") if isinstance(value, str) else value for name, value in parameters.items()}
