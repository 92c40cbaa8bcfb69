"""Makes the folders of an import and uploads its files, streamed from disk, with retries but never twice."""

from __future__ import annotations

import hashlib
import os
import stat
import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from decimal import Decimal
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, Literal
from uuid import uuid4

from api.cli.client import read_json, retry
from api.cli.failure import CommandError, LostConnectionError, ServiceError
from api.cli.importing.resumable import ResumableUpload, UnfinishedUploads, UploadTarget, key_of
from api.cli.importing.scan import Remark, decoded, failure_reason, importable_name
from api.cli.references import SHARED
from api.cli.texts import text

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator
    from io import BufferedReader
    from threading import Event

    from api.cli.client import ServiceClient
    from api.cli.importing.scan import SourceFile, SourceFolder

CHUNK_BYTES = 1 << 18
RESUMABLE_BYTES = 32 << 20
"""Files of this size and above are sent in pieces, so that a broken upload goes on where it stopped."""
TRIES = 7
FIRST_PAUSE_SECONDS = 0.2
REFUSED_ALTOGETHER = frozenset({401, 403})
READING = sum(getattr(os, name, 0) for name in ("O_RDONLY", "O_NOFOLLOW", "O_NONBLOCK", "O_CLOEXEC", "O_BINARY"))
"""Flags to open a file with, where the system has them: no link is followed, no pipe waited for."""

Item = dict[str, Any]
OnConflict = Literal["fail", "rename", "replace"]
Result = Literal["imported", "new version", "unchanged", "failed"]


@dataclass(frozen=True, slots=True)
class Uploaded:
    """The result for one file: `reason` says why it failed; otherwise `item` is the file in the drive.

    `is_taken`: there is something of that name, which was to stay.
    """

    file: SourceFile
    result: Result
    reason: str = ""
    item: Item | None = None
    is_taken: bool = False


class SourceFileError(Exception):
    """One file can't be imported; the others can."""


class Retries:
    """The backoff of an import while the service does not answer. `pause` waits for a number of seconds."""

    def __init__(self, stopping: Event, pause: Callable[[float], None] = time.sleep) -> None:
        self._stopping = stopping
        self._pause = pause

    def __call__(self, failures: int, error: CommandError) -> None:
        """Wait before the next try, or raise the error to give up."""
        if failures == TRIES or self._stopping.is_set():
            raise error
        self._pause(FIRST_PAUSE_SECONDS * 2**failures)


class Uploader:
    """Uploads files, also from several threads; `count_bytes` gets the bytes sent, negative when a try starts over."""

    def __init__(
        self,
        client: ServiceClient,
        count_bytes: Callable[[int], None],
        stopping: Event,
        retries: Retries,
        on_conflict: OnConflict = "replace",
        unfinished: UnfinishedUploads | None = None,
    ) -> None:
        self._client = client
        self._count_bytes = count_bytes
        self._stopping = stopping
        self._retries = retries
        self._on_conflict: OnConflict = on_conflict
        self._unfinished = unfinished or UnfinishedUploads(None)

    def upload(self, file: SourceFile, parent_id: str, existing: Item | None) -> Uploaded:
        """Upload a file into a folder; `existing` is the item that has its name there.

        Raises `LostConnectionError` if the service is gone, and `ServiceError` if it refuses every file.
        """
        replaced = existing if existing and existing["kind"] == "file" else None
        try:
            if replaced and self._is_same(file, replaced):
                self._count_bytes(file.size)
                return Uploaded(file, "unchanged", item=replaced)
            if existing and self._on_conflict == "fail":
                return Uploaded(file, "failed", text("drive_exists", ref=existing["path"]), is_taken=True)
            item = self._send(file, parent_id, self._on_conflict if replaced or not existing else "rename")
        except OSError as error:
            return Uploaded(file, "failed", failure_reason(error))
        except SourceFileError as error:
            return Uploaded(file, "failed", str(error))
        except ServiceError as error:
            if error.status in REFUSED_ALTOGETHER:
                raise
            return Uploaded(file, "failed", error.message)
        except LostConnectionError as error:
            self._client.get("/healthz")
            return Uploaded(file, "failed", error.message)
        is_new = replaced is None or item["id"] != replaced["id"]
        return Uploaded(file, "imported" if is_new else "new version", item=item)

    def _send(self, file: SourceFile, parent_id: str, on_conflict: str) -> Item:
        if file.size >= RESUMABLE_BYTES:
            return self._send_in_pieces(file, parent_id, on_conflict)
        return self._send_at_once(file, parent_id, on_conflict)

    def _send_in_pieces(self, file: SourceFile, parent_id: str, on_conflict: str) -> Item:
        with open_source(file) as (source, size):
            place = UploadTarget(parent_id, file.name, on_conflict, _date_of(source))
            upload = ResumableUpload(self._client, self._unfinished, key_of(place, file.path, size))

            def pieces(offset: int) -> Iterator[bytes]:
                source.seek(offset)
                return iter(_Counted(source, size - offset, lambda _: None, self._stopping))

            return upload.send(place, size, pieces, self._count_bytes, self._retries)

    def _send_at_once(self, file: SourceFile, parent_id: str, on_conflict: str) -> Item:
        params = {"parent_id": parent_id, "name": file.name, "on_conflict": on_conflict}
        key = uuid4().hex

        def once() -> Item:
            with open_source(file) as (source, size):
                headers = {"Idempotency-Key": key, "Content-Length": str(size), "X-OC-Mtime": _date_of(source)}
                sent = _Counted(source, size, self._count_bytes, self._stopping)
                try:
                    options = {"params": params, "headers": headers, "content": sent}
                    return read_json(self._client.send("POST", "/api/drive/files", **options))
                except BaseException:
                    sent.take_back()
                    raise

        return retry(once, self._retries)

    def _is_same(self, file: SourceFile, existing: Item) -> bool:
        """Compare by SHA-256, which the drive gives as the etag of a content."""
        if existing["size"] != file.size:
            return False
        with open_source(file) as (source, _):
            digest = hashlib.file_digest(source, "sha256").hexdigest()
        path = f"/api/drive/files/{existing['id']}/content"
        answer = retry(lambda: self._client.send("HEAD", path), self._retries)
        return answer.headers.get("etag") == f'"{digest}"'


