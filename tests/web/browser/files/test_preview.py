"""One open file: shown by its kind, at the passage that is cited, with its neighbours."""

from __future__ import annotations

import io
import re
import wave
from typing import TYPE_CHECKING

from playwright.sync_api import expect

from tests.drive_server.knowledge import documents
from tests.web.browser.axe import violations
from tests.web.browser.visits import NARROWEST
from tests.web.browser.world import open_file

if TYPE_CHECKING:
    from tests.e2e.person import Person
    from tests.web.browser.visits import Visits

SIZE = "width='40' height='40'"
HOSTILE = f"<svg xmlns='http://www.w3.org/2000/svg' {SIZE} onload='parent.alert(1)'><script>alert(1)</script></svg>"


def sound() -> bytes:
    """A moment of silence."""
    buffer = io.BytesIO()
    with wave.open(buffer, "wb") as out:
        out.setnchannels(1)
        out.setsampwidth(2)
        out.setframerate(8000)
        out.writeframes(bytes(16000))
    return buffer.getvalue()


def test_a_text_is_shown_as_it_is_and_nothing_in_it_is_run(visits: Visits, owner: Person) -> None:
    text = "<script>document.title = 'evil'</script>\n<b>bold</b> & 你好"
    page = open_file(visits, owner.upload("<img src=x onerror=alert(1)>.txt", text))
    expect(page.get_by_role("region", name="onerror").locator(".written")).to_have_text(text)
    assert "evil" not in page.title()
    assert violations(page) == []


def test_code_has_numbered_lines(visits: Visits, owner: Person) -> None:
    page = open_file(visits, owner.upload("run.py", "import os\n\nprint(os.name)\n"))
    expect(page.locator(".line-numbers")).to_have_text("1\n2\n3")
    expect(page.locator(".written")).to_contain_text("print(os.name)")


def test_a_table_of_many_rows_is_drawn_in_part_and_read_as_a_table(visits: Visits, owner: Person) -> None:
    rows = "\n".join(f'{number},"Name {number}, of many",{number * 3}' for number in range(3000))
    page = open_file(visits, owner.upload("numbers.csv", f"id,name,amount\n{rows}\n"))
    table = page.get_by_role("table", name="numbers.csv")
    expect(table.get_by_role("columnheader", name="amount")).to_be_visible()
    expect(table.get_by_role("cell", name="Name 7, of many")).to_be_visible()
    expect(table).to_have_attribute("aria-rowcount", "3001")
    assert table.get_by_role("row").count() < 100
    assert violations(page) == []
    page.get_by_role("button", name="Text").click()
    expect(page.locator(".written")).to_contain_text('7,"Name 7, of many",21')


def test_a_cited_passage_is_marked_in_view_and_its_older_version_said(visits: Visits, owner: Person) -> None:
    lines = [f"🎉 Line {number}: nothing to see." for number in range(400)]
    text = "\n".join(lines)
    item = owner.upload("long.txt", text)
    start = text.index("Line 300")
    end = start + len("Line 300: nothing")
    passage = f"?version=1&start={start}&end={end}&place=line%3D301"
    page = open_file(visits, item, passage)
    mark = page.locator("mark")
    expect(mark).to_have_text("Line 300: nothing")
    expect(mark).to_be_in_viewport()
    expect(page.get_by_text("Cited passage · line 301 · the newest version")).to_be_visible()
    owner.http.put(f"/api/drive/files/{item['id']}/content", content="All new.").raise_for_status()
    expect(page.get_by_text("the file has changed since, the newest is version 2")).to_be_visible()
    expect(mark).to_have_text("Line 300: nothing")
    page.get_by_role("button", name="Show the newest version").click()
    expect(page.locator(".written")).to_have_text("All new.")


def test_markdown_is_shown_as_it_is_meant_or_as_it_is_written(visits: Visits, owner: Person) -> None:
    text = "# The plan\n\n<img src=x onerror=alert(1)>We ship on **Friday**."
    page = open_file(visits, owner.upload("plan.md", text))
    expect(page.get_by_role("region", name="plan.md")).to_contain_text("The plan")
    expect(page.get_by_role("button", name="Formatted")).to_have_attribute("aria-pressed", "true")
    page.get_by_role("button", name="Text").click()
    expect(page.locator(".written")).to_contain_text("We ship on **Friday**.")


