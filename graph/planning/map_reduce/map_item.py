"""Read one file for a step over many, in a task of its own; `AGENT_MAP_CONCURRENCY` tasks read at a time."""

import asyncio
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, Literal
from weakref import WeakValueDictionary

from langchain_core.messages import BaseMessage, HumanMessage, SystemMessage
from langgraph.runtime import Runtime
from typing_extensions import TypedDict

from graph.agents.authorship import foreign_sources, reads_of
from graph.context import RunContext
from graph.dependencies import GraphDependencies
from graph.drive.connections import Toolbox
from graph.drive.tool_names import READ_FILE
from graph.errors import AgentError, ModelContextError, ModelError
from graph.events.sending import emit
from graph.limits.limits import limit_reached
from graph.messages.written import text_of
from graph.models.asking import ask, cut_notice
from graph.models.shortening import ask_once_shorter
from graph.planning.map_reduce.prompts import (
    READ,
    WHOLE,
    Finding,
    Item,
    Survey,
    answers_text,
    file_text,
    reason_of,
    reply_of,
    system_text,
)
from graph.settings import AgentSettings
from graph.state import LimitReached, Turn, Update

if TYPE_CHECKING:
    from graph.language import Language
    from graph.policy.provenance import Read

ATTEMPTS: Final = 2
PART_CHARACTERS: Final = 24_000
MAX_PARTS: Final = 8
FOUND_CHARACTERS: Final = 2_000


class ItemTask(TypedDict):
    """The input of one task: the file, its step (without the other files), the number of files, the turn."""

    item: Item
    survey: Survey
    total: int
    turn: Turn


class Gate:
    """Lets a few tasks of one step in at a time, and none after the model has failed for good or the turn's limit."""

    def __init__(self, settings: AgentSettings, turn: Turn) -> None:
        self.free = asyncio.Semaphore(settings.map_concurrency)
        self._settings = settings
        self._turn = turn
        self._spent: Counter[str] = Counter(turn["usage"])
        self._broken = ""

    def closed(self) -> str:
        """Return why no more files are read, empty while they are."""
        if self._broken:
            return self._broken
        turn: Turn = {**self._turn, "usage": dict(self._spent)}
        reached: LimitReached | None = limit_reached({"messages": [], "turn": turn}, self._settings)
        return reached["message"] if reached else ""

    def spend(self, usage: Mapping[str, int]) -> None:
        """Count the usage of an answer."""
        self._spent.update(usage)

    def fail(self, error: AgentError) -> None:
        """Take note of a failure: one that trying again can't help is the same for every other file."""
        if isinstance(error, ModelError) and not error.retryable and error.code == "model_authentication":
            self._broken = error.sentence


class Gates:
    """The gates of the steps that are at work; a gate is gone with its last task."""

    def __init__(self, settings: AgentSettings) -> None:
        self._settings = settings
        self._gates: WeakValueDictionary[str, Gate] = WeakValueDictionary()

    def of(self, step_id: str, turn: Turn) -> Gate:
        """Return the gate of a step."""
        gate = self._gates.get(step_id)
        if gate is None:
            gate = self._gates[step_id] = Gate(self._settings, turn)
        return gate


def make_map_item(deps: GraphDependencies) -> Any:
    """Return the node."""
    gates = Gates(deps.settings)

    async def map_item(task: ItemTask, runtime: Runtime[RunContext]) -> Update:
        gate = gates.of(task["survey"]["step_id"], task["turn"])
        async with gate.free:
            reading = Reading(deps, task, gate, runtime)
            finding = await reading.finding(deps.user(runtime))
        taints = await foreign_sources(reading.reads, deps.user(runtime), runtime.store)
        finding["of_others"] = any(taint["origin"] == "shared" for taint in taints)
        emit(
            {
                "type": "map_progress",
                "step_id": task["survey"]["step_id"],
                "item_id": finding["id"],
                "path": finding["path"],
                "status": finding["status"],
                "total": task["total"],
            }
        )
        turn = {"usage": dict(reading.used), "tainted": bool(taints)}
        update: Update = {"findings": {finding["id"]: finding}, "turn": turn}
        return {**update, "taint": taints[0]} if taints else update

    return map_item


