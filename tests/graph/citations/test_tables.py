"""Answers from tables on the real drive: a number is verified by what the drive worked out, and by its cells."""

from collections.abc import Callable
from typing import Any

import pytest
from langchain_core.messages import AIMessage
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

from drive_server.connect import Actor, Drive
from graph.citations.tables import TableAnswer
from graph.drive.connections import ConnectionPool
from graph.events.answers import CitationView
from tests.fakes.chat_model import ScriptedChatModel, tool_call
from tests.graph.assistant import Assistant, Seen, assemble, person

INVOICES = 'Customer,Amount\nACME,"1,234.50"\nBeta,2000\nACME,-100.10\n'


@pytest.fixture
def ask(real_pool: ConnectionPool, model: ScriptedChatModel, saver: AsyncSqliteSaver) -> Callable[[Actor], Assistant]:
    return lambda actor: assemble(model, real_pool, saver, person(actor))


def query(file_id: str, **arguments: Any) -> AIMessage:
    return tool_call("query_table", "q1", file_id=file_id, **arguments)


def citations(seen: Seen) -> list[CitationView]:
    (event,) = seen.of("citations")
    return event["citations"]


async def test_a_total_is_verified_by_the_cells_that_the_drive_added_up(
    ask: Callable[[Actor], Assistant], model: ScriptedChatModel, real_drive: Drive, actor: Actor
) -> None:
    file_id = (await real_drive.documents.create(actor, "root", "Invoices.csv", INVOICES)).value.id
    answer = (
        "All invoices come to “3,134.40” [1], those of ACME to “$1134.4” [2], and one is “1,234.50” [3].\n"
        "[1] /Invoices.csv, line=2-4\n[2] /Invoices.csv\n[3] /Invoices.csv"
    )
    total: list[dict[str, str]] = [{"function": "sum", "column": "Amount"}]
    model.script = [
        query(file_id, aggregates=total),
        tool_call("query_table", "q2", file_id=file_id, aggregates=total, group_by=["Customer"]),
        answer,
    ]
    seen = await ask(actor).say("search my documents: what do all invoices come to?")

    whole, of_one, cell = citations(seen)
    assert [one["verified"] for one in (whole, of_one, cell)] == [True, True, True]
    assert (whole["place"], whole["version"], whole["path"]) == ("line=2-4", 1, "/Invoices.csv")
    assert whole["uri"].startswith(f"drive://files/{file_id}?version=1&start=")
    assert (of_one["place"], cell["place"]) == ("line=2, line=4", "line=2")
    assert "erified" not in seen.text


async def test_a_number_that_no_table_answered_is_told_to_the_person(
    ask: Callable[[Actor], Assistant], model: ScriptedChatModel, real_drive: Drive, actor: Actor
) -> None:
    file_id = (await real_drive.documents.create(actor, "root", "Invoices.csv", INVOICES)).value.id
    model.script = [
        query(file_id, aggregates=[{"function": "sum", "column": "Amount"}]),
        "All invoices come to “3,143.40” [1].\n[1] /Invoices.csv",
    ]
    seen = await ask(actor).say("search my documents: what do all invoices come to?")

    (wrong,) = citations(seen)
    assert (wrong["verified"], wrong["reason"]) == (False, "absent")
    assert "“3,143.40”: these words do not stand in what was read" in seen.text


@pytest.mark.parametrize(
    ("quoted", "stands"),
    [
        *(
            (text, True)
            for text in ("500", "$500.00", "EUR 500", "US$ 500", "500 euros", "500元", "人民币500元", "５００")
        ),
        *(
            (text, False)
            for text in ("no more than 500", "不足500元", "500 million", "500万元", "-500", "500 were lost")
        ),
    ],
)
def test_a_table_says_a_number_with_its_unit_and_nothing_more(quoted: str, stands: bool) -> None:
    source: Any = {}
    assert (TableAnswer(source, [("500", "line=2")]).cells_of(quoted) == "line=2") == stands


async def test_a_long_answer_of_a_table_is_read_where_it_is_kept(
    ask: Callable[[Actor], Assistant], model: ScriptedChatModel, real_drive: Drive, actor: Actor
) -> None:
    text = "Customer,Amount\n" + "".join(
        f"customer {number},{number}.25\ncustomer {number},1\n" for number in range(60)
    )
    file_id = (await real_drive.documents.create(actor, "root", "Many.csv", text)).value.id
    total = [{"function": "sum", "column": "Amount"}]
    model.script = [
        query(file_id, aggregates=total, group_by=["Customer"], limit=100),
        "Customer 47 has “48.25” [1].\n[1] /Many.csv",
    ]
    seen = await ask(actor).say("search my documents: what does customer 47 owe?")

    (found,) = citations(seen)
    assert (found["verified"], found["place"]) == (True, "line=96-97")


async def test_a_newer_version_is_said_and_a_file_that_was_taken_away_verifies_nothing(
    ask: Callable[[Actor], Assistant], model: ScriptedChatModel, real_drive: Drive, actor: Actor
) -> None:
    file_id = (await real_drive.documents.create(actor, "root", "Invoices.csv", INVOICES)).value.id
    assistant = ask(actor)
    model.script = [query(file_id, aggregates=[{"function": "sum", "column": "Amount"}]), "Let me think."]
    await assistant.say("search my documents: what do all invoices come to?")
    await real_drive.documents.write_text(actor, file_id, "Customer,Amount\nBeta,1\n")
    model.script = ["They come to “3134.40” [1]."]
    later = await assistant.say("search my documents again: so what is the total?")
    await real_drive.files.trash(actor, file_id)
    await real_drive.files.empty_trash(actor)
    model.script = ["They come to “3134.40” [1]."]
    gone = await assistant.say("search my documents again: what was the total?")

    assert [(one["verified"], one["is_current"]) for one in citations(later)] == [(True, False)]
    assert [one["verified"] for one in citations(gone)] == [False]
