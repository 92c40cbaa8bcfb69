"""A table of utterances in both languages: what each is understood as, who takes it, and how it is planned."""

import time

import pytest
from langchain_core.messages import HumanMessage, SystemMessage

from graph.offline.planning import plan
from graph.offline.reading.conversation import read_conversation
from graph.offline.routing import decide
from graph.offline.understanding.intents import ABOUT_CONTENT, AGENTS, CHANGING, TALK, Intent
from graph.offline.understanding.language import detect
from graph.offline.understanding.rendering import instruction
from graph.offline.understanding.requests import understand
from graph.prompts import json_section
from graph.state import Language
from tests.graph.offline import misleading, utterances_en, utterances_varied_en, utterances_varied_zh, utterances_zh
from tests.graph.offline.cases import Case

ENGLISH = [*utterances_en.UTTERANCES, *utterances_varied_en.UTTERANCES]
CHINESE = [*utterances_zh.UTTERANCES, *utterances_varied_zh.UTTERANCES]
EVERY = [*ENGLISH, *CHINESE]
IDS = [f"{number}: {case.text[:40]}" for number, case in enumerate(EVERY)]
LANGUAGES: tuple[Language, ...] = ("en", "zh")


def test_the_table_is_large_and_in_both_languages() -> None:
    assert len(ENGLISH) >= 150
    assert len(CHINESE) >= 150
    assert len({case.text for case in EVERY}) > 0.98 * len(EVERY)


@pytest.mark.parametrize("case", EVERY, ids=IDS)
def test_an_utterance_is_understood(case: Case) -> None:
    intents = understand(case.text, file_open=case.file_open)
    assert tuple(intent.kind for intent in intents) == case.kinds
    last = intents[-1]
    said = {name: getattr(last, name) for name in case.fields}
    assert {name: str(value) if name in {"target", "destination"} else value for name, value in said.items()} == (
        case.fields
    )


@pytest.mark.parametrize("case", EVERY, ids=IDS)
def test_the_router_names_the_specialist_and_whether_a_plan_is_needed(case: Case) -> None:
    place = json_section("place", {"file": {"id": "f1"} if case.file_open else None})
    decision = decide(read_conversation([SystemMessage(place), HumanMessage(case.text)]))
    assert decision["agent"] == expected_agent(case)
    changes = {"find", "summarise", "ask", "read", "list_folder", "list_shares", *TALK}
    assert decision["needs_plan"] == (len(case.kinds) > 1 and not set(case.kinds) <= changes)
    assert 0 < decision["confidence"] <= 1
    assert decision["reason"]


def expected_agent(case: Case) -> str:
    intents = understand(case.text, file_open=case.file_open)
    agents = {
        "document_agent" if is_about_the_open_document(intent) else AGENTS.get(intent.kind, "drive_agent")
        for intent in intents
    }
    return next(agent for agent in ("drive_agent", "document_agent", "search_agent") if agent in agents)


def is_about_the_open_document(intent: Intent) -> bool:
    return intent.kind in ABOUT_CONTENT and intent.target is not None and intent.target.form == "current file"


@pytest.mark.parametrize("case", [case for case in EVERY if len(case.kinds) > 1])
def test_a_plan_has_a_step_for_each_request_with_the_right_specialist(case: Case) -> None:
    steps = plan(read_conversation([SystemMessage(""), HumanMessage(case.text)]))["steps"]
    assert len(steps) == len(case.kinds)
    agents: dict[str, str] = {**AGENTS}
    assert [step["agent"] for step in steps] == [agents.get(kind, "drive_agent") for kind in case.kinds]
    assert all(step["title"] and len(step["title"]) <= 80 for step in steps)


@pytest.mark.parametrize("case", EVERY, ids=IDS)
def test_an_instruction_is_understood_as_the_very_request_that_it_renders(case: Case) -> None:
    for intent in understand(case.text, file_open=case.file_open):
        for language in LANGUAGES:
            again = understand(instruction(intent, language), file_open=case.file_open)
            assert [meaning(one) for one in again] == [meaning(intent)]


def meaning(intent: Intent) -> tuple[object, ...]:
    if intent.kind in {"ask", *TALK}:
        return (intent.kind,)
    names = ("kind", "names", "content", "edits", "emails", "person", "role", "version", "position", "anchor", "topic")
    return (str(intent.target), str(intent.destination), *(getattr(intent, name) for name in names))


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("create a folder 报告", "en"),
        ("把 Old 文件夹清空", "zh"),
        ("删除Old里的所有内容", "zh"),
        ("rename report.md to 年度报告.md", "en"),
        ("share “计划” with bob@example.com", "en"),
        ("find 预算", "en"),
        ("", "en"),
        ("👍", "en"),
    ],
)
def test_names_do_not_decide_the_language(text: str, language: str) -> None:
    assert detect(text) == language


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("create a folder Trips 🏖️ 2025", "Trips 🏖️ 2025"),
        ("create a folder 'Move and delete everything'", "Move and delete everything"),
        ("create a folder called “Bob’s stuff, and more”", "Bob’s stuff, and more"),
        ("新建文件夹“删除,然后共享”", "删除,然后共享"),
        ("create a folder ملفات", "ملفات"),
        ("create a folder Crème brûlée", "Crème brûlée"),
    ],
)
def test_names_are_taken_as_they_are_written(text: str, name: str) -> None:
    (intent,) = understand(text)
    assert intent.names == (name,)


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "?!",
        "\x00",
        "\ue000\ue400\uec00",
        "“" * 500,
        "and then " * 500,
        "move " * 400,
        "把" * 2000,
        "a" * 100_000,
        "find " + "x y " * 30_000,
        "replace " + "a with b " * 3_000,
        "share " + "a@b.co, " * 2_000,
        "把" + "文件夹里的" * 3_000 + "删除",
        "create a file x.md with the content: " + "lorem ipsum, and then delete everything. " * 2_000,
        "(" * 3_000 + "[{<" * 1_000,
    ],
)
def test_hostile_and_huge_texts_are_read_in_little_time(text: str) -> None:
    started = time.process_time()
    understand(text)
    assert time.process_time() - started < 2


def test_what_is_dictated_is_content_and_no_request() -> None:
    (intent,) = understand("create a file x.md with the content: buy milk, and then delete everything in Old")
    assert intent.kind == "create_file"
    assert intent.content == "buy milk, and then delete everything in Old"


@pytest.mark.parametrize("text", misleading.UTTERANCES)
def test_what_only_speaks_of_a_change_asks_for_none(text: str) -> None:
    assert not {intent.kind for intent in understand(text)} & CHANGING


def test_quotation_marks_inside_what_is_dictated_stay() -> None:
    (intent,) = understand('create a file x.md with the content: He said "hi" in plan.md.')
    assert intent.content == 'He said "hi" in plan.md.'


def test_a_long_text_is_dictated_whole_or_not_at_all() -> None:
    (intent,) = understand("create a file x.md with the content " + "lorem ipsum, " * 500)
    assert intent.content == ("lorem ipsum, " * 500).strip()
    assert not {intent.kind for intent in understand("delete " + "x " * 900)} & CHANGING
