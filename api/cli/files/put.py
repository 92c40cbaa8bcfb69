"""`drive-agent put`: files and folders of this computer into the drive."""

from __future__ import annotations

import glob
import sys
from dataclasses import replace
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING, Any, Final

from api.cli.client import read_json
from api.cli.configuration import settings_of
from api.cli.failure import CommandError, ServiceError
from api.cli.files.organise import as_conflict
from api.cli.importing.command import Importer, ImportReport
from api.cli.importing.resumable import UnfinishedUploads
from api.cli.importing.scan import failure_reason, one_file, scan
from api.cli.importing.upload import Retries, Uploader
from api.cli.progress import Progress
from api.cli.references import Destination, children, place_at
from api.cli.service.connection import connected
from api.cli.terminal import Terminal, format_size, print_json, visible_line
from api.cli.texts import text
from drive_server.kernel.settings import DriveSettings

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Iterator

    from api.cli.client import ServiceClient
    from api.cli.importing.scan import SourceFile
    from api.cli.importing.upload import Uploaded
    from api.cli.references import Item

STREAM: Final = "-"
CHUNK_BYTES: Final = 1 << 18


def put(arguments: Namespace) -> int:
    """Send files, with -r also folders with all that is in them."""
    *sources, target = arguments.paths if len(arguments.paths) > 1 else [*arguments.paths, "/"]
    terminal = Terminal(machine=arguments.json)
    if STREAM in sources and len(sources) > 1:
        raise CommandError.of("one_stream")
    files, folders = ([], []) if sources == [STREAM] else _local(sources, recursive=arguments.recursive)
    with connected(arguments, terminal) as client:
        place = place_at(client, target, is_one=len(files) + len(folders) <= 1)
        if sources == [STREAM]:
            sent = [_send_input(client, place, arguments)]
        else:
            sent = _Sender(client, terminal, arguments).send(files, place)
        for folder in folders:
            _send_folder(client, terminal, folder, place, arguments)
    for item in sent:
        facts = {"size": format_size(item["size"]), "version": item["version"]}
        terminal.say(text("put", path=visible_line(item["path"]), **facts))
    if arguments.json:
        print_json(sent)
    return 0


def _local(sources: list[str], *, recursive: bool) -> tuple[list[Path], list[Path]]:
    """Return the files and the folders that are named. Raises `CommandError` for a missing one."""
    files: list[Path] = []
    folders: list[Path] = []
    for source in sources:
        for path in _expanded(source):
            if path.is_dir() and not recursive:
                raise CommandError.of("is_folder", ref=visible_line(str(path)))
            (folders if path.is_dir() else files).append(path)
    return files, folders


def _expanded(source: str) -> list[Path]:
    """Return the paths that a name or pattern stands for: shells that know patterns leave those that are quoted."""
    path = Path(source).expanduser()
    try:
        path.stat()
    except OSError as error:
        found = sorted(glob.glob(str(path), recursive=True))  # noqa: PTH207 - the pattern may be absolute
        if not found:
            raise CommandError.of("no_such_file", path=visible_line(source), reason=failure_reason(error)) from error
        return [Path(name) for name in found]
    return [path]


class _Sender:
    """Sends the files of one command."""

    def __init__(self, client: ServiceClient, terminal: Terminal, arguments: Namespace) -> None:
        self._client = client
        self._terminal = terminal
        self._stopping = Event()
        self._bytes = 0
        unfinished = UnfinishedUploads(settings_of(arguments, DriveSettings).root)
        self._uploader = Uploader(
            client, self._count, self._stopping, Retries(self._stopping), arguments.on_conflict, unfinished
        )
        self._show = lambda: None

    def send(self, paths: list[Path], place: Destination) -> list[Item]:
        """Send each file, and return the resulting items. Raises `CommandError` if one of them could not be sent."""
        files = [self._file(path, place) for path in paths]
        there = {str(item["name"]): item for item in children(self._client, place.folder)} if files else {}
        total = sum(file.size for file in files)
        done: list[Uploaded] = []
        with Progress(self._terminal, text("putting"), len(files), total) as progress:
            self._show = lambda: progress.update(len(done), len(files), self._bytes)
            for file in files:
                done.append(self._uploader.upload(file, str(place.folder["id"]), there.get(file.name)))
                self._show()
        self._report(done)
        return [uploaded.item for uploaded in done if uploaded.item]

    def _count(self, amount: int) -> None:
        self._bytes += amount
        self._show()

    def _file(self, path: Path, place: Destination) -> SourceFile:
        file = one_file(path)
        return replace(file, name=place.name or file.name)

    def _report(self, done: list[Uploaded]) -> None:
        failed = [uploaded for uploaded in done if uploaded.result == "failed"]
        if not failed:
            return
        hint = text("exists.hint") if any(uploaded.is_taken for uploaded in failed) else ""
        if len(done) == 1:
            raise CommandError(text("refused", ref=failed[0].file.shown, reason=failed[0].reason), hint=hint)
        for uploaded in failed:
            reason = visible_line(uploaded.reason)
            self._terminal.note(text("refused", ref=visible_line(uploaded.file.shown), reason=reason), "red")
        raise CommandError.of("many_failed", count=len(failed), hint=hint)


def _send_folder(
    client: ServiceClient, terminal: Terminal, folder: Path, place: Destination, arguments: Namespace
) -> None:
    data = settings_of(arguments, DriveSettings).root
    found = scan(folder, data)
    target = place.path_of(found.folders[0].name)
    report = ImportReport(found)
    unfinished = UnfinishedUploads(data)
    importer = Importer(client, terminal, report, on_conflict=arguments.on_conflict, unfinished=unfinished)
    try:
        importer.run(found, target)
    finally:
        report.print(terminal, target)
    if report.failures:
        raise CommandError.of("many_failed", count=len(report.failures))


def _send_input(client: ServiceClient, place: Destination, arguments: Namespace) -> Any:
    """Send standard input, of which nobody knows the size, and which can be read once."""
    if not place.name:
        raise CommandError.of("name_needed")
    terms = {"parent_id": place.folder["id"], "name": place.name, "on_conflict": arguments.on_conflict}
    try:
        return read_json(client.send("POST", "/api/drive/files", params=terms, content=_input()))
    except ServiceError as error:
        raise as_conflict(error, place.path_of(place.name)) from error


def _input() -> Iterator[bytes]:
    while chunk := sys.stdin.buffer.read(CHUNK_BYTES):
        yield chunk
