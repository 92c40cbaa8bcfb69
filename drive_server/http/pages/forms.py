"""The fields of a form that one of our own pages sent."""

from typing import Final
from urllib.parse import parse_qs

from fastapi import Request

from drive_server.errors import ForbiddenError, TooLargeError

FORM_TYPE: Final = "application/x-www-form-urlencoded"
MOST_FORM_BYTES: Final = 32 * 1024
MOST_FIELDS: Final = 20


async def read_form(request: Request) -> dict[str, list[str]]:
    """Return the fields of the form. Raises `ForbiddenError` for a body that no form of ours sends."""
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != FORM_TYPE:
        raise ForbiddenError("The body is no form.", hint="Use the page.")
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > MOST_FORM_BYTES:
            raise TooLargeError("The form is too large.", details={"limit": MOST_FORM_BYTES})
    try:
        return parse_qs(body.decode("ascii"), keep_blank_values=True, max_num_fields=MOST_FIELDS)
    except ValueError as error:
        raise ForbiddenError("The body is no form.", hint="Use the page.") from error
