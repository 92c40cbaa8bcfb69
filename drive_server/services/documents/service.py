"""Files as contents: create, read, write, patch, append, compare, and go back to earlier versions."""

from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from typing import Literal

import anyio
from sqlalchemy.ext.asyncio import AsyncSession

from drive_server.kernel.access import Actor, Role, Scope, require_scope
from drive_server.kernel.errors import EtagMismatchError, InvalidInputError
from drive_server.kernel.messages import Message
from drive_server.kernel.pagination import Cursors
from drive_server.kernel.sql.database import Database
from drive_server.knowledge.media_types import media_type_of
from drive_server.knowledge.readers.text_source import TextSource
from drive_server.models.base import Page
from drive_server.models.changes import Outcome
from drive_server.models.contents import TextRange, Version, VersionDiff
from drive_server.models.items import Item
from drive_server.services.documents.edits import Edit, appended, apply_edits
from drive_server.services.documents.reading import Readings, diff_of
from drive_server.services.files.operations import (
    NewContent,
    add_node,
    add_version,
    begin,
    content_of,
    finish,
    free_name,
    new_node_view,
    require_free_name,
    require_room_below,
    set_modified_at,
)
from drive_server.services.files.versions import (
    content_and_usage,
    current_of,
    require_stored_sync,
    require_version,
    versions_page,
)
from drive_server.services.journal.changes import check_etag
from drive_server.services.journal.recorder import Recorder
from drive_server.services.journal.service import Journal
from drive_server.services.quota import Room, require_room_for
from drive_server.services.text.contents import Contents, digest, require_editable, require_writable
from drive_server.services.text.excerpts import Wanted
from drive_server.services.tree.ancestors import Reader
from drive_server.services.tree.items import checked_limit, describe, describe_all_sync
from drive_server.services.tree.names import clean_name
from drive_server.services.tree.nodes import (
    NodeView,
    item_message,
    live_child,
    locate_file,
    locate_file_sync,
    locate_folder,
)
from drive_server.storage.blobs import Blob, BlobStore
from drive_server.storage.tables.items import VersionRow

OnConflict = Literal["fail", "rename", "replace"]
MAX_TEXT_BYTES = 10_000_000
# Of many writers at once one gets through in each round: as many rounds as there may be calls at once.
EDIT_ATTEMPTS = 20


@dataclass(frozen=True, slots=True)
class Content:
    """A file's bytes: `stream(start, end)` yields those from `start` to `end` (exclusive; None: to the end).

    `modified_at` is their own date; `checksums` are as in a `Blob`.
    """

    item: Item
    blob: str
    size: int
    media_type: str
    modified_at: datetime
    stream: Callable[..., AsyncIterator[bytes]]
    checksums: str | None = None


@dataclass(frozen=True, slots=True)
class _EditTarget:
    """The state that an edit starts from: the file's name and version, its owner, and the bytes left if limited."""

    name: str
    version: VersionRow
    owner_id: str
    left: int | None


@dataclass(frozen=True, slots=True)
class _TextEdit:
    """A change of a text into another: its record, the function that makes it, and the number of edits."""

    action: str
    arguments: dict[str, str]
    apply: Callable[[str], str]
    count: int


class _ContentMovedError(Exception):
    """Between reading and writing, somebody else changed the content."""


