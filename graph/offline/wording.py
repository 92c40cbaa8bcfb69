"""The offline model's sentences, with the names, paths, sizes and times in them."""

import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from drive_server.kernel.texts import Texts
from graph.language import Language
from graph.moment import local_time

MAX_NAME, MAX_LINES = 120, 30
_UNITS: Final = ("bytes", "KB", "MB", "GB", "TB")
_SPACES: Final = re.compile(r"\s+")
_LINK: Final = re.compile(r"\]\s*[(\[]|!?\[")
_CURLY: Final = re.compile("[“”]")
_BULLET: Final = re.compile(r"^\s*(?:[-*+•·]|\d{1,3}[.)、])\s+")
TEXTS: Final = Texts.beside(__file__)
_SHARED: Final = ("abilities", "real_model")
"""The sentences that others have in them."""


def in_all_languages(code: str) -> tuple[str, ...]:
    """Return a sentence in each language, without its values."""
    return tuple(TEXTS.value(code, language) for language in TEXTS.languages)


def say(language: Language, code: str, **values: Any) -> str:
    """Return a sentence with its values filled in."""
    shared = {shared: TEXTS.value(shared, language) for shared in _SHARED}
    return TEXTS.say(code, language, **(shared | values))


def inert(text: str) -> str:
    """Return text of a document or a name so that it makes no link or image where answers are shown as Markdown."""
    return text.replace("](", "] (").replace("][", "] [")


def quoted(text: str, limit: int = MAX_NAME) -> str:
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
    more = max(total, len(lines)) - min(len(lines), MAX_LINES)
    tail = [say(language, "listing_more", count=more)] if more > 0 else []
    return "\n".join([*lines[:MAX_LINES], *tail])


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
