"""Requests about each of many files, as the offline model understands them; what looks like one and is none."""

import pytest
from langchain_core.messages import HumanMessage, SystemMessage

from graph.offline.planning import plan
from graph.offline.reading.conversation import read_conversation
from graph.offline.understanding.intents import agent_for
from graph.offline.understanding.rendering import instruction
from graph.offline.understanding.requests import understand
from graph.prompts import json_section
from graph.state import Language

REQUESTS = [
    ("summarise each file in this folder", "current folder", ""),
    ("Please summarize every document in Contracts", "Contracts", ""),
    ("give me a short summary of each of the files in /Work/2024", "/Work/2024", ""),
    ("could you summarise all the files in the folder “Q3 reports”?", "Q3 reports", ""),
    ("which of these contracts mention an early termination fee?", "current folder", "an early termination fee"),
    ("Which of the reports in Finance mention Acme?", "Finance", "Acme"),
    ("把这个文件夹里的每个文件总结一下", "current folder", ""),
    ("请把“合同”里的所有文件都总结一下", "合同", ""),
    ("总结一下合同文件夹里的所有文件", "合同", ""),
    ("分别总结这个文件夹里的文件", "current folder", ""),
    ("这些合同里哪些提到违约金？", "current folder", "违约金"),
    ("合同文件夹里的文件哪些提到了“租金”？", "合同", "租金"),
]
OTHERS = [
    ("summarise this document", "summarise"),
    ("summarise the folder Contracts", "summarise"),
    ("which documents mention Kubernetes", "find"),
    ("show me all files about taxes", "find"),
    ("delete every file in Old", "trash"),
    ("删除这个文件夹里的所有文件", "trash"),
    ("总结这个文件", "summarise"),
]
LANGUAGES: tuple[Language, ...] = ("en", "zh")


@pytest.mark.parametrize(("text", "folder", "query"), REQUESTS)
def test_it_is_understood_with_its_folder_and_goes_to_the_search_agent(text: str, folder: str, query: str) -> None:
    (intent,) = understand(text)
    assert (intent.kind, str(intent.target), intent.query) == ("map_files", folder, query)
    assert agent_for(intent) == "search_agent"


@pytest.mark.parametrize(("text", "folder", "query"), REQUESTS)
@pytest.mark.parametrize("language", LANGUAGES)
def test_said_again_as_a_step_it_is_understood_the_same(text: str, folder: str, query: str, language: Language) -> None:
    (intent,) = understand(text)
    (again,) = understand(instruction(intent, language))
    assert (again.kind, str(again.target), again.query) == ("map_files", folder, query)


@pytest.mark.parametrize(("text", "kind"), OTHERS)
def test_what_is_about_one_file_or_is_no_reading_is_left_alone(text: str, kind: str) -> None:
    assert [intent.kind for intent in understand(text)] == [kind]


def test_a_plan_gives_it_to_the_search_agent() -> None:
    text = "summarise each file in Contracts, then delete Old"
    steps = plan(read_conversation([SystemMessage(json_section("place", {})), HumanMessage(text)]))["steps"]
    assert [step["agent"] for step in steps] == ["search_agent", "drive_agent"]
