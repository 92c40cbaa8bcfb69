"""What is measured of the page; each opens a browser of its own and closes it."""

from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from statistics import median, quantiles
from typing import Any, Final

from playwright.sync_api import Browser, Page, expect

from tests.e2e.person import Person
from tests.fakes.chat_model import ScriptedChatModel

READY: Final = """
(() => {
  const look = () => {
    const composer = document.getElementById("composer");
    const files = document.querySelector(".files [role=row], .files .empty");
    if (composer && files) window.readyAt = performance.now();
    else requestAnimationFrame(look);
  };
  look();
})();
"""
"""Notes when the first view shows files and takes a message."""
COUNTERS: Final = """
() => {
  window.frames_ = [];
  window.tasks_ = [];
  new PerformanceObserver((list) => window.tasks_.push(...list.getEntries().map((one) => one.duration)))
    .observe({ type: "longtask" });
  let before = performance.now();
  const tick = (now) => {
    window.frames_.push(now - before);
    before = now;
    window.timer_ = requestAnimationFrame(tick);
  };
  window.timer_ = requestAnimationFrame(tick);
}
"""
SCROLL: Final = """
async (seconds) => {
  const list = document.querySelector(".files .virtual");
  const end = performance.now() + seconds * 1000;
  while (performance.now() < end) {
    await new Promise(requestAnimationFrame);
    list.scrollTop = (list.scrollTop + 900) % (list.scrollHeight - list.clientHeight);
  }
}
"""
SCROLL_SECONDS: Final = 5
BATCH: Final = 200
PATIENCE: Final = 180_000
SOME_TURNS: Final = 10


@dataclass(frozen=True, slots=True)
class Frames:
    """Frames in milliseconds, and tasks that were longer than 50."""

    frames: list[float]
    tasks: list[float]

    @property
    def median(self) -> float:
        """The usual frame."""
        return median(self.frames)

    @property
    def late(self) -> float:
        """The frame than which one in twenty is later."""
        return quantiles(self.frames, n=20)[-1]

    @property
    def rate(self) -> float:
        """Frames a second."""
        return 1000 * len(self.frames) / sum(self.frames)

    @property
    def told_tasks(self) -> str:
        """How many tasks were too long, and the longest of them."""
        return f"{len(self.tasks)}, the longest {max(self.tasks):.0f} ms" if self.tasks else "none"


@contextmanager
def _opened(browser: Browser, owner: Person, place: str = "") -> Generator[Page]:
    """Open the page with no cache, signed in."""
    context = browser.new_context(base_url=str(owner.http.base_url), viewport={"width": 1280, "height": 800})
    context.request.post("/api/auth/login", data={"token": owner.token})
    page = context.new_page()
    page.set_default_timeout(PATIENCE)
    page.add_init_script(READY)
    page.goto(f"/{place}")
    page.wait_for_function("() => window.readyAt", timeout=PATIENCE)
    yield page
    context.close()


def _say(page: Page, message: str, answer: str) -> None:
    """Send a message and wait until its answer is there and the turn is over."""
    page.locator("#composer").fill(message)
    page.keyboard.press("Enter")
    expect(page.get_by_role("log")).to_contain_text(answer, timeout=PATIENCE)
    expect(page.get_by_role("button", name="Stop")).to_have_count(0, timeout=PATIENCE)


def _counted(page: Page) -> Frames:
    page.evaluate("cancelAnimationFrame(window.timer_)")
    return Frames(page.evaluate("window.frames_").copy(), page.evaluate("window.tasks_"))


def start(browser: Browser, owner: Person) -> float:
    """Return the milliseconds from the first request until the page can be used."""
    with _opened(browser, owner) as page:
        return page.evaluate("window.readyAt")


def stream(browser: Browser, owner: Person, model: ScriptedChatModel, deltas: int) -> Frames:
    """Count the frames while an answer with headings, lists, tables and code comes in."""
    line = (
        "## Part {0}\n\n- one **strong** word\n- `code` and [a link](#/trash)\n\n| a | b |\n|---|---|\n| {0} | 2 |\n\n"
    )
    pieces = "".join(line.format(number) for number in range(deltas)).split(" ")[: deltas - 1]
    model.script[:] = [" ".join([*pieces, "\n\nThe end."])]
    with _opened(browser, owner) as page:
        page.evaluate(COUNTERS)
        _say(page, "Write a long answer", "The end.")
        return _counted(page)


def folder(browser: Browser, owner: Person, rows: int) -> Frames:
    """Count the frames while a long folder is scrolled."""
    made = owner.folder(f"{rows} rows")
    for first in range(0, rows, BATCH):
        items: list[dict[str, Any]] = [
            {"id": f"row-{number}", "parent_id": None, "kind": "folder", "name": f"Row {number:05}"}
            | {"created_at": "2026-11-05T09:00:00Z", "updated_at": "2026-11-05T09:00:00Z"}
            for number in range(first, min(first + BATCH, rows))
        ]
        body = {"export_id": f"rows-{rows}", "into": made["id"], "items": items}
        sent = owner.http.post("/api/drive/imports", json=body)
        assert sent.is_success, sent.text
    with _opened(browser, owner, f"#/folder/{made['id']}") as page:
        grid = page.get_by_role("grid")
        expect(grid).to_have_attribute("aria-rowcount", str(rows + 1), timeout=PATIENCE)
        page.evaluate(COUNTERS)
        page.evaluate(SCROLL, SCROLL_SECONDS)
        return _counted(page)


def memory(browser: Browser, owner: Person, model: ScriptedChatModel, turns: int) -> list[tuple[int, int, int]]:
    """Return (turns, bytes of the heap, nodes of the document) after some turns, half of all, and all."""
    found: list[tuple[int, int, int]] = []
    with _opened(browser, owner) as page:
        debugger = page.context.new_cdp_session(page)
        for turn in range(1, turns + 1):
            answer = f"Answer {turn} of the conversation."
            model.script[:] = [f"{answer} " + "With a few more words. " * 20]
            _say(page, f"Question {turn}", answer)
            if turn in (SOME_TURNS, turns // 2, turns):
                debugger.send("HeapProfiler.collectGarbage")
                heap = debugger.send("Runtime.getHeapUsage")
                nodes = page.evaluate("document.getElementsByTagName('*').length")
                found.append((turn, round(heap["usedSize"]), nodes))
    return found
