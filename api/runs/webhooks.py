"""Webhooks that tell another program that a run waits for an approval: an outbox of signed HTTP requests.

They follow the Standard Webhooks specification (1.0): the headers `webhook-id`, `webhook-timestamp` and
`webhook-signature`, and the backoff between attempts. A request may come twice, with the same `webhook-id`.
"""

import asyncio
import base64
import binascii
import hashlib
import hmac
import logging
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

import httpx
import orjson
from sqlalchemy import CursorResult, Executable, func, insert, select, update

from api.clock import Clock
from api.storage.tables import RunRow, WebhookRow, new_id
from drive_server.errors import StorageFailureError
from drive_server.storage.database import Database

logger = logging.getLogger(__name__)

TIMEOUT_SECONDS: Final = 15.0
AFTER_FAILURE: Final = timedelta(minutes=1)
"""The pause after a failure of the service's own database."""
HOUR: Final = 3600
RETRIES_AFTER_SECONDS: Final = (5, 300, 1800, 2 * HOUR, 5 * HOUR, 10 * HOUR, 14 * HOUR, 20 * HOUR, 24 * HOUR)
"""The pause after each failed attempt; no attempt follows the last one."""
SECRET_PREFIX: Final = "whsec_"  # noqa: S105 - the beginning of every secret of this kind
GONE: Final = 410


@dataclass(frozen=True, slots=True)
class WebhookTarget:
    """The address of the requests, and the secret that signs them."""

    url: str
    secret: bytes


def target_of(url: str, secret: str) -> WebhookTarget | None:
    """Return the target of the settings, None without a URL. A secret `whsec_...` is base64; any other is text.

    Raises `ValueError` for a URL without a secret, a URL that is not http(s), and invalid base64.
    """
    if not url:
        return None
    if not secret:
        raise ValueError("AGENT_WEBHOOK_URL needs AGENT_WEBHOOK_SECRET: without one nobody can tell who is calling")
    if not url.startswith(("https://", "http://")):
        raise ValueError("AGENT_WEBHOOK_URL has to begin with https:// or http://")
    try:
        key = base64.b64decode(secret.removeprefix(SECRET_PREFIX), validate=True) if _is_base64(secret) else b""
    except binascii.Error as error:
        raise ValueError("AGENT_WEBHOOK_SECRET begins with whsec_, and what follows is no base64") from error
    return WebhookTarget(url, key or secret.encode())


def _is_base64(secret: str) -> bool:
    return secret.startswith(SECRET_PREFIX)


def signature(secret: bytes, webhook_id: str, timestamp: int, body: bytes) -> str:
    """Return the header's value: HMAC-SHA256 over id, timestamp (Unix seconds) and body, with dots between."""
    signed = b"%s.%d.%s" % (webhook_id.encode(), timestamp, body)
    return f"v1,{base64.b64encode(hmac.new(secret, signed, hashlib.sha256).digest()).decode()}"


