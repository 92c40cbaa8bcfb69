"""The outcome of a turn's calls in words, for when a model says nothing about them, or nothing that is fit to be read.

Small models answer a Chinese request in English, copy ids and names of tools from a result, or speak of the person as
somebody else. Of changes the drive's own sentences are told then; for anything else the model is asked once more.
"""

import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from itertools import takewhile
from typing import Any, Final, cast

from langchain_core.messages import AIMessage, HumanMessage, ToolMessage

from drive_server.kernel.texts import Texts
from graph.drive.connections import Toolbox
from graph.drive.sentences import text
from graph.drive.tool_names import LIST_CHANGES
from graph.errors import DriveUnavailableError, ModelOutputError
from graph.events.sending import TextWithdrawn, delta_listener, emit
from graph.language import Language, language_of
from graph.messages.grouping import call_ids
from graph.messages.steps import STEP
from graph.messages.written import outcome_of, say
from graph.state import ChangeNote, State, message_id_of, running_turn, said_last

TEXTS: Final = Texts.beside(__file__)
MAX_CHANGES: Final = 50
_FOR_MODELS: Final = re.compile(r" \((?:file|folder), id [^)]*\)|\s*Tell the person\b[^.]*\.")
_MACHINERY: Final = re.compile(
    r"\betag\b|\b(?:drive|search|document)_agent\b|\btransfer_to_agent\b|\bid [0-9a-f]{6,32}\b"
    r"|\A\d+ hits?\.|Tell the person\b",
    re.IGNORECASE,
)
_AS_IF_ABSENT: Final = re.compile(r"\A\W*the (?:person|user)\b", re.IGNORECASE)
_ADMITS: Final = re.compile(
    r"\b(?:not|no|cannot|unable|fail\w*|error|sorry|denied)\b|n't\b|\?|[没不无未]|失败|抱歉|？", re.IGNORECASE
)
_CHANGED_NAME: Final = re.compile(r"([^/]+?) \((?:file|folder), id|(\S+@\S+\.\w+)")
_FIGURE: Final = re.compile(r"\d+")
_SHORT_FIGURE: Final = 1
_OTHER_LANGUAGE: Final = re.compile(
    r"translat|english|chinese|mandarin|\bin [A-Z]\w+(?:ese|ish|an)\b|[\u7ffb\u8bd1]|英文|英语|中文|汉语", re.IGNORECASE
)


