"""The messages of a conversation as a model sees them, read once: who said what, which calls gave what."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, cast

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage, ToolMessage

from graph.offline.reading.results import Result, read_result
from graph.offline.reading.sections import Sections, read_sections

READING: Final = frozenset(
    {
        "list_folder", "get_folder_tree", "get_file_info", "read_file", "list_versions", "search_files",
        "semantic_search_files", "list_shares", "list_changes", "whoami", "map_reduce_files", "read_bulk_result",
        "list_memories", "read_result",
    }
)  # fmt: skip
Item = Mapping[str, Any]
_EMAIL = re.compile(r"[A-Za-z0-9._%+-]+@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+")


@dataclass(frozen=True, slots=True)
class Call:
    """A tool call that was made, with its result, None if there is none yet. `turn` counts the person's messages.

    `segment` counts, within the turn, the answers that were given: every step of a plan has its own.
    """

    id: str
    name: str
    args: Mapping[str, Any]
    result: Result | None
    turn: int
    segment: int

    @property
    def reads(self) -> bool:
        """Whether the tool changes nothing."""
        return self.name in READING


@dataclass(frozen=True, slots=True)
class Said:
    """A text of the person or of the assistant."""

    by_person: bool
    text: str
    turn: int


@dataclass(frozen=True, slots=True)
class Conversation:
    """A whole conversation. `run_id` is the id of the person's newest message, `turn` its number from 1."""

    sections: Sections
    said: tuple[Said, ...]
    calls: tuple[Call, ...]
    run_id: str
    turn: int
    segment: int
    rounds: int
    system: str

    @property
    def request(self) -> str:
        """What has to be done now: the plan's step, or what the person said last."""
        return self.sections.instruction or self.asked

    @property
    def asked(self) -> str:
        """The person's newest message."""
        return next((said.text for said in reversed(self.said) if said.by_person), "")

    @property
    def running(self) -> list[Call]:
        """The calls of the running step, or of the turn if it has no plan."""
        return [made for made in self.calls if (made.turn, made.segment) == (self.turn, self.segment)]

    def answers(self) -> list[Said]:
        """Return what the assistant said, newest first."""
        return [said for said in reversed(self.said) if not said.by_person]

    def requests_before(self) -> list[str]:
        """Return what the person said before the newest message, newest first."""
        return [said.text for said in reversed(self.said) if said.by_person and said.turn < self.turn]

    def addresses(self) -> list[str]:
        """Return the addresses that the person wrote, newest first, each once."""
        written = [email for said in reversed(self.said) if said.by_person for email in _EMAIL.findall(said.text)]
        return list(dict.fromkeys(written))


def read_conversation(messages: Sequence[BaseMessage]) -> Conversation:
    """Read the messages in order. Results are joined to their calls by id, wherever they stand."""
    results = {message.tool_call_id: message for message in messages if isinstance(message, ToolMessage)}
    reader = _Reader(results)
    for message in messages:
        reader.take(message)
    return reader.conversation()


class _Reader:
    def __init__(self, results: Mapping[str, ToolMessage]) -> None:
        self._results = results
        self._system: list[str] = []
        self._said: list[Said] = []
        self._calls: list[Call] = []
        self._turn = 0
        self._segment = 0
        self._rounds = 0
        self._run_id = ""

    def take(self, message: BaseMessage) -> None:
        """Take in the next message."""
        if isinstance(message, SystemMessage):
            self._system.append(message.text)
        elif isinstance(message, HumanMessage):
            self._turn += 1
            self._segment = self._rounds = 0
            self._run_id = str(message.id or "")
            self._said.append(Said(by_person=True, text=message.text, turn=self._turn))
        elif isinstance(message, AIMessage):
            self._take_answer(message)

    def _take_answer(self, message: AIMessage) -> None:
        if message.text.strip():
            self._said.append(Said(by_person=False, text=message.text, turn=self._turn))
        if not message.tool_calls:
            self._segment += 1
            self._rounds = 0
            return
        self._rounds += 1
        for call in message.tool_calls:
            answered = self._results.get(str(call["id"]))
            result = read_result(answered) if answered else None
            args = cast("Mapping[str, Any]", call["args"])
            self._calls.append(Call(str(call["id"]), call["name"], args, result, self._turn, self._segment))

    def conversation(self) -> Conversation:
        """Return what was taken in."""
        system = "\n\n".join(self._system)
        return Conversation(
            read_sections(system),
            tuple(self._said),
            tuple(self._calls),
            self._run_id,
            self._turn,
            self._segment,
            self._rounds,
            system,
        )
