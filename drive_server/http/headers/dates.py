"""The own dates of contents, as clients send them: seconds or milliseconds since 1970, ISO 8601, HTTP dates.

A date is a courtesy: one that can't be read is no error, and the content is of now.
"""

import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from email.utils import parsedate_to_datetime
from typing import Annotated, Final

from fastapi import Depends, Header, Request

EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
EARLIEST: Final = datetime(1601, 1, 1, tzinfo=UTC)
"""The first moment of Windows' file systems. Python's last one is that of the year 9999."""
SECONDS: Final = Decimal(1_000_000)
MILLISECONDS: Final = Decimal(1_000)
"""Microseconds, in which dates are stored."""
MAX_CHARACTERS: Final = 64
HEADERS: Final = ("x-oc-mtime", "x-amz-meta-mtime", "last-modified")
"""Of ownCloud and Nextcloud, of clients of S3, and of HTTP itself (RFC 9110, section 8.8.2), in this order."""
UNITS: Final = {"mtime": SECONDS, "lastmodified": MILLISECONDS, "modified": MILLISECONDS, "modified_at": MILLISECONDS}
"""The keys in the metadata of an upload, without their case, and the unit of a number there."""
_NUMBER: Final = re.compile(r"[+-]?\d{1,18}(?:\.\d{0,18})?", re.ASCII)


def date_of_headers(headers: Mapping[str, str]) -> datetime | None:
    """Return the date that the headers give the content; None without one that can be read."""
    found = (parse_date(headers.get(name, "")) for name in HEADERS)
    return next((date for date in found if date is not None), None)


def date_of_metadata(metadata: Mapping[str, str]) -> datetime | None:
    """Return the date in the metadata of an upload; None without one that can be read."""
    given = {key.lower(): value for key, value in metadata.items()}
    found = (parse_date(given.get(key, ""), unit) for key, unit in UNITS.items())
    return next((date for date in found if date is not None), None)


def parse_date(text: str, unit: Decimal = SECONDS) -> datetime | None:
    """Return the date that a number of units since 1970, an ISO 8601 text or an HTTP date stands for.

    Fractions of a microsecond are cut. Returns None for anything else, and for a date before 1601 or after 9999.
    """
    text = text.strip()[:MAX_CHARACTERS]
    try:
        if _NUMBER.fullmatch(text):
            date = EPOCH + timedelta(microseconds=int((Decimal(text) * unit).to_integral_value("ROUND_FLOOR")))
        else:
            date = _parse_words(text)
    except (ValueError, OverflowError):
        return None
    return date if date >= EARLIEST else None


def _parse_words(text: str) -> datetime:
    """Return the date of an ISO 8601 text or an HTTP date, in UTC if it names no zone. Raises `ValueError`."""
    date = parsedate_to_datetime(text) if "," in text else datetime.fromisoformat(text)
    return (date if date.tzinfo else date.replace(tzinfo=UTC)).astimezone(UTC)


async def get_date(
    request: Request,
    x_oc_mtime: Annotated[
        str | None, Header(description="The content's own date, in seconds since 1970; one that is none is ignored.")
    ] = None,
) -> datetime | None:
    """Return the own date of the content in the body."""
    del x_oc_mtime  # named for the description; other headers may have the date as well
    return date_of_headers(request.headers)


DateDep = Annotated[datetime | None, Depends(get_date)]
