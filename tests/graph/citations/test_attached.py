"""An attached or open file counts as read: its words are verified in the version that stood beside the request."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from drive_server.mcp.results import TextResult
from tests.fakes.chat_model import tool_call
from tests.graph.assistant import Assistant, Seen, assemble, person

if TYPE_CHECKING:
    from collections.abc import Callable

    from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

    from drive_server.connect import Actor, Drive
    from drive_server.models.contents import TextRange
    from graph.drive.connections import ConnectionPool
    from graph.events.answers import CitationView
    from tests.fakes.chat_model import ScriptedChatModel

LEASE = "# Lease\n\n## Rent\n\nThe rent is 1,250 euros a month,\npaid on the third working day.\n"
LEASE_ZH = "# 租约\n\n## 租金\n\n租金为每月八千五百元，每月三日前支付。\n押金为两个月租金。\n"
CASES = [
    ("lease.md", LEASE, "what does this say about the rent?", "The rent is 1,250 euros a month, paid", "line=5-6"),
    ("租约.md", LEASE_ZH, "这份文件里租金是多少？", "租金为每月八千五百元", "line=5"),
]


@pytest.fixture
def ask(real_pool: ConnectionPool, model: ScriptedChatModel, saver: AsyncSqliteSaver) -> Callable[[Actor], Assistant]:
    return lambda actor: assemble(model, real_pool, saver, person(actor))


async def put(drive: Drive, actor: Actor, name: str, text: str) -> str:
    return (await drive.documents.create(actor, "root", name, text)).value.id


def citations(seen: Seen) -> list[CitationView]:
    (event,) = seen.of("citations")
    return event["citations"]


@pytest.mark.parametrize(("name", "text", "question", "words", "place"), CASES, ids=["en", "zh"])
async def test_a_quotation_of_an_attached_file_is_verified_and_leads_to_its_place(
    ask: Callable[[Actor], Assistant],
    model: ScriptedChatModel,
    real_drive: Drive,
    actor: Actor,
    name: str,
    text: str,
    question: str,
    words: str,
    place: str,
) -> None:
    file_id = await put(real_drive, actor, name, text)
    model.script = [f"“{words}” [1]\n\n[1] /{name}"]
    seen = await ask(actor).say(question, attachments=[{"id": file_id}])
    (found,) = citations(seen)
    assert (found["verified"], found["path"], found["version"], found["place"]) == (True, f"/{name}", 1, place)
    assert found["address"].endswith(f"#{place}")
    assert seen.text.rstrip().endswith(f"[1] /{name}")


async def test_the_version_counts_that_was_attached_also_in_later_turns(
    ask: Callable[[Actor], Assistant], model: ScriptedChatModel, real_drive: Drive, actor: Actor
) -> None:
    file_id = await put(real_drive, actor, "lease.md", LEASE)
    assistant = ask(actor)
    model.script = ["Yes, there is a rent."]
    await assistant.say("what does this say about the rent?", attachments=[{"id": file_id}])
    await real_drive.documents.write_text(actor, file_id, "# Lease\n\nThe rent is 9 euros.\n")
    model.script = ["“The rent is 1,250 euros a month” [1], not “The rent is 9 euros” [2]."]
    old, new = citations(await assistant.say("how much is it?"))
    assert (old["verified"], old["version"], old["is_current"]) == (True, 1, False)
    assert (new["verified"], new["reason"]) == (False, "absent")


async def test_words_that_an_attached_file_does_not_have_are_not_verified(
    ask: Callable[[Actor], Assistant], model: ScriptedChatModel, real_drive: Drive, actor: Actor
) -> None:
    file_id = await put(real_drive, actor, "lease.md", LEASE)
    await put(real_drive, actor, "other.md", "The deposit is 3,000 euros.")
    model.script = ["“The rent is 1,350 euros a month” [1], “The deposit is 3,000 euros.” [2]"]
    seen = await ask(actor).say("what does this say about the rent?", attachments=[{"id": file_id}])
    assert [one["verified"] for one in citations(seen)] == [False, False]
    assert "Not verified:\n- [1] “The rent is 1,350 euros a month”: these words do not stand" in seen.text


async def test_the_first_lines_of_the_open_document_count_in_the_version_that_was_shown(
    ask: Callable[[Actor], Assistant], model: ScriptedChatModel, real_drive: Drive, actor: Actor
) -> None:
    file_id = await put(real_drive, actor, "lease.md", LEASE)
    model.script = ["“The rent is 1,250 euros a month” [1]"]
    seen = await ask(actor).say("what does this document say about the rent?", file_id=file_id)
    (found,) = citations(seen)
    assert (found["verified"], found["version"], found["place"]) == (True, 1, "line=5")


async def test_a_related_passage_that_stood_beside_the_open_document_counts_as_read(
    ask: Callable[[Actor], Assistant], model: ScriptedChatModel, real_drive: Drive, actor: Actor
) -> None:
    file_id = await put(real_drive, actor, "lease.md", LEASE)
    await put(real_drive, actor, "Rent increases.md", "# Rent\n\nThe rent may rise by 3 percent a year.\n")
    await real_drive.ingester.drain()
    model.script = ["“The rent may rise by 3 percent a year.” [1]"]
    seen = await ask(actor).say("what does this document say about the rent?", file_id=file_id)
    (found,) = citations(seen)
    assert (found["verified"], found["path"]) == (True, "/Rent increases.md")


@pytest.fixture
def omissions() -> dict[str, int]:
    """The things that the drive leaves out of each file that it reads."""
    return {"picture": 2, "sheet": 1, "margin": 4}


@pytest.fixture
def partly_read(monkeypatch: pytest.MonkeyPatch, omissions: dict[str, int]) -> None:
    """Have the drive read each file but for some of it."""
    read = TextResult.of

    def partly(found: TextRange, *args: Any, **others: Any) -> TextResult:
        return read(replace(found, omissions=omissions), *args, **others)

    monkeypatch.setattr(TextResult, "of", partly)


INCOMPLETE = {
    "en": "Not all of lease.md could be read (2 pictures without text, 1 sheet); the answer may be incomplete.",
    "zh": "“租约.md”没有全部读出（2 张没有文字的图片，1 个工作表），回答可能不完整。",
}


@pytest.mark.usefixtures("partly_read")
@pytest.mark.parametrize(("name", "text", "question", "words", "place"), CASES, ids=["en", "zh"])
@pytest.mark.parametrize("way", ["attached", "open", "read"])
async def test_an_answer_from_a_file_that_was_not_read_whole_says_so(
    ask: Callable[[Actor], Assistant],
    model: ScriptedChatModel,
    real_drive: Drive,
    actor: Actor,
    name: str,
    text: str,
    question: str,
    words: str,
    place: str,
    way: str,
) -> None:
    del place
    file_id = await put(real_drive, actor, name, text)
    calls: list[Any] = [tool_call("read_file", "r1", file_id=file_id)] if way == "read" else []
    places: dict[str, dict[str, Any]] = {
        "attached": {"attachments": [{"id": file_id}]},
        "open": {"file_id": file_id},
        "read": {},
    }
    for answer in (f"“{words}” [1]", "1,250", "没有提到押金。" if name == "租约.md" else "It does not say."):
        model.script = [*calls, answer]
        seen = await ask(actor).say(question, **places[way])
        assert seen.text.endswith(f"\n\n{INCOMPLETE['zh' if name == '租约.md' else 'en']}"), answer
        assert seen.state["messages"][-1].text == seen.text


async def test_an_answer_from_a_file_that_was_read_whole_says_nothing(
    ask: Callable[[Actor], Assistant], model: ScriptedChatModel, real_drive: Drive, actor: Actor
) -> None:
    file_id = await put(real_drive, actor, "lease.md", LEASE)
    model.script = ["1,250"]
    seen = await ask(actor).say("what does this say about the rent?", attachments=[{"id": file_id}])
    assert seen.text.strip() == "1,250"


@pytest.mark.usefixtures("partly_read")
async def test_an_answer_that_takes_nothing_from_the_file_says_nothing_of_it(
    ask: Callable[[Actor], Assistant], model: ScriptedChatModel, real_drive: Drive, actor: Actor
) -> None:
    file_id = await put(real_drive, actor, "lease.md", LEASE)
    model.script = ["Hello! What would you like to know?"]
    seen = await ask(actor).say("what does this document say?", file_id=file_id)
    assert seen.text.strip() == "Hello! What would you like to know?"


@pytest.mark.usefixtures("partly_read")
@pytest.mark.parametrize("omissions", [{"margin": 6}, {"encoding": 1}], ids=["repeated heads", "doubtful encoding"])
async def test_repeated_heads_and_a_doubtful_encoding_are_no_loss(
    ask: Callable[[Actor], Assistant], model: ScriptedChatModel, real_drive: Drive, actor: Actor
) -> None:
    file_id = await put(real_drive, actor, "lease.md", LEASE)
    model.script = [tool_call("read_file", "r1", file_id=file_id), "“The rent is 1,250 euros a month” [1]"]
    seen = await ask(actor).say("what does this say about the rent?", attachments=[{"id": file_id}])
    assert "could be read" not in seen.text
