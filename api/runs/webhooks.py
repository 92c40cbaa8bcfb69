"""Webhooks that tell another program that a run waits for an approval, or has ended: an outbox of HTTP requests.

They follow the Standard Webhooks specification (1.0): the headers `webhook-id`, `webhook-timestamp` and
`webhook-signature`, and the backoff between attempts. A request may come twice, with the same `webhook-id`. Those of
clients, to addresses of their own, are not signed: the secret is the operator's.
"""

import asyncio
import logging
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any, Final

import httpx
import orjson
from sqlalchemy import ColumnElement, CursorResult, Executable, delete, func, insert, select, update

from api.clock import Clock
from api.errors import InvalidRequestError
from api.runs.webhook_hosts import WebhookHosts, host_in
from api.runs.webhook_target import WebhookTarget, signature
from api.storage.tables import RunRow, WebhookRow, new_id
from drive_server.kernel.errors import StorageFailureError
from drive_server.kernel.http_client import public_client
from drive_server.kernel.sql.database import Database

logger = logging.getLogger(__name__)

TIMEOUT_SECONDS: Final = 15.0
AFTER_FAILURE: Final = timedelta(minutes=1)
"""The pause after a failure of the service's own database."""
HOUR: Final = 3600
RETRIES_AFTER_SECONDS: Final = (5, 300, 1800, 2 * HOUR, 5 * HOUR, 10 * HOUR, 14 * HOUR, 20 * HOUR, 24 * HOUR)
"""The pause after each failed attempt; no attempt follows the last one."""
GONE: Final = 410
MAX_BYTES: Final = 65_536
"""Of an answer, which nobody reads."""
LOOK_SECONDS: Final = 60.0
"""Between two looks at the outbox: another process may have ended before it sent all that it had queued."""
AT_ONCE: Final = 16
"""Requests to clients' addresses at a time; the operator's wait for none of them."""
DELIVERED: Final = "delivered"
NOT_ALLOWED: Final = "its host is not listed any more"
WEBHOOK_PREFIX: Final = "msg_"
FOR_GOOD: Final = frozenset({DELIVERED, str(GONE), NOT_ALLOWED})
"""The outcomes after which no attempt follows."""