class TurnOutcome:
    """The outcome of the running turn so far."""

    def __init__(self, state: State, toolbox: Toolbox) -> None:
        self._turn = running_turn(state)
        self._toolbox = toolbox
        self._request = said_last(state)
        begun = message_id_of(self._turn)
        of_turn = takewhile(lambda message: message.id != begun, reversed(state["messages"]))
        self._results = [message for message in of_turn if isinstance(message, ToolMessage)]
        self._outcomes = [outcome_of(message) for message in self._results]

    @property
    def answer_now(self) -> HumanMessage | None:
        """Return the words that ask for an answer; None in a turn without calls."""
        return _answer_now(self._turn["language"]) if self._outcomes else None

    async def sentence(self) -> str:
        """Return the changes, else whether the last call worked; empty in a turn without calls."""
        language = self._turn["language"]
        if not self._outcomes:
            return ""
        if changes := self._turn["changes"]:
            recorded = await self._recorded(language)
            return "\n".join(recorded or [plain_summary(change) for change in changes])
        return TEXTS.say("outcome.read" if self._outcomes[0] == "done" else "outcome.failed", language)

    async def fitting(self, answer: AIMessage, ask_again: Callable[[HumanMessage], Awaitable[AIMessage]]) -> AIMessage:
        """Return a small model's answer, or another one in place of one that a person can't read, or that is false."""
        has_changed = bool(self._turn["changes"])
        if call_ids(answer) or not (self._is_unfit(answer.text) or self._claims(answer.text)):
            return answer
        _withdraw(answer)
        if has_changed:
            return say(await self.sentence())
        if self._claims(answer.text):
            return say(TEXTS.say("outcome.not_done", self._turn["language"]))
        again = await _answered(ask_again, self._turn["language"])
        if again and not self._is_unfit(again.text):
            return again
        if again:
            _withdraw(again)
        emit({"type": "content", "text": answer.text, "message_id": str(answer.id)})
        return answer

    def _is_unfit(self, answer: str) -> bool:
        has_changed, language = bool(self._turn["changes"]), self._turn["language"]
        if is_unfit(answer, self._request, language, has_changed=has_changed) or self._is_beside(answer):
            return True
        read = "\n".join(message.text for message in self._results)
        return bool(read) and not has_changed and has_made_up_figures(answer, f"{read}\n{self._request}")

    def _is_beside(self, answer: str) -> bool:
        """Say whether an answer names nothing that the turn has changed: it thanks, or asks for a name."""
        summaries = "\n".join(change["summary"] for change in self._turn["changes"])
        names = [(one[1] or one[2]).rpartition(".")[0] or one[1] for one in _CHANGED_NAME.finditer(summaries)]
        return bool(names) and not any(name.lower() in answer.lower() for name in names)

    def _claims(self, answer: str) -> bool:
        """Say whether each change of the turn failed, and the answer does not tell so."""
        if self._turn["changes"] or _ADMITS.search(answer):
            return False
        failed = [result.name or "" for result in self._results if outcome_of(result) == "error"]
        return any(self._toolbox.facts_of(name).read_only is False for name in failed)

    async def _recorded(self, language: Language) -> list[str]:
        """Return the drive's sentences about the turn's changes, the first one first; none if it tells of others."""
        if LIST_CHANGES not in self._toolbox.tools:
            return []
        try:
            args = {"run_id": self._turn["run_id"], "limit": MAX_CHANGES}
            found = await self._toolbox.call(LIST_CHANGES, args, meta={})
        except DriveUnavailableError:
            return []
        wanted = {change["change_id"] for change in self._turn["changes"]}
        rows = cast("Sequence[Mapping[str, Any]]", (found.structuredContent or {}).get("changes") or ())
        told = {row["id"]: text(row, "summary", language) for row in rows if row["id"] in wanted}
        return [told[key] for key in sorted(told)] if told.keys() == wanted else []


def plain_summary(change: ChangeNote) -> str:
    """Return a tool's sentence about its change without the parts that are for models."""
    return _FOR_MODELS.sub("", change["summary"])


def is_unfit(answer: str, request: str, language: Language, *, has_changed: bool) -> bool:
    """Say whether an answer is in another language than the person's, or speaks of the machinery or past them."""
    if _MACHINERY.search(answer) and not _MACHINERY.search(request):
        return True
    if has_changed and _AS_IF_ABSENT.match(answer):
        return True
    return _OTHER_LANGUAGE.search(request) is None and language_of(answer, language) != language


def has_made_up_figures(answer: str, known: str) -> bool:
    """Say whether an answer has a number of two digits or more that nothing of the turn has."""
    there = set(_FIGURE.findall(known.replace(",", "")))
    return any(len(one) > _SHORT_FIGURE and one not in there for one in _FIGURE.findall(answer.replace(",", "")))


def _answer_now(language: Language) -> HumanMessage:
    return HumanMessage(TEXTS.say("outcome.answer_now", language), additional_kwargs={STEP: True})


async def _answered(ask_again: Callable[[HumanMessage], Awaitable[AIMessage]], language: Language) -> AIMessage | None:
    """Return the answer in words to the question for one; None if there is none."""
    try:
        again = await ask_again(_answer_now(language))
    except ModelOutputError:
        return None
    return None if call_ids(again) or not again.text.strip() else again


def _withdraw(answer: AIMessage) -> None:
    if listener := delta_listener():
        listener(TextWithdrawn(answer.id))
