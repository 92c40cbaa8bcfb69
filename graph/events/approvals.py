"""Calls that wait for a person: their views, and the decisions."""

from typing import Annotated, Any, Literal, NotRequired

from typing_extensions import TypedDict

from graph.events.calls import NamedTool
from graph.events.markers import KEY
from graph.language import Language
from graph.links.text_fields import DATA, PRODUCT, ProductText
from graph.state import Effect, Passage, Risk, Taint


class QuestionView(TypedDict):
    """A question of one of the person's own MCP servers, which waits for the answer in the middle of a call.

    The server wrote `message`, the texts in `schema` and `url`. `schema` has the fields of a form, `url` is an address
    that only the person opens, `host` the one it leads to. `warning` is the fault of the question, `problem` the reason
    why the last answer could not be used; both may be empty.
    """

    server_id: ProductText
    server_name: str
    tool: str
    mode: Literal["form", "url"]
    message: str
    schema: Annotated[dict[str, Any], DATA]
    url: Annotated[str, DATA]
    host: ProductText
    warning: str
    problem: str
    language: Language


class ApprovalAction(NamedTool):
    """One call that waits for the person's decision. A grant given with an approval covers calls of `grant_kind`.

    `code` is the reason's, as in docs/GATEWAY.md; `passage` is the text read before that most likely led to the call,
    `sources` are the files that may have. `editable` are the arguments that an edit offers a person, with their kinds.
    With a `question` the call is under way, and `args` are the values that the form begins with.
    """

    tool_call_id: ProductText
    args: Annotated[dict[str, Any], DATA]
    risk: Risk
    reason: str
    preview: str
    reversible: bool
    etag: NotRequired[ProductText | None]
    effect: NotRequired[Effect | None]
    grant_kind: NotRequired[ProductText | None]
    code: NotRequired[ProductText]
    passage: NotRequired[Passage | None]
    sources: NotRequired[list[Taint]]
    editable: NotRequired[Annotated[dict[str, str], DATA]]
    question: NotRequired[QuestionView | None]


class ApprovalNeededEvent(TypedDict):
    """The run waits for the person. `expires_at` is ISO 8601 in UTC."""

    type: Literal["approval_needed"]
    approval_id: ProductText
    expires_at: ProductText
    actions: list[ApprovalAction]


class RunParkedEvent(TypedDict):
    """An unattended run waits for an approval; its stream may end here."""

    type: Literal["run_parked"]
    run_id: ProductText
    approval_id: ProductText
    expires_at: ProductText


class DecisionView(TypedDict):
    """The decision on one call, which `about` names in a line: its action and its items, or the data for a server.

    `message` says why it was not approved; `grant_id` is the grant given with it.
    """

    tool_call_id: ProductText
    type: Literal["approve", "edit", "reject", "respond"]
    about: NotRequired[str]
    message: NotRequired[str]
    grant_id: NotRequired[ProductText]


class ApprovalResolvedEvent(TypedDict):
    """The person decided, the approval expired, or the run was cancelled."""

    type: Literal["approval_resolved"]
    approval_id: Annotated[str, PRODUCT, KEY]
    decisions: list[DecisionView]
    status: Literal["resolved", "expired", "cancelled"]


class ApprovalExpiredEvent(TypedDict):
    """Nobody decided in time, so the calls are not made. `approval_resolved` with `expired` follows."""

    type: Literal["approval_expired"]
    approval_id: Annotated[str, PRODUCT, KEY]
    expires_at: ProductText
    tool_call_ids: list[ProductText]
