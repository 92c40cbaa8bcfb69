"""Long-term memory: the facts that are stored, those that are told, and their end when their file goes."""

from datetime import UTC, datetime, timedelta

import pytest
from langgraph.store.sqlite.aio import AsyncSqliteStore

from drive_server.connect import Actor
from graph.drive.connections import ConnectionPool
from graph.memory import facts as facts_module
from graph.memory.facts import (
    FACT_CHARACTERS,
    Facts,
    TooManyFactsError,
    by_relevance,
    facts_section,
    visible_facts,
    words_of,
)
from tests.graph.assistant import person

NOW = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.fixture
def facts(store: AsyncSqliteStore) -> Facts:
    return Facts(store, "u1")


async def test_facts_are_kept_listed_edited_and_forgotten(facts: Facts) -> None:
    one = await facts.keep("My accountant is Li Wei", {"kind": "said"}, NOW)
    two = await facts.keep("我对花生过敏 🥜", {"kind": "said"}, NOW + timedelta(days=1))
    assert [fact["text"] for fact in await facts.all()] == [two["text"], one["text"]]
    edited = await facts.edit(one["id"], "My accountant is\nWang Fang", NOW + timedelta(days=2))
    assert edited is not None
    assert (edited["text"], edited["created_at"]) == ("My accountant is Wang Fang", one["created_at"])
    assert await facts.forget(two["id"])
    assert not await facts.forget(two["id"])
    assert await facts.edit(two["id"], "x", NOW) is None
    assert [fact["id"] for fact in await facts.all()] == [one["id"]]


async def test_the_same_fact_is_kept_once_and_is_new_again(facts: Facts) -> None:
    one = await facts.keep("I like tea", {"kind": "said"}, NOW)
    again = await facts.keep("i like  TEA", {"kind": "said"}, NOW + timedelta(days=1))
    assert again["id"] == one["id"]
    assert again["updated_at"] > one["updated_at"]


async def test_nobody_sees_anothers(facts: Facts, store: AsyncSqliteStore) -> None:
    mine = await facts.keep("mine", {"kind": "said"}, NOW)
    for other in ("u2", "u", "u1.x", ""):
        theirs = Facts(store, other)
        assert await theirs.all() == []
        assert await theirs.get(mine["id"]) is None
        assert not await theirs.forget(mine["id"])


async def test_there_is_an_end_to_how_much_is_kept(facts: Facts, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(facts_module, "MAX_FACTS", 2)
    await facts.keep("one", {"kind": "said"}, NOW)
    long = await facts.keep("x" * 10_000, {"kind": "said"}, NOW)
    assert len(long["text"]) == FACT_CHARACTERS
    with pytest.raises(TooManyFactsError):
        await facts.keep("three", {"kind": "said"}, NOW)
    await facts.keep("one", {"kind": "said"}, NOW)


async def test_a_deleted_thread_leaves_the_fact_and_not_the_thread(facts: Facts) -> None:
    await facts.keep("one", {"kind": "said", "thread_id": "t1", "message_id": "m1"}, NOW)
    await facts.keep("two", {"kind": "said", "thread_id": "t2", "message_id": "m2"}, NOW)
    await facts.unlink("t1")
    assert {fact["text"]: fact["source"].get("thread_id") for fact in await facts.all()} == {"one": None, "two": "t2"}
    assert "m1" not in str(await facts.all())


async def test_facts_of_a_file_go_and_come_with_it(facts: Facts, actor: Actor, real_pool: ConnectionPool) -> None:
    toolbox = await real_pool.toolbox(person(actor))
    made = await toolbox.call("create_file", {"name": "合同.txt", "content": "30 days"}, meta={})
    file_id = (made.structuredContent or {})["id"]
    await facts.keep("notice is 30 days", {"kind": "file", "file_id": file_id, "name": "合同.txt"}, NOW)
    await facts.keep("I like tea", {"kind": "said"}, NOW)
    assert len(await visible_facts(facts, toolbox)) == 2
    await toolbox.call("trash_item", {"item_id": file_id}, meta={})
    assert [fact["text"] for fact in await visible_facts(facts, toolbox)] == ["I like tea"]
    await toolbox.call("restore_item", {"item_id": file_id}, meta={})
    assert len(await visible_facts(facts, toolbox)) == 2
    await toolbox.call("trash_item", {"item_id": file_id}, meta={})
    await toolbox.call("delete_item", {"item_id": file_id}, meta={})
    assert [fact["text"] for fact in await visible_facts(facts, toolbox)] == ["I like tea"]
    assert [fact["text"] for fact in await facts.all()] == ["I like tea"]


async def test_a_file_in_a_folder_that_was_trashed_hides_its_facts_too(
    facts: Facts, actor: Actor, real_pool: ConnectionPool
) -> None:
    toolbox = await real_pool.toolbox(person(actor))
    folder = (await toolbox.call("create_folder", {"name": "Old"}, meta={})).structuredContent or {}
    made = await toolbox.call("create_file", {"name": "a.txt", "content": "x", "folder_id": folder["id"]}, meta={})
    file_id = (made.structuredContent or {})["id"]
    await facts.keep("x", {"kind": "file", "file_id": file_id}, NOW)
    await toolbox.call("trash_item", {"item_id": folder["id"]}, meta={})
    assert await visible_facts(facts, toolbox) == []
    assert len(await facts.all()) == 1


async def test_what_has_to_do_with_the_request_comes_first_in_either_language(facts: Facts) -> None:
    for text in ("I like tea", "My accountant is Li Wei", "我的会计是李伟", "The wifi is slow"):
        await facts.keep(text, {"kind": "said"}, NOW)
    known = await facts.all()
    assert by_relevance(known, "Who is my accountant?")[0]["text"] == "My accountant is Li Wei"
    assert by_relevance(known, "我的会计叫什么？")[0]["text"] == "我的会计是李伟"
    assert words_of("") == set()


async def test_models_are_told_as_much_as_fits(facts: Facts) -> None:
    for number in range(60):
        await facts.keep(f"fact {number} " + "word " * 60, {"kind": "said"}, NOW)
    section = facts_section(await facts.all(), "fact 31", budget=800)
    assert "fact 31 " in section
    assert 0 < section.count('"fact":') < 20
    assert facts_section([], "x") == ""
