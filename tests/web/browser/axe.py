"""axe-core in a page: what it finds against WCAG 2.2 A and AA, and its best practices."""

from __future__ import annotations

import json
from functools import cache
from typing import TYPE_CHECKING, Any, Final

from tests.node.runtime import PACKAGES

if TYPE_CHECKING:
    from playwright.sync_api import Page

COLORS: Final = ("color-contrast", "link-in-text-block")
"""The rules of colors that WCAG 2.2 A and AA have."""


@cache
def _source() -> str:
    return (PACKAGES / "node_modules" / "axe-core" / "axe.min.js").read_text()


def violations(page: Page, *, of_colors: bool = False) -> list[str]:
    """Return a line for each violation, of all rules or those of colors: the rule, what it asks for, and where."""
    # Evaluated by the debugger: the page's own policy lets no foreign script in.
    if page.evaluate("!window.axe"):
        page.evaluate(_source())
    options = {"runOnly": {"type": "rule", "values": COLORS}} if of_colors else {}
    found: list[dict[str, Any]] = page.evaluate(
        "async options => (await axe.run(document, options)).violations", options
    )
    return [
        f"{rule['id']}: {rule['help']}: {json.dumps([node['html'][:160] for node in rule['nodes'][:3]])}"
        for rule in found
    ]
