"""The interface of the offline model: it is a chat model like any other, and answers the same however it is called."""

from typing import Any

import pytest
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage, HumanMessage, SystemMessage, ToolMessage
from langchain_core.tools import tool

from graph.offline.model import OfflineChatModel
from graph.prompts import json_section
from tests.graph.offline.world import TOOLS, RouteDecision, TaskPlan, schema

ASKED: list[tuple[str, str]] = [
    ("search_agent", "find the document about parental leave and summarise it"),
    ("drive_agent", "create folders A, B and C"),
    ("drive_agent", "who are you?"),
    ("drive_agent", "你能做什么?"),
    ("drive_agent", "write me a poem"),
    ("drive_agent", "share plan.md with 小王"),
    ("document_agent", "把30天改成45天"),
]


@pytest.fixture
def model() -> OfflineChatModel:
    return OfflineChatModel()


def bound(model: OfflineChatModel, agent: str) -> Any:
    return model.bind_tools([schema(name) for name in sorted(TOOLS[agent])])  # pyright: ignore[reportArgumentType] - any agent's name


def asked(text: str, key: str | None = "run-1") -> list[BaseMessage]:
    return [SystemMessage("You are an agent."), HumanMessage(text, id=key)]


def said(message: AIMessage) -> tuple[Any, ...]:
    return message.text, message.tool_calls, message.response_metadata


@pytest.mark.parametrize(("agent", "text"), ASKED)
async def test_asynchronous_calls_and_streams_say_the_same(model: OfflineChatModel, agent: str, text: str) -> None:
    runnable = bound(model, agent)
    whole = runnable.invoke(asked(text))
    assert said(await runnable.ainvoke(asked(text))) == said(whole)
    joined, chunks = AIMessageChunk(content=""), 0
    async for chunk in runnable.astream(asked(text)):
        chunks += bool(chunk.text)
        joined = joined + chunk
    assert said(joined) == said(whole)
    assert not whole.text or chunks > 2


@pytest.mark.parametrize(("agent", "text"), ASKED)
def test_the_same_messages_always_give_the_same_answer(model: OfflineChatModel, agent: str, text: str) -> None:
    first = bound(model, agent).invoke(asked(text))
    assert said(bound(OfflineChatModel(), agent).invoke(asked(text))) == said(first)


def test_call_ids_differ_between_runs_since_they_are_keys_of_exactly_once(model: OfflineChatModel) -> None:
    runnable = bound(model, "drive_agent")
    ids = {runnable.invoke(asked("create a folder A", key)).tool_calls[0]["id"] for key in ("r1", "r2", None)}
    ids.add(runnable.invoke(asked("create a folder A", None)).tool_calls[0]["id"])
    assert len(ids) == 4


def test_call_ids_differ_within_one_answer(model: OfflineChatModel) -> None:
    listed = [{"id": f"i{n}", "kind": "file", "name": f"{n}.txt"} for n in range(3)]
    messages: list[BaseMessage] = [
        *asked("delete everything in this folder"),
        AIMessage("", tool_calls=[{"name": "list_folder", "args": {"folder_id": "root", "limit": 30}, "id": "l1"}]),
        ToolMessage('3 items.\n{"items":' + str(listed).replace("'", '"') + ',"cursor":null}', tool_call_id="l1"),
    ]
    calls = bound(model, "drive_agent").invoke(messages).tool_calls
    assert [call["args"] for call in calls] == [{"item_id": item["id"]} for item in listed]
    assert len({call["id"] for call in calls}) == 3


def test_a_bound_schema_is_answered_with_its_fields(model: OfflineChatModel) -> None:
    text = "create a folder Reports, move plan.md there and share it with bob@example.com"
    decision = model.with_structured_output(RouteDecision).invoke(text)
    assert isinstance(decision, RouteDecision)
    assert decision.agent == "drive_agent"
    assert decision.needs_plan
    made = model.with_structured_output(TaskPlan).invoke(text)
    assert isinstance(made, TaskPlan)
    assert [step.instruction for step in made.steps] == [
        "Create a folder Reports",
        "Move plan.md there",
        "Share it with bob@example.com",
    ]


