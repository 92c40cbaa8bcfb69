"""Writing to the assistant: drafts, keys, input methods, files that are picked, pasted and dropped."""

from __future__ import annotations

import re
from contextlib import closing
from typing import TYPE_CHECKING, Any, Final

import pytest
from playwright.sync_api import expect

from tests.fakes.held_model import HOLD, HeldModel

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page, Request, Route

    from tests.e2e.person import Person
    from tests.web.browser.visits import Visits

GIVE: Final = """([kind, files, words]) => {
    const data = new DataTransfer();
    for (const [name, text] of files) data.items.add(new File([text], name, {type: 'text/plain'}));
    if (words) data.setData('text/plain', words);
    const target = document.querySelector(kind === 'paste' ? '#composer' : 'form.composer');
    const options = {bubbles: true, cancelable: true, clipboardData: data, dataTransfer: data};
    const give = (type, Kind) => target.dispatchEvent(new Kind(type, options));
    if (kind === 'paste') give('paste', ClipboardEvent);
    else for (const type of ['dragenter', 'dragover', 'drop']) give(type, DragEvent);
}"""
"""Pastes or drops files, as the browser does for what comes from outside of it."""
LATE_ENDS: Final = """() => {
    const real = window.fetch;
    const flush = () => new Promise((resolve) => { window.endStreams = resolve; });
    window.fetch = async (asked, ...options) => {
        const response = await real(asked, ...options);
        if (!String(asked).endsWith('/api/chat')) return response;
        return new Response(response.body.pipeThrough(new TransformStream({flush})), response);
    };
}"""
"""Keeps the stream of an answer open after its last event, until `endStreams` is called."""


def field(page: Page) -> Locator:
    return page.get_by_role("textbox", name="Message")


def attached(page: Page) -> Locator:
    return page.get_by_role("list", name="Goes with the message").get_by_role("listitem")


def attachments(request: Request) -> Any:
    """Return what a request sends along with a message."""
    sent = request.post_data_json
    return sent and sent["attachments"]


def questions(page: Page) -> Locator:
    return page.get_by_role("region", name=re.compile("^(You|您)$"))


def test_enter_sends_and_shift_enter_begins_a_line(page: Page, model: HeldModel) -> None:
    model.script[:] = ["Both lines came."]
    field(page).press_sequentially("one")
    field(page).press("Shift+Enter")
    field(page).press_sequentially("two")
    expect(field(page)).to_have_value("one\ntwo")
    expect(questions(page)).to_have_count(0)
    field(page).press("Enter")
    expect(questions(page)).to_have_count(1)
    expect(questions(page)).to_contain_text(re.compile("one\ntwo"))
    expect(field(page)).to_have_value("")
    expect(page.get_by_text("Both lines came.")).to_be_visible()


def test_an_input_method_takes_its_own_enter(visits: Visits, model: HeldModel) -> None:
    model.script[:] = ["好的。"]
    page = visits.open(language="zh")
    writing = page.get_by_role("textbox", name="消息")
    writing.focus()
    keyboard = page.context.new_cdp_session(page)
    keyboard.send("Input.imeSetComposition", {"text": "nihao", "selectionStart": 5, "selectionEnd": 5})
    # Chromium says of a key that an input method takes that it is composing, with the code 229.
    page.evaluate(
        "document.getElementById('composer').dispatchEvent("
        "new KeyboardEvent('keydown', {key: 'Enter', keyCode: 229, isComposing: true, bubbles: true}))"
    )
    expect(questions(page)).to_have_count(0)
    expect(writing).to_have_value("nihao")
    keyboard.send("Input.insertText", {"text": "你好"})
    expect(writing).to_have_value("你好")
    writing.press("Enter")
    expect(questions(page)).to_contain_text("你好")
    expect(page.get_by_text("好的。")).to_be_visible()


