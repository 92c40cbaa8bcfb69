"""Find the passage that most likely led to a call: the one that holds most of its arguments. Pure."""

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, cast

from langchain_core.messages import AnyMessage, ToolMessage

from graph.language import Language
from graph.policy.provenance import FOREIGN
from graph.state import Origin, Passage, Taint

EXCERPT: Final = 300
WINDOW: Final = 240
MOST_CHARACTERS: Final = 200_000
"""Limit of all passages together; the newest come first."""
EXACT: Final = 25
"""Weight of a common address or id, in words."""

ORIGINS: Final[Mapping[Origin, Mapping[Language, str]]] = {
    "own": {"en": "written here by you", "zh": "你在此撰写"},
    "imported": {"en": "imported or uploaded", "zh": "导入或上传的内容"},
    "shared": {"en": "shared by somebody else", "zh": "他人共享的内容"},
    "outside": {"en": "from outside of the drive", "zh": "来自云盘之外"},
}
LEAD: Final[Mapping[Language, str]] = {
    "en": "Read before this: {path} ({origin}):\n“{excerpt}”",
    "zh": "在此之前读取了：{path}（{origin}）：\n“{excerpt}”",
}
LEAD_WITHOUT_WORDS: Final[Mapping[Language, str]] = {
    "en": "Read before this: {path} ({origin}).",
    "zh": "在此之前读取了：{path}（{origin}）。",
}

_EXACT: Final = re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+|https?://\S+|\b[0-9a-f]{16,}\b", re.IGNORECASE)
_WORD: Final = re.compile(r"[^\W\d_]{3,}|\d{2,}|[\u3400-\u9fff]{2}")
_DECODER: Final = json.JSONDecoder()


@dataclass(frozen=True, slots=True)
class Text:
    """A passage from a file that is not the person's own."""

    taint: Taint
    text: str


@dataclass(frozen=True, slots=True)
class Stretch:
    """A few sentences of it, with the words, addresses and ids in them."""

    taint: Taint
    words: str
    tokens: frozenset[str]


def texts_in(messages: Sequence[AnyMessage]) -> Iterator[Text]:
    """Yield what tools have shown of foreign files, the newest first."""
    for message in reversed(messages):
        taints: list[Taint] = message.additional_kwargs.get(FOREIGN, []) if isinstance(message, ToolMessage) else []
        if taints:
            data = _data_of(message.text)
            for taint in taints:
                yield Text(taint, _text_of(taint, data) or message.text)


def stretches_of(texts: Iterable[Text]) -> list[Stretch]:
    """Cut the texts into stretches; of a great many characters the first 200,000."""
    found: list[Stretch] = []
    room = MOST_CHARACTERS
    for entry in texts:
        part = entry.text[: max(0, room)]
        room -= len(part)
        found += [Stretch(entry.taint, words, frozenset(_weights(words))) for words in _windows(part)]
    return found


def best(args: Mapping[str, Any], stretches: Sequence[Stretch]) -> Passage | None:
    """Return the stretch that shares most with the arguments; of equal ones the first. None without any."""
    wanted = _weights(" ".join(_strings(args)))
    if not stretches:
        return None
    nearest = max(stretches, key=lambda stretch: sum(wanted[token] for token in stretch.tokens & wanted.keys()))
    return passage_of(nearest.taint, nearest.words)


def passage_of(taint: Taint, words: str) -> Passage:
    """Return the words of the file as they are shown."""
    line = " ".join(words.split())
    return {**taint, "excerpt": line if len(line) <= EXCERPT else f"{line[: EXCERPT - 1]}…"}


def shown(passage: Passage, language: Language) -> str:
    """Return the lines of the approval that name the passage."""
    path = passage["path"] or passage["name"] or "?"
    lead = LEAD if passage["excerpt"] else LEAD_WITHOUT_WORDS
    origin = ORIGINS[passage["origin"]][language]
    return lead[language].format(path=path, origin=origin, excerpt=passage["excerpt"])


def _weights(text: str) -> Counter[str]:
    found: Counter[str] = Counter()
    for token in _EXACT.findall(text):
        found[token.lower().rstrip(".,;)")] = EXACT
    for token in _WORD.findall(text):
        found.setdefault(token.lower(), 1)
    return found


def _windows(text: str) -> Iterator[str]:
    """Yield overlapping stretches of the text; one that begins or ends inside a word is made whole where it can be."""
    if len(text) <= EXCERPT:
        yield text
        return
    for start in range(0, len(text), WINDOW // 2):
        yield text[start : start + WINDOW]


def _strings(value: Any) -> Iterator[str]:
    """Yield every text in the arguments, however deep it is nested."""
    pending: list[Any] = [value]
    while pending:
        one = pending.pop()
        if isinstance(one, str):
            yield one
        elif isinstance(one, Mapping):
            pending += cast("Mapping[str, Any]", one).values()
        elif isinstance(one, list):
            pending += cast("list[Any]", one)


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


def _file_id(entry: Mapping[str, Any]) -> Any:
    file = entry.get("file")
    return cast("Mapping[str, Any]", file).get("id") if isinstance(file, Mapping) else entry.get("file_id")
