"""Sentence patterns as data, by language and subject. The first pattern that matches a clause counts."""

from typing import Final

from graph.offline.understanding.patterns import (
    en_change,
    en_drive,
    en_look,
    en_loose,
    en_read,
    en_talk,
    zh_change,
    zh_drive,
    zh_look,
    zh_loose,
    zh_read,
    zh_talk,
)
from graph.offline.understanding.patterns.row import Row
from graph.state import Language

TALK: Final[dict[Language, tuple[Row, ...]]] = {"en": en_talk.ROWS, "zh": zh_talk.ROWS}
"""Tried on a clause as it was said, before anything polite is taken off it."""

REQUESTS: Final[dict[Language, tuple[Row, ...]]] = {
    "en": (*en_change.ROWS, *en_drive.EMPTYING, *en_drive.ROWS, *en_look.ROWS, *en_read.ROWS),
    "zh": (*zh_change.ROWS, *zh_drive.EMPTYING, *zh_drive.ROWS, *zh_look.ROWS, *zh_read.ROWS),
}
LOOSE: Final[dict[Language, tuple[Row, ...]]] = {"en": en_loose.ROWS, "zh": zh_loose.ROWS}
LAST: Final[dict[Language, tuple[Row, ...]]] = {"en": en_talk.LAST, "zh": zh_talk.LAST}
