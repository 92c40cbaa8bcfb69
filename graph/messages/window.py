"""The window of messages for a model: as many as fit, the newest first, long results whole where there is room.

Long results lie outside the thread (`graph/messages/stored_results.py`), which has an excerpt with a reference. A
`Window` is a few ids, from which the same messages can be rendered again.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from langchain_core.messages import AnyMessage, ToolMessage
from typing_extensions import TypedDict

from graph.messages.grouping import Block, blocks_of, messages_from
from graph.messages.tokens import tokens_of, tokens_of_messages

WHOLE_ROUNDS: Final = 2
LEFT_OUT: Final = "[Left out to save room. Call the tool again if you need it.]"
STORED: Final = "kept"
"""Key in the `additional_kwargs` of a result of which the thread has an excerpt: where the whole is, and its tokens."""


class StoredResult(TypedDict):
    """A text in the result store: reference, digest, length in characters, estimated tokens."""

    reference: str
    digest: str
    characters: int
    tokens: int


class Window(TypedDict):
    """The messages that a model saw, in ids: from `first` to `last`.

    Results from the call `whole_from` on were seen whole, those up to the call `left_out` not at all; empty: none.
    """

    first: str
    last: str
    whole_from: str
    left_out: str


def choose_window(
    messages: Sequence[AnyMessage], start: str | None, budget: int, scale: float = 1.0, *, whole: bool = True
) -> Window:
    """Choose the messages to show from the id `start` on within `budget` tokens.

    If not even the excerpts fit, the oldest results are left out but for those of the newest rounds; else long results
    are seen whole, the newest first, until one does not fit. Without `whole`, long results are seen as excerpts.
    """
    blocks = blocks_of(messages_from(messages, start))
    room = budget - round(scale * sum(tokens_of_messages(block) for block in blocks))
    first, last = (str(blocks[0][0].id), str(messages[-1].id)) if blocks else ("", "")
    left_out = _left_out(blocks, -room, scale) if room < 0 else ""
    whole_from = _whole_from(blocks, room, scale) if whole and room > 0 else ""
    return {"first": first, "last": last, "whole_from": whole_from, "left_out": left_out}


def render_window(messages: Sequence[AnyMessage], seen: Window, texts: Mapping[str, str]) -> list[AnyMessage]:
    """Return the chosen messages, each result right after its call; `texts` has those that are seen whole."""
    whole, left_out = False, bool(seen["left_out"])
    shown: list[AnyMessage] = []
    for message in (message for block in blocks_in_window(messages, seen) for message in block):
        if not isinstance(message, ToolMessage):
            shown.append(message)
            continue
        whole = whole or message.tool_call_id == seen["whole_from"]
        shown.append(_result(message, texts if whole else {}, left_out=left_out))
        left_out = left_out and message.tool_call_id != seen["left_out"]
    return shown


def blocks_in_window(messages: Sequence[AnyMessage], seen: Window) -> list[Block]:
    """Return the blocks from the first to the last message that was seen; later ones are left out."""
    window = messages_from(messages, seen["first"])
    end = next((index for index, message in enumerate(window) if message.id == seen["last"]), len(window) - 1)
    return blocks_of(window[: end + 1])


def references_in(messages: Sequence[AnyMessage], seen: Window) -> list[str]:
    """Return the references of the results that are seen whole."""
    if not seen["whole_from"]:
        return []
    results = list(_results(blocks_in_window(messages, seen)))
    begin = next((n for n, result in enumerate(results) if result.tool_call_id == seen["whole_from"]), len(results))
    return [stored["reference"] for result in results[begin:] if (stored := stored_result_of(result))]


def stored_result_of(message: AnyMessage) -> StoredResult | None:
    """Return where the whole of a result is, if the message has an excerpt only."""
    return message.additional_kwargs.get(STORED)


def result_identity(result: ToolMessage) -> str:
    """Return a key that equal results share: the text, or the digest of the stored text."""
    stored = stored_result_of(result)
    return stored["digest"] if stored else result.text


def _results(blocks: Iterable[Block]) -> Iterable[ToolMessage]:
    return (message for block in blocks for message in block if isinstance(message, ToolMessage))


def _whole_from(blocks: Sequence[Block], room: int, scale: float) -> str:
    oldest = ""
    for result in reversed(list(_results(blocks))):
        if stored := stored_result_of(result):
            room -= round(scale * (stored["tokens"] - tokens_of(result.text)))
            if room < 0:
                break
            oldest = result.tool_call_id
    return oldest


def _left_out(blocks: Sequence[Block], excess: int, scale: float) -> str:
    newest = ""
    for result in _results(blocks[:-WHOLE_ROUNDS]):
        if excess <= 0:
            break
        excess -= round(scale * max(0, tokens_of(result.text) - tokens_of(LEFT_OUT)))
        newest = result.tool_call_id
    return newest


def _result(message: ToolMessage, texts: Mapping[str, str], *, left_out: bool) -> ToolMessage:
    if left_out and len(message.text) > len(LEFT_OUT):
        return message.model_copy(update={"content": LEFT_OUT})
    stored = stored_result_of(message)
    text = texts.get(stored["reference"]) if stored else None
    return message if text is None else message.model_copy(update={"content": text})
