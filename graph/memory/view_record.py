"""The record of a view, which an answer carries: by it the very messages can be shown again."""

import re
from collections.abc import Mapping, Sequence
from typing import Final, NotRequired

from langchain_core.messages import AIMessage, AnyMessage
from typing_extensions import TypedDict

from graph.messages.others import others_items
from graph.messages.stored_results import ResultStore
from graph.messages.window import Window

VIEW: Final = "view"
"""Key in an answer's `additional_kwargs`."""
MAX_CONTEXT: Final = 4_000
"""Characters of an earlier turn's context; a longer one costs more than its cache saves."""
FORGETTABLE: Final = ("<memories>", "<attachments>", "<attached_before>")
BETWEEN: Final = "\n\n"
SAID_ONCE: Final = re.compile(r"^<(role|document|related)>\n.*?\n</\1>$", re.MULTILINE | re.DOTALL)
"""Sections that a later turn shows only if they changed: the newest one of each counts.

No text of a file or a name can have such a section: tags in them are escaped.
"""


class SectionReference(TypedDict, total=False):
    """A section of the system message: its text if short, else a reference to the stored text or prompt."""

    text: str
    reference: str
    prompt: str


class StepReference(SectionReference, total=False):
    """The message of a plan's step, and the id of the thread's last message before the step began."""

    after: str


class ViewRecord(TypedDict):
    """The record of a view: its sections and messages, their estimated tokens, the step, and if it was `compact`.

    The first `fixed` sections are the system message, the others stand before the words of the message `turn`; without
    the two, all are the system message. Times of results are in the `time_zone`.
    """

    sections: list[SectionReference]
    messages: Window
    tokens: int
    step: NotRequired[StepReference]
    fixed: NotRequired[int]
    turn: NotRequired[str]
    compact: NotRequired[bool]
    time_zone: NotRequired[str]


def view_record_of(answer: AnyMessage) -> ViewRecord | None:
    """Return the record of the view behind this answer; None if there is none."""
    return answer.additional_kwargs.get(VIEW) if isinstance(answer, AIMessage) else None


async def earlier_contexts(messages: Sequence[AnyMessage], turn: str, result_store: ResultStore) -> dict[str, str]:
    """Return the contexts of earlier turns than `turn`, by the ids of their messages.

    A request that repeats them begins as the last one did, and is served from the service's cache. A context is left
    out if it is long, or tells of other people's items, memories or attachments: those may be withheld, forgotten or
    gone since.
    """
    answers = [message for message in messages if isinstance(message, AIMessage)]
    newest = {str(record["turn"]): answer for answer in answers if "turn" in (record := view_record_of(answer) or {})}
    parts = {key: _moving(answer) for key, answer in newest.items() if key != turn and not others_items([answer])}
    shown = [part for listed in parts.values() for part in listed]
    texts = {
        **await result_store.texts([part["reference"] for part in shown if "reference" in part]),
        **await result_store.prompts([part["prompt"] for part in shown if "prompt" in part]),
    }
    contexts = {key: BETWEEN.join(_text_of(part, texts) for part in listed) for key, listed in parts.items()}
    return {key: text for key, text in contexts.items() if len(text) <= MAX_CONTEXT and not _may_go(text)}


def without_repeated(moving: Sequence[str], earlier: Sequence[str]) -> list[str]:
    """Return the sections without those that the `earlier` turns show, oldest first, and that are still the newest."""
    newest = {found[1]: found[0] for text in earlier for found in SAID_ONCE.finditer(text)}
    return [part for part in moving if part not in newest.values()]


def _may_go(text: str) -> bool:
    return any(tag in text for tag in FORGETTABLE)


def _moving(answer: AnyMessage) -> Sequence[SectionReference]:
    record = view_record_of(answer)
    return record["sections"][record.get("fixed", 0) :] if record else []


def _text_of(part: SectionReference, texts: Mapping[str, str]) -> str:
    return part.get("text") or texts.get(part.get("prompt") or part.get("reference", ""), "")
