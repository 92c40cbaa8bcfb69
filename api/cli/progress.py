"""Progress: a bar on a terminal, lines at intervals without one."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
from rich.progress import Progress as RichProgress

from api.cli.terminal import format_size

if TYPE_CHECKING:
    from types import TracebackType

    from api.cli.terminal import Terminal

SECONDS_BETWEEN_LINES = 5.0


class Progress:
    """Shows the number of `total` that is done, and bytes if there are any, on standard error. For one thread."""

    def __init__(self, terminal: Terminal, title: str, total: int, total_bytes: int = 0) -> None:
        self._terminal = terminal
        self._title = title
        self._done = 0
        self._total = total
        self._bytes = 0
        self._total_bytes = total_bytes
        self._bar: RichProgress | None = None
        self._said_at = time.monotonic()

    def __enter__(self) -> Progress:
        """Show the progress."""
        if self._terminal.animated:
            columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
            self._bar = RichProgress(
                *columns, TextColumn("{task.fields[amount]}"), TimeRemainingColumn(), console=self._terminal.err
            )
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
        self._done, self._total, self._bytes = done, total, done_bytes
        if self._bar:
            self._bar.update(self._task, completed=done, total=total, amount=self._amount())
        elif time.monotonic() - self._said_at > SECONDS_BETWEEN_LINES:
            self._said_at = time.monotonic()
            self._terminal.note(f"{self._title}: {done} of {total} {self._amount()}".rstrip())

    def _amount(self) -> str:
        if not self._total_bytes:
            return ""
        return f"{format_size(self._bytes)} of {format_size(self._total_bytes)}"
