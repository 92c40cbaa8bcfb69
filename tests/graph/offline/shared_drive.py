"""A drive whose files questions only read: one for all questions of a module, each in a thread of its own."""

from __future__ import annotations

from contextlib import asynccontextmanager
from dataclasses import replace
from typing import TYPE_CHECKING
from uuid import uuid4

import pytest
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

from drive_server.connect import ALL_SCOPES, Actor, DriveSettings, open_drive
from graph.drive.connections import ConnectionPool, drive_sessions
from graph.offline.model import OfflineChatModel
from tests.graph.assistant import Assistant, assemble, person
from tests.graph.conftest import remove_settings

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Mapping
    from pathlib import Path


@asynccontextmanager
async def asked_about(files: Mapping[str, str], folder: Path) -> AsyncGenerator[Assistant]:
    """Yield the offline assistant of a drive in the folder that has indexed the files."""
    with pytest.MonkeyPatch.context() as monkeypatch:
        remove_settings(monkeypatch, folder)
        settings = DriveSettings(data_dir=folder / "drive", embedding_model="none")
        async with open_drive(settings) as drive, AsyncSqliteSaver.from_conn_string(":memory:") as saver:
            user, _ = await drive.identity.ensure_local_user()
            actor = Actor(await drive.identity.principal_for(user.id, ALL_SCOPES))
            for name, text in files.items():
                await drive.documents.create(actor, "root", name, text)
            await drive.ingester.drain()
            pool = ConnectionPool(drive_sessions(drive))
            yield assemble(OfflineChatModel(), pool, saver, person(actor))
            await pool.aclose()


def in_new_thread(assistant: Assistant) -> Assistant:
    """Return the assistant in a thread that nothing was said in."""
    return replace(assistant, thread_id=str(uuid4()))
