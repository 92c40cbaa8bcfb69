"""Tools of the core in each request, the same for all; others by name, described once the model asks for them."""

import re
from typing import Any

import pytest
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

from drive_server.connect import Actor
from graph.approvals.review import EVERYONE
from graph.drive.connections import ConnectionPool
from graph.tools.box import LOCAL_NAMES, LOCAL_TOOLS
from graph.tools.core import CORE, core_tools
from graph.tools.descriptions import for_model, for_models
from graph.tools.local import ToolContext, Toolset
from graph.tools.more import offered_tools
from tests.fakes.chat_model import ScriptedChatModel, prompt_of, tool_call
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
    assert "- list_trash: List the items in the trash" in seen.results["m"]
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


async def tools_of(pool: ConnectionPool, actor: Actor, clock: SettableClock) -> Toolset:
    return Toolset.of(ToolContext(await pool.toolbox(person(actor)), None, None, "", "", clock), LOCAL_TOOLS)


async def test_every_tool_is_in_the_core_or_named(
    real_pool: ConnectionPool, actor: Actor, clock: SettableClock
) -> None:
    offered = offered_tools(await tools_of(real_pool, actor, clock), EVERYONE | LOCAL_NAMES, ())
    assert [tool.name for tool in offered] == [*CORE, "more_tools"]
    schema: Any = offered[-1].args_schema
    named = schema["properties"]["names"]["items"]["enum"]
    assert not {*named} & {*CORE}
    assert {*named, *CORE, "more_tools"} == EVERYONE | LOCAL_NAMES
    assert 12 <= len(EVERYONE & CORE.keys()) <= 16


async def test_requested_tools_come_last_in_the_order_in_which_they_were_asked_for(
    real_pool: ConnectionPool, actor: Actor, clock: SettableClock
) -> None:
    tools = await tools_of(real_pool, actor, clock)

    def described(*requested: str) -> list[Any]:
        offered = offered_tools(tools, EVERYONE | LOCAL_NAMES, requested)
        return [(tool.name, tool.description, tool.args_schema) for tool in offered]

    core = described()
    one = described("update_share")
    two = described("update_share", "move_items", "create_folder", "nothing")
    assert one[: len(core)] == core
    assert two[: len(one)] == one
    assert [name for name, *_ in two[len(core) :]] == ["update_share", "move_items"]


async def test_all_specialists_are_shown_the_same_tools_after_the_same_words(
    assistant: Assistant, model: ScriptedChatModel
) -> None:
    model.script = [
        tool_call("transfer_to_agent", "t", agent="search_agent", reason="It is a question."),
        tool_call("transfer_to_agent", "u", agent="document_agent", reason="It is an edit."),
        "Done.",
    ]
    await assistant.say("list my files")
    systems = {request[0].text for request in model.requests}
    assert len(systems) == 1
    assert "Drive agent" not in systems.pop()
    assert model.bound[0] == model.bound[-1]
    assert {"trash_item", "patch_file", "semantic_search_files", "more_tools"} >= {*model.bound[0]} - CORE.keys()
    roles = [prompt_of(request).count("You are now the") for request in model.requests]
    assert roles == [1, 1, 1]


async def test_a_tool_of_the_core_is_told_in_full_and_stays_where_it_is(
    assistant: Assistant, model: ScriptedChatModel
) -> None:
    model.script = [tool_call("more_tools", "m", names=["move_item"]), "Done."]
    seen = await assistant.say("list my files")
    assert '"on_conflict"' in seen.results["m"]
    assert "Not for: several items (move_items)" in seen.results["m"]
    assert [*map(tuple, model.bound)] == [tuple(model.bound[0])] * len(model.bound)


async def test_the_core_says_what_its_less_plain_arguments_mean(real_pool: ConnectionPool, actor: Actor) -> None:
    tools = {**(await real_pool.toolbox(person(actor))).tools, **{one.name: one.as_tool() for one in LOCAL_TOOLS}}
    shown: Any = {tool.name: tool.args_schema for tool in core_tools(tools)}
    told = {name: schema["properties"] for name, schema in shown.items()}
    filters = ("types", "modified_after", "modified_before", "belongs_to")
    assert all(told["semantic_search_files"][name]["description"] for name in filters)
    assert told["remember"]["file_id"]["description"]
    assert told["patch_file"]["if_match"]["description"]
    assert told["patch_file"]["edits"]["items"]["required"] == ["find", "replace"]
    for name, lean in CORE.items():
        schema: Any = tools[name].args_schema
        assert {*lean.arguments, *schema.get("required", ())} == {*told[name]}


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
            "if_match": {
                "type": "string",
                "description": "The etag you read it with; if it changed since, nothing is done and the answer says "
                "what changed.",
            },
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
