from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from drive_server.drive import Drive
    from drive_server.kernel.access import Actor

FILES = {
    "annual report.md": "Nothing about time off.",
    "report annual draft.md": "# 帶薪假期\n\n員工每年有十五天。",
    "notes.md": "The invoice INV-2024-0031 was paid.",
    "other.md": "The invoice INV-2024-0032 is open; so are 2024 and 0031.",
}


async def found(drive: Drive, actor: Actor, query: str) -> list[str]:
    for name, text in FILES.items():
        await drive.documents.create(actor, "root", name, text, on_conflict="replace")
    await drive.ingester.drain()
    return sorted(hit.item.name for hit in (await drive.search.find(actor, query)).items)


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ("annual report", ["annual report.md", "report annual draft.md"]),
        ('"annual report"', ["annual report.md"]),
        ("annual -draft", ["annual report.md"]),
        ("annual", ["annual report.md", "report annual draft.md"]),
        ("INV-2024-0031", ["notes.md"]),
        ("带薪假期 员工", ["report annual draft.md"]),
        ("invoise paid", ["notes.md"]),
        ("“invoice INV-2024-0031”", ["notes.md"]),
    ],
)
async def test_names_and_texts_follow_one_syntax(drive: Drive, alice: Actor, query: str, names: list[str]) -> None:
    assert await found(drive, alice, query) == names


async def test_what_is_shown_of_a_text_is_where_the_phrase_stands(drive: Drive, alice: Actor) -> None:
    text = " ".join(["filler"] * 100 + ["the annual leave rule"])
    await drive.documents.create(alice, "root", "long.md", text)
    await drive.ingester.drain()
    (hit,) = (await drive.search.find(alice, '"annual leave"')).items
    assert "annual leave rule" in hit.text
    assert len(hit.text) <= 500


async def test_one_side_can_be_asked_by_itself(drive: Drive, alice: Actor) -> None:
    await found(drive, alice, "invoice")
    words = await drive.search.semantic(alice, "invoice settled", mode="words")
    assert {hit.item.name for hit in words.items} == {"notes.md", "other.md"}
    assert (await drive.search.semantic(alice, "invoice", mode="vector")).items == ()  # there is no model in tests
