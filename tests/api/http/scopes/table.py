"""The routes of the assistant's service with the scopes that they need; the drive's are in its own tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fastapi.routing import iter_route_contexts

from tests.drive_server.http.test_own_site import FORMS
from tests.drive_server.http.test_scopes import NEEDED as DRIVES_NEEDED
from tests.drive_server.http.test_scopes import NEEDLESS as DRIVES_NEEDLESS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fastapi import FastAPI

NEEDED: dict[str, str] = {
    "POST /chat": "r",
    "GET /status": "r",
    "GET /runs": "r",
    "GET /runs/{run_id}": "r",
    "GET /runs/{run_id}/events": "r",
    "GET /runs/{run_id}/changes": "r",
    "GET /runs/{run_id}/context": "r",
    "GET /runs/{run_id}/audit": "r",
    "POST /runs/{run_id}/cancel": "rwsd",
    "POST /runs/{run_id}/undo": "rw",
    "POST /runs/{run_id}/redo": "rw",
    "GET /approvals": "r",
    "GET /approvals/events": "r",
    "GET /approvals/{approval_id}": "r",
    "POST /approvals/{approval_id}": "rd",
    "POST /messages/{message_id}/tool-confirm": "rd",
    "GET /grants": "r",
    "DELETE /grants/{grant_id}": "rd",
    "GET /threads": "r",
    "GET /threads/{thread_id}": "r",
    "GET /threads/{thread_id}/export": "r",
    "GET /threads/{thread_id}/results/{reference}": "r",
    "PATCH /threads/{thread_id}": "rw",
    "DELETE /threads/{thread_id}": "rw",
    "POST /threads/{thread_id}/undo": "rw",
    "POST /threads/import": "rw",
    "POST /threads/{thread_id}/messages/{message_id}/edit": "r",
    "POST /threads/{thread_id}/messages/{message_id}/regenerate": "r",
    "GET /threads/{thread_id}/messages/{message_id}/versions": "r",
    "GET /threads/{thread_id}/plan": "r",
    "PATCH /threads/{thread_id}/plan": "rwsd",
    "POST /threads/{thread_id}/plan/pause": "rwsd",
    "POST /threads/{thread_id}/plan/resume": "rwsd",
    "POST /threads/{thread_id}/plan/stop": "rwsd",
    "GET /memories": "r",
    "GET /memories/{memory_id}": "r",
    "PATCH /memories/{memory_id}": "rw",
    "DELETE /memories/{memory_id}": "rw",
    "POST /memories/import": "rw",
    "GET /models": "r",
    "GET /mcp-servers": "r",
    "POST /mcp-servers": "rwd",
    "POST /mcp-servers/import": "rw",
    "GET /mcp-servers/events": "r",
    "GET /mcp-servers/{server_id}": "r",
    "PUT /mcp-servers/{server_id}": "rwd",
    "DELETE /mcp-servers/{server_id}": "rw",
    "POST /mcp-servers/{server_id}/connect": "rw",
    "GET /mcp-servers/{server_id}/tools": "r",
    "PUT /mcp-servers/{server_id}/tools": "rwd",
    "POST /mcp-servers/{server_id}/authorize": "rw",
    "DELETE /mcp-servers/{server_id}/authorize": "rw",
    "POST /mcp-servers/{server_id}/callback": "rw",
    "GET /mcp-servers/{server_id}/resources": "r",
    "GET /mcp-servers/{server_id}/prompts": "r",
    "POST /mcp-servers/{server_id}/prompts": "r",
    "GET /assistants": "r",
    "POST /assistants": "rw",
    "GET /assistants/{assistant_id}": "r",
    "PATCH /assistants/{assistant_id}": "rw",
    "DELETE /assistants/{assistant_id}": "rw",
    "GET /assistants/{assistant_id}/mcp-servers": "r",
    "PUT /assistants/{assistant_id}/mcp-servers": "rw",
}
"""The initials of the scopes: `r`, `w`, `s`, `d`. Of what decides about a run or a grant, of one that has them all."""
TALKS = {
    "POST /chat",
    "POST /threads/{thread_id}/messages/{message_id}/edit",
    "POST /threads/{thread_id}/messages/{message_id}/regenerate",
    "POST /mcp-servers/{server_id}/prompts",
}
"""Routes that a reading key may send to: it talks with the assistant, whose run has the scopes of the key."""
LANGGRAPH: dict[str, str] = {
    "POST /assistants/search": "r",
    "POST /assistants/count": "r",
    "GET /assistants/{assistant_id}": "r",
    "GET /assistants/{assistant_id}/graph": "r",
    "GET /assistants/{assistant_id}/schemas": "r",
    "GET /assistants/{assistant_id}/subgraphs": "r",
    "GET /assistants/{assistant_id}/subgraphs/{namespace}": "r",
    "POST /assistants/{assistant_id}/versions": "r",
    "POST /assistants/{assistant_id}/latest": "r",
    "POST /assistants": "r",
    "PATCH /assistants/{assistant_id}": "r",
    "DELETE /assistants/{assistant_id}": "r",
    "POST /threads": "r",
    "POST /threads/search": "r",
    "POST /threads/count": "r",
    "POST /threads/prune": "rw",
    "POST /threads/{thread_id}/copy": "rw",
    "GET /threads/{thread_id}": "r",
    "PATCH /threads/{thread_id}": "rw",
    "DELETE /threads/{thread_id}": "rw",
    "GET /threads/{thread_id}/state": "r",
    "GET /threads/{thread_id}/state/{checkpoint_id}": "r",
    "POST /threads/{thread_id}/state": "r",
    "POST /threads/{thread_id}/state/checkpoint": "r",
    "GET /threads/{thread_id}/history": "r",
    "POST /threads/{thread_id}/history": "r",
    "GET /threads/{thread_id}/runs": "r",
    "POST /threads/{thread_id}/runs": "r",
    "POST /threads/{thread_id}/runs/stream": "r",
    "POST /threads/{thread_id}/runs/wait": "r",
    "GET /threads/{thread_id}/runs/{run_id}": "r",
    "DELETE /threads/{thread_id}/runs/{run_id}": "rw",
    "POST /threads/{thread_id}/runs/{run_id}/cancel": "r",
    "GET /threads/{thread_id}/runs/{run_id}/join": "r",
    "GET /threads/{thread_id}/runs/{run_id}/stream": "r",
    "POST /threads/{thread_id}/commands": "r",
    "GET /threads/{thread_id}/stream": "r",
    "POST /threads/{thread_id}/stream/events": "r",
    "POST /runs": "r",
    "POST /runs/batch": "r",
    "POST /runs/stream": "r",
    "POST /runs/wait": "r",
    "POST /runs/cancel": "r",
    "PUT /store/items": "rw",
    "GET /store/items": "r",
    "DELETE /store/items": "rw",
    "POST /store/items/search": "r",
    "POST /store/namespaces": "r",
    "POST /runs/crons": "r",
    "POST /runs/crons/search": "r",
    "POST /runs/crons/count": "r",
    "PATCH /runs/crons/{cron_id}": "r",
    "DELETE /runs/crons/{cron_id}": "r",
    "POST /threads/{thread_id}/runs/crons": "r",
}
"""LangGraph's API at the root, whose searches are posts; `tests/api/langgraph/test_scopes.py` tries its keys."""
NEEDLESS = {"GET /mcp-servers/{server_id}/callback"}
"""Routes below `/api` without a caller: a page that says nothing of anybody, and asks to go on."""
PUBLIC = {
    "GET /",
    "GET /assets/{version}/{name:path}",
    "GET /openapi.json",
    "GET /healthz",
    "GET /readyz",
    "GET /ok",
    "GET /info",
    "GET /icons/{name}",
    "GET /.well-known/oauth-protected-resource",
    "GET /.well-known/oauth-protected-resource/mcp",
    "GET /.well-known/oauth-authorization-server",
    "GET /.well-known/oauth-authorization-server/mcp",
    "GET /authorize",
    "GET /login",
    "GET /login/{secret}",
    "GET /login/oidc",
    "GET /login/oidc/callback",
    "GET /password/{token}",
    "GET /connect/{token}",
    "GET /approve/{token}",
    "GET /s/{token}",
    "GET /d/{token}",
    "GET /f/{file_id}",
    "GET /f/{file_id}/document",
}
"""Pages and addresses at the root. They change nothing, but for the sign-in that the issuer leads back to."""
OPENAI = {
    "POST /v1/chat/completions": "r",
    "POST /v1/responses": "r",
    "GET /v1/responses/{response_id}": "r",
    "GET /v1/models": "r",
    "GET /v1/models/{model:path}": "r",
}
"""OpenAI's API, which has its own shape of errors: `tests/api/openai/test_keys.py` tries keys that lack a scope."""
FOR_ADMINISTRATORS = {"GET /metrics"}
"""At the root as well, and with a key of an administrator that may read: `test_scrape.py` tries others."""
OVERRIDDEN = {"POST /api/drive/uploads/{upload_id}"}
"""It does what the method in a header does, with the scopes of that one."""
PAGES_WITH_FORMS = {
    "/authorize",
    "/login",
    "/login/{secret}",
    "/password/{token}",
    "/connect/{token}",
    "/s/{token}",
    "/f/{file_id}",
}
FOR_PROGRAMS = {"POST /register", "POST /token", "POST /revoke"}
"""What a program asks for itself, with what a person gave it: `tests/drive_server/http/oauth` tries others."""
DOORS = {"/dav", "/dav/{path:path}", "/s/{token}/dav", "/s/{token}/dav/{path:path}", "/mcp", "/mcp/"}
"""Doors with tables of methods or tools of their own."""


