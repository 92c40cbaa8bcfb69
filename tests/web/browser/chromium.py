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
NO_SHARED_MEMORY: Final = "--disable-dev-shm-usage"
"""Use files in place of /dev/shm. Playwright passes this flag by default; it is needed only where /dev/shm is small."""
ENOUGH_BYTES: Final = 2**30
"""Free bytes in /dev/shm from which on Chromium may use it."""


def launch(playwright: Playwright, *flags: str, program: str = HEADLESS) -> Browser:
    """Start a browser; `program` is `WHOLE` or `HEADLESS`."""
    return playwright.chromium.launch(
        executable_path=f"/usr/bin/{program}",
        args=[*FLAGS, *flags],
        ignore_default_args=[NO_SHARED_MEMORY] if _has_shared_memory() else [],
    )


def _has_shared_memory() -> bool:
    try:
        return disk_usage("/dev/shm").free >= ENOUGH_BYTES
    except FileNotFoundError:
        return False
