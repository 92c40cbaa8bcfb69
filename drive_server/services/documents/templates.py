"""Templates: a text or Word document with placeholders becomes a new file with values in their place."""

import zipfile
from collections.abc import Mapping
from hashlib import sha256

import anyio
import orjson
from lxml import etree  # pyright: ignore[reportAttributeAccessIssue] - a compiled module without stubs

from drive_server.kernel.access import Actor, Role, Scope, require_scope
from drive_server.kernel.errors import EtagMismatchError, TooLargeError, UnsupportedContentError
from drive_server.kernel.messages import Message
from drive_server.kernel.sql.database import Database
from drive_server.knowledge.formats import format_of
from drive_server.knowledge.text.unreadable import UnreadableError
from drive_server.models.changes import Outcome
from drive_server.models.items import Item, OnConflict
from drive_server.services.documents.placeholders import fill_docx, fill_text
from drive_server.services.documents.service import add_file
from drive_server.services.files.conflicts import check_choice
from drive_server.services.files.operations import NewContent, free_name
from drive_server.services.files.versions import current_of
from drive_server.services.journal.recorder import Recorder
from drive_server.services.journal.service import Journal
from drive_server.services.text.contents import Contents
from drive_server.services.tree.items import etag_of
from drive_server.services.tree.names import clean_name, display_name
from drive_server.services.tree.nodes import item_message, locate_file, locate_folder
from drive_server.storage.tables.items import VersionRow

_DAMAGED = (zipfile.BadZipFile, etree.XMLSyntaxError, UnreadableError, KeyError, NotImplementedError)
_WORD = "docx"


class TemplateService:
    """Fills placeholders `{{name}}` of a file into a new one; the template stays as it is."""

    def __init__(self, database: Database, journal: Journal, contents: Contents) -> None:
        self._database = database
        self._journal = journal
        self._contents = contents

    async def fill(
        self,
        actor: Actor,
        template: str,
        values: Mapping[str, str],
        parent: str | None,
        name: str,
        *,
        on_conflict: OnConflict = "fail",
    ) -> Outcome[Item]:
        """Make a file of the template in the folder, or beside the template; it has the ending of the template.

        Raises `InvalidInputError` that names the placeholders without a value and the values without a placeholder, and
        `UnsupportedContentError` for a template that is neither text nor docx.
        """
        require_scope(actor.principal, Scope.WRITE)
        check_choice(on_conflict, ("fail", "rename"))
        clean = clean_name(name)
        told = sha256(orjson.dumps(sorted(values.items()))).hexdigest()
        arguments = {"template": template, "values": told, "parent": parent, "name": clean, "on_conflict": on_conflict}
        if done := await self._journal.recorded(actor, "fill_template", arguments):
            return done
        file_name, version = await self._template(actor, template)
        data = await self._filled(file_name, version, values)
        blob = await self._contents.store(actor, data)
        wanted = _with_ending(clean, file_name)

        async def operation(recorder: Recorder) -> Item:
            session, principal = recorder.session, actor.principal
            source = await locate_file(session, principal, template)
            recorder.etag = f"fill-{etag_of(source.row)}"
            if source.row.version != version.number or actor.if_match not in (None, recorder.etag):
                raise EtagMismatchError(Message.of("changed_since_read", item=source.subject))
            folder = await locate_folder(session, principal, parent or str(source.row.parent_id), Role.EDITOR)
            free = await free_name(session, folder.id, wanted) if on_conflict == "rename" else wanted
            item = await add_file(recorder, folder, free, NewContent(blob, version.media_type, data=data))
            names = {"template": source.subject, "item": item_message(free), "folder": folder.subject}
            recorder.describe("fill_template", **names)
            return item

        return await self._journal.change(actor, "fill_template", arguments, operation)

    async def _template(self, actor: Actor, ref: str) -> tuple[str, VersionRow]:
        async with self._database.read() as session:
            node = await locate_file(session, actor.principal, ref)
            return node.row.name, await current_of(session, node.row)

    async def _filled(self, name: str, version: VersionRow, values: Mapping[str, str]) -> bytes:
        if format_of(name, version.media_type).name != _WORD:
            source = await self._contents.editable_text_of(name, version)
            filled = fill_text(source.text, values, self._contents.max_text_bytes)
            return self._contents.encoded(filled, source.encode)
        if version.size > self._contents.max_text_bytes:
            raise TooLargeError(Message.of("text_too_large"), details={"limit": self._contents.max_text_bytes})
        data = await self._contents.blobs.read(version.blob)
        try:
            return await anyio.to_thread.run_sync(fill_docx, data, values, abandon_on_cancel=True)
        except _DAMAGED as error:
            raise UnsupportedContentError(Message.of("no_readable_text", name=display_name(name))) from error


def _with_ending(name: str, template: str) -> str:
    ending = template.rpartition(".")[2] if "." in template[1:] else ""
    is_there = not ending or name.lower().endswith(f".{ending.lower()}")
    return name if is_there or ("." in name and ending.lower() != _WORD) else clean_name(f"{name}.{ending}")
