"""Numbers of tables: the drive works them out, the offline model asks, and says so where it does not understand."""

from collections.abc import AsyncGenerator

import pytest
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

from drive_server.connect import Actor, Drive
from graph.drive.connections import ConnectionPool
from graph.offline.model import OfflineChatModel
from tests.graph.assistant import Assistant, assemble, person
from tests.graph.offline.shared_drive import asked_about, in_new_thread

EXPENSES = (
    "Date,Store,Category,Amount\n2026-09-02,REWE,food,10.50\n2026-09-09,IKEA,home,100.00\n"
    "2026-10-01,REWE,food,20.25\n2026-10-05,Aldi,food,7.00\n"
)
KOSTEN = "日期,商店,金额\n2026-09-02,盒马,10.5\n2026-10-01,京东,100\n2026-10-05,盒马,20\n"


@pytest.fixture(scope="module")
async def of_the_module(tmp_path_factory: pytest.TempPathFactory) -> AsyncGenerator[Assistant]:
    async with asked_about({"exp.csv": EXPENSES}, tmp_path_factory.mktemp("asked")) as assistant:
        yield assistant


@pytest.fixture
def reader(of_the_module: Assistant) -> Assistant:
    """An assistant at the drive with the expenses, which questions only read."""
    return in_new_thread(of_the_module)


@pytest.fixture
async def assistant(real_drive: Drive, real_pool: ConnectionPool, saver: AsyncSqliteSaver, actor: Actor) -> Assistant:
    await real_drive.documents.create(actor, "root", "exp.csv", EXPENSES)
    return assemble(OfflineChatModel(), real_pool, saver, person(actor))


@pytest.mark.parametrize(
    ("question", "values", "cells"),
    [
        ("how much did I spend at REWE in exp.csv?", ["30.75"], "line=2, line=4"),
        ("what is the total of the amount column in exp.csv", ["137.75"], "line=2-5"),
        ("exp.csv 里一共花了多少钱？", ["137.75"], "line=2-5"),
        ("how many entries are in exp.csv?", ["4"], "line=2-5"),
        ("what is the average amount in exp.csv?", ["34.4375"], "line=2-5"),
        ("what was the highest amount in exp.csv", ["100"], "line=2-5"),
        ("which month cost most in exp.csv?", ["2026-09: “110.5"], "line=2-3"),
        ("which store cost least in exp.csv?", ["Aldi: “7"], "line=5"),
        ("how much did I spend in 2026-10 in exp.csv?", ["27.25"], "line=4-5"),
        ("exp.csv 里各店花了多少", ["REWE: “30.75", "IKEA: “100", "Aldi: “7"], ""),
        ("how much did I spend per category in exp.csv", ["food: “37.75", "home: “100"], ""),
    ],
)
async def test_a_number_of_a_named_table_is_answered_with_its_cells_and_verified(
    reader: Assistant, question: str, values: list[str], cells: str
) -> None:
    seen = await reader.say(question)
    assert all(value in seen.text for value in values), seen.text
    assert cells in seen.text
    (event,) = seen.of("citations")
    assert event["citations"]
    assert all(one["verified"] for one in event["citations"]), seen.text


@pytest.mark.parametrize(
    "question",
    [
        "how much did I spend at REWE in November in exp.csv?",
        "how much did I spend at Lidl in exp.csv?",
        "how much did I spend except at REWE in exp.csv?",
        "what is the total over 20 in exp.csv?",
        "exp.csv 里上个月一共花了多少钱？",
        "how much per customer in exp.csv did I spend?",
    ],
)
async def test_a_question_that_is_not_understood_whole_gets_no_number(reader: Assistant, question: str) -> None:
    seen = await reader.say(question)
    assert "Date, Store, Category, Amount" in seen.text
    assert not {"30.75", "137.75", "110.50", "27.25"} & set(seen.text.split("“"))
    assert "[1]" not in seen.text


async def test_of_several_columns_of_numbers_it_asks_which(
    assistant: Assistant, real_drive: Drive, actor: Actor
) -> None:
    await real_drive.documents.create(actor, "root", "stock.csv", "Item,Boxes,Pieces\na,1,2\nb,3,4\n")
    assert "Which column" in (await assistant.say("what is the total in stock.csv?")).text
    assert "“6”" in (await assistant.say("what is the total of pieces in stock.csv?")).text


async def test_a_refusal_of_the_drive_is_passed_on(assistant: Assistant, real_drive: Drive, actor: Actor) -> None:
    await real_drive.documents.create(actor, "root", "mixed.csv", "Item,Cost\na,10 EUR\nb,20 USD\nc,5 EUR\n")
    seen = await assistant.say("how much did I spend in mixed.csv?")
    assert "EUR" in seen.text
    assert "35" not in seen.text


@pytest.mark.parametrize(
    ("content", "question", "value"),
    [
        (EXPENSES, "which month cost most", "2026-09: “110.5"),
        (KOSTEN, "各商店花了多少", "盒马: “30.5"),
        ("Month,Revenue\nJan,12\nFeb,13.5\n", "which month had the highest revenue?", "Feb: “13.5"),
    ],
)
async def test_the_one_table_that_has_the_columns_is_found(
    real_drive: Drive,
    real_pool: ConnectionPool,
    saver: AsyncSqliteSaver,
    actor: Actor,
    content: str,
    question: str,
    value: str,
) -> None:
    await real_drive.documents.create(actor, "root", "month cost store 花了多少.csv", content)
    await real_drive.documents.create(actor, "root", "other.csv", "Colour,Weight\nred,1\n")
    await real_drive.ingester.drain()
    seen = await assemble(OfflineChatModel(), real_pool, saver, person(actor)).say(question)
    assert value in seen.text


async def test_the_table_that_was_talked_about_is_asked_again(reader: Assistant) -> None:
    await reader.say("how much did I spend at REWE in exp.csv?")
    assert "IKEA: “100" in (await reader.say("which store cost most?")).text
    assert "exp.csv" not in (await reader.say("how much does the flat cost?")).text


@pytest.mark.parametrize(
    ("question", "part"),
    [
        ("what day is it?", "day, 20"),
        ("今天星期几?", "星期"),
        ("who am I?", "me@localhost"),
        ("我是谁？", "me@localhost"),
    ],
)
async def test_the_day_and_the_person_are_told(reader: Assistant, question: str, part: str) -> None:
    assert part in (await reader.say(question)).text
