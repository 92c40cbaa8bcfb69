"""agent-chat-ui as it is, in Chromium, in front of the whole service."""

from __future__ import annotations

import socket
import subprocess
from typing import TYPE_CHECKING, Final
from urllib.parse import urlencode

import pytest
from playwright.sync_api import expect, sync_playwright

from tests.api.fakes import Gate
from tests.api.langgraph.talking import AGENT, HoldingModel
from tests.api.real_service import RealService
from tests.conformance.agent_chat_ui.install import BUILD, BUILT, NEXT
from tests.node.runtime import NODE
from tests.web.browser.chromium import launch
from tests.web.browser.world import empty

if TYPE_CHECKING:
    import re
    from collections.abc import Iterator

    from playwright.sync_api import Browser, Locator, Page

    from tests.e2e.person import Person

MILLISECONDS: Final = 20_000


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """The page's own server."""
    if not BUILD.is_file():
        pytest.skip("agent-chat-ui is not built: make test-agent-chat-ui SOURCE=FOLDER")
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
    command = [NODE, NEXT, "start", "--hostname", "127.0.0.1", "--port", str(port)]
    with subprocess.Popen(command, cwd=BUILT, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        assert any("Ready" in line for line in process.stdout)
        yield f"http://127.0.0.1:{port}"
        process.terminate()


@pytest.fixture(scope="module")
def model() -> HoldingModel:
    return HoldingModel(gate=Gate())


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory, address: str, model: HoldingModel) -> Iterator[RealService]:
    running = RealService(tmp_path_factory.mktemp("data"), model, cors_origins=address).start()
    yield running
    model.release()
    running.stop()


@pytest.fixture(scope="module")
def owner(service: RealService) -> Iterator[Person]:
    person = service.owner()
    yield person
    person.close()


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright, launch(playwright) as started:
        yield started


class Chat:
    """The page, as a person uses it."""

    def __init__(self, page: Page, address: str, owner: Person) -> None:
        self.page = page
        self._address = address
        self._service = {"apiUrl": str(owner.http.base_url).rstrip("/"), "assistantId": AGENT}
        page.add_init_script(f"localStorage.setItem('lg:chat:apiKey', '{owner.token}')")

    def open(self, **query: str) -> None:
        self.page.goto(f"{self._address}/?{urlencode({**self._service, **query})}")

    def type(self, text: str) -> None:
        box = self.page.get_by_placeholder("Type your message...")
        box.fill(text)
        box.press("Enter")

    def press(self, name: str, within: Locator | None = None) -> None:
        (within or self.page).get_by_role("button", name=name, exact=True).click()

    def said(self, number: int) -> Locator:
        """Return a message of the person, with its buttons in view."""
        message = self.page.locator(".group.ml-auto").nth(number)
        message.hover()
        return message

    def answer(self, number: int) -> Locator:
        """Return a message of the assistant, with its buttons in view."""
        message = self.page.locator(".group.mr-auto").nth(number)
        message.hover()
        return message

    def shows(self, *words: str | re.Pattern[str]) -> None:
        """Wait until nothing streams, and the words of both sides and the results of calls are these, each once."""
        expect(self.page.get_by_role("button", name="Send", exact=True)).to_be_visible(timeout=MILLISECONDS)
        shown = ".group.ml-auto p.whitespace-pre-wrap, .group.mr-auto div.py-1, .group.mr-auto code.block"
        expect(self.page.locator(shown)).to_have_text(words, timeout=MILLISECONDS)

    def asks(self, tool: str) -> None:
        """Wait for the question about a call."""
        expect(self.page.get_by_role("button", name="Mark as Resolved")).to_be_visible(timeout=MILLISECONDS)
        expect(self.page.locator("p.text-2xl").get_by_text(tool, exact=True)).to_be_visible()


@pytest.fixture
def chat(browser: Browser, address: str, owner: Person) -> Iterator[Chat]:
    empty(owner)
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on("response", lambda answer: errors.append(answer.url) if not answer.ok else None)
    yield Chat(page, address, owner)
    page.close()
    assert not errors
