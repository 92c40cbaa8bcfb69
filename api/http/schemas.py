"""The JSON of the service's routes. Limits are in characters."""

import unicodedata
from datetime import datetime
from typing import Annotated, Any, Literal, Self, cast

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, field_validator, model_validator

from graph.planning.editing import StepEdit

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
    mode: Literal["attended", "unattended"] = Field(
        default="attended", description="unattended: nobody watches; what needs an approval waits for days."
    )
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


class GrantBody(Body):
    """What is done unasked from now on: what the approved action does, in that folder, so long and so many items."""

    folder_id: Ref = Field(description="A folder, and all that lies in it.")
    minutes: int = Field(default=60, ge=1, le=7 * 24 * 60)
    max_items: int = Field(default=50, ge=1, le=10_000)


class DecisionBody(Body):
    """What the person says to one proposed call."""

    tool_call_id: str = Field(max_length=256)
    type: Literal["approve", "edit", "reject", "respond"]
    args: dict[str, Any] | None = Field(default=None, description="With edit: all arguments of the call.")
    message: str | None = Field(default=None, max_length=10_000, description="Why, or what to do instead.")
    name: str | None = Field(default=None, max_length=256, description="The tool; it can't be another one.")
    edited_action: EditedAction | None = Field(default=None, description="The same as name and args.")
    grant: GrantBody | None = Field(default=None, description="With approve: don't ask again about what is like this.")


class DecisionsBody(Body):
    """One decision for every action of the approval; or `approve_all`, which approves each of them as it is."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={"examples": [{"decisions": [{"tool_call_id": "call_1", "type": "approve"}]}]},
    )

    decisions: list[DecisionBody] = Field(default=[], max_length=1000)
    approve_all: bool = Field(default=False, strict=True)

    @model_validator(mode="after")
    def _says_one_thing(self) -> Self:
        if self.approve_all == bool(self.decisions):
            msg = "send either decisions, or approve_all as true"
            raise ValueError(msg)
        return self


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


class StepPatch(Body):
    """A step as it is wanted; what is left out stays as it is. A new one needs agent and instruction."""

    id: Id | None = Field(default=None, description="Of a step of the plan; anything else is a new step's own name.")
    title: Annotated[str, StringConstraints(min_length=1, max_length=1_000)] | None = None
    agent: Literal["document_agent", "drive_agent", "search_agent"] | None = None
    instruction: Annotated[str, StringConstraints(min_length=1, max_length=10_000)] | None = None
    depends_on: Annotated[list[Id], Field(max_length=20)] | None = None
    kind: Literal["act", "map"] | None = None
    folder: Annotated[str, StringConstraints(max_length=1_000)] | None = None

    def to_edit(self) -> StepEdit:
        """Return what is said of the step, and nothing of what is not."""
        return cast("StepEdit", self.model_dump(exclude_none=True))


class PlanPatch(Body):
    """The steps that have not begun, as they are to be from now on."""

    version: int | None = Field(default=None, ge=0, description="The version that was seen; or the header If-Match.")
    steps: list[StepPatch] = Field(max_length=20)


class PlanStepView(BaseModel):
    """A step of a plan. `attempts` counts how often it was begun; one that never was can still be changed."""

    id: str
    title: str
    agent: str
    instruction: str
    status: Literal["pending", "in-progress", "completed", "failed", "skipped"]
    result: str | None = None
    error: str | None = None
    attempts: int = 0
    depends_on: list[str] = []
    wave: int = 1
    parallel: bool = False
    kind: str = "act"
    folder: str = ""


class PlanView(BaseModel):
    """A plan. `status` is what it does, `interrupted` if its run ended before it; `wanted` is what was asked of it."""

    plan_id: str
    thread_id: str
    run_id: str
    version: int
    status: Literal["running", "paused", "revising", "stopped", "done", "interrupted"]
    wanted: Literal["run", "pause", "stop"]
    steps: list[PlanStepView]
    contract: dict[str, Any] | None = None


class MemorySource(BaseModel):
    """Where a fact is from: what the person said, or a version of a file; what is not known any more is absent."""

    kind: Literal["said", "file"]
    thread_id: str | None = None
    message_id: str | None = None
    file_id: str | None = None
    name: str | None = None
    version: int | None = None


class MemoryView(BaseModel):
    """A fact that you asked to be remembered."""

    id: str
    text: str
    source: MemorySource
    created_at: datetime
    updated_at: datetime


class MemoryList(BaseModel):
    """What is remembered of you, the newest first."""

    items: list[MemoryView]


class MemoryPatch(Body):
    """Another text for a fact."""

    text: Annotated[str, Field(min_length=1, max_length=500, pattern=r"\S")]


class ModelMessage(BaseModel):
    """A message as a model was sent it."""

    id: str | None = None
    role: Literal["system", "user", "assistant", "tool"]
    text: str
    tool_calls: list[dict[str, Any]] = []
    tool_call_id: str | None = None


class ModelCallView(BaseModel):
    """One request to a model. `message_id` is its answer's; `estimated_tokens` is what was expected to be read."""

    message_id: str
    messages: list[ModelMessage]
    estimated_tokens: int
    input_tokens: int | None = None


class RunContextView(BaseModel):
    """What the models of a run were sent, in order."""

    run_id: str
    calls: list[ModelCallView]


class ResultView(BaseModel):
    """A long result in full."""

    reference: str
    text: str


class UndoBody(Body):
    """How to undo."""

    preview: bool = Field(default=False, strict=True, description="Say what would be undone, and undo nothing.")
    change_id: int | None = Field(default=None, ge=0, description="Only this change of the run.")


class RedoBody(Body):
    """How to do again what was undone."""

    preview: bool = Field(default=False, strict=True, description="Say what would be done again, and do nothing.")


class ThreadUndoBody(Body):
    """How to undo what the runs of a thread did."""

    preview: bool = Field(default=False, strict=True, description="Say what would be undone, and undo nothing.")
    since_run: Id | None = Field(default=None, description="Only this run of the thread and those after it.")


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


class GrantView(BaseModel):
    """What the assistant may do unasked: `kinds` of action in the folders; `used` of `max_items`; to `expires_at`."""

    grant_id: str
    kinds: list[str]
    folder_ids: list[str]
    max_items: int
    used: int
    expires_at: datetime
    given_at: datetime
    approval_id: str


class GrantList(BaseModel):
    """The grants that hold now, the newest first."""

    items: list[GrantView]


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
    """One thing that a run changed. `summary` is the journal's sentence, `text` the same in the person's language;
    `undone_by` is the change that took it back."""

    id: int
    tool: str
    summary: str
    item_id: str | None
    text: str
    undone_by: int | None


class ChangeGroupView(BaseModel):
    """The changes of one kind, with one sentence for all; `undone` of them were taken back since."""

    action: str
    count: int
    undone: int
    text: str
    change_ids: list[int]


class ChangeList(BaseModel):
    """All that a run changed, in order, and grouped by what was done."""

    items: list[ChangeView]
    groups: list[ChangeGroupView] = []


class UndoView(BaseModel):
    """What was undone (or done again), what was left and why, and the change that this is itself (None in a preview).

    What is left has `change_id`, `item_id`, `summary`, `reason`, and `text`: the reason in the person's language.
    """

    undone: list[ChangeView]
    skipped: list[dict[str, Any]]
    change_id: int | None
    preview: bool
