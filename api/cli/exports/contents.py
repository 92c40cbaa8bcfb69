"""The contents of an export: fetched once each, gone on with where they broke off, and checked by their hash."""

from __future__ import annotations

import hashlib
import os
import time
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from datetime import datetime
from http import HTTPStatus
from threading import Event
from typing import TYPE_CHECKING, Any, Final, Literal

from api.cli.client import retry
from api.cli.exports.format.reader import CHUNK_BYTES, digest_of
from api.cli.failure import CommandError, ServiceError
from api.cli.importing.upload import Retries
from drive_server.kernel.files.inner_paths import inner_path

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from api.cli.client import ServiceClient
    from api.cli.exports.format.reader import ExportFiles

AT_ONCE: Final = 4
READY: Final = 4 * AT_ONCE
PART: Final = ".part"
RANGE: Final = "range"

Source = tuple[str, str, int, str]
"""Path, SHA-256, size in bytes and time of a file of the export."""
Outcome = Literal["fetched", "unchanged", "copied", "gone"]


class Contents:
    """Puts contents to their paths below a folder, from several threads; `earlier` finds those of an earlier export."""

    def __init__(
        self,
        client: ServiceClient,
        root: Path,
        earlier: Callable[[str], tuple[ExportFiles, str] | None],
        pause: Callable[[float], None] = time.sleep,
    ) -> None:
        self._client = client
        self._root = root
        self._earlier = earlier
        self._stopping = Event()
        self._retries = Retries(self._stopping, pause)

    def fetch_all(self, files: Iterable[Source], done: Callable[[Source, Outcome], None]) -> None:
        """Put each content to its path; `done` is told in this thread. Raises `CommandError`."""
        pool = ThreadPoolExecutor(AT_ONCE, thread_name_prefix="export")
        waiting: dict[Future[Outcome], Source] = {}
        try:
            for file in files:
                earlier = self._earlier(file[1])
                waiting[pool.submit(self.put, file, earlier)] = file
                if len(waiting) >= READY:
                    _collect(waiting, done)
            while waiting:
                _collect(waiting, done)
        except BaseException:
            self._stopping.set()
            raise
        finally:
            pool.shutdown(cancel_futures=True)

    def put(self, file: Source, earlier: tuple[ExportFiles, str] | None = None) -> Outcome:
        """Put one content to its path, unless it is there."""
        path, sha256, size, moment = file
        target = inner_path(self._root, path)
        at = datetime.fromisoformat(moment).timestamp()
        if _is_whole(target, sha256, size):
            os.utime(target, (at, at))
            return "unchanged"
        target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        draft = target.with_name(target.name + PART)
        if earlier and _copied(*earlier, draft, sha256):
            outcome: Outcome = "copied"
        else:
            try:
                retry(lambda: self._fetch(draft, sha256, size), self._retries)
            except ServiceError as error:
                if error.status != HTTPStatus.NOT_FOUND:
                    raise
                return "gone"
            outcome = "fetched"
        os.utime(draft, (at, at))
        draft.replace(target)
        return outcome

    def _fetch(self, draft: Path, sha256: str, size: int) -> None:
        digest, begun = _begun(draft, size)
        headers = {RANGE: f"bytes={begun}-"} if begun else {}
        with self._client.stream("GET", f"/api/drive/export/contents/{sha256}", headers=headers) as response:
            is_part = response.status_code == HTTPStatus.PARTIAL_CONTENT
            if begun and not is_part:
                digest = hashlib.sha256()
            with draft.open("ab" if is_part else "wb") as file:
                for chunk in response.iter_bytes(CHUNK_BYTES):
                    if self._stopping.is_set():
                        raise CommandError.of("export_stopped")
                    file.write(chunk)
                    digest.update(chunk)
        if digest.hexdigest() != sha256:
            draft.unlink()
            raise CommandError.of("export_content")


def _collect(waiting: dict[Future[Outcome], Source], done: Callable[[Source, Outcome], None]) -> None:
    finished, _ = wait(waiting, return_when=FIRST_COMPLETED)
    for future in finished:
        done(waiting.pop(future), future.result())


def _is_whole(path: Path, sha256: str, size: int) -> bool:
    try:
        if path.is_symlink() or path.stat().st_size != size:
            return False
        with path.open("rb") as file:
            return digest_of(file)[0] == sha256
    except OSError:
        return False


def _begun(draft: Path, size: int) -> tuple[Any, int]:
    """Return the digest and size of the bytes from an earlier try; a draft not smaller than the whole is dropped."""
    digest, begun = hashlib.sha256(), 0
    try:
        if draft.is_symlink() or draft.stat().st_size >= size:
            draft.unlink()
        with draft.open("rb") as file:
            while chunk := file.read(CHUNK_BYTES):
                digest.update(chunk)
                begun += len(chunk)
    except FileNotFoundError:
        pass
    return digest, begun


def _copied(files: ExportFiles, path: str, draft: Path, sha256: str) -> bool:
    """Copy a content of an earlier export; False if it is not there any more."""
    digest = hashlib.sha256()
    try:
        with files.open(path) as source, draft.open("wb") as file:
            while chunk := source.read(CHUNK_BYTES):
                digest.update(chunk)
                file.write(chunk)
    except OSError:
        return False
    if digest.hexdigest() == sha256:
        return True
    draft.unlink()
    return False