def test_asking_about_a_file_hands_it_to_the_conversation(visits: Visits, owner: Person) -> None:
    page = open_file(visits, owner.upload("question.txt", "Why?"), size=NARROWEST)
    page.get_by_role("button", name="Ask about this").click()
    expect(page.get_by_role("region", name="Assistant")).to_be_visible()


def test_a_picture_fits_and_grows_and_a_hostile_one_does_nothing(visits: Visits, owner: Person) -> None:
    page = open_file(visits, owner.upload("wide.png", documents.picture(1600, 900)))
    picture = page.get_by_role("img", name="wide.png")
    expect(picture).to_be_visible()
    expect(picture).to_have_js_property("complete", True)
    fitting = picture.bounding_box()
    page.get_by_role("button", name="Larger").click()
    expect(page.get_by_role("button", name="150 %")).to_be_visible()
    grown = picture.bounding_box()
    assert fitting is not None
    assert grown is not None
    assert fitting["width"] < 900
    assert grown["width"] == 2400
    assert violations(page) == []
    evil = open_file(visits, owner.upload("evil.svg", HOSTILE))
    expect(evil.get_by_role("img", name="evil.svg")).to_be_visible()


def test_a_damaged_picture_says_so_and_can_be_downloaded(visits: Visits, owner: Person) -> None:
    page = open_file(visits, owner.upload("broken.png", b"\x89PNG no"), size=NARROWEST, dark=True)
    expect(page.get_by_text("This file can't be shown")).to_be_visible()
    with page.expect_download() as download:
        page.get_by_role("link", name="Download").click()
    assert download.value.suggested_filename == "broken.png"
    assert violations(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= NARROWEST[0]


def test_a_page_is_shown_by_its_source_or_by_its_words(visits: Visits, owner: Person) -> None:
    source = "<!doctype html>\n<h1>价格</h1>\n<script>alert(1)</script>\n"
    page = open_file(visits, owner.upload("page.html", source.encode("gb18030")))
    expect(page.locator(".written")).to_have_text(source)
    expect(page.locator(".line-numbers")).to_have_text("1\n2\n3")
    page.get_by_role("button", name="Text", exact=True).click()
    expect(page.get_by_text("The words of the file, without its layout.")).to_be_visible()


def test_a_pdf_that_is_none_says_so_and_can_be_downloaded(visits: Visits, owner: Person) -> None:
    page = open_file(visits, owner.upload("letter.pdf", b"no PDF at all"))
    expect(page.get_by_text("it is damaged, or not what its name says")).to_be_visible()
    expect(page.get_by_role("link", name="Download")).to_be_visible()


def test_an_office_document_shows_its_words(visits: Visits, owner: Person) -> None:
    page = open_file(visits, owner.upload("预算.xlsx", documents.workbook()), language="zh")
    expect(page.get_by_text("文件的文字内容（不含排版）。")).to_be_visible()
    expect(page.locator(".written")).to_contain_text("张三")


def test_sound_can_be_played_and_other_files_have_facts(visits: Visits, owner: Person) -> None:
    folder = owner.folder("Kinds")
    audio = owner.upload("beep.wav", sound(), folder["id"])
    owner.upload("thing.bin", bytes(range(256)) * 4, folder["id"])
    page = open_file(visits, audio)
    expect(page.locator("audio")).to_have_attribute("src", re.compile(audio["id"]))
    page.get_by_role("button", name="Next file: thing.bin").click()
    expect(page.get_by_text("This kind of file can't be shown here.")).to_be_visible()
    expect(page.get_by_text("1 kB")).not_to_have_count(0)
    page.keyboard.press("ArrowLeft")
    expect(page.get_by_role("heading", name="beep.wav")).to_be_visible()
    page.get_by_role("link", name="Back to the folder").click()
    expect(page).to_have_url(re.compile(f"#/folder/{folder['id']}"))


def test_what_is_gone_says_so(visits: Visits) -> None:
    page = visits.open("#/file/00000000000000000000000000000000")
    expect(page.get_by_role("alert")).to_be_visible()
    expect(page.get_by_role("button", name="Try again")).to_be_visible()
