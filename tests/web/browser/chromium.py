"""The browser of the tests: Debian's Chromium, kept off the network."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Playwright

WHOLE: Final = "chromium"
"""All of it: what the PDF viewer and pictures for people take."""
HEADLESS: Final = "chromium-headless-shell"
"""Without windows and the PDF viewer, at half the cost."""
FLAGS: Final = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-default-apps",
    "--disable-dev-shm-usage",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost",
)


def launch(playwright: Playwright, *flags: str, program: str = HEADLESS) -> Browser:
    """Start a browser; `program` is `WHOLE` or `HEADLESS`."""
    return playwright.chromium.launch(executable_path=f"/usr/bin/{program}", args=[*FLAGS, *flags])
