"""Challenge a client whose token lacks a scope (MCP 2025-11-25, authorization, "Scope Challenge Handling")."""

from starlette.responses import Response

from drive_server.kernel.access import Principal, Scope
from drive_server.kernel.http.challenges import challenge
from drive_server.kernel.http.problem import problem
from drive_server.kernel.settings import DriveSettings
from drive_server.services.identity.keys import ACCESS_METHOD
from drive_server.services.identity.service import TOKEN_METHOD


def scope_challenge(settings: DriveSettings, caller: Principal, needed: Scope | None) -> Response | None:
    """Return the challenge for a request that needs a scope which this token lacks, None where the call may begin."""
    if needed is None or needed in caller.scopes or caller.method not in {TOKEN_METHOD, ACCESS_METHOD}:
        return None
    wanted = tuple(scope for scope in Scope if scope == needed or scope in caller.scopes)
    description = f"This needs {needed}."
    header = challenge(settings, error="insufficient_scope", description=description, scopes=wanted, is_for_mcp=True)
    return problem(
        403,
        "missing_scope",
        f"This token lacks the scope '{needed}'.",
        "Get a token with the scopes that WWW-Authenticate names.",
        {"scope": str(needed)},
        {"WWW-Authenticate": header},
    )
