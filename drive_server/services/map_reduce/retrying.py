"""A language model that is asked many times: failures that may pass are waited for, and after too many it is let be."""

from collections.abc import Awaitable, Callable
from typing import Final

import anyio

from drive_server.services.map_reduce.language_model import LanguageModel, ModelBusyError, ModelError, ModelLostError

PAUSES: Final = (1.0, 4.0)
"""Seconds before a request is made again, if the model does not say how long it wants to be left alone."""
MOST_FAILURES: Final = 10
"""Requests that may fail one after another before the rest is not tried any more."""

Pause = Callable[[float], Awaitable[None]]


class PatientModel:
    """Asks a model. `lost` is why it is not asked any more, None as long as it is; `pause` waits for some seconds."""

    def __init__(self, model: LanguageModel, pause: Pause = anyio.sleep) -> None:
        self.lost: ModelLostError | None = None
        self._model = model
        self._pause = pause
        self._failures = 0

    @property
    def name(self) -> str:
        """What the model is called."""
        return self._model.name

    async def complete(self, system: str, text: str, max_tokens: int) -> str:
        """Return the answer. Raises `ModelError`, and `ModelLostError` if none will come any more."""
        if self.lost is not None:
            raise self.lost
        try:
            answer = await self._answer(system, text, max_tokens)
        except ModelLostError as error:
            self.lost = error
            raise
        except ModelError as error:
            self._failures += 1
            if self._failures >= MOST_FAILURES:
                self.lost = ModelLostError(error.reason)
            raise
        self._failures = 0
        return answer

    async def _answer(self, system: str, text: str, max_tokens: int) -> str:
        for pause in PAUSES:
            try:
                return await self._model.complete(system, text, max_tokens)
            except ModelBusyError as error:
                await self._pause(pause if error.retry_after is None else error.retry_after)
                if self.lost is not None:
                    raise self.lost from error
        return await self._model.complete(system, text, max_tokens)
