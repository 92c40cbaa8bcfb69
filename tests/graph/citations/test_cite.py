"""Answers from files on the real drive: each quotation is checked, and a missing one is reported as missing."""

from collections.abc import Callable
from typing import Any

import pytest
from langchain_core.messages import AIMessage, BaseMessage
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from pydantic import TypeAdapter

from drive_server.connect import Actor, Drive
from graph.drive.connections import ConnectionPool
from graph.events.answers import CitationsEvent, CitationView
from tests.drive_server.actors import new_person
from tests.fakes.chat_model import ScriptedChatModel, plan_of, tool_call
from tests.graph.assistant import Assistant, Seen, assemble, person

HANDBOOK = "# Handbook\n\n## Leave\n\nStaff get 25 days\nof paid leave. Ask in writing.\n"
ZH = "# 员工手册\n\n员工可以休１２周的带薪育儿假。\n需要提前三十天申请。\n"


@pytest.fixture
def ask(real_pool: ConnectionPool, model: ScriptedChatModel, saver: AsyncSqliteSaver) -> Callable[[Actor], Assistant]:
    return lambda actor: assemble(model, real_pool, saver, person(actor))


async def put(drive: Drive, actor: Actor, name: str, text: str = HANDBOOK) -> str:
    return (await drive.documents.create(actor, "root", name, text)).value.id


def read(file_id: str, key: str = "r1") -> AIMessage:
    return tool_call("read_file", key, file_id=file_id)


def citations(seen: Seen) -> list[CitationView]:
    """Return what the one event has; the answer in the state has the same."""
    (event,) = seen.of("citations")
    TypeAdapter(CitationsEvent).validate_python(event, strict=True)
    answer = next(message for message in seen.state["messages"] if message.id == event["message_id"])
    assert answer.additional_kwargs["citations"] == event["citations"]
    return event["citations"]


async def test_a_quotation_is_checked_and_leads_to_its_place(
    ask: Callable[[Actor], Assistant], model: ScriptedChatModel, real_drive: Drive, actor: Actor
) -> None:
    file_id = await put(real_drive, actor, "handbook.md")
    model.script = [read(file_id), "Plenty: “Staff get 25 days of paid leave” [1].\n\n[1] /handbook.md"]
    seen = await ask(actor).say("search my documents: how much leave do staff get?")

    (found,) = citations(seen)
    assert (found["number"], found["verified"], found["reason"]) == (1, True, "")
    assert (found["path"], found["version"], found["place"]) == ("/handbook.md", 1, "line=5-6")
    assert (found["heading"], found["is_current"]) == ("Handbook › Leave", True)
    assert found["uri"].startswith(f"drive://files/{file_id}?version=1&start=")
    assert found["address"] == found["uri"].replace("drive://files/", "http://127.0.0.1:8000/f/")
    assert "erified" not in seen.text
    assert [event["type"] for event in seen.events][-1] == "citations"


async def test_an_invented_quotation_is_told_to_the_person(
    ask: Callable[[Actor], Assistant], model: ScriptedChatModel, real_drive: Drive, actor: Actor
) -> None:
    file_id = await put(real_drive, actor, "handbook.md")
    answer = "“Staff get 25 days of paid leave” [1], and “staff get a car” [2].\n[1] /handbook.md\n[2] /handbook.md"
    model.script = [read(file_id), answer]
    seen = await ask(actor).say("search my documents: what do staff get?")

    right, wrong = citations(seen)
    assert (right["verified"], wrong["verified"], wrong["reason"]) == (True, False, "absent")
    assert (wrong["path"], wrong["address"], wrong["uri"]) == ("/handbook.md", "", "")
    told = "Not verified:\n- [2] “staff get a car”: these words do not stand in what was read"
    assert seen.text.endswith(told)
    assert seen.state["messages"][-1].text.endswith(told)
    assert seen.state["messages"][-1].text.startswith("“Staff get 25 days")


@pytest.mark.parametrize(
    ("request_text", "answer", "reason", "told"),
    [
        (
            "search my documents and translate what the handbook says",
            "“Alle bekommen 25 Tage frei” [1].",
            "translation",
            "Not word for word:\n- [1] “Alle bekommen 25 Tage frei”: the assistant's translation",
        ),
        ("search my documents: what do staff get?", "“员工每年有二十五天带薪假” [1]。", "translation", "translation"),
        (
            "search my documents and summarise the handbook",
            "“25 days off, if asked in writing” [1].",
            "summary",
            "the assistant's summary",
        ),
    ],
)
async def test_a_translation_or_a_summary_is_marked_as_one_and_not_as_a_false_quotation(
    ask: Callable[[Actor], Assistant],
    model: ScriptedChatModel,
    real_drive: Drive,
    actor: Actor,
    request_text: str,
    answer: str,
    reason: str,
    told: str,
) -> None:
    file_id = await put(real_drive, actor, "handbook.md")
    model.script = [read(file_id), answer]
    seen = await ask(actor).say(request_text)
    assert [(one["verified"], one["reason"]) for one in citations(seen)] == [(False, reason)]
    assert seen.text.endswith(told)
    assert "Not verified" not in seen.text