class DocumentService:
    """Contents of files. Every change of content is a new version and marks the file for the index.

    Mutations take the etag in `if_match` and raise `EtagMismatchError` if the file changed since.
    """

    def __init__(
        self,
        database: Database,
        blobs: BlobStore,
        journal: Journal,
        text_source: TextSource,
        *,
        max_text_bytes: int = MAX_TEXT_BYTES,
    ) -> None:
        self._database = database
        self._blobs = blobs
        self._journal = journal
        self._contents = Contents(blobs, text_source, max_text_bytes)
        self.readings = Readings(database, self._contents)

    async def create(
        self,
        actor: Actor,
        parent: str,
        name: str,
        content: bytes | str,
        media_type: str | None = None,
        on_conflict: OnConflict = "fail",
    ) -> Outcome[Item]:
        """Make a file with the content; a text makes a Word document or a workbook if the name is that of one.

        See `create_from_blob` for a name that is taken.
        """
        require_scope(actor.principal, Scope.WRITE)
        _check_choice(on_conflict)
        clean = clean_name(name)
        kind = media_type_of(clean, media_type, content_is_text=isinstance(content, str))
        data = await self._contents.written(kind, content) if isinstance(content, str) else content
        arguments = _creation(parent, clean, await digest(data), kind, on_conflict)
        if done := await self._journal.recorded(actor, "create_file", arguments):
            return done
        await self.check_place(actor, parent, clean, len(data), arguments["content"])
        blob = await self._contents.store(actor, data)
        shown = self._contents.encoded(content) if isinstance(content, str) else data
        return await self._create(actor, parent, clean, NewContent(blob, kind, data=shown), arguments)

    async def create_from_blob(
        self,
        actor: Actor,
        parent: str,
        name: str,
        blob: Blob,
        media_type: str | None = None,
        on_conflict: OnConflict = "fail",
        *,
        modified_at: datetime | None = None,
    ) -> Outcome[Item]:
        """Make a file of a content that is stored already; `modified_at` is the content's own date, else it is now.

        If the name is taken: `fail` raises `NameConflictError`, `rename` takes the next free name, `replace` makes the
        content the newest version of the file that is there.
        """
        _check_choice(on_conflict)
        require_scope(actor.principal, Scope.WRITE)
        clean = clean_name(name)
        kind = await self._contents.media_type(clean, media_type, blob)
        arguments = _creation(parent, clean, blob.hash, kind, on_conflict) | _dated(modified_at)
        return await self._create(actor, parent, clean, NewContent(blob, kind, modified_at), arguments)

    async def check_place(
        self, actor: Actor, parent: str, name: str, size: int = 0, blob_hash: str | None = None
    ) -> Room:
        """Return the room for a file, or raise as creating it there would: before a long upload."""
        return await self._database.look(
            lambda session: self.check_place_in(session, actor, parent, name, size, blob_hash)
        )

    async def check_place_in(
        self, session: AsyncSession, actor: Actor, parent: str, name: str, size: int = 0, blob_hash: str | None = None
    ) -> Room:
        """Return the room as `check_place` does, in a transaction that is under way."""
        require_scope(actor.principal, Scope.WRITE)
        clean_name(name)
        folder = await locate_folder(session, actor.principal, parent, Role.EDITOR)
        await require_room_below(session, folder)
        limits, owner_id = self._journal.limits, folder.row.owner_id
        return await require_room_for(session, limits, owner_id, size, actor.user_id, blob_hash)

    async def check_file(self, actor: Actor, ref: str, size: int = 0, *, if_match: str | None = None) -> Room:
        """Return the room for a new content of a file, or raise as replacing it would: before a long upload."""
        return await self._database.look(
            lambda session: self.check_file_in(session, actor, ref, size, if_match=if_match)
        )

    async def check_file_in(
        self, session: AsyncSession, actor: Actor, ref: str, size: int = 0, *, if_match: str | None = None
    ) -> Room:
        """Return the room as `check_file` does, in a transaction that is under way."""
        require_scope(actor.principal, Scope.WRITE)
        node = await locate_file(session, actor.principal, ref, Role.EDITOR)
        await check_etag(session, actor, node, if_match)
        return await require_room_for(session, self._journal.limits, node.row.owner_id, size, actor.user_id)

    async def write_text(self, actor: Actor, ref: str, text: str, *, if_match: str | None = None) -> Outcome[Item]:
        """Replace the whole content of a text file, of a Word document or of a workbook."""
        require_scope(actor.principal, Scope.WRITE)
        shown = self._contents.encoded(text)
        arguments = {"item": ref, "content": await digest(shown)}
        if done := await self._journal.recorded(actor, "write", arguments):
            return done
        target = await self._check_editable(actor, ref, if_match, require_writable)
        kind = target.version.media_type
        data = await self._contents.written(kind, text)
        await self._require_room(actor, target, data)
        blob = await self._contents.store(actor, data)

        async def operation(recorder: Recorder) -> Item:
            node = await locate_file(recorder.session, actor.principal, ref, Role.EDITOR)
            await begin(recorder, node, if_match)
            require_writable(node.row.name, node.row.media_type)
            recorder.describe("write", item=node.subject)
            current = await _current(recorder, node, target.version)
            return await _set_content(recorder, node, NewContent(blob, kind, data=shown), current)

        return await self._journal.change(actor, "write", arguments, operation)

    async def patch(
        self, actor: Actor, ref: str, edits: Sequence[Edit], *, if_match: str | None = None
    ) -> Outcome[Item]:
        """Replace parts of a text file; each edit must match exactly once, else `EditMismatchError`."""
        require_scope(actor.principal, Scope.WRITE)
        count = len(edits)
        return await self._edit(
            actor,
            ref,
            _TextEdit("patch", {"item": ref, "edits": _digest_of(edits)}, lambda text: apply_edits(text, edits), count),
            if_match,
        )

    async def append(self, actor: Actor, ref: str, text: str, *, if_match: str | None = None) -> Outcome[Item]:
        """Put the text at the end of a text file, on a line of its own; the file's encoding and line ends stay.

        If the file does not end with a line break, one is put before the text; after it only line breaks of the text
        itself. Goes on from the newest content if others write at the same time, unless `if_match` is given. Raises
        `InvalidInputError` for an empty text.
        """
        require_scope(actor.principal, Scope.WRITE)
        if not text:
            raise InvalidInputError(Message.of("nothing_to_append"))
        data = self._contents.encoded(text)
        return await self._edit(
            actor,
            ref,
            _TextEdit(
                "append", {"item": ref, "content": await digest(data)}, lambda before: appended(before, text), len(text)
            ),
            if_match,
        )

    async def replace_from_blob(
        self,
        actor: Actor,
        ref: str,
        blob: Blob,
        media_type: str | None = None,
        *,
        if_match: str | None = None,
        modified_at: datetime | None = None,
    ) -> Outcome[Item]:
        """Make a content that is stored already the newest version of a file of any kind.

        `modified_at` is the content's own date, else it is now. The same content with another date is no new version.
        """
        require_scope(actor.principal, Scope.WRITE)

        async def operation(recorder: Recorder) -> Item:
            node = await locate_file(recorder.session, actor.principal, ref, Role.EDITOR)
            await begin(recorder, node, if_match)
            recorder.describe("write", item=node.subject)
            kind = media_type_of(node.row.name, media_type) if media_type else node.row.media_type
            return await _set_content(recorder, node, NewContent(blob, kind, modified_at))

        arguments = {"item": ref, "content": blob.hash, "media_type": media_type or ""} | _dated(modified_at)
        return await self._journal.change(actor, "write", arguments, operation)

    async def read_text(
        self,
        actor: Actor,
        ref: str,
        *,
        start: int | None = None,
        end: int | None = None,
        first_line: int | None = None,
        last_line: int | None = None,
        limit: int = 50_000,
        version: int | None = None,
        place: str = "",
    ) -> TextRange:
        """Return the file's text, or the part from `start` to `end`, from `first_line` to `last_line` or at `place`.

        At most `limit` characters, of the newest version or (for editors) of an earlier one. For pdf, docx, html and
        the like it is the extracted text. Raises `UnsupportedContentError` for files without text, and as
        `Readings.part` does.
        """
        wanted = Wanted(start, end, first_line, last_line, limit)
        return await self.readings.part(actor, ref, wanted, version, place)

    async def list_versions(self, actor: Actor, ref: str, limit: int = 50, cursor: str | None = None) -> Page[Version]:
        """Return the contents that the file had, newest first. For editors: a viewer sees only the newest one."""
        require_scope(actor.principal, Scope.READ)
        size = checked_limit(limit)
        async with self._database.read() as session:
            node = await locate_file(session, actor.principal, ref, Role.EDITOR)
            cursors = Cursors(self._database.signer, actor.user_id, "versions", node.id)
            return await versions_page(session, actor.principal, node.row, size, cursors, cursor)

    async def diff_versions(
        self, actor: Actor, ref: str, from_version: int, to_version: int | None = None
    ) -> VersionDiff:
        """Return the unified diff between the texts of two versions, 20,000 characters at most; None: the newest one.

        For editors. Files read as extracted text (pdf, docx, ...) are compared by it. Raises `NotFoundError` for a
        version that is not there, `UnsupportedContentError` for one without text.
        """
        require_scope(actor.principal, Scope.READ)
        async with self._database.read() as session:
            node = await locate_file(session, actor.principal, ref, Role.EDITOR)
            item = await describe(session, node)
            before = await require_version(session, node.row, from_version)
            newest = node.row.version
            after = await require_version(session, node.row, newest if to_version is None else to_version)
        return await diff_of(self._contents, item, before, after)

    async def restore_version(
        self, actor: Actor, ref: str, number: int, *, if_match: str | None = None
    ) -> Outcome[Item]:
        """Make an earlier content the newest version. Raises `NotFoundError` if there is no version of that number."""
        require_scope(actor.principal, Scope.WRITE)

        async def operation(recorder: Recorder) -> Item:
            node = await locate_file(recorder.session, actor.principal, ref, Role.EDITOR)
            await begin(recorder, node, if_match)
            version = await require_version(recorder.session, node.row, number)
            recorder.describe("restore_version", item=node.subject, number=number)
            return await _set_content(recorder, node, content_of(version))

        return await self._journal.change(actor, "restore_version", {"item": ref, "version": number}, operation)

    async def open_content(self, actor: Actor, ref: str, version: int | None = None) -> Content:
        """Return the file's bytes, as they are now or (for editors) as they were in that version."""
        return await self._database.read_sync(lambda reader: self.open_content_sync(reader, actor, ref, version))

    def open_content_sync(self, reader: Reader, actor: Actor, ref: str, version: int | None = None) -> Content:
        """Return the bytes as `open_content` does, in a transaction that is under way."""
        require_scope(actor.principal, Scope.READ)
        node = locate_file_sync(reader, actor.principal, ref, Role.VIEWER if version is None else Role.EDITOR)
        item = describe_all_sync(reader, [node])[0]
        found = require_stored_sync(reader, node.row, node.row.version if version is None else version)

        def stream(start: int = 0, end: int | None = None) -> AsyncIterator[bytes]:
            return self._blobs.stream(found.blob, start, end)

        return Content(item, found.blob, found.size, found.media_type, found.modified_at, stream, found.checksums)

    async def _create(
        self, actor: Actor, parent: str, name: str, content: NewContent, arguments: dict[str, str]
    ) -> Outcome[Item]:
        on_conflict = arguments["on_conflict"]

        async def operation(recorder: Recorder) -> Item:
            folder = await locate_folder(recorder.session, actor.principal, parent, Role.EDITOR)
            taken = await live_child(recorder.session, folder.id, name) if on_conflict == "replace" else None
            if taken:
                return await _replace(recorder, taken.id, content)
            free = await free_name(recorder.session, folder.id, name) if on_conflict == "rename" else name
            return await add_file(recorder, folder, free, content)

        return await self._journal.change(actor, "create_file", arguments, operation)

    async def _check_editable(
        self, actor: Actor, ref: str, if_match: str | None, require: Callable[[str, str], None] = require_editable
    ) -> _EditTarget:
        """Before anything is stored, refuse edits that the transaction would refuse; return the file to edit."""

        async def work(session: AsyncSession) -> _EditTarget:
            node = await locate_file(session, actor.principal, ref, Role.EDITOR)
            await check_etag(session, actor, node, if_match)
            require(node.row.name, node.row.media_type)
            current, usage = await content_and_usage(session, node.row, self._journal.limits)
            return _EditTarget(node.row.name, current, node.row.owner_id, usage.left)

        return await self._database.look(work)

    async def _require_room(self, actor: Actor, target: _EditTarget, data: bytes) -> None:
        """Before the bytes are stored, refuse an edit that the transaction would refuse for want of room."""
        if target.left is None or len(data) <= target.left:
            return
        limits, blob_hash = self._journal.limits, await digest(data)
        async with self._database.read() as session:
            await require_room_for(session, limits, target.owner_id, len(data), actor.user_id, blob_hash)

    async def _edit(self, actor: Actor, ref: str, edit: _TextEdit, if_match: str | None) -> Outcome[Item]:
        if done := await self._journal.recorded(actor, edit.action, edit.arguments):
            return done
        for _ in range(EDIT_ATTEMPTS):
            try:
                return await self._edit_once(actor, ref, edit, if_match)
            except _ContentMovedError:
                continue
        raise EtagMismatchError(Message.of("keeps_changing"))

    async def _edit_once(self, actor: Actor, ref: str, edit: _TextEdit, if_match: str | None) -> Outcome[Item]:
        target = await self._check_editable(actor, ref, if_match)
        source = await self._contents.editable_text_of(target.name, target.version)
        text = await anyio.to_thread.run_sync(edit.apply, source.text, abandon_on_cancel=True)
        data = self._contents.encoded(text, source.encode)
        await self._require_room(actor, target, data)
        blob = await self._contents.store(actor, data)

        async def operation(recorder: Recorder) -> Item:
            node = await locate_file(recorder.session, actor.principal, ref, Role.EDITOR)
            await begin(recorder, node, if_match)
            current = await _current(recorder, node, target.version)
            if current.blob != target.version.blob:
                raise _ContentMovedError
            recorder.describe(edit.action, item=node.subject, count=edit.count)
            return await _set_content(recorder, node, NewContent(blob, node.row.media_type, data=data), current)

        return await self._journal.change(actor, edit.action, edit.arguments, operation)


