"""The graph's state: plain JSON values and messages, so that every checkpoint can be read by any client."""

from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, NotRequired, Required, cast

from langchain_core.messages import AnyMessage, HumanMessage
from langgraph.channels.delta import DeltaChannel
from typing_extensions import TypedDict

from graph.langgraph_internals import MESSAGES_REDUCER
from graph.language import Language

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

AgentName = Literal["document_agent", "drive_agent", "search_agent"]
RouteMethod = Literal["pattern", "sticky", "score", "model", "handover"]
"""Words that leave no doubt; going on with the last one; the likeliest by a score; the router's model; another one."""
Risk = Literal["read", "write", "share", "delete"]
Mode = Literal["attended", "unattended"]
"""Whether the person is there while the run works, or comes back to it later."""
Origin = Literal["own", "imported", "shared", "outside"]
"""The author of words: the person; an import in the person's file; another person; no file."""
StepStatus = Literal["pending", "in-progress", "completed", "failed", "skipped"]

AGENTS: Final[tuple[AgentName, ...]] = ("document_agent", "drive_agent", "search_agent")

MESSAGES: Final = DeltaChannel[list[AnyMessage]](
    cast("Callable[[Any, Sequence[Any]], Any]", MESSAGES_REDUCER), snapshot_frequency=1000
)
"""Keeps differences between two full copies every 1000 writes: 14 MB instead of 4.7 GB for 200 long turns."""


WRITTEN_IDS: Final = 16
"""Ids of the turn's messages that every checkpoint carries: one would do, were no message ever replaced."""


class Summary(TypedDict):
    """`text` tells of the `turns` from the message with the id `first` to the one with the id `last`.

    `created_at`: ISO 8601; of joined summaries, the newer one's. Those of older versions have none.
    """

    first: str
    last: str
    turns: int
    text: str
    created_at: NotRequired[str]


class Attachment(TypedDict):
    """A file or folder that the person attached to their message, by its id."""

    id: str


class PlaceOfPerson(TypedDict, total=False):
    """The person's place: the open file and the open folder, as ids that the drive checks; both may be None.

    `attachments` are those of the turn's message.
    """

    file_id: str | None
    folder_id: str | None
    attachments: list[Attachment]


def join_attachments(first: "Sequence[Attachment]", then: "Sequence[Attachment]") -> list[Attachment]:
    """Return both in order, each item once."""
    return [{"id": key} for key in dict.fromkeys(one["id"] for one in (*first, *then))]


class Route(TypedDict):
    """The route of a turn. `confidence` is 0 to 1; `reason` is in the person's language.

    `corrects`: the person says the last action should have been another.
    """

    agent: AgentName
    confidence: float
    reason: str
    method: RouteMethod
    needs_plan: bool
    corrects: NotRequired[bool]


Refusal = Literal["rejected", "expired", "answered", "unclear"]
"""Why a call was not made: the person said no, nobody answered in time, they said something else or nothing clear."""


class Step(TypedDict):
    """One step of a plan. `result` is its specialist's last message.

    `attempts` counts from 1 once it started; `after` is the id of the last message before the running attempt.
    `question` is its question to the person, for whose answer it waits, pending again. `depends_on` are the ids of
    steps that have to be completed before it; steps of one `wave` don't need one another, and are `parallel` if there
    are several. A `map` step is carried out on each file of `folder`. `refusal` is why it was not allowed.
    """

    id: str
    title: str
    agent: AgentName
    instruction: str
    status: StepStatus
    result: str | None
    error: str | None
    attempts: int
    after: str | None
    question: NotRequired[str]
    depends_on: NotRequired[list[str]]
    wave: NotRequired[int]
    parallel: NotRequired[bool]
    kind: NotRequired[Literal["act", "map"]]
    folder: NotRequired[str]
    refusal: NotRequired[Refusal]


class Plan(TypedDict):
    """The steps of a turn, done in order.

    `wanted` is the person's command (run, pause or stop), `status` its state; `version` counts their changes,
    `revision` those of the planner. `contract` are the bounds that the person agreed to (`graph/policy/contract.py`),
    `proposal` is the question about them while it waits. `attachments` are those of the message that it was made for.
    """

    plan_id: str
    steps: list[Step]
    version: NotRequired[int]
    revision: NotRequired[int]
    wanted: NotRequired[Literal["run", "pause", "stop"]]
    status: NotRequired[Literal["running", "paused", "revising", "waiting", "stopped", "done"]]
    contract: NotRequired[dict[str, Any] | None]
    proposal: NotRequired[dict[str, Any] | None]
    attachments: NotRequired[list[Attachment]]


