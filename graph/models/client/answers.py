"""A streamed answer: the message chunks that each batch of the service's chunks makes.

The text comes as it comes; the calls come whole, in the last chunk.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, cast

from langchain_core.messages import AIMessageChunk, InvalidToolCall, ToolCall
from langchain_core.messages.ai import InputTokenDetails, OutputTokenDetails, UsageMetadata
from langchain_core.messages.tool import invalid_tool_call, tool_call

from graph.models.client.events import DONE, PROGRESS
from graph.models.client.reasoning import ThinkTags, reasoning_in, text_in
from graph.models.dialects import REASONING

MAX_ANSWER: Final = 4_000_000
"""Characters of an answer with its reasoning and arguments. A model that does not stop is stopped here."""
REPORTED: Final = ("system_fingerprint", "service_tier")
PRICED_TIERS: Final = frozenset({"priority", "flex"})
INVALID_CHARACTERS: Final = 4_000
"""Characters of arguments that are no JSON."""
ERROR_CHARACTERS: Final = 200
CUT: Final = "…"
NOTHING: Final = ("", "")


class AnswerTooLongError(ValueError):
    """The service goes on and on."""


@dataclass(slots=True)
class _Call:
    """A call as far as it has come."""

    id: str | None = None
    name: str = ""
    pieces: list[str] = field(default_factory=list[str])

    def take(self, key: str | None, function: Mapping[str, Any]) -> int:
        """Add a delta, and return the length of its arguments."""
        self.id = self.id or key
        self.name = self.name or function.get("name") or ""
        arguments = function.get("arguments") or ""
        piece = arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
        self.pieces.append(piece)
        return len(piece)


class Calls:
    """Takes the `tool_calls` of deltas. A number tells calls apart; some services give none, or one for all."""

    def __init__(self) -> None:
        self._by_slot: dict[int, _Call] = {}

    def add(self, deltas: Sequence[Mapping[str, Any]]) -> int:
        """Return the characters of arguments that came."""
        length = 0
        for place, delta in enumerate(deltas):
            key: str | None = delta.get("id") or None
            call = self._by_slot.setdefault(self._slot(delta.get("index"), key, place), _Call())
            length += call.take(key, delta.get("function") or {})
        return length

    def read(self) -> tuple[list[ToolCall], list[InvalidToolCall]]:
        """Return the calls, and those whose arguments are no JSON object."""
        calls: list[ToolCall] = []
        invalid: list[InvalidToolCall] = []
        for call in self._by_slot.values():
            text = "".join(call.pieces)
            args, error = _object_in(text or "{}")
            if args is None:
                # The mark is no JSON: text cut off after a whole object must not make a call of it.
                shortened = text if len(text) <= INVALID_CHARACTERS else text[:INVALID_CHARACTERS] + CUT
                invalid.append(invalid_tool_call(name=call.name, args=shortened, id=call.id, error=error))
            else:
                calls.append(tool_call(name=call.name, args=args, id=call.id))
        return calls, invalid

    def _slot(self, index: object, key: str | None, place: int) -> int:
        if isinstance(index, int) and index not in self._by_slot:
            return index  # a number of its own is a call of its own, also where ids are given twice
        slot = self._slot_of(key)
        if slot is not None:
            return slot
        if isinstance(index, int) and (key is None or self._is_free(index)):
            return index
        if key is not None or not self._by_slot:
            return max(self._by_slot, default=-1) + 1
        return max(self._by_slot) if place == 0 else place

    def _slot_of(self, key: str | None) -> int | None:
        return next((slot for slot, call in self._by_slot.items() if key and call.id == key), None)

    def _is_free(self, slot: int) -> bool:
        return slot not in self._by_slot or self._by_slot[slot].id is None


@dataclass(slots=True)
class Answer:
    """Takes the chunks of one answer (OpenAI API, "chat completion chunk"). The first of several choices counts.

    `begun`: there was a choice at all. `whole`: the service said that this was all.
    """

    begun: bool = False
    whole: bool = False
    _calls: Calls = field(default_factory=Calls)
    _tags: ThinkTags = field(default_factory=ThinkTags)
    _metadata: dict[str, Any] = field(default_factory=dict[str, Any])
    _usage: UsageMetadata | None = None
    _length: int = 0

    def add(self, chunks: Sequence[Mapping[str, Any]]) -> AIMessageChunk | None:
        """Return the text and the reasoning that the chunks add, if any.

        Raises ValueError for chunks of another shape, or too many.
        """
        try:
            pieces = [self._pieces_of(chunk) for chunk in chunks]
            progress = next((_progress(chunk[PROGRESS]) for chunk in reversed(chunks) if chunk.get(PROGRESS)), None)
        except (AttributeError, KeyError, TypeError) as error:
            raise ValueError("a chunk is not of the shape that chunks have") from error
        if self._length > MAX_ANSWER:
            raise AnswerTooLongError(f"the answer is longer than {MAX_ANSWER} characters")
        text, reasoning = pieces[0] if len(pieces) == 1 else ("".join(part) for part in zip(*pieces, strict=True))
        if text or reasoning:
            return _chunk(text, reasoning)
        return AIMessageChunk(content="", additional_kwargs={PROGRESS: progress}) if progress else None

    def last(self) -> AIMessageChunk:
        """Return the last chunk: the calls, the usage, and how it ended."""
        calls, invalid = self._calls.read()
        text, reasoning = self._tags.end()
        return AIMessageChunk(
            content=text,
            additional_kwargs={REASONING: reasoning} if reasoning else {},
            tool_calls=calls,
            invalid_tool_calls=invalid,
            usage_metadata=self._usage,
            response_metadata={**self._metadata, "model_provider": "openai"},
            chunk_position="last",
        )

    def _pieces_of(self, chunk: Mapping[str, Any]) -> tuple[str, str]:
        """Return the text and the reasoning that a chunk adds."""
        self.whole = self.whole or chunk is DONE
        if usage := chunk.get("usage"):
            self._usage = usage_of(usage, chunk.get("service_tier"))
        choice = _first_choice(chunk)
        if choice is None:
            return NOTHING
        self.begun = True
        if reason := choice.get("finish_reason"):
            self._finish(reason, chunk)
        # A service that does not stream answers with the whole message.
        delta: Mapping[str, Any] = choice.get("delta") or choice.get("message") or {}
        self._length += self._calls.add(delta.get("tool_calls") or ())
        text, reasoning = text_in(delta), reasoning_in(delta)
        self._length += len(text) + len(reasoning)
        if not text:
            return text, reasoning
        text, tagged = self._tags.feed(text)
        return text, reasoning + tagged

    def _finish(self, reason: str, chunk: Mapping[str, Any]) -> None:
        self.whole = True
        reported = {"model_name": chunk.get("model")} | {key: chunk.get(key) for key in REPORTED}
        self._metadata |= {"finish_reason": reason, **{key: value for key, value in reported.items() if value}}


def _progress(told: Mapping[str, Any]) -> list[int]:
    """Return how many tokens of the request the server has read, from its cache or not, and how many there are."""
    return [int(told.get("processed") or 0), int(told.get("total") or 0)]


def usage_of(usage: Mapping[str, Any], tier: str | None = None) -> UsageMetadata:
    """Return the counts of tokens under the library's names."""
    read, written = int(usage.get("prompt_tokens") or 0), int(usage.get("completion_tokens") or 0)
    total = usage.get("total_tokens")
    of_read: Mapping[str, Any] = usage.get("prompt_tokens_details") or {}
    of_written: Mapping[str, Any] = usage.get("completion_tokens_details") or {}
    prefix = f"{tier}_" if tier in PRICED_TIERS else ""
    details = {
        "audio": of_read.get("audio_tokens"),
        f"{prefix}cache_read": of_read.get("cached_tokens"),
        f"{prefix}cache_creation": of_read.get("cache_write_tokens"),
    }
    written_details = {
        "audio": of_written.get("audio_tokens"),
        f"{prefix}reasoning": of_written.get("reasoning_tokens"),
    }
    if prefix:
        details[str(tier)] = read - (of_read.get("cached_tokens") or 0)
        written_details[str(tier)] = written - (of_written.get("reasoning_tokens") or 0)
    return UsageMetadata(
        input_tokens=read,
        output_tokens=written,
        total_tokens=read + written if total is None else int(total),
        input_token_details=cast("InputTokenDetails", _without_none(details)),
        output_token_details=cast("OutputTokenDetails", _without_none(written_details)),
    )


def _first_choice(chunk: Mapping[str, Any]) -> Mapping[str, Any] | None:
    return next((choice for choice in chunk.get("choices") or () if choice.get("index") in (0, None)), None)


def _chunk(text: str, reasoning: str) -> AIMessageChunk:
    if not reasoning:
        return AIMessageChunk(content=text)
    return AIMessageChunk(content=text, additional_kwargs={REASONING: reasoning})


def _without_none(counts: Mapping[str, Any]) -> dict[str, int]:
    return {key: value for key, value in counts.items() if value is not None}


def _object_in(text: str) -> tuple[dict[str, Any] | None, str]:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        return None, f"{type(error).__name__}: {error}"[:ERROR_CHARACTERS]
    return (cast("dict[str, Any]", value), "") if isinstance(value, dict) else (None, "not an object")
