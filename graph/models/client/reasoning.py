"""Tell a model's answer from its reasoning, in the deltas of services: fields, parts, or tags in the text."""

from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from typing import Any, Final, cast

from langchain_core.messages import AIMessage, AIMessageChunk

from graph.models.dialects import REASONING

OTHER_NAME: Final = "reasoning"
"""The field of OpenRouter, Groq, Ollama and vLLM; DeepSeek, Qwen and many more have the one that is ours too."""
OPENED, CLOSED = "<think>", "</think>"
"""The tags of local models behind servers that leave them in the text."""


class ThinkTags:
    """Takes the text of an answer piece by piece, and separates the thoughts between tags at its beginning."""

    def __init__(self) -> None:
        self._held = ""
        self._tag = OPENED
        self._is_over = self._is_inside = self._trims = False

    def feed(self, text: str) -> tuple[str, str]:
        """Return the answer in the text, and the thoughts; the possible beginning of a tag is held back."""
        if self._is_over and not self._trims:
            return text, ""
        self._held += text
        if self._is_over:
            return self._trimmed(), ""
        return self._inside() if self._is_inside else self._before()

    def end(self) -> tuple[str, str]:
        """Return the text that was held back."""
        held, self._held = self._held, ""
        return ("", held) if self._is_inside else (held, "")

    def _before(self) -> tuple[str, str]:
        begun = self._held.lstrip()
        if begun.startswith(OPENED):
            self._is_inside, self._held = True, begun.removeprefix(OPENED)
            return self._inside()
        if OPENED.startswith(begun):
            return "", ""
        self._is_over = True
        return self.end()

    def _inside(self) -> tuple[str, str]:
        thought, found, rest = self._held.partition(CLOSED)
        if found:
            self._is_inside, self._is_over, self._trims, self._held = False, True, True, rest
            return self._trimmed(), thought
        partial = next((n for n in range(len(CLOSED) - 1, 0, -1) if thought.endswith(CLOSED[:n])), 0)
        end = len(thought) - partial
        self._held = thought[end:]
        return "", thought[:end]

    def _trimmed(self) -> str:
        text, self._held = self._held.lstrip(), ""
        self._trims = not text
        return text


async def without_tags(pieces: AsyncGenerator[AIMessage]) -> AsyncGenerator[AIMessage]:
    """Yield the pieces of an answer with the text between tags as reasoning: other libraries leave it there."""
    tags, key = ThinkTags(), None
    async with aclosing(pieces):
        async for piece in pieces:
            key = piece.id
            yield _parted(piece, tags)
    text, thought = tags.end()
    if text or thought:
        yield AIMessageChunk(content=text, id=key, additional_kwargs={REASONING: thought} if thought else {})


def _parted(piece: AIMessage, tags: ThinkTags) -> AIMessage:
    content = cast("str | list[Any]", piece.content)
    if not isinstance(content, str):
        return piece
    text, thought = tags.feed(content)
    if not isinstance(piece, AIMessageChunk):
        text, thought = (before + rest for before, rest in zip((text, thought), tags.end(), strict=True))
    extra = {**piece.additional_kwargs, **({REASONING: thought} if thought else {})}
    return piece if text == content else piece.model_copy(update={"content": text, "additional_kwargs": extra})


def reasoning_in(delta: Mapping[str, Any]) -> str:
    """Return the thoughts in a delta."""
    field, content = delta.get(REASONING) or delta.get(OTHER_NAME), delta.get("content")
    parts = _parts(content, "thinking") if isinstance(content, list) else ""
    return field + parts if isinstance(field, str) else parts


def text_in(delta: Mapping[str, Any]) -> str:
    """Return the answer's text in a delta. A refusal is the model's only answer."""
    content, refusal = delta.get("content"), delta.get("refusal")
    text = content if isinstance(content, str) else _parts(content, "text")
    return text + refusal if isinstance(refusal, str) else text


def _parts(content: object, kind: str) -> str:
    """Return the text of the parts of a kind (Mistral API, "reasoning"); a part's text may be parts again."""
    if not isinstance(content, list):
        return ""
    parts = [cast("dict[str, Any]", part) for part in cast("list[Any]", content) if isinstance(part, dict)]
    texts = [part.get(kind) for part in parts if part.get("type") == kind]
    return "".join(text if isinstance(text, str) else _parts(text, "text") for text in texts)
