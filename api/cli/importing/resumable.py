"""Uploads in pieces (tus 1.0.0): a broken one goes on where it stopped, also in a later run of the command.

The addresses of unfinished uploads are in a file of the data directory; where that can't be written, a later run begins
again.
"""

from __future__ import annotations

import hashlib
import json
from base64 import b64encode
from contextlib import suppress
from dataclasses import dataclass
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urljoin

from api.cli.client import retry
from api.cli.failure import LostConnectionError, ServiceError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from httpx import Response

    from api.cli.client import ServiceClient
    from api.cli.failure import CommandError

    Pieces = Callable[[int], Iterator[bytes]]

Item = dict[str, Any]

UPLOADS: Final = "/api/drive/uploads"
PROTOCOL: Final = {"Tus-Resumable": "1.0.0"}
BODY_TYPE: Final = "application/offset+octet-stream"
FILE_NAME: Final = "uploads.json"
PIECE_BYTES: Final = 16 << 20
MAX_REMEMBERED: Final = 1000
OUT_OF_STEP: Final = "state_conflict"
"""The offset is another one than we thought, or an earlier request is not over yet."""
ITEM: Final = "upload-item-id"


@dataclass(frozen=True, slots=True)
class UploadTarget:
    """The place of an upload in the drive, and the date of its content, in seconds since 1970."""

    parent_id: str
    name: str
    on_conflict: str
    mtime: str

    def metadata(self) -> str:
        """Return it as the header Upload-Metadata."""
        place = {"filename": self.name, "parent_id": self.parent_id, "on_conflict": self.on_conflict}
        fields = {**place, "mtime": self.mtime}
        return ",".join(f"{field} {b64encode(value.encode()).decode()}" for field, value in fields.items())


def key_of(place: UploadTarget, path: str, size: int) -> str:
    """Return the name of an upload: the same for the same file, as it was last changed, to the same place."""
    facts = [place.parent_id, place.name, place.on_conflict, path, size, place.mtime]
    return hashlib.sha256(json.dumps(facts).encode()).hexdigest()


class UnfinishedUploads:
    """The addresses of unfinished uploads by name, in a folder; without one they are forgotten at the end."""

    def __init__(self, folder: Path | None) -> None:
        self._path = folder / FILE_NAME if folder else None

    def address(self, key: str) -> str:
        """Return the address of an upload; empty if none is remembered."""
        return self._read().get(key, "")

    def remember(self, key: str, address: str) -> None:
        """Remember an upload, or forget it if the address is empty."""
        entries = {name: known for name, known in self._read().items() if name != key}
        if address:
            entries[key] = address
        if self._path and self._path.parent.is_dir():
            draft = self._path.with_suffix(".draft")
            with suppress(OSError):
                draft.write_text(json.dumps(dict([*entries.items()][-MAX_REMEMBERED:])), encoding="utf-8")
                draft.replace(self._path)

    def _read(self) -> dict[str, str]:
        try:
            found = json.loads(self._path.read_text(encoding="utf-8")) if self._path else {}
        except (OSError, ValueError):
            return {}
        return found if isinstance(found, dict) else {}


class ResumableUpload:
    """One upload, begun or taken up by its name."""

    def __init__(self, client: ServiceClient, unfinished: UnfinishedUploads, key: str) -> None:
        self._client = client
        self._unfinished = unfinished
        self._key = key
        self._address = unfinished.address(key)

    def send(
        self,
        place: UploadTarget,
        size: int,
        pieces: Pieces,
        count_bytes: Callable[[int], None],
        wait: Callable[[int, CommandError], None],
    ) -> Item:
        """Send the missing bytes, and return the file that they become.

        `pieces(offset)` yields the bytes from there on.
        """
        response = retry(lambda: self._open(place, size), wait)
        counted = 0
        while ITEM not in response.headers:
            count_bytes(_offset(response) - counted)
            counted = _offset(response)
            response = self._continue(counted, size, pieces, wait)
        count_bytes(size - counted)
        item_id = response.headers[ITEM]
        self._unfinished.remember(self._key, "")
        return retry(lambda: self._client.item(item_id), wait)

    def _open(self, place: UploadTarget, size: int) -> Response:
        """Take the upload up, or begin it."""
        if self._address and (response := self._head()) and ITEM not in response.headers:
            return response
        headers = {**PROTOCOL, "Upload-Length": str(size), "Upload-Metadata": place.metadata()}
        response = self._client.send("POST", UPLOADS, headers=headers)
        self._address = urljoin(UPLOADS, response.headers["location"])
        self._unfinished.remember(self._key, self._address)
        return response

    def _continue(
        self,
        offset: int,
        size: int,
        pieces: Pieces,
        wait: Callable[[int, CommandError], None],
    ) -> Response:
        return retry(lambda: self._append(offset, min(size - offset, PIECE_BYTES), pieces), wait)

    def _append(self, offset: int, size: int, pieces: Pieces) -> Response:
        headers = {**PROTOCOL, "Upload-Offset": str(offset), "Content-Length": str(size), "Content-Type": BODY_TYPE}
        content = _first(pieces(offset), size)
        try:
            return self._client.send("PATCH", self._address, headers=headers, content=content)
        except (LostConnectionError, ServiceError) as error:
            if isinstance(error, ServiceError) and error.code != OUT_OF_STEP:
                raise
            response = self._head()
            if response is None or _offset(response) == offset:
                raise LostConnectionError(error.message, hint=error.hint) from error
            return response

    def _head(self) -> Response | None:
        """Return how far it is; None if the upload is over."""
        try:
            return self._client.send("HEAD", self._address, headers=PROTOCOL)
        except ServiceError as error:
            if error.status in {HTTPStatus.NOT_FOUND, HTTPStatus.GONE}:
                return None
            raise


def _offset(response: Response) -> int:
    return int(response.headers["upload-offset"])


def _first(chunks: Iterator[bytes], size: int) -> Iterator[bytes]:
    """Yield the first bytes of the chunks."""
    while size > 0:
        chunk = next(chunks)[:size]
        size -= len(chunk)
        yield chunk