class Reading:
    """Reads one file whole, part after part. `reads` says whose content it was."""

    def __init__(self, deps: GraphDependencies, task: ItemTask, gate: Gate, runtime: Runtime[RunContext]) -> None:
        self._deps = deps
        self._model, self._spending = deps.model("reader", runtime), deps.spending("reader", runtime)
        self._item = task["item"]
        self._survey = task["survey"]
        self._language: Language = task["turn"]["language"]
        self._gate = gate
        self.reads: list[Read] = []

    @property
    def used(self) -> Mapping[str, int]:
        """The usage of the model calls for it."""
        return self._spending.usage

    async def finding(self, user: RunContext) -> Finding:
        """Return the finding of the file; failures are findings too."""
        if why := self._gate.closed():
            return self._found("failed", why)
        try:
            return await self._read(await self._deps.connections.toolbox(user))
        except AgentError as failure:
            error = failure.in_language(self._language)
            self._gate.fail(error)
            return self._found("failed", error.sentence)

    async def _read(self, toolbox: Toolbox) -> Finding:
        said: list[tuple[str, str]] = []
        start, is_cut = 0, False
        for number in range(1, MAX_PARTS + 1):
            args = {"file_id": self._item["id"], "start": start, "end": start + PART_CHARACTERS}
            result = await toolbox.call(READ_FILE, args, meta={})
            data = result.structuredContent or {}
            if result.isError or not isinstance(data.get("text"), str):
                return self._found("failed", text_of(result))
            self.reads += reads_of(toolbox.facts_of(READ_FILE), result)
            said += [(f"part {number}", answer) for answer in await self._answers(data["text"])]
            start, total = int(data.get("end") or 0), int(data.get("total_characters") or 0)
            if start >= total:
                break
            is_cut = number == MAX_PARTS
        return await self._joined(said, is_cut=is_cut)

    async def _answers(self, text: str) -> list[str]:
        """Return the model's findings in a part of the file; it reads two halves if the whole is too long for it."""
        if not text.strip():
            return []
        try:
            found = [await self._ask(self._of_part(text))]
        except ModelContextError:
            middle = len(text) // 2
            found = [await self._ask(self._of_part(half)) for half in (text[:middle], text[middle:])]
        return [reply for one in found if (reply := reply_of(one))]

    async def _joined(self, said: list[tuple[str, str]], *, is_cut: bool) -> Finding:
        if not said:
            return self._found("nothing", "", is_cut=is_cut)
        if len(said) == 1:
            return self._found("read", said[0][1], is_cut=is_cut)
        asked = self._messages(WHOLE, answers_text(self._survey["task"], said))
        whole = reply_of(await ask_once_shorter(self._ask, asked))
        return self._found("read", whole or said[0][1], is_cut=is_cut)

    def _of_part(self, text: str) -> list[BaseMessage]:
        return self._messages(READ, file_text(self._survey["task"], self._item["path"], text))

    def _messages(self, system: str, request: str) -> list[BaseMessage]:
        return [SystemMessage(system_text(system, self._language, self._survey)), HumanMessage(request)]

    async def _ask(self, asked: Sequence[BaseMessage]) -> str:
        """Ask, once more if the model failed in a way that may pass."""
        for attempt in range(1, ATTEMPTS + 1):
            try:
                answer = await ask(self._model, asked, hidden=True)
            except ModelError as error:
                if attempt == ATTEMPTS or not error.retryable:
                    raise
                continue
            self._gate.spend(self._spending.add(answer, asked))
            return answer.text + cut_notice(answer, self._language)
        return ""

    def _found(self, status: Literal["read", "nothing", "failed"], text: str, *, is_cut: bool = False) -> Finding:
        shown = reason_of(text) if status == "failed" else text[:FOUND_CHARACTERS]
        return {**self._item, "status": status, "text": shown, "is_cut": is_cut}
