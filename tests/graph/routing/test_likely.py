"""One model call before the first word: the likeliest specialist answers at once; a small model may route instead."""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from typing import Any, get_args

import pytest
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGenerationChunk
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

from graph.drive.connections import ConnectionPool
from graph.routing.intents import read_intent
from graph.routing.likely import likeliest
from graph.routing.route import UNSURE
from graph.settings import AgentSettings, ModelRole
from tests.fakes.chat_model import FakeChatModel, ScriptedChatModel, plan_of, prompt_of, route_to, tool_call
from tests.fakes.mcp_server import SeenCall
from tests.fakes.tiny_drive import TinyDrive
from tests.graph.assistant import Assistant, Seen, assemble

UNKNOWN = "I keep forgetting when the rent of the office is due"
SILENT = "hmm, the thing again"


@pytest.fixture
def assistant(model: ScriptedChatModel, pool: ConnectionPool, saver: AsyncSqliteSaver) -> Assistant:
    """Return an assistant as with a key alone: no model of its own routes."""
    return assemble({"planner": model, "agent": model}, pool, saver)


def routed(seen: Seen) -> tuple[str, str]:
    event = seen.of("route_decision")[0]
    return event["agent"], event["method"]


@pytest.mark.parametrize(
    ("message", "place", "agent"),
    [
        (UNKNOWN, {}, "search_agent"),
        ("去年第三季度的营收到底怎么样，哪份材料提到了？", {}, "search_agent"),
        ("I'd rather have the tone of the second paragraph a bit kinder", {"file_id": "a"}, "document_agent"),
        ("还是觉得第二段的语气太生硬了", {"file_id": "a"}, "document_agent"),
        ("my drive has no space left, everything is in one folder", {}, "drive_agent"),
        ("云盘空间快满了，文件夹乱成一团", {}, "drive_agent"),
    ],
)
async def test_what_no_pattern_knows_goes_at_once_to_the_likeliest_specialist(
    assistant: Assistant, model: ScriptedChatModel, message: str, place: dict[str, Any], agent: str
) -> None:
    model.script = ["Here."]
    seen = await assistant.say(message, **place)
    assert routed(seen) == (agent, "score")
    assert seen.of("route_decision")[0]["confidence"] >= 0.5
    assert len(model.requests) == 1
    assert model.bound == [model.bound[0]]
    assert {"transfer_to_agent", "make_plan"} <= set(model.bound[0])
    assert not any(UNSURE in prompt_of(request) for request in model.requests)


async def test_it_hands_over_if_it_is_the_wrong_one(assistant: Assistant, model: ScriptedChatModel) -> None:
    model.script = [tool_call("transfer_to_agent", agent="drive_agent", reason="It moves files."), "Moved."]
    seen = await assistant.say(UNKNOWN)
    assert [event["agent"] for event in seen.of("route_decision")] == ["search_agent", "drive_agent"]


async def test_it_has_a_plan_made_if_there_are_several_things_to_do(
    assistant: Assistant, model: ScriptedChatModel
) -> None:
    model.script = [tool_call("make_plan"), plan_of(("search_agent", "find it"), ("drive_agent", "list it")), "1", "2"]
    seen = await assistant.say(UNKNOWN)
    assert [step["status"] for step in seen.state["plan"]["steps"]] == ["completed", "completed"]
    assert routed(seen) == ("search_agent", "score")


@pytest.mark.parametrize(("message", "words"), [(SILENT, "not clear"), ("嗯，那件事情又来了呀怎么弄", "无法确定")])
async def test_a_guess_is_called_one_and_the_specialist_makes_sure_first(
    assistant: Assistant, model: ScriptedChatModel, message: str, words: str
) -> None:
    model.script = ["Which thing do you mean: the report or the lease?"]
    seen = await assistant.say(message)
    event = seen.of("route_decision")[0]
    assert event["confidence"] < 0.5
    assert words in event["reason"]
    assert prompt_of(model.requests[0]).endswith(UNSURE)


async def test_the_answer_to_a_question_goes_to_the_specialist_that_asked(
    assistant: Assistant, model: ScriptedChatModel
) -> None:
    model.script = ["Which report do you mean: the annual or the quarterly one?", "Done."]
    await assistant.say(UNKNOWN)
    seen = await assistant.say("I would say it is more likely that the quarterly one matters to us here")
    assert routed(seen)[0] == "search_agent"


async def test_the_threshold_is_a_setting(
    model: ScriptedChatModel, pool: ConnectionPool, saver: AsyncSqliteSaver
) -> None:
    settings = AgentSettings(route_confidence=0)
    model.script = ["Here."]
    await assemble({"planner": model, "agent": model}, pool, saver, settings=settings).say(SILENT)
    assert UNSURE not in prompt_of(model.requests[0])


async def test_an_unsure_model_makes_no_plan_before_the_specialist_has_made_sure(
    model: ScriptedChatModel, pool: ConnectionPool, saver: AsyncSqliteSaver
) -> None:
    unsure = tool_call("RouteDecision", agent="drive_agent", needs_plan=True, confidence=0.3, reason="A guess.")
    model.script = [unsure, "What do you mean by it?"]
    seen = await assemble(dict.fromkeys(get_args(ModelRole), model), pool, saver).say(SILENT)
    assert routed(seen) == ("drive_agent", "model")
    assert seen.of("task_plan") == []
    assert UNSURE in prompt_of(model.requests[1])


async def test_after_a_handover_nothing_is_unsure_any_more(assistant: Assistant, model: ScriptedChatModel) -> None:
    model.script = [tool_call("transfer_to_agent", agent="search_agent", reason="It is in a file."), "Here."]
    await assistant.say(SILENT)
    assert [UNSURE in prompt_of(request) for request in model.requests] == [True, False]


class Router(FakeChatModel):
    """Answers once the drive has been asked for the surroundings: alone, it would wait for ever."""

    asked: Any
    answer: Any

    async def _astream(
        self, messages: list[BaseMessage], *_: Any, **kwargs: Any
    ) -> AsyncGenerator[ChatGenerationChunk]:
        async with asyncio.timeout(10):
            await self.asked.wait()
        async for chunk in super()._astream(messages, **kwargs):
            yield chunk

    def _answer(self, messages: Sequence[BaseMessage], offered: Sequence[str]) -> AIMessage:
        del messages, offered
        return self.answer


@pytest.mark.parametrize("agent", ["search_agent", "document_agent"])
async def test_a_small_model_routes_while_the_context_is_read_which_is_read_once(
    model: ScriptedChatModel, pool: ConnectionPool, saver: AsyncSqliteSaver, drive: TinyDrive, agent: str
) -> None:
    asked = asyncio.Event()
    tool, list_folder = drive.tools["list_folder"]

    def noticed(call: SeenCall) -> Any:
        asked.set()
        return list_folder(call)

    drive.tools["list_folder"] = (tool, noticed)
    router = Router(asked=asked, answer=route_to(agent))
    model.script = ["Here."]
    seen = await assemble({"router": router, "planner": model, "agent": model}, pool, saver).say(UNKNOWN)
    assert routed(seen) == (agent, "model")
    assert len(drive.called("list_folder")) == 1


@pytest.mark.parametrize("text", ["", " ", "🙂", "x" * 100_000, "的" * 100_000, "\ud83d"])
@pytest.mark.parametrize("in_document", [True, False])
def test_any_text_has_a_likeliest_specialist(text: str, in_document: bool) -> None:
    likely = likeliest(text, read_intent(text, in_document=in_document), in_document=in_document)
    assert 1 / 3 <= likely.confidence <= 1