def test_each_conversation_keeps_its_own_draft_with_what_is_attached(
    page: Page, model: HeldModel, owner: Person
) -> None:
    item = owner.upload("oak.txt", "oak")
    model.script[:] = ["First.", "Second."]
    field(page).fill("About trees")
    field(page).press("Enter")
    expect(page.get_by_text("First.")).to_be_visible()
    first = page.url
    field(page).press_sequentially("a draft with @oak")
    page.get_by_role("option", name="oak.txt").click()
    expect(attached(page)).to_contain_text("oak.txt")
    page.get_by_role("button", name="New conversation").click()
    expect(field(page)).to_have_value("")
    expect(attached(page)).to_have_count(0)
    field(page).fill("another draft")
    page.goto(first)
    expect(field(page)).to_have_value("a draft with oak.txt ")
    expect(attached(page)).to_contain_text("oak.txt")
    page.reload()
    expect(field(page)).to_have_value("a draft with oak.txt ")
    expect(attached(page)).to_contain_text("oak.txt")
    page.get_by_role("button", name="New conversation").click()
    expect(field(page)).to_have_value("another draft")
    assert item["name"] == "oak.txt"


def test_a_file_is_picked_by_keys_and_goes_with_the_message(page: Page, owner: Person, model: HeldModel) -> None:
    owner.upload("橡树.txt", "橡树")
    item = owner.upload("oaks of the park.txt", "oak")
    model.script[:] = ["It is about oaks."]
    field(page).press_sequentially("What is in @oaks of")
    expect(page.get_by_role("option")).to_have_count(1)
    field(page).press("Enter")
    expect(field(page)).to_have_value("What is in oaks of the park.txt ")
    expect(field(page)).to_be_focused()
    with page.expect_request("**/api/chat") as sent:
        field(page).press("Enter")
    assert attachments(sent.value) == [{"file_id": item["id"]}]
    expect(questions(page)).to_contain_text("oaks of the park.txt")
    expect(attached(page)).to_have_count(0)
    field(page).press_sequentially("看看@橡")
    page.get_by_role("option", name="橡树.txt").click()
    expect(field(page)).to_have_value("看看橡树.txt ")


def test_escape_lets_the_list_of_files_go_and_an_address_opens_none(page: Page, owner: Person) -> None:
    owner.upload("elm.txt", "elm")
    field(page).press_sequentially("Write to ann@example.org and @elm")
    expect(page.get_by_role("option", name="elm.txt")).to_be_visible()
    field(page).press("Escape")
    expect(page.get_by_role("listbox", name="Files and folders")).to_have_count(0)
    expect(field(page)).to_have_value("Write to ann@example.org and @elm")
    field(page).fill("")
    field(page).press_sequentially("ann@exam")
    expect(page.get_by_role("listbox", name="Files and folders")).to_have_count(0)


@pytest.mark.parametrize("kind", ["paste", "drop"])
def test_files_that_are_pasted_or_dropped_are_uploaded_and_attached(
    page: Page, owner: Person, model: HeldModel, kind: str
) -> None:
    name = f"{kind}ed 文件.txt"
    page.evaluate(GIVE, [kind, [[name, "what is in it"]], ""])
    expect(attached(page)).to_contain_text(name)
    expect(page.get_by_role("row").filter(has_text=name)).to_be_visible()
    model.script[:] = ["Read."]
    field(page).fill("Read it")
    with page.expect_request("**/api/chat") as sent:
        field(page).press("Enter")
    file = next(item for item in owner.children() if item["name"] == name)
    assert attachments(sent.value) == [{"file_id": file["id"]}]
    assert owner.content(file["id"]) == "what is in it"


def test_files_of_the_device_are_chosen_and_go_to_the_folder_that_is_shown(visits: Visits, owner: Person) -> None:
    folder = owner.folder("Letters")
    page = visits.open(f"#/folder/{folder['id']}")
    expect(page.get_by_text("Nothing in here yet")).to_be_visible()
    with page.expect_file_chooser() as chooser:
        page.get_by_role("button", name="Attach files").click()
    chooser.value.set_files([{"name": "letter.txt", "mimeType": "text/plain", "buffer": b"Dear Ann"}])
    expect(attached(page)).to_contain_text("letter.txt")
    expect(field(page)).to_be_focused()
    assert owner.names(folder["id"]) == ["letter.txt"]


