"""Metadata and challenges that lead programs to a token (RFC 9728, RFC 6750 section 3)."""

from typing import Any, Final

from fastapi import APIRouter

from drive_server.access import ALL_SCOPES, Scope
from drive_server.errors import NotFoundError
from drive_server.http.access import DriveDep
from drive_server.settings import DriveSettings

METADATA_PATH: Final = "/.well-known/oauth-protected-resource"
MCP_METADATA_PATH: Final = METADATA_PATH + "/mcp"
RESOURCE_NAME: Final = "Drive"
FIRST_SCOPES: Final = (Scope.READ, Scope.WRITE)
"""The scopes to ask for at first; a challenge names the others when a program needs them."""

router = APIRouter(include_in_schema=False)


@router.get(MCP_METADATA_PATH)
@router.get(METADATA_PATH)
async def protected_resource(drive: DriveDep) -> dict[str, Any]:
    """Describe the drive as an OAuth resource.

    Raises `NotFoundError` without an issuer: clients would try to register with the drive itself, in vain.
    """
    settings = drive.settings
    if not settings.jwt_issuer:
        raise NotFoundError("This drive takes no tokens of an issuer.", hint="Use an API key.")
    return {
        "resource": settings.mcp_url,
        "scopes_supported": [scope for scope in Scope if scope in ALL_SCOPES],
        "bearer_methods_supported": ["header"],
        "resource_name": RESOURCE_NAME,
        "authorization_servers": [settings.jwt_issuer],
    }


def challenge(
    settings: DriveSettings, *, error: str = "", description: str = "", scopes: tuple[str, ...] = FIRST_SCOPES
) -> str:
    """Return the value of WWW-Authenticate.

    `error` is `invalid_token` or `insufficient_scope`, empty for a request without a token; `description` is ASCII
    without quotes; `scopes` is all that the next token should have. Only with an issuer it leads to the metadata.
    """
    metadata = settings.resolved_public_url + MCP_METADATA_PATH
    parts = {
        "realm": "drive",
        "error": error,
        "error_description": description,
        "scope": " ".join(scopes),
        "resource_metadata": metadata if settings.jwt_issuer else "",
    }
    return "Bearer " + ", ".join(f'{name}="{value}"' for name, value in parts.items() if value)
