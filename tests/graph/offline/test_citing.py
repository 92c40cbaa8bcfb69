"""The offline model answers questions from documents of every kind with words that stand in them."""

from typing import Any

import pytest
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

from drive_server.connect import Actor, Drive
from graph.drive.connections import ConnectionPool
from graph.offline.model import OfflineChatModel
from tests.drive_server.knowledge import documents, samples
from tests.graph.assistant import assemble, person

MARKUP = (
    "# Leave\n\n- **Parental leave** lasts [sixteen weeks](https://example.com/x), see “the law” in § 3.\n"
    "- Sick leave is another matter.\n\n| kind | days |\n|---|---|\n| annual holiday | 25 |\n"
)


@pytest.mark.parametrize(
    ("name", "content", "question", "place"),
    [
        ("leave.pdf", samples.pdf(), "育儿假需要提前多少天申请？", "page=2"),
        ("deck.pptx", documents.presentation(), "育儿假需要提前多少天申请？", "slide=1"),
        ("leave.docx", samples.word_document(), "how many weeks of parental leave are there?", ""),
        ("budget.xlsx", documents.workbook(), "what is the amount of 张三?", "sheet=预算 2024!"),
        ("marked.md", MARKUP, "how long does parental leave last?", "line=3"),
        ("table.md", MARKUP, "how many days of annual holiday are there?", "line=8"),
        (
            "crlf.txt",
            "Travel\r\n\r\nTrains are booked\r\nbefore planes.\r\n",
            "are trains booked before planes?",
            "line=",
        ),
    ],
)
async def test_an_answer_quotes_words_that_stand_in_the_document(
    real_drive: Drive,
    real_pool: ConnectionPool,
    actor: Actor,
    saver: AsyncSqliteSaver,
    name: str,
    content: Any,
    question: str,
    place: str,
) -> None:
    await real_drive.documents.create(actor, "root", name, content)
    await real_drive.ingester.drain()
    seen = await assemble(OfflineChatModel(), real_pool, saver, person(actor)).say(question)
    (event,) = seen.of("citations")
    (citation,) = event["citations"]
    assert citation["verified"], (seen.text, citation)
    assert citation["path"] == f"/{name}"
    assert citation["place"].startswith(place)
