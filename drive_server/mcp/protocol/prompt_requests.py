"""Requests about prompts, and completion of their arguments (MCP 2025-11-25, server/prompts)."""

from collections.abc import Awaitable, Callable
from typing import Any

from mcp.server.fastmcp import FastMCP
from mcp.types import (
    CompleteRequest,
    CompleteResult,
    Completion,
    CompletionArgument,
    CompletionContext,
    GetPromptRequest,
    GetPromptResult,
    ListPromptsRequest,
    ListPromptsResult,
    PromptReference,
    ResourceTemplateReference,
    ServerResult,
)

from drive_server.kernel.access import Actor
from drive_server.kernel.errors import InvalidInputError
from drive_server.mcp.calls.questions import AsksInResults, InputRequiredError
from drive_server.mcp.completions import DriveCompletions
from drive_server.mcp.icons import at_address
from drive_server.mcp.prompts import DrivePrompts
from drive_server.mcp.protocol.failures import as_protocol_error
from drive_server.mcp.protocol.pages import Pages

PlainCompletion = Callable[
    [PromptReference | ResourceTemplateReference, CompletionArgument, CompletionContext | None],
    Awaitable[Completion | None],
]


class PromptRequests:
    """Answers for the drive's prompts, and for those that were added to `server` the way FastMCP has it."""

    def __init__(
        self,
        server: FastMCP[Any],
        prompts: DrivePrompts,
        completions: DriveCompletions,
        pages: Pages,
        actor: Callable[[str], Awaitable[Actor]],
    ) -> None:
        self._server = server
        self._prompts = prompts
        self._completions = completions
        self._pages = pages
        self._actor = actor
        self.plain_completion: PlainCompletion | None = None

    def handlers(self) -> dict[type, Callable[[Any], Awaitable[ServerResult]]]:
        """Return the handler of each kind of request."""
        return {ListPromptsRequest: self._list, GetPromptRequest: self._get, CompleteRequest: self._complete}

    async def _list(self, request: ListPromptsRequest) -> ServerResult:
        prompts = [*self._prompts.list_prompts(), *await self._server.list_prompts()]
        shown, cursor = await self._pages.answer("prompts", prompts, lambda prompt: prompt.name, request)
        return ServerResult(ListPromptsResult(prompts=at_address(shown, self._prompts.address), nextCursor=cursor))

    async def _get(self, request: GetPromptRequest) -> ServerResult:
        name, arguments = request.params.name, request.params.arguments or {}
        with as_protocol_error("prompts/get", unusable_is_invalid=True):
            if self._prompts.knows(name):
                return ServerResult(await self._prompts.get(await self._actor("get_prompt"), name, arguments))
            return ServerResult(await self._plain(name, arguments))

    async def _plain(self, name: str, arguments: dict[str, str]) -> GetPromptResult:
        prompts = {prompt.name: prompt for prompt in await self._server.list_prompts()}
        if name not in prompts:
            raise InvalidInputError("There is no such prompt.", hint="List the prompts to see their names.")
        needed = [one.name for one in prompts[name].arguments or [] if one.required]
        if missing := [argument for argument in needed if argument not in arguments]:
            raise InvalidInputError(f"{', '.join(missing)} is missing.", hint="Give all that the prompt needs.")
        try:
            return await self._server.get_prompt(name, arguments)
        except ValueError as error:  # the SDK makes one of any error of the prompt
            session = self._server.get_context().session
            if isinstance(session, AsksInResults) and session.asked is not None:
                raise InputRequiredError from error
            raise

    async def _complete(self, request: CompleteRequest) -> ServerResult:
        asked = request.params
        with as_protocol_error("completion/complete"):
            if self._completions.knows(asked.ref):
                actor = await self._actor("complete")
                return _answer(await self._completions.complete(actor, asked.ref, asked.argument))
            if self.plain_completion is not None:
                return _answer(await self.plain_completion(asked.ref, asked.argument, asked.context))
            raise InvalidInputError("There is no such prompt or template.", hint="List the prompts and templates.")


def _answer(completion: Completion | None) -> ServerResult:
    return ServerResult(CompleteResult(completion=completion or Completion(values=[])))
