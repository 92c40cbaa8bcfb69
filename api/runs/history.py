"""The runs of people, to read, to undo and to redo: whichever process works on them."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import select

from api.drive import Principal, RunChange, RunUndo
from api.errors import NotFoundError, RunActiveError
from api.events.frames import read_records, was_sent
from api.runs.audit import RunAudit, read_audit
from api.runs.execution import RunServices
from api.runs.pages import RunPage, read_page
from api.runs.versions import Replaced, find_earlier, find_replaced, read_versions, version_ids
from api.storage.tables import RunRow


class RunHistory:
    """Reads runs and their changes, for the person whose they are."""

    def __init__(self, services: RunServices) -> None:
        self._services = services

    async def find_replaced(self, caller: Principal, thread_id: str, message_id: str) -> Replaced:
        """Return the run of the last message of the caller's thread, for which `start` begins another version.

        Raises `NotFoundError`, `NotLastMessageError`, and `ThreadBusyError` and its like while a run works or waits.
        """
        return await find_replaced(self._services, caller, thread_id, message_id)

    async def find_earlier(self, caller: Principal, thread_id: str, run_id: str) -> Replaced:
        """Return the run of any message on the path of the caller's thread, for which `start` begins another version.

        Raises `NotFoundError`, and `ThreadBusyError` and its like while a run works or waits.
        """
        return await find_earlier(self._services, caller, thread_id, run_id)

    async def versions(self, caller: Principal, thread_id: str, message_id: str) -> Sequence[RunRow]:
        """Return the runs of all versions of a message of the caller's thread, the first one first."""
        run = await self.get(caller, message_id)
        if run.thread_id != thread_id:
            raise NotFoundError("no_message")
        return await read_versions(self._services.database, run)

    async def version_ids(self, thread_id: str) -> dict[str, list[str]]:
        """Return the ids of all versions of each message of a thread that has several, by each of these ids."""
        return await version_ids(self._services.database, thread_id)

    async def page(
        self,
        caller: Principal,
        limit: int,
        cursor: str | None = None,
        *,
        thread_id: str | None = None,
        status: Sequence[str] = (),
    ) -> RunPage:
        """Return the caller's runs, newest first: of a thread, with one of these states, or all.

        Raises `InvalidCursorError` for a cursor of another list.
        """
        return await read_page(self._services.database, caller.user_id, limit, cursor, thread_id, status)

    async def get(self, caller: Principal, run_id: str) -> RunRow:
        """Return a run of the caller. Raises `NotFoundError`, also for somebody else's."""
        async with self._services.database.read() as session:
            run = await session.get(RunRow, run_id)
        if run is None or run.user_id != caller.user_id:
            raise NotFoundError("no_run")
        return run

    async def changes(self, caller: Principal, run_id: str) -> tuple[RunChange, ...]:
        """Return the changes that a run of the caller has made."""
        run = await self.get(caller, run_id)
        return await self._services.drive.changes(run.user_id, run.id)

    async def outside_calls(self, caller: Principal, run_id: str) -> list[dict[str, Any]]:
        """Return the records of a run's calls of the person's own servers that were sent."""
        run = await self.get(caller, run_id)
        calls = await read_records(self._services.database, run.id)
        return [updates[-1]["toolCall"] for updates in calls if was_sent(updates)]

    async def audit(self, caller: Principal, run_id: str) -> RunAudit:
        """Return the audit of a run of the caller."""
        run = await self.get(caller, run_id)
        return await read_audit(self._services.database, self._services.drive, run)

    async def undo(
        self, caller: Principal, run_id: str, *, preview: bool, change_id: int | None = None
    ) -> tuple[RunRow, RunUndo]:
        """Undo the changes of a run, or one of them. Raises `RunActiveError`, and `NotFoundError` for another's."""
        run = await self._finished(caller, run_id)
        if change_id is not None and all(change.id != change_id for change in await self.changes(caller, run_id)):
            raise NotFoundError("no_change")
        return run, await self._services.drive.undo(caller, [run.id], change_id, preview=preview)

    async def redo(self, caller: Principal, run_id: str, *, preview: bool) -> tuple[RunRow, RunUndo]:
        """Redo the undone changes of a run. Raises `RunActiveError` while it works or waits."""
        run = await self._finished(caller, run_id)
        return run, await self._services.drive.redo(caller, run.id, preview=preview)

    async def undo_thread(
        self, caller: Principal, thread_id: str, *, since_run: str | None, preview: bool
    ) -> tuple[RunRow, RunUndo]:
        """Undo, as one change, the changes of all runs of a thread, or of those from one on.

        Raises `RunActiveError`, and `NotFoundError` for a thread that is not the caller's or a run that is not its own.
        """
        query = select(RunRow).where(RunRow.thread_id == thread_id, RunRow.user_id == caller.user_id)
        async with self._services.database.read() as session:
            runs = list(await session.scalars(query.order_by(RunRow.number)))
        first = next((number for number, run in enumerate(runs) if since_run in (None, run.id)), None)
        if first is None:
            raise NotFoundError("no_thread_or_run")
        active = next((run.id for run in runs if run.finished_at is None), None)
        if active is not None:
            raise RunActiveError(run_id=active)
        wanted = [run.id for run in runs[first:]]
        return runs[-1], await self._services.drive.undo(caller, wanted, preview=preview)

    async def _finished(self, caller: Principal, run_id: str) -> RunRow:
        run = await self.get(caller, run_id)
        if run.finished_at is None:
            raise RunActiveError(run_id=run_id)
        return run
