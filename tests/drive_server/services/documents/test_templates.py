"""Templates: placeholders of a text or Word file, filled into a new file."""

from __future__ import annotations

import io
import time
from dataclasses import replace
from typing import TYPE_CHECKING

import docx
import pytest

from drive_server.kernel.errors import (
    EtagMismatchError,
    InvalidInputError,
    NameConflictError,
    NotFoundError,
    TooLargeError,
    UnsupportedContentError,
)
from drive_server.kernel.messages import render
from drive_server.services.documents.placeholders import fill_docx
from drive_server.services.documents.templates import TemplateService
from drive_server.services.text.contents import Contents
from tests.drive_server.actors import rehearsing
from tests.drive_server.store import in_run

if TYPE_CHECKING:
    from drive_server.kernel.access import Actor
    from tests.drive_server.store import Store


@pytest.fixture
def templates(store: Store) -> TemplateService:
    return TemplateService(store.database, store.journal, Contents(store.blobs, store.texts, 1_000_000))


def letter() -> bytes:
    """Return a Word file with placeholders in runs of their own, in a table and in its header."""
    document = docx.Document()
    document.sections[0].header.paragraphs[0].text = "Ref {{ref}}"
    paragraph = document.add_paragraph("Dear ")
    paragraph.add_run("{{cli").bold = True
    paragraph.add_run("ent}}, you owe {{ amount }}.")
    document.add_table(1, 1).cell(0, 0).text = "{{client}}/{{地址}}"
    out = io.BytesIO()
    document.save(out)
    return out.getvalue()


async def test_a_text_is_filled_into_a_new_file_beside_it_and_stays_as_it_is(
    store: Store, ana: Actor, templates: TemplateService
) -> None:
    await store.folder(ana, "/Forms")
    await store.file(ana, "/Forms/t.md", "Dear {{ client }},\r\n{{客户}} owes {{amount}}. {{Client}}!\r\n")
    values = {"client": "Ms {{x}}", "客户": "李", "amount": "3\n4"}
    made = (await templates.fill(ana, "/Forms/t.md", values, None, "Letter")).value
    assert made.path == "/Forms/Letter.md"
    assert await store.text(ana, made.id) == "Dear Ms {{x}},\r\n李 owes 3\n4. Ms {{x}}!\r\n"
    assert (await store.text(ana, "/Forms/t.md")).startswith("Dear {{ client }}")
    change = (await store.journal.list_changes(ana)).items[0]
    assert change.summary == "Filled in 't.md', as the file 'Letter.md' in 'Forms'."
    await store.undo.undo(ana)
    assert await store.names(ana, "/Forms") == ["t.md"]


async def test_a_word_file_is_filled_in_text_tables_and_headers_and_keeps_its_formatting(
    store: Store, ana: Actor, templates: TemplateService
) -> None:
    await store.file(ana, "/t.docx", letter())
    values = {"ref": "7", "client": "Ada <A&B>", "amount": "5 €\nby May", "地址": "上海"}
    made = (await templates.fill(ana, "/t.docx", values, "root", "Letter to Ada v1.2")).value
    assert made.name == "Letter to Ada v1.2.docx"
    content = await store.documents.open_content(ana, made.id)
    document = docx.Document(io.BytesIO(b"".join([piece async for piece in content.stream()])))
    paragraph = document.paragraphs[0]
    assert paragraph.text == "Dear Ada <A&B>, you owe 5 €\nby May."
    assert [(run.text, run.bold) for run in paragraph.runs][1] == ("Ada <A&B>", True)
    assert document.tables[0].cell(0, 0).text == "Ada <A&B>/上海"
    assert document.sections[0].header.paragraphs[0].text == "Ref 7"


@pytest.mark.parametrize("is_word", [False, True])
async def test_what_is_missing_and_what_is_unknown_is_said_before_anything_is_written(
    store: Store, ana: Actor, templates: TemplateService, is_word: bool
) -> None:
    await store.file(ana, "/t.docx", letter()) if is_word else await store.file(
        ana, "/t.docx.md", "{{ref}} {{client}} {{amount}} {{地址}}"
    )
    (name,) = await store.names(ana)
    with pytest.raises(InvalidInputError) as caught:
        await templates.fill(ana, f"/{name}", {"client": "x", "Ref": "1", "sum": "5"}, None, "n")
    assert sorted(caught.value.details["missing"]) == ["amount", "地址"]
    assert caught.value.details["unknown"] == ["sum"]
    assert "no value for" in caught.value.message
    assert "没有名为 sum 的占位符" in render(caught.value.reason, "zh")
    with pytest.raises(InvalidInputError, match=r"no value for .*ref"):
        await templates.fill(ana, f"/{name}", {}, None, "n")
    assert await store.names(ana) == [name]


