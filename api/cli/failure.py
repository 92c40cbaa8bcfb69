"""The errors that end a command with a message."""

from collections.abc import Sequence
from typing import Any, Self

from api.cli.texts import hint_of, text, word


class CommandError(Exception):
    """A command failed. `message` is a sentence for the person, `hint` names the next step (may be empty).

    `attempt` are the words of a `drive-agent` command that may help; the person sees it with the data directory and the
    address as they were given.
    """

    def __init__(self, message: str, *, hint: str = "", attempt: Sequence[str] = ()) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.attempt = tuple(attempt)

    @classmethod
    def of(cls, code: str, *, hint: str = "", attempt: Sequence[str] = (), **params: Any) -> Self:
        """Return the error with the sentence of a code, in the terminal's language."""
        return cls(text(code, **params), hint=hint or hint_of(code, **params), attempt=attempt)


class LostConnectionError(CommandError):
    """The service can't be reached, or the connection broke; the request may have been carried out."""


class ServiceError(CommandError):
    """The service refused: `status` is the HTTP status, `code` the stable word of its problem+json."""

    def __init__(
        self, status: int, code: str, message: str, *, hint: str = "", details: dict[str, Any] | None = None
    ) -> None:
        super().__init__(message, hint=hint)
        self.status = status
        self.code = code
        self.details = details or {}


def system_reason(error: Exception) -> str:
    """Return the system's words for a failure, in the terminal's language if it is a frequent one."""
    said: str | None = getattr(error, "strerror", None)
    return word("system", said) if said else str(error) or type(error).__name__
