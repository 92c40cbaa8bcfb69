"""The graph's state: plain JSON values and messages, so that every checkpoint can be read by any client."""

from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, Required, cast

from langchain_core.messages import AnyMessage
from langgraph.channels.delta import DeltaChannel
from langgraph.graph.message import (
    _messages_delta_reducer,  # pyright: ignore[reportPrivateUsage] - langgraph exports it under this name only
)
from typing_extensions import TypedDict

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

Language = Literal["en", "zh"]
AgentName = Literal["document_agent", "drive_agent", "search_agent"]
Risk = Literal["read", "write", "share", "delete"]
StepStatus = Literal["pending", "in-progress", "completed", "failed", "skipped"]

AGENTS: Final[tuple[AgentName, ...]] = ("document_agent", "drive_agent", "search_agent")

MESSAGES: Final = DeltaChannel[list[AnyMessage]](
    cast("Callable[[Any, Sequence[Any]], Any]", _messages_delta_reducer), snapshot_frequency=1000
)
"""Keeps differences between two full copies every 1000 writes: 14 MB instead of 4.7 GB for 200 long turns."""


class Place(TypedDict, total=False):
    """Where the person is: the open file and the open folder, as ids that the drive checks; both may be None."""

    file_id: str | None
    folder_id: str | None


class Route(TypedDict):
    """Who takes the turn. `confidence` is 0 to 1; `reason` is in the person's language."""

    agent: AgentName
    confidence: float
    reason: str
    method: Literal["pattern", "sticky", "model"]
    needs_plan: bool


class Step(TypedDict):
    """One step of a plan. `result` is what its specialist said at the end.

    `attempts` counts from 1 once it started; `after` is the id of the last message before the running attempt.
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


class Plan(TypedDict):
    """The steps of a turn, done in order."""

    plan_id: str
    steps: list[Step]


class Call(TypedDict):
    """A tool call as it was judged, frozen: nothing of it is worked out again when the person has answered.

    `args` fit the tool's schema. `etag` is the target's when the preview was made. `digest` binds name, args and etag.
    `standing`: allowed (the policy lets it run), asked (waits for the person), approved, refused.
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


class Turn(TypedDict):
    """What is known of the running turn. `run_id` is the id of the newest human message.

    `tainted`: content of a file was read in it, so instructions may have come in with data. `usage` counts tokens.
    `written` has the ids of the messages that the graph wrote in this turn: others came from outside.
    """

    run_id: str
    language: Language
    tainted: bool
    changes: list[ChangeNote]
    usage: dict[str, int]
    written: list[str]


class TurnUpdate(TypedDict, total=False):
    """What a node adds to the turn; parallel nodes may do so at once. With `run_id` it begins a new turn."""

    run_id: str
    language: Language
    tainted: bool
    changes: list[ChangeNote]
    usage: dict[str, int]
    written: list[str]


def merge_turn(turn: Turn | None, update: TurnUpdate) -> Turn:
    """Begin a new turn, or add to the running one: lists are joined, tokens summed, taint stays."""
    if turn is None or "run_id" in update:
        begun = new_turn(update.get("run_id", ""), update.get("language", "en"))
        return {**begun, "written": update.get("written", [])}
    return {
        **turn,
        "tainted": turn["tainted"] or update.get("tainted", False),
        "changes": [*turn["changes"], *update.get("changes", [])],
        "usage": _sum(turn["usage"], update.get("usage", {})),
        "written": [*turn["written"], *update.get("written", [])],
    }


def new_turn(run_id: str, language: Language) -> Turn:
    """Return a turn in which nothing has happened yet."""
    return {"run_id": run_id, "language": language, "tainted": False, "changes": [], "usage": {}, "written": []}


def _sum(left: dict[str, int], right: dict[str, int]) -> dict[str, int]:
    return {key: left.get(key, 0) + right.get(key, 0) for key in left | right}


class GraphInput(TypedDict, total=False):
    """What a client may send. Of `messages` only human ones are taken."""

    messages: Annotated[list[AnyMessage], MESSAGES]
    place: Place


class State(TypedDict, total=False):
    """The root state. `last_run_id` is the newest earlier run of the thread that changed something.

    `summary` tells of what lies before `window_start`, the id of the first message that models still see;
    `rounds` counts the turn's rounds of tool calls; `failure` is why the running step's model gave up, if it did.
    """

    messages: Required[Annotated[list[AnyMessage], MESSAGES]]
    place: Place
    route: Route | None
    plan: Plan | None
    calls: list[Call]
    approval: Approval | None
    rounds: int
    summary: str
    window_start: str | None
    failure: str | None
    turn: Annotated[Turn, merge_turn]
    last_run_id: str | None


Update = dict[str, Any]
"""What a node returns: the keys of `State` that it changes, each in the form that the key's channel takes."""


def current_step(state: State) -> Step | None:
    """Return the step in progress, if the turn has a plan."""
    plan = state.get("plan")
    return next((step for step in plan["steps"] if step["status"] == "in-progress"), None) if plan else None


def running_turn(state: State) -> Turn:
    """Return the turn that `recall` began."""
    return state.get("turn") or new_turn("", "en")


def active_agent(state: State) -> AgentName:
    """Return the specialist whose turn it is: the running step's, else the routed one."""
    step = current_step(state)
    if step:
        return step["agent"]
    route = state.get("route")
    return route["agent"] if route else "drive_agent"