class Effect(TypedDict):
    """The effect of a call: at most 50 of its `count` items (id, name, path, change), who gains or loses access, and
    whether it can be undone.
    """

    count: int
    items: list[dict[str, Any]]
    gains_access: list[str]
    loses_access: list[str]
    reversible: bool


class OutsideCall(TypedDict):
    """The server and tool of a call of one of the person's own MCP servers, by the server's own name of the tool.

    `name` is the name that the model calls, `mcp__{server}__{tool}`; calls of earlier versions do not have it.
    `message_id` is the message of the thread that has the call's record, `others` are the items of other people that
    the call was made of. `agreed` is a digest of where the call goes, once it is judged.
    """

    server_id: str
    server_name: str
    tool: str
    display_name: str
    name: NotRequired[str]
    message_id: str
    others: list[str]
    agreed: NotRequired[str]


class Call(TypedDict):
    """A tool call as it was judged, frozen: nothing of it is worked out again when the person has answered.

    `args` fit the tool's schema. `etag` is the target's when the preview was made. `digest` binds name, args and etag.
    `standing`: allowed (the policy lets it run), asked (waits for the person), approved, refused. `effect` is the dry
    run's, without its diff, which is in the preview; None if the tool knows none. `code` is the reason's; `covered_by`
    is the grant that lets it run, or `plan`; `passage` is the text read before that most likely led to it, `sources`
    the files that may have. `action` is the kind of action that a grant may allow, None if none may. `outside`: it is a
    call of the person's own server.
    """

    tool_call_id: str
    name: str
    args: dict[str, Any]
    risk: Risk
    reason: str
    preview: str
    reversible: bool
    etag: str | None
    digest: str
    standing: Literal["allowed", "asked", "approved", "refused"]
    approved_by: str | None
    approved_key: NotRequired[str | None]
    effect: NotRequired["Effect | None"]
    code: NotRequired[str]
    covered_by: NotRequired[str | None]
    approval_id: NotRequired[str | None]
    passage: NotRequired["Passage | None"]
    sources: NotRequired["list[Taint]"]
    action: NotRequired[str | None]
    outside: NotRequired["OutsideCall | None"]


class Taint(TypedDict):
    """A file of which words were read that are not the person's own; `file_id` is empty if it is no file."""

    file_id: str
    name: str
    path: str
    origin: Origin


class Passage(Taint):
    """The text that is shown beside an approval; may be empty."""

    excerpt: str


def newest_taint(before: Taint | None, newer: Taint | None) -> Taint | None:
    """Keep a thread tainted for as long as it lives; the last foreign file is named."""
    return newer or before


class Approval(TypedDict):
    """One question to the person about the asked calls. Times are ISO 8601 in UTC; `digests` by tool_call_id."""

    approval_id: str
    run_id: str
    created_at: str
    expires_at: str
    digests: dict[str, str]
    status: Literal["pending", "resolved", "expired"]
    decisions: list[dict[str, Any]]


class ChangeNote(TypedDict):
    """A change of the drive made in this turn. `change_id` is the journal's number, `summary` the tool's sentence."""

    change_id: int
    tool_call_id: str
    tool: str
    summary: str


class LimitReached(TypedDict):
    """The limit at which a turn was ended. `message` is told to the person; `retry_after_seconds` of a rate only."""

    code: Literal[
        "tool_rounds", "run_tokens", "run_cost", "tool_rate", "repeated_call", "argument_size", "outside_rounds"
    ]
    message: str
    retry_after_seconds: NotRequired[int]


class Turn(TypedDict):
    """The running turn. `message_id` is that of the person's message; in older threads it is the `run_id`.

    `tainted`: content of a file was read in it, so instructions may have come in with data. `usage` counts tokens.
    `written` has the ids of the newest messages that the graph wrote in this turn: later messages are from outside.
    `begun_at` is when the message was taken, ISO 8601 in UTC: "today" is that day, however long the turn waits.
    """

    run_id: str
    message_id: NotRequired[str]
    begun_at: NotRequired[str]
    language: Language
    tainted: bool
    changes: list[ChangeNote]
    usage: dict[str, int]
    written: list[str]


class TurnUpdate(TypedDict, total=False):
    """An update of the turn by a node; parallel nodes may send one at once. With `run_id` it begins a new turn."""

    run_id: str
    message_id: str
    begun_at: str
    language: Language
    tainted: bool
    changes: list[ChangeNote]
    usage: dict[str, int]
    written: list[str]


