"""Files as contents: create, read, write, patch, and go back to earlier versions."""

from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, Literal

import anyio

from drive_server.access import Actor, Role, Scope, require_scope
from drive_server.errors import EtagMismatchError, InvalidInputError
from drive_server.media import media_type_of
from drive_server.models import Item, Outcome, Page, TextRange, Version
from drive_server.names import clean_name, display_name
from drive_server.services.changes import check_etag
from drive_server.services.contents import Contents, TextSource, digest, require_editable
from drive_server.services.edits import Edit, apply_edits
from drive_server.services.items import checked_limit, describe
from drive_server.services.journal import Journal
from drive_server.services.nodes import Located, live_child, locate_file, locate_folder
from drive_server.services.texts import Wanted, cut
from drive_server.services.tree import (
    add_node,
    add_version,
    begin,
    finish,
    free_name,
    require_free_name,
    require_room_below,
)
from drive_server.services.versions import current_of, require_version, versions_page
from drive_server.services.writing import Writing
from drive_server.storage.blobs import Blob, BlobStore
from drive_server.storage.database import Database
from drive_server.storage.tables import VersionRow

OnConflict = Literal["fail", "rename", "replace"]
MAX_TEXT_BYTES = 10_000_000
PATCH_ATTEMPTS = 5


@dataclass(frozen=True, slots=True)
class Content:
    """A file's bytes: `stream(start, end)` yields those from `start` to `end` (exclusive; None: to the end)."""

    item: Item
    blob: str
    size: int
    media_type: str
    stream: Callable[..., AsyncIterator[bytes]]


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

    async def create(
        self, actor: Actor, parent: str, name: str, content: bytes | str, media_type: str | None = None
    ) -> Outcome[Item]:
        """Make a file with the content. Raises `NameConflictError` if the name is taken."""
        require_scope(actor.principal, Scope.WRITE)
        clean = clean_name(name)
        data = self._contents.encoded(content) if isinstance(content, str) else content
        kind = media_type_of(clean, media_type, content_is_text=isinstance(content, str))
        arguments = _creation(parent, clean, await digest(data), kind, "fail")
        if done := await self._journal.recorded(actor, "create_file", arguments):
            return done
        await self.check_place(actor, parent, clean)
        blob = await self._contents.store(actor, data)
        return await self._create(actor, parent, clean, blob, arguments, data)

    async def create_from_blob(
        self,
        actor: Actor,
        parent: str,
        name: str,
        blob: Blob,
        media_type: str | None = None,
        on_conflict: OnConflict = "fail",
    ) -> Outcome[Item]:
        """Make a file of a content that is stored already.

        If the name is taken: `fail` raises `NameConflictError`, `rename` takes the next free name, `replace` makes the
        content the newest version of the file that is there.
        """
        if on_conflict not in {"fail", "rename", "replace"}:
            raise InvalidInputError("on_conflict must be fail, rename or replace.", hint="Use one of these.")
        require_scope(actor.principal, Scope.WRITE)
        clean = clean_name(name)
        kind = await self._contents.media_type(clean, media_type, blob)
        return await self._create(actor, parent, clean, blob, _creation(parent, clean, blob.hash, kind, on_conflict))

    async def check_place(self, actor: Actor, parent: str, name: str) -> str:
        """Return the name as it would be stored, or raise what creating a file there would: before a long upload."""
        require_scope(actor.principal, Scope.WRITE)
        clean = clean_name(name)
        async with self._database.read() as session:
            folder = await locate_folder(session, actor.principal, parent, Role.EDITOR)
            await require_room_below(session, folder)
        return clean

    async def write_text(self, actor: Actor, ref: str, text: str, *, if_match: str | None = None) -> Outcome[Item]:
        """Replace the whole content of a text file."""
        require_scope(actor.principal, Scope.WRITE)
        data = self._contents.encoded(text)
        arguments = {"item": ref, "content": await digest(data)}
        if done := await self._journal.recorded(actor, "write", arguments):
            return done
        await self._look(actor, ref, if_match)
        blob = await self._contents.store(actor, data)

        async def operation(writing: Writing) -> Item:
            located = await locate_file(writing.session, actor.principal, ref, Role.EDITOR)
            await begin(writing, located, if_match)
            require_editable(located.row.name, located.row.media_type)
            writing.tell("Replace", "Replaced", f"the content of {located.label}.")
            return await _set_content(writing, located, blob, located.row.media_type, data)

        return await self._journal.change(actor, "write", arguments, operation)

    async def patch(
        self, actor: Actor, ref: str, edits: Sequence[Edit], *, if_match: str | None = None
    ) -> Outcome[Item]:
        """Replace parts of a text file; its encoding and line ends stay.

        Each edit must match exactly once in the text as it is after the earlier edits, else `EditMismatchError`.
        """
        require_scope(actor.principal, Scope.WRITE)
        arguments = {"item": ref, "edits": _digest_of(edits)}
        if done := await self._journal.recorded(actor, "patch", arguments):
            return done
        for _ in range(PATCH_ATTEMPTS):
            try:
                return await self._patch_once(actor, ref, edits, if_match, arguments)
            except _ContentMovedError:
                continue
        raise EtagMismatchError("The file keeps being changed by others.", hint="Read it again and repeat the edit.")

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
    ) -> TextRange:
        """Return the file's text, or the part from `start` to `end` or from `first_line` to `last_line`.

        At most `limit` characters. For pdf, docx, html and the like it is the extracted text.
        Raises `UnsupportedContentError` for files without text.
        """
        require_scope(actor.principal, Scope.READ)
        wanted = Wanted(start, end, first_line, last_line, limit)
        wanted.check()
        async with self._database.read() as session:
            located = await locate_file(session, actor.principal, ref)
            item, version = await describe(session, located), await current_of(session, located.row)
        text = await self._contents.text_of(item.name, version)
        span = await anyio.to_thread.run_sync(cut, text, wanted)
        return TextRange(
            item=item,
            text=text[span.start : span.end],
            start=span.start,
            end=span.end,
            total_characters=len(text),
            first_line=span.first_line,
            last_line=span.last_line,
            total_lines=span.total_lines,
        )

    async def list_versions(self, actor: Actor, ref: str, limit: int = 50, cursor: str | None = None) -> Page[Version]:
        """Return the contents that the file had, newest first. For editors: a viewer sees only what it is now."""
        require_scope(actor.principal, Scope.READ)
        size = checked_limit(limit)
        async with self._database.read() as session:
            located = await locate_file(session, actor.principal, ref, Role.EDITOR)
            return await versions_page(session, actor.principal, located.row, size, cursor)

    async def restore_version(
        self, actor: Actor, ref: str, number: int, *, if_match: str | None = None
    ) -> Outcome[Item]:
        """Make an earlier content the newest version. Raises `NotFoundError` if there is no version of that number."""
        require_scope(actor.principal, Scope.WRITE)

        async def operation(writing: Writing) -> Item:
            located = await locate_file(writing.session, actor.principal, ref, Role.EDITOR)
            await begin(writing, located, if_match)
            version = await require_version(writing.session, located.row, number)
            writing.tell("Bring", "Brought", f"back version {number} of {located.label} as its newest version.")
            return await _set_content(writing, located, Blob(version.blob, version.size), version.media_type)

        return await self._journal.change(actor, "restore_version", {"item": ref, "version": number}, operation)

    async def open_content(self, actor: Actor, ref: str, version: int | None = None) -> Content:
        """Return the file's bytes, as they are now or (for editors) as they were in that version."""
        require_scope(actor.principal, Scope.READ)
        async with self._database.read() as session:
            needed = Role.VIEWER if version is None else Role.EDITOR
            located = await locate_file(session, actor.principal, ref, needed)
            item = await describe(session, located)
            found = await require_version(session, located.row, located.row.version if version is None else version)

        def stream(start: int = 0, end: int | None = None) -> AsyncIterator[bytes]:
            return self._blobs.stream(found.blob, start, end)

        return Content(item, found.blob, found.size, found.media_type, stream)

    async def _create(
        self, actor: Actor, parent: str, name: str, blob: Blob, arguments: dict[str, str], data: bytes | None = None
    ) -> Outcome[Item]:
        media_type, on_conflict = arguments["media_type"], arguments["on_conflict"]

        async def operation(writing: Writing) -> Item:
            folder = await locate_folder(writing.session, actor.principal, parent, Role.EDITOR)
            taken = await live_child(writing.session, folder.id, name) if on_conflict == "replace" else None
            if taken:
                return await _replace(writing, taken.id, blob, media_type, data)
            free = await free_name(writing.session, folder.id, name) if on_conflict == "rename" else name
            return await _add_file(writing, folder, free, blob, media_type, data)

        return await self._journal.change(actor, "create_file", arguments, operation)

    async def _look(self, actor: Actor, ref: str, if_match: str | None) -> tuple[str, VersionRow]:
        """Refuse before anything is stored what the transaction would refuse; return name and content to work on."""
        async with self._database.read() as session:
            located = await locate_file(session, actor.principal, ref, Role.EDITOR)
            await check_etag(session, actor, located, if_match)
            require_editable(located.row.name, located.row.media_type)
            return located.row.name, await current_of(session, located.row)

    async def _patch_once(
        self, actor: Actor, ref: str, edits: Sequence[Edit], if_match: str | None, arguments: dict[str, Any]
    ) -> Outcome[Item]:
        name, version = await self._look(actor, ref, if_match)
        source = await self._contents.editable_text_of(name, version)
        text = await anyio.to_thread.run_sync(apply_edits, source.text, edits)
        data = self._contents.encoded(text, source.encode)
        blob = await self._contents.store(actor, data)

        async def operation(writing: Writing) -> Item:
            located = await locate_file(writing.session, actor.principal, ref, Role.EDITOR)
            await begin(writing, located, if_match)
            if (await current_of(writing.session, located.row)).blob != version.blob:
                raise _ContentMovedError
            writing.tell("Edit", "Edited", f"{len(edits)} place{'s' * (len(edits) != 1)} in {located.label}.")
            return await _set_content(writing, located, blob, located.row.media_type, data)

        return await self._journal.change(actor, "patch", arguments, operation)


