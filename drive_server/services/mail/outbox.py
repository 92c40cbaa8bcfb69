"""The outbox: mails wait in the database until the mail server took them, whichever process sends them."""

import logging
import smtplib
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

import anyio
from sqlalchemy import delete, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from drive_server.kernel.clock import Clock, utc_now
from drive_server.kernel.errors import DriveError
from drive_server.kernel.escaping.media import mail_name
from drive_server.kernel.messages import Message, render
from drive_server.kernel.sql.database import Database
from drive_server.kernel.texts import ORIGINAL
from drive_server.services.mail.smtp import Mail, SmtpServer
from drive_server.storage.tables.base import new_id
from drive_server.storage.tables.people import UserRow
from drive_server.storage.tables.sharing import MailRow

logger = logging.getLogger(__name__)

POLL_SECONDS: Final = 10.0
LEASE: Final = timedelta(minutes=5)
FIRST_PAUSE: Final = timedelta(minutes=1)
MAX_ATTEMPTS: Final = 8
KEPT_FOR: Final = timedelta(days=30)
REFUSED_FOR_GOOD: Final = 500


@dataclass(frozen=True, slots=True)
class MailText:
    """A mail's subject and text, still in both languages. `address` is one of the drive's own, in the text as it is."""

    subject: Message
    text: Message
    address: str


TextOf = Callable[[str, Mapping[str, Any]], Awaitable[MailText | None]]
"""Makes a mail of its parameters for the person of that id; None if it is not wanted any more."""


class Outbox:
    """Sends mails, each once; one that is not taken is tried again, less and less often.

    Without a server it takes none. `texts` has the function that makes the text of each kind.
    """

    def __init__(self, database: Database, server: SmtpServer | None, clock: Clock = utc_now) -> None:
        self._database = database
        self._server = server
        self._clock = clock
        self.texts: dict[str, TextOf] = {}
        self._woken = anyio.Event()

    @property
    def can_send(self) -> bool:
        """Return whether there is a mail server."""
        return self._server is not None

    async def put(self, session: AsyncSession, user_id: str, kind: str, params: dict[str, Any], once: str) -> None:
        """Write a mail down, in the transaction of its cause. There is only one mail for each `once`."""
        if self._server is None or await session.scalar(select(MailRow.id).where(MailRow.once == once)):
            return
        times = dict.fromkeys(("created_at", "due_at"), self._clock())
        session.add(MailRow(id=new_id(), user_id=user_id, kind=kind, params=params, once=once, attempts=0, **times))

    def wake(self) -> None:
        """Look soon."""
        self._woken.set()

    async def run(self) -> None:
        """Send mails that are due, until cancelled."""
        while self._server is not None:
            with anyio.move_on_after(POLL_SECONDS):
                await self._woken.wait()
            self._woken = anyio.Event()
            try:
                await self.send_due()
            except DriveError:
                continue  # logged where it came from
            except Exception:
                logger.exception("A mail could not be made; the others go on.")

    async def send_due(self) -> int:
        """Send all that is due now; return how many were taken."""

        async def work(session: AsyncSession) -> list[str]:
            due = select(MailRow.id).where(MailRow.ended_at.is_(None), MailRow.due_at <= self._clock())
            return list(await session.scalars(due.order_by(MailRow.due_at)))

        ids = await self._database.look(work)
        return sum([await self._send_one(mail_id) for mail_id in ids])

    async def remove_old(self) -> int:
        """Forget the mails that are over; return how many."""
        over = delete(MailRow).where(MailRow.ended_at <= self._clock() - KEPT_FOR)

        async def work(session: AsyncSession) -> int:
            return (await session.execute(over)).rowcount  # pyright: ignore[reportAttributeAccessIssue] - a delete's result has it

        return await self._database.change(work)

    async def _send_one(self, mail_id: str) -> bool:
        row = await self._claimed(mail_id)
        if row is None or self._server is None:
            return False
        mail = await self._mail(row)
        if mail is None:
            await self._end(row, is_sent=False)
            return False
        try:
            await self._server.send(mail)
        except (smtplib.SMTPException, OSError) as error:
            logger.warning("The mail %s was not taken: %s", row.id, error)
            if _is_final(error) or row.attempts >= MAX_ATTEMPTS:
                await self._end(row, is_sent=False)
            else:
                await self._put_off(row)
            return False
        except ValueError as error:  # no mail has such an address, now or later
            logger.warning("The mail %s can't be sent: %s", row.id, error)
            await self._end(row, is_sent=False)
            return False
        await self._end(row, is_sent=True)
        return True

    async def _claimed(self, mail_id: str) -> MailRow | None:
        """Return the mail if no other process has it: it is due again only when this one was killed over it."""
        now = self._clock()
        due = MailRow.id == mail_id, MailRow.ended_at.is_(None), MailRow.due_at <= now

        async def work(session: AsyncSession) -> MailRow | None:
            row = await session.scalar(select(MailRow).where(*due).with_for_update())
            if row is not None:
                row.due_at, row.attempts = now + LEASE, row.attempts + 1
            return row

        return await self._database.change(work)

    async def _mail(self, row: MailRow) -> Mail | None:
        user = await self._database.look(lambda session: session.get(UserRow, row.user_id))
        if user is None or user.disabled_at is not None:
            return None
        made = await self.texts[row.kind](user.id, row.params)
        if made is None:
            return None
        language = user.language or ORIGINAL

        def escape(text: str) -> str:
            return text if text == made.address else mail_name(text)

        return Mail(row.id, user.email, render(made.subject, language, escape), render(made.text, language, escape))

    async def _end(self, row: MailRow, *, is_sent: bool) -> None:
        await self._set(row, ended_at=self._clock(), is_sent=is_sent)

    async def _put_off(self, row: MailRow) -> None:
        await self._set(row, due_at=self._next(row.attempts))

    def _next(self, attempts: int) -> datetime:
        return self._clock() + FIRST_PAUSE * 2 ** (attempts - 1)

    async def _set(self, row: MailRow, **values: Any) -> None:

        async def work(session: AsyncSession) -> None:
            await session.execute(update(MailRow).where(MailRow.id == row.id).values(**values))

        await self._database.change(work)


def _is_final(error: Exception) -> bool:
    """Return whether the server will never take the mail; a refusal of the login may pass."""
    codes = [code for code, _ in error.recipients.values()] if isinstance(error, smtplib.SMTPRecipientsRefused) else []
    if isinstance(error, smtplib.SMTPDataError):
        codes.append(error.smtp_code)
    return bool(codes) and min(codes) >= REFUSED_FOR_GOOD
