"""Routers below `/api/drive`, which are asked only about the addresses that begin as theirs do."""

from typing import Any, Final

from fastapi import APIRouter
from starlette.routing import Match
from starlette.types import Scope

PLACE: Final = "/api/drive"


class DriveRouter(APIRouter):
    """A router that is included at `/api/drive`.

    FastAPI asks each router about each of its routes: without this, that is a fifth of the processor time of a look at
    a folder (`python -m benchmarks.requests`).
    """

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self._begins = PLACE + self.prefix.partition("{")[0]

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        """Match the routes, if one of them may match."""
        if not scope["path"].removeprefix(scope.get("root_path", "")).startswith(self._begins):
            return Match.NONE, {}
        return super().matches(scope)
