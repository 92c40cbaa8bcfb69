"""The outcome of a turn's calls in words, for when the model calls tools and then says nothing."""

from collections.abc import Mapping
from itertools import takewhile
from typing import Final

from langchain_core.messages import ToolMessage

from graph.language import Language
from graph.messages.written import outcome_of
from graph.state import State, message_id_of, running_turn

READ: Final[Mapping[Language, str]] = {
    "en": "The steps above were carried out, but the language model gave no answer about them. Ask once more for one.",
    "zh": "上面的步骤已经完成，但语言模型没有给出回答。请再问一次。",
}
FAILED: Final[Mapping[Language, str]] = {
    "en": "It did not work, as shown above, and the language model gave no answer about it.",
    "zh": "如上所示，操作没有成功，语言模型也没有给出回答。",
}


def silent_outcome(state: State) -> str:
    """Return what came of the running turn's calls: its changes, else whether the last one worked; empty without."""
    turn = running_turn(state)
    begun = message_id_of(turn)
    of_turn = takewhile(lambda message: message.id != begun, reversed(state["messages"]))
    outcomes = [outcome_of(message) for message in of_turn if isinstance(message, ToolMessage)]
    if not outcomes:
        return ""
    if changes := [change["summary"] for change in turn["changes"]]:
        return "\n".join(changes)
    return (READ if outcomes[0] == "done" else FAILED)[turn["language"]]
