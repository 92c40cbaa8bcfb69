"""Progress: one line on a terminal, nothing without one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from api.cli.terminal import format_size

if TYPE_CHECKING:
    from types import TracebackType

    from rich.progress import Progress as RichProgress

    from api.cli.terminal import Terminal


class Progress:
    """Shows the number of `total` that is done, and bytes if there are any, on standard error. For one thread."""

    def __init__(self, terminal: Terminal, title: str, total: int, total_bytes: int = 0) -> None:
        self._terminal = terminal
        self._title = title
        self._total = total
        self._bytes = 0
        self._total_bytes = total_bytes
        self._bar: RichProgress | None = None

    def __enter__(self) -> Progress:
        """Show the progress."""
        if self._terminal.animated:
            self._bar = _bar(self._terminal)
            self._task = self._bar.add_task(self._title, total=self._total, amount=self._amount())
            self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Leave the last state on the screen."""
        if self._bar:
            self._bar.stop()

    def update(self, done: int, total: int, done_bytes: int = 0) -> None:
        """Show a new state."""
        self._bytes = done_bytes
        if self._bar:
            self._bar.update(self._task, completed=done, total=total, amount=self._amount())

    def _amount(self) -> str:
        if not self._total_bytes:
            return ""
        return f"{format_size(self._bytes)} / {format_size(self._total_bytes)}"


def _bar(terminal: Terminal) -> RichProgress:
    # Imported here: without a terminal nobody sees it, and it is slow to import.
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    return Progress(*columns, TextColumn("{task.fields[amount]}"), TimeRemainingColumn(), console=terminal.err)