def routes_of(app: FastAPI) -> set[str]:
    """Return each route of the application as method and path; a door that takes any method as its path."""
    return {name for route in iter_route_contexts(app.routes) for name in _names(route.path or "", route.methods)}


def known_routes() -> set[str]:
    """Return the routes that stand in one of the tables."""
    apis = {*NEEDED, *NEEDLESS, *DRIVES_NEEDED, *DRIVES_NEEDLESS}
    forms = {f"POST {path}" for path in PAGES_WITH_FORMS}
    assert len(FORMS) == len(PAGES_WITH_FORMS)
    return (
        {_below_api(name) for name in apis}
        | {*LANGGRAPH, *OPENAI}
        | PUBLIC
        | FOR_ADMINISTRATORS
        | OVERRIDDEN
        | forms
        | DOORS
        | FOR_PROGRAMS
    )


def _below_api(name: str) -> str:
    method, path = name.split(" ")
    return f"{method} /api{path}"


def _names(path: str, methods: set[str] | None) -> Iterator[str]:
    if methods is None:
        yield path
        return
    # The drive's tables have the paths of OpenAPI, which says nothing of slashes at the end or of whole paths in one.
    is_api = path.startswith("/api/")
    plain = path.replace(":path}", "}").rstrip("/") if is_api else path
    for method in methods - {"HEAD", "OPTIONS"}:
        yield f"{method} {plain}"
