"""The errors that end a command with a message."""


class CommandError(Exception):
    """A command failed. `message` is a sentence for the person, `hint` says what to do next (may be empty)."""

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class LostConnectionError(CommandError):
    """The service can't be reached, or the connection broke; the request may have been carried out."""


class ServiceError(CommandError):
    """The service refused: `status` is the HTTP status, `code` the stable word of its problem+json."""

    def __init__(self, status: int, code: str, message: str, *, hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.status = status
        self.code = code
