"""Completion of templates' variables and prompts' arguments (MCP 2025-11-25, server/utilities/completion)."""

from typing import Final

from mcp.types import Completion, CompletionArgument, PromptReference, ResourceTemplateReference

from drive_server.kernel.access import Actor
from drive_server.kernel.errors import InvalidInputError
from drive_server.mcp.prompt_texts import LANGUAGES, Kind
from drive_server.mcp.prompts import DrivePrompts
from drive_server.mcp.resources import TEMPLATES
from drive_server.registry import ServiceRegistry
from drive_server.services.search.suggestions import Suggested

_VARIABLES: Final[dict[tuple[str, str], Kind]] = {
    (TEMPLATES[0].uriTemplate, "file_id"): "file",
    (TEMPLATES[1].uriTemplate, "folder_id"): "folder",
    (TEMPLATES[2].uriTemplate, "file_id"): "file",
}

Reference = PromptReference | ResourceTemplateReference


class DriveCompletions:
    """Suggests values that the caller may use: 100 at most, each as it can be put in."""

    def __init__(self, drive: ServiceRegistry, prompts: DrivePrompts) -> None:
        self._drive = drive
        self._prompts = prompts

    def knows(self, reference: Reference) -> bool:
        """Return whether the prompt or template is one of the drive's own."""
        if isinstance(reference, PromptReference):
            return self._prompts.knows(reference.name)
        return reference.uri in {template.uriTemplate for template in TEMPLATES}

    async def complete(self, actor: Actor, reference: Reference, argument: CompletionArgument) -> Completion:
        """Return the values that fit. Raises `InvalidInputError` if the prompt or template has no such argument."""
        found = await self._suggested(actor, self._kind(reference, argument.name), argument.value)
        return Completion(values=list(found.values), total=found.total, hasMore=found.has_more)

    def _kind(self, reference: Reference, name: str) -> Kind:
        if isinstance(reference, PromptReference):
            kind = self._prompts.kind_of(reference.name, name)
        else:
            kind = _VARIABLES.get((reference.uri, name))
        if kind is None:
            raise InvalidInputError("There is no such argument.", hint="List the prompts and templates to see theirs.")
        return kind

    async def _suggested(self, actor: Actor, kind: Kind, typed: str) -> Suggested:
        if kind == "person":
            return await self._drive.suggestions.people(actor, typed)
        if kind == "language":
            fitting = tuple(language for language in LANGUAGES if language.startswith(typed.strip().lower()))
            return Suggested(fitting, len(fitting))
        return await self._drive.suggestions.items(actor, typed, kind)
