"""An answer that is being written goes on wherever the page was: loaded again, without network, in a second tab."""

from __future__ import annotations

from threading import Event
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from tests.fakes.held_model import BREAK, HOLD, HeldModel
from tests.web.browser.visits import set_in_view
from tests.web.browser.world import give_token

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page, Route

    from tests.e2e.person import Person
    from tests.web.browser.visits import Visits

BEGUN = "It begins here."
WHOLE = f"{BEGUN} And it ends there."
FINISHED = "The answer is finished."


def answers(page: Page) -> Locator:
    return page.get_by_role("region", name="Answer of the assistant")


def begin(page: Page, model: HeldModel) -> None:
    """Ask for an answer that stops in the middle."""
    model.script[:] = [f"{BEGUN} {HOLD}And it ends there."]
    page.get_by_role("textbox", name="Message").fill("Go on")
    page.keyboard.press("Enter")
    expect(answers(page)).to_contain_text(BEGUN)
    expect(page.get_by_role("button", name="Stop")).to_be_visible()


def expect_whole(page: Page) -> None:
    """The answer is there once, from its first word to its last."""
    expect(answers(page)).to_have_count(1)
    expect(answers(page).locator(".markdown")).to_have_text(WHOLE)
    expect(page.get_by_role("button", name="Stop")).to_have_count(0)


def test_a_page_that_is_loaded_again_goes_on_in_the_middle_of_the_answer(page: Page, model: HeldModel) -> None:
    begin(page, model)
    page.reload()
    expect(answers(page)).to_contain_text(BEGUN)
    expect(page.get_by_role("button", name="Stop")).to_be_visible()
    model.release()
    expect_whole(page)


def test_a_network_that_is_lost_in_the_middle_costs_no_word(page: Page, model: HeldModel, visits: Visits) -> None:
    begin(page, model)
    page.context.set_offline(True)
    expect(page.get_by_text("The service can't be reached.").first).to_be_visible()
    expect(answers(page)).to_contain_text(BEGUN)
    model.release()
    page.context.set_offline(False)
    expect_whole(page)
    expect(page.get_by_text("The service can't be reached.")).to_have_count(0)
    visits.complaints.clear()


def test_an_answer_that_nobody_looks_at_is_written_on_without_a_connection(page: Page, model: HeldModel) -> None:
    begin(page, model)
    with page.expect_event("requestfailed", lambda request: request.url.endswith("/api/chat")):
        set_in_view(page, is_in_view=False)
    model.release()
    with page.expect_response("**/api/runs/*/events"):
        set_in_view(page, is_in_view=True)
    expect_whole(page)


def test_a_message_that_could_not_be_sent_stays_and_is_sent_once(
    page: Page, model: HeldModel, owner: Person, visits: Visits
) -> None:
    model.script[:] = ["Hello.", "Here it is."]
    page.get_by_role("textbox", name="Message").fill("Hi")
    page.keyboard.press("Enter")
    expect(answers(page)).to_contain_text("Hello.")
    page.context.set_offline(True)
    page.get_by_role("textbox", name="Message").fill("Lost on the way")
    page.keyboard.press("Enter")
    alert = page.get_by_role("alert").filter(has_text="The service can't be reached.")
    expect(alert.first).to_be_visible()
    page.context.set_offline(False)
    page.get_by_role("button", name="Send again").click()
    expect(answers(page).last).to_contain_text("Here it is.")
    thread = owner.get(f"/api/threads/{page.url.split('thread=')[1]}")
    assert [one["text"] for one in thread["messages"] if one["role"] == "user"] == ["Hi", "Lost on the way"]
    visits.complaints.clear()


def test_a_second_tab_shows_the_same_answer_as_it_is_written(page: Page, model: HeldModel) -> None:
    begin(page, model)
    second = page.context.new_page()
    second.goto(page.url)
    expect(answers(second)).to_contain_text(BEGUN)
    model.release()
    for tab in (page, second):
        expect_whole(tab)
    model.script[:] = ["More."]
    second.get_by_role("textbox", name="Message").fill("And then?")
    second.keyboard.press("Enter")
    for tab in (page, second):
        expect(answers(tab)).to_have_count(2)
        expect(answers(tab).last).to_contain_text("More.")


