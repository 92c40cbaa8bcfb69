"""The steps of removing a person, each in the transaction of all of them."""

from typing import Final

from sqlalchemy import delete, func, or_, select, update
from sqlalchemy.orm import aliased

from drive_server.kernel.errors import QuotaExceededError
from drive_server.kernel.messages import Message
from drive_server.services.files.operations import UNSYNCHRONISED, free_name
from drive_server.services.journal.recorder import PEOPLE, Recorder
from drive_server.services.people.scrubbing import scrub_journal
from drive_server.services.quota import release_everything, usage_of
from drive_server.storage.tables.base import new_id
from drive_server.storage.tables.index import IndexEntryRow
from drive_server.storage.tables.items import HoldingRow, NodeRow, ReadRow, UploadRow, VersionRow
from drive_server.storage.tables.people import (
    ApiKeyRow,
    GroupMemberRow,
    IdentityRow,
    LoginLinkRow,
    PasskeyRow,
    SignInRow,
    UserRow,
)
from drive_server.storage.tables.programs import ProgramGrantRow
from drive_server.storage.tables.sharing import LinkRow, MailRow, NoticeRow, ShareRow
from drive_server.storage.tables.work import BulkFindingRow, BulkResultRow, TaskRow

PLACEHOLDER_DOMAIN: Final = "removed.invalid"
HANDED_OVER: Final = "Handed over"


async def forget_person(recorder: Recorder, row: UserRow) -> None:
    """End all that the person could do, and take their name away: the row stays for the journal's sentences.

    Shares and links end in both directions: those they gave, and those they were given.
    """
    session = recorder.session
    placeholder = f"removed-{row.id[:12]}@{PLACEHOLDER_DOMAIN}"
    await _end_access(recorder, row, placeholder)
    keys = select(ApiKeyRow.id).where(ApiKeyRow.user_id == row.id)
    results = select(BulkResultRow.id).where(BulkResultRow.user_id == row.id)
    for statement in (
        delete(SignInRow).where(SignInRow.key_id.in_(keys)),
        delete(ProgramGrantRow).where(ProgramGrantRow.key_id.in_(keys)),
        delete(ApiKeyRow).where(ApiKeyRow.user_id == row.id),
        delete(NoticeRow).where(or_(NoticeRow.email == row.email, NoticeRow.by_user == row.id)),
        delete(MailRow).where(MailRow.user_id == row.id),
        delete(GroupMemberRow).where(GroupMemberRow.user_id == row.id),
        delete(BulkFindingRow).where(BulkFindingRow.result_id.in_(results)),
        delete(BulkResultRow).where(BulkResultRow.user_id == row.id),
        *(
            delete(table).where(table.user_id == row.id)
            for table in (IdentityRow, LoginLinkRow, PasskeyRow, ReadRow, TaskRow, UploadRow)
        ),
    ):
        await session.execute(statement, execution_options=UNSYNCHRONISED)
    recorder.note(PEOPLE, row.id, {"removed": False}, {"removed": True})
    recorder.reversible = False
    await scrub_journal(session, row.id, row.email, placeholder)
    row.email, row.name, row.time_zone, row.language = placeholder, "", "", ""
    row.password_hash = None
    row.is_admin, row.disabled_at, row.removed_at = False, row.disabled_at or recorder.now, recorder.now


async def _end_access(recorder: Recorder, row: UserRow, placeholder: str) -> None:
    session, own = recorder.session, select(NodeRow.id).where(NodeRow.owner_id == row.id)
    received = await session.scalars(select(ShareRow).where(ShareRow.email == row.email))
    for share in received.all():
        recorder.note("shares", share.id, {"node_id": share.node_id, "email": placeholder, "role": share.role}, None)
        await session.delete(share)
    given = or_(ShareRow.node_id.in_(own), ShareRow.created_by == row.id)
    for share in (await session.scalars(select(ShareRow).where(given))).all():
        await recorder.remove(share)
    links = select(LinkRow).where(or_(LinkRow.node_id.in_(own), LinkRow.created_by == row.id))
    for link in (await session.scalars(links)).all():
        await recorder.remove(link)
    await session.flush()


