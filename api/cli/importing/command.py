"""`drive-agent import`: import a folder of this computer into the drive, with everything below it."""

from __future__ import annotations

import time
from collections import Counter
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from pathlib import Path
from threading import Event, Lock
from typing import TYPE_CHECKING, Any

from api.cli.commands.drive import wait_for_index
from api.cli.configuration import settings_of
from api.cli.failure import CommandError
from api.cli.importing.resumable import UnfinishedUploads
from api.cli.importing.scan import Remark, scan
from api.cli.importing.upload import DriveFolders, Retries, Uploaded, Uploader
from api.cli.progress import Progress
from api.cli.service.connection import connected
from api.cli.terminal import Terminal, format_size, visible_line
from api.cli.texts import text
from drive_server.kernel.settings import DriveSettings

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Callable, Iterable, Iterator

    from api.cli.client import ServiceClient
    from api.cli.importing.scan import Scan, SourceFile
    from api.cli.importing.upload import Item, OnConflict

UPLOADS_AT_ONCE = 4
UPLOADS_READY = 4 * UPLOADS_AT_ONCE
REFRESH_SECONDS = 0.2
UNREADABLE = ("unsupported", "needs_password", "needs_ocr", "failed")


def import_directory(arguments: Namespace) -> int:
    """Import a folder. Exit code 1 if a file could not be read or was refused; links are left out, no failure."""
    terminal = Terminal()
    directory, data = Path(arguments.directory), settings_of(arguments, DriveSettings).root
    found = scan(directory, data)
    target = arguments.into or f"/{found.folders[0].name}"
    with connected(arguments, terminal) as client:
        report = ImportReport(found)
        try:
            Importer(client, terminal, report, unfinished=UnfinishedUploads(data)).run(found, target)
        finally:
            report.print(terminal, target)
        if not arguments.no_wait:
            _report_unreadable(client, terminal, report)
    if report.failures:
        raise CommandError.of("not_imported", count=len(report.failures))
    return 0


def _report_unreadable(client: ServiceClient, terminal: Terminal, report: ImportReport) -> None:
    try:
        status = wait_for_index(client, terminal)
    except KeyboardInterrupt:
        terminal.note(text("import_not_waiting"))
        return
    report.print_unreadable(terminal, status)


