"""Facts of a person beside their address: the name that it tells, and the languages of their files."""

import re
from collections.abc import Iterable
from typing import Final

from sqlalchemy import Connection, bindparam, select

from drive_server.storage.tables.items import NodeRow

NEWEST: Final = 300
LEAST_SHARE: Final = 0.05
"""The share of the names: a language with less of them is not the drive's."""
_WORDS: Final = re.compile(r"[^\W\d_]{2,}(?:[._-][^\W\d_]{2,})+")
_SCRIPTS: Final = {
    "ja": re.compile("[\u3041-\u30fa]"),
    "ko": re.compile("[\uac00-\ud7a3]"),
    "zh": re.compile("[\u3400-\u9fff]"),
    "Cyrillic script": re.compile("[\u0400-\u04ff]"),
    "Latin script": re.compile("[A-Za-zÀ-ɏ]{2,}"),
}
"""The first that a name has is its language, or its script where that has many languages."""
_NEWEST: Final = (
    select(NodeRow.name)
    .where(NodeRow.owner_id == bindparam("owner"), NodeRow.trash_id.is_(None), NodeRow.parent_id.is_not(None))
    .order_by(NodeRow.updated_at.desc())
    .limit(NEWEST)
)


def name_in(email: str) -> str:
    """Return the name that an address tells, as ann.lee@example.com does; empty for one that may be no name."""
    local = email.partition("@")[0]
    return " ".join(map(str.capitalize, re.split(r"[._-]", local))) if _WORDS.fullmatch(local) else ""


def languages_sync(connection: Connection, user_id: str) -> list[str]:
    """Return the languages, or the scripts, of the person's newest files by their names, the most common first."""
    return languages_in(connection.scalars(_NEWEST, {"owner": user_id}))


def languages_in(names: Iterable[str]) -> list[str]:
    """Return the languages of the names without their suffixes."""
    stems = [name.rpartition(".")[0] or name for name in names]
    found = [next((key for key, script in _SCRIPTS.items() if script.search(stem)), "") for stem in stems]
    common = sorted(set(found) - {""}, key=lambda key: (-found.count(key), key))
    return [key for key in common if found.count(key) >= LEAST_SHARE * len(found)]