def test_what_is_attached_where_one_may_only_read_goes_to_the_own_files(visits: Visits, owner: Person) -> None:
    folder = owner.folder("Theirs to keep")
    with closing(owner.add_new("reader")) as reader:
        share = {"email": reader.email, "role": "viewer"}
        owner.http.post(f"/api/drive/items/{folder['id']}/shares", json=share).raise_for_status()
        page = visits.open(f"#/folder/{folder['id']}", reader)
        expect(page.get_by_text("Nothing in here yet")).to_be_visible()
        page.evaluate(GIVE, ["drop", [["mine.txt", "1"]], ""])
        expect(attached(page)).to_contain_text("mine.txt")
        assert "mine.txt" in reader.names()


def test_words_that_are_pasted_stay_words(page: Page, owner: Person) -> None:
    before = owner.names()
    field(page).focus()
    page.evaluate(GIVE, ["paste", [], "words"])
    expect(attached(page)).to_have_count(0)
    assert owner.names() == before


def test_what_is_attached_can_be_taken_away_again(page: Page, owner: Person) -> None:
    page.evaluate(GIVE, ["drop", [["one.txt", "1"], ["two.txt", "2"]], ""])
    expect(attached(page)).to_have_count(2)
    page.get_by_role("button", name="Take one.txt away").click()
    expect(attached(page)).to_have_count(1)
    expect(attached(page)).to_contain_text("two.txt")
    assert {"one.txt", "two.txt"} <= set(owner.names())


def test_what_is_written_while_an_answer_comes_stays_and_is_sent_after_it(page: Page, model: HeldModel) -> None:
    model.script[:] = [f"It begins {HOLD} and ends.", "Next."]
    field(page).fill("Go")
    field(page).press("Enter")
    expect(page.get_by_text("It begins")).to_be_visible()
    field(page).fill("and then?")
    field(page).press("Enter")
    expect(questions(page)).to_have_count(1)
    expect(field(page)).to_have_value("and then?")
    expect(page.get_by_text("This is sent when the answer is finished.", exact=False).last).to_be_visible()
    model.release()
    expect(page.get_by_text("Next.")).to_be_visible()
    expect(questions(page)).to_have_count(2)
    expect(field(page)).to_have_value("")


def test_what_is_sent_next_shows_no_answer_of_the_run_before_it_while_it_is_on_its_way(
    page: Page, model: HeldModel
) -> None:
    model.script[:] = [f"It begins {HOLD} and ends.", "Next."]
    page.evaluate(LATE_ENDS)
    field(page).fill("Go")
    field(page).press("Enter")
    expect(page.get_by_text("It begins")).to_be_visible()
    field(page).fill("and then?")
    field(page).press("Enter")
    held: list[Route] = []
    page.route("**/api/chat", lambda route: held.append(route))  # noqa: PLW0108 - Playwright keeps a mark on it
    model.release()
    expect(questions(page)).to_have_count(2)
    page.evaluate("() => window.endStreams()")
    page.evaluate("() => fetch('/api/runs?limit=1').then((response) => response.text())")
    expect(page.get_by_text("It begins and ends.")).to_have_count(1)
    held[0].continue_()
    expect(page.get_by_text("Next.")).to_be_visible()
    expect(page.get_by_text("It begins and ends.")).to_have_count(1)


def test_what_would_be_sent_next_can_be_kept_back(page: Page, model: HeldModel) -> None:
    model.script[:] = [f"It begins {HOLD} and ends."]
    field(page).fill("Go")
    field(page).press("Enter")
    expect(page.get_by_text("It begins")).to_be_visible()
    field(page).fill("not yet")
    field(page).press("Enter")
    page.get_by_role("button", name="Don't send").click()
    model.release()
    expect(page.get_by_role("status").filter(has_text="The answer is finished.")).to_have_count(1)
    expect(questions(page)).to_have_count(1)
    expect(field(page)).to_have_value("not yet")