def test_what_is_said_while_the_conversation_is_loaded_stays(page: Page, model: HeldModel) -> None:
    model.script[:] = ["First.", "More."]
    page.get_by_role("textbox", name="Message").fill("Go on")
    page.keyboard.press("Enter")
    expect(answers(page)).to_contain_text("First.")
    loaded = page.request.get(f"/api/threads/{page.url.split('thread=')[1]}")
    second = page.context.new_page()
    held: list[Route] = []
    is_sent = Event()

    def hold(route: Route) -> None:
        if is_sent.is_set():
            route.continue_()
        else:
            held.append(route)

    second.route("**/api/threads/*", hold)
    second.goto(page.url)
    expect(second.get_by_role("region", name="Assistant").get_by_text("Loading …")).to_be_visible()
    second.get_by_role("textbox", name="Message").fill("And then?")
    with second.expect_response("**/api/chat"):
        second.keyboard.press("Enter")
    is_sent.set()
    for route in held:
        route.fulfill(response=loaded)
    expect(answers(second)).to_have_count(2)
    expect(answers(second).first).to_contain_text("First.")
    expect(answers(second).last).to_contain_text("More.")


HELD_FRAMES = """
const draw = window.requestAnimationFrame.bind(window);
const held = [];
window.requestAnimationFrame = (callback) => (window.holds ? held.push(callback) : draw(callback));
window.drawHeld = () => { window.holds = false; held.splice(0).forEach(draw); };
"""


def test_a_message_whose_run_is_loaded_before_its_first_event_is_drawn_is_shown_once(
    page: Page, model: HeldModel
) -> None:
    model.script[:] = ["First.", f"{BEGUN} {HOLD}And it ends there."]
    page.get_by_role("textbox", name="Message").fill("Go on")
    page.keyboard.press("Enter")
    expect(answers(page)).to_contain_text("First.")
    second = page.context.new_page()
    second.add_init_script(HELD_FRAMES)
    held: list[Route] = []
    second.route("**/api/threads/*", lambda route: held.append(route))  # noqa: PLW0108 - Playwright keeps a mark on it
    with second.expect_request("**/api/threads/*"):
        second.goto(page.url)
    second.get_by_role("textbox", name="Message").fill("And then?")
    second.evaluate("window.holds = true")
    second.keyboard.press("Enter")
    expect(answers(page).last).to_contain_text(BEGUN)
    with second.expect_response("**/api/threads/*"):
        held[0].continue_()
    second.evaluate("() => fetch('/api/approvals').then((response) => response.text())")
    second.evaluate("window.drawHeld()")
    expect(answers(second).last).to_contain_text(BEGUN)
    model.release()
    for tab in (page, second):
        expect(answers(tab).last.locator(".markdown")).to_have_text(WHOLE)
        expect(answers(tab)).to_have_count(2)


def test_who_stops_in_one_tab_has_stopped_in_the_other(page: Page, model: HeldModel) -> None:
    begin(page, model)
    second = page.context.new_page()
    second.goto(page.url)
    second.get_by_role("button", name="Stop").click()
    for tab in (page, second):
        expect(answers(tab)).to_contain_text("You stopped it.")


def test_an_answer_goes_on_while_another_conversation_is_read(page: Page, model: HeldModel) -> None:
    begin(page, model)
    page.get_by_role("button", name="New conversation").click()
    expect(page.get_by_role("heading", name="What shall we do with your files?")).to_be_visible()
    model.release()
    page.get_by_role("button", name="Conversations").click()
    page.get_by_role("list", name="Conversations").get_by_role("button", name="Go on").first.click()
    expect_whole(page)


def test_a_session_that_ends_in_a_conversation_asks_to_sign_in_and_sends_what_was_written(
    page: Page, model: HeldModel, owner: Person
) -> None:
    model.script[:] = ["First.", "Second."]
    page.get_by_role("textbox", name="Message").fill("One")
    page.keyboard.press("Enter")
    expect(answers(page)).to_contain_text("First.")
    page.context.clear_cookies()
    page.get_by_role("textbox", name="Message").fill("Two")
    page.keyboard.press("Enter")
    dialog = page.get_by_role("dialog", name="Your session is over. Sign in again to go on.")
    expect(dialog).to_be_visible()
    give_token(dialog, owner.token)
    expect(answers(page)).to_have_count(2)
    expect(answers(page).last).to_contain_text("Second.")


STOPPED = {"en": ("Stop", "You stopped it."), "zh": ("停止", "您已停止。")}