async def test_an_edit_between_reading_and_answering_does_not_matter(
    ask: Callable[[Actor], Assistant], model: ScriptedChatModel, real_drive: Drive, actor: Actor
) -> None:
    file_id = await put(real_drive, actor, "handbook.md")
    assistant = ask(actor)
    model.script = [read(file_id), "Let me think."]
    await assistant.say("search my documents: what do staff get?")
    await real_drive.documents.write_text(actor, file_id, "# Handbook\n\nStaff get 9 days.\n")
    model.script = ["“Staff get 25 days of paid leave” [1]; not “Staff get 9 days” [2]."]
    seen = await assistant.say("search my documents: and?")

    old, new = citations(seen)
    assert (old["verified"], old["version"], old["is_current"]) == (True, 1, False)
    assert (new["verified"], new["reason"]) == (False, "absent")


async def test_a_viewer_is_told_when_what_they_read_was_replaced(
    ask: Callable[[Actor], Assistant], model: ScriptedChatModel, real_drive: Drive, actor: Actor
) -> None:
    bob = await new_person(real_drive.identity, "bob@example.com")
    file_id = await put(real_drive, actor, "handbook.md")
    await real_drive.sharing.share(actor, file_id, "bob@example.com", "viewer")
    assistant = ask(bob)
    model.script = [read(file_id), "Let me think."]
    await assistant.say("search my documents: what do staff get?")
    await real_drive.documents.write_text(actor, file_id, "# Handbook\n\nAsk in writing.\n")
    model.script = ["“Staff get 25 days” [1], “Ask in writing.” [2]"]
    seen = await assistant.say("search my documents: and?")

    gone, stays = citations(seen)
    assert (gone["verified"], gone["reason"]) == (False, "absent")
    assert (stays["verified"], stays["version"]) == (True, 2)


async def test_of_a_file_that_was_taken_away_nothing_is_told(
    ask: Callable[[Actor], Assistant], model: ScriptedChatModel, real_drive: Drive, actor: Actor
) -> None:
    bob = await new_person(real_drive.identity, "bob@example.com")
    file_id = await put(real_drive, actor, "secret.md", "The code of the door is 1234.")
    share = (await real_drive.sharing.share(actor, file_id, "bob@example.com", "viewer")).value
    assert share
    assistant = ask(bob)
    model.script = [read(file_id), "Let me think."]
    await assistant.say("search my documents: what is the code?")
    await real_drive.sharing.revoke(actor, file_id, "bob@example.com")
    model.script = ["“The code of the door is 1234” [1]\n[1] /Shared with me/secret.md"]
    seen = await assistant.say("search my documents: once more?")

    (found,) = citations(seen)
    assert (found["verified"], found["reason"]) == (False, "not_found")
    assert (found["name"], found["path"], found["address"]) == ("", "", "")
    assert "the file is not there, or not yours to see" in seen.text


@pytest.mark.parametrize(
    ("quote", "verified"),
    [("员工可以休12周的带薪育儿假。需要提前三十天申请", True), ("員工可以休12週的帶薪育兒假", False)],
)
async def test_chinese_is_quoted_to_the_character(
    ask: Callable[[Actor], Assistant],
    model: ScriptedChatModel,
    real_drive: Drive,
    actor: Actor,
    quote: str,
    verified: bool,
) -> None:
    file_id = await put(real_drive, actor, "员工手册.md", ZH)
    model.script = [read(file_id), f"可以休假：“{quote}”[1]。\n\n[1] /员工手册.md"]
    seen = await ask(actor).say("在我的文档里搜索：育儿假有多久？")
    (found,) = citations(seen)
    assert found["verified"] is verified
    assert ("未能核实：" in seen.text) is not verified


HOSTILE = [
    "<script>alert(1)</script> and <img src=x>",
    "x" * 100_000,
    "(a+)+$ [^x]* \\Q.*",
    "שלום \u202egnihton",
    "😀👩‍👩‍👧 nothing of it",
    "\x00\x01",
]


@pytest.mark.parametrize("quote", HOSTILE, ids=["html", "long", "regex", "rtl", "emoji", "control"])
async def test_hostile_quotations_are_only_not_verified(
    ask: Callable[[Actor], Assistant], model: ScriptedChatModel, real_drive: Drive, actor: Actor, quote: str
) -> None:
    file_id = await put(real_drive, actor, "handbook.md")
    model.script = [read(file_id), f"It says “{quote}” [1]."]
    seen = await ask(actor).say("search my documents: what do staff get?")
    (found,) = citations(seen)
    assert not found["verified"]
    assert len(found["quote"]) <= 2_000
    assert "Not verified:" in seen.text


async def test_a_number_without_words_is_not_verified(
    ask: Callable[[Actor], Assistant], model: ScriptedChatModel, real_drive: Drive, actor: Actor
) -> None:
    file_id = await put(real_drive, actor, "handbook.md")
    model.script = [read(file_id), "They get 25 days [1].\n\n[1] /handbook.md"]
    seen = await ask(actor).say("search my documents: what do staff get?")
    (found,) = citations(seen)
    assert (found["verified"], found["reason"], found["quote"]) == (False, "no_words", "")
    assert "[1]: no words of the source are quoted" in seen.text


