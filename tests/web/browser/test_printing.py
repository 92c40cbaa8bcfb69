"""On paper: the conversation or an open file, whole, dark on light, without what only a screen can use."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pypdfium2
import pytest
from playwright.sync_api import expect

if TYPE_CHECKING:
    from playwright.sync_api import Page

    from tests.e2e.person import Person
    from tests.fakes.chat_model import ScriptedChatModel
    from tests.web.browser.visits import Visits

LINES = 300
PARAGRAPHS = "\n\n".join(f"paragraph {number}" for number in range(LINES))


def paper(page: Page) -> str:
    """Return the words that Ctrl+P brings to paper."""
    document = pypdfium2.PdfDocument(page.pdf())
    return "\n".join(page.get_textpage().get_text_range() for page in document)


def ask(page: Page, message: str) -> None:
    page.get_by_role("textbox", name="Message").fill(message)
    page.keyboard.press("Enter")
    expect(page.get_by_role("status").filter(has_text="The answer is finished.")).to_have_count(1)


def test_a_conversation_is_printed_from_its_beginning_to_its_end(page: Page, model: ScriptedChatModel) -> None:
    model.script[:] = [PARAGRAPHS]
    ask(page, "Tell me everything")
    expect(page.get_by_text(f"paragraph {LINES - 1}", exact=True)).to_be_attached()
    printed = paper(page)
    assert "Tell me everything" in printed
    assert [number for number in range(LINES) if f"paragraph {number}" not in printed] == []
    assert "Upload" not in printed


def test_files_are_printed_whole(visits: Visits, owner: Person) -> None:
    page = visits.open()
    for name, line in (("long.md", "- line {}\n"), ("long.txt", "line {}\n"), ("long.csv", "line {},x\n")):
        item = owner.upload(name, "".join(line.format(number) for number in range(LINES)))
        page.goto(f"/#/file/{item['id']}")
        expect(page.get_by_role("heading", name=name)).to_be_visible()
        expect(page.locator(".preview").get_by_text("line 3", exact=False).first).to_be_visible()
        printed = paper(page)
        assert [number for number in range(LINES) if f"line {number}" not in printed] == []
        assert name in printed
        assert "Ask about your files" not in printed
        assert page.locator(".chat-side").is_visible()


def test_dark_pages_are_printed_dark_on_light(visits: Visits, owner: Person) -> None:
    item = owner.upload("dark.txt", "night")
    page = visits.open(f"#/file/{item['id']}", dark=True)
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    expect(page.get_by_text("night")).to_be_visible()
    page.evaluate("addEventListener('beforeprint', () => window.before = document.documentElement.dataset.theme)")
    assert "night" in paper(page)
    assert page.evaluate("window.before") == "light"
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")


@pytest.fixture
def printing(page: Page) -> Any:
    """The page with a print dialogue that says what is on paper."""
    page.evaluate("window.print = () => { window.paper = document.body.dataset.printed; }")
    return page


def test_each_side_is_printed_from_its_own_menu(printing: Page, owner: Person, model: ScriptedChatModel) -> None:
    model.script[:] = ["Here."]
    ask(printing, "Where?")
    item = owner.upload("plan.md", "# Plan")
    thread = printing.url.split("?")[1]
    printing.goto(f"/#/file/{item['id']}?{thread}")
    printing.get_by_role("button", name="More actions", exact=True).click()
    printing.get_by_role("menuitem", name="Print").click()
    printing.wait_for_function("() => window.paper === 'files'")
    printing.get_by_role("button", name="More of this conversation").click()
    printing.get_by_role("menuitem", name="Print").click()
    printing.wait_for_function("() => window.paper === 'chat'")
    expect(printing.locator("body")).to_have_attribute("data-printed", "")
