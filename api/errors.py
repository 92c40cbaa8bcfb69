"""The errors of the service's own routes, in one tree.

They extend the drive's tree, so that one handler answers both as problem+json (RFC 9457), in the person's language.
"""

from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Any, ClassVar, Final

from drive_server.kernel import errors
from drive_server.kernel.messages import LANGUAGES, Language, Message
from drive_server.kernel.texts import ORIGINAL, Texts

TEXTS: Final = Texts.beside(__file__)
"""The sentences of the service's errors by code; `.hint` names the next step."""

Pair = tuple[str, str]
"""Words of the assistant, in English and in Chinese."""


class ApiError(errors.DriveError):
    """Base of the service's errors; `text` is the code of the sentence."""

    text: ClassVar[str] = ""

    def __init__(
        self,
        text: str = "",
        *,
        details: Mapping[str, Any] | None = None,
        said: Mapping[str, str | Pair] | None = None,
        **facts: str,
    ) -> None:
        """Take the class's sentence and hint by default, with the `facts` in them, which are details too.

        Words in `said` stand in the sentence only, as they are or in each language's own form.
        """
        code = text or self.text or self.code
        hint = next(name for name in (f"{code}.hint", f"{self.code}.hint", f"{self.text}.hint") if name in TEXTS)
        words = {language: {**facts, **_words(said or {}, language)} for language in LANGUAGES}
        texts = {name: (render(code, name, **own), render(hint, name, **own)) for name, own in words.items()}
        sentence, next_step = texts[ORIGINAL]
        super().__init__(sentence, hint=next_step, details={**facts, **(details or {})} or None)
        self.translated = texts


class NotFoundError(ApiError):
    """There is no such thread, run or approval, or it is somebody else's: the answer is the same."""

    code = "not_found"
    status = HTTPStatus.NOT_FOUND


class InvalidRequestError(ApiError, errors.InvalidInputError):
    """A part of the request can't be used; the `text` says which."""


class ModelNotAllowedError(ApiError):
    """The operator does not allow this model; no message was accepted."""

    code = "model_not_allowed"
    status = HTTPStatus.UNPROCESSABLE_ENTITY


class InvalidDecisionError(ApiError):
    """A decision that does not fit the approval; nothing was decided, it still waits."""

    code = "invalid_decision"
    status = HTTPStatus.UNPROCESSABLE_ENTITY


class InvalidGrantError(InvalidDecisionError):
    """A grant that no approval may carry; nothing was decided, it still waits."""

    code = "invalid_grant"


class MissingScopeError(errors.MissingScopeError):
    """The caller's key lacks the scope that `details["scope"]` names."""

    def __init__(self, scope: str) -> None:
        super().__init__(Message.of("missing_scope", scope=scope), details={"scope": scope})


class ThreadBusyError(ApiError):
    """A run works on the thread; `details["run_id"]` names it."""

    code = "thread_busy"
    status = HTTPStatus.CONFLICT


class NotLastMessageError(ApiError):
    """Only the last message of a thread can be edited or answered anew; `details["message_id"]` names it."""

    code = "not_last_message"
    status = HTTPStatus.CONFLICT


class ApprovalPendingError(ApiError):
    """The thread waits for an approval, and a message never decides it; `details["approval_id"]` names it."""

    code = "approval_pending"
    status = HTTPStatus.CONFLICT


class PlanPausedError(ApiError):
    """The plan of the thread is paused."""

    code = "plan_paused"
    status = HTTPStatus.CONFLICT


class PlanOverError(ApiError):
    """The plan is over and can't be changed; `details["status"]` says how it ended."""

    code = "plan_over"
    status = HTTPStatus.CONFLICT


class PlanChangedError(ApiError):
    """The plan has another version than the request: somebody changed it, or its steps have begun."""

    code = "plan_changed"
    status = HTTPStatus.CONFLICT

    def __init__(self, version: int, *, begun: Sequence[str] = ()) -> None:
        super().__init__("steps_begun" if begun else "", details={"version": version, "begun": list(begun)})


