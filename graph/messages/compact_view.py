"""The messages of a view as a model that reads text gets them: short ids, compact results and sections."""

import json
import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, Final, cast

from langchain_core.messages import AIMessage, AnyMessage, SystemMessage, ToolMessage

from graph.messages.compact_results import compact_result, one_line
from graph.messages.short_ids import ShortIds
from graph.messages.steps import is_step
from graph.messages.turn_context import CONTEXT, context_of
from graph.prompts import LESS_THAN, compact, json_section, rewritten_section

SECTIONS: Final = re.compile(r"^<(place|listing|last_run|earlier_results)>\n(.*?)\n</\1>$", re.MULTILINE | re.DOTALL)
"""No text of a file or a name can begin such a section: tags in them are escaped."""
ITEM_LISTS: Final = ("changed", "found")
CACHED_RESULTS: Final = 128
NEEDLESS: Final = frozenset({"root_id"})
"""`root` names the root as well."""


def compact_view(messages: Sequence[AnyMessage], time_zone: str = "") -> tuple[list[AnyMessage], ShortIds]:
    """Return the messages, with times in the zone, and the short ids in them, to read the answer's calls with."""
    ids = ShortIds()
    return [_compact(message, ids, time_zone) for message in messages], ids


def compact_sections(sections: Sequence[str], ids: ShortIds) -> list[str]:
    """Return the sections of a system message with short ids, an item a line."""
    return [_sections(text, ids) for text in sections]


def with_full_ids(answer: AIMessage, ids: ShortIds, thread: Sequence[AnyMessage] = ()) -> AIMessage:
    """Return an answer whose calls have the ids that the short ones stand for, in its view or else in the thread."""
    if not answer.tool_calls:
        return answer
    results = [message.text for message in thread if isinstance(message, ToolMessage)]
    calls = [{**call, "args": ids.expand(call["args"], results)} for call in answer.tool_calls]
    return answer.model_copy(update={"tool_calls": calls})


def _compact(message: AnyMessage, ids: ShortIds, time_zone: str) -> AnyMessage:
    if isinstance(message, ToolMessage):
        return message.model_copy(update={"content": _result(message.text, ids, time_zone)})
    if isinstance(message, SystemMessage):
        return message.model_copy(update={"content": _sections(message.text, ids)})
    if is_step(message) or context_of(message):
        return _compact_words(message, ids)
    if isinstance(message, AIMessage) and message.tool_calls:
        calls = [{**call, "args": ids.shorten(call["args"])} for call in message.tool_calls]
        return message.model_copy(update={"tool_calls": calls})
    return message


def _compact_words(message: AnyMessage, ids: ShortIds) -> AnyMessage:
    """Return the message with the product's part compact; the person's own words stay, even if they look alike."""
    context = context_of(message)
    shorter = _sections(context, ids)
    marks = {**message.additional_kwargs, CONTEXT: len(shorter)} if context else message.additional_kwargs
    content = cast("str | list[Any]", message.content)
    if isinstance(content, str):
        words = content[len(context) :]
        said = shorter + (_sections(words, ids) if is_step(message) else words)
        return message.model_copy(update={"content": said, "additional_kwargs": marks})
    parts = [{"type": "text", "text": shorter}, *content[1:]]
    return message.model_copy(update={"content": parts, "additional_kwargs": marks})


def _sections(text: str, ids: ShortIds) -> str:
    return SECTIONS.sub(lambda found: _section(found, ids), text)


def _result(text: str, ids: ShortIds, time_zone: str) -> str:
    """Return a result as it was written before, unless an id in it now begins as another one of the view."""
    shown, given = _written(text, time_zone)
    now = tuple((full, ids.short(full)) for full, _ in given)
    return shown if now == given else compact_result(text, ids, time_zone)


@lru_cache(maxsize=CACHED_RESULTS)
def _written(text: str, time_zone: str) -> tuple[str, tuple[tuple[str, str], ...]]:
    """Return a result and the short ids in it: each round of a turn needs the same ones again."""
    ids = ShortIds()
    return compact_result(text, ids, time_zone), ids.given


def _section(found: re.Match[str], ids: ShortIds) -> str:
    tag, body = found.groups()
    if tag == "last_run":
        return rewritten_section(tag, ids.short(body))
    try:
        data = json.loads(body)
    except ValueError:
        return found[0]
    if tag == "listing" and isinstance(data, list):
        return rewritten_section(tag, "\n".join(_line(entry, ids) for entry in cast("list[Any]", data)))
    if tag == "earlier_results" and isinstance(data, list):
        return json_section(tag, [_step(entry, ids) for entry in cast("list[Any]", data)])
    if tag == "place" and isinstance(data, Mapping):
        shown = {key: value for key, value in cast("Mapping[str, Any]", data).items() if value and key not in NEEDLESS}
        return rewritten_section(tag, "\n".join(f"{key}: {_line(value, ids)}" for key, value in shown.items()))
    return found[0]


def _step(entry: Any, ids: ShortIds) -> dict[str, Any]:
    """Return the result of a step, with each item that it found or changed as a line."""
    lists = {name: [_line({**item, "name": None}, ids) for item in entry[name]] for name in ITEM_LISTS if name in entry}
    return {**entry, **lists}


def _line(entry: Any, ids: ShortIds) -> str:
    """Return an item as a line: its id, its path or name, and its other facts."""
    if not isinstance(entry, Mapping):
        return _escaped(entry)
    facts = dict(cast("Mapping[str, Any]", entry))
    item_id, name, path = (facts.pop(key, None) for key in ("id", "name", "path"))
    kind, label = facts.pop("kind", None), str(path or name or "")
    label = one_line(f"{label}{'/' if kind == 'folder' else ''}")
    more = [f"{key} {_escaped(value)}" for key, value in facts.items() if value not in (None, "", False)]
    return ", ".join([f"{ids.short(str(item_id))} {label}" if item_id else label, *more])


def _escaped(value: Any) -> str:
    if isinstance(value, str) and value.isprintable():
        return value
    return compact(value).replace("<", LESS_THAN)