@pytest.mark.parametrize("language", ["en", "zh"])
def test_a_stopped_answer_keeps_its_words_and_its_mark_when_the_page_is_loaded_again(
    visits: Visits, model: HeldModel, language: str
) -> None:
    stop, mark = STOPPED[language]
    page = visits.open(language=language)
    model.script[:] = [f"{BEGUN} {HOLD}And it ends there."]
    page.get_by_role("textbox", name={"en": "Message", "zh": "消息"}[language], exact=True).fill("Go on")
    page.keyboard.press("Enter")
    answer = page.locator(".answer")
    expect(answer).to_contain_text(BEGUN)
    page.get_by_role("button", name=stop, exact=True).click()
    expect(answer).to_contain_text(mark)
    page.reload()
    expect(answer).to_contain_text(BEGUN)
    expect(answer.get_by_text(mark)).to_have_count(1)


BROKEN_OFF = {"en": "The answer broke off here.", "zh": "回答在此中断。"}


@pytest.mark.parametrize("language", ["en", "zh"])
def test_an_answer_that_broke_off_keeps_its_words_and_says_so_when_the_page_is_loaded_again(
    visits: Visits, model: HeldModel, language: str
) -> None:
    page = visits.open(language=language)
    model.script[:] = [f"{BEGUN} {BREAK}"]
    page.get_by_role("textbox", name={"en": "Message", "zh": "消息"}[language], exact=True).fill("Go on")
    page.keyboard.press("Enter")
    answer = page.locator(".answer")
    expect(answer.get_by_role("alert")).to_be_visible()
    expect(answer).to_contain_text(BEGUN)
    page.reload()
    expect(answer).to_contain_text(BEGUN)
    expect(answer.get_by_text(BROKEN_OFF[language])).to_have_count(1)


def test_what_is_sent_again_is_said_once_and_in_no_other_conversation(
    page: Page, model: HeldModel, visits: Visits
) -> None:
    model.script[:] = ["Hello."]
    page.get_by_role("textbox", name="Message").fill("First")
    page.keyboard.press("Enter")
    expect(answers(page)).to_contain_text("Hello.")
    page.route("**/api/chat", lambda route: route.abort())
    page.get_by_role("textbox", name="Message").fill("For this one only")
    page.keyboard.press("Enter")
    again = page.get_by_role("button", name="Send again")
    expect(again).to_be_visible()
    page.unroute("**/api/chat")
    held: list[Route] = []
    page.route("**/api/runs?*", lambda route: held.append(route))  # noqa: PLW0108 - Playwright keeps a mark on it
    sent: list[str] = []
    page.on("request", lambda request: sent.append(request.url) if request.url.endswith("/api/chat") else None)
    with page.expect_request("**/api/runs?*"):
        again.evaluate("button => { button.click(); button.click(); }")
    page.get_by_role("button", name="New conversation").click()
    expect(page.get_by_text("For this one only")).to_have_count(0)
    with page.expect_response("**/api/runs?*"):
        for route in held:
            route.continue_()
    page.evaluate("() => fetch('/api/approvals').then((response) => response.text())")
    assert sent == []
    expect(page.get_by_text("For this one only")).to_have_count(0)
    visits.complaints.clear()


def test_a_message_beside_an_earlier_version_is_said_in_no_other_conversation(page: Page, model: HeldModel) -> None:
    model.script[:] = ["One.", "Two."]
    page.get_by_role("textbox", name="Message").fill("First")
    page.keyboard.press("Enter")
    expect(answers(page)).to_contain_text("One.")
    page.get_by_role("button", name="Answer again").click()
    expect(answers(page)).to_contain_text("Two.")
    page.get_by_role("button", name="Previous version").click()
    expect(answers(page)).to_contain_text("One.")
    place = page.url
    held: list[Route] = []
    page.route("**/api/threads/*", lambda route: held.append(route))  # noqa: PLW0108 - Playwright keeps a mark on it
    sent: list[str] = []
    page.on("request", lambda request: sent.append(request.url) if request.url.endswith("/api/chat") else None)
    page.get_by_role("textbox", name="Message").fill("For this one only")
    with page.expect_request("**/api/threads/*"):
        page.keyboard.press("Enter")
    page.get_by_role("button", name="New conversation").click()
    expect(answers(page)).to_have_count(0)
    page.unroute("**/api/threads/*")
    page.evaluate("() => fetch('/api/approvals').then((response) => response.text())")
    assert sent == []
    page.goto(place)
    expect(page.get_by_role("textbox", name="Message")).to_have_value("For this one only")
