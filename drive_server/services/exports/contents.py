"""Contents on their way into a drive: stored before the files that have them, and proved by a receipt."""

import struct
from collections import defaultdict, deque
from collections.abc import AsyncIterator, Iterable
from typing import Final

from drive_server.kernel.access import Actor, Scope, require_person, require_scope
from drive_server.kernel.clock import Clock, utc_now
from drive_server.kernel.errors import ChecksumMismatchError, RateLimitError
from drive_server.kernel.messages import Message
from drive_server.kernel.sql.database import Database
from drive_server.services.exports.inventory import held_contents
from drive_server.services.exports.records import StoredContent
from drive_server.services.quota import Limits, Room, require_room_for
from drive_server.storage.blobs import BlobStore
from drive_server.storage.collector import GRACE

PURPOSE: Final = "import"
VALID: Final = GRACE * 3 / 4
"""A content without a file is collected after the grace: a receipt ends before."""
MAX_QUOTAS: Final = 2
"""As many quotas may contents want together that a person stores within the grace: no quota counts them yet."""
_TIME: Final = struct.Struct(">d")


class ImportedContents:
    """Stores contents for an import. A hash of somebody's content is no proof of having the content: receipts tell."""

    def __init__(
        self, database: Database, blobs: BlobStore, limits: Limits, max_bytes: int, clock: Clock = utc_now
    ) -> None:
        self._database = database
        self._blobs = blobs
        self._limits = limits
        self._max_bytes = max_bytes
        self._clock = clock
        self._stored: defaultdict[str, deque[tuple[float, int]]] = defaultdict(deque)

    async def missing(self, actor: Actor, hashes: Iterable[str]) -> list[str]:
        """Return those that have to be stored: the caller's own drive has no file with them."""
        _require_writer(actor)
        async with self._database.read() as session:
            held = await held_contents(session, actor.user_id, hashes := list(hashes))
        return [sha256 for sha256 in dict.fromkeys(hashes) if sha256 not in held]

    async def store(self, actor: Actor, sha256: str, chunks: AsyncIterator[bytes], announced: int = 0) -> StoredContent:
        """Store the chunks, of which `announced` bytes are said to come.

        Raises `ChecksumMismatchError` if they are another content, `QuotaExceededError` and `TooLargeError`.
        """
        _require_writer(actor)
        async with self._database.read() as session:
            room = await require_room_for(session, self._limits, actor.user_id, announced, actor.user_id, sha256)
        self._require_few(actor, room)
        blob = await self._blobs.put_stream(room.limited(chunks), self._max_bytes)
        self._stored[actor.user_id].append((self._clock().timestamp(), blob.size))
        if blob.hash != sha256:
            raise ChecksumMismatchError(Message.of("other_content"), details={"sha256": blob.hash})
        return StoredContent(sha256=sha256, size=blob.size, receipt=self._receipt(actor, sha256, blob.size))

    def proves(self, actor: Actor, receipt: str, sha256: str, size: int) -> bool:
        """Say whether the receipt was given to the caller for this content, not long ago."""
        payload = self._database.signer.verify(PURPOSE, receipt) if receipt else None
        if payload is None:
            return False
        issued = _TIME.unpack(payload[: _TIME.size])[0]
        is_fresh = self._clock().timestamp() - issued < VALID.total_seconds()
        return is_fresh and payload[_TIME.size :] == _named(actor, sha256, size)

    def _require_few(self, actor: Actor, room: Room) -> None:
        stored, now = self._stored[actor.user_id], self._clock().timestamp()
        while stored and stored[0][0] < now - GRACE.total_seconds():
            stored.popleft()
        quota = room.usage.quota_bytes
        if quota and sum(size for _, size in stored) > MAX_QUOTAS * quota:
            seconds = int(GRACE.total_seconds())
            raise RateLimitError(Message.of("many_contents"), details={"retry_after_seconds": seconds})

    def _receipt(self, actor: Actor, sha256: str, size: int) -> str:
        return self._database.signer.sign(PURPOSE, _TIME.pack(self._clock().timestamp()) + _named(actor, sha256, size))


def _named(actor: Actor, sha256: str, size: int) -> bytes:
    return f"{actor.user_id} {sha256} {size}".encode()


def _require_writer(actor: Actor) -> None:
    require_person(actor.principal)
    require_scope(actor.principal, Scope.WRITE)
