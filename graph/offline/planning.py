"""A message of several requests as steps: the answer to `TaskPlan`."""

from typing import Any, Final

from graph.offline.reading.conversation import Conversation
from graph.offline.routing import decide, language_of
from graph.offline.understanding.intents import agent_for
from graph.offline.understanding.rendering import instruction, title
from graph.offline.understanding.requests import understand

MOST_STEPS: Final = 8


def plan(conversation: Conversation) -> dict[str, Any]:
    """Return the arguments of `TaskPlan`: one step for each request, in order. What is not understood is one step."""
    language = language_of(conversation)
    intents = understand(conversation.asked, file_open=conversation.sections.file is not None)
    steps = [
        {"title": title(intent, language), "agent": agent_for(intent), "instruction": instruction(intent, language)}
        for intent in intents[:MOST_STEPS]
    ]
    asked = conversation.asked
    whole = {
        "title": " ".join(asked.split())[:60] or "…",
        "agent": decide(conversation)["agent"],
        "instruction": asked or "…",
    }
    return {"steps": steps or [whole]}
