"""The versions of a thread's last message: edited, or answered anew, each with a run and a branch of its own."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, select, update
from sqlalchemy.orm import Session

from api.branching import BranchPoint
from api.drive import Principal, changes_to_view
from api.errors import NotFoundError, NotLastMessageError
from api.runs.execution import RunServices
from api.storage.tables import RunRow, ThreadRow
from api.thread_words import renamed
from api.threads import find_thread, make_title, refuse_if_busy
from api.withholding import Withholding, withhold_texts
from drive_server.kernel.sql.database import Database
from graph.language import language_of


@dataclass(frozen=True, slots=True)
class Replaced:
    """The run of a message that gets another version, its branch, and its changes that can be undone, for people.

    `newest` is the id of the thread's newest run: the message's own, unless it is an earlier one.
    """

    run: RunRow
    branch: BranchPoint
    view: Mapping[str, Any]
    newest: str = ""


async def find_replaced(services: RunServices, caller: Principal, thread_id: str, message_id: str) -> Replaced:
    """Return the run of a thread's last message, by the id of that message or of one of its answers.

    Raises `NotFoundError`, the errors of `refuse_if_busy`, and `NotLastMessageError` for an earlier message.
    """

    def newest(session: Session) -> RunRow:
        find_thread(session, caller, thread_id)
        refuse_if_busy(session, thread_id)
        run = _newest_run(session, thread_id)
        if run is None:
            raise NotFoundError("no_message")
        return run

    async with services.database.read() as session:
        run = await session.run_sync(newest)
        earlier = None if run.id == message_id else await session.get(RunRow, message_id)
    if earlier and earlier.thread_id == thread_id:
        raise NotLastMessageError(message_id=run.id)
    if message_id not in await services.graph.message_ids(thread_id, run.id):
        raise NotFoundError("no_message")
    found = await services.graph.branch_point(thread_id, run.id)
    branch = found if run.base_checkpoint is None else BranchPoint(run.base_checkpoint, found.head)
    return Replaced(run, branch, await _view(services, caller, run), run.id)


async def find_earlier(services: RunServices, caller: Principal, thread_id: str, run_id: str) -> Replaced:
    """Return the run of any message on the path of a thread, of which all that follows it is left, too.

    Raises `NotFoundError`, also for a message that was replaced before, and the errors of `refuse_if_busy`.
    """

    def wanted(session: Session) -> tuple[RunRow, RunRow]:
        find_thread(session, caller, thread_id)
        refuse_if_busy(session, thread_id)
        run, newest = session.get(RunRow, run_id), _newest_run(session, thread_id)
        if run is None or newest is None or run.thread_id != thread_id or run.head_checkpoint is not None:
            raise NotFoundError("no_message")
        return run, newest

    async with services.database.read() as session:
        run, newest = await session.run_sync(wanted)
    found = await services.graph.branch_point(thread_id, run.id)
    branch = found if run.base_checkpoint is None else BranchPoint(run.base_checkpoint, found.head)
    return Replaced(run, branch, await _view(services, caller, run), newest.id)


def leave_branch(connection: Connection, thread_id: str, replaced: Replaced, message: str) -> None:
    """Note where the branch of the replaced run, and of those that follow it, ends.

    A thread that was called by the replaced message is called by the new one. Raises `NotLastMessageError` if another
    run has begun since it was found.
    """
    run = replaced.run
    with Session(connection) as session:
        newest = _newest_run(session, thread_id)
        if newest is None or newest.id != (replaced.newest or run.id):
            raise NotLastMessageError(message_id=newest.id if newest else "")
        left = RunRow.thread_id == thread_id, RunRow.number >= run.number, RunRow.head_checkpoint.is_(None)
        session.execute(update(RunRow).where(*left).values(head_checkpoint=replaced.branch.head))
        thread, title = session.get_one(ThreadRow, thread_id), make_title(message)
        if thread.title == make_title(run.message) != title:
            thread.title = title
            session.execute(renamed(thread_id, title))
        session.flush()


async def read_versions(database: Database, run: RunRow) -> Sequence[RunRow]:
    """Return the runs of all versions of a run's message, the first one first."""
    first = run.version_of or run.id
    query = select(RunRow).where((RunRow.id == first) | (RunRow.version_of == first))
    async with database.read() as session:
        return list(await session.scalars(query.order_by(RunRow.number)))


async def version_ids(database: Database, thread_id: str) -> dict[str, list[str]]:
    """Return the ids of all versions of each message of a thread that has several, by each of these ids."""
    query = select(RunRow.id, RunRow.version_of).where(RunRow.thread_id == thread_id)
    found: dict[str, list[str]] = {}
    async with database.read() as session:
        for run_id, first in await session.execute(query.order_by(RunRow.number)):
            found.setdefault(first or run_id, []).append(run_id)
    return {run_id: versions for versions in found.values() if len(versions) > 1 for run_id in versions}


def _newest_run(session: Session, thread_id: str) -> RunRow | None:
    query = select(RunRow).where(RunRow.thread_id == thread_id)
    return session.scalar(query.order_by(RunRow.number.desc()).limit(1))


async def _view(services: RunServices, caller: Principal, run: RunRow) -> dict[str, Any]:
    """Return the run with its changes that were not taken back, and where they can be."""
    language = language_of(run.message)
    changes = [one for one in await services.drive.changes(run.user_id, run.id) if one.undone_by is None]
    undo = f"/api/runs/{run.id}/undo" if changes else None
    view = {"run_id": run.id, **changes_to_view(changes, language), "undo": undo}
    if changes and await Withholding(services.graph, services.drive).hidden(caller, run):
        return withhold_texts(view, language)
    return view
