"""The store by itself, with real parts: database, blobs, journal, files, documents, shares; no index, no server."""

from __future__ import annotations

from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from typing_extensions import override

from drive_server.kernel.access import ALL_SCOPES, Actor, Principal
from drive_server.knowledge.readers.text_source import TextSource
from drive_server.knowledge.text.elements import Extraction
from drive_server.services.documents.service import DocumentService
from drive_server.services.files.batches import BatchService
from drive_server.services.files.service import FileService
from drive_server.services.journal.service import Journal
from drive_server.services.sharing.service import SharingService
from drive_server.services.undo.service import UndoService
from drive_server.storage.blobs import BlobStore, open_blobs
from drive_server.storage.drive_database import open_database
from drive_server.storage.tables.base import new_id
from drive_server.storage.tables.items import NodeRow
from drive_server.storage.tables.people import UserRow
from tests.databases import drive_url

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator
    from pathlib import Path

    from drive_server.kernel.sql.database import Database
    from drive_server.models.items import Item


@dataclass
class KnownTexts(TextSource):
    """A text source that has the texts of `texts`, by the file's name."""

    texts: dict[str, str] = field(default_factory=dict)

    @override
    async def text(self, blob_hash: str, name: str, media_type: str) -> Extraction:
        del blob_hash, media_type
        if name in self.texts:
            return Extraction("ready", text=self.texts[name])
        return Extraction("unsupported", "This kind of file holds no text.")


@dataclass
class Store:
    database: Database
    blobs: BlobStore
    journal: Journal
    files: FileService
    documents: DocumentService
    sharing: SharingService
    texts: KnownTexts
    wakes: list[datetime]
    folder_of_blobs: Path

    @property
    def batches(self) -> BatchService:
        return BatchService(self.journal)

    @property
    def undo(self) -> UndoService:
        return UndoService(self.journal)

    async def person(self, email: str) -> Actor:
        now = datetime.now(UTC)
        user = UserRow(id=new_id(), email=email, root_id=new_id(), created_at=now)
        root = NodeRow(id=user.root_id, owner_id=user.id, kind="folder", name="", created_at=now, updated_at=now)
        async with self.database.write() as session:
            session.add(user)
            await session.flush()
            session.add(root)
        return Actor(Principal(user.id, email, ALL_SCOPES, "in_process"), tool="test")

    async def folder(self, actor: Actor, path: str) -> Item:
        parent, _, name = path.rpartition("/")
        return (await self.files.create_folder(actor, parent or "/", name)).value

    async def file(self, actor: Actor, path: str, content: str | bytes = "one\ntwo\n") -> Item:
        parent, _, name = path.rpartition("/")
        return (await self.documents.create(actor, parent or "/", name, content)).value

    async def text(self, actor: Actor, ref: str) -> str:
        return (await self.documents.read_text(actor, ref)).text

    async def names(self, actor: Actor, ref: str = "/") -> list[str]:
        return [item.name for item in (await self.files.list_folder(actor, ref)).items]


@asynccontextmanager
async def open_store(folder: Path, url: str = "") -> AsyncGenerator[Store]:
    database = await open_database(url or drive_url(folder / "drive.db"))
    blobs = await open_blobs((folder / "blobs").as_uri())
    wakes: list[datetime] = []
    journal = Journal(database, blobs, on_content_change=lambda: wakes.append(datetime.now(UTC)))
    texts = KnownTexts()
    files, sharing = FileService(database, journal), SharingService(database, journal)
    documents = DocumentService(database, blobs, journal, texts)
    try:
        yield Store(database, blobs, journal, files, documents, sharing, texts, wakes, folder / "blobs")
    finally:
        await database.dispose()


def in_run(actor: Actor, run_id: str, key: str | None = None) -> Actor:
    """Return the same person acting in an assistant's run."""
    return replace(actor, run_id=run_id, idempotency_key=key)
