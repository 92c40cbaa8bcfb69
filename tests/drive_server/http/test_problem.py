from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from fastapi import FastAPI

from drive_server.http.app import include_routes, install_problem_handlers, mount_mcp
from drive_server.kernel.errors import DriveError
from drive_server.kernel.http.problem import CODES, problem_of

if TYPE_CHECKING:
    import httpx

    from tests.drive_server.http.service import Service

FIELDS = {"type", "title", "status", "detail", "code", "hint", "details"}


def every_error(base: type[DriveError]) -> list[type[DriveError]]:
    found = [base, *(error for below in base.__subclasses__() for error in every_error(below))]
    return [error for error in found if error.__module__ == DriveError.__module__]


@pytest.mark.parametrize("error", every_error(DriveError))
def test_every_error_of_the_drive_is_a_problem(error: type[DriveError]) -> None:
    response = problem_of(error("It failed.", hint="Do this.", details={"a": 1}))

    assert response.status_code == error.status
    assert response.media_type == "application/problem+json"
    assert error.code.encode() in response.body
    assert ("www-authenticate" in response.headers) == (error.status == 401)
    assert ("retry-after" in response.headers) == (error.status == 429)


async def test_errors_of_the_framework_are_problems_too(owner_client: httpx.AsyncClient) -> None:
    for method, path, status in (
        ("GET", "/nowhere", 404),
        ("GET", "/api/nowhere", 404),
        ("PUT", "/api/drive/items", 405),
        ("DELETE", "/api/auth/me", 405),
        ("DELETE", "/api/drive/files/x/content", 405),
    ):
        response = await owner_client.request(method, path)

        assert response.status_code == status
        assert response.headers["content-type"] == "application/problem+json"
        assert response.json().keys() == FIELDS
        assert response.json()["code"] == CODES[status]


@pytest.mark.parametrize(
    ("method", "path", "said"),
    [
        ("GET", "/api/nowhere", "找不到"),
        ("PUT", "/api/drive/items", "不支持"),
        ("POST", "/api/drive/items", "类型不对"),
        ("GET", "/api/drive/items/none", "没有这一项"),
        ("GET", "/api/drive/items/a%00", "没有任何内容"),
        ("GET", "/api/drive/items?folder_id=%00", "控制字符"),
    ],
)
async def test_a_problem_is_told_in_the_language_of_the_request(
    owner_client: httpx.AsyncClient, method: str, path: str, said: str
) -> None:
    body = [1] if method == "POST" else None
    english = await owner_client.request(method, path, json=body)
    chinese = await owner_client.request(method, path, json=body, headers={"Accept-Language": "zh-TW, en;q=0.1"})

    assert said in chinese.json()["detail"]
    assert (english.headers["content-language"], chinese.headers["content-language"]) == ("en", "zh-CN")
    assert english.json()["detail"].isascii()
    assert english.json()["code"] == chinese.json()["code"]


async def test_a_bad_body_is_refused_by_its_fields_and_not_repeated(owner_client: httpx.AsyncClient) -> None:
    secret = "hunter2 " * 20
    shaped = await owner_client.post("/api/drive/items", json={"kind": secret, "name": {"a": secret}})
    broken = await owner_client.post(
        "/api/drive/items", content='{"kind": "' + secret, headers={"Content-Type": "application/json"}
    )
    deep = await owner_client.post(
        "/api/drive/items", content="[" * 50_000, headers={"Content-Type": "application/json"}
    )

    assert [found["where"] for found in shaped.json()["details"]["errors"]] == ["body.kind", "body.name"]
    assert shaped.status_code == broken.status_code == 422
    assert deep.status_code in {400, 422}
    for response in (shaped, broken, deep):
        assert response.headers["content-type"] == "application/problem+json"
        assert "hunter2" not in response.text


@pytest.mark.parametrize("body", [b"\xff\xfe\x00", b'{"name": "\x80"}', b"[" * 100_000])
async def test_a_body_that_is_no_text_or_endlessly_deep_is_refused_like_any_other(
    owner_client: httpx.AsyncClient, body: bytes
) -> None:
    headers = {"content-type": "application/json", "accept-language": "zh"}
    response = await owner_client.post("/api/drive/items", content=body, headers=headers)
    assert (response.status_code, response.json()["code"]) == (422, CODES[422])
    assert response.json()["hint"] == "请更正该请求。"
    assert response.json()["detail"] != "There was an error parsing the body."


