"""The errors that the assistant raises on purpose, each with a code, which has a sentence in every language."""

from collections.abc import Mapping
from copy import copy
from typing import ClassVar, Self

from graph.language import TEXTS, Language


class AgentError(Exception):
    """Base of all errors that end a run and may be shown as they are. `detail` is for the log only."""

    code: ClassVar[str] = "internal"
    retryable: ClassVar[bool] = False

    def __init__(self, detail: str = "") -> None:
        self.detail = detail
        self.language: Language = "en"
        super().__init__(detail or self.sentence)

    @property
    def params(self) -> Mapping[str, str]:
        """The values in the sentence."""
        return {}

    @property
    def sentence(self) -> str:
        """Return the sentence for the person, in the language of the turn it happened in."""
        return TEXTS.say(f"error.{self.code}", self.language, **self.params)

    def in_language(self, language: Language) -> Self:
        """Return the error for a turn in that language: the same one may have been raised in several turns."""
        mine = copy(self)
        mine.language = language
        return mine


def explain(error: Exception) -> tuple[str, str, bool]:
    """Return any error as (code, sentence, whether trying again may help). A foreign one tells nothing."""
    if isinstance(error, AgentError):
        return error.code, error.sentence, error.retryable
    return explain(AgentError())


class NoMessageError(AgentError):
    """The input holds no message of a person."""

    code = "no_message"


class CrashedError(AgentError):
    """The service ended too often while it worked on the run."""

    code = "crashed"


class DriveUnavailableError(AgentError):
    """The drive did not answer, or the connection to it could not be opened."""

    code = "drive_unavailable"
    retryable = True


class ModelError(AgentError):
    """The language model could not answer. Subclasses say why."""

    code = "model_error"
    retryable = True


class ModelRateLimitedError(ModelError):
    """The model's service refused for too many requests, and went on refusing after the retries."""

    code = "model_rate_limited"


class ModelQuotaError(ModelError):
    """The account at the model's service has no credit left: waiting does not help."""

    code = "model_quota"
    retryable = False


class ModelUnavailableError(ModelError):
    """The model's service can't be reached, or fails (5xx), also after the retries."""

    code = "model_unavailable"


class ModelTimeoutError(ModelError):
    """The model did not answer in time, or stopped in the middle of its answer."""

    code = "model_timeout"


class ModelAuthenticationError(ModelError):
    """The key for the model is missing, wrong, or may not use this model."""

    code = "model_authentication"
    retryable = False


class ModelNotFoundError(ModelError):
    """The service does not know the model."""

    code = "model_not_found"
    retryable = False


class ModelPackageError(ModelError):
    """The package of a model's provider is not installed; the detail is the command that installs it."""

    code = "model_package"
    retryable = False

    @property
    def params(self) -> Mapping[str, str]:
        """The command in the sentence."""
        return {"command": self.detail}


class ModelRequestError(ModelError):
    """The service refused the request as such."""

    code = "model_request"
    retryable = False


class ModelContextError(ModelRequestError):
    """The conversation with its documents is longer than the model can read."""

    code = "model_context"


class ModelOutputError(ModelError):
    """The model's answer does not have the required form."""

    code = "model_output"


class ModelLengthError(ModelOutputError):
    """The model's answer reached its length limit before it was of any use."""

    code = "model_length"
    retryable = False
