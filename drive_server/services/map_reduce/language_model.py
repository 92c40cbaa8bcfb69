"""A language model as the drive uses one: instructions and a text in, a text out, whoever runs it."""

from typing import Protocol


class LanguageModel(Protocol):
    """Answers one request at a time; several may be under way at once."""

    @property
    def name(self) -> str:
        """What it is called, for people."""
        ...

    async def complete(self, system: str, text: str, max_tokens: int) -> str:
        """Return the answer to the text under the instructions, never empty, of about `max_tokens` tokens at most.

        Raises `ModelError`.
        """
        ...


class ModelError(Exception):
    """There is no answer to this request; asking again would give none either. `reason` is for a person."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class ModelBusyError(ModelError):
    """There is no answer this time: asking again may give one, after `retry_after` seconds if that is known."""

    def __init__(self, reason: str, retry_after: float | None = None) -> None:
        super().__init__(reason)
        self.retry_after = retry_after


class ModelLostError(ModelError):
    """No request will be answered any more: there is nobody there, or the key is wrong."""


class ModelDeclinedError(ModelLostError):
    """The person in front of the host does not want its model to be used."""