async def test_what_fails_unexpectedly_is_logged_and_told_to_nobody(
    service: Service, owner_client: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise RuntimeError("/home/alice/drive.db is at line 7")

    monkeypatch.setattr(service.drive.files, "get_sync", broken)

    response = await owner_client.get("/api/drive/items/root")

    assert (response.status_code, response.json()["code"]) == (500, "internal")
    assert "alice" not in response.text
    assert "/home/alice/drive.db is at line 7" in caplog.text


def test_the_routes_are_described_with_their_key() -> None:
    app = FastAPI()
    include_routes(app)
    mount_mcp(app)
    install_problem_handlers(app)

    paths = app.openapi()["paths"]

    assert {
        "/api/auth/login",
        "/api/auth/ways",
        "/api/auth/login-links",
        "/api/auth/logout",
        "/api/auth/me",
        "/api/auth/keys",
        "/api/auth/keys/{key_id}",
        "/api/users",
        "/api/users/{user}",
        "/api/users/{user}/password-reset",
        "/api/auth/password",
        "/api/auth/password/forgot",
        "/api/auth/proof",
        "/api/auth/proof/passkey",
        "/api/auth/passkeys",
        "/api/auth/passkeys/options",
        "/api/auth/passkeys/{passkey_id}",
        "/api/auth/login/passkey",
        "/api/auth/login/passkey/options",
        "/api/auth/sessions",
        "/api/auth/sessions/{session_id}",
        "/api/groups",
        "/api/groups/{group}",
        "/api/notices",
        "/api/notices/events",
        "/api/notices/read",
        "/api/links/{token}",
        "/api/links/{token}/children",
        "/api/links/{token}/items/{item_id}",
        "/api/links/{token}/items/{item_id}/children",
        "/api/links/{token}/items/{item_id}/content",
        "/api/links/{token}/files",
        "/api/links/{token}/items/{item_id}/text",
        "/api/links/{token}/items/{item_id}/thumbnail",
        "/api/links/{token}/pass",
    } == {name for name in paths if not name.startswith("/api/drive/")}  # these are in the table of docs/ACTIONS.md
    assert [name for name, path in paths.items() if "idempotency-key" in str(path) and "/drive/" not in name] == [
        "/api/links/{token}/items/{item_id}/content",
        "/api/links/{token}/files",
    ]
    public = [
        name
        for name in paths
        if name.startswith(("/api/links/", *(f"/api/auth/{part}" for part in ("login", "logout", "password/", "ways"))))
    ]
    public.remove("/api/auth/login-links")
    without_key = [operation for name in public for operation in paths.pop(name).values()]
    assert not [operation for operation in without_key if "security" in operation]
    assert all(operation["security"] == [{"HTTPBearer": []}] for path in paths.values() for operation in path.values())
    assert "application/octet-stream" in paths["/api/drive/files"]["post"]["requestBody"]["content"]


def test_every_write_to_items_takes_an_idempotency_key_and_tells_its_errors() -> None:
    app = FastAPI()
    include_routes(app)
    described = {
        (method, name): operation
        for name, path in app.openapi()["paths"].items()
        for method, operation in path.items()
        if name.startswith("/api/drive/")
    }
    writes = {key for key in described if key[0] != "get" and "/uploads" not in key[1]}
    keyed = {key for key, operation in described.items() if "idempotency-key" in str(operation.get("parameters"))}
    # A star is on or off, an index is built anew, and a content is stored, however often it is asked for.
    assert writes - keyed == {
        ("put", "/api/drive/items/{item_ref}/star"),
        ("delete", "/api/drive/items/{item_ref}/star"),
        ("post", "/api/drive/imports/missing"),
        ("post", "/api/drive/index/rebuild"),
        ("put", "/api/drive/imports/contents/{sha256}"),
    }
    assert keyed <= writes
    for key, operation in described.items():
        assert {"401", "403", "404", "422"} <= operation["responses"].keys(), key
        problems = {code: answer for code, answer in operation["responses"].items() if code >= "400"}
        assert all("application/problem+json" in answer["content"] for answer in problems.values()), key
