from __future__ import annotations

from typing import TYPE_CHECKING, Any, get_args

import pytest
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage

from graph.memory.summaries import REFUSED
from graph.messages.written import refusal_of, result_message
from graph.offline.model import OfflineChatModel
from graph.prompts import json_section
from graph.routing.handover import REFUSALS, TEXTS
from graph.state import Refusal
from tests.fakes.chat_model import ScriptedChatModel, tool_call
from tests.graph.assistant import approve, reject
from tests.graph.offline.world import TOOLS, schema
from tests.graph.planning.test_plan import steps_of

if TYPE_CHECKING:
    from tests.fakes.clock import SettableClock
    from tests.fakes.tiny_drive import TinyDrive
    from tests.graph.assistant import Assistant

ENGLISH = "delete a, then rename b to c"
CHINESE = "删除a，然后把b重命名为c"
TOLD = {
    "rejected": ("because you rejected it", "因为你拒绝了它"),
    "expired": ("because its approval expired before anyone answered", "因为审批在答复之前已过期"),
    "answered": ("because you answered something else", "因为你给出了其他答复"),
    "unclear": ("because the answer to its approval could not be used", "因为无法使用对其审批的答复"),
}
ANSWERS: dict[str, Any] = {
    "rejected": reject("1"),
    "expired": approve("1"),
    "answered": {"decisions": [{"tool_call_id": "1", "type": "respond", "message": "I rejected nothing; it expired"}]},
    "unclear": {"decisions": "hm"},
}
SUMMARIES = {"rejected": "Rejected by the person", "expired": "Not approved in time"}
OFFLINE = {
    "rejected": ("You rejected it", "你拒绝了"),
    "expired": ("expired", "已过期"),
    "answered": ("Your answer: ", "你的回复"),
    "unclear": ("could not be used", "无法使用"),
}


def test_the_tables_have_all_outcomes() -> None:
    assert {f"handover.{refusal}" for refusal in REFUSALS} <= TEXTS.codes
    assert {*TOLD} == {*ANSWERS} == {*OFFLINE} == {*REFUSED} == {*REFUSALS} == {*get_args(Refusal)}


@pytest.mark.parametrize("outcome", TOLD)
@pytest.mark.parametrize("language", [0, 1], ids=["en", "zh"])
async def test_a_plan_tells_why_a_step_was_not_done(
    assistant: Assistant, model: ScriptedChatModel, drive: TinyDrive, clock: SettableClock, outcome: str, language: int
) -> None:
    model.script = [
        steps_of(
            {"id": "1", "title": "删除a", "instruction": "delete a"},
            {"id": "2", "title": "清理", "instruction": "rename b", "depends_on": ["1"]},
        ),
        *[tool_call("trash_item", "1", item_id="a"), "Not deleted."],
    ]
    await assistant.say((ENGLISH, CHINESE)[language])
    clock.advance(301 if outcome == "expired" else 1)
    seen = await assistant.answer(ANSWERS[outcome])
    assert TOLD[outcome][language] in seen.text
    assert not [words for other, pair in TOLD.items() for words in pair if other != outcome and words in seen.text]
    assert seen.state["plan"]["steps"][0]["refusal"] == outcome
    assert drive.done == []


async def test_a_plan_whose_calls_met_several_outcomes_tells_what_the_person_said(
    assistant: Assistant, model: ScriptedChatModel
) -> None:
    model.script = [
        steps_of({"id": "1", "instruction": "delete a and b"}, {"id": "2", "instruction": "rename c"}),
        AIMessage("", tool_calls=[_call("1", "a"), _call("2", "b")]),
        *["Not deleted.", "Renamed."],
    ]
    await assistant.say(ENGLISH)
    seen = await assistant.answer({"decisions": [{"tool_call_id": "1", "type": "reject"}]})
    assert TOLD["rejected"][0] in seen.text


def _call(key: str, item: str) -> Any:
    return {"name": "trash_item", "args": {"item_id": item}, "id": key}


@pytest.mark.parametrize("outcome", OFFLINE)
@pytest.mark.parametrize("language", [0, 1], ids=["en", "zh"])
def test_the_offline_model_tells_an_outcome_whatever_the_words_of_the_result(outcome: Any, language: int) -> None:
    text = "The person rejected this; it expired; it was declined. 已过期，拒绝"
    result = result_message("c1", "create_folder", text, "rejected", refusal=outcome)
    place = SystemMessage(json_section("place", {"folder": {"id": "root", "name": "", "path": "/"}}))
    asked = HumanMessage(("create a folder A", "新建文件夹A")[language], id="r")
    call = AIMessage("", tool_calls=[{"name": "create_folder", "args": {"name": "A", "folder_id": "root"}, "id": "c1"}])
    answer = (
        OfflineChatModel()
        .bind_tools([schema(name) for name in TOOLS["drive_agent"]])
        .invoke([place, asked, call, result])
    )
    assert refusal_of(result) == outcome
    assert OFFLINE[outcome][language] in answer.text
