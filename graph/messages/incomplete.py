"""Answers that end in the middle: stopped by the person, or broken off by the model's service."""

from collections.abc import Mapping
from typing import Final, Literal

from langchain_core.messages import AIMessage, AnyMessage

Ending = Literal["stopped", "broken_off"]

INCOMPLETE: Final = "incomplete"
"""Key in an answer's `additional_kwargs`: how it ended before its end."""
TOLD: Final[Mapping[Ending, str]] = {
    "stopped": "[The person stopped this answer here. They have seen what stands above.]",
    "broken_off": "[This answer broke off here: the language model failed. The person has seen what stands above.]",
}
"""Follows such an answer where a model reads it."""


def incomplete_answer(message_id: str, text: str, ending: Ending) -> AIMessage:
    """Return the words that were shown of an answer as a message of the thread."""
    return AIMessage(text, id=message_id, additional_kwargs={INCOMPLETE: ending})


def ending_of(message: AnyMessage) -> Ending | None:
    """Return how an answer ended before its end, None for every other message."""
    found = message.additional_kwargs.get(INCOMPLETE)
    return found if found in TOLD else None


def with_ending(message: AnyMessage) -> AnyMessage:
    """Return the message as a model gets it: with a word about its end, if it did not become whole."""
    ending = ending_of(message)
    return message.model_copy(update={"content": f"{message.text}\n\n{TOLD[ending]}"}) if ending else message
