"""A start that fails is told by one sentence, without a traceback, where the error has one."""

import logging
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

logger = logging.getLogger(__name__)

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
AsgiApp = Callable[[Scope, Receive, Send], Awaitable[None]]


class StartupWatch:
    """An ASGI middleware that keeps the error with which the app failed to start.

    Errors of the kinds in `spoken` are told by their sentence; the trace of any other is logged.
    """

    def __init__(self, app: AsgiApp, *spoken: type[Exception]) -> None:
        self._app = app
        self._spoken = spoken
        self.failure: BaseException | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass everything on."""
        if scope["type"] != "lifespan":
            await self._app(scope, receive, send)
            return

        async def send_untraced(message: MutableMapping[str, Any]) -> None:
            # The message is a traceback.
            await send({**message, "message": ""} if message["type"] == "lifespan.startup.failed" else message)

        try:
            await self._app(scope, receive, send_untraced)
        except Exception as error:
            self.failure = _first(error)
            if not isinstance(self.failure, self._spoken):
                logger.exception("The service could not start, or not end.")
            raise


def _first(failure: BaseException) -> BaseException:
    while isinstance(failure, BaseExceptionGroup):
        failure = failure.exceptions[0]
    return failure
