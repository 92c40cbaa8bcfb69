"""The browser of the tests: Debian's Chromium, kept off the network."""

from __future__ import annotations

from shutil import disk_usage
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
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost",
)
IN_FILES: Final = "--disable-dev-shm-usage"
"""What Playwright adds for containers that have little shared memory; each answer of the service costs a file then."""
ENOUGH_BYTES: Final = 2**30


def launch(playwright: Playwright, *flags: str, program: str = HEADLESS) -> Browser:
    """Start a browser; `program` is `WHOLE` or `HEADLESS`."""
    return playwright.chromium.launch(
        executable_path=f"/usr/bin/{program}",
        args=[*FLAGS, *flags],
        ignore_default_args=[IN_FILES] if _has_shared_memory() else [],
    )


def _has_shared_memory() -> bool:
    try:
        return disk_usage("/dev/shm").free >= ENOUGH_BYTES
    except FileNotFoundError:
        return False
