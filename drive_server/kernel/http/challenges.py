"""Challenges that lead programs to a token (RFC 6750, section 3), and the names of the service in them."""

from typing import Final
from urllib.parse import urlsplit

from drive_server.kernel.access import Scope
from drive_server.kernel.context import public_address
from drive_server.kernel.errors import NotFoundError
from drive_server.kernel.messages import Message
from drive_server.kernel.settings import DriveSettings

MCP_PATH: Final = "/mcp"
METADATA_PATH: Final = "/.well-known/oauth-protected-resource"
MCP_METADATA_PATH: Final = METADATA_PATH + MCP_PATH
FIRST_SCOPES: Final = (Scope.READ, Scope.WRITE)
"""The scopes to ask for at first; a challenge names the others when a program needs them."""
LOOPBACK: Final = frozenset({"127.0.0.1", "::1", "localhost"})


def issuer_of(settings: DriveSettings) -> str:
    """Return the name of this service as an authorization server: its address, without a slash at the end.

    Raises `NotFoundError` where it is none: by the settings, or because tokens could be read on the way to it.
    """
    address = public_address(settings.resolved_public_url)
    parts = urlsplit(address)
    if not settings.lets_programs_sign_in or not (parts.scheme == "https" or parts.hostname in LOOPBACK):
        raise NotFoundError(Message.of("no_sign_in_of_programs"))
    return address


def challenge(
    settings: DriveSettings,
    *,
    error: str = "",
    description: str = "",
    scopes: tuple[str, ...] = FIRST_SCOPES,
    is_for_mcp: bool = False,
) -> str:
    """Return the value of WWW-Authenticate.

    `error` is `invalid_token` or `insufficient_scope`, empty for a request without a token; `description` is ASCII
    without quotes; `scopes` is all that the next token should have. It leads to the metadata with an issuer, and where
    the service itself gives tokens, which are for MCP alone.
    """
    parts = {
        "realm": "drive",
        "error": error,
        "error_description": description,
        "scope": " ".join(scopes),
        "resource_metadata": _metadata_address(settings, is_for_mcp=is_for_mcp),
    }
    return "Bearer " + ", ".join(f'{name}="{value}"' for name, value in parts.items() if value)


def _metadata_address(settings: DriveSettings, *, is_for_mcp: bool) -> str:
    if settings.jwt_issuer:
        return settings.resolved_public_url + MCP_METADATA_PATH
    try:
        return issuer_of(settings) + MCP_METADATA_PATH if is_for_mcp else ""
    except NotFoundError:
        return ""
