"""Rare tools: by name in each request, described once the model asks, and only for that turn."""

import re
from typing import Any

import pytest
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

from drive_server.connect import Actor
from graph.agents.specialist import Specialist
from graph.approvals.review import SPECIALISTS
from graph.drive.connections import ConnectionPool
from graph.tools.box import LOCAL_NAMES, LOCAL_TOOLS
from graph.tools.descriptions import for_model, for_models
from graph.tools.local import ToolContext, Toolset
from graph.tools.more import offered_tools
from tests.fakes.chat_model import ScriptedChatModel, tool_call
from tests.fakes.clock import SettableClock
from tests.graph.assistant import Assistant, assemble, person


@pytest.fixture
def assistant(real_pool: ConnectionPool, model: ScriptedChatModel, saver: AsyncSqliteSaver, actor: Actor) -> Assistant:
    return assemble(model, real_pool, saver, person(actor))


@pytest.mark.parametrize("names", [["list_trash"], '["list_trash"]'])
async def test_a_requested_tool_is_offered_for_the_rest_of_the_turn(
    assistant: Assistant, model: ScriptedChatModel, names: Any
) -> None:
    model.script = [
        tool_call("more_tools", "m", names=names),
        tool_call("list_trash", "l"),
        "The trash is empty.",
        "Nothing else.",
    ]
    seen = await assistant.say("list my files")
    assert "- list_trash: List what is in the trash" in seen.results["m"]
    assert seen.ends == [("more_tools", "done"), ("list_trash", "done")]
    before, after = model.bound
    assert "list_trash" not in before
    assert after == [*before, "list_trash"]
    await assistant.say("list my files")
    assert model.script == []
    assert len(model.bound) == 2


async def test_a_rare_tool_that_is_called_at_once_is_not_refused(
    assistant: Assistant, model: ScriptedChatModel
) -> None:
    model.script = [tool_call("list_trash", "l"), "The trash is empty."]
    seen = await assistant.say("list my files")
    assert seen.ends == [("list_trash", "done")]


@pytest.mark.parametrize("name", ["authenticate", "rm", "get_index_status"])
async def test_what_is_no_tool_of_the_specialists_is_refused(
    assistant: Assistant, model: ScriptedChatModel, name: str
) -> None:
    model.script = [tool_call("more_tools", "m", names=["list_trash", name]), "I can't."]
    seen = await assistant.say("list my files")
    assert seen.ends == [("more_tools", "error")]
    assert seen.results["m"].startswith(f"invalid_argument: {name}: no tool of yours.")
    assert len(model.bound) == 1


@pytest.mark.parametrize("specialist", SPECIALISTS, ids=lambda one: one.name)
async def test_every_tool_is_offered_or_named(
    specialist: Specialist, real_pool: ConnectionPool, actor: Actor, clock: SettableClock
) -> None:
    box = await real_pool.toolbox(person(actor))
    tools = Toolset.of(ToolContext(box, None, None, "", "", clock), LOCAL_TOOLS)
    allowed = offered_tools(tools, specialist.tools | LOCAL_NAMES, specialist.rare, frozenset())
    schema: Any = next(tool.args_schema for tool in allowed if tool.name == "more_tools")
    named = set(schema["properties"]["names"]["items"]["enum"])
    assert named == specialist.rare
    assert specialist.tools | LOCAL_NAMES == {tool.name for tool in allowed} | named


async def test_what_a_model_reads_of_a_tool_is_what_it_needs_to_call_it(
    real_pool: ConnectionPool, actor: Actor
) -> None:
    tools = (await real_pool.toolbox(person(actor))).tools
    shown = for_model(tools["patch_file"])
    assert shown.args_schema == {
        "type": "object",
        "properties": {
            "file_id": {"type": "string"},
            "edits": {
                "type": "array",
                "items": {
                    "type": "object",
                    "description": "One replacement in a text.",
                    "properties": {
                        "find": {
                            "type": "string",
                            "description": "The text as it stands in the file, with its spaces and line breaks; it "
                            "has to occur once.",
                        },
                        "replace": {"type": "string", "description": "What stands there afterwards."},
                    },
                    "required": ["find", "replace"],
                },
                "description": "Replacements, made in this order, each in the text that the ones before left.",
            },
            "if_match": {"type": "string"},
        },
        "required": ["file_id", "edits"],
    }
    assert shown.description.split("\n")[0] == tools["patch_file"].description.split("\n")[0]
    assert "Not for: rewriting all of it" in shown.description
    assert "Use when" not in shown.description
    assert not any("material, not instructions" in for_model(tool).description for tool in tools.values())
    for tool in tools.values():
        assert not {"anyOf", "null", "maxLength", "title"} & set(
            re.findall(r"'(\w+)'", str(for_model(tool).args_schema))
        )


async def test_an_mcp_host_gets_the_whole_schema(real_pool: ConnectionPool, actor: Actor) -> None:
    tools = (await real_pool.toolbox(person(actor))).tools
    for_model(tools["read_file"])
    assert "maxLength" in str(tools["read_file"].args_schema)
    assert "Use when" in tools["read_file"].description


async def test_what_an_argument_means_is_said_once(real_pool: ConnectionPool, actor: Actor) -> None:
    tools = (await real_pool.toolbox(person(actor))).tools
    shown: list[Any] = for_models(tools[name] for name in ("move_item", "copy_item", "create_file"))
    said: list[Any] = [tool.args_schema["properties"]["on_conflict"] for tool in shown]
    assert [bool(argument.get("description")) for argument in said] == [True, False, True]
    assert said[1]["enum"] == ["fail", "rename", "replace"]
