"""The page in a browser: `python -m benchmarks.page [--rows 50000] [--deltas 1000] [--turns 100]
[--only start folder]`.

Debian's Chromium (`python -m tests.web.browser.install`) against the real service on this machine, with a model that
takes no time: how long until the first view can be used, with no cache; the frames of a streamed answer and of a long
folder that is scrolled, by `requestAnimationFrame`; tasks of more than 50 ms, by `PerformanceObserver`; what is kept in
memory after many turns, once the garbage is collected. The browser draws on the same cores as the service runs on.
"""

import argparse
import platform
import tempfile
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import Final

from playwright.sync_api import Browser, sync_playwright

from benchmarks.fixtures.table import print_table
from benchmarks.page.measures import Frames, folder, memory, start, stream
from tests.api.real_service import RealService
from tests.e2e.person import Person
from tests.fakes.chat_model import ScriptedChatModel
from tests.web.browser.chromium import launch
from tests.web.browser.conftest import AlwaysDrive

MEASURES: Final = ("start", "stream", "folder", "memory")


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=50_000, help="items in the long folder")
    parser.add_argument("--deltas", type=int, default=1_000, help="pieces of the streamed answer")
    parser.add_argument("--turns", type=int, default=100, help="turns of the conversation whose memory is measured")
    parser.add_argument("--runs", type=int, default=5, help="starts of the page; the median is printed")
    parser.add_argument("--only", nargs="+", choices=MEASURES, default=MEASURES, help="what to measure")
    chosen = parser.parse_args(arguments)
    model = ScriptedChatModel()
    with tempfile.TemporaryDirectory() as name, sync_playwright() as playwright:
        service = RealService(Path(name), model, router=AlwaysDrive()).start()
        browser = launch(playwright, "--enable-precise-memory-info")
        try:
            _measure(browser, service.owner(), model, chosen)
        finally:
            browser.close()
            service.stop()


def _measure(browser: Browser, owner: Person, model: ScriptedChatModel, chosen: argparse.Namespace) -> None:
    print(f"{platform.platform()}, Python {platform.python_version()}, Chromium {browser.version}")
    rows: list[tuple[str, str]] = []
    if "start" in chosen.only:
        starts = [start(browser, owner) for _ in range(chosen.runs)]
        rows.append(("first view, ms until files and composer can be used", f"{median(starts):.0f}"))
    if "stream" in chosen.only:
        rows += _frames(f"{chosen.deltas:,} deltas", stream(browser, owner, model, chosen.deltas))
    if "folder" in chosen.only:
        rows += _frames(f"{chosen.rows:,} rows scrolled", folder(browser, owner, chosen.rows))
    if "memory" in chosen.only:
        kept = memory(browser, owner, model, chosen.turns)
        rows += [
            (f"memory after {turns} turns, MB; nodes", f"{size / 1e6:.1f}; {nodes:,}") for turns, size, nodes in kept
        ]
    print_table("The page", ("what", "measured"), rows)


def _frames(name: str, counted: Frames) -> list[tuple[str, str]]:
    return [
        (f"{name}: frames a second", f"{counted.rate:.0f}"),
        (f"{name}: frame, ms (median, 95 %)", f"{counted.median:.1f}, {counted.late:.1f}"),
        (f"{name}: tasks over 50 ms", counted.told_tasks),
    ]


if __name__ == "__main__":
    main()
