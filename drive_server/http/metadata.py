"""Metadata and challenges that lead programs to a token (RFC 9728, RFC 6750 section 3)."""

from typing import Any, Final

from fastapi import APIRouter

from drive_server.access import Scope
from drive_server.context import public_address
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
    """Describe the drive as an OAuth resource. Without an issuer in the settings there is nowhere to get a token."""
    settings = drive.settings
    described: dict[str, Any] = {
        "resource": f"{public_address(settings.resolved_public_url)}/mcp",
        "scopes_supported": list(Scope),
        "bearer_methods_supported": ["header"],
        "resource_name": RESOURCE_NAME,
    }
    if settings.jwt_issuer:
        described["authorization_servers"] = [settings.jwt_issuer]
    return described


def challenge(
    settings: DriveSettings, *, error: str = "", description: str = "", scopes: tuple[str, ...] = FIRST_SCOPES
) -> str:
    """Return the value of WWW-Authenticate.

    `error` is `invalid_token` or `insufficient_scope`, empty for a request without a token; `description` is ASCII
    without quotes; `scopes` is all that the next token should have.
    """
    parts = {
        "realm": "drive",
        "error": error,
        "error_description": description,
        "scope": " ".join(scopes),
        "resource_metadata": public_address(settings.resolved_public_url) + MCP_METADATA_PATH,
    }
    return "Bearer " + ", ".join(f'{name}="{value}"' for name, value in parts.items() if value)
