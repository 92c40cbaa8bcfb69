"""People sign in to their MCP servers: the tokens are in the server's row, encrypted."""

from typing import Any

from sqlalchemy import update

from api.clock import Clock
from api.drive import Principal
from api.errors import SignInError
from api.servers.secrets import Secrets
from api.servers.service import Servers
from api.storage.tables import ServerRow
from drive_server.kernel.sql.database import Database
from graph.servers.definition import ServerDefinition
from graph.servers.oauth.sign_in import Comeback, OwnClient
from graph.servers.reasons import ServerUnavailableError

CREDENTIALS = "credentials"


class StoredCredentials:
    """The credentials of people for their servers, for the connections."""

    def __init__(self, database: Database, secrets: Secrets, clock: Clock) -> None:
        self._database = database
        self._secrets = secrets
        self._clock = clock

    async def read(self, definition: ServerDefinition) -> str | None:
        """Return the credentials of a person for their server, None if they are not signed in."""
        async with self._database.read() as session:
            row = await session.get(ServerRow, definition.id)
        if row is None or row.user_id != definition.user_id:
            return None
        return self._secrets.open({CREDENTIALS: row.credentials}).get(CREDENTIALS)

    async def write(self, definition: ServerDefinition, credentials: str, *, is_new: bool) -> None:
        """Store credentials, if the server still leads where it did; those that are not new only replace others."""
        values = {"credentials": self._secrets.seal(credentials), "updated_at": self._clock.now()}
        change = update(ServerRow).where(*_same(definition)).values(**values)
        async with self._database.write() as session:
            await session.execute(change if is_new else change.where(ServerRow.credentials != ""))

    async def delete(self, definition: ServerDefinition) -> None:
        """Delete the credentials, if there are any."""
        async with self._database.write() as session:
            await session.execute(update(ServerRow).where(*_same(definition)).values(credentials=""))


class SignIns:
    """A caller's sign-ins to their own servers. Each raises `NotFoundError` for somebody else's server."""

    def __init__(self, servers: Servers) -> None:
        self._servers = servers

    async def begin(self, caller: Principal, server_id: str, redirect_uri: str, own: OwnClient | None) -> str:
        """Return the address that the person has to open. Raises `SignInError`."""
        definition = await self._servers.definition(caller, server_id)
        try:
            return await self._servers.pool.sign_ins.begin(definition, redirect_uri, own)
        except ServerUnavailableError as error:
            raise _failed(error) from None

    async def finish(self, caller: Principal, server_id: str, back: Comeback) -> ServerRow:
        """Take the answer that the person's browser came back with. Raises `SignInError`."""
        definition = await self._servers.definition(caller, server_id)
        try:
            await self._servers.pool.sign_ins.finish(definition, back)
        except ServerUnavailableError as error:
            raise _failed(error) from None
        return await self._servers.reconnect(caller, server_id)

    async def sign_out(self, caller: Principal, server_id: str) -> ServerRow:
        """Delete the tokens, and close the connection."""
        await self._servers.pool.sign_ins.sign_out(await self._servers.definition(caller, server_id))
        return await self._servers.reconnect(caller, server_id)


def _same(definition: ServerDefinition) -> tuple[Any, ...]:
    return (
        ServerRow.id == definition.id,
        ServerRow.user_id == definition.user_id,
        ServerRow.base_url == definition.base_url,
    )


def _failed(error: ServerUnavailableError) -> SignInError:
    # Without the cause, which may quote a service's answer.
    return SignInError(error.reason.code, (error.reason.sentence("en"), error.reason.sentence("zh")))
