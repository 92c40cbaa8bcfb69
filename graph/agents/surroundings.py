"""The surroundings of a specialist: where the person is, the open document, the folder's listing."""

import asyncio
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import Any, Final
from weakref import WeakKeyDictionary

from mcp.types import CallToolResult

from graph.agents.authorship import reads_of
from graph.citations.sources import Source, sources_of
from graph.drive.connections import Toolbox
from graph.drive.tool_names import FILE_INFO, LIST_FOLDER, READ_FILE, SEARCH_MEANING
from graph.policy.provenance import Read
from graph.prompts import json_section, section
from graph.routing.intents import is_talk
from graph.single_flight import SingleFlight
from graph.state import PlaceOfPerson

DOCUMENT_CHARACTERS: Final = 30_000
BEGINNING_CHARACTERS: Final = 800
HEADING_CHARACTERS: Final = 400
RELATED_CHARACTERS: Final = 5_000
RELATED_HITS: Final = 8
LISTED_ITEMS: Final = 100

_HEADING: Final = re.compile(r"^#{1,6}[ \t]+(.{1,120}?)[ \t#]*$", re.MULTILINE)

_listings: Final = SingleFlight[CallToolResult | None]()
_roots: Final = WeakKeyDictionary[Toolbox, Mapping[str, Any]]()


@dataclass(frozen=True, slots=True)
class Surroundings:
    """The sections of one specialist, and of which files they hold words.

    `beginning` is the section with the first lines of the open document, for who has not all of it. `sources` are the
    versions whose words stand in the sections: an answer may quote them.
    """

    sections: tuple[str, ...]
    reads: tuple[Read, ...] = ()
    beginning: str = ""
    sources: tuple[Source, ...] = ()


@dataclass(frozen=True, slots=True)
class Here:
    """The open file, the folder that is "here", and the root; None for one that the person can't see."""

    file: Mapping[str, Any] | None
    folder: Mapping[str, Any] | None
    root: Mapping[str, Any] | None


@dataclass(frozen=True, slots=True)
class DriveReader:
    """Reads of the drive for the surroundings.

    `reads` fills with the files of which words were seen, `sources` with the versions whose words the model gets.
    """

    toolbox: Toolbox
    place: PlaceOfPerson
    query: str
    reads: list[Read] = field(default_factory=list[Read])
    sources: list[Source] = field(default_factory=list[Source])

    async def read(self, tool: str, **args: Any) -> Mapping[str, Any] | None:
        """Return the tool's data; None without such a tool, or if the drive refuses: the place may be made up."""
        return self.noted(tool, await self.call(tool, args))

    async def call(self, tool: str, args: Mapping[str, Any]) -> CallToolResult | None:
        """Return the tool's answer, of which this look has noted nothing yet; None without such a tool."""
        return await self.toolbox.call(tool, args, meta={}) if tool in self.toolbox.tools else None

    def noted(self, tool: str, result: CallToolResult | None) -> Mapping[str, Any] | None:
        """Return the data of an answer that this look sees, and note of which files it has words."""
        if result is None or result.isError:
            return None
        self.reads.extend(reads_of(self.toolbox.facts_of(tool), result))
        return result.structuredContent

    def shows(self, data: Mapping[str, Any]) -> None:
        """Note the versions whose words the model gets."""
        self.sources.extend(sources_of(data) or ())


SurroundingsReader = Callable[[DriveReader], Awaitable[Surroundings]]


async def read_document_surroundings(drive: DriveReader) -> Surroundings:
    """Return the place, the open document and passages of other files that are related to it and to the question."""
    here, (document, related) = await asyncio.gather(_here(drive), _document_and_related(drive))
    sections = tuple(part for part in (_place(drive, here), document, related) if part)
    return Surroundings(sections, tuple(drive.reads), sources=tuple(drive.sources))


async def read_folder_surroundings(drive: DriveReader) -> Surroundings:
    """Return the place, the listing of the folder that is "here", and the first lines of the document that is open."""
    if drive.place.get("file_id"):
        here, beginning = await asyncio.gather(_here(drive), _beginning(drive))
        listing = await _listing(drive, str(here.folder["id"])) if here.folder else ""
    elif folder_id := drive.place.get("folder_id"):
        here, listing = await asyncio.gather(_here(drive), _listing(drive, folder_id))
        beginning = ""
    else:
        here, listing, beginning = await _here(drive), await _listing(drive, "root"), ""
    sections = tuple(part for part in (_place(drive, here), listing) if part)
    return Surroundings(sections, tuple(drive.reads), beginning, tuple(drive.sources))


