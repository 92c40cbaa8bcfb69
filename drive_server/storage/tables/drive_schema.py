"""The drive's tables together, with their migrations."""

from pathlib import Path
from typing import Final

from sqlalchemy.exc import IntegrityError

from drive_server.kernel.errors import NameConflictError
from drive_server.kernel.messages import Message
from drive_server.kernel.sql.schema import Schema
from drive_server.storage.tables import dav, index, installation, items, journal, people, programs, sharing, work
from drive_server.storage.tables.base import Base
from drive_server.storage.tables.items import LIVE_NAME_COLUMNS, LIVE_NAME_INDEX
from drive_server.storage.tables.server_state import SERVER_STATE

MODULES: Final = (people, programs, items, sharing, journal, work, index, dav, installation)
"""A table finds those that it refers to once they are all loaded."""


def _conflict(error: IntegrityError) -> NameConflictError | None:
    reason = str(error.orig)
    if LIVE_NAME_INDEX not in reason and LIVE_NAME_COLUMNS not in reason:
        return None
    return NameConflictError(Message.of("name_taken_now"))


SCHEMA: Final = Schema(
    Base.metadata,
    Path(__file__).parents[1] / "migrations/versions",
    "alembic_version",
    _conflict,
    sequence="changes_id_seq",
    server_state=SERVER_STATE,
)
"""The drive's tables."""
