"""The bytes of one request on their way into an upload: within its limits, and durable when they are acknowledged."""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Final, Protocol

import anyio

from drive_server.kernel.errors import ChecksumMismatchError, TooLargeError
from drive_server.services.quota import Room
from drive_server.services.uploads.partials import Partial
from drive_server.storage.blobs import CHUNK_BYTES, in_thread

SYNCED_BYTES: Final = 64 << 20
"""No more waits to be written to the disk than this: the end of a large upload is not one long wait for it."""


class Verifier(Protocol):
    """Verifies the bytes of one request."""

    def update(self, data: bytes, /) -> None:
        """Take the next bytes."""
        ...

    def matches(self) -> bool:
        """Return whether all the bytes match."""
        ...


@dataclass(slots=True)
class UploadWriter:
    """Appends to an upload that has `size` bytes, may have `limit`, and finds `room` in somebody's drive.

    Raises `TooLargeError` and `QuotaExceededError` with the first byte that is too much.
    """

    file: Partial
    size: int
    limit: int
    room: Room
    _unsynced: int = 0

    async def take(self, chunks: AsyncIterator[bytes]) -> None:
        """Append the bytes. Those that came stay, also if the rest does not come."""
        buffer = bytearray()
        try:
            async for chunk in chunks:
                self.require_fits(len(chunk))
                self.size += len(chunk)
                buffer += chunk
                if len(buffer) >= CHUNK_BYTES:
                    # Not `buffer` any more if this fails half-way: its bytes must not be written once more.
                    full, buffer = buffer, bytearray()
                    await self._write(full)
        finally:
            with anyio.CancelScope(shield=True):
                await self._write(buffer)
                await self.file.sync()

    async def take_verified(self, chunks: AsyncIterator[bytes], verifier: Verifier) -> None:
        """Append the bytes if they are as announced, else nothing. Raises `ChecksumMismatchError`."""
        await self.file.distrust()
        try:
            async for chunk in chunks:
                self.require_fits(len(chunk))
                self.size += len(chunk)
                await in_thread(verifier.update, chunk)
                await self._write(chunk)
            if not verifier.matches():
                raise ChecksumMismatchError("The bytes are not those that were announced.", hint="Send them again.")
            await self.file.trust()
        finally:
            with anyio.CancelScope(shield=True):
                await self.file.discard_untrusted()

    def require_fits(self, added: int) -> None:
        """Raise `TooLargeError` or `QuotaExceededError` if there is no room for `added` bytes more."""
        size = self.size + added
        if size > self.limit:
            raise TooLargeError(
                "This is more than the upload was to have.",
                hint=f"It may have {self.limit} bytes.",
                details={"limit": self.limit},
            )
        self.room.check(size)

    async def _write(self, data: bytes | bytearray) -> None:
        if not data:
            return
        await self.file.append(data)
        self._unsynced += len(data)
        if self._unsynced >= SYNCED_BYTES:
            self._unsynced = 0
            await self.file.sync()
