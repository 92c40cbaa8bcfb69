"""Fixtures of the suite's scenarios for 2026-07-28: tools and prompts that need something of the client."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mcp.server.fastmcp import Context
from mcp.server.fastmcp.prompts.base import UserMessage
from mcp.types import (
    CreateMessageRequest,
    CreateMessageRequestParams,
    ElicitRequest,
    ElicitRequestFormParams,
    ListRootsRequest,
    SamplingMessage,
    TextContent,
)

from drive_server.mcp.stateless.session import RequestSession

if TYPE_CHECKING:
    from collections.abc import Mapping

    from drive_server.mcp.server import DriveServer
    from drive_server.mcp.stateless.questions import InputRequest

AnyContext = Context[Any, Any, Any]


def mount(server: DriveServer) -> None:
    """Put the fixtures on the server."""
    for add in (_add_questions, _add_rounds, _add_others):
        add(server)


def _form(name: str) -> ElicitRequest:
    schema = {"type": "object", "properties": {name: {"type": "string"}}, "required": [name]}
    return ElicitRequest(params=ElicitRequestFormParams(message=f"What is your {name}?", requestedSchema=schema))


def _sample() -> CreateMessageRequest:
    message = SamplingMessage(role="user", content=TextContent(type="text", text="What is the capital of France?"))
    return CreateMessageRequest(params=CreateMessageRequestParams(messages=[message], maxTokens=100))


async def _inputs(context: AnyContext, **wanted: InputRequest) -> Mapping[str, Any]:
    session = context.session
    assert isinstance(session, RequestSession)
    return await session.inputs(wanted)


def _add_questions(server: DriveServer) -> None:
    """Tools that want one thing, or several at once."""

    @server.tool()
    async def test_input_required_result_elicitation(ctx: AnyContext) -> str:
        """Ask for a name."""
        given = await _inputs(ctx, user_name=_form("name"))
        return f"Hello, {given['user_name'].get('content', {}).get('name')}!"

    @server.tool()
    async def test_input_required_result_sampling(ctx: AnyContext) -> str:
        """Ask the client's model."""
        given = await _inputs(ctx, capital=_sample())
        return given["capital"]["content"]["text"]

    @server.tool()
    async def test_input_required_result_list_roots(ctx: AnyContext) -> str:
        """Ask for the client's roots."""
        given = await _inputs(ctx, client_roots=ListRootsRequest())
        return ", ".join(root["uri"] for root in given["client_roots"]["roots"])

    @server.tool()
    async def test_input_required_result_multiple_inputs(ctx: AnyContext) -> str:
        """Ask for all of them at once."""
        given = await _inputs(ctx, user_name=_form("name"), greeting=_sample(), client_roots=ListRootsRequest())
        return f"{len(given)} answers"


def _add_rounds(server: DriveServer) -> None:
    """Tools whose state matters."""

    @server.tool()
    async def test_input_required_result_request_state(ctx: AnyContext) -> str:
        """Ask, and take what was asked back signed."""
        await _inputs(ctx, confirm=_form("ok"))
        return "state-ok"

    @server.tool()
    async def test_input_required_result_multi_round(ctx: AnyContext) -> str:
        """Ask twice, one after the other."""
        first = await _inputs(ctx, step1=_form("name"))
        both = await _inputs(ctx, step1=_form("name"), step2=_form("color"))
        return f"{first['step1'].get('content')} {both['step2'].get('content')}"

    @server.tool()
    async def test_input_required_result_tampered_state(ctx: AnyContext) -> str:
        """Ask, and refuse a state that is not as it was given."""
        await _inputs(ctx, confirm=_form("ok"))
        return "state-ok"


def _add_others(server: DriveServer) -> None:
    """A prompt that asks, and tools for what clients do not announce, and for what a stream may have."""

    @server.prompt()
    async def test_input_required_result_prompt() -> list[UserMessage]:
        """Ask for a context before the prompt is made."""
        given = await _inputs(server.get_context(), user_context=_form("context"))
        return [UserMessage(content=f"Context: {given['user_context'].get('content')}")]

    @server.tool()
    async def test_input_required_result_capabilities(ctx: AnyContext) -> str:
        """Ask for what the client announces."""
        client = ctx.session.client_params
        can_ask = client is not None and client.capabilities.elicitation is not None
        await _inputs(ctx, wanted=_form("name") if can_ask else _sample())
        return "asked for what you can"

    @server.tool()
    async def test_missing_capability(ctx: AnyContext) -> str:
        """Need a model of the client."""
        given = await _inputs(ctx, capital=_sample())
        return given["capital"]["content"]["text"]

    @server.tool()
    async def test_streaming_elicitation(ctx: AnyContext) -> str:
        """Say something, then ask."""
        await ctx.report_progress(1, 2)
        await _inputs(ctx, user_name=_form("name"))
        return "done"

    @server.tool()
    async def test_logging_tool(ctx: AnyContext) -> str:
        """Say something to the log."""
        await ctx.info("hello")
        return "done"