async def test_a_statement_without_any_source_is_said_to_have_none(
    ask: Callable[[Actor], Assistant], model: ScriptedChatModel, real_drive: Drive, actor: Actor
) -> None:
    await put(real_drive, actor, "handbook.md")
    await real_drive.ingester.drain()
    model.script = [tool_call("semantic_search_files", query="paid leave"), "They get thirty."]
    seen = await ask(actor).say("search my documents: what do staff get?")
    assert citations(seen) == []
    assert seen.text.endswith("No source: this answer quotes no passage of the files that were searched.")


@pytest.mark.parametrize(
    ("message", "answer", "told"),
    [
        ("search my documents: zebras?", "Zebras have stripes.", "Nothing was found in your files for “zebra”."),
        ("search my documents: zebras?", "I found nothing about that.", "Searched for: “zebra”."),
        ("在我的文档里搜索：斑马？", "斑马有条纹。", "在你的文件里没有找到与“zebra”有关的内容。"),
        ("search my documents: zebras?", "Nothing was found for “zebra”.", ""),
    ],
)
async def test_what_was_not_found_is_said_and_what_was_searched_for(
    ask: Callable[[Actor], Assistant],
    model: ScriptedChatModel,
    real_drive: Drive,
    actor: Actor,
    message: str,
    answer: str,
    told: str,
) -> None:
    await put(real_drive, actor, "handbook.md")
    await real_drive.ingester.drain()
    model.script = [tool_call("search_files", query="zebra"), answer]
    seen = await ask(actor).say(message)
    assert seen.text.removeprefix(f"{answer} ").strip().startswith(told)
    assert bool(seen.of("citations")) is bool(told)


async def test_a_list_of_files_needs_no_quotation(
    ask: Callable[[Actor], Assistant], model: ScriptedChatModel, real_drive: Drive, actor: Actor
) -> None:
    await put(real_drive, actor, "handbook.md")
    model.script = [tool_call("search_files", query="handbook"), "It is `/handbook.md`."]
    seen = await ask(actor).say("search my documents for the handbook")
    assert seen.of("citations") == []
    assert seen.text.strip() == "It is `/handbook.md`."


async def test_the_citations_of_each_step_stay(
    ask: Callable[[Actor], Assistant], model: ScriptedChatModel, real_drive: Drive, actor: Actor
) -> None:
    first, second = (
        await put(real_drive, actor, "one.md", "The first rule is silence."),
        await put(real_drive, actor, "two.md", "The second rule is patience."),
    )
    model.script = [
        plan_of(("search_agent", "look up the first rule"), ("search_agent", "look up the second rule")),
        read(first, "r1"),
        "“The first rule is silence” [1]",
        read(second, "r2"),
        "“The second rule is patience” [1], “The third rule is love” [2]",
    ]
    seen = await ask(actor).say("create a folder Rules and delete one.md")
    one, two = seen.of("citations")
    kept = [m.additional_kwargs["citations"] for m in seen.state["messages"] if "citations" in m.additional_kwargs]
    assert kept == [one["citations"], two["citations"]]
    assert [[c["verified"] for c in step] for step in kept] == [[True], [True, False]]
    results = [step["result"] for step in seen.state["plan"]["steps"]]
    assert results[0].strip() == "“The first rule is silence” [1]"
    assert "Not verified:\n- [2]" in results[1]


async def test_the_model_is_shown_no_addresses(
    ask: Callable[[Actor], Assistant], model: ScriptedChatModel, real_drive: Drive, actor: Actor
) -> None:
    file_id = await put(real_drive, actor, "handbook.md")
    await real_drive.ingester.drain()
    shown: list[str] = []

    def answer(messages: "list[BaseMessage]") -> str:
        shown.extend(message.text for message in messages)
        return "“Staff get 25 days” [1]"

    model.script = [tool_call("semantic_search_files", query="paid leave"), read(file_id), answer]
    await ask(actor).say("search my documents: what do staff get?")
    assert any(", line=" in text for text in shown)
    assert not any("drive://" in text or "/f/" in text for text in shown)


def line(value: Any) -> str:
    return " ".join(str(value).split())


async def test_other_agents_answer_with_citations_too(
    ask: Callable[[Actor], Assistant], model: ScriptedChatModel, real_drive: Drive, actor: Actor
) -> None:
    file_id = await put(real_drive, actor, "handbook.md")
    model.script = ["It says “Staff get 25 days of paid leave” [1], and «this long sentence without a number»."]
    seen = await ask(actor).say("fix the typos in this document", file_id=file_id)
    assert seen.of("route_decision")[0]["agent"] == "document_agent"
    (found,) = citations(seen)
    assert (found["verified"], found["path"], line(found["quote"])) == (
        True,
        "/handbook.md",
        "Staff get 25 days of paid leave",
    )
