"""Say of an answer that rests on a file which the drive could not read whole. Pure."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from drive_server.kernel.texts import Texts
from graph.citations.sources import Source
from graph.events.answers import CitationView
from graph.language import Language

MAX_FILES: Final = 3
MAX_DETAILS: Final = 200
TEXTS: Final = Texts.beside(__file__)
_FIGURE: Final = re.compile(r"\d[\d.,:]*\d|\d|[一二三四五六七八九十百千万亿两]+(?=[个天年月元人次份块])")
NOT_FOUND: Final = re.compile(
    r"\b(?:no|not|nothing|none|nowhere|neither|n't|couldn't|can't|doesn't|don't|didn't|without)\b|n[’']t\b"
    r"|没有|未找到|找不到|沒有|未能|无法|没找到|不存在|未提及|没提",
    re.IGNORECASE,
)
"""Words by which an answer says that something is not there."""


def incomplete_notice(
    read: Iterable[Source],
    citations: Sequence[CitationView],
    opened: Sequence[Source],
    answer: str,
    asked: str,
    language: Language,
) -> str:
    """Return a sentence for each file that is quoted and was not read whole; empty without any.

    `read` is all that the thread has read. An answer that quotes no file rests on those that it `opened`, if it has a
    figure that the person did not say, or says that something is not there.
    """
    quoted = {(one["file_id"], one["version"]) for one in citations if one["file_id"]}
    if quoted:
        files = [source for source in read if (source["file_id"], source["version"]) in quoted]
    else:
        files = [source for source in opened if source.get("opened")] if _tells(answer, opened, asked) else []
    missing = {source["file_id"]: (source["name"], words) for source in files if (words := source.get("missing"))}
    return "\n".join(_sentence(name, words, language) for name, words in list(missing.values())[:MAX_FILES])


def _tells(answer: str, opened: Sequence[Source], asked: str) -> bool:
    said = answer
    for text in sorted({text for one in opened for text in (one["name"], one["path"]) if text}, key=len, reverse=True):
        said = said.replace(text, " ")
    return any(figure not in asked for figure in _FIGURE.findall(said)) or NOT_FOUND.search(said) is not None


def _sentence(name: str, missing: Mapping[str, str], language: Language) -> str:
    details = missing.get(language, "")
    inside = TEXTS.say("incomplete.details", language, details=details) if 0 < len(details) <= MAX_DETAILS else ""
    return TEXTS.say("incomplete.incomplete", language, name=" ".join(name.split()), details=inside)
