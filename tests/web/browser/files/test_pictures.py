"""Files as pictures: as many beside each other as there is room for, and each of them reached by scrolling."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final

import pytest
from playwright.sync_api import expect

from tests.web.browser.visits import NARROWEST
from tests.web.browser.world import empty

if TYPE_CHECKING:
    from playwright.sync_api import Page

    from tests.e2e.person import Person
    from tests.web.browser.visits import Visits

FILES: Final = 40
PICTURE_PIXELS: Final = 160
SMALL: Final = (1024, 600)
WIDE: Final = (1600, 900)
SCROLLED: Final = """async () => {
  const grid = document.querySelector("[role=grid]");
  const frames = () => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)));
  const found = {};
  for (let top = 0; ; top += grid.clientHeight / 2) {
    grid.scrollTop = top;
    await frames();
    const bounds = grid.getBoundingClientRect();
    for (const item of grid.querySelectorAll("[data-index]")) {
      const { left, top, width, height } = item.getBoundingClientRect();
      const isSeen = top < bounds.bottom && top + height > bounds.top;
      const box = { left, top: top - bounds.top + grid.scrollTop, width, height };
      if (isSeen) found[item.dataset.index] = box;
    }
    if (top >= grid.scrollHeight - grid.clientHeight) break;
  }
  return { boxes: Object.values(found), room: grid.clientWidth, whole: grid.scrollHeight };
}"""
"""Scroll from the first item to the last; return the boxes of all that were seen, from the top of the list."""


@pytest.fixture(scope="module", autouse=True)
def drive(owner: Person) -> None:
    """A folder with 40 files."""
    empty(owner)
    for number in range(FILES):
        owner.upload(f"file {number:02}.txt", "x")


def as_pictures(page: Page) -> None:
    page.get_by_role("button", name="View and order").click()
    page.get_by_role("menuitemradio", name="As pictures").click()
    expect(page.locator(".pictures [data-index]").first).to_be_visible()


def overlap(one: dict[str, Any], other: dict[str, Any]) -> bool:
    return (
        one["left"] < other["left"] + other["width"] - 1
        and other["left"] < one["left"] + one["width"] - 1
        and one["top"] < other["top"] + other["height"] - 1
        and other["top"] < one["top"] + one["height"] - 1
    )


@pytest.mark.parametrize("size", [NARROWEST, SMALL, WIDE])
def test_each_file_is_reached_beside_the_others_and_by_the_arrows(visits: Visits, size: tuple[int, int]) -> None:
    page = visits.open("#/folder/root", size=size)
    as_pictures(page)
    seen = page.evaluate(SCROLLED)
    boxes = seen["boxes"]
    assert len(boxes) == FILES
    assert not any(overlap(one, other) for at, one in enumerate(boxes) for other in boxes[at + 1 :])
    lefts = {round(box["left"]) for box in boxes}
    assert len(lefts) >= max(2, seen["room"] // PICTURE_PIXELS)
    lines = sorted({round(box["top"]) for box in boxes})
    assert len(lines) == -(-FILES // len(lefts))
    assert all(box["width"] <= seen["room"] / len(lefts) for box in boxes)
    assert len({after - before for before, after in pairwise(lines)}) == 1
    assert seen["whole"] - (lines[-1] + boxes[-1]["height"]) < boxes[-1]["height"] / 2
    page.get_by_role("grid").focus()
    page.keyboard.press("Home")
    for key, index in (("ArrowRight", 1), ("ArrowDown", 1 + len(lefts)), ("ArrowLeft", len(lefts)), ("End", FILES - 1)):
        page.keyboard.press(key)
        chosen = page.get_by_role("row", selected=True)
        expect(chosen).to_have_attribute("data-index", str(index))
        expect(chosen).to_be_in_viewport(ratio=0.9)
