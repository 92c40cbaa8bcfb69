"""The built-in model on "remember", "forget" and "what do you remember"."""

import pytest
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from langgraph.store.sqlite.aio import AsyncSqliteStore

from drive_server.connect import Actor
from graph.drive.connections import ConnectionPool
from graph.memory.facts import Facts
from graph.offline.model import OfflineChatModel
from graph.offline.understanding.requests import memory_intent
from tests.graph.assistant import Assistant, assemble, person


@pytest.fixture
def offline(real_pool: ConnectionPool, actor: Actor, saver: AsyncSqliteSaver, store: AsyncSqliteStore) -> Assistant:
    return assemble(OfflineChatModel(), real_pool, saver, person(actor), store=store)


@pytest.mark.parametrize(
    ("said", "wanted"),
    [
        ("Remember that my accountant is Li Wei.", ("remember", "my accountant is Li Wei")),
        ("please remember my accountant is Li Wei", ("remember", "my accountant is Li Wei")),
        ("Don't forget that I'm allergic to nuts!", ("remember", "I'm allergic to nuts")),
        ("记住我的会计是李伟", ("remember", "我的会计是李伟")),
        ("请帮我记一下：我对花生过敏。", ("remember", "我对花生过敏")),
        ("别忘了我喜欢简短的回答", ("remember", "我喜欢简短的回答")),
        ("forget my accountant", ("forget", "my accountant")),
        ("忘掉我的会计", ("forget", "我的会计")),
        ("What do you remember about me?", ("list_memories", "")),
        ("show my memories", ("list_memories", "")),
        ("你记得什么？", ("list_memories", "")),
        ("你还记得我的哪些事？", ("list_memories", "")),
        ("列出我的记忆", ("list_memories", "")),
    ],
)
def test_intents_are_understood_in_either_language(said: str, wanted: tuple[str, str]) -> None:
    intent = memory_intent(said)
    assert intent is not None
    assert (intent.action, intent.content) == wanted


@pytest.mark.parametrize(
    "said",
    [
        "forget it",
        "Forget that.",
        "remember to delete the drafts",
        "don't remember that I'm ill",
        "不要记住我的会计是李伟",
        "忘了吧",
        "find the file about what I have to remember",
        "list my files",
        "What do you remember of the contract in /Legal?",
        "note.txt",
        "把记住这个词加到笔记里",
        "",
    ],
)
def test_other_intents_are_not_taken_for_it(said: str) -> None:
    assert memory_intent(said) is None


@pytest.mark.parametrize(
    ("remember", "ask", "forget", "fact", "gone"),
    [
        (
            "Remember that my accountant is Li Wei",
            "What do you remember about me?",
            "Forget that my accountant is Li Wei",
            "my accountant is Li Wei",
            "Nothing is remembered yet",
        ),
        ("记住我的会计是李伟", "你记得什么？", "忘掉我的会计是李伟", "我的会计是李伟", "还没有记住任何内容"),
    ],
)
async def test_a_fact_from_the_first_to_the_last_word(
    offline: Assistant, store: AsyncSqliteStore, remember: str, ask: str, forget: str, fact: str, gone: str
) -> None:
    facts = Facts(store, offline.who.user_id)
    seen = await offline.say(remember)
    assert seen.asked is None
    assert fact in seen.text
    assert [kept["text"] for kept in await facts.all()] == [fact]
    offline.thread_id = "another"
    assert fact in (await offline.say(ask)).text
    assert fact in (await offline.say(forget)).text
    assert await facts.all() == []
    assert gone in (await offline.say(ask)).text


async def test_where_several_fit_it_asks_and_where_none_does_it_says_so(offline: Assistant) -> None:
    await offline.say("remember that my first cat is called Tom")
    await offline.say("remember that my second cat is called Tim")
    seen = await offline.say("forget my cat")
    assert "Tom" in seen.text
    assert "Tim" in seen.text
    assert "Nothing like" in (await offline.say("forget my dentist")).text