async def _current(recorder: Recorder, node: NodeView, checked: VersionRow) -> VersionRow:
    """Return the file's content. A version never changes: query only for another one."""
    is_unchanged = (node.id, node.row.version) == (checked.node_id, checked.number)
    return checked if is_unchanged else await current_of(recorder.session, node.row)


async def _set_content(
    recorder: Recorder, node: NodeView, content: NewContent, current: VersionRow | None = None
) -> Item:
    """Set the content, or only its date if it is the same already. Pass the `current` one if it is known."""
    current = current or await current_of(recorder.session, node.row)
    if (current.blob, current.media_type) != (content.blob.hash, content.media_type):
        recorder.touch(node.row)
        await add_version(recorder, node.row, content, current)
    elif content.modified_at is not None and content.modified_at != node.row.modified_at:
        recorder.touch(node.row)
        await set_modified_at(recorder, node.row, content.modified_at)
    return await finish(recorder, node.row, node)


async def _replace(recorder: Recorder, item_id: str, content: NewContent) -> Item:
    node = await locate_file(recorder.session, recorder.actor.principal, item_id, Role.EDITOR)
    await begin(recorder, node)
    recorder.describe("write", item=node.subject)
    return await _set_content(recorder, node, content)


async def add_file(recorder: Recorder, folder: NodeView, name: str, content: NewContent) -> Item:
    """Make a file of the content. Raises `NameConflictError`, and `StateConflictError` if it is too deep."""
    await require_free_name(recorder.session, folder.id, name)
    await require_room_below(recorder.session, folder)
    row = add_node(recorder, folder, "file", name)
    await add_version(recorder, row, content)
    recorder.describe("create_file", item=item_message(name), folder=folder.subject)
    return await finish(recorder, row, new_node_view(folder, row))


def _check_choice(on_conflict: str) -> None:
    if on_conflict not in {"fail", "rename", "replace"}:
        raise InvalidInputError("on_conflict must be fail, rename or replace.", hint="Use one of these.")


def _creation(parent: str, name: str, content: str, media_type: str, on_conflict: OnConflict) -> dict[str, str]:
    return {"parent": parent, "name": name, "content": content, "media_type": media_type, "on_conflict": on_conflict}


def _dated(modified_at: datetime | None) -> dict[str, str]:
    """Return the argument of a date: the same call with another one is another call."""
    return {} if modified_at is None else {"modified_at": modified_at.isoformat()}


def _digest_of(edits: Sequence[Edit]) -> str:
    return sha256(repr([(edit.find, edit.replace) for edit in edits]).encode(errors="backslashreplace")).hexdigest()
