"""Approvals: stored, decided once by one of possibly many clients, or expired."""

from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, CursorResult, Executable, String, cast, insert, literal, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from api.approvals.contents import opened_content, with_sealed_contents, without_contents
from api.approvals.decisions import Check, DecisionCheck, all_approved
from api.authority import key_of
from api.clock import Clock
from api.drive import Principal
from api.errors import ApprovalClosedError, NotFoundError
from api.events.frames import Event
from api.servers.secrets import Secrets
from api.storage.replicas import require_claim
from api.storage.tables import CANCELLED, DECIDED, EXPIRED, RUNNING, WAITING, ApprovalRow, RunRow, table_of
from drive_server.kernel.sql.database import Database
from drive_server.kernel.sql.shared_poll import SharedPoll, Watch
from drive_server.kernel.telemetry.security import record

PARKED = "run_parked"
POLL_SECONDS = 1.0
_IS_WAITING = ApprovalRow.status == literal(WAITING, literal_execute=True)
"""To the letter, as the index of those that wait has it: a parameter could be any status."""


class Approvals:
    """Stores approvals, takes decisions, and lets a run wait for one.

    `on_closed` is called with the id of a run whose approval was decided. The answers to questions of servers, which
    may be secret, are encrypted with `secrets` for as long as they are stored: a row that is deleted leaves its words
    in logs and in backups.
    """

    def __init__(
        self, database: Database, clock: Clock, check_edit: Check, check_grant: Check, secrets: Secrets
    ) -> None:
        self._secrets = secrets
        self.on_closed: Callable[[str], None] = lambda _: None
        self._database = database
        self._clock = clock
        self._check_edit = check_edit
        self._check_grant = check_grant
        self.polls = SharedPoll[tuple[str, ...]](self._waiting_ids, POLL_SECONDS, ())

    async def find(self, approval_id: str) -> ApprovalRow | None:
        """Return an approval, whoever owns it, for the run that raised it."""
        async with self._database.read() as session:
            return await session.get(ApprovalRow, approval_id)

    async def get(self, caller: Principal, approval_id: str) -> ApprovalRow:
        """Return an approval of the caller. Raises `NotFoundError`, also for somebody else's."""
        async with self._database.read() as session:
            return _owned(await session.get(ApprovalRow, approval_id), caller)

    async def waiting(self, caller: Principal, thread_id: str | None = None) -> list[ApprovalRow]:
        """Return the approvals that wait for the caller, oldest first; only of one thread, if that is given."""
        query = select(ApprovalRow).where(*self._waits_for(caller))
        if thread_id:
            query = query.where(ApprovalRow.thread_id == thread_id)
        async with self._database.read() as session:
            return list(await session.scalars(query.order_by(ApprovalRow.created_at, ApprovalRow.id)))

    def watch(self, caller: Principal) -> Watch[tuple[str, ...]]:
        """Watch the ids of the approvals that wait for the caller, oldest first.

        They are polled, as other processes that share the database open and close approvals too.
        """
        return self.polls.watch(caller.user_id)

    def open_statements(self, run: RunRow, payload: Mapping[str, Any]) -> list[Executable]:
        """Return the statements that store an approval with this payload and make its run wait."""
        row = {
            "id": payload["approval_id"],
            "run_id": run.id,
            "thread_id": run.thread_id,
            "user_id": run.user_id,
            "payload": dict(payload),
            "status": WAITING,
            "created_at": self._clock.now(),
            "expires_at": datetime.fromisoformat(payload["expires_at"]),
            "decisions": [],
        }
        return [insert(ApprovalRow).values(row), update(RunRow).where(RunRow.id == run.id).values(status=WAITING)]

    async def decide(
        self, caller: Principal, approval_id: str, decisions: Sequence[Mapping[str, Any]], *, approve_all: bool = False
    ) -> ApprovalRow:
        """Take the caller's decisions, all or none of them; if several clients decide at once, one succeeds.

        `approve_all` approves every action as it is, instead of decisions.

        Raises `NotFoundError`, `ApprovalClosedError`, and the errors of `DecisionCheck`.
        """
        await self._close_if_over(approval_id)
        async with self._database.write() as session:
            row = await self._open(session, caller, approval_id)
            await self._decide(session, row, caller, all_approved(row.payload) if approve_all else decisions)
        self._closed(row, caller)
        return row

    async def confirm(self, caller: Principal, approval_id: str, tool_call_id: str, *, approved: bool) -> ApprovalRow:
        """Take the caller's answer about one action; the approval is decided once all of its actions have one.

        Raises as `decide` does.
        """
        await self._close_if_over(approval_id)
        async with self._database.write() as session:
            row = await self._open(session, caller, approval_id)
            answer = {"tool_call_id": tool_call_id, "type": "approve" if approved else "reject"}
            action = [one for one in row.payload["actions"] if one["tool_call_id"] == tool_call_id]
            run = await session.get_one(RunRow, row.run_id)
            self._check({**row.payload, "actions": action}, caller, run).checked([answer])
            before = [one for one in row.decisions if one["tool_call_id"] != tool_call_id]
            given = [*before, answer]
            if is_last := len(given) == len(row.payload["actions"]):
                await self._decide(session, row, caller, given)
            else:
                row.decisions = given
        if is_last:
            self._closed(row, caller)
        return row

    async def with_call(self, caller: Principal, tool_call_id: str) -> ApprovalRow:
        """Return the caller's newest approval that asks about a call. Raises `NotFoundError` if there is none."""
        payload = cast(ApprovalRow.payload, String)
        likely = ApprovalRow.user_id == caller.user_id, payload.contains(tool_call_id, autoescape=True)
        query = select(ApprovalRow).where(*likely).order_by(ApprovalRow.created_at.desc())
        async with self._database.read() as session:
            rows = await session.scalars(query)
            asking = (row for row in rows if tool_call_id in {one["tool_call_id"] for one in row.payload["actions"]})
            if (row := next(asking, None)) is None:
                raise NotFoundError("no_call")
        return row

    async def expired_runs(self, now: datetime) -> list[str]:
        """Return the runs that wait for an approval whose time is up by then."""
        query = select(ApprovalRow.run_id).where(_IS_WAITING, ApprovalRow.expires_at <= now)
        async with self._database.read() as session:
            return list(await session.scalars(query))

    async def next_expiry(self, now: datetime) -> datetime | None:
        """Return when the time of the next approval after `now` is up, None if none waits."""
        query = select(ApprovalRow.expires_at).where(_IS_WAITING, ApprovalRow.expires_at > now)
        async with self._database.read() as session:
            return await session.scalar(query.order_by(ApprovalRow.expires_at).limit(1))

    async def _close_if_over(self, approval_id: str) -> None:
        """Store that the approval has expired before anybody hears of it: it stays so when the clock is set back."""
        row = await self.find(approval_id)
        if row and self._is_over(row):
            await self._expire(row)
            self.on_closed(row.run_id)

    async def closed(self, approval_id: str) -> ApprovalRow | None:
        """Return the approval if it is decided or its time is up; None while it waits."""
        row = await self.find(approval_id)
        if row and self._is_over(row):
            await self._expire(row)
            row = await self.find(approval_id)
        return row if row and row.status != WAITING else None

    async def take_contents(self, row: ApprovalRow) -> Mapping[str, Mapping[str, Any]]:
        """Return the answers to servers' questions, by tool_call_id, and store them no longer."""
        kept = without_contents(row.payload, row.decisions)
        if kept == row.decisions:
            return {}
        contents = {
            one["tool_call_id"]: opened_content(one["args"], self._secrets) for one in row.decisions if one not in kept
        }
        async with self._database.write() as session:
            await require_claim(session)
            await session.execute(update(ApprovalRow).where(ApprovalRow.id == row.id).values(decisions=kept))
        return contents

    async def _waiting_ids(self, user_ids: Collection[str]) -> dict[str, tuple[str, ...]]:
        """Return the ids of the approvals that wait, of each of these people who has some."""
        query = select(ApprovalRow.user_id, ApprovalRow.id).where(*self._waits())
        found: dict[str, tuple[str, ...]] = {}
        async with self._database.read() as session:
            # All of them: there are few that wait, and many people may ask.
            for user_id, number in await session.execute(query.order_by(ApprovalRow.created_at, ApprovalRow.id)):
                if user_id in user_ids:
                    found[user_id] = (*found.get(user_id, ()), number)
        return found

    def _waits_for(self, caller: Principal) -> tuple[ColumnElement[bool], ...]:
        return ApprovalRow.user_id == caller.user_id, *self._waits()

    def _waits(self) -> tuple[ColumnElement[bool], ...]:
        return _IS_WAITING, ApprovalRow.expires_at > self._clock.now()

    async def _open(self, session: AsyncSession, caller: Principal, approval_id: str) -> ApprovalRow:
        """Return an approval that waits for the caller; of several writers one at a time has it."""
        row = _owned(await session.get(ApprovalRow, approval_id), caller)
        # The run before its approval, as the end of a run has them: two that wait for each other would be refused.
        run = await session.get_one(RunRow, row.run_id, with_for_update={"key_share": True})
        await session.refresh(row, with_for_update=True)
        self._refuse_closed(row)
        if run.cancel_requested:
            raise ApprovalClosedError(row.id, CANCELLED, None)
        return row

    def _closed(self, row: ApprovalRow, caller: Principal) -> None:
        kinds = " ".join(sorted({str(decision["type"]) for decision in row.decisions}))
        record("approval", kinds, actor=caller.user_id, approval=row.id, run=row.run_id)
        self.on_closed(row.run_id)

    async def _decide(
        self, session: AsyncSession, row: ApprovalRow, caller: Principal, decisions: Sequence[Mapping[str, Any]]
    ) -> None:
        check = self._check(row.payload, caller, await session.get_one(RunRow, row.run_id))
        by = {"decided_by": caller.email, "decided_key": key_of(caller)}
        checked = with_sealed_contents(row.payload, check.checked(decisions), self._secrets)
        values = {"status": DECIDED, "decisions": checked, **by}
        if not await self._close(session, row, **values):
            await session.refresh(row)
            raise _closed_error(row)

    def _check(self, payload: Mapping[str, Any], caller: Principal, run: RunRow) -> DecisionCheck:
        return DecisionCheck(payload, caller, run.scopes, self._check_edit, self._check_grant)

    async def _expire(self, row: ApprovalRow) -> None:
        async with self._database.write() as session:
            await self._close(session, row, status=EXPIRED, decisions=[])

    async def _close(self, session: AsyncSession, row: ApprovalRow, **values: Any) -> bool:
        """Close an approval that waits, and mark its run as running; False if it was closed in between."""
        still_waits = ApprovalRow.status == WAITING
        change = update(ApprovalRow).where(ApprovalRow.id == row.id, still_waits)
        result = await session.execute(change.values(decided_at=self._clock.now(), **values))
        if not (isinstance(result, CursorResult) and result.rowcount):
            return False
        run_waits = update(RunRow).where(RunRow.id == row.run_id, RunRow.status == WAITING)
        await session.execute(run_waits.values(status=RUNNING))
        return True

    def _is_over(self, row: ApprovalRow) -> bool:
        return row.status == WAITING and row.expires_at <= self._clock.now()

    def _refuse_closed(self, row: ApprovalRow) -> None:
        if row.status != WAITING:
            raise _closed_error(row)
        if row.expires_at <= self._clock.now():
            raise ApprovalClosedError(row.id, EXPIRED, row.expires_at.isoformat())


