"""`drive-agent import`: takes a folder of this computer into the drive, with everything below it."""

from __future__ import annotations

import time
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from pathlib import Path
from threading import Event, Lock
from typing import TYPE_CHECKING

from api.cli.failure import CommandError
from api.cli.importing.folders import DriveFolders
from api.cli.importing.indexing import wait_for_index
from api.cli.importing.report import ImportReport
from api.cli.importing.scan import scan
from api.cli.importing.upload import Retries, Uploaded, Uploader
from api.cli.progress import Progress
from api.cli.service.connection import connected
from api.cli.terminal import Terminal
from drive_server.settings import DriveSettings

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Callable, Iterator

    from api.cli.client import ServiceClient
    from api.cli.importing.scan import Scan, SourceFile
    from api.cli.importing.upload import Item

UPLOADS_AT_ONCE = 4
UPLOADS_READY = 4 * UPLOADS_AT_ONCE
REFRESH_SECONDS = 0.2


def import_directory(arguments: Namespace) -> int:
    """Import a folder. Exit code 0 if all that can be imported was, 1 if a file could not be read or was refused.

    Links and special files are left out on purpose and reported, which is no failure.
    """
    terminal = Terminal()
    directory = Path(arguments.directory)
    found = scan(directory, DriveSettings().root)
    target = arguments.into or f"/{found.folders[0].name}"
    with connected(arguments, terminal) as client:
        report = ImportReport(found)
        try:
            Importer(client, terminal, report).run(found, target)
        finally:
            report.print(terminal, target)
        if not arguments.no_wait:
            _say_what_cannot_be_searched(client, terminal, report)
    if report.failures:
        raise CommandError(f"{len(report.failures)} could not be imported; the list above says why.")
    return 0


def _say_what_cannot_be_searched(client: ServiceClient, terminal: Terminal, report: ImportReport) -> None:
    try:
        status = wait_for_index(client, terminal)
    except KeyboardInterrupt:
        terminal.note("Not waiting any longer; the service goes on reading.")
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
    ) -> None:
        self._terminal = terminal
        self._report = report
        self._stopping = Event()
        self._lock = Lock()
        self._bytes = 0
        retries = Retries(self._stopping, pause)
        self._folders = DriveFolders(client, retries)
        self._uploader = Uploader(client, self._count, self._stopping, retries)

    def _count(self, amount: int) -> None:
        with self._lock:
            self._bytes += amount

    def run(self, found: Scan, target: str) -> None:
        """Import what was found. Raises `CommandError` when the service is gone for good or lets nothing in."""
        started = time.monotonic()
        pool = ThreadPoolExecutor(UPLOADS_AT_ONCE, thread_name_prefix="upload")
        try:
            with Progress(self._terminal, "Importing", found.file_count, found.total_bytes) as progress:
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
