"""The browser, the service and the person of the stories; see docs/PAGE.md, "Browser tests"."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from playwright.sync_api import expect, sync_playwright

from api.http.routes import page as routes
from api.page.files import PageFiles
from tests import once
from tests.api.real_service import RealService
from tests.fakes.chat_model import FakeChatModel, ScriptedChatModel, route_to
from tests.fakes.held_model import HeldModel
from tests.web.browser.chromium import HEADLESS, launch
from tests.web.browser.visits import Visits
from tests.web.bundle import make

if TYPE_CHECKING:
    from collections.abc import Generator

    from playwright.sync_api import Browser, Page, Playwright

    from tests.e2e.person import Person

SECONDS = 10
PICTURES = Path(__file__).parents[3] / "build" / "stories"
expect.set_options(timeout=SECONDS * 1000)


@pytest.fixture(scope="package")
def playwright() -> Generator[Playwright]:
    """Playwright, for the stories alone: while it is there its loop runs, and no other test's can."""
    with sync_playwright() as started:
        yield started


@pytest.fixture(scope="package")
def browsers(playwright: Playwright) -> Generator[dict[str, Browser]]:
    """The browsers that were started, by program: each once, when it is wanted."""
    del playwright
    started: dict[str, Browser] = {}
    yield started
    for browser in started.values():
        browser.close()


@pytest.fixture(scope="module")
def program() -> str:
    """The browser's program; a module that takes the whole Chromium has a fixture of this name."""
    return HEADLESS


@pytest.fixture(scope="module")
def browser(playwright: Playwright, browsers: dict[str, Browser], program: str) -> Browser:
    if program not in browsers:
        browsers[program] = launch(playwright, program=program)
    return browsers[program]


@pytest.fixture(scope="session")
def bundled(tmp_path_factory: pytest.TempPathFactory) -> PageFiles:
    """The page as a release has it."""
    return make(tmp_path_factory.mktemp("page") / "bundle")


@pytest.fixture(scope="module")
def page_files(request: pytest.FixtureRequest) -> PageFiles:
    """The page in few files, as a browser loads it fastest. A module that looks at those of `api/web` has them here."""
    return PageFiles() if once.PLAIN else request.getfixturevalue("bundled")


@pytest.fixture(scope="module", autouse=True)
def _sent(page_files: PageFiles) -> Generator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(routes, "page_files", lambda: page_files)
        yield


@pytest.fixture(scope="module")
def model() -> FakeChatModel:
    """The model: a test puts into `script` what it says next; it stops at each `HOLD` of a text until `release`."""
    return HeldModel()


@pytest.fixture(autouse=True)
def _held(model: FakeChatModel) -> Generator[None]:
    """Stop at the next `HOLD`, and let nothing wait after the test."""
    if not isinstance(model, HeldModel):
        yield
        return
    model.hold()
    yield
    model.release()


@pytest.fixture(scope="module")
def router() -> ScriptedChatModel:
    """The model of the router: whatever comes goes to the Drive agent."""
    return AlwaysDrive()


class AlwaysDrive(ScriptedChatModel):
    """Routes every turn to the Drive agent."""

    def _answer(self, messages: Any, offered: Any) -> Any:
        del messages, offered
        return route_to("drive_agent")


@pytest.fixture(scope="module")
def settings() -> dict[str, Any]:
    """What the drive of a module is set to, beyond the defaults of tests."""
    return {}


@pytest.fixture(scope="module")
def service(
    tmp_path_factory: pytest.TempPathFactory,
    model: FakeChatModel,
    router: FakeChatModel,
    settings: dict[str, Any],
) -> Generator[RealService]:
    """The real service on a port, one for the module."""
    running = RealService(tmp_path_factory.mktemp("data"), model, router=router, **settings).start()
    yield running
    running.stop()


@pytest.fixture(scope="module")
def owner(service: RealService) -> Generator[Person]:
    """The local owner, over HTTP: makes the files, folders and people that a story begins with."""
    person = service.owner()
    yield person
    person.close()


@pytest.fixture
def visits(browser: Browser, owner: Person, model: FakeChatModel) -> Generator[Visits]:
    """Opens pages as somebody, in a language, a theme, a size; at the end no page may have complained."""
    if isinstance(model, ScriptedChatModel):
        model.script.clear()
    opened = Visits(browser, owner)
    yield opened
    opened.close()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Keep a picture of each page that is open when a story fails, and name it below the failure."""
    report = yield
    visits = getattr(item, "funcargs", {}).get("visits")
    if report.when == "call" and report.failed and isinstance(visits, Visits):
        pictures = visits.photograph(PICTURES / re.sub(r"[^\w-]+", "_", item.name))
        report.sections.append(("pages", "\n".join([*pictures, *visits.complaints])))
    return report


@pytest.fixture
def page(visits: Visits) -> Page:
    """The page in English on a desktop, the owner signed in."""
    return visits.open()
