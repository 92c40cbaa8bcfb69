"""The answer of every reader: the parts of a file's text in order, after unstructured's element model."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from drive_server.knowledge.text.noncharacters import without_noncharacters
from drive_server.knowledge.text.place import SourceRange

ElementKind = Literal["title", "text", "list_item", "table", "code"]
ExtractionState = Literal["ready", "unsupported", "needs_password", "needs_ocr", "failed"]

MAX_CHARACTERS = 20_000_000
MAX_INDEXED_CHARACTERS = 2_000_000
SEPARATOR = "\n\n"


@dataclass(frozen=True, slots=True)
class Element:
    """A heading, paragraph, list item, table (or table row) or piece of code.

    `start` and `end` are character offsets into the extraction's text; `text` is the text there without markup.
    `level` is 1 to 6 for titles, else 0; `page` counts from 1, None where the format has no pages. `place` is where a
    reader of the file finds it, None where that is its page, or follows from the offsets. `path` is the names of the
    elements around it, outermost first, where those are no titles in the text: keys, classes, functions; None
    elsewhere.
    """

    kind: ElementKind
    text: str
    start: int
    end: int
    page: int | None = None
    level: int = 0
    place: SourceRange | None = None
    path: tuple[str, ...] | None = None

    def __reduce__(self) -> tuple[type["Element"], tuple[Any, ...]]:
        """Be pickled by position: readers send many of these, and pickling as dataclasses takes three times as long."""
        place = (self.page, self.level, self.place, self.path)
        return Element, (self.kind, self.text, self.start, self.end, *place)


@dataclass(frozen=True, slots=True)
class Extraction:
    """The text of a file, or why there is none.

    `reason` is a sentence for a person: why there is no text, or which parts of it are missing. It never names a path.
    `properties`: of a photo when it was taken, where, and with which camera.
    `omissions` counts the parts that the reader met and did not read; `reason` names that, too.
    `recognized` counts the pages whose text OCR read.
    `exact` says that `text` is the decoded file itself, so that offsets into it are offsets into the file;
    `encoding` is then the one it was decoded with.
    """

    state: ExtractionState
    reason: str = ""
    elements: tuple[Element, ...] = ()
    text: str = ""
    exact: bool = False
    encoding: str = ""
    properties: Mapping[str, str] = field(default_factory=dict[str, str])
    omissions: Mapping[str, int] = field(default_factory=dict[str, int])
    recognized: int = 0


@dataclass(frozen=True, slots=True)
class Part:
    """An element without offsets: `join` makes the text, and with it the offsets."""

    kind: ElementKind
    text: str
    page: int | None = None
    level: int = 0
    place: SourceRange | None = None


@dataclass(frozen=True, slots=True)
class RecognizedPage:
    """A page that is a picture, counted from 1, with its parts; None if it could not be read."""

    number: int
    parts: tuple[Part, ...] | None


@dataclass(frozen=True, slots=True)
class Recognized:
    """Some pages of a file. `is_complete`: there are no further ones."""

    pages: tuple[RecognizedPage, ...] = ()
    is_complete: bool = False


def join(parts: Iterable[Part]) -> Extraction:
    """Make the text out of the parts, with a blank line between them; stop at `MAX_CHARACTERS` and count it.

    Code points that are no characters, such as U+FFFE, end here: none gets into a text of any reader.
    """
    pieces: list[str] = []
    elements: list[Element] = []
    position = 0
    omissions: dict[str, int] = {}
    for part in parts:
        text = without_noncharacters(part.text)
        if position + len(text) > MAX_CHARACTERS:
            omissions["length"] = MAX_CHARACTERS
            break
        if text:
            end = position + len(text)
            elements.append(Element(part.kind, text, position, end, part.page, part.level, part.place))
            pieces.append(text)
            position = end + len(SEPARATOR)
    return Extraction("ready", elements=tuple(elements), text=SEPARATOR.join(pieces), omissions=omissions)
