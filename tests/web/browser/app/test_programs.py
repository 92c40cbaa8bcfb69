"""A host on another site sends its person to the consent page, in the same tab or in a window, and gets them back."""

from __future__ import annotations

from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import TYPE_CHECKING, Final
from urllib.parse import urlencode

import pytest
from playwright.sync_api import expect

from tests.drive_server.http.oauth.program import METADATA, VERIFIER, challenge_of

if TYPE_CHECKING:
    from collections.abc import Generator

    from tests.e2e.person import Person
    from tests.web.browser.visits import Visits

CALLBACK: Final = """<title>Back</title><p id=back></p><script>
const told = new URLSearchParams(location.search);
document.getElementById("back").textContent = told.get("code") ? "let in" : told.get("error");
if (window.opener) window.opener.postMessage("the window is back", location.origin);
</script>"""
START: Final = """<title>Host</title><a href="{address}">Connect</a>
<button onclick="window.open('{address}')">Connect in a window</button><p id=heard></p><script>
addEventListener("message", told => document.getElementById("heard").textContent = told.data);
</script>"""


class Host:
    """The site of a host: `address` is where it sends people."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.address = ""


@contextmanager
def hosting() -> Generator[Host]:
    """Serve a host's site on localhost, which is another site than 127.0.0.1."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            text = CALLBACK if self.path.startswith("/callback") else START.replace("{address}", host.address)
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(text.encode())

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the library's name
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    host = Host(f"http://localhost:{server.server_port}")
    thread = Thread(target=server.serve_forever)
    thread.start()
    yield host
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def host(owner: Person) -> Generator[Host]:
    """A host that has registered."""
    with hosting() as host:
        redirect = f"{host.url}/callback"
        client = owner.http.post("/register", json={**METADATA, "redirect_uris": [redirect]}).json()
        fields = {
            "client_id": client["client_id"],
            "redirect_uri": redirect,
            "response_type": "code",
            "code_challenge": challenge_of(VERIFIER),
            "code_challenge_method": "S256",
            "scope": "read write delete",
            "state": "the state",
        }
        base = str(owner.http.base_url).rstrip("/")
        host.address = f"{base}/authorize?{urlencode(fields)}"
        yield host


def left(visits: Visits, host: Host) -> None:
    """Take note that the host's own site was asked, and no other."""
    assert all(url.startswith(host.url) for url in visits.foreign)
    visits.foreign.clear()


def test_a_person_who_is_logged_in_is_asked_at_once_and_led_back(visits: Visits, host: Host) -> None:
    page = visits.context().new_page()
    page.goto(host.url)
    page.get_by_role("link", name="Connect").click()
    expect(page.get_by_text("You are logged in as me@localhost")).to_be_visible()
    expect(page.get_by_text("a program on this computer")).to_be_visible()
    page.get_by_label("delete files").uncheck()
    page.get_by_role("button", name="Let it in").click()
    expect(page.get_by_text("let in", exact=True)).to_be_visible()
    left(visits, host)


def test_a_person_logs_in_first_and_says_no(visits: Visits, host: Host, owner: Person) -> None:
    page = visits.context(signed_in=False, language="zh").new_page()
    page.goto(host.url)
    page.get_by_role("link", name="Connect").click()
    page.get_by_label("访问令牌").fill(owner.token)
    page.get_by_role("button", name="登录").last.click()
    expect(page.get_by_text("您已登录为 me@localhost")).to_be_visible()
    page.get_by_role("button", name="拒绝").click()
    expect(page.get_by_text("access_denied", exact=True)).to_be_visible()
    left(visits, host)


def test_a_window_that_a_host_opened_comes_back_to_it(visits: Visits, host: Host) -> None:
    page = visits.context().new_page()
    page.goto(host.url)
    with page.expect_popup() as opened:
        page.get_by_role("button", name="Connect in a window").click()
    opened.value.get_by_role("button", name="Let it in").click()
    expect(page.get_by_text("the window is back")).to_be_visible()
    left(visits, host)


def test_no_part_of_the_page_is_cut_off_on_a_phone(visits: Visits, host: Host) -> None:
    for size in ((1280, 900), (375, 700), (320, 640)):
        page = visits.context(size=size).new_page()
        page.goto(host.address)
        expect(page.get_by_role("button", name="Let it in")).to_be_visible()
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), size
    left(visits, host)
