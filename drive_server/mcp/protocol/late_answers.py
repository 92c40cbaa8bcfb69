"""Answers to requests that are over by the time they come."""

from typing import Any

import anyio
from mcp.shared.message import SessionMessage
from mcp.shared.session import BaseSession


class TakesLateAnswers(BaseSession[Any, Any, Any, Any, Any]):
    """A session that goes on when the answer to one of its requests comes just as nobody waits for it any more.

    The SDK's finds who waits, lets others run, and only then hands the answer over. If the request was given up in
    between, what it hands it to is closed, and it takes that for the end of the session.
    """

    async def _handle_response(self, message: SessionMessage) -> None:
        try:
            await super()._handle_response(message)
        except (anyio.ClosedResourceError, anyio.BrokenResourceError):
            return  # it was given up; if the connection itself has ended, the next thing that is read says so
