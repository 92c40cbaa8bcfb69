"""Items of an export on their way into a drive: contents first, then some items as one change."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from http import HTTPStatus
from threading import Event
from typing import TYPE_CHECKING, Any, Final
from uuid import uuid4

from api.cli.client import read_json, retry
from api.cli.exports.format.reader import CHUNK_BYTES
from api.cli.failure import CommandError, ServiceError
from api.cli.importing.upload import REFUSED_ALTOGETHER, Retries
from api.cli.texts import text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from api.cli.client import ServiceClient
    from api.cli.exports.format.reader import ExportFiles

AT_ONCE: Final = 4
MAX_ITEMS: Final = 100
MAX_VERSIONS: Final = 1000
MAX_BYTES: Final = 2_000_000_000
"""The contents of a batch wait for their items: 45 minutes are enough for so many bytes."""
FULL: Final = frozenset({HTTPStatus.INSUFFICIENT_STORAGE, HTTPStatus.TOO_MANY_REQUESTS})
IMPORTS: Final = "/api/drive/imports"

Item = dict[str, Any]


class Refusal(Exception):  # noqa: N818 - it is no error of the import: one item of it is left out, and why
    """An item that the drive, or the export, can't restore."""


def batches_of(items: Iterable[Item]) -> Iterator[list[Item]]:
    """Yield the items in their order, as many at once as may go in one request."""
    batch: list[Item] = []
    versions = size = 0
    for item in items:
        more = len(item["versions"])
        weight = sum(version["size"] for version in item["versions"])
        if batch and (len(batch) == MAX_ITEMS or versions + more > MAX_VERSIONS or size + weight > MAX_BYTES):
            yield batch
            batch, versions, size = [], 0, 0
        batch.append(item)
        versions, size = versions + more, size + weight
    if batch:
        yield batch


class Sender:
    """Sends batches; `count_bytes` is told the bytes of contents that were sent, from several threads."""

    def __init__(
        self,
        client: ServiceClient,
        files: ExportFiles,
        export_id: str,
        into: str,
        count_bytes: Callable[[int], None],
        pause: Callable[[float], None] = time.sleep,
    ) -> None:
        self._client = client
        self._files = files
        self._place = {"export_id": export_id, "into": into}
        self._count_bytes = count_bytes
        self._stopping = Event()
        self._retries = Retries(self._stopping, pause)
        self._paths: dict[str, str] = {}

    def send(self, batch: list[Item], failed: Callable[[Item, str], None]) -> dict[str, Any]:
        """Restore the items; those that are refused are told to `failed`, and the others come in nevertheless.

        Raises `CommandError` if the service is gone, has no room, or refuses everything.
        """
        try:
            return self._send(batch)
        except (Refusal, ServiceError) as error:
            if isinstance(error, ServiceError) and error.status in REFUSED_ALTOGETHER | FULL:
                raise
            if len(batch) == 1:
                failed(batch[0], error.message if isinstance(error, ServiceError) else str(error))
                return {"items": [], "left": []}
        half = len(batch) // 2
        parts = [self.send(part, failed) for part in (batch[:half], batch[half:])]
        return {name: [entry for part in parts for entry in part[name]] for name in ("items", "left")}

    def _send(self, batch: list[Item]) -> dict[str, Any]:
        receipts = self._store(batch)
        items = [_wire(item, receipts) for item in batch]
        headers = {"Idempotency-Key": uuid4().hex}
        body = {**self._place, "items": items}
        return retry(lambda: read_json(self._client.send("POST", IMPORTS, json=body, headers=headers)), self._retries)

    def _store(self, batch: list[Item]) -> dict[str, str]:
        """Send the contents that the drive lacks; return the receipts that prove them, by hash."""
        named = {version["sha256"]: version for item in batch for version in item["versions"]}
        hashes, missing = list(named), list[str]()
        for start in range(0, len(hashes), MAX_VERSIONS):
            wanted = {"sha256": hashes[start : start + MAX_VERSIONS]}
            missing += retry(lambda wanted=wanted: self._client.post(f"{IMPORTS}/missing", wanted), self._retries)[
                "missing"
            ]
        with ThreadPoolExecutor(AT_ONCE, thread_name_prefix="import") as pool:
            try:
                return dict(zip(missing, pool.map(self._upload, (named[sha256] for sha256 in missing)), strict=True))
            except BaseException:
                self._stopping.set()
                pool.shutdown(cancel_futures=True)
                raise
            finally:
                self._stopping.clear()

    def _upload(self, version: dict[str, Any]) -> str:
        address, size = f"{IMPORTS}/contents/{version['sha256']}", version["size"]

        def once() -> str:
            with self._files.open(version["path"]) as file:
                chunks = self._chunks(iter(lambda: file.read(CHUNK_BYTES), b""), size)
                headers = {"Content-Length": str(size)}
                return read_json(self._client.send("PUT", address, content=chunks, headers=headers))["receipt"]

        try:
            receipt = retry(once, self._retries)
        except OSError as error:
            raise Refusal(text("no_content")) from error
        self._count_bytes(size)
        return receipt

    def _chunks(self, chunks: Iterable[bytes], size: int) -> Iterator[bytes]:
        for chunk in chunks:
            if self._stopping.is_set():
                raise CommandError.of("import_stopped")
            size -= len(chunk)
            if size < 0:
                break
            yield chunk
        if size != 0:
            raise Refusal(text("other_size"))


def _wire(item: Item, receipts: dict[str, str]) -> Item:
    """Return the item as the route takes it."""
    versions = [
        _given(version, ("number", "sha256", "size", "media_type", "created_at"))
        | {"receipt": receipts.get(version["sha256"], "")}
        for version in item["versions"]
    ]
    names = ("id", "parent_id", "kind", "name", "created_at", "updated_at", "trash_id", "starred_at", "shares", "links")
    return {**_given(item, names), "versions": versions}


def _given(entry: dict[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
    """Return these facts of an entry, and its content's own date, which exports of earlier versions do not have."""
    return {name: entry[name] for name in names} | {name: entry[name] for name in ("modified_at",) if name in entry}
