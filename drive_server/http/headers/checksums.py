"""Checksums of contents that clients send along (ownCloud's `OC-Checksum`): bytes broken on the way are not stored."""

import hashlib
import re
import zlib
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from typing import Final, Protocol

from drive_server.kernel.errors import DamagedContentError
from drive_server.kernel.messages import Message
from drive_server.storage.blobs import CHUNK_BYTES, in_thread

CHECKSUM: Final = "OC-Checksum"
_ONE: Final = re.compile(r"([\w-]+)\s*(?::\s*([^\s,]*))?")
_NAMES: Final = {
    "MD5": "md5", "SHA1": "sha1", "SHA224": "sha224", "SHA256": "sha256", "SHA384": "sha384", "SHA512": "sha512",
    "SHA3224": "sha3_224", "SHA3256": "sha3_256", "SHA3384": "sha3_384", "SHA3512": "sha3_512",
}  # fmt: skip
"""The kinds of hashes as clients write them, in capitals and without hyphens, and as Python does."""


class _Hash(Protocol):
    def update(self, data: bytes, /) -> None: ...

    def hexdigest(self) -> str: ...


class _Sum:
    """A sum of 32 bits (`zlib.adler32`, `zlib.crc32`), used as a hash is."""

    def __init__(self, step: Callable[[bytes, int], int], start: int) -> None:
        self._step = step
        self._value = start

    def update(self, data: bytes, /) -> None:
        self._value = self._step(data, self._value)

    def hexdigest(self) -> str:
        return f"{self._value:08x}"


class Checksum:
    """The checksum that a content has to have: `kind` as the client wrote it, and the digits."""

    def __init__(self, kind: str, expected: str, digest: _Hash) -> None:
        self.kind = kind
        self._expected = expected.lower()
        self._digest = digest

    def update(self, data: bytes) -> None:
        """Take the next bytes."""
        self._digest.update(data)

    def matches(self) -> bool:
        """Say whether the bytes have it; leading zeros may be left out."""
        found = self._digest.hexdigest()
        return self._expected.rjust(len(found), "0") == found if self._expected else False


def checksums_of(headers: Mapping[str, str]) -> list[Checksum]:
    """Return the checksums in the headers, of the kinds that are known here; others do no harm."""
    found = _ONE.findall(headers.get(CHECKSUM.lower(), ""))
    return [Checksum(kind, value, digest) for kind, value in found if (digest := _new(kind)) is not None]


async def checked(chunks: AsyncIterator[bytes], checksums: Sequence[Checksum]) -> AsyncIterator[bytes]:
    """Yield the chunks. Raises `DamagedContentError` at their end if they have another checksum."""
    waiting = bytearray()
    async for chunk in chunks:
        if checksums:
            waiting += chunk
            if len(waiting) >= CHUNK_BYTES:
                await in_thread(_update, checksums, bytes(waiting))
                waiting.clear()
        yield chunk
    if waiting:
        await in_thread(_update, checksums, bytes(waiting))
    for checksum in checksums:
        if not checksum.matches():
            raise DamagedContentError(Message.of("damaged_content", kind=checksum.kind))


def _update(checksums: Sequence[Checksum], data: bytes) -> None:
    for checksum in checksums:
        checksum.update(data)


def _new(kind: str) -> _Hash | None:
    name = kind.upper().replace("-", "").replace("_", "")
    if name == "ADLER32":
        return _Sum(zlib.adler32, 1)
    if name == "CRC32":
        return _Sum(zlib.crc32, 0)
    return hashlib.new(_NAMES[name], usedforsecurity=False) if name in _NAMES else None
