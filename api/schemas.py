"""The JSON of the service's routes. Limits are in characters."""

import unicodedata
from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, field_validator

from api.decisions import Decision

MAX_MESSAGE_CHARACTERS = 100_000
MAX_REF_CHARACTERS = 8_192

Id = Annotated[str, StringConstraints(min_length=1, max_length=64)]
Ref = Annotated[str, StringConstraints(min_length=1, max_length=MAX_REF_CHARACTERS)]
Scope = Literal["read", "write", "share", "delete"]
RunStatus = Literal["running", "waiting", "success", "error", "cancelled"]


class Body(BaseModel):
    """Base of what clients send: unknown fields are refused, so that a misspelt one is not silently ignored."""

    model_config = ConfigDict(extra="forbid")


class ChatContext(Body):
    """Where the person is: ids (or paths) of the open file and folder."""

    file_id: Ref | None = Field(default=None, description="The file that is open: 'this document'.")
    folder_id: Ref | None = Field(default=None, description="The folder that is shown: 'here'.")


class ChatRequest(Body):
    """A message to the assistant."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={"examples": [{"message": "Find the document about parental leave and summarise it"}]},
    )

    message: Annotated[str, StringConstraints(min_length=1, max_length=MAX_MESSAGE_CHARACTERS)]
    thread_id: Id | None = Field(default=None, description="The thread to go on with; without it, a new one is made.")
    context: ChatContext | None = None
    assistant_id: Id | None = Field(default=None, description="Which assistant; without it, the built-in one.")

    @field_validator("message")
    @classmethod
    def _has_text(cls, message: str) -> str:
        if not message.strip():
            msg = "a message needs some text"
            raise ValueError(msg)
        if "\x00" in message:
            msg = "a message can't have NUL characters"
            raise ValueError(msg)
        return message


class EditedAction(Body):
    """An edited call as LangChain's clients write it."""

    name: str
    args: dict[str, Any]


class DecisionBody(Body):
    """What the person says to one proposed call."""

    tool_call_id: str = Field(max_length=256)
    type: Literal["approve", "edit", "reject", "respond"]
    args: dict[str, Any] | None = Field(default=None, description="With edit: all arguments of the call.")
    message: str | None = Field(default=None, max_length=10_000, description="Why, or what to do instead.")
    name: str | None = Field(default=None, max_length=256, description="The tool; it can't be another one.")
    edited_action: EditedAction | None = Field(default=None, description="The same as name and args.")

    def to_decision(self) -> Decision:
        """Return the decision without its dialect."""
        edited = self.edited_action
        args = self.args if self.args is not None or edited is None else edited.args
        tool = self.name or (edited.name if edited else None)
        return Decision(self.tool_call_id, self.type, args, self.message, tool)


class DecisionsBody(Body):
    """One decision for every action of the approval."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={"examples": [{"decisions": [{"tool_call_id": "call_1", "type": "approve"}]}]},
    )

    decisions: list[DecisionBody] = Field(min_length=1, max_length=1000)


class ThreadPatch(Body):
    """What can be changed about a thread."""

    title: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=1000)]

    @field_validator("title")
    @classmethod
    def _is_plain(cls, title: str) -> str:
        if any(unicodedata.category(char) == "Cc" and not char.isspace() for char in title):
            msg = "a title can't have control characters"
            raise ValueError(msg)
        return title


class UndoBody(Body):
    """How to undo."""

    preview: bool = Field(default=False, strict=True, description="Say what would be undone, and undo nothing.")


class ApprovalView(BaseModel):
    """An approval. `status` is waiting, decided, expired or cancelled."""

    approval_id: str
    thread_id: str
    run_id: str
    status: Literal["waiting", "decided", "expired", "cancelled"]
    created_at: datetime
    expires_at: datetime
    actions: list[dict[str, Any]]
    decisions: list[dict[str, Any]] = []
    decided_by: str | None = None
    decided_at: datetime | None = None


class ApprovalList(BaseModel):
    """The approvals that wait for the caller, oldest first."""

    items: list[ApprovalView]


class ThreadSummary(BaseModel):
    """A thread in a list."""

    thread_id: str
    title: str
    created_at: datetime
    updated_at: datetime


class ThreadList(BaseModel):
    """Some of the caller's threads, the one used last first; `cursor` continues, None at the end."""

    items: list[ThreadSummary]
    cursor: str | None


class MessageView(BaseModel):
    """One message. A tool's has the id of its call and what became of it: done, error, cancelled or rejected.

    `citations` are those of the event of that name.
    """

    id: str | None
    role: Literal["user", "assistant", "tool"]
    text: str
    tool_calls: list[dict[str, Any]] = []
    citations: list[dict[str, Any]] = []
    tool_call_id: str | None = None
    name: str | None = None
    status: str | None = None


class ThreadView(ThreadSummary):
    """A thread as it is now: its newest messages, plan and route, the run at work, and the approval that waits."""

    messages: list[MessageView]
    has_earlier: bool
    plan: Any = None
    route: Any = None
    run: "RunView | None" = None
    approval: ApprovalView | None = None


class RunView(BaseModel):
    """A run."""

    run_id: str
    thread_id: str
    status: RunStatus
    created_at: datetime
    finished_at: datetime | None


class CancelView(BaseModel):
    """A run that was stopped, or is about to stop (answer 202)."""

    run_id: str
    status: Literal["cancelled", "cancelling"]


class ChangeView(BaseModel):
    """One thing that a run changed, as the journal has it."""

    id: int
    tool: str
    summary: str
    item_id: str | None


class ChangeList(BaseModel):
    """All that a run changed, in order."""

    items: list[ChangeView]


class UndoView(BaseModel):
    """What was undone, what was left and why, and the change that the undo itself is (None in a preview)."""

    undone: list[ChangeView]
    skipped: list[dict[str, Any]]
    change_id: int | None
    preview: bool


class Problem(BaseModel):
    """An error (RFC 9457). `code` is stable; `detail` is a sentence; `hint` says what to do next."""

    type: str = "about:blank"
    title: str
    status: int
    detail: str
    code: str
    hint: str = ""
    details: dict[str, Any] = {}
