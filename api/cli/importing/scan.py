"""Scan a folder of this computer for an import: the files with their names, and the reasons of those left out."""

from __future__ import annotations

import os
import stat
import unicodedata
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from api.cli.failure import CommandError, system_reason
from api.cli.texts import text
from drive_server.kernel.escaping.characters import BIDI_CONTROLS, is_noncharacter

if TYPE_CHECKING:
    from collections.abc import Container
    from pathlib import Path


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file to import. `path` has undecodable bytes as surrogates; `shown` is its path below the import."""

    path: str
    shown: str
    name: str
    size: int


@dataclass(slots=True)
class SourceFolder:
    """A folder to import with its files; `parent` is None for the top. Parents come before their children."""

    path: str
    shown: str
    name: str
    parent: SourceFolder | None
    files: list[SourceFile] = field(default_factory=list[SourceFile])


@dataclass(frozen=True, slots=True)
class Remark:
    """A remark for the person about one file or folder."""

    shown: str
    reason: str


@dataclass(slots=True)
class Scan:
    """The result of a scan. `skipped`: left out on purpose; `failed`: not readable; `renamed`: gets another name."""

    folders: list[SourceFolder] = field(default_factory=list[SourceFolder])
    skipped: list[Remark] = field(default_factory=list[Remark])
    failed: list[Remark] = field(default_factory=list[Remark])
    renamed: list[Remark] = field(default_factory=list[Remark])

    @property
    def file_count(self) -> int:
        """The number of files that can be imported."""
        return sum(len(folder.files) for folder in self.folders)

    @property
    def total_bytes(self) -> int:
        """The number of their bytes."""
        return sum(file.size for folder in self.folders for file in folder.files)


def scan(directory: Path, own_data: Path) -> Scan:
    """Scan a folder without following links, but not `own_data`. Raises `CommandError` if it can't be read.

    A file is scanned as a folder without a name that has it alone.
    """
    found = Scan()
    if directory.is_file():
        found.folders.append(SourceFolder(str(directory.parent), "", "", None, [one_file(directory)]))
        return found
    try:
        os.scandir(directory).close()
    except OSError as error:
        raise CommandError.of("not_importable", path=directory, reason=failure_reason(error)) from error
    own = _identity(own_data)
    waiting = [SourceFolder(str(directory), "", _own_name(directory), None)]
    while waiting:
        folder = waiting.pop()
        found.folders.append(folder)
        waiting += reversed(_scan_folder(folder, found, own))
    return found


def one_file(path: Path) -> SourceFile:
    """Return a file that was named itself; a link is followed. Raises `OSError` if it can't be looked at."""
    real = path.resolve()
    return SourceFile(str(real), decoded(path.name), importable_name(path.name, ()), real.stat().st_size)


def _own_name(directory: Path) -> str:
    name = directory.resolve().name
    return importable_name(name, ()) if name else ""


def failure_reason(error: OSError) -> str:
    """Return the reason why a file could not be read."""
    if isinstance(error, PermissionError):
        return text("no_permission")
    if isinstance(error, FileNotFoundError):
        return text("file_gone")
    if isinstance(error, NotADirectoryError):
        return text("not_a_folder")
    return system_reason(error)


def _scan_folder(folder: SourceFolder, found: Scan, own: tuple[int, int] | None) -> list[SourceFolder]:
    """Add a folder's files to it, and return its subfolders."""
    taken = set[str]()
    subfolders: list[SourceFolder] = []
    for entry in _entries(folder, found):
        shown = os.path.join(folder.shown, decoded(entry.name))  # noqa: PTH118 - may hold what a Path can't show
        status = _status(entry, shown, found, own)
        if not status:
            continue
        name = importable_name(entry.name, taken)
        taken.add(name)
        if name != decoded(entry.name) or not is_text(entry.name):
            found.renamed.append(Remark(shown, text("imported_as", name=name)))
        if stat.S_ISDIR(status.st_mode):
            subfolders.append(SourceFolder(entry.path, shown, name, folder))
        else:
            folder.files.append(SourceFile(entry.path, shown, name, status.st_size))
    return subfolders


def _entries(folder: SourceFolder, found: Scan) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder.path) as entries:
            return sorted(entries, key=lambda entry: entry.name)
    except OSError as error:
        found.failed.append(Remark(folder.shown, failure_reason(error)))
        return []


def _status(entry: os.DirEntry[str], shown: str, found: Scan, own: tuple[int, int] | None) -> os.stat_result | None:
    """Return the status of an entry; None, with a remark, if it is not imported."""
    try:
        status = entry.stat(follow_symlinks=False)
    except OSError as error:
        found.failed.append(Remark(shown, failure_reason(error)))
        return None
    problem = _reason_to_skip(status, own)
    if problem:
        found.skipped.append(Remark(shown, problem))
        return None
    return status


def _reason_to_skip(status: os.stat_result, own: tuple[int, int] | None) -> str | None:
    if stat.S_ISLNK(status.st_mode):
        return text("is_link")
    if not stat.S_ISREG(status.st_mode) and not stat.S_ISDIR(status.st_mode):
        return text("is_special")
    return text("is_own_data") if (status.st_dev, status.st_ino) == own else None


def _identity(path: Path) -> tuple[int, int] | None:
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino


MAX_NAME_BYTES = 255
REPLACEMENT = "_"
MAX_SUFFIX = 16
REFUSED_CHARACTERS = BIDI_CONTROLS | {"/", "\\"}
REFUSED_CATEGORIES = frozenset({"Cc", "Cs", "Zl", "Zp"})


def decoded(raw: str) -> str:
    """Return a name from the file system as text in NFC; bytes that are not UTF-8 become U+FFFD."""
    return unicodedata.normalize("NFC", raw.encode("utf-8", "surrogateescape").decode("utf-8", "replace"))


def is_text(raw: str) -> bool:
    """Return whether a name from the file system is UTF-8."""
    return raw.isascii() or not any("\udc80" <= char <= "\udcff" for char in raw)


def importable_name(raw: str, taken: Container[str]) -> str:
    """Return a name that the drive accepts and that is not taken, as close to the raw one as possible."""
    name = "".join(REPLACEMENT if _is_refused(char) else char for char in decoded(raw)).strip()
    name = _within_limit(name or REPLACEMENT, "")
    if name in {".", ".."}:
        name = REPLACEMENT
    number, free = 2, name
    while free in taken:
        free = _within_limit(name, f" ({number})")
        number += 1
    return free


def _is_refused(char: str) -> bool:
    is_control = unicodedata.category(char) in REFUSED_CATEGORIES
    return is_control or char in REFUSED_CHARACTERS or is_noncharacter(char)


def _within_limit(name: str, mark: str) -> str:
    """Put a mark before the suffix, and cut the stem so that the whole has 255 bytes at most."""
    stem, dot, suffix = name.rpartition(".")
    if not stem or len(suffix) > MAX_SUFFIX:
        stem, dot, suffix = name, "", ""
    tail = f"{mark}{dot}{suffix}"
    return stem.encode()[: MAX_NAME_BYTES - len(tail.encode())].decode("utf-8", "ignore").rstrip() + tail
