"""Every route of the drive with every scope: the table says which a key needs, and each is tried without it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

    import httpx

    from tests.drive_server.http.service import Service

SCOPES = ("read", "write", "share", "delete")
METHODS = ("get", "put", "post", "patch", "delete")
SHA256 = "0" * 64
FORBIDDEN = 403
TUS = {"Tus-Resumable": "1.0.0", "Upload-Length": "1", "Upload-Offset": "0", "Upload-Metadata": "filename YQ=="}
NEEDED: dict[str, str] = {
    "GET /drive/search": "r",
    "GET /drive/index": "r",
    "GET /drive/contacts": "r",
    "GET /drive/contacts/account": "s",
    "GET /drive/index/events": "r",
    "GET /drive/files/{file_ref}/versions": "r",
    "GET /drive/files/{file_ref}/versions/{number}/content": "r",
    "GET /drive/files/{file_ref}/versions/{number}/diff": "r",
    "GET /drive/files/{file_ref}/thumbnail": "r",
    "GET /drive/files/{file_ref}/text": "r",
    "GET /drive/files/{file_ref}/content": "r",
    "GET /drive/changes": "r",
    "GET /drive/items/{item_ref}/shares": "r",
    "GET /drive/archive": "r",
    "GET /drive/events": "r",
    "GET /drive/export": "r",
    "GET /drive/export/contents/{sha256}": "r",
    "GET /drive/trash": "r",
    "GET /drive/recent": "r",
    "GET /drive/shared": "r",
    "GET /drive/starred": "r",
    "GET /drive/items/{item_ref}/index": "r",
    "GET /drive/items/{item_ref}/children": "r",
    "GET /drive/items/{item_ref}": "r",
    "PATCH /auth/keys/{key_id}": "r",
    "GET /users": "r",
    "GET /groups": "r",
    "GET /notices": "r",
    "POST /notices/read": "r",
    "GET /notices/events": "r",
    "POST /drive/index/rebuild": "w",
    "POST /drive/files/{file_ref}/versions/{number}/restore": "w",
    "POST /drive/files": "w",
    "PUT /drive/files/{file_ref}/content": "w",
    "PATCH /drive/files/{file_ref}/content": "w",
    "POST /drive/uploads": "w",
    "PATCH /drive/uploads/{upload_id}": "w",
    "DELETE /drive/uploads/{upload_id}": "w",
    "POST /drive/changes/{change_id}/undo": "w",
    "POST /drive/changes/{change_id}/redo": "w",
    "POST /drive/imports/missing": "w",
    "PUT /drive/imports/contents/{sha256}": "w",
    "POST /drive/imports": "w",
    "POST /drive/items/bulk": "w",
    "PUT /drive/items/{item_ref}/star": "w",
    "DELETE /drive/items/{item_ref}/star": "w",
    "PATCH /drive/items/{item_ref}": "w",
    "POST /drive/items": "w",
    "POST /drive/items/{item_ref}/restore": "w",
    "PATCH /auth/me": "w",
    "POST /drive/items/{item_ref}/shares": "s",
    "PATCH /drive/items/{item_ref}/shares/{who}": "s",
    "DELETE /drive/items/{item_ref}/shares/{who}": "s",
    "DELETE /drive/trash": "d",
    "DELETE /drive/items/{item_ref}": "d",
    "POST /drive/items/{item_ref}/trash": "d",
    "POST /drive/items/{item_ref}/copy": "rw",
    "POST /auth/keys": "rw",
    "PUT /auth/password": "rwsd",
    "POST /auth/passkeys/options": "rwsd",
    "POST /auth/passkeys": "rwsd",
    "DELETE /auth/passkeys/{passkey_id}": "rwsd",
    "POST /users": "rwsd",
    "PATCH /users/{user}": "rwsd",
    "DELETE /users/{user}": "rwsd",
    "POST /users/{user}/password-reset": "rwsd",
    "POST /groups": "rwsd",
    "PATCH /groups/{group}": "rwsd",
    "DELETE /groups/{group}": "rwsd",
}
"""The initials of the scopes that a route needs: `r`, `w`, `s`, `d`."""
NEEDLESS = {
    "GET /auth/ways",
    "POST /auth/login",
    "POST /auth/password/forgot",
    "POST /auth/login-links",
    "POST /auth/logout",
    "GET /auth/me",
    "GET /auth/sessions",
    "DELETE /auth/sessions",
    "DELETE /auth/sessions/{session_id}",
    "GET /auth/keys",
    "DELETE /auth/keys/{key_id}",
    "GET /auth/passkeys",
    "POST /auth/login/passkey/options",
    "POST /auth/login/passkey",
    "POST /auth/proof/passkey",
    "GET /auth/proof",
    "POST /auth/proof",
    "POST /links/{token}/pass",
    "GET /links/{token}",
    "GET /links/{token}/children",
    "GET /links/{token}/items/{item_id}",
    "GET /links/{token}/items/{item_id}/children",
    "GET /links/{token}/items/{item_id}/content",
    "PUT /links/{token}/items/{item_id}/content",
    "GET /links/{token}/items/{item_id}/thumbnail",
    "GET /links/{token}/items/{item_id}/text",
    "POST /links/{token}/files",
}
"""Routes that need no scope of their own: who logs in or out, the caller's own keys and browsers, and links.

