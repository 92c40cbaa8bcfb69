"""What a person chose of their servers, and what tests of turns read."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from langchain_core.messages import BaseMessage

from graph.context import RunContext
from graph.servers.choices import Choice
from tests.fakes.chat_model import prompt_of
from tests.graph.assistant import Assistant, Seen

NOTE = "mcp__notes__note"
RECORD = "assistant.toolCall.updated"


@dataclass
class Chosen:
    """What the person has chosen; a test may change it at any time."""

    choice: Choice

    async def chosen(self, user: RunContext) -> Choice:
        """Return it, whoever asks."""
        del user
        return self.choice

    def change(self, **fields: Any) -> None:
        """Change the one server."""
        self.choice = replace(self.choice, servers=(replace(self.choice.servers[0], **fields),))


Assemble = Callable[..., Assistant]


def records(seen: Seen) -> list[tuple[str, str]]:
    """(id, status) of each record that clients were sent."""
    return [(event["toolCall"]["id"], event["toolCall"]["status"]) for event in seen.of(RECORD)]


def system(request: Sequence[BaseMessage]) -> str:
    return prompt_of(request)
