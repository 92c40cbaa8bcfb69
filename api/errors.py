"""The errors of the service's own routes, in one tree.

They extend the drive's tree, so that one handler answers both as problem+json (RFC 9457).
"""

from collections.abc import Sequence
from http import HTTPStatus
from typing import Any, ClassVar

from drive_server import errors


class ApiError(errors.DriveError):
    """Base of the service's errors, with a default sentence and hint."""

    default_message: ClassVar[str] = "Something went wrong in the service."
    default_hint: ClassVar[str] = "Try again; the service's log has the cause."

    def __init__(
        self,
        message: str | None = None,
        *,
        hint: str | None = None,
        details: dict[str, Any] | None = None,
        **facts: str,
    ) -> None:
        """Take the sentence and the hint of the class by default, with the `facts` in them, which are details too."""
        details = {**facts, **(details or {})}
        hint = self.default_hint.format(**facts) if hint is None else hint
        super().__init__(message or self.default_message.format(**facts), hint=hint, details=details or None)


class NotFoundError(ApiError):
    """There is no such thread, run or approval, or it is somebody else's: the answer is the same."""

    code = "not_found"
    status = HTTPStatus.NOT_FOUND
    default_message = "There is nothing here with this id."
    default_hint = "Use an id that this service gave you."


class ModelNotAllowedError(ApiError):
    """The operator does not allow this model; no message was accepted."""

    code = "model_not_allowed"
    status = HTTPStatus.UNPROCESSABLE_ENTITY
    default_message = "The model {model} can't be chosen here."
    default_hint = "Choose one of GET /api/models, or leave model out."


class InvalidDecisionError(ApiError):
    """A decision that does not fit the approval; nothing was decided, it still waits."""

    code = "invalid_decision"
    status = HTTPStatus.UNPROCESSABLE_ENTITY
    default_hint = "Send one decision for each action, by its tool_call_id; the approval still waits."


class InvalidGrantError(InvalidDecisionError):
    """A grant that no approval may carry; nothing was decided, it still waits."""

    code = "invalid_grant"
    default_hint = "Approve without a grant, or give one for an action that can be undone; the approval still waits."


class MissingScopeError(errors.MissingScopeError):
    """The caller's key lacks the scope that `details["scope"]` names."""

    def __init__(self, scope: str) -> None:
        super().__init__(
            f"This key lacks the scope '{scope}'.",
            hint=f"Use a key that was created with --scope {scope}.",
            details={"scope": scope},
        )


class ThreadBusyError(ApiError):
    """A run works on the thread; `details["run_id"]` names it."""

    code = "thread_busy"
    status = HTTPStatus.CONFLICT
    default_message = "The assistant still works on this thread (run {run_id})."
    default_hint = "Wait until that run is done, or cancel it."


class ApprovalPendingError(ApiError):
    """The thread waits for an approval, and a message never decides it; `details["approval_id"]` names it."""

    code = "approval_pending"
    status = HTTPStatus.CONFLICT
    default_message = "This thread waits for approval {approval_id}; a message does not answer it."
    default_hint = "Decide it with POST /api/approvals/{{id}}, or cancel its run."


class PlanPausedError(ApiError):
    """The plan of the thread is paused."""

    code = "plan_paused"
    status = HTTPStatus.CONFLICT
    default_message = "This thread has a plan that is paused."
    default_hint = "Resume or stop it with POST /api/threads/{thread_id}/plan/resume or .../stop."


class PlanOverError(ApiError):
    """The plan is over and can't be changed; `details["status"]` says how it ended."""

    code = "plan_over"
    status = HTTPStatus.CONFLICT
    default_message = "This plan is over: {status}."
    default_hint = "Send a message for what is still to be done."


class PlanChangedError(ApiError):
    """The plan has another version than the request: somebody changed it, or its steps have begun."""

    code = "plan_changed"
    status = HTTPStatus.CONFLICT

    def __init__(self, version: int, *, begun: Sequence[str] = ()) -> None:
        reason = "Steps that were to be changed have begun." if begun else "The plan was changed meanwhile."
        super().__init__(
            f"{reason} Nothing of this request was done.",
            hint="Read the plan again, and change it from there.",
            details={"version": version, "begun": list(begun)},
        )


class InvalidPlanError(ApiError):
    """The steps don't make a plan: `details["problems"]` says why, in English."""

    code = "invalid_plan"
    status = HTTPStatus.UNPROCESSABLE_ENTITY

    def __init__(self, problems: Sequence[str]) -> None:
        super().__init__(
            f"This is no plan that can be carried out: {problems[0]}.",
            hint="Change the steps that `details` names; the plan is as it was.",
            details={"problems": list(problems)},
        )


class ApprovalClosedError(ApiError):
    """The approval was decided, has expired or was cancelled with its run: `details["status"]` says which."""

    status = HTTPStatus.CONFLICT
    sentences: ClassVar[dict[str, str]] = {
        "decided": "This approval was decided already.",
        "expired": "This approval has expired, which counts as a rejection.",
        "cancelled": "This approval was cancelled together with its run.",
    }

    def __init__(self, approval_id: str, state: str, decided_at: str | None) -> None:
        super().__init__(
            self.sentences[state],
            hint="Nothing was changed by this request; the run's events say what became of it.",
            details={"approval_id": approval_id, "status": state, "decided_at": decided_at},
        )
        self.code = f"approval_{state}"


class RunFinishedError(ApiError):
    """The run is over, so it can't be cancelled; `details["status"]` says how it ended."""

    code = "run_finished"
    status = HTTPStatus.CONFLICT
    default_message = "This run has ended already: {status}."
    default_hint = "There is nothing to cancel; what it changed can be undone with POST /api/runs/{{id}}/undo."


class RunActiveError(ApiError):
    """The run is not over yet."""

    code = "run_active"
    status = HTTPStatus.CONFLICT
    default_message = "Run {run_id} is still at work."
    default_hint = "Wait until it is done, or cancel it first."


class ShuttingDownError(ApiError):
    """The service is shutting down and starts no run."""

    code = "shutting_down"
    status = HTTPStatus.SERVICE_UNAVAILABLE
    default_message = "The service is shutting down."
    default_hint = "Try again in a moment."
