"""Fetches contents: over broken connections and Ctrl-C it goes on where it stopped, and a file appears whole.

The bytes come into a hidden file beside the target, whose name is that of the content. It takes the target's name once
the bytes have the SHA-256 that the service names as their etag.
"""

from __future__ import annotations

import hashlib
import os
import sys
import time
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, Final, Literal

from api.cli.client import retry
from api.cli.failure import CommandError, ServiceError, system_reason
from api.cli.progress import Progress
from api.cli.terminal import format_size, visible_line
from api.cli.texts import text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from httpx import Response

    from api.cli.client import ServiceClient
    from api.cli.references import Item
    from api.cli.terminal import Terminal

OnConflict = Literal["fail", "rename", "replace"]

TRIES: Final = 7
FIRST_PAUSE_SECONDS: Final = 0.2
PARTIAL: Final = ".drive-agent-{key}.part"
AS_IT_IS: Final = {"Accept-Encoding": "identity"}


@dataclass(frozen=True, slots=True)
class Source:
    """A content to fetch: the file, and the address of its bytes where that is not the newest version's."""

    item: Item
    address: str = ""

    @property
    def url(self) -> str:
        """The address of its bytes."""
        return self.address or f"/api/drive/files/{self.item['id']}/content"

    @property
    def key(self) -> str:
        """The name of this content, under which a part of it is found again."""
        return hashlib.sha256(f"{self.url} {self.item['version']}".encode()).hexdigest()[:24]


class Download:
    """Fetches files. `pause` waits for a number of seconds between two tries."""

    def __init__(
        self,
        client: ServiceClient,
        terminal: Terminal,
        on_conflict: OnConflict,
        pause: Callable[[float], None] = time.sleep,
    ) -> None:
        self._client = client
        self._terminal = terminal
        self._on_conflict: OnConflict = on_conflict
        self._pause = pause
        self._bytes = 0

    def fetch_all(self, wanted: Sequence[tuple[Source, Path]]) -> list[Path]:
        """Fetch each content to its path; return where they are. Raises `CommandError` for the first that fails."""
        total = sum(int(source.item["size"]) for source, _ in wanted)
        done: list[Path] = []
        with Progress(self._terminal, text("getting"), len(wanted), total) as progress:
            for source, path in wanted:
                show = _shower(progress, len(done), len(wanted), self._bytes)
                done.append(self._fetch(source, path, show))
                self._bytes += int(source.item["size"])
                progress.update(len(done), len(wanted), self._bytes)
        return done

    def _fetch(self, source: Source, path: Path, show: Callable[[int], None]) -> Path:
        target = self._free(path)
        partial = path.with_name(PARTIAL.format(key=source.key))
        try:
            if partial.is_file() and not partial.is_symlink():
                self._terminal.note(text("resumed", size=format_size(partial.stat().st_size)))
            if not self._filled(source, partial, show):
                partial.unlink()
                if not self._filled(source, partial, show):
                    partial.unlink()
                    raise CommandError.of("changed_meanwhile", ref=source.item["path"], hint=text("again.hint"))
            _give_time(partial, source.item)
            target = self._free(path)
            partial.replace(target)
        except OSError as error:
            raise CommandError.of("no_such_file", path=visible_line(str(path)), reason=system_reason(error)) from error
        return target

    def _filled(self, source: Source, partial: Path, show: Callable[[int], None]) -> bool:
        """Fetch the missing bytes of the partial file. Return whether it has the content that the service names now."""
        etag = retry(lambda: self._append(source, partial, show), self._wait)
        with partial.open("rb") as file:
            return f'"{hashlib.file_digest(file, "sha256").hexdigest()}"' == etag

    def _append(self, source: Source, partial: Path, show: Callable[[int], None]) -> str:
        """Append the rest of the content, and return its etag."""
        with _opened(partial) as file:
            begun = file.tell()
            headers = {**AS_IT_IS, "Range": f"bytes={begun}-"} if begun else AS_IT_IS
            try:
                with self._client.stream("GET", source.url, headers=headers) as response:
                    if response.status_code != HTTPStatus.PARTIAL_CONTENT:
                        file.seek(0)
                        file.truncate()
                    for chunk in response.iter_raw():
                        file.write(chunk)
                        show(file.tell())
                    return _etag(response)
            except ServiceError as error:
                if error.status != HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE:
                    raise
                return _etag(self._client.send("HEAD", source.url))

    def _wait(self, failures: int, error: CommandError) -> None:
        if failures == TRIES:
            raise error
        self._pause(FIRST_PAUSE_SECONDS * 2**failures)

    def _free(self, path: Path) -> Path:
        """Return where the file goes, as `on_conflict` says if something is there."""
        if self._on_conflict == "replace" and path.is_dir():
            raise CommandError.of("is_folder", ref=visible_line(str(path)), hint=" ")
        if self._on_conflict == "replace" or not os.path.lexists(path):
            return path
        if self._on_conflict == "fail":
            raise CommandError.of("local_exists", path=visible_line(str(path)), hint=text("exists.hint"))
        number = 2
        while os.path.lexists(free := path.with_name(f"{path.stem} ({number}){path.suffix}")):
            number += 1
        return free


def print_stream(client: ServiceClient, source: Source) -> None:
    """Write a content to standard output as it is."""
    sys.stdout.flush()
    for chunk in stream_of(client, source):
        sys.stdout.buffer.write(chunk)
    sys.stdout.buffer.flush()


def stream_of(client: ServiceClient, source: Source) -> Iterator[bytes]:
    """Yield the bytes of a content."""
    with client.stream("GET", source.url, headers=AS_IT_IS) as response:
        yield from response.iter_raw()


def _etag(response: Response) -> str:
    return str(response.headers.get("etag", ""))


def _shower(progress: Progress, done: int, total: int, before: int) -> Callable[[int], None]:
    return lambda size: progress.update(done, total, before + size)


def _opened(path: Path) -> Any:
    """Open the partial file at its end; it is nobody else's, and no link is followed."""
    flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
    file = os.fdopen(os.open(path, flags, 0o600), "r+b")
    file.seek(0, os.SEEK_END)
    return file


def _give_time(path: Path, item: Item) -> None:
    """Give a fetched file the date of its content, and the rights of any new file."""
    mask = os.umask(0)
    os.umask(mask)
    path.chmod(0o666 & ~mask)
    with suppress(OSError, ValueError):
        changed = datetime.fromisoformat(str(item["modified_at"])).timestamp()
        os.utime(path, (changed, changed))
