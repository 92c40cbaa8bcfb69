"""Programs as the drive knows them: by a registration of their own (RFC 7591), or by a document at their address."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final
from urllib.parse import urlsplit

from sqlalchemy import delete, or_, select
from sqlalchemy.ext.asyncio import AsyncSession

from drive_server.kernel.clock import Clock, utc_now
from drive_server.kernel.errors import InvalidInputError
from drive_server.kernel.messages import Message
from drive_server.kernel.signing import Signer
from drive_server.kernel.sql.database import Database
from drive_server.services.identity.programs.documents import ClientDocuments, is_document_address
from drive_server.services.identity.programs.redirects import MAX_ADDRESSES, host_of, is_usable
from drive_server.services.identity.sign_ins import clean_client_name
from drive_server.services.throttles.windows import window_of
from drive_server.storage.tables.programs import ProgramGrantRow, ProgramRow

DAY: Final = timedelta(days=1)
UNUSED_FOR: Final = DAY
FORGOTTEN_AFTER: Final = timedelta(days=90)
FROM_A_NETWORK: Final = 100
IN_ALL: Final = 1000
"""Registrations in a day: of one network, which may be that of a host with many people; and of all together."""
MAX_ID_CHARACTERS: Final = 1000
SECRET_PURPOSE: Final = "program secret"  # noqa: S105 - the purpose of a signature
EVERYONE: Final = "everyone"
PUBLIC: Final = "none"
AUTH_METHODS: Final = ("none", "client_secret_post", "client_secret_basic")
KEPT: Final = (
    "client_name",
    "redirect_uris",
    "token_endpoint_auth_method",
    "grant_types",
    "response_types",
    "scope",
    "client_uri",
)
"""The fields of a registration that are stored. The drive reads and shows no others."""


@dataclass(frozen=True, slots=True)
class Program:
    """A program. `name` is its own; `host` vouches for it, if it is known by an address of its own.

    `secret` proves its identity at the token endpoint, None for a program that can keep no secret.
    """

    id: str
    name: str
    redirect_uris: tuple[str, ...]
    auth_method: str
    secret: str | None = None
    host: str = ""

    def source(self, redirect_uri: str) -> str:
        """Return the host that gets the person's answer; empty for a program on the person's own machine."""
        return self.host or host_of(redirect_uri)


class ClientService:
    """Registers programs, and finds them. Those that nobody lets in are forgotten after a day."""

    def __init__(self, database: Database, signer: Signer, documents: ClientDocuments, clock: Clock = utc_now) -> None:
        self._database = database
        self._signer = signer
        self._documents = documents
        self._clock = clock
        reason, day = Message.of("too_many_registrations"), DAY.total_seconds()
        self._of_network = window_of(database, "registrations of a network", FROM_A_NETWORK, reason, day)
        self._in_all = window_of(database, "registrations", IN_ALL, reason, day)

    async def register(self, client_id: str, registration: Mapping[str, Any], network: str) -> Program:
        """Store a program that registers itself from this network.

        Raises `InvalidInputError` for one whose addresses or method can't be used, `RateLimitError` after too many.
        """
        kept = {name: registration[name] for name in KEPT if registration.get(name) is not None}
        program = self._to_program(client_id, kept)
        for window, key in ((self._of_network, network), (self._in_all, EVERYONE)):
            await window.settle(key, await window.take(key), counts=True)
        row = ProgramRow(id=client_id, registration=kept, created_at=self._clock())

        async def work(session: AsyncSession) -> None:
            session.add(row)

        await self._database.change(work)
        return program

    async def find(self, client_id: str) -> Program | None:
        """Return the program with this id, None for an unknown one.

        Raises `InvalidInputError` and `UnavailableError` for an address whose document can't be used or had.
        """
        if not 0 < len(client_id) <= MAX_ID_CHARACTERS or "\0" in client_id:
            return None
        if is_document_address(client_id):
            document = await self._documents.get(client_id)
            return self._to_program(client_id, document, host=urlsplit(client_id).hostname or "")
        row = await self._database.look(lambda session: session.get(ProgramRow, client_id))
        return self._to_program(client_id, row.registration) if row is not None else None

    async def remove_unused(self) -> None:
        """Forget the programs that nobody let in within a day, and those that nobody has used for long."""
        now = self._clock()
        granted = select(ProgramGrantRow.client_id)
        is_old = ProgramRow.used_at.is_not(None), ProgramRow.used_at <= now - FORGOTTEN_AFTER
        never = ProgramRow.used_at.is_(None), ProgramRow.created_at <= now - UNUSED_FOR
        over = or_(is_old[0] & is_old[1], never[0] & never[1])

        async def work(session: AsyncSession) -> None:
            await session.execute(delete(ProgramRow).where(over, ProgramRow.id.not_in(granted)))

        await self._database.change(work)

    def _to_program(self, client_id: str, registration: Mapping[str, Any], host: str = "") -> Program:
        uris = [str(uri) for uri in registration.get("redirect_uris") or ()]
        if not 0 < len(uris) <= MAX_ADDRESSES or not all(map(is_usable, uris)):
            raise InvalidInputError(Message.of("bad_redirect"), details={"field": "redirect_uris"})
        method = str(registration.get("token_endpoint_auth_method") or PUBLIC)
        if method not in AUTH_METHODS or (host and method != PUBLIC):
            raise InvalidInputError(Message.of("bad_client_auth"), details={"field": "token_endpoint_auth_method"})
        return Program(
            id=client_id,
            name=clean_client_name(str(registration.get("client_name") or host or "")),
            redirect_uris=tuple(uris),
            auth_method=method,
            secret=None if method == PUBLIC else self._signer.sign(SECRET_PURPOSE, client_id.encode()),
            host=host,
        )
