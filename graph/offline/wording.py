"""The offline model's sentences in either language, with the names, paths, sizes and times in them."""

import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from graph.language import Language
from graph.moment import local_time

LONGEST_NAME, MOST_LINES = 120, 30
_UNITS: Final = ("bytes", "KB", "MB", "GB", "TB")
_SPACES: Final = re.compile(r"\s+")
_LINK: Final = re.compile(r"\]\s*[(\[]|!?\[")
_CURLY: Final = re.compile("[“”]")
_BULLET: Final = re.compile(r"^\s*(?:[-*+•·]|\d{1,3}[.)、])\s+")
_ROWS: Final = (Path(__file__).parent / "phrases.tsv").read_text(encoding="utf-8").splitlines()[1:]
_PHRASES: Final = {row.split("\t")[0]: tuple(row.replace("\\n", "\n").split("\t")[1:]) for row in _ROWS}
"""Each sentence by its code, in English and in Chinese."""
_SHARED: Final = ("abilities", "real_model")
"""The sentences that others have in them."""


def sides(code: str) -> tuple[str, ...]:
    """Return a sentence of the catalogue in English and in Chinese; nothing for an unknown code."""
    return _PHRASES.get(code, ())


def say(language: Language, code: str, **values: Any) -> str:
    """Return a sentence of the catalogue with its values filled in."""
    side = 0 if language == "en" else 1
    shared = {shared: _PHRASES[shared][side] for shared in _SHARED}
    return _PHRASES[code][side].format(**(shared | values))


def inert(text: str) -> str:
    """Return text of a document or a name so that it makes no link or image where answers are shown as Markdown."""
    return text.replace("](", "] (").replace("][", "] [")


def quoted(text: str, limit: int = LONGEST_NAME) -> str:
    """Return a name or passage on one line in quotation marks, cut if it is long."""
    line = inert(_SPACES.sub(" ", text).strip())
    return f"“{line if len(line) <= limit else line[: limit - 1] + '…'}”"


def verbatim(text: str, limit: int) -> str:
    """Return a passage on one line to be quoted word for word: of one with links the longest part without them."""
    parts = (_BULLET.sub("", part) for part in _LINK.split(_SPACES.sub(" ", text)))
    line = _CURLY.sub('"', max(parts, key=len)).strip("| ")
    if len(line) <= limit:
        return line
    words = line[: limit - 1].rpartition(" ")[0]
    return f"{words if len(words) > limit // 2 else line[: limit - 1]}…"


def code(path: str) -> str:
    """Return a path as code."""
    return f"`{_SPACES.sub(' ', path).replace('`', 'ˋ')}`"


def path_of(item: Mapping[str, Any]) -> str:
    """Return where an item is, as code."""
    return code(str(item.get("path") or item.get("name") or item.get("id", "")))


def bounded(lines: Sequence[str], language: Language, total: int = 0) -> str:
    """Return a list, of a long one its beginning and how much more there is; `total` counts unlisted items too."""
    more = max(total, len(lines)) - min(len(lines), MOST_LINES)
    tail = [say(language, "listing_more", count=more)] if more > 0 else []
    return "\n".join([*lines[:MOST_LINES], *tail])


def size(number: int) -> str:
    """Return a number of bytes for a person."""
    amount, unit = float(number), 0
    while amount >= 1000 and unit < len(_UNITS) - 1:
        amount, unit = amount / 1000, unit + 1
    return f"{amount:.0f} {_UNITS[unit]}" if unit == 0 or amount >= 100 else f"{amount:.1f} {_UNITS[unit]}"


def moment(value: Any, zone: str = "") -> str:
    """Return a time of the wire to the minute, local to the zone of `<moment>`, with its name."""
    try:
        at = datetime.fromisoformat(str(value))
    except ValueError:
        return str(value or "?")
    name = zone.partition(" (")[0]
    local = local_time(at, name) if zone else at
    return f"{local:%Y-%m-%d %H:%M} ({name or 'UTC'})"
