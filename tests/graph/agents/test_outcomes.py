"""The outcome of a turn is told in the person's language, and in words that are for people."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from langchain_core.messages import HumanMessage, ToolMessage

from graph.agents.outcomes import has_made_up_figures, is_unfit, plain_summary
from graph.agents.small_sections import results_by_path
from graph.settings import AgentSettings
from tests.fakes.chat_model import tool_call
from tests.graph.assistant import Assistant, assemble, person

if TYPE_CHECKING:
    from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

    from drive_server.connect import Actor
    from graph.drive.connections import ConnectionPool
    from graph.language import Language
    from graph.state import ChangeNote
    from tests.fakes.chat_model import ScriptedChatModel

SMALL = AgentSettings.model_validate({"model": "m", "model_profile": "small"})
MAKE = tool_call("create_folder", "f", name="Trips")


@pytest.fixture
def small(
    real_pool: ConnectionPool, model: ScriptedChatModel, saver: AsyncSqliteSaver, actor: Actor
) -> tuple[Assistant, ScriptedChatModel]:
    """Return an assistant on a real drive with a small model, and the model."""
    return assemble(model, real_pool, saver, person(actor), settings=SMALL), model


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("make a folder called Trips", "Created the folder 'Trips' in the root folder."),
        ("新建一个名为“Trips”的文件夹", "在根文件夹中新建了文件夹“Trips”。"),
    ],
)
async def test_changes_without_an_answer_are_told_in_the_drives_own_sentences(
    small: tuple[Assistant, ScriptedChatModel], said: str, told: str
) -> None:
    assistant, model = small
    model.script = [MAKE, "", ""]
    assert (await assistant.say(said)).text.strip() == told


@pytest.mark.parametrize(
    "answer",
    [
        "The person was given approval to create a new folder.",
        'The folder "Trips" was created with the id 5a3a09 and the etag 5a3a09a2-1.',
        "The request has been transferred to the drive_agent.",
        "好的，文件夹已经建好了。",
        "Thank you! Please give me the name of the folder.",
    ],
)
async def test_an_answer_of_a_small_model_that_a_person_cannot_read_gives_way_to_the_changes(
    small: tuple[Assistant, ScriptedChatModel], answer: str
) -> None:
    assistant, model = small
    model.script = [MAKE, answer]
    seen = await assistant.say("make a folder called Trips")
    assert seen.text.strip() == "Created the folder 'Trips' in the root folder."
    assert seen.state["messages"][-1].text == seen.text


async def test_a_fitting_answer_stays(small: tuple[Assistant, ScriptedChatModel]) -> None:
    assistant, model = small
    model.script = [MAKE, "I made the folder Trips."]
    assert (await assistant.say("make a folder called Trips")).text.strip() == "I made the folder Trips."


async def test_an_answer_in_another_language_is_asked_for_once_more(small: tuple[Assistant, ScriptedChatModel]) -> None:
    assistant, model = small
    listed = tool_call("list_folder", "l", folder_id="root")
    model.script = [listed, "0 hits. Nothing found.", "这里没有文件。"]
    seen = await assistant.say("列出我的文件")
    assert seen.text.strip() == "这里没有文件。"
    assert "用中文回答" in model.requests[-1][-1].text
    model.script = [listed, "Nothing is in this folder.", "There is nothing in the folder."]
    assert (await assistant.say("列出我的文件")).text.strip() == "Nothing is in this folder."


async def test_a_silent_model_is_asked_for_an_answer_and_not_for_the_same_again(
    small: tuple[Assistant, ScriptedChatModel],
) -> None:
    assistant, model = small
    model.script = [tool_call("list_folder", "l", folder_id="root"), "", "There are none."]
    assert (await assistant.say("list my files")).text.strip() == "There are none."
    assert "Answer the request now" in model.requests[-1][-1].text


async def test_a_change_that_failed_is_not_told_as_done(small: tuple[Assistant, ScriptedChatModel]) -> None:
    assistant, model = small
    missing = tool_call("move_item", "m", item_id="/nothing.md", folder_id="root")
    model.script = [missing, "Nothing.md is at the top now."]
    assert "not done" in (await assistant.say("move nothing.md to the top")).text
    model.script = [missing, "There is no file nothing.md."]
    assert (await assistant.say("move nothing.md to the top")).text.strip() == "There is no file nothing.md."


async def test_figures_that_nobody_gave_are_asked_for_once_more(small: tuple[Assistant, ScriptedChatModel]) -> None:
    assistant, model = small
    model.script = [tool_call("list_folder", "l", folder_id="root"), "It ends in March 2028.", "Nothing says so."]
    assert (await assistant.say("list my files, and when does the lease end?")).text.strip() == "Nothing says so."
    assert not has_made_up_figures("1,250 euros on page 3", "a total of 1250")


def test_a_hand_over_is_left_out_for_a_small_model() -> None:
    handed = tool_call("transfer_to_agent", "t", agent="drive_agent")
    listed = tool_call("list_folder", "l")
    results = [
        ToolMessage("The drive_agent has the request now.", tool_call_id="t"),
        ToolMessage("2", tool_call_id="l"),
    ]
    shown = results_by_path([HumanMessage("move it"), handed, results[0], listed, results[1]])
    assert [message.type for message in shown] == ["human", "ai", "tool"]


@pytest.mark.parametrize(
    ("answer", "request_", "language", "has_changed"),
    [
        ("Il n'y en a pas.", "Translate it into French", "en", False),
        ("租金是900元。", "Translate “The rent is 900” into Chinese", "en", False),
        ("The rent is 900.", "把它翻译成英文", "zh", False),
        ("Budget.csv", "哪个文件最大？", "zh", False),
        ("The person who signed it is liable.", "who is liable?", "en", False),
        ("An etag marks a version.", "what is an etag?", "en", False),
        ("It says “租期到2027年3月为止”.", "when does it end?", "en", False),
        ("文件 Lease.md 说：“The rent is 900 euros a month.”", "租金是多少？", "zh", False),
    ],
)
def test_what_was_asked_for_is_fit(answer: str, request_: str, language: Language, *, has_changed: bool) -> None:
    assert not is_unfit(answer, request_, language, has_changed=has_changed)


def test_a_tools_sentence_is_told_without_its_parts_for_models() -> None:
    said = "Shared: b@x.com is now viewer. Tell the person, and offer a link (create_share_link), which works."
    change: ChangeNote = {"change_id": 1, "tool_call_id": "c", "tool": "share_item", "summary": said}
    assert plain_summary(change) == "Shared: b@x.com is now viewer."
    made: ChangeNote = {**change, "summary": "Created /Trips (folder, id 759bf9, etag 759bf931-1)."}
    assert plain_summary(made) == "Created /Trips."


def test_results_for_small_models_name_items_by_their_paths_and_leave_texts_alone() -> None:
    said = "1 hit.\n- c783ae /HR/L.md, 23 B\n/HR/L.md (file, id c783ae, etag c783aecd-4), version 2.\nid: 40833b"
    text = "\n~~~\n- abcdef /x\nid: 123456\n(file, id 5)\n~~~"
    (shown,) = results_by_path([ToolMessage(said + text, tool_call_id="c")])
    assert shown.text == "1 hit.\n- /HR/L.md, 23 B\n/HR/L.md, version 2.\n" + text
