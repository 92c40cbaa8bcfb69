"""The server of the database goes away at any call of any request: that is told as such, and done again well."""

from __future__ import annotations

from base64 import b64encode
from typing import TYPE_CHECKING, Any, Final

import httpx
import pytest
from mcp.shared.exceptions import McpError

from drive_server.connect import in_process_session
from drive_server.kernel.access import Scope
from tests.databases import new_url
from tests.drive_server.hosts import Host
from tests.drive_server.http.service import running
from tests.drive_server.kernel.sql.failing_driver import FAULT, HEADER, KINDS, Fault, driver_that_fails, failing

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Awaitable, Callable

    from drive_server.kernel.settings import DriveSettings
    from tests.drive_server.http.service import Service

pytestmark = [pytest.mark.story, pytest.mark.timeout(300)]

TUS: Final = {"Tus-Resumable": "1.0.0"}
MAX_CALLS: Final = 200
AWAY: Final = 503


class Requests:
    """One kind of request of a person, each time about another file."""

    def __init__(self, client: httpx.AsyncClient) -> None:
        self._client = client
        self._number = 0

    @property
    def _name(self) -> str:
        self._number += 1
        return f"{self._number}.txt"

    async def _begun(self, headers: dict[str, str] | None = None) -> httpx.Response:
        name = b64encode(self._name.encode()).decode()
        begun = {**TUS, "Upload-Length": "6", "Upload-Metadata": f"filename {name}", **(headers or {})}
        return await self._client.post("/api/drive/uploads", headers=begun)

    async def _sent(self, headers: dict[str, str], content: bytes) -> httpx.Response:
        begun = await self._begun()
        assert begun.status_code == httpx.codes.CREATED, begun.text
        address = f"/api/drive/uploads/{begun.headers['Location'].rpartition('/')[2]}"
        part = {**TUS, "Upload-Offset": "0", "Content-Type": "application/offset+octet-stream", **headers}
        sent = await self._client.patch(address, headers=part, content=content)
        await self._client.delete(address, headers=TUS)
        return sent

    async def patch_of_a_part(self, headers: dict[str, str]) -> httpx.Response:
        return await self._sent(headers, b"one")

    async def patch_of_all(self, headers: dict[str, str]) -> httpx.Response:
        return await self._sent(headers, b"onetwo")

    async def put(self, headers: dict[str, str]) -> httpx.Response:
        return await self._client.put(f"/dav/{self._name}", content=b"x", headers=headers)

    async def post(self, headers: dict[str, str]) -> httpx.Response:
        params = {"name": self._name, "parent_id": "root"}
        return await self._client.post("/api/drive/files", params=params, content=b"x", headers=headers)

    async def move(self, headers: dict[str, str]) -> httpx.Response:
        body = {"kind": "folder", "name": self._name, "parent_id": "root"}
        made = await self._client.post("/api/drive/items", json=body)
        address = f"/api/drive/items/{made.json()['id']}"
        return await self._client.patch(address, json={"name": self._name}, headers=headers)

    async def listing(self, headers: dict[str, str]) -> httpx.Response:
        return await self._client.get("/api/drive/items/root/children", headers=headers)


@pytest.fixture
async def service(drive_settings: DriveSettings) -> AsyncGenerator[Service]:
    settings = drive_settings.model_copy(update={"database_url": new_url()})
    with driver_that_fails():
        async with running(settings, before=failing) as service:
            yield service


def answers(response: httpx.Response) -> bool:
    """Say whether it is a right answer: the request was done, or the database is away."""
    if response.status_code == AWAY:
        # WebDAV's errors are XML.
        return "database_away" in response.text or "application/problem+json" not in response.headers["content-type"]
    return response.is_success


@pytest.mark.parametrize("request_of", ["patch_of_a_part", "patch_of_all", "put", "post", "move", "listing"])
async def test_whatever_call_of_a_request_fails_it_is_answered_or_the_database_is_away(
    service: Service, request_of: str
) -> None:
    async with service.client() as client:
        ask: Callable[[dict[str, str]], Awaitable[httpx.Response]] = getattr(Requests(client), request_of)
        number, wrong = 0, list[tuple[str, int, str]]()
        for number in range(1, MAX_CALLS):
            kind = KINDS[number % len(KINDS)]
            response = await ask({HEADER: f"{kind} {number}"})
            if not answers(response):
                wrong.append((f"{kind} {number}", response.status_code, response.text[:200]))
            if response.headers[HEADER] == "no":
                break
        assert wrong == []
        assert 3 < number < MAX_CALLS - 1
        assert (await ask({})).is_success


async def test_what_is_told_as_not_kept_is_not_there_though_an_answer_of_the_server_was_lost(service: Service) -> None:
    async with service.client() as client:
        requests, kept, told = Requests(client), list[str](), list[str]()
        for number in range(1, MAX_CALLS):
            response = await requests.post({HEADER: f"unanswered {number}"})
            told += [f"{number}.txt"] if response.is_success else []
            if response.headers[HEADER] == "no":
                break
        kept = [item["name"] for item in (await requests.listing({})).json()["items"] if item["kind"] == "file"]
    assert sorted(kept) == sorted(told)


async def test_whatever_call_of_a_tool_fails_it_is_done_or_the_database_is_away(service: Service) -> None:
    fault = Fault("", 0)
    FAULT.set(fault)
    owner, _ = await service.drive.identity.ensure_local_user()
    principal = await service.drive.identity.principal_for(owner.id, frozenset(Scope))
    number, codes = 0, set[Any]()
    async with in_process_session(service.drive, principal) as session:
        for number in range(1, MAX_CALLS):
            fault.kind, fault.left = KINDS[number % len(KINDS)], number
            try:
                result = await Host(session).result("create_folder", name=f"Folder {number}", parent_id="root")
            except McpError as error:
                codes.add(error.error.data["code"] if error.error.data else error.error.message)
            else:
                codes.add((result.structuredContent or {}).get("code") if result.isError else "")
            if fault.left > 0:
                break
    assert codes <= {"", "database_away"}
    assert 3 < number < MAX_CALLS - 1
