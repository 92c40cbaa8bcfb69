"""Contents of files: versions, ranges of text, differences, quotations."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from drive_server.models.base import Model
from drive_server.models.items import Item


class Version(Model):
    """A content that a file had; `run_id` names the assistant's run that wrote it.

    `created_at` is when it came into the drive, `modified_at` the content's own date.
    """

    number: int
    size: int
    media_type: str
    created_at: datetime
    modified_at: datetime
    author: str
    run_id: str | None
    current: bool


@dataclass(frozen=True, slots=True)
class TextRange:
    """A part of the text of a version. Offsets count characters from 0, lines from 1; `end` is exclusive for offsets.

    `place` is where a person would look for it, as in `page=2-3`. `omissions` counts the unreadable parts of the whole
    file by kind, `recognized` the pages whose text OCR read.
    """

    item: Item
    text: str
    start: int
    end: int
    total_characters: int
    first_line: int
    last_line: int
    total_lines: int
    version: int
    place: str
    omissions: Mapping[str, int] = field(default_factory=dict[str, int])
    recognized: int = 0


class DownloadUrl(Model):
    """An address from which the bytes of one file can be fetched without a key, until `expires_at`."""

    file: Item
    version: int
    url: str
    expires_at: datetime


class VersionDiff(Model):
    """The unified diff between two versions of a file; `truncated` says that it is the beginning of a longer one."""

    file: Item
    from_version: int
    to_version: int
    diff: str
    truncated: bool


class ChangedPlace(Model):
    """A difference of two files, placed in each as a person finds it (`page=2`, `sheet=Budget!A2:D15`, `line=4`).

    Empty where that file has nothing of it.
    """

    place: str
    other_place: str


class FileDiff(Model):
    """The unified diff between the texts of two files; `truncated` says that it is the beginning of a longer one.

    `changes` counts those in `diff`, `places` has the first 50 of them.
    """

    file: Item
    version: int
    other: Item
    other_version: int
    diff: str
    truncated: bool
    places: tuple[ChangedPlace, ...]
    changes: int


@dataclass(frozen=True, slots=True)
class Citation:
    """A quotation with the file that it is said to be from: a version of it, the newest if None, and maybe a place."""

    file: str
    quote: str
    version: int | None = None
    place: str = ""


@dataclass(frozen=True, slots=True)
class CheckedCitation:
    """The check of a quotation in a version: whether it stands there, and its offsets, place and headings as in hits.

    `reason` is empty if it stands, `absent` if it does not, else the code of the error that kept it from being checked;
    then there is no `item`. `at_place` says whether it stands where it was said to; None if that was not said.
    """

    citation: Citation
    reason: str
    item: Item | None = None
    version: int = 0
    start: int = 0
    end: int = 0
    place: str = ""
    heading: str = ""
    at_place: bool | None = None

    @property
    def stands(self) -> bool:
        """Return whether the quotation stands in that version."""
        return not self.reason
