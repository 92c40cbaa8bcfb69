"""The conversation: asked, answered as it is written, stopped, gone back to."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from playwright.sync_api import expect

from tests.fakes.chat_model import tool_call
from tests.fakes.held_model import HOLD, HeldModel
from tests.web.browser.visits import NARROWEST

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page

    from tests.e2e.person import Person
    from tests.web.browser.visits import Visits


SHAPES = """# Plan

It has **two** parts:

- [x] one
- [ ] two

| a | b |
|---|--:|
| 1 | 2 |

```js
let a = 1;
```
"""


def say(page: Page, message: str) -> None:
    field = page.get_by_role("textbox", name="Message")
    field.fill(message)
    field.press("Enter")


def answer(page: Page) -> Locator:
    return page.get_by_role("region", name="Answer of the assistant").last


def test_an_answer_is_drawn_as_what_it_means(page: Page, model: HeldModel) -> None:
    model.script[:] = [SHAPES]
    say(page, "What is the plan?")
    expect(answer(page).get_by_role("heading", name="Plan")).to_be_visible()
    expect(answer(page).get_by_role("checkbox")).to_have_count(2)
    expect(answer(page).get_by_role("cell", name="2")).to_be_visible()
    expect(answer(page).get_by_role("button", name="Copy the code")).to_be_visible()
    expect(page.get_by_role("heading", name="What is the plan?")).to_be_visible()
    expect(page).to_have_url(re.compile("thread="))


def test_what_the_assistant_does_is_told_in_words_of_people(page: Page, owner: Person, model: HeldModel) -> None:
    owner.upload("harvest.txt", "Ten tons of apples.")
    model.script[:] = [tool_call("search_files", query="harvest"), "It is there."]
    say(page, "Where is the harvest?")
    call = answer(page).get_by_role("group").filter(has_text="Search")
    expect(call.get_by_role("img", name="Done")).to_be_visible()
    call.locator("summary").first.click()
    call.get_by_role("button", name="harvest.txt").click()
    expect(page).to_have_url(re.compile("#/file/"))


def test_a_run_is_stopped_and_the_next_message_is_answered(page: Page, model: HeldModel) -> None:
    model.script[:] = [f"It begins {HOLD} and never ends."]
    say(page, "Think for long")
    expect(answer(page).get_by_text("It begins")).to_be_visible()
    page.get_by_role("button", name="Stop").click()
    expect(answer(page).get_by_text("You stopped it.")).to_be_visible()
    model.script[:] = ["Here I am."]
    say(page, "And now?")
    expect(answer(page).get_by_text("Here I am.")).to_be_visible()


def test_an_error_says_what_happened_and_another_try_answers(page: Page, model: HeldModel) -> None:
    model.script[:] = [ValueError("broken")]
    say(page, "Try it")
    expect(answer(page).get_by_role("alert")).to_be_visible()
    model.script[:] = ["Now it went well."]
    answer(page).get_by_role("button", name="Try again").click()
    expect(answer(page).get_by_text("Now it went well.")).to_be_visible()


def test_a_changed_message_has_versions_to_look_through(page: Page, model: HeldModel) -> None:
    model.script[:] = ["Red it is.", "Blue it is."]
    say(page, "Make it red")
    expect(answer(page).get_by_text("Red it is.")).to_be_visible()
    page.get_by_role("textbox", name="Message").press("ArrowUp")
    field = page.get_by_role("textbox", name="Change the message")
    expect(field).to_be_focused()
    field.fill("Make it blue")
    field.press("Enter")
    expect(answer(page).get_by_text("Blue it is.")).to_be_visible()
    versions = page.get_by_role("group", name="Versions of the message")
    expect(versions).to_contain_text("2/2")
    versions.get_by_role("button", name="Previous version").click()
    expect(answer(page).get_by_text("Red it is.")).to_be_visible()
    expect(versions).to_contain_text("1/2")


def test_answers_questions_and_code_are_copied_with_and_without_the_browsers_clipboard(
    visits: Visits, model: HeldModel
) -> None:
    context = visits.context()
    context.grant_permissions(["clipboard-read", "clipboard-write"])
    page = context.new_page()
    page.goto("/")
    model.script[:] = [SHAPES]
    say(page, "The plan?")
    for where, name, copied in (
        (page.get_by_role("region", name="You"), "Copy", "The plan?"),
        (answer(page), "Copy the code", "let a = 1;"),
        (answer(page), "Copy", SHAPES.strip()),
    ):
        where.get_by_role("button", name=name, exact=True).click()
        expect(where.get_by_role("button", name="Copied").last).to_be_visible()
        assert page.evaluate("navigator.clipboard.readText()").strip() == copied
    # Over HTTP and from another machine there is no such clipboard.
    page.evaluate("navigator.clipboard.writeText('before')")
    page.evaluate("Object.defineProperty(navigator, 'clipboard', {value: undefined, configurable: true})")
    page.get_by_role("region", name="You").get_by_role("button", name="Copy", exact=True).click()
    expect(page.get_by_role("region", name="You").get_by_role("button", name="Copied")).to_be_visible()
    page.evaluate("delete navigator.clipboard")
    assert page.evaluate("navigator.clipboard.readText()") == "The plan?"


def test_a_browser_that_lets_nothing_be_copied_is_no_success(page: Page, model: HeldModel) -> None:
    model.script[:] = ["Here."]
    say(page, "Where?")
    expect(answer(page).get_by_text("Here.")).to_be_visible()
    page.evaluate("Object.defineProperty(navigator, 'clipboard', {value: undefined})")
    page.evaluate("document.execCommand = () => false")
    answer(page).get_by_role("button", name="Copy", exact=True).click()
    expect(page.get_by_text("The browser does not let the page copy.").first).to_be_visible()
    expect(page.get_by_role("button", name="Copied")).to_have_count(0)


def test_an_answer_is_given_again_and_what_the_first_did_is_taken_back(
    page: Page, owner: Person, model: HeldModel
) -> None:
    model.script[:] = [tool_call("create_folder", name="By mistake", folder_id="root"), "Made.", "Nothing made."]
    say(page, "Think of something")
    expect(answer(page).get_by_text("Made.", exact=True)).to_be_visible()
    answer(page).get_by_role("button", name="Answer again").click()
    expect(answer(page).get_by_text("Nothing made.")).to_be_visible()
    expect(page.get_by_text("The earlier version of this message had changed something")).to_be_visible()
    assert "By mistake" in owner.names()
    page.get_by_role("button", name="Take it back").click()
    expect(page.get_by_text("It was undone.").first).to_be_visible()
    assert "By mistake" not in owner.names()
    expect(page.get_by_role("group", name="Versions of the message")).to_contain_text("2/2")


def test_what_is_written_comes_piece_by_piece_and_is_announced_once(page: Page, model: HeldModel) -> None:
    model.script[:] = [f"Once {HOLD} upon a time."]
    say(page, "Tell me")
    expect(page.get_by_role("log")).to_have_attribute("aria-live", "off")
    expect(page.get_by_role("status").filter(has_text="The answer is being written.")).to_have_count(1)
    expect(answer(page).get_by_text("Once")).to_be_visible()
    expect(answer(page)).to_have_attribute("aria-busy", "true")
    model.release()
    expect(page.get_by_role("status").filter(has_text="The answer is finished.")).to_have_count(1)
    expect(answer(page)).to_have_attribute("aria-busy", "false")


def test_the_transcript_stays_where_the_person_reads(page: Page, model: HeldModel) -> None:
    model.script[:] = ["line\n\n" * 80, "The newest."]
    say(page, "A long one")
    body = page.locator(".chat-body")
    expect(page.get_by_role("status").filter(has_text="The answer is finished.")).to_have_count(1)
    body.hover()
    page.mouse.wheel(0, -3000)
    expect(page.get_by_role("button", name="To the newest")).to_be_visible()
    page.get_by_role("button", name="To the newest").click()
    expect(page.get_by_role("button", name="To the newest")).to_have_count(0)


def test_the_narrowest_page_has_the_conversation_whole(visits: Visits, model: HeldModel) -> None:
    page = visits.open(size=NARROWEST)
    page.get_by_role("button", name="Assistant").click()
    model.script[:] = ["word " * 60]
    say(page, "Go on")
    expect(answer(page)).to_have_attribute("aria-busy", "false")
    assert page.evaluate("document.documentElement.scrollWidth") <= NARROWEST[0]