def test_reasons_and_titles_are_in_the_language_of_the_system_message(model: OfflineChatModel) -> None:
    messages = [SystemMessage("<language>\nzh\n</language>"), HumanMessage("rename plan.md to 计划.md")]
    decision = model.with_structured_output(RouteDecision).invoke(messages)
    assert isinstance(decision, RouteDecision)
    assert decision.reason == "这是整理云盘的请求。"


def test_what_can_not_be_understood_is_planned_as_one_step(model: OfflineChatModel) -> None:
    made = model.with_structured_output(TaskPlan).invoke(
        "hmm 🤷 lorem ipsum dolor sit amet consectetur adipiscing elit"
    )
    assert isinstance(made, TaskPlan)
    assert len(made.steps) == 1


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("who are you?", ("offline model", "OPENAI_API_KEY", "OPENAI_BASE_URL", "AGENT_MODEL")),
        ("你是什么模型?", ("离线模型", "OPENAI_API_KEY")),
        ("are you ChatGPT?", ("offline model", "not a language model")),
        ("write me a poem about autumn", ("can't do that", "did nothing", "OPENAI_API_KEY")),
        ("把这份文档翻译成英文", ("做不到", "OPENAI_API_KEY")),
        ("share plan.md with everyone", ("email address",)),
        ("how do I delete a file?", ("did nothing", "trash")),
        ("what can you do?", ("find files by words or meaning", "make folders", "share with people or by a link")),
        ("你能做什么？", ("按词语或含义查找文件", "新建文件夹", "分享给他人")),
    ],
)
def test_it_says_what_it_is_and_what_is_beyond_it(model: OfflineChatModel, text: str, parts: tuple[str, ...]) -> None:
    answer = bound(model, "drive_agent").invoke(asked(text))
    assert answer.tool_calls == []
    for part in parts:
        assert part in answer.text


@pytest.mark.parametrize("text", ["yes", "ok do it", "批准", "同意"])
def test_a_chat_message_never_counts_as_an_approval(model: OfflineChatModel, text: str) -> None:
    answer = bound(model, "drive_agent").invoke(asked(text))
    assert answer.tool_calls == []


def test_a_tool_that_is_not_bound_is_not_called_but_named(model: OfflineChatModel) -> None:
    answer = bound(model, "search_agent").invoke(asked("create a folder A"))
    assert answer.tool_calls == []
    assert "`create_folder`" in answer.text


def test_without_any_tool_it_still_answers(model: OfflineChatModel) -> None:
    assert "create_folder" in model.invoke(asked("create a folder A")).text
    assert model.invoke("hello").text


def test_tools_can_be_bound_in_every_form(model: OfflineChatModel) -> None:
    @tool
    def create_folder(name: str, folder_id: str) -> str:
        """Make a folder."""
        return name + folder_id

    for form in (create_folder, schema("create_folder"), {"title": "create_folder", "type": "object"}):
        answer = model.bind_tools([form]).invoke(asked("create a folder A"))
        assert [call["name"] for call in answer.tool_calls] == ["create_folder"]


def test_messages_with_blocks_are_read_as_their_text(model: OfflineChatModel) -> None:
    blocks: list[str | dict[Any, Any]] = [{"type": "text", "text": "create a folder"}, {"type": "text", "text": " A"}]
    answer = bound(model, "drive_agent").invoke([HumanMessage(blocks, id="r")])
    assert answer.tool_calls[0]["args"]["name"] == "A"


def test_the_step_of_a_plan_comes_before_the_message(model: OfflineChatModel) -> None:
    step = json_section("step", {"title": "x", "instruction": "Create a folder called “B”", "number": 1, "of": 2})
    answer = bound(model, "drive_agent").invoke([SystemMessage(step), HumanMessage("create A, then create B", id="r")])
    assert [call["args"]["name"] for call in answer.tool_calls] == ["B"]


async def test_a_long_conversation_is_answered_too(model: OfflineChatModel) -> None:
    messages = [SystemMessage("x" * 50_000), *asked("who are you?")]
    assert said(await bound(model, "drive_agent").ainvoke(messages)) == said(
        bound(model, "drive_agent").invoke(messages)
    )
