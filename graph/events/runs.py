"""A run begins and ends: its first event, its last one, and its changes in the drive."""

from typing import Annotated, Literal, NotRequired

from typing_extensions import TypedDict

from graph.events.markers import FINAL
from graph.links.text_fields import ProductText
from graph.state import LimitReached


class ChangeView(TypedDict):
    """A change in the journal: `summary` is the journal's sentence, `text` the same in the person's language.

    `undone_by` is the change that took it back.
    """

    id: int
    tool: str
    summary: str
    item_id: ProductText | None
    text: str
    undone_by: int | None


class ChangeGroup(TypedDict):
    """The changes of one kind, with one sentence for all; `undone` of them were taken back since."""

    action: ProductText
    count: int
    undone: int
    text: str
    change_ids: list[int]


class ReplacedRun(TypedDict):
    """The run whose message this run's takes the place of, with its changes in the drive that were not taken back.

    `undo` is the address that takes them back, null without any. Nothing is undone unasked.
    """

    run_id: ProductText
    changes: list[ChangeView]
    groups: list[ChangeGroup]
    undo: ProductText | None


class RunEvent(TypedDict):
    """The first event of a run. `replaces` is the run of the version of its message before this one."""

    type: Literal["run"]
    run_id: ProductText
    thread_id: ProductText
    replaces: NotRequired[ReplacedRun]


class DoneEvent(TypedDict):
    """The last event of a run that did not fail. `limit` is the limit that ended the turn before its answer."""

    type: Annotated[Literal["done"], FINAL]
    run_id: ProductText
    status: Literal["success", "cancelled"]
    usage: dict[str, int]
    changes: list[ChangeView]
    groups: list[ChangeGroup]
    limit: NotRequired[LimitReached]


class ErrorEvent(TypedDict):
    """The last event of a run that failed, with the changes that it had made."""

    type: Annotated[Literal["error"], FINAL]
    run_id: ProductText
    code: ProductText
    message: str
    retryable: bool
    changes: NotRequired[list[ChangeView]]
    groups: NotRequired[list[ChangeGroup]]
