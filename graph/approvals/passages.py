"""The passages that a thread has read of foreign files, and the lines that show one beside an approval. Pure."""

import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, cast

from langchain_core.messages import AnyMessage, ToolMessage

from drive_server.kernel.texts import Texts
from graph.drive.tool_names import SEARCH_MEANING, SEARCH_NAMES
from graph.language import Language, join_names
from graph.policy.provenance import FOREIGN
from graph.state import Passage, Taint

EXCERPT: Final = 300
WINDOW: Final = 240
MAX_CHARACTERS: Final = 200_000
"""Limit of all passages together; the newest come first."""
SEARCHES: Final = frozenset({SEARCH_NAMES, SEARCH_MEANING})

TEXTS: Final = Texts.beside(__file__)

_DECODER: Final = json.JSONDecoder()


@dataclass(frozen=True, slots=True)
class Text:
    """A passage from a file that is not the person's own.

    `is_opened`: it was read in the running turn because it was asked for, and is no hit of a search.
    """

    taint: Taint
    text: str
    is_opened: bool = False


@dataclass(frozen=True, slots=True)
class Stretch:
    """A few sentences of a `Text`."""

    taint: Taint
    words: str
    is_opened: bool = False


def texts_in(messages: Sequence[AnyMessage], in_turn: Collection[str] = ()) -> Iterator[Text]:
    """Yield the texts of foreign files in tool results, the newest first; `in_turn` are the running turn's calls."""
    for message in reversed(messages):
        taints: list[Taint] = message.additional_kwargs.get(FOREIGN, []) if isinstance(message, ToolMessage) else []
        if taints and isinstance(message, ToolMessage):
            data = _data_of(message.text)
            is_search = message.name in SEARCHES or "hits" in data or (not data and len(taints) > 1)
            is_opened = message.tool_call_id in in_turn and not is_search
            for taint in taints:
                found = _text_of(taint, data)
                # A name is all that a listing has of an item; without data the whole answer is the text.
                text = found or (taint["name"] if data and taint["file_id"] else _part_of(taint, taints, message.text))
                yield Text(taint, text, is_opened and bool(found or not data or not taint["file_id"]))


def stretches_of(texts: Iterable[Text]) -> list[Stretch]:
    """Cut the texts into stretches; of a great many characters the first 200,000."""
    found: list[Stretch] = []
    room = MAX_CHARACTERS
    for entry in texts:
        part = entry.text[: max(0, room)]
        room -= len(part)
        found += [Stretch(entry.taint, words, entry.is_opened) for words in _windows(part)]
    return found


def passage_of(taint: Taint, words: str) -> Passage:
    """Return the words of the file as they are shown."""
    line = " ".join(words.split())
    return {**taint, "excerpt": line if len(line) <= EXCERPT else f"{line[: EXCERPT - 1]}…"}


def named(passage: Passage, sources: Sequence[Taint], language: Language) -> str:
    """Return the line that names the files that were read, each once."""
    files = dict.fromkeys(_source(one, language) for one in sources)
    return TEXTS.say("passage.lead", language, sources=join_names(files or [path_of(passage)], language))


def _source(one: Taint, language: Language) -> str:
    origin = TEXTS.say(f"passage.origin.{one['origin']}", language)
    return TEXTS.say("passage.source", language, path=path_of(one), origin=origin)


def shown(passage: Passage, sources: Sequence[Taint], language: Language) -> str:
    """Return the lines that name the files that were read, and quote the passage."""
    lead = named(passage, sources or [passage], language)
    return f"{lead}\n“{passage['excerpt']}”" if passage["excerpt"] else lead


def path_of(taint: Taint) -> str:
    """Return the path of a file, or its name."""
    return taint["path"] or taint["name"] or "?"


def _windows(text: str) -> Iterator[str]:
    """Yield overlapping stretches of the text; one that begins or ends inside a word is made whole where it can be."""
    if len(text) <= EXCERPT:
        yield text
        return
    for start in range(0, len(text), WINDOW // 2):
        yield text[start : start + WINDOW]


def _data_of(text: str) -> Mapping[str, Any]:
    """Return the data in a result's text, which follows a first line; empty if it was cut or taken out."""
    start = 0 if text.startswith("{") else text.find("\n{") + 1
    if not text[start:].startswith("{"):
        return {}
    try:
        data, _ = _DECODER.raw_decode(text, start)
    except ValueError:
        return {}
    return cast("Mapping[str, Any]", data) if isinstance(data, dict) else {}


def _text_of(taint: Taint, data: Mapping[str, Any]) -> str:
    """Return all words of the file in the data."""
    if isinstance(data.get("text"), str) and "results" not in data:
        return data["text"]
    entries = [entry for key in ("hits", "results") for entry in data.get(key) or [] if isinstance(entry, dict)]
    mine = [entry for entry in cast("list[dict[str, Any]]", entries) if _file_id(entry) == taint["file_id"]]
    return "\n".join(str(entry.get(key)) for entry in mine for key in ("text", "answer", "quote") if entry.get(key))


def _part_of(taint: Taint, taints: Sequence[Taint], text: str) -> str:
    """Return the part of an answer's text that is about one of its files: from its id to the next one's."""
    ids = [other["file_id"] for other in taints if other["file_id"] and other["file_id"] in text]
    if len(taints) == 1 or taint["file_id"] not in ids:
        return text
    begin = text.index(taint["file_id"]) + len(taint["file_id"])
    return text[begin : min((at for key in ids if (at := text.find(key, begin)) >= 0), default=len(text))]


def _file_id(entry: Mapping[str, Any]) -> Any:
    file = entry.get("file")
    return cast("Mapping[str, Any]", file).get("id") if isinstance(file, Mapping) else entry.get("file_id")
