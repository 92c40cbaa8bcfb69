"""The text of an answer as it streams, without other parts: thoughts that end without having begun, and tool calls.

Templates that begin the thoughts themselves leave `</think>` alone in the text (Qwen3-Thinking and R1 behind a server
without a reasoning parser), and servers without a tool parser leave the calls of a model there (`text_calls/`).
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final, Literal, NamedTuple

from langchain_core.messages import ToolCall

from graph.models.client.reasoning import CLOSED, OPENED
from graph.models.text_calls.reader import begin_of_markup, begins_call, is_in_code, partial_end, read_calls, tries_call

Kind = Literal["text", "thought", "withdrawn"]

QUOTES: Final = "\"'`“”‘’「」『』（）()《》"
PROSE: Final = re.compile(r"[a-z,.;:!?)]|标签|标记|符号|是|表示|用于|这|和|与|或|[、，。：；）]")
"""Begins the rest of a sentence that speaks of the tag."""


class Part(NamedTuple):
    """A piece of an answer. `withdrawn`: the text so far was no text but thoughts."""

    kind: Kind
    text: str


@dataclass(frozen=True, slots=True)
class Expected:
    """Facts known before an answer comes: the `tools` that were offered, by name.

    `thinks`: the service is known for thoughts that do not begin. `is_topic`: the conversation speaks of such markup.
    """

    tools: frozenset[str] = frozenset()
    thinks: bool = False
    is_topic: bool = False


@dataclass(slots=True)
class AnswerText:
    """Takes the text of one answer piece by piece. After `end`, `text` is the answer, and `calls` stood in it.

    `thoughts` are those that ended without having begun; `lost_call`: there was markup of a call that can't be made.
    """

    expected: Expected
    text: str = ""
    thoughts: str = ""
    calls: list[ToolCall] = field(default_factory=list[ToolCall])
    lost_call: bool = False
    _told: int = 0
    _from: int = 0
    _is_settled: bool = False
    _trims: bool = False

    @property
    def thinks(self) -> bool:
        """Say whether all until the next tag is taken for thoughts."""
        return self.expected.thinks and not self._is_settled

    def settle(self) -> None:
        """Note that the thoughts came in their own place: no tag ends any."""
        self._is_settled = True

    def feed(self, piece: str) -> list[Part]:
        """Return the parts of the answer that this piece settles; possible markup is held back."""
        self._add(piece)
        parts = [*self._closed(is_last=False)]
        end = self._end_before_tag()
        if self.thinks:
            return [*parts, *self._tell("thought", end)]
        begin = begin_of_markup(self.text, self._told, self.expected.tools)
        return [*parts, *self._tell("text", end if begin is None else min(end, begin))]

    def end(self, *, is_whole: bool = True) -> list[Part]:
        """Return the rest. Of an answer that broke off no call is read, and thoughts without an end stay thoughts."""
        parts = [*self._closed(is_last=True)]
        if self.thinks and not is_whole:
            self.thoughts, self.text, self._told = self.text, "", 0
        elif self.thinks:
            self._told = 0
        begin = begin_of_markup(self.text, self._told, self.expected.tools, is_last=True)
        return parts + (self._without_markup(begin, is_whole=is_whole) if begin is not None else self._rest())

    def _rest(self) -> list[Part]:
        return [*self._tell("text", len(self.text))]

    def _without_markup(self, begin: int, *, is_whole: bool) -> list[Part]:
        before, markup = self.text[:begin], self.text[begin:]
        calls, rest = (read_calls(markup, self.expected.tools) if is_whole else None) or ([], "")
        is_alone = not (before.strip() or rest)
        if (self.expected.is_topic and not (calls and is_alone)) or not (
            calls or begins_call(markup) or tries_call(markup, self.expected.tools)
        ):
            return self._rest()
        self.calls, self.lost_call = calls, not calls and is_whole
        parts = [*self._tell("text", begin)]
        self.text = before.rstrip() + (f"\n\n{rest}" if before.strip() and rest else rest)
        self._told = len(self.text) - len(rest) if rest else len(self.text)
        return parts + self._rest()

    def _add(self, piece: str) -> None:
        if self._trims:
            piece = piece.lstrip()
            self._trims = not piece
        self.text += piece

    def _tell(self, kind: Kind, end: int) -> Iterator[Part]:
        begin, self._told = self._told, max(self._told, end)
        if end > begin:
            yield Part(kind, self.text[begin:end])

    def _closed(self, *, is_last: bool) -> Iterator[Part]:
        """Yield the parts that are due if a tag ends the thoughts here."""
        if self._is_settled or (at := self._closing(is_last=is_last)) is None:
            return
        if self.thinks:
            yield from self._tell("thought", at)
        else:
            if self._told:
                yield Part("withdrawn", "")
            yield Part("thought", self.text[:at])
        self.thoughts, rest = self.text[:at], self.text[at + len(CLOSED) :]
        self.text, self._told, self._is_settled, self._trims = "", 0, True, True
        self._add(rest)

    def _closing(self, *, is_last: bool) -> int | None:
        """Return where the tag stands that ends the thoughts, None if there is none, or more has to come first."""
        while (at := self.text.find(CLOSED, self._from)) >= 0:
            before, after = self.text[:at], self.text[at + len(CLOSED) :]
            if not is_last and not after.strip(" \t"):
                return None
            if self._ends_thoughts(before, after):
                return at
            self._from = at + len(CLOSED)
        self._from = max(self._from, len(self.text) - len(CLOSED) + 1)
        return None

    def _ends_thoughts(self, before: str, after: str) -> bool:
        """Say whether the tag ends thoughts, and is not one that the answer speaks of."""
        if OPENED in before or is_in_code(before):
            return False
        begins_line = not before.rpartition("\n")[2].strip()
        ends_line = not after.partition("\n")[0].strip()
        if begins_line and ends_line:
            return True
        if self.expected.is_topic and not self.expected.thinks:
            return after.startswith("\n\n")
        is_quoted = before[-1:] in QUOTES and after[:1] in QUOTES and before != ""
        return not is_quoted and (begins_line or ends_line or PROSE.match(after.lstrip()) is None)

    def _end_before_tag(self) -> int:
        """Return the end of the text that may be told: a tag may begin at its end, or depend on the text to come."""
        if self._is_settled:
            return len(self.text)
        at = self.text.find(CLOSED, self._from)
        return at if at >= 0 else len(self.text) - partial_end(self.text, CLOSED)
