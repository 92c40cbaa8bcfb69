"""The first administrator of a drive that has no owner of its machine: made by anyone who can reach the database."""

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from drive_server.kernel.access import ALL_SCOPES
from drive_server.kernel.clock import Clock, utc_now
from drive_server.kernel.errors import StateConflictError
from drive_server.kernel.messages import Message
from drive_server.kernel.sql.database import Database
from drive_server.kernel.telemetry.security import record
from drive_server.services.identity.emails import normalise_email
from drive_server.services.identity.keys import key_row, new_secret
from drive_server.services.identity.service import FIRST_KEY_NAME, LOCAL_EMAIL, add_user, find_user
from drive_server.storage.tables.people import UserRow


async def create_first_admin(database: Database, email: str, clock: Clock = utc_now) -> str:
    """Make a person the administrator of a drive that has none, and return their first key, with all scopes.

    Somebody who has an account keeps it. With several services the local owner of one of them does not count: nobody
    else has that token. Raises `StateConflictError` if there is an administrator, `InvalidInputError` if it is no email
    address.
    """
    address, secret = normalise_email(email), new_secret()

    async def work(session: AsyncSession) -> str:
        admins = set(await session.scalars(select(UserRow.email).where(UserRow.is_admin, UserRow.removed_at.is_(None))))
        if admins - ({LOCAL_EMAIL} if database.takes_turns else set()):
            raise StateConflictError(Message.of("has_administrator"))
        user = await find_user(session, address) or await add_user(session, address, clock())
        user.is_admin = True
        session.add(key_row(user.id, FIRST_KEY_NAME, ALL_SCOPES, secret, clock()))
        return user.id

    record("account", "first_administrator", person=await database.change(work))
    return secret