Of keys and browsers a key ends none that has more scopes than itself.
"""


def key_of(method: str, path: str) -> str:
    return f"{method.upper()} {path.removeprefix('/api')}"


def operations(document: dict[str, Any]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    for path, found in document["paths"].items():
        for method, operation in found.items():
            if method in METHODS:
                yield method, path, operation


def value_of(parameter: dict[str, Any], folder_id: str) -> str:
    schema = parameter.get("schema", {})
    if parameter["name"] == "sha256":
        return SHA256
    if parameter["name"].endswith(("_ref", "folder_id", "parent_id")):
        return folder_id
    return str(schema.get("enum", [1 if schema.get("type") == "integer" else "x"])[0])


def body_of(operation: dict[str, Any], schemas: dict[str, Any]) -> Any:
    content = operation.get("requestBody", {}).get("content", {}).get("application/json")
    if content is None:
        return None
    schema = schemas.get(content["schema"].get("$ref", "").rpartition("/")[2], content["schema"])
    return (schema.get("examples") or content.get("examples") or [{}])[0]


async def lacks_scope(
    client: httpx.AsyncClient, method: str, path: str, operation: dict[str, Any], known: tuple[str, dict[str, Any]]
) -> bool:
    folder_id, schemas = known
    query: dict[str, str] = {}
    for parameter in operation.get("parameters", ()):
        if parameter["in"] == "path":
            path = path.replace(f"{{{parameter['name']}}}", value_of(parameter, folder_id))
        elif parameter["in"] == "query" and parameter.get("required"):
            query[parameter["name"]] = value_of(parameter, folder_id)
    headers = TUS if "/uploads" in path else {}
    if "/uploads" in path and method == "patch":
        headers = {**TUS, "Content-Type": "application/offset+octet-stream"}
    body = body_of(operation, schemas)
    async with client.stream(method, path, params=query, json=body, headers=headers) as response:
        is_refused = response.status_code == FORBIDDEN
        return is_refused and json.loads(await response.aread())["code"] == "missing_scope"


async def keys_without(service: Service) -> dict[str, str]:
    found: dict[str, str] = {}
    async with service.client() as owner:
        for scope in SCOPES:
            others = [one for one in SCOPES if one != scope]
            made = await owner.post("/api/auth/keys", json={"name": scope, "scopes": others})
            found[scope] = made.json()["key"]
    return found


async def test_each_route_refuses_a_key_without_the_scopes_that_the_table_says(service: Service) -> None:
    async with service.client() as owner:
        document = (await owner.get("/openapi.json")).json()
        made = await owner.post("/api/drive/items", json={"kind": "folder", "name": "A"})
    known = made.json()["id"], document["components"]["schemas"]
    keys, found = await keys_without(service), dict[str, str]()
    routes = [*operations(document)]
    assert {key_of(method, path) for method, path, _ in routes} == {*NEEDED, *NEEDLESS}
    for method, path, operation in routes:
        needed = ""
        for scope, key in keys.items():
            async with service.client(key) as client:
                if await lacks_scope(client, method, path, operation, known):
                    needed += scope[0]
        if needed:
            found[key_of(method, path)] = needed
    assert found == NEEDED


@pytest.mark.parametrize("method", ["PATCH", "DELETE"])
async def test_a_method_in_a_header_needs_what_the_method_needs(service: Service, method: str) -> None:
    key = (await keys_without(service))["write"]
    headers = {**TUS, "Content-Type": "application/offset+octet-stream", "X-HTTP-Method-Override": method}
    async with service.client() as owner, service.client(key) as reader, service.client("") as browser:
        url = f"/api/drive/{(await owner.post('/api/drive/uploads', headers=TUS)).headers['location']}"
        await browser.post("/api/auth/login", json={"token": service.token})
        refused = await reader.post(url, content=b"x", headers=headers)
        foreign = await browser.post(url, content=b"x", headers={**headers, "Sec-Fetch-Site": "cross-site"})
        kept = await owner.head(url, headers=TUS)
    assert (refused.status_code, refused.json()["code"]) == (403, "missing_scope")
    assert (foreign.status_code, foreign.json()["code"]) == (403, "forbidden")
    assert (kept.status_code, kept.headers["upload-offset"]) == (200, "0")


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/api/drive/items/root/children?limit=none"),
        ("GET", "/api/drive/files/x/content?version=none"),
        ("POST", "/api/drive/files"),
        ("PUT", "/api/drive/files/x/content"),
        ("PATCH", "/api/drive/files/x/content"),
    ],
)
async def test_a_stranger_hears_that_first_whatever_else_is_wrong(service: Service, method: str, path: str) -> None:
    headers = {"If-Match": '"a", "b"'}
    for key in ("", "dak_unknown"):
        async with service.client(key) as stranger:
            refused = await stranger.request(method, path, headers=headers, json={"edits": 1})
        assert (refused.status_code, refused.json()["code"]) == (401, "unauthenticated"), refused.text
    async with service.client() as owner:
        answer = await owner.request(method, path, headers=headers, json={"edits": 1})
    assert answer.status_code == 422, answer.text
