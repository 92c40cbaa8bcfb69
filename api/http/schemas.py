"""The JSON that the service's routes answer with."""

from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field
from typing_extensions import TypedDict

from api.runs.audit import ApprovalStatus
from graph.events.answers import CitationView
from graph.events.approvals import ApprovalAction
from graph.events.calls import ToolCallRecord
from graph.events.runs import ChangeGroup, ChangeView
from graph.links.text_fields import DATA, ProductText, Shape


class ToolCallShape(TypedDict):
    """A call in a message of the assistant."""

    tool_call_id: ProductText
    name: str
    args: Annotated[dict[str, Any], DATA]


class PlanStepView(BaseModel):
    """A step of a plan. `attempts` counts how often it began; a step with none can still be changed."""

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
    """A plan. `status` is `interrupted` if its run ended before the plan; `wanted` is the person's last command."""

    plan_id: str
    thread_id: str
    run_id: str
    version: int
    status: Literal["running", "paused", "revising", "waiting", "stopped", "done", "interrupted"]
    wanted: Literal["run", "pause", "stop"]
    steps: list[PlanStepView]
    contract: dict[str, Any] | None = None


class MemorySource(BaseModel):
    """The origin of a fact: a message of the person, or a version of a file. Ids of deleted things are absent."""

    kind: Literal["said", "file"]
    thread_id: str | None = None
    message_id: str | None = None
    file_id: str | None = None
    name: str | None = None
    version: int | None = None


class MemoryView(BaseModel):
    """A fact that you asked the assistant to remember."""

    id: str
    text: str
    source: MemorySource
    created_at: datetime
    updated_at: datetime


class MemoryList(BaseModel):
    """Your remembered facts, the newest first."""

    items: list[MemoryView]


class ModelMessage(BaseModel):
    """A message that was sent to a model."""

    id: str | None = None
    role: Literal["system", "user", "assistant", "tool"]
    text: Annotated[str, DATA]
    tool_calls: Annotated[list[dict[str, Any]], DATA] = []
    tool_call_id: str | None = None


class ModelCallView(BaseModel):
    """One request to a model. `message_id` is its answer's; `input_tokens` is the model's own count."""

    message_id: str
    messages: list[ModelMessage]
    estimated_tokens: int
    input_tokens: int | None = None


class RunContextView(BaseModel):
    """The requests of a run to its models, in order."""

    run_id: str
    calls: list[ModelCallView]


class ResultView(BaseModel):
    """A long result in full."""

    reference: str
    text: Annotated[str, DATA]


class ApprovalView(BaseModel):
    """An approval. An edit has to fit the schema of its tool in `args_schemas`, which are by the names of the tools."""

    approval_id: str
    thread_id: str
    run_id: str
    status: ApprovalStatus
    created_at: datetime
    expires_at: datetime
    actions: list[Annotated[dict[str, Any], Shape(ApprovalAction)]]
    args_schemas: Annotated[dict[str, dict[str, Any]], DATA] = {}
    decisions: Annotated[list[dict[str, Any]], DATA] = []
    decided_by: str | None = None
    decided_key: str | None = None
    decided_at: datetime | None = None


class ApprovalList(BaseModel):
    """The approvals that wait for the caller, oldest first."""

    items: list[ApprovalView]


class ApprovalsEvent(BaseModel):
    """How many approvals wait for the caller, and their ids, oldest first; at once and at each change."""

    type: Literal["approvals"] = "approvals"
    waiting: int
    approval_ids: list[str]


class GrantView(BaseModel):
    """A grant: `kinds` of action in the folders need no approval, for `max_items` items, until `expires_at`."""

    grant_id: str
    kinds: list[str]
    folder_ids: list[str]
    max_items: int
    used: int
    expires_at: datetime
    given_at: datetime
    approval_id: str


class GrantList(BaseModel):
    """The valid grants, the newest first."""

    items: list[GrantView]


class ModelView(BaseModel):
    """A model. Prices are those of a million tokens; None: nobody says."""

    name: str
    is_default: bool
    context_tokens: int
    input_price: float | None
    output_price: float | None


class ModelList(BaseModel):
    """The models that a conversation may have, the default one first."""

    items: list[ModelView]


