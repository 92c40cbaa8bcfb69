"""Tools, prompts and resources that the official conformance suite expects, added to the drive's own server.

Names and answers are the suite's: each of its scenarios describes the fixture that it needs. They are added the way
FastMCP has it, so they go through the drive's call, list, read and notification code like any tool of its own.
"""

from __future__ import annotations

import json
from base64 import b64decode
from typing import TYPE_CHECKING, Any

from mcp.server.fastmcp import Context
from mcp.server.fastmcp.exceptions import ToolError
from mcp.server.fastmcp.prompts.base import UserMessage
from mcp.types import (
    AudioContent,
    Completion,
    CompletionArgument,
    CompletionContext,
    EmbeddedResource,
    ImageContent,
    PromptReference,
    ResourceTemplateReference,
    SamplingMessage,
    TextContent,
    TextResourceContents,
)
from pydantic import AnyUrl

from tests.conformance.schemas import FORM_WITH_CHOICES, FORM_WITH_DEFAULTS, PERSON_FORM, SCHEMA_2020_12

if TYPE_CHECKING:
    from drive_server.mcp.server import DriveServer

AnyContext = Context[Any, Any, Any]

RED_PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg=="  # a PNG
SILENCE = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA="  # a WAV of no samples


def mount(server: DriveServer) -> None:
    """Put all fixtures on the server."""
    for add in (_add_contents, _add_reports, _add_questions, _add_schema, _add_resources, _add_prompts):
        add(server)


def _image() -> ImageContent:
    return ImageContent(type="image", data=RED_PIXEL, mimeType="image/png")


def _embedded(uri: str, text: str, media_type: str = "text/plain") -> EmbeddedResource:
    return EmbeddedResource(
        type="resource", resource=TextResourceContents(uri=AnyUrl(uri), mimeType=media_type, text=text)
    )


def _add_contents(server: DriveServer) -> None:
    """Tools that answer at once, with each kind of content."""

    async def test_simple_text() -> str:
        """Answer a text."""
        return "This is a simple text response for testing."

    async def test_image_content() -> ImageContent:
        """Answer an image."""
        return _image()

    async def test_audio_content() -> AudioContent:
        """Answer a sound."""
        return AudioContent(type="audio", data=SILENCE, mimeType="audio/wav")

    async def test_embedded_resource() -> EmbeddedResource:
        """Answer a resource."""
        return _embedded("test://embedded-resource", "This is an embedded resource content.")

    async def test_multiple_content_types() -> list[TextContent | ImageContent | EmbeddedResource]:
        """Answer a text, an image and a resource."""
        data = json.dumps({"test": "data", "value": 123})
        return [
            TextContent(type="text", text="Multiple content types test:"),
            _image(),
            _embedded("test://mixed-content-resource", data, "application/json"),
        ]

    async def test_error_handling() -> str:
        """Fail."""
        raise ToolError("This tool intentionally returns an error for testing")

    for tool in (
        test_simple_text,
        test_image_content,
        test_audio_content,
        test_embedded_resource,
        test_multiple_content_types,
        test_error_handling,
    ):
        server.add_tool(tool, structured_output=False)


def _add_reports(server: DriveServer) -> None:
    """Tools that say or do something before they answer. The suite waits for no pauses between."""

    async def test_tool_with_logging(context: AnyContext) -> str:
        """Write to the log thrice."""
        for said in ("Tool execution started", "Tool processing data", "Tool execution completed"):
            await context.info(said)
        return "Logged three messages."

    async def test_tool_with_progress(context: AnyContext) -> str:
        """Report how far it is."""
        for done in (0, 50, 100):
            await context.report_progress(done, 100)
        return "Reported three times."

    async def test_reconnection(context: AnyContext) -> str:
        """Close the stream of the answer before there is one: the client comes back for it."""
        await context.close_sse_stream()
        return "Reconnected."

    for tool in (test_tool_with_logging, test_tool_with_progress, test_reconnection):
        server.add_tool(tool, structured_output=False)


async def _asked(context: AnyContext, message: str, form: dict[str, Any]) -> str:
    answer = await context.session.elicit_form(message, form, context.request_id)
    return f"action={answer.action}, content={json.dumps(answer.content)}"


