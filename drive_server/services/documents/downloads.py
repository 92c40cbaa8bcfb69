"""Addresses from which the bytes of one file can be fetched without a key, for a short time."""

import struct
from datetime import datetime, timedelta
from typing import Final

from drive_server.kernel.access import Actor, Principal, Scope, require_person, require_scope
from drive_server.kernel.clock import Clock, utc_now
from drive_server.kernel.context import public_address
from drive_server.kernel.errors import DriveError, InvalidInputError, NotFoundError
from drive_server.kernel.messages import Message
from drive_server.kernel.signing import Signer
from drive_server.models.changes import Effect, Outcome
from drive_server.models.contents import DownloadUrl
from drive_server.services.documents.service import Content, DocumentService
from drive_server.services.identity.service import IdentityService
from drive_server.services.tree.names import display_name
from drive_server.services.tree.nodes import item_message

PURPOSE: Final = "download"
TOOL: Final = "download_url"
MAX_MINUTES: Final = 24 * 60
ANYONE: Final = Message.of("address_holders")
NO_KEY: Final = bytes(16)
# File, user, key, version (0: the newest), end in seconds since 1970.
_TOKEN: Final = struct.Struct(">16s16s16sIQ")


class DownloadService:
    """Make such addresses and open them. The drive stores nothing: the address is signed and holds everything."""

    def __init__(
        self,
        documents: DocumentService,
        identity: IdentityService,
        signer: Signer,
        public_url: str,
        clock: Clock = utc_now,
    ) -> None:
        self._documents = documents
        self._identity = identity
        self._signer = signer
        self._public_url = public_url
        self._clock = clock

    async def create(
        self, actor: Actor, ref: str, version: int | None = None, minutes: int = 15
    ) -> Outcome[DownloadUrl]:
        """Return an address for the file as it is when it is fetched, or (for editors) for one version of it.

        It needs the scope `share`: anyone with the address gets the file.
        """
        require_person(actor.principal)  # the address would hold by the rights of the link's maker
        require_scope(actor.principal, Scope.SHARE)
        if not 1 <= minutes <= MAX_MINUTES:
            raise InvalidInputError(f"The address can hold 1 to {MAX_MINUTES} minutes.", hint="Use a number of these.")
        content = await self._documents.open_content(actor, ref, version)
        principal = actor.principal
        ends = self._clock().replace(microsecond=0) + timedelta(minutes=minutes)
        ends = min(ends, principal.expires_at.replace(microsecond=0)) if principal.expires_at else ends
        token = self._token(principal, content.item.id, version, ends)
        url = "" if actor.dry_run else f"{public_address(self._public_url)}/d/{token}"
        download = DownloadUrl(file=content.item, version=version or content.item.version, url=url, expires_at=ends)
        return Outcome(download, effect=_effect(download) if actor.dry_run else None)

    async def open(self, token: str) -> Content:
        """Return the bytes behind an address. Raises `NotFoundError`, always the same, if it does not hold."""
        payload = self._signer.verify(PURPOSE, token)
        if payload is None:
            raise no_such_address()
        file_id, user_id, key_id, version, ends = _TOKEN.unpack(payload)
        if ends <= self._clock().timestamp():
            raise no_such_address()
        try:
            actor = Actor(await self._maker(user_id.hex(), key_id), tool=TOOL)
            return await self._documents.open_content(actor, file_id.hex(), version or None)
        except DriveError as error:
            if error.status >= 500:
                raise
            raise no_such_address() from error

    async def _maker(self, user_id: str, key_id: bytes) -> Principal:
        if key_id != NO_KEY:
            maker = await self._identity.authenticate_key(key_id.hex())
            require_scope(maker, Scope.SHARE)
            return maker
        return await self._identity.principal_for(user_id, [Scope.READ])

    def _token(self, principal: Principal, file_id: str, version: int | None, ends: datetime) -> str:
        key_id = bytes.fromhex(principal.key_id) if principal.key_id else NO_KEY
        fields = (bytes.fromhex(file_id), bytes.fromhex(principal.user_id), key_id, version or 0)
        return self._signer.sign(PURPOSE, _TOKEN.pack(*fields, int(ends.timestamp())))


def no_such_address() -> NotFoundError:
    """Return the error for every address that does not hold."""
    return NotFoundError(Message.of("no_download"))


def _effect(download: DownloadUrl) -> Effect:
    item = download.file
    version = Message.of("of_version", number=download.version) if download.version != item.version else ""
    ends = f"{download.expires_at:%Y-%m-%d %H:%M}"
    return Effect(
        Message.of("effect.download", item=item_message(item.name), version=version, time=ends),
        count=1,
        items=({"id": item.id, "kind": item.kind, "name": display_name(item.name), "path": display_name(item.path)},),
        gains_access=(ANYONE,),
        reversible=False,
        etag=item.etag,
    )
