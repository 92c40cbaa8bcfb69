"""The answer of a turn as it is written, the model's thoughts before it, and the quotations in it."""

from typing import Annotated, Literal, NotRequired

from typing_extensions import TypedDict

from graph.events.markers import KEY
from graph.links.text_fields import PRODUCT, ProductText

WhyUnverified = Literal[
    "",
    "absent",
    "translation",
    "summary",
    "not_found",
    "earlier_version",
    "unavailable",
    "no_words",
    "no_source",
    "too_long",
]


class ContentEvent(TypedDict):
    """A delta of the message `message_id` of the thread. The graph emits it only for text that no model streamed.

    `step_id` is the step of the plan that is carried out.
    `restarts`, after a restart of the service or where the text so far was thoughts: this is the whole new text since
    the last event of another type.
    """

    type: Literal["content"]
    text: str
    message_id: Annotated[str, PRODUCT]
    step_id: NotRequired[Annotated[str, PRODUCT]]
    restarts: NotRequired[bool]


class ReasoningEvent(TypedDict):
    """A delta of the model's thoughts before it answers, in the message `message_id`; no part of the answer.

    `step_id` is the step of the plan that is carried out. Not every model tells, and a replay may leave it out.
    """

    type: Literal["reasoning"]
    text: str
    message_id: Annotated[str, PRODUCT]
    step_id: NotRequired[Annotated[str, PRODUCT]]


class ReadingEvent(TypedDict):
    """The model's server has read so many tokens (`read`) of the request's `total`, and will answer then.

    Only servers that tell it have it (llama.cpp); `step_id` is the step of the plan that is carried out.
    """

    type: Literal["reading"]
    read: int
    total: int
    step_id: NotRequired[Annotated[str, PRODUCT]]


class CitationView(TypedDict):
    """A quotation in an answer. `verified`: it stands, word for word, in that `version` at that `place`.

    `reason` says why it is not verified. `is_current`: the version was still the newest one. `uri` (a resource) and
    `address` (a page for people) open the file at the place; both are empty if it is not verified.
    """

    number: int
    quote: str
    verified: bool
    reason: WhyUnverified
    file_id: ProductText
    name: str
    path: str
    version: int | None
    is_current: bool
    place: str
    heading: str
    uri: ProductText
    address: ProductText


class CitationsEvent(TypedDict):
    """The citations of an answer, after its text; `message_id` is the answer's in the thread."""

    type: Literal["citations"]
    message_id: Annotated[str, KEY]
    citations: list[CitationView]
