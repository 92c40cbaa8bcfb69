"""Take a person's address out of the journal: the changes stay, and nobody reads there who they were."""

import json
import re
from typing import Any, Final

from sqlalchemy import Text, cast, or_, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from drive_server.storage.tables.journal import ChangeRow

AT_ONCE: Final = 200
_JSON: Final = ("message", "entries", "result")
_TEXTS: Final = ("summary", "approved_by")


async def scrub_journal(session: AsyncSession, user_id: str, email: str, placeholder: str) -> None:
    """Put the placeholder in the place of the address in all changes, and drop the names of the person's keys."""
    own = update(ChangeRow).where(ChangeRow.user_id == user_id)
    await session.execute(
        own.values(key_name=None, approved_key=None), execution_options={"synchronize_session": False}
    )
    spellings = sorted({email, json.dumps(email)[1:-1]})
    columns = {name: getattr(ChangeRow, name) for name in (*_JSON, *_TEXTS)}
    named = or_(
        *(cast(column, Text).contains(word, autoescape=True) for column in columns.values() for word in spellings)
    )
    last = 0
    while True:
        query = select(ChangeRow.id, *columns.values()).where(ChangeRow.id > last, named).order_by(ChangeRow.id)
        rows = (await session.execute(query.limit(AT_ONCE))).all()
        for row in rows:
            last = row.id
            values = {name: _scrubbed(getattr(row, name), email, placeholder) for name in columns}
            change = update(ChangeRow).where(ChangeRow.id == row.id).values(values)
            await session.execute(change, execution_options={"synchronize_session": False})
        if len(rows) < AT_ONCE:
            return


def _scrubbed(value: Any, email: str, placeholder: str) -> Any:
    """Return the JSON value with the placeholder wherever the address stands as a whole."""
    if isinstance(value, dict):
        return {key: _scrubbed(inner, email, placeholder) for key, inner in value.items()}
    if isinstance(value, list):
        return [_scrubbed(inner, email, placeholder) for inner in value]
    if not isinstance(value, str) or email not in value:
        return value
    # "ana@example.com" is no part of "joana@example.com" and "ana@example.com.au", and ends at a full stop.
    whole = rf"(?<![\w.+@-]){re.escape(email)}(?![\w@-]|\.\w)"
    return re.sub(whole, lambda _: placeholder, value)
