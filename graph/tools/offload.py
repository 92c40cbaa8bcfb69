"""Move long tool results out of the thread: an excerpt with a reference stays."""

from collections.abc import Mapping
from hashlib import sha256
from typing import Any, Final

from langchain_core.messages import ToolMessage

from graph.limits.limits import result_text
from graph.messages.excerpt import excerpt_of, is_long
from graph.messages.stored_results import ResultStore
from graph.messages.tokens import tokens_of
from graph.messages.window import STORED, StoredResult
from graph.tools.results import WHOLE

LONGEST_KEPT: Final = 1_000_000


async def offload_result(
    message: ToolMessage, sentence: str, data: Mapping[str, Any] | None, result_store: ResultStore | None, limit: int
) -> ToolMessage:
    """Return the message as the thread has it. `sentence` and `data` are the tool's; `limit` is in characters.

    The message's text is what a model is shown of the result, if there is room; with `read_result` it gets at the rest.
    """
    text = message.text
    if result_store is None or not is_long(text):
        return message
    whole = result_text(sentence, data, LONGEST_KEPT) if len(text) >= limit else text
    reference = message.tool_call_id
    await result_store.put(reference, text)
    if whole != text:
        await result_store.put(f"{reference}{WHOLE}", whole)
    digest = sha256(whole.encode("utf-8", "surrogatepass")).hexdigest()[:32]
    noted: StoredResult = {
        "reference": reference,
        "digest": digest,
        "characters": len(whole),
        "tokens": tokens_of(text),
    }
    extra = {**message.additional_kwargs, STORED: noted}
    return message.model_copy(
        update={"content": excerpt_of(sentence, data, whole, reference), "additional_kwargs": extra}
    )