async def _set_content(
    writing: Writing, located: Located, blob: Blob, media_type: str, data: bytes | None = None
) -> Item:
    """The same content again is no change and makes no version."""
    current = await current_of(writing.session, located.row)
    if (current.blob, current.media_type) != (blob.hash, media_type):
        writing.touch(located.row)
        await add_version(writing, located.row, blob, media_type, data)
    return await finish(writing, located.row)


async def _replace(writing: Writing, item_id: str, blob: Blob, media_type: str, data: bytes | None) -> Item:
    located = await locate_file(writing.session, writing.actor.principal, item_id, Role.EDITOR)
    await begin(writing, located)
    writing.tell("Replace", "Replaced", f"the content of {located.label}.")
    return await _set_content(writing, located, blob, media_type, data)


async def _add_file(
    writing: Writing, folder: Located, name: str, blob: Blob, media_type: str, data: bytes | None
) -> Item:
    await require_free_name(writing.session, folder.id, name)
    await require_room_below(writing.session, folder)
    row = add_node(writing, folder, "file", name)
    await writing.session.flush()
    await add_version(writing, row, blob, media_type, data)
    writing.tell("Create", "Created", f"the file '{display_name(name)}' in {folder.label}.")
    return await finish(writing, row)


def _creation(parent: str, name: str, content: str, media_type: str, on_conflict: OnConflict) -> dict[str, str]:
    return {
        "parent": parent,
        "name": name,
        "content": content,
        "media_type": media_type,
        "on_conflict": on_conflict,
    }


def _digest_of(edits: Sequence[Edit]) -> str:
    return sha256(repr([(edit.find, edit.replace) for edit in edits]).encode(errors="backslashreplace")).hexdigest()