class Webhooks:
    """The outbox. Without a target, and without hosts of clients, it stays empty."""

    def __init__(
        self, database: Database, clock: Clock, target: WebhookTarget | None, hosts: WebhookHosts | None = None
    ) -> None:
        self._database = database
        self._clock = clock
        self._target = target
        self._hosts = hosts or WebhookHosts()
        self._queued = asyncio.Event()
        self._under_way: set[str] = set()
        self._free = asyncio.Semaphore(AT_ONCE)

    def parked(self, run: RunRow, payload: Mapping[str, Any]) -> list[Executable]:
        """Return the statements that queue a webhook for a run that waits for an approval; then call `wake`."""
        if self._target is None:
            return []
        now = self._clock.now()
        body = orjson.dumps(
            {"type": "approval.needed", "timestamp": now.isoformat(), "data": _webhook_data(run, payload)}
        )
        row = {
            "id": webhook_id(new_id()),
            "thread_id": run.thread_id,
            "body": body.decode(),
            "attempts": 0,
            "created_at": now,
            "due_at": now,
        }
        return [insert(WebhookRow).values(row)]

    def require_allowed(self, url: str) -> None:
        """Raise `InvalidRequestError` for an address of a client whose host the operator has not listed."""
        if not self._hosts.allows(url):
            raise InvalidRequestError("webhook_not_allowed", said={"host": host_in(url)[:100] or "-"})

    def of_run(self, run_id: str, thread_id: str, url: str, *, user_id: str, key_id: str) -> WebhookRow:
        """Return the row of a webhook for the end of a client run; `complete` gives it its body."""
        now = self._clock.now()
        row = WebhookRow(id=webhook_id(run_id), thread_id=thread_id, url=url, user_id=user_id, key_id=key_id)
        row.body, row.attempts, row.created_at, row.due_at = "", 0, now, now
        return row

    async def incomplete(self, thread_id: str | None = None) -> list[WebhookRow]:
        """Return the webhooks, of one thread or of all, whose runs had not ended when they were last looked at."""
        which = [WebhookRow.thread_id == thread_id] if thread_id else []
        query = select(WebhookRow).where(WebhookRow.ended_at.is_(None), WebhookRow.body == "", *which)
        async with self._database.read() as session:
            return list(await session.scalars(query))

    async def complete(self, row: WebhookRow, body: Mapping[str, Any], *, outlives_thread: bool) -> None:
        """Give a webhook its body, once, and send it."""
        values: dict[str, Any] = {"body": orjson.dumps(body, default=str).decode(), "due_at": self._clock.now()}
        if outlives_thread:
            values["thread_id"] = ""
        same = update(WebhookRow).where(WebhookRow.id == row.id, WebhookRow.body == "", WebhookRow.ended_at.is_(None))
        async with self._database.write() as session:
            await session.execute(same.values(**values))
        self.wake()

    async def drop(self, row: WebhookRow) -> None:
        """Forget a webhook whose run is gone."""
        await self._forget(WebhookRow.id == row.id)

    async def end_of_key(self, user_id: str, key_id: str) -> None:
        """Forget the webhooks that a key or a session wanted, which was revoked, and that are not delivered yet."""
        await self._forget(WebhookRow.user_id == user_id, WebhookRow.key_id == key_id)

    async def end_of_person(self, user_id: str) -> None:
        """Forget those of a person who was disabled or removed."""
        await self._forget(WebhookRow.user_id == user_id)

    async def _forget(self, *which: ColumnElement[bool]) -> None:
        async with self._database.write() as session:
            await session.execute(delete(WebhookRow).where(WebhookRow.ended_at.is_(None), *which))

    def wake(self) -> None:
        """Send the webhooks that were queued just now."""
        self._queued.set()

    async def deliver(self) -> None:
        """Send each webhook when it is due, until cancelled. One task runs this."""
        options: dict[str, Any] = {"timeout": TIMEOUT_SECONDS, "follow_redirects": False}
        async with (
            httpx.AsyncClient(**options) as own,
            public_client(MAX_BYTES, networks=self._hosts.networks, **options) as public,
            asyncio.TaskGroup() as attempts,
        ):
            while True:
                self._queued.clear()
                try:
                    moment = await self._begin_due(attempts, own, public)
                except StorageFailureError:
                    logger.exception("webhooks can't be read or stored; trying again in a minute")
                    moment = self._clock.now() + AFTER_FAILURE
                await self._wait_until(moment)

    async def _begin_due(
        self, attempts: asyncio.TaskGroup, own: httpx.AsyncClient, public: httpx.AsyncClient
    ) -> datetime | None:
        """Begin to send the webhooks that are due; return when the next one is."""
        can_go = (WebhookRow.body != "",) if self._target else (WebhookRow.body != "", WebhookRow.url != "")
        waiting = WebhookRow.ended_at.is_(None), WebhookRow.id.not_in(self._under_way), *can_go
        due = select(WebhookRow).where(*waiting, WebhookRow.due_at <= self._clock.now()).order_by(WebhookRow.due_at)
        async with self._database.read() as session:
            rows = list(await session.scalars(due))
        for row in rows:
            if await self._claim(row):
                self._under_way.add(row.id)
                attempts.create_task(self._attempt(public if row.url else own, row), name=f"webhook {row.id}")
        async with self._database.read() as session:
            return await session.scalar(select(func.min(WebhookRow.due_at)).where(*waiting))

    async def _claim(self, row: WebhookRow) -> bool:
        """Count the attempt before it is made: only one process makes it, and a crash in it counts as failed."""
        pause = RETRIES_AFTER_SECONDS[min(row.attempts, len(RETRIES_AFTER_SECONDS) - 1)]
        same = update(WebhookRow).where(WebhookRow.id == row.id, WebhookRow.attempts == row.attempts)
        values = {"attempts": row.attempts + 1, "due_at": self._clock.now() + timedelta(seconds=pause)}
        async with self._database.write() as session:
            result = await session.execute(same.where(WebhookRow.ended_at.is_(None)).values(values))
        return isinstance(result, CursorResult) and bool(result.rowcount)

    async def _attempt(self, client: httpx.AsyncClient, row: WebhookRow) -> None:
        try:
            if row.url:
                async with self._free:
                    await self._note(row, await self._post(client, row))
            else:
                await self._note(row, await self._post(client, row))
        except StorageFailureError:
            logger.exception("the outcome of webhook %s can't be stored; it is sent again", row.id)
        finally:
            self._under_way.discard(row.id)
            self.wake()

    async def _note(self, row: WebhookRow, outcome: str) -> None:
        if outcome == DELIVERED:
            logger.info("webhook %s: delivered", row.id)
        elif outcome in FOR_GOOD or row.attempts >= len(RETRIES_AFTER_SECONDS):
            logger.error("webhook %s: given up after %d attempts (%s)", row.id, row.attempts + 1, outcome)
        else:
            logger.warning("webhook %s: failed (%s), will be tried again", row.id, outcome)
            return
        ended: dict[str, Any] = {"ended_at": self._clock.now(), "is_delivered": outcome == DELIVERED}
        if row.url:
            ended["body"] = ""  # a person's words: nobody needs them here any more
        async with self._database.write() as session:
            await session.execute(update(WebhookRow).where(WebhookRow.id == row.id).values(ended))

    async def _post(self, client: httpx.AsyncClient, row: WebhookRow) -> str:
        """Send one request; return `DELIVERED`, the status, or the kind of failure. A redirect is a failure."""
        if row.url and not self._hosts.allows(row.url):
            return NOT_ALLOWED
        url, body, headers = self._request(row)
        try:
            async with client.stream("POST", url, content=body, headers=headers) as response:
                return DELIVERED if response.is_success else str(response.status_code)
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            return type(error).__name__

    def _request(self, row: WebhookRow) -> tuple[str, bytes, dict[str, str]]:
        """Return the address, the body and the headers of a request; one to the operator's address is signed."""
        now = self._clock.now()
        timestamp, body, target = int(now.timestamp()), row.body.encode(), self._target
        headers = {"content-type": "application/json", "webhook-id": row.id, "webhook-timestamp": str(timestamp)}
        if row.url or target is None:
            return row.url, orjson.dumps({**orjson.loads(body), "webhook_sent_at": now.isoformat()}), headers
        return target.url, body, {**headers, "webhook-signature": signature(target.secret, row.id, timestamp, body)}

    async def _wait_until(self, moment: datetime | None) -> None:
        waits: list[asyncio.Future[Any]] = [asyncio.ensure_future(self._queued.wait())]
        if moment is not None:
            waits.append(asyncio.ensure_future(self._clock.sleep_until(moment)))
        try:
            await asyncio.wait(waits, timeout=LOOK_SECONDS, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for wait in waits:
                wait.cancel()


def webhook_id(run_id: str) -> str:
    """Return the id of the webhook for the end of a client run: there is one for each."""
    return f"{WEBHOOK_PREFIX}{run_id}"


def run_of(row: WebhookRow) -> str:
    """Return the client run whose end a webhook tells."""
    return row.id.removeprefix(WEBHOOK_PREFIX)


def _webhook_data(run: RunRow, payload: Mapping[str, Any]) -> dict[str, Any]:
    """Return the webhook's data, without content of files and without arguments, which may hold content."""
    actions = [
        {"tool": action["name"], "risk": action["risk"], "reversible": action["reversible"]}
        for action in payload["actions"]
    ]
    ids = {"approval_id": payload["approval_id"], "run_id": run.id, "thread_id": run.thread_id}
    return {**ids, "expires_at": payload["expires_at"], "actions": actions}
