"""The moving part of a prompt in the turn's own message: the place, its content, the moment, the memories.

A service's cache serves the longest beginning that a request shares with an earlier one, so parts that may differ from
one turn to the next stand behind all that stays: in front of the person's newest words, or of the step that is carried
out.
"""

from collections.abc import Sequence
from typing import Any, Final

from langchain_core.messages import AnyMessage, BaseMessage, HumanMessage

from graph.messages.steps import is_step

CONTEXT: Final = "context_characters"
"""Key in the `additional_kwargs` of a message in a view: how many characters at its beginning are of the product."""
BETWEEN: Final = "\n\n"


def with_context(messages: Sequence[AnyMessage], text: str, turn: str) -> list[AnyMessage]:
    """Return the messages of a view with the text in front of the turn's one: the step, else the message of the id."""
    if not text:
        return [*messages]
    place = _place(messages, turn)
    if place is None:
        return [HumanMessage(text, additional_kwargs={CONTEXT: len(text)}), *messages]
    said = messages[place]
    context = text + BETWEEN
    content: Any = context + said.content if isinstance(said.content, str) else [_part(context), *said.content]
    marks = {**said.additional_kwargs, CONTEXT: len(context)}
    return [
        *messages[:place],
        said.model_copy(update={"content": content, "additional_kwargs": marks}),
        *messages[place + 1 :],
    ]


def context_of(message: BaseMessage) -> str:
    """Return the product's text at the beginning of a message, before the person's own words."""
    return str(message.text)[: message.additional_kwargs.get(CONTEXT, 0)]


def _part(text: str) -> dict[str, str]:
    return {"type": "text", "text": text}


def _place(messages: Sequence[AnyMessage], turn: str) -> int | None:
    people = [at for at, message in enumerate(messages) if isinstance(message, HumanMessage)]
    steps = [at for at in people if is_step(messages[at])]
    of_turn = [at for at in people if messages[at].id == turn]
    return next((places[-1] for places in (steps, of_turn, people) if places), None)