async def test_what_is_no_template_is_refused(store: Store, ana: Actor, ben: Actor, templates: TemplateService) -> None:
    for path, content in (("/a.md", "no braces"), ("/b.docx", b"PK\x03\x04 damaged"), ("/c.png", b"\x89PNG\r\n")):
        await store.file(ana, path, content)
    with pytest.raises(InvalidInputError, match="no placeholders"):
        await templates.fill(ana, "/a.md", {}, None, "n")
    for path in ("/b.docx", "/c.png"):
        with pytest.raises(UnsupportedContentError):
            await templates.fill(ana, path, {"x": "y"}, None, "n")
    with pytest.raises(NotFoundError):
        await templates.fill(ben, "/a.md", {}, None, "n")
    await store.file(ana, "/t.md", "{{x}}")
    with pytest.raises(InvalidInputError, match="control"):
        await templates.fill(ana, "/t.md", {"x": "\x00"}, None, "n")
    with pytest.raises(NameConflictError):
        await templates.fill(ana, "/t.md", {"x": "y"}, None, "t.md")
    assert (await templates.fill(ana, "/t.md", {"x": "y"}, None, "t", on_conflict="rename")).value.name == "t (2).md"


async def test_what_was_approved_holds_for_the_template_that_was_shown(
    store: Store, ana: Actor, templates: TemplateService
) -> None:
    await store.file(ana, "/t.md", "Pay {{sum}}")
    effect = (await templates.fill(rehearsing(ana), "/t.md", {"sum": "5"}, None, "n")).effect
    assert effect
    assert effect.diff
    assert "+Pay 5" in effect.diff
    await store.documents.write_text(ana, "/t.md", "Pay twice {{sum}}")
    with pytest.raises(EtagMismatchError):
        await templates.fill(replace(ana, if_match=effect.etag), "/t.md", {"sum": "5"}, None, "n")
    keyed = in_run(ana, "run-1", "key")
    first = await templates.fill(keyed, "/t.md", {"sum": "5"}, None, "n")
    again = await templates.fill(keyed, "/t.md", {"sum": "5"}, None, "n")
    assert (again.replayed, again.value) == (True, first.value)


def test_a_word_file_is_filled_with_the_same_bytes_at_any_time(monkeypatch: pytest.MonkeyPatch) -> None:
    template, values = letter(), {"ref": "7", "client": "Ada", "amount": "5", "地址": "x"}
    first = fill_docx(template, values)

    def later(*_: object) -> time.struct_time:
        return time.gmtime(2_000_000_000)

    monkeypatch.setattr(time, "localtime", later)
    assert fill_docx(template, values) == first


async def test_values_that_would_make_a_huge_file_are_refused_before_it_is_made(
    store: Store, ana: Actor, templates: TemplateService
) -> None:
    document = docx.Document()
    document.add_paragraph("{{a}}" * 100)
    out = io.BytesIO()
    document.save(out)
    await store.file(ana, "/t.docx", out.getvalue())
    await store.file(ana, "/t.md", "{{a}}" * 200_000)
    for name in ("/t.docx", "/t.md"):
        with pytest.raises(TooLargeError):
            await templates.fill(ana, name, {"a": "x" * 20_000}, None, "huge")


@pytest.mark.timeout(20)
def test_many_placeholders_of_a_paragraph_are_filled_in_time_wherever_they_are_divided() -> None:
    document = docx.Document()
    paragraph = document.add_paragraph("<" + "{{a}}" * 20_000)
    for piece in ("{", "{a", "}", "} {{b}}-{{", "", "c}}") * 100:
        paragraph.add_run(piece)
    out = io.BytesIO()
    document.save(out)
    filled = docx.Document(io.BytesIO(fill_docx(out.getvalue(), {"a": "12", "b": "", "c": "{{a}}\n"})))
    assert filled.paragraphs[0].text == "<" + "12" * 20_000 + "12 -{{a}}\n" * 100
