"""The reasons why a file has no text at all: each is a kind with a number, told in one sentence in both languages."""

from collections.abc import Mapping
from typing import Final, Literal, get_args

from drive_server.kernel.messages import Language, Message, render
from drive_server.knowledge.text.elements import Extraction, ExtractionState

UnreadableKind = Literal[
    "archive",
    "compound",
    "copy_protected",
    "crash",
    "damaged",
    "levels",
    "mail",
    "memory",
    "no_text_part",
    "not_text",
    "notebook",
    "old_word",
    "parts",
    "password",
    "picture_format",
    "pixels",
    "seconds",
    "size",
    "small_picture",
    "unpacked",
]
"""Each kind is rendered by the code `unreadable.KIND` of `messages`, with its `count`.

The count of a limit is the limit: `levels`, `parts`, `pixels`, `seconds`, and for `size` and `unpacked` bytes.
"""

UNREADABLE_KINDS: Final[tuple[UnreadableKind, ...]] = get_args(UnreadableKind)

_PREFIX: Final = "unreadable."
_STATES: Final[Mapping[UnreadableKind, ExtractionState]] = {
    "archive": "unsupported",
    "compound": "unsupported",
    "not_text": "unsupported",
    "old_word": "unsupported",
    "picture_format": "unsupported",
    "small_picture": "unsupported",
    "copy_protected": "needs_password",
    "password": "needs_password",
}
"""The states of extractions by kind; `failed` for all others."""


class UnreadableError(Exception):
    """A reader can't read a file, for a reason of this kind."""

    def __init__(self, kind: UnreadableKind, count: int = 1) -> None:
        super().__init__(kind)
        self.kind: UnreadableKind = kind
        self.count = count


def state_of(kind: UnreadableKind) -> ExtractionState:
    """Return the state of a file that is not read for a reason of this kind."""
    return _STATES.get(kind, "failed")


def unreadable(kind: UnreadableKind, count: int = 1) -> Extraction:
    """Return the extraction of a file that is not read: its reason stands among the omissions, by its code."""
    counts = {_PREFIX + kind: count}
    return Extraction(state_of(kind), unreadable_sentence(counts), omissions=counts)


def unreadable_message(omissions: Mapping[str, int]) -> Message | None:
    """Return the reason why a file with these omissions has no text, None if it has one."""
    return next((Message.of(code, count=count) for code, count in omissions.items() if code.startswith(_PREFIX)), None)


def unreadable_sentence(omissions: Mapping[str, int], language: Language = "en") -> str:
    """Return the same as a sentence; empty if the file has a text."""
    message = unreadable_message(omissions)
    return render(message, language) if message else ""
