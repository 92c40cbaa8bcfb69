"""Decide whether the parts of an installation belong together."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from drive_server.kernel.messages import Message
from drive_server.storage.installation.parts import Look, Part

CONTENTS: Final = "contents"
ALWAYS_TOGETHER: Final = ("service", "threads")
"""Parts that the first start makes together: one without the other is lost."""


@dataclass(frozen=True, slots=True)
class Range:
    """The numbers that a part's mark may have."""

    written: int
    intended: int


@dataclass(frozen=True, slots=True)
class Known:
    """The state of the database: its installation's id (empty: none yet), and its marks of the other parts.

    `is_used`: it has people. `refers`: it refers to contents, of which `lost` says that most are not there. `change` is
    its newest change. `has_signing_key` is false if the key that signs links and cursors is gone.
    """

    place: str
    installation: str = ""
    marks: Mapping[str, Range] = field(default_factory=dict[str, Range])
    is_used: bool = False
    refers: bool = False
    lost: bool = False
    change: int = 0
    has_signing_key: bool = True


@dataclass(frozen=True, slots=True)
class Finding:
    """A sentence for the operator, and the part that it is about; None for the database itself.

    `is_final`: nothing can be done with the present data.
    """

    message: Message
    part: Part | None = None
    is_final: bool = False


def examine(known: Known, looks: Sequence[tuple[Part, Look]]) -> list[Finding]:
    """Return the parts that do not fit the database, with the reasons; none if all belong together."""
    found = [Finding(message, part) for part, look in looks for message in _problems(known, part, look)]
    if known.installation and not known.has_signing_key:
        found.append(Finding(Message.of("data_no_signing_key", database=known.place)))
    if not known.installation:
        found += _separated(looks)
    return found


def _problems(known: Known, part: Part, look: Look) -> Iterator[Message]:
    """Yield at most one problem of a part."""
    if look.state == "unreadable":
        return
    if look.state == "swapped":
        yield Message.of("data_swapped", part=part.place)
    elif known.installation:
        yield from _of_known(known, part, look)
    else:
        yield from _of_new(known, part, look)


def _of_known(known: Known, part: Part, look: Look) -> Iterator[Message]:
    expected = known.marks.get(part.name)
    if look.state == "missing":
        if expected and expected.written and (part.name != CONTENTS or known.refers):
            yield Message.of("data_missing", part=part.place, database=known.place)
    elif look.mark is None:
        if expected and expected.written:
            yield Message.of("data_older", older=part.place, newer=known.place)
    elif look.mark.installation != known.installation:
        yield Message.of("data_foreign", part=part.place, database=known.place)
    elif expected is None or look.mark.number > expected.intended or look.mark.change > known.change:
        yield Message.of("data_older", older=known.place, newer=part.place)
    elif look.mark.number < expected.written:
        yield Message.of("data_older", older=part.place, newer=known.place)


def _of_new(known: Known, part: Part, look: Look) -> Iterator[Message]:
    """Judge a part beside a database without an identity: new, of an earlier version of the program, or none."""
    if look.state == "missing":
        if part.name == CONTENTS and known.refers:
            yield Message.of("data_missing", part=part.place, database=known.place)
    elif not known.is_used:
        if not part.derived:
            yield Message.of("data_no_database", part=part.place, database=known.place)
    elif look.mark is not None:
        yield Message.of("data_older", older=known.place, newer=part.place)
    elif part.name == CONTENTS and known.lost:
        yield Message.of("data_foreign", part=part.place, database=known.place)


def _separated(looks: Sequence[tuple[Part, Look]]) -> list[Finding]:
    """Return the part that is missing of those that were made together."""
    pair = [(part, look) for part, look in looks if part.name in ALWAYS_TOGETHER]
    gone = [part for part, look in pair if look.state == "missing"]
    there = [part for part, look in pair if look.state != "missing"]
    return [
        Finding(Message.of("data_missing", part=part.place, database=other.place), part)
        for part in gone
        for other in there
    ]
