"""An answer's chunks as they come: the parts for the person, and the whole answer without markup and thoughts."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from langchain_core.messages import AIMessage

from graph.events.sending import Delta, ReadingDelta, ReasoningDelta, TextDelta, TextWithdrawn
from graph.models.answer_text import AnswerText, Expected, Part
from graph.models.client.events import PROGRESS
from graph.models.dialects import REASONING
from graph.models.text_calls.reader import plain_name

LOST_CALL: Final = "lost_call"
"""Key in an answer's `response_metadata`: the model wrote a call into its text that can't be made."""


class AnswerReader:
    """Reads the chunks of one answer, and tells `said` its pieces, the last one of which is an empty text."""

    def __init__(self, expected: Expected, said: Callable[[Delta], None] | None = None) -> None:
        self._expected = expected
        self._said = said
        self._text = AnswerText(expected)
        self._key: str | None = None

    @property
    def found_thoughts(self) -> bool:
        """Say whether thoughts ended in the text that had not begun."""
        return bool(self._text.thoughts)

    def read_progress(self, chunk: AIMessage) -> bool:
        """Tell how far the request is read, if that is all that the chunk says; return whether it is."""
        told = chunk.additional_kwargs.get(PROGRESS)
        if told:
            self._tell(ReadingDelta(*told))
        return bool(told)

    def take(self, chunk: AIMessage) -> None:
        """Take the next chunk."""
        self._key = chunk.id
        if reasoning := _reasoning_in(chunk):
            self._text.settle()
            self._tell(ReasoningDelta(chunk.id, reasoning))
        if isinstance(chunk.content, str):
            self._tell_parts(self._text.feed(chunk.content) if chunk.content else ())
        elif text := str(chunk.text):
            self._tell(TextDelta(chunk.id, text))

    def end(self) -> None:
        """Take note that this was the last chunk."""
        self._tell_parts(self._text.end())
        self._tell(TextDelta(None, ""))

    def break_off(self) -> None:
        """Tell the held-back part of an answer that will not be whole."""
        self._tell_parts(self._text.end(is_whole=False))

    def read(self, answer: AIMessage) -> AIMessage:
        """Return the whole answer with its text alone as content, and with the calls that stood in it."""
        calls = [{**call, "name": plain_name(call["name"], self._expected.tools)} for call in answer.tool_calls]
        invalid = [
            {**call, "name": plain_name(call["name"] or "", self._expected.tools)} for call in answer.invalid_tool_calls
        ]
        update: dict[str, Any] = {"tool_calls": calls, "invalid_tool_calls": invalid}
        if isinstance(answer.content, str):
            has_calls = bool(calls or invalid)
            update["content"] = self._text.text
            update["tool_calls"] = calls if has_calls else self._text.calls
            if self._text.thoughts:
                before = answer.additional_kwargs.get(REASONING, "")
                kwargs = {**answer.additional_kwargs, REASONING: f"{before}{self._text.thoughts}"}
                update["additional_kwargs"] = kwargs
            if self._text.lost_call and not has_calls:
                update["response_metadata"] = {**answer.response_metadata, LOST_CALL: True}
        return answer.model_copy(update=update)

    def _tell_parts(self, parts: Iterable[Part]) -> None:
        for kind, text in parts:
            match kind:
                case "text":
                    self._tell(TextDelta(self._key, text))
                case "thought":
                    self._tell(ReasoningDelta(self._key, text))
                case "withdrawn":
                    self._tell(TextWithdrawn(self._key))

    def _tell(self, delta: Delta) -> None:
        if self._said:
            self._said(delta)


def _reasoning_in(chunk: AIMessage) -> str:
    """Return the model's thoughts: a field of its own, or blocks beside the text (OpenAI's items, Anthropic's)."""
    if found := chunk.additional_kwargs.get(REASONING):
        return str(found)
    if isinstance(chunk.content, str):
        return ""
    blocks = [block for block in chunk.content if isinstance(block, dict)]
    return "".join(_thought(block) for block in blocks if block.get("type") in {"reasoning", "thinking"})


def _thought(block: Mapping[str, Any]) -> str:
    parts = [part.get("text") for part in block.get("summary") or () if isinstance(part, dict)]
    return "".join(str(part) for part in (*parts, block.get("reasoning"), block.get("thinking")) if part)
