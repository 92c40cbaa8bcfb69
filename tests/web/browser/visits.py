"""Pages that are open in a browser, and what they complained about."""

from __future__ import annotations

import re
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

from playwright.sync_api import Error, expect

if TYPE_CHECKING:
    from pathlib import Path

    from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, Request

    from tests.e2e.person import Person

DESKTOP: Final = (1280, 800)
PHONE: Final = (375, 700)
NARROWEST: Final = (320, 640)
LOCALES: Final = {"en": "en-US", "zh": "zh-CN"}
PICTURE_MILLISECONDS: Final = 3000
BROWSER: Final = frozenset({"chrome", "chrome-extension"})
"""Where a browser's own parts come from; its PDF viewer is an extension."""
WITHIN: Final = frozenset({"data", "blob", *BROWSER})
"""What needs no network."""
SET_IN_VIEW: Final = """is => {
  Object.defineProperty(document, "hidden", { value: !is, configurable: true });
  document.dispatchEvent(new Event("visibilitychange"));
}"""
SANITIZER: Final = re.compile(r"/(vendor/dompurify|bundle/dompurify-[\w-]+)\.js$")
FAILED_REQUEST: Final = "Failed to load resource"
"""The browser logs each answer of 400 and more; what the page makes of it is what counts."""


def set_in_view(page: Page, *, is_in_view: bool) -> None:
    """Tell a page whether its tab is in view. In a browser without windows every tab is."""
    page.evaluate(SET_IN_VIEW, is_in_view)


class Visits:
    """Opens pages. `complaints` has what went wrong in them: a test may take out what it means to happen."""

    def __init__(self, browser: Browser, owner: Person) -> None:
        self._browser = browser
        self._owner = owner
        self._contexts: list[BrowserContext] = []
        self.complaints: list[str] = []
        self.foreign: list[str] = []

    def context(
        self,
        person: Person | None = None,
        *,
        language: str = "en",
        size: tuple[int, int] = DESKTOP,
        dark: bool = False,
        signed_in: bool = True,
        touch: bool = False,
        **options: Any,
    ) -> BrowserContext:
        """Return a browser of its own, signed in as the person (by default the owner) unless told otherwise."""
        who = person or self._owner
        width, height = size
        context = self._browser.new_context(
            base_url=str(who.http.base_url),
            locale=LOCALES[language],
            viewport={"width": width, "height": height},
            color_scheme="dark" if dark else "light",
            has_touch=touch,
            **options,
        )
        self._contexts.append(context)
        if signed_in:
            answer = context.request.post("/api/auth/login", data={"token": who.token})
            assert answer.ok, answer.text()
        context.on("page", self._listen)
        return context

    def open(self, place: str = "", person: Person | None = None, *, path: str = "/", **options: Any) -> Page:
        """Open the page at a place such as `#/trash`, and return it once it is drawn; options as of `context`."""
        page = self.context(person, **options).new_page()
        page.goto(f"{path}{place}")
        expect(page.locator("#page > *").first).to_be_attached()
        return page

    def photograph(self, folder: Path) -> list[str]:
        """Keep a picture of each open page in a folder; return what was kept, for people to read."""
        folder.mkdir(parents=True, exist_ok=True)
        kept: list[str] = []
        pages = [page for context in self._contexts for page in context.pages]
        for number, page in enumerate(pages, 1):
            picture = folder / f"{number}.png"
            # The test has failed already: a page that is gone must not hide why.
            with suppress(Error):
                page.screenshot(path=picture, timeout=PICTURE_MILLISECONDS)
                kept.append(f"{page.url}: {picture}")
        return kept

    def close(self) -> None:
        """Close all; fails if a page complained, or asked another origin for something."""
        for context in self._contexts:
            context.close()
        assert not self.complaints, self.complaints
        assert not self.foreign, self.foreign

    def _listen(self, page: Page) -> None:
        page.on("pageerror", lambda error: self.complaints.append(f"error: {error}"))
        page.on("console", self._hear)
        page.on("request", self._see)

    def _hear(self, message: ConsoleMessage) -> None:
        url = message.location["url"]
        # A page that is left while the sanitizer reads hostile HTML tells what was blocked in the sanitizer's document.
        is_sanitizer = SANITIZER.search(url) and "Content Security Policy" in message.text
        # The viewer of PDF complains of itself when the page that embeds it has the focus.
        is_browser = urlsplit(url).scheme in BROWSER
        is_expected = is_sanitizer or is_browser or FAILED_REQUEST in message.text
        if message.type in ("error", "warning") and not is_expected:
            self.complaints.append(f"{message.type}: {message.text} ({url})")

    def _see(self, request: Request) -> None:
        asked = urlsplit(request.url)
        ours = urlsplit(str(self._owner.http.base_url))
        if asked.scheme not in WITHIN and asked.netloc != ours.netloc:
            self.foreign.append(request.url)