class ThreadSummary(BaseModel):
    """A thread in a list. `model` is the one that was chosen for it; empty: its assistant's, or the default one."""

    thread_id: str
    title: str
    model: str = ""
    assistant_id: str
    created_at: datetime
    updated_at: datetime


class ThreadList(BaseModel):
    """Some of the caller's threads, the one used last first; `cursor` continues, None at the end."""

    items: list[ThreadSummary]
    cursor: str | None


class MessageView(BaseModel):
    """One message. A tool's has the id of its call and the call's status: done, error, cancelled or rejected.

    `citations` are those of the event of that name. `toolCalls` are the calls of your own MCP servers: consecutive ones
    stand together in the first message. Links are withheld in the assistant's `text`; the person's and a
    tool's are as they are. `versions` are the ids of all versions of a message of the person that has several.
    `incomplete`: the answer ends in the middle, `stopped` by a person or `broken_off` by an error.
    """

    id: str | None
    role: Literal["user", "assistant", "tool"]
    text: str
    tool_calls: list[Annotated[dict[str, Any], Shape(ToolCallShape)]] = []
    citations: list[Annotated[dict[str, Any], Shape(CitationView)]] = []
    records: list[Annotated[dict[str, Any], Shape(ToolCallRecord)]] = Field(default=[], serialization_alias="toolCalls")
    tool_call_id: ProductText | None = None
    name: str | None = None
    status: str | None = None
    versions: list[ProductText] = []
    incomplete: Literal["stopped", "broken_off"] | None = None

    def exact_fields(self) -> frozenset[str]:
        """Return the fields that no model wrote, and no file as text for people."""
        return frozenset() if self.role == "assistant" else frozenset({"text"})


RunStatus = Literal["running", "waiting", "success", "error", "cancelled"]


class RunView(BaseModel):
    """A run, which has the id of its message. `replaces` is the run of the version of the message before this one."""

    run_id: str
    thread_id: str
    status: RunStatus
    created_at: datetime
    finished_at: datetime | None
    replaces: str | None = None


class RunList(BaseModel):
    """Some of the caller's runs, newest first; `cursor` continues, None at the end."""

    items: list[RunView]
    cursor: str | None


class VersionOfMessage(BaseModel):
    """A version of a message: with its id `GET /api/threads/{thread_id}?version=` shows the thread as it was then."""

    message_id: str
    text: Annotated[str, DATA]
    created_at: datetime
    status: RunStatus
    is_current: bool


class VersionsOfMessage(BaseModel):
    """The versions of a message, the first one first."""

    items: list[VersionOfMessage]


class ThreadView(ThreadSummary):
    """A thread with its newest messages, its plan and route, the active run, and the approval that waits."""

    messages: list[MessageView]
    has_earlier: bool
    plan: Any = None
    route: Any = None
    run: RunView | None = None
    approval: ApprovalView | None = None

    def person_texts(self) -> list[str]:
        """Return the person's own messages."""
        return [message.text for message in self.messages if message.role == "user"]


class ThreadExport(ThreadView):
    """A whole thread with its calls and their results, citations and plan. `schema_version` counts changes of this."""

    schema_version: Literal[1] = 1
    exported_at: datetime
    messages: list[MessageView]
    runs: list[RunView]


class CancelView(BaseModel):
    """A run that was stopped, or is about to stop (answer 202)."""

    run_id: str
    status: Literal["cancelled", "cancelling"]


class OutsideCallView(BaseModel):
    """A call of one of your own MCP servers.

    `text` says that nothing here can undo its effects, certain or possible.
    """

    record: Annotated[dict[str, Any], Shape(ToolCallRecord)] = Field(serialization_alias="toolCall")
    text: str


class ChangeList(BaseModel):
    """The changes of a run, in order, and grouped by their kind.

    `outside` are its calls of your own MCP servers that were made, which no undo takes back.
    """

    items: list[ChangeView]
    groups: list[ChangeGroup] = []
    outside: list[OutsideCallView] = []


class UndoView(BaseModel):
    """The result of an undo (or redo): the changes taken back, those left and why, and its own change.

    A skipped change has `change_id`, `item_id`, `summary`, `reason`, and `text`: the reason in the person's language.
    `outside` are calls of your own MCP servers in an undone run, which stay as they are.
    """

    undone: list[ChangeView]
    skipped: list[dict[str, Any]]
    change_id: int | None
    preview: bool
    outside: list[OutsideCallView] = []
