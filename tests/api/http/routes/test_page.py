"""The page and its files, as browsers get them."""

import re

from tests.e2e.person import Person


def _assets(alice: Person) -> list[str]:
    return re.findall(r'(?:href|src)="(/assets/[^"]+)"', alice.http.get("/").text)


def test_everything_that_the_page_names_is_there_and_may_be_kept(alice: Person) -> None:
    named = _assets(alice)
    assert any(name.endswith("/app/main.js") for name in named)
    for name in named:
        response = alice.http.get(name)
        assert response.status_code == 200, name
        assert "immutable" in response.headers["cache-control"]
        assert response.headers["content-encoding"] == "gzip"


def test_the_page_itself_is_sent_compressed_to_who_takes_it_so(alice: Person) -> None:
    packed = alice.http.get("/", headers={"accept-encoding": "gzip"})
    assert packed.headers["content-encoding"] == "gzip"
    whole = alice.http.get("/", headers={"accept-encoding": "identity"})
    assert "content-encoding" not in whole.headers
    assert whole.text == packed.text


def test_a_file_of_another_version_is_not_kept(alice: Person) -> None:
    name = _assets(alice)[0]
    version = name.split("/")[2]
    assert alice.http.get(name.replace(version, "older")).headers["cache-control"] == "no-cache"


def test_nothing_else_is_served_as_a_file_of_the_page(alice: Person) -> None:
    for name in ("app/nothing.js", "..%2fapp.py", "vendor", ""):
        response = alice.http.get(f"/assets/x/{name}")
        assert response.status_code == 404, name
        assert response.json()["code"] == "not_found"
