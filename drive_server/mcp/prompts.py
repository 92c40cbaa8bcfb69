"""The drive's prompts: requests that a person may make with a click, with the files that they are about attached."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, Final

from mcp.types import EmbeddedResource, GetPromptResult, Prompt, PromptArgument, PromptMessage, TextContent
from mcp.types import TextResourceContents as TextContents
from pydantic import AnyUrl

from drive_server.kernel.access import Actor
from drive_server.kernel.clock import utc_now
from drive_server.kernel.errors import InvalidInputError
from drive_server.kernel.messages import Language
from drive_server.kernel.texts import ORIGINAL
from drive_server.mcp.icons import CLOCK, DOCUMENT, FOLDER, STACK
from drive_server.mcp.prompt_texts import (
    COMPARE_DOCUMENTS,
    LANGUAGES,
    PROMPTS,
    SUMMARISE_FILE,
    TEXTS,
    TIDY_FOLDER,
    DrivePrompt,
    Kind,
    language_of,
)
from drive_server.mcp.resources import JSON_TYPE, NOTE_TYPE, DriveResources, FolderResource, uri_of
from drive_server.mcp.results import ListResult
from drive_server.models.items import Item
from drive_server.registry import ServiceRegistry
from drive_server.services.tree.names import display_name

WEEK = timedelta(days=7)
MAX_FILES = 100
MAX_CHANGES = 100
MAX_LISTED = 200
MAX_ARGUMENT_CHARACTERS = 8192
_ICONS: Final = dict(zip(PROMPTS, (DOCUMENT, STACK, FOLDER, CLOCK), strict=True))


@dataclass(slots=True)
class _Material:
    """The material of a prompt: its language, names for its text, attachments and notes about them."""

    language: Language
    named: dict[str, str] = field(default_factory=dict[str, str])
    attached: list[EmbeddedResource] = field(default_factory=list[EmbeddedResource])
    notes: list[str] = field(default_factory=list[str])


class DrivePrompts:
    """Lists and fills in prompts.

    Each is listed once a language: under its name in English, and with `_zh` at its end in Chinese. The text is in the
    language that is asked for; else Chinese for `_zh`, and for the other that of the files it is about.
    """

    def __init__(self, drive: ServiceRegistry) -> None:
        self._drive = drive
        self._resources = DriveResources(drive)

    @property
    def address(self) -> str:
        """The address of the service now, for the icons; empty if none is known of."""
        return self._drive.known_address

    def list_prompts(self) -> list[Prompt]:
        """Return all prompts as hosts show them."""
        return [_listed(prompt, language) for language in LANGUAGES for prompt in PROMPTS]

    def knows(self, name: str) -> bool:
        """Return whether there is a prompt of that name."""
        return name in _BY_NAME

    def kind_of(self, name: str, argument: str) -> Kind | None:
        """Return the kind of item that the argument of the prompt names, None if there is no such argument."""
        if not self.knows(name):
            return None
        return next((one.kind for one in _BY_NAME[name][0].arguments if one.name == argument), None)

    async def get(self, actor: Actor, name: str, arguments: Mapping[str, str]) -> GetPromptResult:
        """Return the prompt's messages. Raises the drive's errors for arguments that are missing, unknown or wrong."""
        prompt, named = _found(name)
        given = _checked(prompt, arguments)
        language = _language(given.pop("language", "")) or (named if named != ORIGINAL else None)
        material = await self._material(actor, prompt, given, language)
        text = prompt.filled(material.language, **material.named, notes="\n".join(material.notes)).strip()
        content = [TextContent(type="text", text=text), *material.attached]
        return GetPromptResult(
            description=prompt.description(material.language),
            messages=[PromptMessage(role="user", content=block) for block in content],
        )

    async def _material(
        self, actor: Actor, prompt: DrivePrompt, given: dict[str, str], language: Language | None
    ) -> _Material:
        if prompt in (SUMMARISE_FILE, COMPARE_DOCUMENTS):
            return await self._files(actor, given, language)
        if prompt is TIDY_FOLDER:
            return await self._folder(actor, given.get("folder") or "root", language)
        return await self._changes(actor, given, language)

    async def _files(self, actor: Actor, given: dict[str, str], language: Language | None) -> _Material:
        found = {name: await self._resources.attached(actor, ref) for name, ref in given.items()}
        sample = " ".join(f"{one.item.name} {one.found.text[:1000]}" for one in found.values())
        spoken = language or language_of(sample)
        contents = [one.contents(AnyUrl(uri_of(one.item)), spoken) for one in found.values()]
        return _Material(
            spoken,
            {name: display_name(one.item.path) for name, one in found.items()},
            [EmbeddedResource(type="resource", resource=content) for content in contents],
            [one.note(spoken) for one in found.values()],
        )

    async def _folder(self, actor: Actor, ref: str, language: Language | None) -> _Material:
        folder = await self._drive.files.get(actor, ref)
        page = await self._drive.files.list_folder(actor, folder.id, limit=MAX_LISTED)
        sample = " ".join([folder.name, *(item.name for item in page.items)])
        spoken = language or language_of(sample)
        listing = FolderResource(folder=folder, listing=ListResult.of(page)).model_dump_json()
        uri = uri_of(folder)
        return _Material(
            spoken,
            {"folder": _folder_name(folder, spoken)},
            [_embedded(uri, listing, JSON_TYPE)],
            [TEXTS.say("listed", spoken, uri=uri)],
        )

    async def _changes(self, actor: Actor, given: dict[str, str], language: Language | None) -> _Material:
        folder = await self._drive.files.get(actor, given.get("folder") or "root")
        person = given.get("person", "")
        since = utc_now() - WEEK
        files = [item for item in await self._recent(actor, folder) if item.updated_at >= since]
        spoken = language or language_of(" ".join([folder.name, *(item.name for item in files)]))
        changes = self._drive.journal.list_changes(actor, since=since.isoformat(), by=person or None, limit=MAX_CHANGES)
        done = [f"- {change.at:%Y-%m-%d %H:%M} UTC, {change.summary}" for change in (await changes).items]
        nothing = [TEXTS.say("nothing", spoken)]
        shown = [f"- {_line(item)}" for item in files] or nothing
        by = display_name(person)
        heading = TEXTS.say("done_by", spoken, person=by) if person else TEXTS.say("own_changes", spoken)
        lines = [TEXTS.say("files_changed", spoken), *shown, "", heading, *(done or nothing)]
        named = {
            "folder": _folder_name(folder, spoken),
            "by": TEXTS.say("by_person", spoken, person=by) if person else "",
        }
        attached = [_embedded(f"{uri_of(folder)}#changes", "\n".join(lines), NOTE_TYPE)]
        return _Material(spoken, named, attached)

    async def _recent(self, actor: Actor, folder: Item) -> list[Item]:
        """Return recent files, below the folder unless it is the root; there items that others share count as well."""
        page = await self._drive.recents.page(actor, MAX_FILES)
        below = f"{folder.path.rstrip('/')}/"
        newest = sorted(page.items, key=lambda item: item.updated_at, reverse=True)
        return [item for item in newest if folder.parent_id is None or item.path.startswith(below)]


def _name(prompt: DrivePrompt, language: Language) -> str:
    return prompt.name if language == ORIGINAL else f"{prompt.name}_{language}"


_BY_NAME: Final = {_name(prompt, language): (prompt, language) for prompt in PROMPTS for language in LANGUAGES}


def _found(name: str) -> tuple[DrivePrompt, Language]:
    """Return the prompt of a name as it is listed, with the language of its words."""
    found = _BY_NAME.get(name)
    if found is None:
        raise InvalidInputError("There is no such prompt.", hint="List the prompts to see their names.")
    return found


def _listed(prompt: DrivePrompt, language: Language) -> Prompt:
    return Prompt(
        name=_name(prompt, language),
        title=prompt.title(language),
        description=prompt.description(language),
        arguments=[
            PromptArgument(name=one.name, description=TEXTS.say(one.code, language), required=one.required)
            for one in prompt.arguments
        ],
        icons=[_ICONS[prompt]],
    )


def _checked(prompt: DrivePrompt, arguments: Mapping[str, str]) -> dict[str, str]:
    """Return the arguments that are given, in the prompt's order."""
    known = [one.name for one in prompt.arguments]
    unknown = sorted(name[:64] for name in arguments if name not in known)
    missing = [one.name for one in prompt.arguments if one.required and not arguments.get(one.name)]
    too_long = [name for name in known if len(arguments.get(name, "")) > MAX_ARGUMENT_CHARACTERS]
    for wrong, problem in (
        (unknown, "is no argument of this prompt"),
        (missing, "is missing"),
        (too_long, "is too long"),
    ):
        if wrong:
            raise InvalidInputError(
                f"{', '.join(wrong)} {problem}.",
                hint=f"The arguments are: {', '.join(known)}.",
                details={"arguments": wrong},
            )
    return {name: arguments[name] for name in known if arguments.get(name)}


def _language(asked: str) -> Language | None:
    if not asked:
        return None
    wanted = asked.strip().lower()
    for language in LANGUAGES:
        if wanted.partition("-")[0] == language:
            return language
    raise InvalidInputError("The language is not one of the prompt's.", hint=f"Use {' or '.join(LANGUAGES)}.")


def _folder_name(folder: Item, language: Language) -> str:
    return TEXTS.say("root", language) if folder.parent_id is None and folder.path == "/" else display_name(folder.path)


def _line(item: Item) -> str:
    return f"{display_name(item.path)} (id {item.id}, {item.owner}), {item.updated_at:%Y-%m-%d %H:%M} UTC"


def _embedded(uri: str, text: str, media_type: str) -> EmbeddedResource:
    contents: dict[str, Any] = {"uri": AnyUrl(uri), "text": text, "mimeType": media_type}
    return EmbeddedResource(type="resource", resource=TextContents(**contents))
