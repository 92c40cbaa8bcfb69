"""Check every view with axe: in both languages and themes, from 320 px to 4K, by fingers and with reduced motion."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from playwright.sync_api import expect

from graph.settings import AgentSettings
from tests.web.browser.axe import violations
from tests.web.browser.views import Words, World, furnish, views
from tests.web.browser.visits import DESKTOP, LOCALES, NARROWEST

if TYPE_CHECKING:
    from playwright.sync_api import Page, ViewportSize

    from tests.e2e.person import Person
    from tests.fakes.chat_model import ScriptedChatModel
    from tests.web.browser.visits import Visits

NORMAL: ViewportSize = {"width": DESKTOP[0], "height": DESKTOP[1]}
WIDEST: ViewportSize = {"width": 3840, "height": 2160}
MAX_LINE = 1000
"""Pixels."""
TAGS = {"en": "en", "zh": "zh-CN"}
BY_MOUSE, BY_FINGER = 24, 44
TOO_SMALL = """least => [...document.querySelectorAll(
    'button, a[href], input:not([type=hidden]), select, textarea, summary, [role=menuitem], [role=option], [role=tab]'
  )].filter(one => {
    if (!one.checkVisibility({visibilityProperty: true, opacityProperty: true}) || one.closest('.hidden')) return false;
    const around = one.closest('label') ?? one;
    const {width, height} = around.getBoundingClientRect();
    const isInText = one.matches('a, .as-link, .citation') && one.closest('p, li, td, dd, blockquote, .answer');
    return width > 0 && !isInText && (Math.round(height) < least || Math.round(width) < Math.min(least, 24));
  }).map(one => {
    const {width, height} = one.getBoundingClientRect();
    return `${Math.round(width)}x${Math.round(height)} ${one.outerHTML.slice(0, 120)}`;
  })"""

MOVING = """() => document.getAnimations()
  .filter(one => one.effect.getComputedTiming().duration > 1).map(one => one.animationName ?? one.transitionProperty)"""


@pytest.fixture(scope="module")
def settings() -> dict[str, Any]:
    """Let approvals expire after an hour: the walk through all views takes longer than the usual time."""
    return {"agent": AgentSettings(model="offline", approval_ttl_seconds=3600)}


@pytest.fixture(scope="module")
def world(owner: Person, model: ScriptedChatModel) -> World:
    return furnish(owner, model)


class Findings:
    """What is wrong, and in which views: the same thing in many of them is one line."""

    def __init__(self) -> None:
        self._views: dict[str, list[str]] = {}

    def add(self, view: str, wrong: list[str]) -> None:
        """Note what is wrong in a view."""
        for one in wrong:
            self._views.setdefault(one, []).append(view)

    def __str__(self) -> str:
        return "\n".join(f"{one} IN {', '.join(views)}" for one, views in self._views.items())


def too_wide(page: Page) -> list[str]:
    width = page.evaluate("document.documentElement.scrollWidth")
    return [f"it scrolls sideways: {width}"] if width > page.evaluate("innerWidth") else []


def too_long(page: Page) -> list[str]:
    widths = page.locator(".chat .markdown").evaluate_all("all => all.map(one => one.clientWidth)")
    return [f"lines of {max(widths)} pixels"] if max(widths, default=0) >= MAX_LINE else []


@pytest.mark.parametrize("language", LOCALES)
def test_no_view_has_a_barrier_in_the_light_the_dark_or_at_4k(visits: Visits, world: World, language: str) -> None:
    page, words, found = visits.open(language=language, reduced_motion="reduce"), Words(language), Findings()
    for name, view in views(world).items():
        view.open(page, words)
        found.add(name, page.evaluate(MOVING))
        expect(page.locator("html")).to_have_attribute("lang", TAGS[language])
        found.add(name, violations(page))
        # Of the rules, those of colors alone look at what a theme changes.
        page.emulate_media(color_scheme="dark")
        found.add(f"{name} in the dark", violations(page, of_colors=True))
        page.emulate_media(color_scheme="light")
        page.set_viewport_size(WIDEST)
        found.add(f"{name} at 4K", [*page.evaluate(TOO_SMALL, BY_MOUSE), *too_wide(page), *too_long(page)])
        page.set_viewport_size(NORMAL)
    assert not str(found), str(found)


@pytest.mark.parametrize("language", LOCALES)
def test_every_view_fits_320_pixels_which_are_1280_at_400_percent(visits: Visits, world: World, language: str) -> None:
    page, words, found = visits.open(language=language, size=NARROWEST, touch=True), Words(language), Findings()
    for name, view in views(world).items():
        if "thread=" in view.place:
            page.locator(".side-tabs").get_by_role("button").last.click()
        view.open(page, words)
        found.add(name, [*page.evaluate(TOO_SMALL, BY_FINGER), *too_wide(page)])
        # In Chinese axe looks at the usual size alone, above.
        found.add(name, violations(page) if language == "en" else [])
    assert not str(found), str(found)