def cancel_statement(run_id: str, by: str, key: str | None, now: datetime) -> Executable:
    """Return the statement that closes the approval of a run that `by` cancelled with this key."""
    waiting = update(table_of(ApprovalRow)).where(ApprovalRow.run_id == run_id, ApprovalRow.status == WAITING)
    return waiting.values(status=CANCELLED, decisions=[], decided_by=by, decided_key=key, decided_at=now)


def needed_event(payload: Mapping[str, Any]) -> Event:
    """Return the `approval_needed` event of an approval."""
    return {"type": "approval_needed"} | {name: payload[name] for name in ("approval_id", "expires_at", "actions")}


def parked_event(run_id: str, payload: Mapping[str, Any]) -> Event:
    """Return the `run_parked` event of an unattended run that waits for an approval."""
    return {"type": PARKED, "run_id": run_id} | {name: payload[name] for name in ("approval_id", "expires_at")}


def _owned(row: ApprovalRow | None, caller: Principal) -> ApprovalRow:
    if row is None or row.user_id != caller.user_id:
        raise NotFoundError("no_approval")
    return row


def _closed_error(row: ApprovalRow) -> ApprovalClosedError:
    return ApprovalClosedError(row.id, row.status, row.decided_at.isoformat() if row.decided_at else None)