def _date_of(source: BufferedReader) -> str:
    """Return when the file was last changed, in seconds since 1970 with all digits that the disk has."""
    return f"{Decimal(os.fstat(source.fileno()).st_mtime_ns).scaleb(-9):f}"


class _Counted:
    """The bytes of a file for one request, counted as they are sent, up to the announced size."""

    def __init__(self, source: BufferedReader, size: int, count_bytes: Callable[[int], None], stopping: Event) -> None:
        self._source = source
        self._size = size
        self._count_bytes = count_bytes
        self._stopping = stopping
        self._sent = 0

    def __iter__(self) -> Iterator[bytes]:
        while self._sent < self._size:
            if self._stopping.is_set():
                raise SourceFileError(text("file_stopped"))
            chunk = self._source.read(min(CHUNK_BYTES, self._size - self._sent))
            if not chunk:
                raise SourceFileError(text("file_changing"))
            self._sent += len(chunk)
            self._count_bytes(len(chunk))
            yield chunk

    def take_back(self) -> None:
        """Uncount the bytes of a failed try."""
        self._count_bytes(-self._sent)
        self._sent = 0


@contextmanager
def open_source(file: SourceFile) -> Generator[tuple[BufferedReader, int]]:
    """Open a file, but no link or pipe, and yield it with its size. Raises OSError and `SourceFileError`."""
    descriptor = os.open(file.path, READING)
    with os.fdopen(descriptor, "rb") as source:
        status = os.fstat(source.fileno())
        if not stat.S_ISREG(status.st_mode):
            raise SourceFileError(text("is_special"))
        yield source, status.st_size


@dataclass(slots=True)
class FolderPlace:
    """A folder of the drive and its items by name; `problem` says why there is none."""

    id: str = ""
    items: dict[str, Item] = field(default_factory=dict[str, Item])
    problem: str = ""


class DriveFolders:
    """Finds and makes folders, each once. `made` counts those made; `renamed` lists those with another name."""

    def __init__(self, client: ServiceClient, retries: Retries) -> None:
        self._client = client
        self._retries = retries
        self._places: dict[int, FolderPlace] = {}
        self.made = 0
        self.renamed: list[Remark] = []

    def open_target(self, path: str, top: SourceFolder) -> None:
        """Find or make the folder at a path of the drive, as the place of the import's top."""
        self._places[id(top)] = self._find(path) or self._make_path(path)

    def _find(self, path: str) -> FolderPlace | None:
        try:
            item = retry(lambda: self._client.item(path), self._retries)
        except ServiceError as error:
            if error.status == HTTPStatus.NOT_FOUND:
                return None
            raise
        if item["kind"] != "folder":
            raise CommandError.of("into_file", path=path)
        return self._existing(item["id"])

    def _make_path(self, path: str) -> FolderPlace:
        names = [decoded(part) for part in path.split("/") if part]
        place, names = self._shared_place(names) or (self._existing("root"), names)
        for name in names:
            item = place.items.get(name)
            if item and item["kind"] != "folder":
                raise CommandError.of("into_file", path=item["path"])
            place = self._existing(item["id"]) if item else self._make(place, name)
        return place

    def _shared_place(self, names: list[str]) -> tuple[FolderPlace, list[str]] | None:
        """Return the shared folder that a path leads into, and the names below it; None for an own folder.

        Raises `CommandError` where no shared folder is there: one made in the root would hide all that is shared.
        """
        if names[:1] != [SHARED] or self._find(f"/{SHARED}") is not None:
            return None
        place = self._find("/" + "/".join(names[:2])) if len(names) > 1 else None
        if place is None:
            raise CommandError.of("shared_is_no_place")
        return place, names[2:]

    def place_of(self, folder: SourceFolder) -> FolderPlace:
        """Return the place of a folder. Ask for its parent first."""
        if id(folder) not in self._places:
            if folder.parent is None:
                raise CommandError.of("no_import_target")
            self._places[id(folder)] = self._below(self.place_of(folder.parent), folder)
        return self._places[id(folder)]

    def _below(self, parent: FolderPlace, folder: SourceFolder) -> FolderPlace:
        if parent.problem:
            return parent
        existing = parent.items.get(folder.name)
        if existing and existing["kind"] == "folder":
            return self._existing(existing["id"])
        name = importable_name(folder.name, parent.items)
        if name != folder.name:
            self.renamed.append(Remark(folder.shown, text("imported_as", name=name)))
        try:
            return self._make(parent, name)
        except ServiceError as error:
            return FolderPlace(problem=text("folder_not_made", reason=error.message))

    def _existing(self, folder_id: str) -> FolderPlace:
        path = f"/api/drive/items/{folder_id}/children"
        items = retry(lambda: list(self._client.pages(path)), self._retries)
        return FolderPlace(folder_id, {item["name"]: item for item in items})

    def _make(self, parent: FolderPlace, name: str) -> FolderPlace:
        body = {"kind": "folder", "name": name, "parent_id": parent.id}
        headers = {"Idempotency-Key": uuid4().hex}
        item = retry(
            lambda: read_json(self._client.send("POST", "/api/drive/items", json=body, headers=headers)), self._retries
        )
        parent.items[name] = item
        self.made += 1
        return FolderPlace(item["id"])
