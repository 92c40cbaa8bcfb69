"""A program's request for authorization (OAuth 2.1, section 4.1.1), read and checked before a person sees it."""

import re
from dataclasses import dataclass
from typing import Final

from fastapi import Request
from mcp.shared.auth import InvalidRedirectUriError

from drive_server.drive import Drive
from drive_server.http.metadata import resource_of
from drive_server.http.oauth.endpoints import is_resource
from drive_server.http.oauth.provider import Client, client_of
from drive_server.kernel.access import ALL_SCOPES, Scope
from drive_server.kernel.errors import DriveError, InvalidInputError
from drive_server.kernel.http.challenges import FIRST_SCOPES, issuer_of
from drive_server.kernel.messages import Message
from drive_server.services.identity.programs.grants import Asked
from drive_server.services.identity.programs.redirects import with_answer

MAX_STATE_CHARACTERS: Final = 4096
CHALLENGE: Final = re.compile("[A-Za-z0-9_-]{43}")
"""A SHA-256 in base64url (RFC 7636, section 4.2)."""
OWN: Final = frozenset({"lang"})
"""Parameters of the page itself."""


class RefusedRequestError(Exception):
    """A request that no person is asked about. `back` is the program's address with the error; empty: unknown."""

    def __init__(self, reason: DriveError | str, back: str = "") -> None:
        super().__init__(str(reason))
        self.reason = reason
        self.back = back


@dataclass(frozen=True, slots=True)
class AccessRequest:
    """A request that a person can be asked about. `issuer` is this service, as the program knows it."""

    asked: Asked
    scopes: tuple[Scope, ...]
    state: str | None
    issuer: str

    def answered(self, **answer: str) -> str:
        """Return the program's address with the answer, which says whose it is (RFC 9207)."""
        return _back(self.asked.redirect_uri, self.issuer, self.state, answer)


async def read_request(drive: Drive, request: Request) -> AccessRequest:
    """Return the request for authorization. Raises `RefusedRequestError`, `NotFoundError` where none is taken."""
    issuer, fields = issuer_of(drive.settings), request.query_params
    client = await _client(drive, fields.get("client_id", ""))
    given = fields.get("redirect_uri")
    try:
        redirect = client.redirect_of(given)
    except InvalidRedirectUriError as error:
        raise RefusedRequestError(InvalidInputError(Message.of("bad_redirect"))) from error
    state = fields.get("state")

    def refuse(error: str, description: str) -> RefusedRequestError:
        sent = state if state is not None and len(state) <= MAX_STATE_CHARACTERS else None
        answer = {"error": error, "error_description": description}
        return RefusedRequestError(f"{error}: {description}", _back(redirect, issuer, sent, answer))

    names = [name for name, _ in fields.multi_items() if name not in OWN]
    if len(names) != len(set(names)) or (state is not None and len(state) > MAX_STATE_CHARACTERS):
        raise refuse("invalid_request", "a parameter is repeated or too long")
    if fields.get("response_type") != "code":
        raise refuse("unsupported_response_type", "response_type must be code")
    challenge = fields.get("code_challenge", "")
    if fields.get("code_challenge_method") != "S256" or not CHALLENGE.fullmatch(challenge):
        raise refuse("invalid_request", "PKCE is needed, with code_challenge_method S256")
    resource = fields.get("resource") or resource_of(drive.settings)
    if not is_resource(drive, resource):
        raise refuse("invalid_target", "resource is not that of this drive")
    scopes = _scopes(fields.get("scope"))
    if not scopes:
        raise refuse("invalid_scope", "scope has none of this drive")
    asked = Asked(client.program, redirect, given is not None, challenge, resource)
    return AccessRequest(asked, scopes, state, issuer)


async def _client(drive: Drive, client_id: str) -> Client:
    try:
        program = await drive.clients.find(client_id)
    except DriveError as error:
        raise RefusedRequestError(error) from error
    if program is None:
        raise RefusedRequestError(InvalidInputError(Message.of("unknown_program")))
    return client_of(program)


def _scopes(words: str | None) -> tuple[Scope, ...]:
    """Return the drive's scopes among the words; the first ones for a program that names none."""
    if not words or not words.strip():
        return FIRST_SCOPES
    named = set(words.split())
    return tuple(scope for scope in Scope if scope in ALL_SCOPES and scope.value in named)


def _back(redirect_uri: str, issuer: str, state: str | None, answer: dict[str, str]) -> str:
    told = {**answer, "iss": issuer}
    return with_answer(redirect_uri, told if state is None else {**told, "state": state})
