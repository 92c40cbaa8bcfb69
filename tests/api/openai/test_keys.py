"""Each route of OpenAI's API, with no key, a wrong one, and one without the scope that its table names."""

from __future__ import annotations

from http import HTTPStatus
from typing import TYPE_CHECKING, Any

import httpx
import pytest

from tests.api.http.scopes.table import OPENAI
from tests.api.openai.asking import MODEL, user

if TYPE_CHECKING:
    from tests.api.real_service import RealService
    from tests.e2e.person import Person

BODIES: dict[str, Any] = {
    "POST /v1/chat/completions": {"model": MODEL, "messages": [user("hello")]},
    "POST /v1/responses": {"model": MODEL, "input": "hello"},
}


@pytest.mark.parametrize("route", OPENAI)
@pytest.mark.parametrize(
    ("key", "status", "kind"),
    [
        ("", HTTPStatus.UNAUTHORIZED, "authentication_error"),
        ("wrong", HTTPStatus.UNAUTHORIZED, "authentication_error"),
        ("without read", HTTPStatus.FORBIDDEN, "permission_error"),
    ],
)
def test_every_route_wants_a_key_that_may_read(
    commanded: RealService, owner: Person, route: str, key: str, status: int, kind: str
) -> None:
    assert set(OPENAI.values()) == {"r"}
    person = owner.with_key("writes", "write", "share", "delete")
    token = person.token if key == "without read" else key
    method, path = route.split(" ")
    path = path.replace("{response_id}", f"resp_{'0' * 32}_0").replace("{model:path}", MODEL)
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    answer = httpx.request(method, f"{commanded.url}{path}", json=BODIES.get(route), headers=headers)
    assert answer.status_code == status
    error = answer.json()["error"]
    assert error["type"] == kind
    assert set(error) == {"message", "type", "param", "code"}
    person.close()
