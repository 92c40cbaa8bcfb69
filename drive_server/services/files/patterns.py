"""Names and folders made of patterns: `{date} {name}`, `{year}/{month}`, with placeholders for facts of an item."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, tzinfo
from pathlib import PurePosixPath
from typing import Final, Literal

from drive_server.kernel.errors import InvalidInputError
from drive_server.kernel.messages import Language, Message, render
from drive_server.knowledge.formats import format_of
from drive_server.services.tree.names import clean_name
from drive_server.storage.tables.items import NodeRow

DateOf = Literal["modified", "created"]
MAX_PATTERN_CHARACTERS: Final = 500
MAX_LEVELS: Final = 8
MAX_SUFFIX_CHARACTERS: Final = 16
DATES: Final = ("date", "year", "month", "day")
IN_NAMES: Final = ("name", "ext", "number", "type", *DATES)
# Not `name`: a folder would get the name that somebody else gave their file.
IN_FOLDERS: Final = ("type", "ext", *DATES)
_PLACEHOLDER: Final = re.compile(r"\{([^{}]*)\}")
_NUMBER: Final = re.compile(r"number(?::([1-9]))?")


@dataclass(frozen=True, slots=True)
class NamePattern:
    """A pattern for names. Without `{ext}` in it a file keeps its ending. `{number:3}` counts 001, 002, ...

    Days are those of `zone`.
    """

    text: str
    start: int = 1
    date_of: DateOf = "modified"
    language: Language = "en"
    zone: tzinfo = UTC

    def __post_init__(self) -> None:
        """Raise `InvalidInputError` for a placeholder that names no fact."""
        _check(self.text, IN_NAMES)

    def name_for(self, row: NodeRow, position: int) -> str:
        """Return the name of the item at this position, from 0. Raises `InvalidNameError`."""
        stem, ext = split_name(row)
        values = {**_facts(row, self), "name": stem, "ext": ext}
        name = _filled(self.text, values, self.start + position)
        if "{ext}" not in self.text and ext:
            return clean_name(f"{name}.{ext}")
        return clean_name(name if ext else name.rstrip("."))


@dataclass(frozen=True, slots=True)
class FolderPattern:
    """A pattern for a path of folders, with slashes between their names. Days are those of `zone`."""

    text: str
    date_of: DateOf = "modified"
    language: Language = "en"
    zone: tzinfo = UTC

    def __post_init__(self) -> None:
        """Raise `InvalidInputError` for a placeholder that names no fact, and for too many levels."""
        _check(self.text, IN_FOLDERS)
        if not 1 <= len(self._levels) <= MAX_LEVELS:
            raise InvalidInputError(Message.of("folder_pattern", limit=MAX_LEVELS))

    def path_for(self, row: NodeRow) -> tuple[str, ...]:
        """Return the names of the folders for an item, topmost first. Raises `InvalidNameError`."""
        other = render(Message.of("type.other"), self.language)
        ext = split_name(row)[1].lower()
        values = {**_facts(row, self), "ext": ext if ext.isalnum() else other}
        return tuple(clean_name(_filled(level, values, 0)) for level in self._levels)

    @property
    def _levels(self) -> list[str]:
        return [level.strip() for level in self.text.strip().strip("/").split("/") if level.strip()]


def replaced_name(row: NodeRow, find: str, replacement: str) -> str:
    """Return the item's name with all occurrences replaced; the ending only where `find` has a dot itself."""
    stem, ext = split_name(row)
    if "." in find or not ext:
        changed = row.name.replace(find, replacement)
    else:
        changed = f"{stem.replace(find, replacement)}.{ext}"
    return row.name if changed == row.name else clean_name(changed.strip())


def split_name(row: NodeRow) -> tuple[str, str]:
    """Return the name without its ending, and the ending without its dot; a folder has none."""
    stem, _, suffix = row.name.rpartition(".")
    if row.kind == "folder" or not stem or len(suffix) > MAX_SUFFIX_CHARACTERS:
        return row.name, ""
    return stem, suffix


def temporary_name(row: NodeRow, name_id: str) -> str:
    """Return a name that no item has, of the same format as the item's own."""
    return f"{name_id}{PurePosixPath(row.name).suffix[: MAX_SUFFIX_CHARACTERS + 1]}"


def _facts(row: NodeRow, pattern: NamePattern | FolderPattern) -> dict[str, str]:
    moment = (row.created_at if pattern.date_of == "created" else row.modified_at).astimezone(pattern.zone)
    group = "folder" if row.kind == "folder" else format_of(row.name, row.media_type).group
    return {
        "type": render(Message.of(f"type.{group}"), pattern.language),
        "date": f"{moment:%Y-%m-%d}",
        "year": f"{moment:%Y}",
        "month": f"{moment:%m}",
        "day": f"{moment:%d}",
    }


def _check(text: str, known: Sequence[str]) -> None:
    if len(text) > MAX_PATTERN_CHARACTERS:
        raise InvalidInputError(Message.of("pattern_long", limit=MAX_PATTERN_CHARACTERS))
    rest = _PLACEHOLDER.sub("", text)
    found = dict.fromkeys(_PLACEHOLDER.findall(text))
    unknown = [name for name in found if name not in known and not ("number" in known and _NUMBER.fullmatch(name))]
    if unknown or "{" in rest or "}" in rest:
        shown = ", ".join(f"{{{name}}}" for name in unknown) or text
        choices = ", ".join(f"{{{name}}}" for name in known)
        raise InvalidInputError(Message.of("pattern_unknown", names=shown, known=choices), details={"unknown": unknown})


def _filled(text: str, values: Mapping[str, str], number: int) -> str:
    def value(match: re.Match[str]) -> str:
        numbered = _NUMBER.fullmatch(match[1])
        return f"{number:0{int(numbered[1] or 1)}d}" if numbered else values[match[1]]

    return _PLACEHOLDER.sub(value, text).strip()
