"""Long tool results: out of the thread, of which an excerpt stays, and read again piece by piece."""

from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import Any, Final, cast

from langchain_core.messages import ToolMessage
from mcp.types import CallToolResult

from graph.drive.connections import META_OF_OTHERS
from graph.limits.limits import result_text
from graph.memory.facts import hidden_items
from graph.messages.compact_results import compact_result
from graph.messages.others import others_items, store_items, stored_items
from graph.messages.stored_results import WHOLE, ResultStore
from graph.messages.tokens import tokens_of
from graph.messages.window import STORED, StoredResult
from graph.policy.matrix import Rule
from graph.prompts import compact
from graph.tools.local import LocalTool, Request, error_result, text_result

NAME: Final = "read_result"
MAX_CHARACTERS: Final = 8_000

SCHEMA: Final[dict[str, Any]] = {
    "type": "object",
    "properties": {
        "reference": {"type": "string", "description": "The reference that stands in the excerpt."},
        "start": {"type": "integer", "minimum": 0, "default": 0, "description": "First character, from 0."},
        "length": {
            "type": "integer",
            "minimum": 1,
            "maximum": MAX_CHARACTERS,
            "default": MAX_CHARACTERS,
            "description": "How many characters.",
        },
    },
    "required": ["reference"],
    "additionalProperties": False,
}
MAX_STORED: Final = 1_000_000
LONG_BYTES: Final = 2_000
"""Longer results are kept beside the thread."""
SENTENCE_CHARACTERS: Final = 300
BEGINNING_CHARACTERS: Final = 400
VALUE_CHARACTERS: Final = 120
LISTED: Final = 5
FACTS: Final = ("id", "kind", "name", "path", "version", "number", "tool", "summary", "email", "role", "status")
IN_FULL: Final = "in_full"
NOTE: Final = '\n[Cut: an excerpt of {total} characters. The rest: read_result, reference "{reference}", start 0.]'

REFERENCE_ONLY: Final = '[A result of {total} characters: read_result, reference "{reference}", start 0.]'


async def _read(request: Request) -> CallToolResult:
    result_store, reference = request.context.result_store, str(request.args["reference"])
    others = await stored_items(result_store, reference) if result_store else set[str]()
    if await hidden_items(request.context.toolbox, others):
        return error_result("not_found", "This is about something that is not shared with the person any more.")
    texts = await result_store.texts([f"{reference}{WHOLE}", reference]) if result_store else {}
    text = texts.get(f"{reference}{WHOLE}") or texts.get(reference)
    if text is None:
        return error_result(
            "not_found", "This conversation has no result with that reference. Call the tool again instead."
        )
    start = int(request.args.get("start") or 0)
    part = text[start : start + int(request.args.get("length") or MAX_CHARACTERS)]
    end = start + len(part)
    more = "That is the end." if end >= len(text) else f"Go on with start={end}."
    data = {"reference": reference, "start": start, "end": end, "total_characters": len(text), "text": part}
    read = text_result(f"Characters {start} to {end} of {len(text)} of an earlier result. {more}", data)
    read.meta = {**(read.meta or {}), META_OF_OTHERS: sorted(others)}
    return read


READ_RESULT: Final = LocalTool(
    name=NAME,
    description="Read an earlier result of this conversation of which you see only an excerpt. "
    "It is as it was then; files may have changed since.",
    schema=SCHEMA,
    answer=_read,
    rule=Rule("read", "low"),
)


async def offload_result(
    message: ToolMessage, sentence: str, data: Mapping[str, Any] | None, result_store: ResultStore | None, limit: int
) -> ToolMessage:
    """Return the message with an excerpt, if it is long; `sentence` and `data` are the tool's, `limit` characters.

    A result about other people's items keeps no words, only the reference.
    """
    text, others = message.text, others_items([message])
    if result_store is None or not (others or is_long(text)):
        return message
    whole = result_text(sentence, data, MAX_STORED) if len(text) >= limit else text
    reference = message.tool_call_id
    await result_store.put(reference, text)
    if whole != text:
        await result_store.put(f"{reference}{WHOLE}", whole)
    digest = sha256(whole.encode("utf-8", "surrogatepass")).hexdigest()[:32]
    noted: StoredResult = {
        "reference": reference,
        "digest": digest,
        "characters": len(whole),
        "tokens": tokens_of(compact_result(text)),
    }
    extra = {**message.additional_kwargs, STORED: noted}
    if others:
        await store_items(result_store, reference, message)
        shown = REFERENCE_ONLY.format(total=len(whole), reference=reference)
        return message.model_copy(update={"content": shown, "additional_kwargs": extra})
    return message.model_copy(
        update={"content": excerpt_of(sentence, data, whole, reference), "additional_kwargs": extra}
    )


def is_long(text: str) -> bool:
    """Say whether a result is too long for the thread's state."""
    return len(text) > LONG_BYTES or len(text.encode("utf-8", "surrogatepass")) > LONG_BYTES


def excerpt_of(sentence: str, data: Mapping[str, Any] | None, whole: str, reference: str) -> str:
    """Return the excerpt of a result: `sentence` is its short text, `data` its data, `whole` the stored text."""
    note = NOTE.format(total=len(whole), reference=reference)
    if data is None:
        return f"{whole[: SENTENCE_CHARACTERS + BEGINNING_CHARACTERS]}{note}"
    excerpt = {IN_FULL: {"reference": reference, "characters": len(whole)}, **_shortened(data)}
    return f"{sentence[:SENTENCE_CHARACTERS]}\n{compact(excerpt)}{note}"


def _shortened(data: Mapping[str, Any]) -> dict[str, Any]:
    excerpt: dict[str, Any] = {}
    for name, value in data.items():
        if isinstance(value, list):
            listed = cast("list[Any]", value)
            excerpt[f"{name}_in_all"] = len(listed)
            excerpt[name] = _first(listed)
        elif isinstance(value, Mapping):
            excerpt[name] = _facts(cast("Mapping[str, Any]", value))
        elif isinstance(value, str) and len(value) > VALUE_CHARACTERS:
            excerpt[f"{name}_begins"] = value[:BEGINNING_CHARACTERS]
        else:
            excerpt[name] = value
    return excerpt


def _first(listed: Sequence[Any]) -> list[Any]:
    return [_entry(cast("Mapping[str, Any]", entry)) for entry in listed[:LISTED] if isinstance(entry, Mapping)]


def _entry(entry: Mapping[str, Any]) -> dict[str, Any]:
    file = entry.get("file")
    named = {"file": _facts(cast("Mapping[str, Any]", file))} if isinstance(file, Mapping) else {}
    return {**_facts(entry), **named}


def _facts(item: Mapping[str, Any]) -> dict[str, Any]:
    """Return the facts that tell an item from others."""
    return {key: _short(item[key]) for key in FACTS if isinstance(item.get(key), str | int)}


def _short(value: Any) -> Any:
    return value[:VALUE_CHARACTERS] if isinstance(value, str) else value
