"""Every error the drive raises on purpose, in one tree.

Each class has a stable `code` that clients may switch on, an HTTP `status` for the byte routes, a sentence for a person
and a `hint` at the next step. `details` is JSON and holds only data that the caller may see.
"""

from copy import copy
from typing import Any, ClassVar, Final, Self

from drive_server.kernel.messages import TEXTS, Language, Message, render, translations
from drive_server.kernel.texts import ORIGINAL


class DriveError(Exception):
    """Base of all errors that may be shown to a client as they are."""

    code: str = "internal"
    status: ClassVar[int] = 500

    def __init__(self, message: str | Message, *, hint: str = "", details: dict[str, Any] | None = None) -> None:
        is_coded = isinstance(message, Message)
        self.message = message.en if is_coded else message
        super().__init__(self.message)
        self.reason = message if is_coded else Message.of(f"error.{self.code}")
        self.hint = self.reason.hint.en if self.reason.hint else hint
        self.details = details or {}
        self.translated: dict[Language, tuple[str, str]] = {}

    @property
    def log_sentence(self) -> str:
        """The English sentence without its parameters, in which names and contents may stand: for logs."""
        return TEXTS.template(self.reason.code, ORIGINAL)

    def texts(self, language: Language) -> tuple[str, str]:
        """Return the sentence and the hint in the language. A hint without a translation stays English."""
        if language == ORIGINAL:
            return self.message, self.hint
        if language in self.translated:
            return self.translated[language]
        hint = self.reason.hint
        return render(self.reason, language), render(hint, language) if hint else self.hint

    def with_details(self, details: dict[str, Any]) -> Self:
        """Return the same error with other details."""
        again = copy(self)
        again.details = details
        return again

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON that travels in MCP's structured content and in problem+json."""
        texts = {"code": self.code, "message": self.message, "hint": self.hint, "details": self.details}
        return {**texts, "messages": translations({"message": self.reason, "hint": self.reason.hint})}


class InvalidInputError(DriveError):
    """An argument is of the wrong type, form or size."""

    code = "invalid_argument"
    status = 422


class InvalidCursorError(InvalidInputError):
    """A cursor that this list did not give to this person."""

    code = "invalid_cursor"


class InvalidNameError(InvalidInputError):
    """A name that no item may have (separator, control character, reserved, too long)."""

    code = "invalid_name"


class MalformedRequestError(InvalidInputError):
    """A header of the request is missing, or is not of the form that its protocol asks for."""

    status = 400


class ProtocolVersionError(InvalidInputError):
    """The client speaks another version of the protocol than this service."""

    status = 412


class ChecksumMismatchError(InvalidInputError):
    """The bytes are not those that the request announced; none of them was stored."""

    status = 460


class DamagedContentError(InvalidInputError):
    """The bytes of a content have another checksum than the request says; nothing was stored."""

    status = 400


class UnauthenticatedError(DriveError):
    """No credentials, or credentials that are unknown, expired or revoked."""

    code = "unauthenticated"
    status = 401


class UnknownKeyError(UnauthenticatedError):
    """A key that this drive never gave out, or that was forged: guessing is slowed down."""


class AccountDisabledError(UnauthenticatedError):
    """The credentials are right, but an administrator disabled the account."""

    code = "account_disabled"


class MissingScopeError(DriveError):
    """The API key is valid but lacks the scope that `details["scope"]` names."""

    code = "missing_scope"
    status = 403


class ForbiddenError(DriveError):
    """The caller sees the item but has a role that does not allow this."""

    code = "forbidden"
    status = 403


class FreshProofNeededError(ForbiddenError):
    """The caller may do this, but has to prove again who they are: the browser was logged in too long ago."""

    code = "fresh_proof_needed"


class PasswordRequiredError(DriveError):
    """The link asks for a password, and none or a wrong one was given."""

    code = "password_required"
    status = 403


class DeclinedError(DriveError):
    """The person at the host was asked and did not agree; nothing was changed."""

    code = "declined"
    status = 403


class CallCancelledError(DriveError):
    """The call was cancelled before it was done; nothing was changed."""

    code = "cancelled"
    status = 409


class NotFoundError(DriveError):
    """The item does not exist, or the caller may not know that it does: the answer is the same."""

    code = "not_found"
    status = 404


class NameConflictError(DriveError):
    """A live item of that name is in the folder already."""

    code = "name_conflict"
    status = 409


class EtagMismatchError(DriveError):
    """The item changed since the caller read it; `details` has its new state and who changed it when."""

    code = "etag_mismatch"
    status = 409


class IdempotencyConflictError(DriveError):
    """An idempotency key was used again for a different call."""

    code = "idempotency_conflict"
    status = 409


class StateConflictError(DriveError):
    """The item is in a state that does not allow this (in the trash, not in the trash, a folder below itself)."""

    code = "state_conflict"
    status = 409


class LockedError(StateConflictError):
    """Another request is at work on it at this moment."""

    status = 423


class EditMismatchError(DriveError):
    """An edit of `patch_file` matched no place or more than one; `details["candidates"]` has the nearest."""

    code = "edit_mismatch"
    status = 409


class TooLargeError(DriveError):
    """A body, an argument or a file is over a limit, which `details["limit"]` gives in bytes."""

    code = "too_large"
    status = 413


RETRY_SECONDS: Final = 10
"""The pause before another try where nothing says when there is room again."""


class RateLimitError(DriveError):
    """Too many calls, sessions or bytes; `details` has the `limit` and `retry_after_seconds`, in every case."""

    code = "rate_limited"
    status = 429

    def __init__(self, message: str | Message, *, hint: str = "", details: dict[str, Any] | None = None) -> None:
        super().__init__(message, hint=hint, details={"retry_after_seconds": RETRY_SECONDS, **(details or {})})


class QuotaExceededError(DriveError):
    """The person's quota has no room for it; `details` has `quota_bytes`, `used_bytes` and `needed_bytes`."""

    code = "quota_exceeded"
    status = 507


class UnavailableError(DriveError):
    """A service that the drive needs for this, such as the issuer of a token, can't be reached at the moment."""

    code = "unavailable"
    status = 503


class NoLanguageModelError(UnavailableError):
    """The call needs a language model, and neither the host nor this drive has one."""

    code = "no_language_model"


class LanguageModelFailedError(UnavailableError):
    """The language model answered nothing that could be used; nothing was changed."""

    code = "model_failed"
    status = 502


class UnsupportedContentError(DriveError):
    """The content can't be read or edited as text."""

    code = "unsupported_content"
    status = 415


class StorageFailureError(DriveError):
    """The disk or the database refused; nothing of the request was stored."""

    code = "storage_failure"
    status = 507


class DatabaseAwayError(StorageFailureError):
    """The database's server can't be reached, or takes no more connections; `details` has `retry_after_seconds`."""

    code = "database_away"
    status = 503


class AnswerLostError(DatabaseAwayError):
    """The connection broke while the database kept the request: it may be kept or not, and can't be asked."""

    code = "answer_lost"


class ContentsAwayError(StorageFailureError):
    """The object store of the contents can't be reached, or is overloaded; `details` has `retry_after_seconds`."""

    code = "contents_away"
    status = 503


class DamagedDatabaseError(StorageFailureError):
    """A file of a database is damaged or of another program; `details` has its name. Only a backup brings it back."""

    status = 503
