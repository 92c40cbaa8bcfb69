"""Writes over HTTP: the etag that they are made at, and the headers that identify the change."""

from typing import Annotated, Final, TypeVar

from fastapi import Depends, Header, Response

from drive_server.kernel.errors import InvalidInputError
from drive_server.kernel.messages import Message
from drive_server.models.changes import Outcome

T = TypeVar("T")

CHANGE_ID: Final = "Drive-Change-Id"
"""The number of the change in the journal, with which it can be undone; absent if nothing changed."""
REPLAYED: Final = "Idempotent-Replayed"
"""`true` if the idempotency key was known: the answer is the recorded one."""
MAX_ETAG_CHARACTERS: Final = 128


async def get_if_match(
    if_match: Annotated[
        str | None,
        Header(max_length=MAX_ETAG_CHARACTERS, description="The item's etag as it was read; 409 if it changed since."),
    ] = None,
) -> str | None:
    """Return the etag of the If-Match header, None without one and for `*`. Raises `InvalidInputError` for several."""
    if if_match is None or if_match.strip() == "*":
        return None
    if "," in if_match:
        raise InvalidInputError(Message.of("one_etag"))
    return if_match.strip().strip('"')


IfMatchDep = Annotated[str | None, Depends(get_if_match)]


def reply(response: Response, outcome: Outcome[T]) -> T:
    """Return the value of a change as the answer, whose headers name the change."""
    if outcome.change_id is not None:
        response.headers[CHANGE_ID] = str(outcome.change_id)
    if outcome.replayed:
        response.headers[REPLAYED] = "true"
    return outcome.value