def _add_questions(server: DriveServer) -> None:
    """Tools that ask the client before they answer."""

    async def test_sampling(prompt: str, context: AnyContext) -> str:
        """Have the client's model answer."""
        question = SamplingMessage(role="user", content=TextContent(type="text", text=prompt))
        answer = await context.session.create_message([question], max_tokens=100, related_request_id=context.request_id)
        said = answer.content.text if isinstance(answer.content, TextContent) else "no text"
        return f"LLM response: {said}"

    async def test_elicitation(message: str, context: AnyContext) -> str:
        """Ask the person."""
        return f"User response: {await _asked(context, message, PERSON_FORM)}"

    async def test_elicitation_sep1034_defaults(context: AnyContext) -> str:
        """Ask the person, with answers filled in."""
        return f"Elicitation completed: {await _asked(context, 'Please check these.', FORM_WITH_DEFAULTS)}"

    async def test_elicitation_sep1330_enums(context: AnyContext) -> str:
        """Let the person choose, in all five forms."""
        return f"Elicitation completed: {await _asked(context, 'Please choose.', FORM_WITH_CHOICES)}"

    for tool in (
        test_sampling,
        test_elicitation,
        test_elicitation_sep1034_defaults,
        test_elicitation_sep1330_enums,
    ):
        server.add_tool(tool, structured_output=False)


def _add_schema(server: DriveServer) -> None:
    async def json_schema_2020_12_tool(name: str = "") -> str:
        """Have a schema with everything that JSON Schema 2020-12 offers."""
        return name

    server.add_tool(json_schema_2020_12_tool, structured_output=False)
    manager = server._tool_manager  # pyright: ignore[reportPrivateUsage] - FastMCP makes schemas of signatures only
    tool = manager.get_tool(json_schema_2020_12_tool.__name__)
    assert tool is not None
    tool.parameters = SCHEMA_2020_12


def _add_resources(server: DriveServer) -> None:
    @server.resource("test://static-text", name="static-text", mime_type="text/plain")
    async def static_text() -> str:
        """A text that stays the same."""
        return "This is the content of the static text resource."

    @server.resource("test://static-binary", name="static-binary", mime_type="image/png")
    async def static_binary() -> bytes:
        """An image that stays the same."""
        return b64decode(RED_PIXEL)

    @server.resource("test://watched-resource", name="watched-resource", mime_type="text/plain")
    async def watched() -> str:
        """A text that can be subscribed to."""
        return "Watched resource content."

    @server.resource("test://template/{id}/data", name="template", mime_type="application/json")
    async def of_template(id: str) -> str:  # noqa: A002 - the template names it so
        """A text made from its address."""
        return json.dumps({"id": id, "templateTest": True, "data": f"Data for ID: {id}"})

    del static_text, static_binary, watched, of_template


def _add_prompts(server: DriveServer) -> None:
    @server.prompt()
    async def test_simple_prompt() -> str:
        """A prompt without arguments."""
        return "This is a simple prompt for testing."

    @server.prompt()
    async def test_prompt_with_arguments(arg1: str, arg2: str) -> str:
        """A prompt with two arguments."""
        return f"Prompt with arguments: arg1='{arg1}', arg2='{arg2}'"

    @server.prompt()
    async def test_prompt_with_embedded_resource(resourceUri: str) -> list[UserMessage]:  # noqa: N803 - the suite's name
        """A prompt with a resource."""
        resource = _embedded(resourceUri, "Embedded resource content for testing.")
        return [UserMessage(resource), UserMessage("Please process the embedded resource above.")]

    @server.prompt()
    async def test_prompt_with_image() -> list[UserMessage]:
        """A prompt with an image."""
        return [UserMessage(_image()), UserMessage("Please analyze the image above.")]

    @server.completion()
    async def complete(
        ref: PromptReference | ResourceTemplateReference,
        argument: CompletionArgument,
        context: CompletionContext | None,
    ) -> Completion | None:
        """Offer cities for the prompt's arguments."""
        del context
        if not isinstance(ref, PromptReference) or ref.name != test_prompt_with_arguments.__name__:
            return None
        return Completion(values=[city for city in ("paris", "park", "party") if city.startswith(argument.value)])

    del test_simple_prompt, test_prompt_with_embedded_resource, test_prompt_with_image, complete
