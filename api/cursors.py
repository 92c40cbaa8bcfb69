"""Cursors of lists: opaque to clients, and refused if they did not come from here."""

import base64
import binascii
from datetime import UTC, datetime

from api.errors import InvalidInputError


def encode_cursor(moment: datetime, row_id: str) -> str:
    """Return a cursor that continues after a row."""
    return base64.urlsafe_b64encode(f"{moment.isoformat()} {row_id}".encode()).decode()


def decode_cursor(cursor: str) -> tuple[datetime, str]:
    """Return where a cursor points. Raises `InvalidInputError` for any other text."""
    try:
        moment, _, row_id = base64.urlsafe_b64decode(cursor.encode()).decode().partition(" ")
        # `astimezone` takes a naive time too, but no cursor that was made here has one.
        return datetime.fromisoformat(moment).astimezone(UTC), row_id
    except (ValueError, OverflowError, binascii.Error) as error:
        raise InvalidInputError("This is not a cursor of this list.", hint="Begin again without a cursor.") from error
