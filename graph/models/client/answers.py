"""A streamed answer: what each batch of the service's chunks adds to it, as message chunks.

The text comes as it comes; the calls come whole, in the last chunk.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, cast

from langchain_core.messages import AIMessageChunk
from langchain_core.messages.ai import InputTokenDetails, OutputTokenDetails, UsageMetadata

from graph.models.client.calls import Calls
from graph.models.client.events import DONE

LONGEST_ANSWER: Final = 4_000_000
"""Characters of text and arguments together. No model says as much; one that does not stop is stopped here."""
TOLD: Final = ("system_fingerprint", "service_tier")
PRICED_TIERS: Final = frozenset({"priority", "flex"})


class AnswerTooLongError(ValueError):
    """The service goes on and on."""


@dataclass(slots=True)
class Answer:
    """Takes the chunks of one answer (OpenAI API, "chat completion chunk"). Of several choices the first counts.

    `begun`: there was a choice at all. `whole`: the service said that this was all.
    """

    begun: bool = False
    whole: bool = False
    _calls: Calls = field(default_factory=Calls)
    _metadata: dict[str, Any] = field(default_factory=dict[str, Any])
    _usage: UsageMetadata | None = None
    _length: int = 0

    def add(self, chunks: Sequence[Mapping[str, Any]]) -> AIMessageChunk | None:
        """Return the text that the chunks add, if any. Raises ValueError for chunks of another shape, or too many."""
        try:
            text = "".join([self._text_of(chunk) for chunk in chunks])
        except (AttributeError, KeyError, TypeError) as error:
            raise ValueError("a chunk is not of the shape that chunks have") from error
        if self._length > LONGEST_ANSWER:
            raise AnswerTooLongError(f"the answer is longer than {LONGEST_ANSWER} characters")
        return AIMessageChunk(content=text) if text else None

    def last(self) -> AIMessageChunk:
        """Return the last chunk: the calls, what was used, and how it ended."""
        calls, invalid = self._calls.read()
        return AIMessageChunk(
            content="",
            tool_calls=calls,
            invalid_tool_calls=invalid,
            usage_metadata=self._usage,
            response_metadata={**self._metadata, "model_provider": "openai"},
            chunk_position="last",
        )

    def _text_of(self, chunk: Mapping[str, Any]) -> str:
        self.whole = self.whole or chunk is DONE
        if usage := chunk.get("usage"):
            self._usage = usage_of(usage, chunk.get("service_tier"))
        choice = _first_choice(chunk)
        if choice is None:
            return ""
        self.begun = True
        if reason := choice.get("finish_reason"):
            self._finish(reason, chunk)
        # A service that does not stream answers with the whole message.
        delta: Mapping[str, Any] = choice.get("delta") or choice.get("message") or {}
        self._length += self._calls.add(delta.get("tool_calls") or ())
        # What a model refuses with is its answer; it has no other.
        text = _string(delta.get("content")) + _string(delta.get("refusal"))
        self._length += len(text)
        return text

    def _finish(self, reason: str, chunk: Mapping[str, Any]) -> None:
        self.whole = True
        told = {"model_name": chunk.get("model")} | {key: chunk.get(key) for key in TOLD}
        self._metadata |= {"finish_reason": reason, **{key: value for key, value in told.items() if value}}


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


def _string(value: object) -> str:
    return value if isinstance(value, str) else ""


def _without_none(counts: Mapping[str, Any]) -> dict[str, int]:
    return {key: value for key, value in counts.items() if value is not None}
