"""Take the pictures of the tour: the ten main views, light and dark.

`python -m tests.web.tour` writes them to `docs/pictures`.
"""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Final

from playwright.sync_api import sync_playwright

from tests.api.real_service import RealService
from tests.fakes.chat_model import ScriptedChatModel
from tests.web.browser.chromium import HEADLESS, launch
from tests.web.browser.conftest import AlwaysDrive
from tests.web.browser.views import Words, furnish, views
from tests.web.browser.visits import Visits

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

    from tests.e2e.person import Person

FOLDER: Final = Path(__file__).parents[2] / "docs" / "pictures"
VIEWS: Final = (
    "folder",
    "search",
    "file",
    "editor",
    "versions",
    "sharing",
    "changes",
    "palette",
    "conversation",
    "approval",
)
SIZE: Final = (1280, 800)


def main() -> None:
    """Start a service with some files and threads, and take the pictures."""
    model = ScriptedChatModel()
    FOLDER.mkdir(exist_ok=True)
    with TemporaryDirectory() as folder:
        service = RealService(Path(folder), model, router=AlwaysDrive()).start()
        try:
            with closing(service.owner()) as owner, sync_playwright() as playwright:
                _take_all(launch(playwright, program=HEADLESS), owner, model)
        finally:
            service.stop()


def _take_all(browser: Browser, owner: Person, model: ScriptedChatModel) -> None:
    world = views(furnish(owner, model))
    for dark in (False, True):
        page = Visits(browser, owner).open(dark=dark, size=SIZE, reduced_motion="reduce")
        for name in VIEWS:
            world[name].open(page, Words("en"))
            _take(page, FOLDER / f"{name}-{'dark' if dark else 'light'}.png")
    browser.close()


def _take(page: Page, file: Path) -> None:
    page.evaluate("document.fonts.ready")
    page.screenshot(path=file, animations="disabled")


if __name__ == "__main__":
    main()
