"""Ordinary answers, which state nothing about files, and answers about files that nobody read: by words alone.

The drive is asked only where words leave it open (`test_unread.py`); here the three files of it are its answer.
"""

import json
from pathlib import Path

import pytest
from langchain_core.messages import HumanMessage, SystemMessage

from graph.citations.unread import Asked, Unread, describes_call, is_asked_of, needs_drive, unread_claim
from graph.messages.turn_context import CONTEXT
from graph.routing.questions import asks

HERE = """<place>
folder: 757c7f /
</place>

<listing>
a1b2c3 HR/
d4e5f6 handbook.md
b7c8d9 Lease.md
e1f2a3 合同.md
</listing>

<moment>
{"now":"Sunday 2026-11-29 19:48"}
</moment>

"""
HITS = [
    ("handbook.md", "Staff get 25 days of paid leave. The notice period is thirty days."),
    ("Lease.md", "The rent is 900 euros a month. The lease ends in March 2027."),
    ("合同.md", "租期到2027年3月为止，每月租金900元。"),
]
OFFERED = frozenset({"create_folder", "move_item", "list_folder", "semantic_search_files", "read_file", "make_plan"})
ANSWERS = json.loads(Path(__file__).with_name("answers.json").read_text(encoding="utf-8"))
"""Requests and answers in both languages: ordinary ones, and those that state facts of files or changes."""


def fault(request_text: str, answer: str) -> Unread | None:
    """Return what is wrong with the answer to a first request of a conversation, for which no tool was called."""
    said = HumanMessage(HERE + request_text, additional_kwargs={CONTEXT: len(HERE)})
    asked = Asked(request_text, [SystemMessage("You are the assistant."), said], (), ())
    if asks(answer):
        return None
    if describes_call(answer, asked, OFFERED):
        return "uncalled"
    is_in_drive = needs_drive(answer, asked) and is_asked_of(HITS, request_text)
    return unread_claim(answer, asked) or ("unread" if is_in_drive else None)


@pytest.mark.parametrize(("request_text", "answer"), ANSWERS["ordinary"])
def test_an_ordinary_answer_states_nothing_about_files(request_text: str, answer: str) -> None:
    assert fault(request_text, answer) is None


@pytest.mark.parametrize(("request_text", "answer"), ANSWERS["about_files"])
def test_an_answer_about_files_that_nobody_read_is_known(request_text: str, answer: str) -> None:
    assert fault(request_text, answer) in {"unread", "unchanged"}
