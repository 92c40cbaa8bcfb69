"""Excerpts of long results: the sentence, counts, ids and names stay in the thread, with a reference to the rest."""

from collections.abc import Mapping, Sequence
from typing import Any, Final, cast

from graph.prompts import compact

LONG_BYTES: Final = 2_000
"""Longer results are kept beside the thread."""
SENTENCE_CHARACTERS: Final = 300
BEGINNING_CHARACTERS: Final = 400
VALUE_CHARACTERS: Final = 120
LISTED: Final = 5
FACTS: Final = ("id", "kind", "name", "path", "version", "number", "tool", "summary", "email", "role", "status")
IN_FULL: Final = "in_full"
NOTE: Final = '\n[Cut: an excerpt of {total} characters. The rest: read_result, reference "{reference}", start 0.]'


def is_long(text: str) -> bool:
    """Say whether a result is too long for the thread's state."""
    return len(text) > LONG_BYTES or len(text.encode("utf-8", "surrogatepass")) > LONG_BYTES


def excerpt_of(sentence: str, data: Mapping[str, Any] | None, whole: str, reference: str) -> str:
    """Return the excerpt of a result: `sentence` is its short text, `data` what it holds, `whole` what is kept."""
    note = NOTE.format(total=len(whole), reference=reference)
    if data is None:
        return f"{whole[: SENTENCE_CHARACTERS + BEGINNING_CHARACTERS]}{note}"
    told = {IN_FULL: {"reference": reference, "characters": len(whole)}, **_shortened(data)}
    return f"{sentence[:SENTENCE_CHARACTERS]}\n{compact(told)}{note}"


def _shortened(data: Mapping[str, Any]) -> dict[str, Any]:
    told: dict[str, Any] = {}
    for name, value in data.items():
        if isinstance(value, list):
            listed = cast("list[Any]", value)
            told[f"{name}_in_all"] = len(listed)
            told[name] = _first(listed)
        elif isinstance(value, Mapping):
            told[name] = _facts(cast("Mapping[str, Any]", value))
        elif isinstance(value, str) and len(value) > VALUE_CHARACTERS:
            told[f"{name}_begins"] = value[:BEGINNING_CHARACTERS]
        else:
            told[name] = value
    return told


def _first(listed: Sequence[Any]) -> list[Any]:
    return [_entry(cast("Mapping[str, Any]", entry)) for entry in listed[:LISTED] if isinstance(entry, Mapping)]


def _entry(entry: Mapping[str, Any]) -> dict[str, Any]:
    file = entry.get("file")
    named = {"file": _facts(cast("Mapping[str, Any]", file))} if isinstance(file, Mapping) else {}
    return {**_facts(entry), **named}


def _facts(item: Mapping[str, Any]) -> dict[str, Any]:
    """Return what tells an item from others."""
    return {key: _short(item[key]) for key in FACTS if isinstance(item.get(key), str | int)}


def _short(value: Any) -> Any:
    return value[:VALUE_CHARACTERS] if isinstance(value, str) else value