class Importer:
    """Makes folders in order, and uploads several files at once. `pause` waits for seconds between two tries."""

    def __init__(
        self,
        client: ServiceClient,
        terminal: Terminal,
        report: ImportReport,
        pause: Callable[[float], None] = time.sleep,
        on_conflict: OnConflict = "replace",
        unfinished: UnfinishedUploads | None = None,
    ) -> None:
        self._terminal = terminal
        self._report = report
        self._stopping = Event()
        self._lock = Lock()
        self._bytes = 0
        retries = Retries(self._stopping, pause)
        self._folders = DriveFolders(client, retries)
        self._uploader = Uploader(client, self._count, self._stopping, retries, on_conflict, unfinished)

    def _count(self, amount: int) -> None:
        with self._lock:
            self._bytes += amount

    def run(self, found: Scan, target: str) -> None:
        """Import the files of a scan. Raises `CommandError` when the service is gone or refuses every file."""
        started = time.monotonic()
        pool = ThreadPoolExecutor(UPLOADS_AT_ONCE, thread_name_prefix="upload")
        try:
            with Progress(self._terminal, text("importing"), found.file_count, found.total_bytes) as progress:
                self._run(found, target, pool, progress)
        except BaseException:
            self._stopping.set()
            raise
        finally:
            pool.shutdown(cancel_futures=True)
            self._report.conclude(time.monotonic() - started, self._folders.made, self._folders.renamed)

    def _run(self, found: Scan, target: str, pool: ThreadPoolExecutor, progress: Progress) -> None:
        waiting = set[Future[Uploaded]]()
        for upload in self._uploads(found, target):
            waiting.add(pool.submit(self._uploader.upload, *upload))
            while len(waiting) >= UPLOADS_READY:
                waiting = self._collect(waiting, found.file_count, progress)
        while waiting:
            waiting = self._collect(waiting, found.file_count, progress)

    def _uploads(self, found: Scan, target: str) -> Iterator[tuple[SourceFile, str, Item | None]]:
        """Yield each file with the id of its folder, which is made by then, and the item that has its name there."""
        self._folders.open_target(target, found.folders[0])
        for folder in found.folders:
            place = self._folders.place_of(folder)
            for file in folder.files:
                if place.problem:
                    self._report.add(Uploaded(file, "failed", place.problem))
                else:
                    yield file, place.id, place.items.get(file.name)

    def _collect(self, waiting: set[Future[Uploaded]], total: int, progress: Progress) -> set[Future[Uploaded]]:
        finished, waiting = wait(waiting, timeout=REFRESH_SECONDS, return_when=FIRST_COMPLETED)
        for future in finished:
            self._report.add(future.result())
        progress.update(self._report.count, total, self._bytes)
        return waiting


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
        """The number of finished files."""
        return sum(self._counts.values())

    @property
    def failures(self) -> list[Remark]:
        """The files and folders that could not be imported."""
        return self._found.failed + self._failed

    def add(self, uploaded: Uploaded) -> None:
        """Add the result for a file."""
        self._counts[uploaded.result] += 1
        if uploaded.item:
            self._shown_by_id[uploaded.item["id"]] = uploaded.file.shown
            if uploaded.item["name"] != uploaded.file.name:
                self._renamed.append(Remark(uploaded.file.shown, text("imported_as", name=uploaded.item["name"])))
        if uploaded.result == "failed":
            self._failed.append(Remark(uploaded.file.shown, uploaded.reason))
        elif uploaded.result != "unchanged":
            self._bytes += uploaded.file.size
        if uploaded.result == "new version":
            self._new_versions.append(Remark(uploaded.file.shown, text("other_content")))

    def conclude(self, seconds: float, folders_made: int, renamed_folders: Iterable[Remark]) -> None:
        """Add the duration in seconds, and the results for folders."""
        self._seconds = seconds
        self._folders_made = folders_made
        self._renamed += renamed_folders

    def print(self, terminal: Terminal, target: str) -> None:
        """Print the report, without the files that can't be searched."""
        terminal.say(self._summary(visible_line(target)), "bold")
        if count := self._counts["unchanged"]:
            terminal.say(text("unchanged", files=text("files", count=count)))
        _print_remarks(terminal, text("new_version_list"), self._new_versions)
        _print_remarks(terminal, text("renamed_list"), self._renamed)
        _print_remarks(terminal, text("left_out_list"), self._found.skipped)
        _print_remarks(terminal, text("not_imported_list"), self.failures, "red")

    def _summary(self, target: str) -> str:
        files = self._counts["imported"] + self._counts["new version"]
        seconds = max(self._seconds, 0.001)
        speed = {"files": f"{files / seconds:.1f}", "size": format_size(round(self._bytes / seconds))}
        return text(
            "imported",
            files=text("files", count=files),
            size=format_size(self._bytes),
            target=target,
            seconds=f"{self._seconds:.1f}",
            rate=text("imported_rate", **speed),
            folders=text("folders", count=self._folders_made),
        )

    def print_unreadable(self, terminal: Terminal, status: dict[str, Any]) -> None:
        """Print the imported files whose content can't be searched."""
        problems = [
            Remark(self._shown_by_id[problem["file_id"]], problem["reason"])
            for problem in status["problems"]
            if problem["file_id"] in self._shown_by_id
        ]
        _print_remarks(terminal, text("unread_list"), problems, "yellow")
        unnamed = sum(status["counts"].get(state, 0) for state in UNREADABLE) - len(status["problems"])
        if unnamed > 0:
            terminal.say(f"  {text('unread_more', count=unnamed)}")


def _print_remarks(terminal: Terminal, heading: str, remarks: Iterable[Remark], style: str = "") -> None:
    ordered = sorted(remarks, key=lambda remark: remark.shown)
    if ordered:
        terminal.say(heading, style)
    for remark in ordered:
        terminal.say(f"  {visible_line(remark.shown or '.')}: {visible_line(remark.reason)}")