async def delete_files(recorder: Recorder, row: UserRow) -> None:
    """Delete the person's whole tree for good, the trash too. The contents that nobody else has are collected later."""
    session, own = recorder.session, select(NodeRow.id).where(NodeRow.owner_id == row.id)
    values = {"state": "pending", "reason": "", "attempts": 0, "updated_at": recorder.now}
    for statement in (
        # The index finds the entries of files that are gone, removes their passages, and then the entries.
        update(IndexEntryRow).where(IndexEntryRow.file_id.in_(own)).values(values),
        delete(VersionRow).where(VersionRow.node_id.in_(own)),
        delete(NodeRow).where(NodeRow.owner_id == row.id),
    ):
        await session.execute(statement, execution_options=UNSYNCHRONISED)
    await release_everything(session, row.id)
    row.used_bytes, row.root_id = 0, new_id()
    recorder.wakes_index = True


async def hand_over(recorder: Recorder, row: UserRow, heir: UserRow) -> None:
    """Make the person's root a folder in the other's root, and all in it, the trash too, the other's.

    Raises `QuotaExceededError` if the other has no room for it.
    """
    session = recorder.session
    await _move_holdings(recorder, row.id, heir)
    root, top = row.root_id, await session.get_one(NodeRow, heir.root_id)
    name = await free_name(session, top.id, f"{HANDED_OVER} {recorder.now:%Y-%m-%d}")
    own = NodeRow.owner_id == row.id
    files = select(NodeRow.id).where(own)
    pending = {"owner_id": heir.id, "state": "pending", "reason": "", "attempts": 0, "updated_at": recorder.now}
    place = {"parent_id": top.id, "name": name, "named_by": recorder.actor.user_id, "updated_at": recorder.now}
    for statement in (
        update(IndexEntryRow).where(IndexEntryRow.file_id.in_(files)).values(pending),
        update(NodeRow).where(own).values(owner_id=heir.id, revision=NodeRow.revision + 1),
        update(NodeRow).where(NodeRow.id == root).values(place),
    ):
        await session.execute(statement, execution_options=UNSYNCHRONISED)
    row.used_bytes, row.root_id = 0, new_id()
    recorder.note(PEOPLE, row.id, {}, {"heir": heir.id, "folder": top.id})
    recorder.item_id = root
    recorder.wakes_index = True


async def _move_holdings(recorder: Recorder, owner_id: str, heir: UserRow) -> None:
    session = recorder.session
    theirs = select(HoldingRow.blob).where(HoldingRow.owner_id == heir.id)
    new = select(func.coalesce(func.sum(HoldingRow.size), 0)).where(
        HoldingRow.owner_id == owner_id, HoldingRow.blob.not_in(theirs)
    )
    size = int(await session.scalar(new) or 0)
    left = (await usage_of(session, heir.id, recorder.limits)).left
    if left is not None and size > left:
        raise QuotaExceededError(Message.of("heir_has_no_room", size=size), details={"needed_bytes": size})
    gone, theirs_now = aliased(HoldingRow), aliased(HoldingRow)
    more = select(gone.versions).where(gone.owner_id == owner_id, gone.blob == HoldingRow.blob).scalar_subquery()
    own = select(gone.blob).where(gone.owner_id == owner_id)
    kept = select(theirs_now.blob).where(theirs_now.owner_id == heir.id)
    mine = HoldingRow.owner_id == owner_id
    for statement in (
        update(HoldingRow)
        .where(HoldingRow.owner_id == heir.id, HoldingRow.blob.in_(own))
        .values(versions=HoldingRow.versions + more),
        delete(HoldingRow).where(mine, HoldingRow.blob.in_(kept)),
        update(HoldingRow).where(mine).values(owner_id=heir.id),
    ):
        await session.execute(statement, execution_options=UNSYNCHRONISED)
    heir.used_bytes += size