def merge_turn(turn: Turn | None, update: TurnUpdate) -> Turn:
    """Begin a new turn, or add to the running one: lists are joined, tokens summed, taint stays."""
    if turn is None or "run_id" in update:
        begun = new_turn(update.get("run_id", ""), update.get("language", "en"))
        if "message_id" in update:
            begun["message_id"] = update["message_id"]
        if "begun_at" in update:
            begun["begun_at"] = update["begun_at"]
        return {**begun, "written": update.get("written", []), "usage": update.get("usage", {})}
    return {
        **turn,
        "tainted": turn["tainted"] or update.get("tainted", False),
        "changes": [*turn["changes"], *update.get("changes", [])],
        "usage": _sum(turn["usage"], update.get("usage", {})),
        "written": [*turn["written"], *update.get("written", [])][-WRITTEN_IDS:],
    }


def merge_findings(found: dict[str, Any] | None, update: dict[str, Any] | None) -> dict[str, Any]:
    """Add findings in files, by their ids; None begins anew."""
    return {**(found or {}), **update} if update is not None else {}


def new_turn(run_id: str, language: Language) -> Turn:
    """Return a turn in which nothing has happened yet."""
    return {"run_id": run_id, "language": language, "tainted": False, "changes": [], "usage": {}, "written": []}


def _sum(left: dict[str, int], right: dict[str, int]) -> dict[str, int]:
    return {key: left.get(key, 0) + right.get(key, 0) for key in left | right}


class GraphInput(TypedDict, total=False):
    """The input of a client. The graph takes only the human messages."""

    messages: Annotated[list[AnyMessage], MESSAGES]
    place: PlaceOfPerson


class Narrowed(TypedDict):
    """`model` was refused a request of the thread for its length: since then its window has so many `tokens`."""

    model: str
    tokens: int


class State(TypedDict, total=False):
    """The root state. `last_run_id` is the newest earlier run of the thread that changed something,
    `last_change` its newest change.

    `summaries` cover the messages before `window_start`, the id of the first message that models still see;
    `token_scale` is the factor for estimates of tokens, as the model's reports have shown; `rounds` counts the
    turn's rounds of tool calls; `failure` is why the running step's model gave up, if it did; `limit` is the limit that
    ended the turn before its answer, if any did; `survey` has the files that a step over many reads, and `findings`
    their findings so far (`graph/planning/map_reduce/prompts.py`). `last_plan` is the newest plan of an earlier turn
    that ended. `attached` are the attachments of the thread's messages, newest first. `taint` is the last file that was
    read in the thread whose words are not the person's own, if there is any.
    """

    messages: Required[Annotated[list[AnyMessage], MESSAGES]]
    place: PlaceOfPerson
    attached: list[Attachment]
    route: Route | None
    plan: Plan | None
    last_plan: Plan | None
    calls: list[Call]
    approval: Approval | None
    rounds: int
    summaries: list[Summary]
    window_start: str | None
    token_scale: float
    narrowed: Narrowed | None
    failure: str | None
    limit: LimitReached | None
    taint: Annotated[Taint | None, newest_taint]
    survey: dict[str, Any] | None
    findings: Annotated[dict[str, Any], merge_findings]
    turn: Annotated[Turn, merge_turn]
    last_run_id: str | None
    last_change: ChangeNote | None


Update = dict[str, Any]
"""The update of a node: the keys of `State` that it changes, each in the form that the key's channel takes."""


def current_step(state: State) -> Step | None:
    """Return the step in progress, if the turn has a plan."""
    plan = state.get("plan")
    return next((step for step in plan["steps"] if step["status"] == "in-progress"), None) if plan else None


def waiting_plan(state: State) -> Plan | None:
    """Return the plan if one of its steps asked the person something and it ended its turn with that."""
    plan = state.get("plan")
    return plan if plan and plan.get("status") == "waiting" else None


def ended_plan(state: State) -> Plan | None:
    """Return the plan if it waits for no answer any more: its turn is over."""
    return None if waiting_plan(state) else state.get("plan")


def running_turn(state: State) -> Turn:
    """Return the turn that `recall` began."""
    return state.get("turn") or new_turn("", "en")


def message_id_of(turn: Turn) -> str:
    """Return the id of the message that the turn answers."""
    return turn.get("message_id") or turn["run_id"]


def is_tainted(state: State) -> bool:
    """Say whether the thread has read words of others than the person, in this turn or before."""
    return bool(state.get("taint")) or running_turn(state)["tainted"]


def said_last(state: State) -> str:
    """Return the person's newest message."""
    return next((message.text for message in reversed(state["messages"]) if isinstance(message, HumanMessage)), "")


def active_agent(state: State) -> AgentName:
    """Return the specialist whose turn it is: the running step's, else the routed one."""
    step = current_step(state)
    if step:
        return step["agent"]
    route = state.get("route")
    return route["agent"] if route else "drive_agent"
