from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from drive_server.services.search import fuzzy_names as near_names
from drive_server.services.search.fuzzy_names import is_slip, match_near_names, score_near
from drive_server.services.tree.nodes import visible_ids

if TYPE_CHECKING:
    from drive_server.drive import Drive
    from drive_server.kernel.access import Actor


async def near(drive: Drive, actor: Actor, query: str) -> list[str]:
    async with drive.database.read() as session:
        found = await match_near_names(session, visible_ids(actor.principal), query, with_slips=True)
    return [match.name for match in found]


@pytest.mark.parametrize(
    ("name", "query"),
    [
        ("Résumé 2026.docx", "resume"),
        ("resume.docx", "résumé"),
        ("Şişli.txt", "sisli"),
        ("年度會議記錄.docx", "会议记录"),
        ("年度会议记录.docx", "會議記錄"),
        ("年度報告.docx", "年度报告"),
        ("ＢＵＤＧＥＴ２０２６.xlsx", "budget 2026"),
        ("budget.xlsx", "ＢＵＤＧＥＴ"),
        ("annual report.md", "annual_report"),
        ("annual-report.md", "AnnualReport"),
        ("AnnualReport.md", "annual_report"),
        ("Quarterly figures.xlsx", "quartely figures"),
        ("budget.xlsx", "budegt"),
        ("Invoices.pdf", "invoises"),
        ("Accommodation.pdf", "acomodation"),
        ("Отчёт.docx", "отчет"),
        ("تَقرير.pdf", "تقرير"),
        ("O’Brien.txt", "O'Brien"),
        ("O'Brien.txt", "O’Brien"),
        ("Oʼbrien.txt", "o`brien"),
        ("O’Brien.txt", "obrien"),
        ("Obrien.txt", "O'Brien"),
        ("Ann’s plan.md", "anns plan"),
        ("L’Hôpital.md", "l'hopital"),
        ("Müller Straße.md", "muller strasse"),
        ("Łódź.md", "lodz"),
        ("Ærø.md", "aero"),
        ("Đà Nẵng.md", "da nang"),
    ],
)
async def test_names_are_found_in_other_forms_and_with_slips(drive: Drive, alice: Actor, name: str, query: str) -> None:
    for other in (name, "unrelated.md", "合同.pdf"):
        await drive.files.create_folder(alice, "root", other)
    assert await near(drive, alice, query) == [name]


@pytest.mark.parametrize("query", ["%", "_", "a_c", "!!!", "¨", "one two three four five", "cat", "' OR 1=1 --"])
async def test_there_are_no_wildcards_and_questions_are_no_names(drive: Drive, alice: Actor, query: str) -> None:
    await drive.files.create_folder(alice, "root", "car")
    await drive.files.create_folder(alice, "root", "abc")
    assert await near(drive, alice, query) == []


async def test_what_others_have_is_not_found_by_a_slip_either(drive: Drive, alice: Actor, bob: Actor) -> None:
    await drive.files.create_folder(bob, "root", "budget")
    assert await near(drive, alice, "budegt") == []


async def test_a_search_takes_slips_only_when_no_name_has_the_words(drive: Drive, alice: Actor) -> None:
    await drive.files.create_folder(alice, "root", "Quarterly")
    page = await drive.search.find(alice, "quartely")
    assert [hit.item.name for hit in page.items] == ["Quarterly"]
    await drive.files.create_folder(alice, "root", "quartely plan")
    page = await drive.search.find(alice, "quartely")
    assert [hit.item.name for hit in page.items] == ["quartely plan"]


async def test_where_a_text_has_the_very_words_no_name_with_a_slip_is_found(drive: Drive, alice: Actor) -> None:
    await drive.files.create_folder(alice, "root", "resort")
    await drive.files.create_folder(alice, "root", "ＲＥＰＯＲＴ")
    await drive.documents.create(alice, "root", "a.md", "The report is late.")
    await drive.ingester.drain()
    page = await drive.search.find(alice, "report")
    assert [hit.item.name for hit in page.items] == ["a.md", "ＲＥＰＯＲＴ"]
    page = await drive.search.find(alice, "report", kind="folder")
    assert [hit.item.name for hit in page.items] == ["ＲＥＰＯＲＴ"]
    page = await drive.search.find(alice, "resrot", kind="folder")
    assert [hit.item.name for hit in page.items] == ["resort"]


async def test_every_near_name_comes_once_over_the_pages(drive: Drive, alice: Actor) -> None:
    names = {f"Quarterly {number}" for number in range(5)}
    for name in names:
        await drive.files.create_folder(alice, "root", name)
    shown: list[str] = []
    cursor = None
    while True:
        page = await drive.search.find(alice, "quartely", limit=2, cursor=cursor)
        shown += [hit.item.name for hit in page.items]
        if (cursor := page.cursor) is None:
            break
    assert sorted(shown) == sorted(names)


@pytest.mark.parametrize("query", ["quartely", "résumé", "ＳＵＭＭＡＲＹ", "sisli"])
async def test_a_name_is_found_among_many_others(
    drive: Drive, alice: Actor, monkeypatch: pytest.MonkeyPatch, query: str
) -> None:
    monkeypatch.setattr(near_names, "MAX_COMPARED", 3)
    for number in range(8):
        await drive.files.create_folder(alice, "root", f"unrelated notes {number}")
    for name in ("Quarterly", "resume", "ｓｕｍｍａｒｙ", "Şişli"):
        await drive.files.create_folder(alice, "root", name)
    assert len(await near(drive, alice, query)) == 1


def test_the_same_in_another_form_is_better_than_a_slip() -> None:
    assert score_near("Café", "cafe") > score_near("Cafes", "cafee") > 0


@pytest.mark.parametrize(
    ("word", "other", "slips"),
    [
        ("report", "reprot", True),
        ("report", "reports", True),
        ("report", "repo", False),
        ("quarterly", "qaurtelry", True),
        ("quarterly", "quarter", True),
        ("cat", "car", False),
        ("2024", "2025", False),
        ("会议", "会谈", False),
    ],
)
def test_a_slip_is_one_letter_and_two_in_long_words(word: str, other: str, slips: bool) -> None:
    assert is_slip(word, other) is slips


@pytest.mark.parametrize(("name", "query"), [("йод.md", "иод"), ("がく.md", "かく"), ("їжак.md", "іжак")])
async def test_letters_that_a_mark_makes_others_stay(drive: Drive, alice: Actor, name: str, query: str) -> None:
    await drive.files.create_folder(alice, "root", name)
    async with drive.database.read() as session:
        visible = visible_ids(alice.principal)
        assert await match_near_names(session, visible, query, with_slips=False) == []


async def test_names_with_and_without_accents_are_found_together(drive: Drive, alice: Actor) -> None:
    for name in ("resume.md", "Résumé 2026.md", "RESUMÉ", "O’Brien.txt", "O'Brien"):
        await drive.files.create_folder(alice, "root", name)
    for query in ("resume", "résumé"):
        found = [hit.item.name for hit in (await drive.search.find(alice, query)).items]
        assert sorted(found) == ["RESUMÉ", "Résumé 2026.md", "resume.md"]
    for query in ("O'Brien", "O’Brien", '"O’Brien"'):
        assert len((await drive.search.find(alice, query)).items) == 2
