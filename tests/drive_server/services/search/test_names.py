from __future__ import annotations

import sqlite3
import unicodedata
from typing import TYPE_CHECKING

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from drive_server.services.search import names as name_search
from drive_server.services.search.names import like_pattern, match_names, score_name
from drive_server.services.tree.nodes import visible_ids

if TYPE_CHECKING:
    from drive_server.drive import Drive
    from drive_server.kernel.access import Actor


async def names_found(drive: Drive, actor: Actor, query: str) -> list[str]:
    async with drive.database.read() as session:
        return [match.name for match in await match_names(session, visible_ids(actor.principal), query)]


async def make(drive: Drive, actor: Actor, *names: str) -> None:
    for name in names:
        await drive.files.create_folder(actor, "root", name)


async def test_the_closest_name_comes_first(drive: Drive, alice: Actor) -> None:
    ordered = ["plan", "plan.md", "plan for May", "Plan for summer", "the plan", "summer planning"]
    await make(drive, alice, *reversed(ordered), "planet Plan B", "other")
    found = await names_found(drive, alice, "plan")
    assert found[:2] == ["plan", "plan.md"]
    assert set(found) == {*ordered, "planet Plan B"}
    assert found.index("planet Plan B") < found.index("the plan")


@pytest.mark.parametrize(
    ("name", "query"),
    [
        ("Parental leave 2026.md", "LEAVE parental"),
        ("年度育儿假报告.docx", "育儿假"),
        ("年度育儿假报告.docx", "报告 育儿"),
        ("Отчёт за Март.docx", "отчёт МАРТ"),
        ("Ärger.txt", "ärger"),
        ("ärger.txt", "ÄRGER"),
        ("cafe\u0301.txt", "caf\u00e9"),
        ("caf\u00e9.txt", "CAFE\u0301"),
        ("ΟΔΟΣ.txt", "οδος"),
        ("🚀 launch.md", "🚀"),
        ("تقرير.pdf", "تقرير"),
        ("100%.txt", "100%"),
        ("a_b.txt", "a_b"),
        ("it's; DROP TABLE nodes;--", "it's; drop"),
    ],
)
async def test_names_are_found_in_any_case_and_script(drive: Drive, alice: Actor, name: str, query: str) -> None:
    await make(drive, alice, name, "somethıng else")
    assert await names_found(drive, alice, query) == [unicodedata.normalize("NFC", name)]


@pytest.mark.parametrize("query", ["%", "_", "a%c", "a_c", "\\", "a\\", "*", "[a-z]", "' OR ''='", "ä_c"])
async def test_a_query_has_no_wildcards(drive: Drive, alice: Actor, query: str) -> None:
    await make(drive, alice, "abc", "äbc")
    assert await names_found(drive, alice, query) == []


async def test_the_root_and_the_trash_and_what_is_not_shared_are_not_found(
    drive: Drive, alice: Actor, bob: Actor
) -> None:
    await make(drive, alice, "mine")
    await make(drive, bob, "his mine", "given mine", "trashed mine")
    await drive.sharing.share(bob, "/given mine", "alice@example.com", "viewer")
    await drive.sharing.share(bob, "/trashed mine", "alice@example.com", "viewer")
    await drive.files.trash(bob, "/trashed mine")
    assert await names_found(drive, alice, "mine") == ["mine", "given mine"]


async def test_no_more_matches_are_considered_than_the_limit(
    drive: Drive, alice: Actor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(name_search, "MAX_MATCHES", 2)
    await make(drive, alice, "a1", "a2", "a3")
    assert len(await names_found(drive, alice, "a")) == 2


names = st.text(st.characters(categories=["L", "N", "P", "S", "Zs"], exclude_characters="/"), min_size=1, max_size=8)


@given(names, names)
def test_every_part_of_a_name_finds_it(before: str, after: str) -> None:
    name = before + after
    assume(unicodedata.is_normalized("NFC", name) and before.split() and after.split())
    assert score_name(name, name) == 1.0
    assert score_name(name, before) >= 0.7
    assert score_name(name, after) >= 0.7


@given(names)
def test_the_database_lets_through_what_the_comparison_accepts(name: str) -> None:
    stored = unicodedata.normalize("NFC", name)
    database = sqlite3.connect(":memory:")
    for query in {stored, stored.upper(), stored.lower()}:
        # A letter that becomes two in another case (ß) is not looked for in both forms.
        if len(query) == len(stored) and query.split() and score_name(stored, query):
            arguments = [(stored, like_pattern(word)) for word in query.split()]
            assert all(
                database.execute("SELECT lower(?) LIKE lower(?) ESCAPE '\\'", pair).fetchone() == (1,)
                for pair in arguments
            )
    database.close()
