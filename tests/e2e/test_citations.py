"""A question is answered from a file, and its citation leads to the words in it: the offline model, over real HTTP."""

from __future__ import annotations

import re
from html import unescape
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

import pytest

from tests.e2e.test_stories import CAFETERIA, HANDBOOK_EN, HANDBOOK_ZH
from tests.e2e.waiting import wait_until_indexed

if TYPE_CHECKING:
    from tests.e2e.person import Person


@pytest.mark.parametrize(
    ("name", "text", "question", "words"),
    [
        ("Staff handbook.md", HANDBOOK_EN, "how many weeks of parental leave can parents take?", "16 weeks of paid"),
        ("员工手册.md", HANDBOOK_ZH, "育儿假可以休几周？", "16周的带薪育儿假"),
    ],
)
def test_a_question_is_answered_with_a_citation_that_opens_at_the_place(
    alice: Person, name: str, text: str, question: str, words: str
) -> None:
    file = alice.upload(name, text)
    alice.upload("Cafeteria.md", CAFETERIA)
    wait_until_indexed(alice)
    with alice.chat(question) as turn:
        turn.finish()

    (event,) = turn.of("citations")
    (citation,) = event["citations"]
    assert words in citation["quote"]
    assert (citation["verified"], citation["file_id"], citation["version"]) == (True, file["id"], 1)
    assert citation["place"].startswith("line=")
    assert "[1]" in turn.text

    address = urlsplit(citation["address"])
    page = alice.http.get(f"{address.path}?{address.query}")
    ((anchor, marked),) = re.findall(r"<mark id='([^']*)'[^>]*>(.*?)</mark>", page.text, re.DOTALL)
    assert unescape(anchor) == unquote(address.fragment) == citation["place"]
    assert " ".join(unescape(marked).split()) == " ".join(citation["quote"].split())

    thread = alice.get(f"/api/threads/{turn.of('run')[0]['thread_id']}")
    (answer,) = [message for message in thread["messages"] if message["id"] == event["message_id"]]
    assert answer["citations"] == event["citations"]


@pytest.mark.parametrize(
    ("question", "told"),
    [
        ("what do my documents say about submarines?", ("found", "submarines")),
        ("我的文档里关于潜水艇怎么说？", ("没有找到", "潜水艇")),
    ],
)
def test_what_is_not_found_is_said_to_be_not_found(alice: Person, question: str, told: tuple[str, str]) -> None:
    alice.upload("Cafeteria.md", CAFETERIA)
    wait_until_indexed(alice)
    with alice.chat(question) as turn:
        turn.finish()
    assert all(part in turn.text for part in told), turn.text
    assert not any(event["citations"] for event in turn.of("citations"))
