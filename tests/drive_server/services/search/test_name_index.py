"""The index of names narrows a search down, and changes no answer."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest
from sqlalchemy import delete, select, text, update

from drive_server.services.search import fuzzy_names, name_index, names
from drive_server.services.search.fuzzy_names import match_near_names
from drive_server.services.search.name_index import narrows, pattern_terms
from drive_server.services.search.names import like_pattern, match_names
from drive_server.services.tree.nodes import visible_ids
from drive_server.storage.tables.items import NameKeyRow, NodeRow

if TYPE_CHECKING:
    from drive_server.drive import Drive
    from drive_server.kernel.access import Actor
    from drive_server.services.search.names import NameMatch

NAMES = (
    "Résumé 2024.pdf",
    "resume.txt",
    "annual_report.docx",
    "AnnualReport",
    "会议纪要",
    "會議.md",
    "租房合同.pdf",
    "合同",
    "ＡＢＣ１２３",
    "Отчёт за Март.docx",
    "100%_sure.txt",
    "back~slash",
    "a",
    "🚀 launch",
    "ärger",
)
QUERIES = (
    "resume",
    "Resumé",
    "annual report",
    "会议",
    "会",
    "合同",
    "同",
    "abc123",
    "отчёт",
    "100%",
    "_",
    "\\",
    "a",
    "🚀",
    "reusme",
    "anual",
    "ÄRGER",
    "zanzibar",
    "报 合同",
    '"',
    "' OR 1",
    "beyond",
    "e59088",
)


async def fill(drive: Drive, actor: Actor) -> None:
    for name in NAMES:
        await drive.files.create_folder(actor, "root", name)


async def ask(drive: Drive, actor: Actor, query: str) -> tuple[list[NameMatch], list[NameMatch], list[NameMatch]]:
    visible = visible_ids(actor.principal)
    async with drive.database.read() as session:
        return (
            await match_names(session, visible, query),
            await match_near_names(session, visible, query, with_slips=False),
            await match_near_names(session, visible, query, with_slips=True),
        )


async def never(session: object, expression: str) -> bool:
    del session, expression
    return False


async def test_every_answer_is_that_of_looking_through_all_names(
    drive: Drive, alice: Actor, monkeypatch: pytest.MonkeyPatch
) -> None:
    await fill(drive, alice)
    letters = random.Random(7)
    parts = [name[start : start + letters.randint(1, 4)].strip() for name in NAMES for start in range(len(name))]
    queries = [*QUERIES, *(part for part in letters.sample(parts, 60) if part)]
    with_index = [await ask(drive, alice, query) for query in queries]
    for module in (names, fuzzy_names):
        monkeypatch.setattr(module, "narrows", never)
    assert [await ask(drive, alice, query) for query in queries] == with_index
    assert any(exact for exact, _, _ in with_index)
    assert any(slips for _, _, slips in with_index)


@pytest.mark.sqlite("SQLite alone has the index")
@pytest.mark.parametrize("query", ["合同", "同", "zanzibar", "annual", "launch"])
async def test_few_names_are_found_by_the_index(drive: Drive, alice: Actor, query: str) -> None:
    await fill(drive, alice)
    async with drive.database.read() as session:
        assert await narrows(session, pattern_terms(like_pattern(query)))


async def test_many_names_and_no_letters_are_looked_through(
    drive: Drive, alice: Actor, monkeypatch: pytest.MonkeyPatch
) -> None:
    await fill(drive, alice)
    monkeypatch.setattr(name_index, "MAX_NARROWED", 1)
    async with drive.database.read() as session:
        assert not await narrows(session, pattern_terms(like_pattern("合同")))
        assert not await narrows(session, pattern_terms(like_pattern("ä")))
    assert len((await ask(drive, alice, "合同"))[0]) == 2


async def indexed(drive: Drive, word: str) -> list[str]:
    """Return the names that the index has under a word."""
    matching = text("name_grams MATCH :expression")
    query = select(NodeRow.name).join(NameKeyRow, NameKeyRow.node_id == NodeRow.id)
    keys = select(text("rowid")).select_from(text("name_grams")).where(matching)
    async with drive.database.read() as session:
        found = await session.scalars(
            query.where(NameKeyRow.key.in_(keys)), {"expression": pattern_terms(like_pattern(word))}
        )
        return sorted(found)


@pytest.mark.sqlite("SQLite alone has the index")
async def test_the_index_follows_names_in_the_transaction_that_writes_them(drive: Drive, alice: Actor) -> None:
    item = (await drive.files.create_folder(alice, "root", "租房合同")).value
    assert await indexed(drive, "租房") == ["租房合同"]
    await drive.files.rename(alice, item.id, "lease")
    assert (await indexed(drive, "租房"), await indexed(drive, "LEASE")) == ([], ["lease"])
    with pytest.raises(ArithmeticError):
        await rolled_back(drive, item.id)
    assert (await indexed(drive, "other"), await indexed(drive, "lease")) == ([], ["lease"])
    async with drive.database.write() as session:
        await session.execute(delete(NodeRow).where(NodeRow.id == item.id))
    async with drive.database.read() as session:
        assert await session.scalar(select(NameKeyRow).where(NameKeyRow.node_id == item.id)) is None
    assert await indexed(drive, "lease") == []


async def rolled_back(drive: Drive, item_id: str) -> None:
    async with drive.database.write() as session:
        await session.execute(update(NodeRow).where(NodeRow.id == item_id).values(name="other"))
        raise ArithmeticError
