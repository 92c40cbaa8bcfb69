"""A plan's step as a message of its own in a model's view. The thread has no such message: nobody has said it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from langchain_core.messages import AnyMessage, BaseMessage, HumanMessage

STEP: Final = "step"
"""Key in the `additional_kwargs` of a step's message: a person's own message never has it."""


@dataclass(frozen=True, slots=True)
class StepMessage:
    """The text of a step, and the id of the last message of the thread before it began."""

    after: str
    text: str


def is_step(message: BaseMessage) -> bool:
    """Say whether the message is a plan's step, and not the person's."""
    return STEP in message.additional_kwargs


def insert_step(shown: Sequence[AnyMessage], thread: Sequence[AnyMessage], step: StepMessage) -> list[AnyMessage]:
    """Return the shown messages of a thread with the step's behind those that came before it."""
    end = next((index for index, message in enumerate(thread) if message.id == step.after), -1)
    before = {message.id for message in thread[: end + 1]}
    place = next((index for index in range(len(shown), 0, -1) if shown[index - 1].id in before), 0)
    return [*shown[:place], HumanMessage(step.text, additional_kwargs={STEP: True}), *shown[place:]]
