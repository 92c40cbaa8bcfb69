"""What an import tells at its end: what came in, what did not, and why."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from api.cli.importing.scan import Remark
from api.cli.terminal import format_size, visible_line

if TYPE_CHECKING:
    from collections.abc import Iterable

    from api.cli.importing.scan import Scan
    from api.cli.importing.upload import Uploaded
    from api.cli.terminal import Terminal


UNREADABLE = ("unsupported", "needs_password", "needs_ocr", "failed")


class ImportReport:
    """Counts and remarks of one import."""

    def __init__(self, found: Scan) -> None:
        self._seconds = 0.0
        self._folders_made = 0
        self._found = found
        self._counts = Counter[str]()
        self._bytes = 0
        self._failed: list[Remark] = []
        self._new_versions: list[Remark] = []
        self._renamed = list(found.renamed)
        self._shown_by_id: dict[str, str] = {}

    @property
    def count(self) -> int:
        """How many files are dealt with."""
        return sum(self._counts.values())

    @property
    def failures(self) -> list[Remark]:
        """The files and folders that could not be imported."""
        return self._found.failed + self._failed

    def add(self, uploaded: Uploaded) -> None:
        """Take in what became of a file."""
        self._counts[uploaded.result] += 1
        if uploaded.item:
            self._shown_by_id[uploaded.item["id"]] = uploaded.file.shown
            if uploaded.item["name"] != uploaded.file.name:
                self._renamed.append(Remark(uploaded.file.shown, f"imported as {uploaded.item['name']}"))
        if uploaded.result == "failed":
            self._failed.append(Remark(uploaded.file.shown, uploaded.reason))
        elif uploaded.result != "unchanged":
            self._bytes += uploaded.file.size
        if uploaded.result == "new version":
            self._new_versions.append(Remark(uploaded.file.shown, "was there with other content"))

    def conclude(self, seconds: float, folders_made: int, renamed_folders: Iterable[Remark]) -> None:
        """Take in how long it took, and what became of the folders."""
        self._seconds = seconds
        self._folders_made = folders_made
        self._renamed += renamed_folders

    def print(self, terminal: Terminal, target: str) -> None:
        """Print the whole report but for what can't be searched."""
        files = self._counts["imported"] + self._counts["new version"]
        seconds = max(self._seconds, 0.001)
        rate = f"{files / seconds:.1f} files/s, {format_size(round(self._bytes / seconds))}/s"
        terminal.say(
            f"Imported {_plural(files, 'file')} ({format_size(self._bytes)}) into {visible_line(target)} "
            f"in {self._seconds:.1f} s ({rate}); {_plural(self._folders_made, 'folder')} made.",
            "bold",
        )
        if self._counts["unchanged"]:
            terminal.say(f"{_plural(self._counts['unchanged'], 'file')} unchanged: already there with this content.")
        _print_remarks(terminal, "New versions of files that were there:", self._new_versions)
        _print_remarks(terminal, "Under another name:", self._renamed)
        _print_remarks(terminal, "Left out:", self._found.skipped)
        _print_remarks(terminal, "NOT imported:", self.failures, "red")

    def print_unreadable(self, terminal: Terminal, status: dict[str, Any]) -> None:
        """Print which of the imported files can't be searched by their content."""
        problems = [
            Remark(self._shown_by_id[problem["file_id"]], problem["reason"])
            for problem in status["problems"]
            if problem["file_id"] in self._shown_by_id
        ]
        _print_remarks(terminal, "In the drive, but their text could not (or not wholly) be read:", problems, "yellow")
        unnamed = sum(status["counts"].get(state, 0) for state in UNREADABLE) - len(status["problems"])
        if unnamed > 0:
            terminal.say(f"  … and {unnamed} more in the drive; `drive-agent index --status` counts them.")


def _print_remarks(terminal: Terminal, heading: str, remarks: Iterable[Remark], style: str = "") -> None:
    ordered = sorted(remarks, key=lambda remark: remark.shown)
    if ordered:
        terminal.say(heading, style)
    for remark in ordered:
        terminal.say(f"  {visible_line(remark.shown or '.')}: {visible_line(remark.reason)}")


def _plural(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