async def _here(drive: DriveReader) -> Here:
    """Return the person's place: with a file open, "here" is its folder, or the named one if they can't see that."""
    file_id, folder_id = drive.place.get("file_id"), drive.place.get("folder_id")
    file, folder, root = None, None, await _root(drive)
    if file_id or folder_id:
        file, folder = await asyncio.gather(_info(drive, file_id), _info(drive, folder_id))
    parent_id = str((file or {}).get("parent_id") or "")
    if parent_id and parent_id != (folder or {}).get("id"):
        is_root = root is not None and parent_id == root["id"]
        folder = (root if is_root else await _info(drive, parent_id)) or folder
    return Here(file, folder if folder_id else folder or root, root)


def _place(drive: DriveReader, here: Here) -> str:
    wanted = (("file", drive.place.get("file_id"), here.file), ("folder", drive.place.get("folder_id"), here.folder))
    shown = {
        "file": _facts(here.file, "id", "name", "path", "etag"),
        "folder": _facts(here.folder, "id", "name", "path"),
        "root_id": here.root["id"] if here.root else None,
    }
    missing = [kind for kind, item_id, found in wanted if item_id and not found]
    return json_section("place", {**shown, "not_found": missing} if missing else shown)


async def _root(drive: DriveReader) -> Mapping[str, Any] | None:
    """Return the root's facts, once for a session: they never change."""
    if drive.toolbox not in _roots:
        found = await drive.read(FILE_INFO, item_id="root")
        if found is None:
            return None
        _roots[drive.toolbox] = found
    return _roots[drive.toolbox]


async def _info(drive: DriveReader, item_id: str | None) -> Mapping[str, Any] | None:
    return await drive.read(FILE_INFO, item_id=item_id) if item_id else None


def _facts(item: Mapping[str, Any] | None, *keys: str) -> dict[str, Any] | None:
    return {key: item.get(key) for key in keys} if item else None


async def _document_and_related(drive: DriveReader) -> tuple[str, str]:
    file_id = drive.place.get("file_id")
    if not file_id:
        return "", ""
    found, by_message = await asyncio.gather(
        drive.read(READ_FILE, file_id=file_id, start=0, end=DOCUMENT_CHARACTERS), _hits(drive, drive.query)
    )
    if not found:
        return "", _related(drive, by_message)
    drive.shows(found)
    return _document(found), _related(drive, by_message, await _hits(drive, subject_of(found)))


def _document(found: Mapping[str, Any]) -> str:
    text = str(found.get("text", ""))[:DOCUMENT_CHARACTERS]
    total = int(found.get("total_characters", len(text)))
    if total > len(text):
        text += f"\n[Cut: {len(text)} of {total} characters. Go on with read_file, start={len(text)}.]"
    return section("document", text)


def subject_of(document: Mapping[str, Any]) -> str:
    """Return the subject of a document, as far as its name and its headings tell."""
    file: Mapping[str, Any] = document.get("file") or {}
    name = str(file.get("name", "")).rpartition(".")
    headings = _HEADING.findall(str(document.get("text", "")))
    return "\n".join(dict.fromkeys([name[0] or name[2], *headings]))[:HEADING_CHARACTERS]


async def _hits(drive: DriveReader, query: str) -> Sequence[Mapping[str, Any]]:
    if not query.strip():
        return []
    found = await drive.read(SEARCH_MEANING, query=query[:500], limit=RELATED_HITS)
    return (found or {}).get("hits", [])


def _related(drive: DriveReader, *rankings: Sequence[Mapping[str, Any]]) -> str:
    """Return passages of other files, the best of each ranking in turn; the open document is there in full anyway."""
    room = RELATED_CHARACTERS
    passages: dict[str, None] = {}
    for hit in (hit for hits in zip_longest(*rankings) for hit in hits if hit):
        passage = f"[{hit['file']['path']}]\n{hit['text']}"
        if hit["file"]["id"] == drive.place.get("file_id") or passage in passages or len(passage) > room:
            continue
        passages[passage] = None
        drive.shows({"hits": [hit]})
        room -= len(passage)
    return section("related", "\n\n".join(passages)) if passages else ""


async def _beginning(drive: DriveReader) -> str:
    found = await drive.read(READ_FILE, file_id=drive.place.get("file_id"), start=0, end=BEGINNING_CHARACTERS)
    if not found:
        return ""
    drive.shows(found)
    return section("beginning", str(found.get("text", ""))[:BEGINNING_CHARACTERS])


async def _listing(drive: DriveReader, folder_id: str) -> str:
    # A tenth of a turn, and a tool lists the folder as well: a greeting does not wait for it.
    if is_talk(drive.query):
        return ""
    # Turns that begin in one folder at the same moment share one call. The session keeps each person's rights apart.
    asked = {"folder_id": folder_id, "limit": LISTED_ITEMS}
    listed = await _listings.do((drive.toolbox, folder_id), lambda: drive.call(LIST_FOLDER, asked))
    found = drive.noted(LIST_FOLDER, listed)
    if found is None:
        return ""
    return json_section("listing", [_facts(item, "id", "kind", "name") for item in found.get("items", [])])