class Webhooks:
    """The outbox. Without a target it stays empty."""

    def __init__(self, database: Database, clock: Clock, target: WebhookTarget | None) -> None:
        self._database = database
        self._clock = clock
        self._target = target
        self._queued = asyncio.Event()

    def parked(self, run: RunRow, payload: Mapping[str, Any]) -> list[Executable]:
        """Return the statements that queue a webhook for a run that waits for an approval; then call `wake`."""
        if self._target is None:
            return []
        now = self._clock.now()
        body = orjson.dumps(
            {"type": "approval.needed", "timestamp": now.isoformat(), "data": _webhook_data(run, payload)}
        )
        row = {
            "id": f"msg_{new_id()}",
            "thread_id": run.thread_id,
            "body": body.decode(),
            "attempts": 0,
            "created_at": now,
            "due_at": now,
        }
        return [insert(WebhookRow).values(row)]

    def wake(self) -> None:
        """Send the webhooks that were queued just now."""
        self._queued.set()

    async def deliver(self) -> None:
        """Send each webhook when it is due, until cancelled. One task runs this."""
        if self._target is None:
            return
        async with httpx.AsyncClient(timeout=TIMEOUT_SECONDS, follow_redirects=False) as client:
            while True:
                self._queued.clear()
                try:
                    moment = await self._send_due(client, self._target)
                except StorageFailureError:
                    logger.exception("webhooks can't be read or stored; trying again in a minute")
                    moment = self._clock.now() + AFTER_FAILURE
                await self._wait_until(moment)

    async def _send_due(self, client: httpx.AsyncClient, target: WebhookTarget) -> datetime | None:
        """Send the webhooks that are due; return when the next one is."""
        waiting = WebhookRow.ended_at.is_(None)
        due = select(WebhookRow).where(waiting, WebhookRow.due_at <= self._clock.now()).order_by(WebhookRow.due_at)
        async with self._database.read() as session:
            rows = list(await session.scalars(due))
        for row in rows:
            if await self._claim(row):
                await self._attempt(client, target, row)
        async with self._database.read() as session:
            return await session.scalar(select(func.min(WebhookRow.due_at)).where(waiting))

    async def _claim(self, row: WebhookRow) -> bool:
        """Count the attempt before it is made: only one process makes it, and a crash in it counts as failed."""
        pause = RETRIES_AFTER_SECONDS[min(row.attempts, len(RETRIES_AFTER_SECONDS) - 1)]
        same = update(WebhookRow).where(WebhookRow.id == row.id, WebhookRow.attempts == row.attempts)
        values = {"attempts": row.attempts + 1, "due_at": self._clock.now() + timedelta(seconds=pause)}
        async with self._database.write() as session:
            result = await session.execute(same.where(WebhookRow.ended_at.is_(None)).values(values))
        return isinstance(result, CursorResult) and bool(result.rowcount)

    async def _attempt(self, client: httpx.AsyncClient, target: WebhookTarget, row: WebhookRow) -> None:
        outcome = await self._post(client, target, row)
        gives_up = outcome == str(GONE) or row.attempts >= len(RETRIES_AFTER_SECONDS)
        if outcome == DELIVERED:
            logger.info("webhook %s: delivered", row.id)
        elif gives_up:
            logger.error("webhook %s: given up after %d attempts (%s)", row.id, row.attempts + 1, outcome)
        else:
            logger.warning("webhook %s: failed (%s), will be tried again", row.id, outcome)
            return
        async with self._database.write() as session:
            ended = {"ended_at": self._clock.now(), "is_delivered": outcome == DELIVERED}
            await session.execute(update(WebhookRow).where(WebhookRow.id == row.id).values(ended))

    async def _post(self, client: httpx.AsyncClient, target: WebhookTarget, row: WebhookRow) -> str:
        """Send one request; return `DELIVERED`, the status, or the kind of failure. A redirect is a failure."""
        timestamp, body = int(self._clock.now().timestamp()), row.body.encode()
        headers = {
            "content-type": "application/json",
            "webhook-id": row.id,
            "webhook-timestamp": str(timestamp),
            "webhook-signature": signature(target.secret, row.id, timestamp, body),
        }
        try:
            async with client.stream("POST", target.url, content=body, headers=headers) as response:
                return DELIVERED if response.is_success else str(response.status_code)
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            return type(error).__name__

    async def _wait_until(self, moment: datetime | None) -> None:
        waits: list[asyncio.Future[Any]] = [asyncio.ensure_future(self._queued.wait())]
        if moment is not None:
            waits.append(asyncio.ensure_future(self._clock.sleep_until(moment)))
        try:
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for wait in waits:
                wait.cancel()


DELIVERED: Final = "delivered"


def _webhook_data(run: RunRow, payload: Mapping[str, Any]) -> dict[str, Any]:
    """Return the webhook's data, without content of files and without arguments, which may hold content."""
    actions = [
        {"tool": action["name"], "risk": action["risk"], "reversible": action["reversible"]}
        for action in payload["actions"]
    ]
    ids = {"approval_id": payload["approval_id"], "run_id": run.id, "thread_id": run.thread_id}
    return {**ids, "expires_at": payload["expires_at"], "actions": actions}
