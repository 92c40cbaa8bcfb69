"""The drive as the service uses it: the caller, their place, the changes of runs, and their undo."""

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime
from hashlib import sha256
from typing import Any, Final, Literal

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession
from starlette.requests import Request

from api.errors import InvalidRequestError
from drive_server.connect import Actor, Drive, Measures, Principal, Scope
from drive_server.http.access import principal_of_request
from drive_server.kernel.context import public_address
from drive_server.kernel.errors import NotFoundError
from drive_server.kernel.http.credentials import bearer_token, prefer_connection
from drive_server.kernel.sql.database import Database, News
from graph.drive.sentences import grouped, sentence, text
from graph.language import Language
from graph.single_flight import SingleFlight

__all__ = ["ChatPlace", "DriveForService", "Principal", "RunChange", "RunUndo"]

CHANGES_PAGE = 200
ATTACHED_TO_CHATS = "Chat attachments"
"""The folder of files that programs without an access to the drive send along with a message."""
Kind = Literal["file", "folder"]
VERSIONS = "versions"
"""The entries of a change that are about contents."""
NOT_A: Final = {"file": "not_a_file", "folder": "not_a_folder"}
"""The sentences for an id of another kind of item, by the kind that was asked for."""


@dataclass(frozen=True, slots=True)
class ChatPlace:
    """The place of the person: the ids of the open file and folder, if any; and their attachments, with their kinds."""

    file_id: str | None = None
    folder_id: str | None = None
    attachments: tuple[tuple[str, Kind], ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Return the place as the graph takes it."""
        attached = {"attachments": [{"id": key} for key, _ in self.attachments]} if self.attachments else {}
        return {"file_id": self.file_id, "folder_id": self.folder_id, **attached}


@dataclass(frozen=True, slots=True)
class RunChange:
    """One thing that a run changed in the drive, by the journal's id.

    `tool_call_id` is the model's call, `approved_by` (an email) with `approved_key`, `approval_id` and `grant_id` the
    consent to it; `versions` are the contents that it made: file id, number before (None: a new file) and after.
    `undone_by` is the change that took it back.
    """

    id: int
    tool: str
    summary: str
    item_id: str | None
    action: str = ""
    at: datetime | None = None
    tool_call_id: str | None = None
    approved_by: str | None = None
    approved_key: str | None = None
    approval_id: str | None = None
    grant_id: str | None = None
    undone_by: int | None = None
    messages: Mapping[str, Any] = field(default_factory=dict[str, Any])
    versions: tuple[Mapping[str, Any], ...] = ()


@dataclass(frozen=True, slots=True)
class RunUndo:
    """The result of an undo or its preview: the changes taken back, and the others with their reasons."""

    undone: tuple[RunChange, ...]
    skipped: tuple[dict[str, Any], ...]
    change_id: int | None
    preview: bool


class DriveForService:
    """The few things that the service asks the drive directly; errors are the drive's own."""

    def __init__(self, drive: Drive, public_url: str = "") -> None:
        self._drive = drive
        self._public_url = public_url
        self._principals = SingleFlight[Principal]()

    async def authenticate(self, request: Request) -> Principal:
        """Return the caller, by bearer token or session cookie. Concurrent requests with one token share a look-up."""
        token = bearer_token(request)
        if token is None:
            return await principal_of_request(self._drive, request)
        principal = await self._principals.do(token, lambda: principal_of_request(self._drive, request))
        request.state.own_language = principal.language
        prefer_connection(request)
        return principal

    def public_address(self) -> str:
        """Return the address by which people reach the service: the request's, or the one that is set."""
        return public_address(self._public_url)

    async def locate(self, caller: Principal, place: ChatPlace) -> ChatPlace:
        """Return the place with ids of items that the caller can see. Raises the drive's errors otherwise."""
        attached: list[tuple[str, Kind]] = [
            (await self._attached(caller, ref, kind), kind) for ref, kind in place.attachments
        ]
        return ChatPlace(
            await self._id_of(caller, place.file_id, "file"),
            await self._id_of(caller, place.folder_id, "folder"),
            tuple(dict.fromkeys(attached)),
        )

    async def keep_attachment(self, caller: Principal, name: str, media_type: str, data: bytes) -> str:
        """Put a file that came with a message into the drive, once for each content, and return its id.

        Raises the drive's errors: it needs the scope write and room.
        """
        actor = Actor(caller, tool="upload_file")
        folder = await self._folder_of_attachments(actor)
        kept = f"{sha256(data).hexdigest()[:12]} {name}"
        try:
            return (await self._drive.files.get(actor, f"/{ATTACHED_TO_CHATS}/{kept}")).id
        except NotFoundError:
            made = await self._drive.documents.create(actor, folder, kept, data, media_type, "rename")
            return made.value.id

    async def _folder_of_attachments(self, actor: Actor) -> str:
        try:
            return (await self._drive.files.get(actor, f"/{ATTACHED_TO_CHATS}")).id
        except NotFoundError:
            made = await self._drive.files.create_folder(actor, "root", ATTACHED_TO_CHATS, on_conflict="rename")
            return made.value.id

    async def hidden(self, caller: Principal, ids: Iterable[str]) -> frozenset[str]:
        """Return those of the items that the caller can't see now."""
        wanted = frozenset(ids)
        return wanted - await self._drive.files.visible(Actor(caller), wanted) if wanted else wanted

    async def measures(self, caller: Principal) -> Measures:
        """Return numbers about the whole drive. Raises the drive's `ForbiddenError` for who is no administrator."""
        return await self._drive.measures(caller)

    @property
    def database(self) -> Database:
        """The drive's database, for its size and version."""
        return self._drive.database

    @property
    def connections_in_use(self) -> int:
        """The connections to the drive's database that work now."""
        return self._drive.database.connections_in_use

    async def changes(self, user_id: str, run_id: str) -> tuple[RunChange, ...]:
        """Return the changes of a run of this user, in order."""
        actor = Actor(await self._drive.identity.principal_for(user_id, [Scope.READ], may_be_disabled=True))
        found: list[RunChange] = []
        cursor: str | None = None
        while True:
            page = await self._drive.journal.list_changes(actor, run_id=run_id, limit=CHANGES_PAGE, cursor=cursor)
            found += [_to_run_change(change) for change in page.items]
            cursor = page.cursor
            if cursor is None:
                return tuple(reversed(found))

    def when_ended(self, tell: Callable[[str], Awaitable[None]]) -> None:
        """Call `tell` with the id of each person who is or was disabled or removed, by whichever process."""
        self._drive.people.when_ended(tell)

    def when_revoked(self, tell: Callable[[str, str], Awaitable[None]]) -> None:
        """Call `tell` with the ids of the person and of the key or session for each that is or was revoked."""
        self._drive.identity.revocations.when_revoked(tell)

    def fence_runs(self, holds_run: Callable[[AsyncSession, str], Awaitable[bool]]) -> None:
        """Refuse the changes of runs of which `holds_run` says, in their transactions, that another process has them.

        The service's tables are in the drive's database wherever several processes share them.
        """
        self._drive.journal.holds_run = holds_run

    async def note_state(self, session: AsyncSession) -> None:
        """Read the state of the drive's database in a transaction of the service, which is in the same one."""
        await self._drive.database.note_state(session)

    @property
    def news(self) -> News:
        """The notices that the drive's database is in another state."""
        return self._drive.database.news

    def require_fresh(self, caller: Principal) -> None:
        """Raise `FreshProofNeededError` for a browser whose person proved too long ago who they are."""
        self._drive.identity.require_fresh(caller)

    async def removed_people(self) -> frozenset[str]:
        """Return the ids of all people who were removed."""
        return await self._drive.people.removed_ids()

    async def revoke(self, user_id: str, run_id: str) -> None:
        """Let a run of this user change nothing more; return once the changes under way are done."""
        await self._drive.journal.revoke(user_id, run_id)

    async def undo(
        self, caller: Principal, run_ids: Sequence[str], change_id: int | None = None, *, preview: bool
    ) -> RunUndo:
        """Undo the changes of the runs, or the one change."""
        actor = Actor(caller, tool="undo_run")
        runs = () if change_id is not None else run_ids
        result = (await self._drive.undo.undo(actor, change_id=change_id, run_ids=runs, preview=preview)).value
        undone = tuple(_to_run_change(change) for change in result.undone)
        return RunUndo(undone, result.skipped, result.change_id, result.preview)

    async def redo(self, caller: Principal, run_id: str, *, preview: bool) -> RunUndo:
        """Redo the undone changes of a run; `undone` in the result has them."""
        actor = Actor(caller, tool="redo_run")
        result = (await self._drive.undo.redo(actor, run_id=run_id, preview=preview)).value
        redone = tuple(_to_run_change(change) for change in result.redone)
        return RunUndo(redone, result.skipped, result.change_id, result.preview)

    @property
    def index_state(self) -> str:
        """The state of the search index: `ok`, `rebuilding` or `degraded` after damage, or `read_only`.

        Names are found anyhow.
        """
        return self._drive.ingester.health.state if self._drive.installation.has_writable_index else "read_only"

    async def check(self) -> None:
        """Raise if the database can't answer or is damaged, a part may only be read, or contents are gone."""
        await self._drive.installation.require_writable()
        self._drive.database.require_sound()
        async with self._drive.database.read() as session:
            await session.execute(select(1))
        await self._drive.installation.require_contents()

    async def check_blobs(self) -> None:
        """Raise if the store of contents does not answer, also while no file needs it."""
        await self._drive.blobs.require_reachable()

    async def _attached(self, caller: Principal, ref: str, kind: Kind) -> str:
        actor = Actor(caller)
        if kind == "file":
            return (await self._drive.documents.open_content(actor, ref)).item.id
        await self._drive.files.list_folder(actor, ref, limit=1)
        return (await self._drive.files.get(actor, ref)).id

    async def _id_of(self, caller: Principal, ref: str | None, kind: str) -> str | None:
        if ref is None:
            return None
        item = await self._drive.files.get(Actor(caller), ref)
        if item.kind != kind:
            raise InvalidRequestError(NOT_A[kind])
        return item.id


def _to_run_change(change: Any) -> RunChange:
    return RunChange(
        id=change.id,
        tool=change.tool,
        summary=change.summary,
        item_id=change.item_id,
        action=change.action,
        at=change.at,
        tool_call_id=change.tool_call_id,
        approved_by=change.approved_by,
        approved_key=change.approved_key,
        approval_id=change.approval_id,
        grant_id=change.grant_id,
        undone_by=change.undone_by,
        messages=change.messages,
        versions=tuple(_version(entry) for entry in change.entries if entry["table"] == VERSIONS),
    )


def _version(entry: dict[str, Any]) -> dict[str, Any]:
    before, after = entry["before"] or {}, entry["after"] or {}
    return {"file_id": entry["id"], "before": before.get("number"), "after": after.get("number")}


View = dict[str, Any]


def change_to_view(change: RunChange, language: Language) -> View:
    """Return one change: `summary` is the journal's sentence, `text` the person's."""
    fields = {"id": change.id, "tool": change.tool, "summary": change.summary, "item_id": change.item_id}
    return {**fields, "text": sentence(change, language), "undone_by": change.undone_by}


def changes_to_view(changes: Sequence[RunChange], language: Language) -> View:
    """Return all changes in order, and grouped by action."""
    groups = [{**asdict(group), "change_ids": list(group.change_ids)} for group in grouped(changes, language)]
    return {"changes": [change_to_view(change, language) for change in changes], "groups": groups}


def undo_to_view(undo: RunUndo, language: Language) -> View:
    """Return the undone changes, and the skipped ones with their reason."""
    return {
        "undone": [change_to_view(change, language) for change in undo.undone],
        "skipped": [{**left, "text": text(left, "reason", language)} for left in undo.skipped],
        "change_id": undo.change_id,
        "preview": undo.preview,
    }
