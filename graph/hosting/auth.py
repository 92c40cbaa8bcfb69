"""The login of `langgraph dev`, which it calls for each request: see `auth` in langgraph.json.

Without `AGENT_DEV_LOGIN` everybody is the drive's local owner. With it a client shows a key of the drive: its person
and scopes come from there, and threads, assistants and stored values are theirs alone. Studio's own way in
(`x-auth-scheme: langsmith`) is off in langgraph.json: on a local server it asks for nothing.
"""

from typing import Any, Final

from langgraph_sdk import Auth

from graph.build import LOCAL_USER, hosted

BEARER: Final = "bearer "
OWNER: Final = "owner"
WRITES: Final = frozenset({"create", "create_run", "update"})

auth: Final = Auth()


@auth.authenticate
async def authenticate(authorization: str | None, headers: dict[bytes, bytes]) -> Auth.types.MinimalUserDict:
    """Return the person of a request. Raises the host's `HTTPException` (401) without a valid key."""
    server = await hosted()
    if not server.has_login:
        person = LOCAL_USER
    else:
        secret = _secret_in(authorization or "", headers)
        found = await server.drive.holder(secret) if secret else None
        if found is None:
            raise Auth.exceptions.HTTPException(401, "Send a key of the drive, as a bearer token or as x-api-key.")
        person = found
    return {
        "identity": person.user_id,
        "display_name": person.email,
        "permissions": [*person.scopes],
        "is_authenticated": True,
    }


def _secret_in(authorization: str, headers: dict[bytes, bytes]) -> str:
    if authorization.lower().startswith(BEARER):
        return authorization[len(BEARER) :].strip()
    return headers.get(b"x-api-key", b"").decode("latin-1")


@auth.on
async def own_things(ctx: Auth.types.AuthContext, value: dict[str, Any]) -> Auth.types.FilterType | None:
    """Stamp new things with their owner, and show a person no others. Without a login there is one owner."""
    if not (await hosted()).has_login or (ctx.resource == "assistants" and ctx.action in {"read", "search"}):
        return None  # the built-in assistant has no owner
    metadata = value.get("metadata")
    if ctx.action in WRITES and metadata is not None:
        metadata[OWNER] = ctx.user.identity  # the host stores this very dictionary
    return {OWNER: ctx.user.identity}


@auth.on.store
async def own_values(ctx: Auth.types.AuthContext, value: dict[str, Any]) -> None:
    """Put the namespaces of stored values below the person's own."""
    if not (await hosted()).has_login:
        return
    given = tuple(value.get("namespace") or ())
    value["namespace"] = given if given[:1] == (ctx.user.identity,) else (ctx.user.identity, *given)
