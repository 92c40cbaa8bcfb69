"""Metadata and challenges that lead programs to a token (RFC 8414, RFC 9728, RFC 6750 section 3)."""

from typing import Any, Final

from fastapi import APIRouter

from drive_server.http.access import DriveDep
from drive_server.kernel.access import ALL_SCOPES, Scope
from drive_server.kernel.context import public_address
from drive_server.kernel.http.challenges import FIRST_SCOPES, MCP_METADATA_PATH, MCP_PATH, METADATA_PATH, issuer_of
from drive_server.kernel.settings import DriveSettings

SERVER_METADATA_PATH: Final = "/.well-known/oauth-authorization-server"
AUTHORIZE: Final = "/authorize"
TOKEN: Final = "/token"  # noqa: S105 - a path
REGISTER: Final = "/register"
REVOKE: Final = "/revoke"
RESOURCE_NAME: Final = "Drive"
PROGRAM_SCOPES: Final = [scope for scope in Scope if scope in ALL_SCOPES]
"""The scopes that a program may ask for."""
AUTH_METHODS: Final = ["none", "client_secret_post", "client_secret_basic"]

router = APIRouter(include_in_schema=False)


def resource_of(settings: DriveSettings) -> str:
    """Return the name of the MCP server as an OAuth resource: its address."""
    return settings.mcp_url if settings.jwt_issuer else f"{public_address(settings.resolved_public_url)}{MCP_PATH}"


@router.get(MCP_METADATA_PATH)
@router.get(METADATA_PATH)
async def protected_resource(drive: DriveDep) -> dict[str, Any]:
    """Describe the drive as an OAuth resource.

    Raises `NotFoundError` without an authorization server: clients would try to register with the drive, in vain.
    """
    settings = drive.settings
    return {
        "resource": resource_of(settings),
        "scopes_supported": PROGRAM_SCOPES if settings.jwt_issuer else list(FIRST_SCOPES),
        "bearer_methods_supported": ["header"],
        "resource_name": RESOURCE_NAME,
        "authorization_servers": [settings.jwt_issuer or issuer_of(settings)],
    }


@router.get(SERVER_METADATA_PATH + MCP_PATH)
@router.get(SERVER_METADATA_PATH)
async def authorization_server(drive: DriveDep) -> dict[str, Any]:
    """Describe the service as an OAuth authorization server (RFC 8414). Raises `NotFoundError` where it is none."""
    issuer = issuer_of(drive.settings)
    return {
        "issuer": issuer,
        "authorization_endpoint": issuer + AUTHORIZE,
        "token_endpoint": issuer + TOKEN,
        "registration_endpoint": issuer + REGISTER,
        "revocation_endpoint": issuer + REVOKE,
        "scopes_supported": PROGRAM_SCOPES,
        "response_types_supported": ["code"],
        "response_modes_supported": ["query"],
        "grant_types_supported": ["authorization_code", "refresh_token"],
        "token_endpoint_auth_methods_supported": AUTH_METHODS,
        "revocation_endpoint_auth_methods_supported": AUTH_METHODS,
        "code_challenge_methods_supported": ["S256"],
        "authorization_response_iss_parameter_supported": True,
        "client_id_metadata_document_supported": True,
        "ui_locales_supported": ["en", "zh-CN"],
    }