class InvalidPlanError(ApiError):
    """The steps don't make a plan: `details["problems"]` says why, in English."""

    code = "invalid_plan"
    status = HTTPStatus.UNPROCESSABLE_ENTITY

    def __init__(self, problems: Sequence[str]) -> None:
        super().__init__(said={"problem": (problems[0], "")}, details={"problems": list(problems)})


class ApprovalClosedError(ApiError):
    """The approval was decided, has expired or was cancelled with its run: `details["status"]` says which."""

    text = "approval_closed"
    status = HTTPStatus.CONFLICT

    def __init__(self, approval_id: str, state: str, decided_at: str | None) -> None:
        super().__init__(
            f"approval_{state}", details={"approval_id": approval_id, "status": state, "decided_at": decided_at}
        )
        self.code = f"approval_{state}"


class RunFinishedError(ApiError):
    """The run is over, so it can't be cancelled; `details["status"]` says how it ended."""

    code = "run_finished"
    status = HTTPStatus.CONFLICT


class RunActiveError(ApiError):
    """The run is not over yet."""

    code = "run_active"
    status = HTTPStatus.CONFLICT


class NameTakenError(ApiError):
    """The person has a server or an assistant of that name."""

    code = "name_conflict"
    text = "name_taken"
    status = HTTPStatus.CONFLICT


class TooManyError(ApiError):
    """The person has as many servers, assistants or unfinished imports as they may: `details["limit"]`."""

    code = "limit_reached"
    text = "too_many_servers"
    status = HTTPStatus.CONFLICT


class BuiltInAssistantError(ApiError):
    """The built-in assistant is everybody's."""

    code = "built_in_assistant"
    status = HTTPStatus.CONFLICT


class ToolChangedError(ApiError):
    """A server's tool has another definition than the one that the person has seen."""

    code = "tool_changed"
    status = HTTPStatus.CONFLICT


class ServerDownError(ApiError):
    """A person's MCP server does not answer; the sentence says why."""

    code = "server_unavailable"
    status = HTTPStatus.SERVICE_UNAVAILABLE

    def __init__(self, reason: Pair) -> None:
        super().__init__(said={"reason": reason})


class SignInError(ApiError):
    """A sign-in to a person's MCP server did not begin, or failed: `details["reason"]` says why, as a code."""

    code = "sign_in_failed"
    status = HTTPStatus.CONFLICT

    def __init__(self, code: str, reason: Pair) -> None:
        super().__init__(said={"reason": reason}, details={"reason": code})


class SecretsKeyError(ApiError):
    """The key for secrets can't be used, or is not that of the stored secrets; the service does not start."""

    code = "secrets_key"


class ReadOnlyAssistantsError(ApiError):
    """LangGraph's API does not make, change or delete assistants."""

    code = "read_only_assistants"
    status = HTTPStatus.FORBIDDEN


class NoSchedulesError(ApiError):
    """There are no scheduled runs."""

    code = "no_schedules"
    status = HTTPStatus.NOT_IMPLEMENTED


class ThreadExistsError(ApiError):
    """There is a thread with this id already."""

    code = "thread_exists"
    status = HTTPStatus.CONFLICT


class NothingWaitsError(ApiError):
    """The thread waits for no answer."""

    code = "nothing_waits"
    status = HTTPStatus.CONFLICT


class StaleCheckpointError(ApiError):
    """A message or an answer names a checkpoint that the thread has left; `details["checkpoint_id"]` is the newest."""

    code = "stale_checkpoint"
    status = HTTPStatus.CONFLICT


class ShuttingDownError(ApiError):
    """The service is shutting down and starts no run."""

    code = "shutting_down"
    status = HTTPStatus.SERVICE_UNAVAILABLE


def render(code: str, language: Language, **facts: str) -> str:
    """Return the text of the code in the language, with the facts in it; a `status` is named in the language."""
    state = f"state.{facts.get('status', '')}"
    shown = {**facts, "status": TEXTS.say(state, language)} if state in TEXTS else facts
    return TEXTS.say(code, language, **shown)


def _words(said: Mapping[str, str | Pair], language: Language) -> dict[str, str]:
    return {name: words if isinstance(words, str) else words[language == "zh"] for name, words in said.items()}
