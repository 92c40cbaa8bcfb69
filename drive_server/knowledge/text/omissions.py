"""The parts of a file that a reader met and did not read: counted by kind, in one sentence in both languages."""

from collections import Counter
from collections.abc import Mapping
from typing import Final, Literal, get_args

from drive_server.kernel.messages import Language, Message, join_sentences, render
from drive_server.knowledge.text.unreadable import unreadable_message, unreadable_sentence

OmissionKind = Literal[
    "attachment",
    "blank_page",
    "cell",
    "chart",
    "comment",
    "character",
    "damage",
    "drawing",
    "embedded",
    "encoding",
    "encrypted",
    "equation",
    "error",
    "form_field",
    "formula",
    "frame",
    "included_part",
    "length",
    "margin",
    "page",
    "picture",
    "scan",
    "sheet",
    "unsearched",
]
"""Each kind is rendered by the code `omitted.KIND` of `messages`, with its `count`.

The count of `length` and `unsearched` is the number of characters that were read, or that are searched.
"""

OMISSION_KINDS: Final[tuple[OmissionKind, ...]] = get_args(OmissionKind)

_LIMITS: Final = frozenset({"length", "unsearched"})
"""Kinds that count to where a text was read or is searched."""

_REPEATED: Final = frozenset({"margin"})
"""Kinds of which the text has one occurrence, so that nothing is lost: heads and feet that all pages repeat."""


class Omissions:
    """The counter that a reader of documents gets: it adds each thing that it meets and leaves out."""

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()

    def add(self, kind: OmissionKind, count: int = 1) -> None:
        """Count things of a kind that were met and not read."""
        if count:
            self._counts[kind] += count

    def add_all(self, counts: Mapping[str, int]) -> None:
        """Count the omissions of a file within the file, such as an attachment."""
        self._counts.update({kind: count for kind, count in counts.items() if kind not in _LIMITS})
        self._counts |= Counter({kind: count for kind, count in counts.items() if kind in _LIMITS})

    @property
    def counts(self) -> dict[str, int]:
        """The counts by kind, in the order of `OMISSION_KINDS`."""
        return {kind: self._counts[kind] for kind in OMISSION_KINDS if self._counts[kind]}


_DOUBTFUL: Final = frozenset({"damage", "encoding"})
"""Kinds that are read, perhaps wrongly."""

_UNSEARCHED: Final = frozenset({"unsearched"})
"""Kinds that are read, but not searched."""


def is_partial(reason: str, counts: Mapping[str, int]) -> bool:
    """Return whether content of a file that was read is missing, by its reason and counts: more than repetitions."""
    return any(kind not in _REPEATED for kind in counts) or reason != omission_sentence(counts)


def omission_sentence(counts: Mapping[str, int], language: Language = "en") -> str:
    """Return one or two sentences on the parts that were not read, such as "Not read: 2 pictures."; or nothing.

    Of a file that has no text at all the sentence gives the reason.
    """
    if sentence := unreadable_sentence(counts, language):
        return sentence
    others = {"omitted.unsearched_part": _UNSEARCHED, "omitted.repeated": _REPEATED, "omitted.doubtful": _DOUBTFUL}
    parts = {"omitted": counts.keys() - frozenset().union(*others.values()), **others}
    found = {code: {kind: count for kind, count in counts.items() if kind in kinds} for code, kinds in parts.items()}
    sentences = [render(Message.of(code, things=_things(some)), language) for code, some in found.items() if some]
    return join_sentences(sentences, language)


def reason_with(reason: str, before: Mapping[str, int], counts: Mapping[str, int]) -> str:
    """Return a reason that names these counts in the place of those before."""
    return f"{reason.removesuffix(omission_sentence(before)).strip()} {omission_sentence(counts)}".strip()


def missing_things(counts: Mapping[str, int], language: Language = "en") -> str:
    """Return the things that the text does not have, such as "2 pictures without text, 1 page"; empty for nothing."""
    if unreadable_message(counts) is not None:
        return ""
    lost = {kind: count for kind, count in counts.items() if kind not in _REPEATED | _DOUBTFUL | _UNSEARCHED}
    return render(_things(lost), language) if lost else ""


def omission_message(kind: str, count: int) -> Message:
    """Return the name of the omissions of one kind, such as "2 pictures"."""
    return Message.of(f"omitted.{kind}", count=count)


def _things(counts: Mapping[str, int]) -> Message:
    return Message.joined("commas", [omission_message(kind, count) for kind, count in counts.items()])
