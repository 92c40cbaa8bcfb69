"""The surroundings of a specialist: where the person is, the open document, the folder's listing."""

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Hashable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Final, Generic, TypeVar
from weakref import WeakKeyDictionary

from mcp.types import CallToolResult

from graph.agents.authorship import reads_of
from graph.clock import Clock
from graph.drive.connections import Toolbox
from graph.drive.tool_names import FILE_INFO, LIST_FOLDER, READ_FILE, SEARCH_MEANING
from graph.policy.provenance import Read
from graph.prompts import json_section, section
from graph.single_flight import SingleFlight
from graph.state import Place

DOCUMENT_CHARACTERS: Final = 30_000
RELATED_CHARACTERS: Final = 5_000
RELATED_HITS: Final = 8
LISTED_ITEMS: Final = 100
CACHE_ENTRIES: Final = 256
T = TypeVar("T")
FRESH: Final = timedelta(seconds=30)

_listings: Final = SingleFlight[CallToolResult | None]()
_roots: Final = WeakKeyDictionary[Toolbox, Mapping[str, Any]]()


@dataclass(frozen=True, slots=True)
class Surroundings:
    """The sections of one specialist, and of which files they hold words."""

    sections: tuple[str, ...]
    reads: tuple[Read, ...] = ()


@dataclass(frozen=True, slots=True)
class DriveReader:
    """Reads of the drive for the surroundings; `reads` fills with the files of which words were seen."""

    toolbox: Toolbox
    place: Place
    query: str
    reads: list[Read] = field(default_factory=list[Read])

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


SurroundingsReader = Callable[[DriveReader], Awaitable[Surroundings]]


class ReadCache(Generic[T]):
    """Caches an answer per key for a few rounds of calls; the key has to tell persons apart."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._entries: OrderedDict[Hashable, tuple[datetime, T]] = OrderedDict()

    async def get(self, key: Hashable, read: Callable[[], Awaitable[T]]) -> T:
        """Return the value of the key, read anew unless it is fresh; drop the oldest of 256 keys."""
        cached = self._entries.get(key)
        if cached and self._clock() - cached[0] < FRESH:
            return cached[1]
        value = await read()
        self._entries[key] = (self._clock(), value)
        self._entries.move_to_end(key)
        if len(self._entries) > CACHE_ENTRIES:
            self._entries.popitem(last=False)
        return value


async def read_document_surroundings(drive: DriveReader) -> Surroundings:
    """Return the place, the open document and passages of other files that are related to the question."""
    place, document, related = await asyncio.gather(_place(drive), _document(drive), _related(drive))
    sections = tuple(part for part in (place, document, related) if part)
    return Surroundings(sections, tuple(drive.reads))


async def read_folder_surroundings(drive: DriveReader) -> Surroundings:
    """Return the place and the listing of the current folder."""
    if drive.place.get("file_id") or drive.place.get("folder_id"):
        place, listing = await asyncio.gather(_place(drive), _listing(drive))
    else:
        place, listing = await _place(drive), await _listing(drive)
    return Surroundings(tuple(part for part in (place, listing) if part), tuple(drive.reads))


async def _place(drive: DriveReader) -> str:
    file_id, folder_id = drive.place.get("file_id"), drive.place.get("folder_id")
    file, folder, root = None, None, await _root(drive)
    if file_id or folder_id:
        file, folder = await asyncio.gather(_info(drive, file_id), _info(drive, folder_id))
    shown = {
        "file": _facts(file, "id", "name", "path", "etag") if file_id else None,
        "folder": _facts(folder if folder_id else root, "id", "name", "path"),
        "root_id": root["id"] if root else None,
    }
    missing = [
        kind for kind, wanted, found in (("file", file_id, file), ("folder", folder_id, folder)) if wanted and not found
    ]
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


async def _document(drive: DriveReader) -> str:
    file_id = drive.place.get("file_id")
    if not file_id:
        return ""
    found = await drive.read(READ_FILE, file_id=file_id, start=0, end=DOCUMENT_CHARACTERS)
    if found is None:
        return ""
    text = str(found.get("text", ""))[:DOCUMENT_CHARACTERS]
    total = int(found.get("total_characters", len(text)))
    if total > len(text):
        text += f"\n[Cut: {len(text)} of {total} characters. Go on with read_file, start={len(text)}.]"
    return section("document", text)


async def _related(drive: DriveReader) -> str:
    """Return passages of other files; the open document is there in full anyway."""
    if not drive.place.get("file_id") or not drive.query.strip():
        return ""
    found = await drive.read(SEARCH_MEANING, query=drive.query[:500], limit=RELATED_HITS)
    room = RELATED_CHARACTERS
    passages: list[str] = []
    for hit in (found or {}).get("hits", []):
        passage = f"[{hit['file']['path']}]\n{hit['text']}"
        if hit["file"]["id"] == drive.place.get("file_id") or len(passage) > room:
            continue
        passages.append(passage)
        room -= len(passage)
    return section("related", "\n\n".join(passages)) if passages else ""


async def _listing(drive: DriveReader) -> str:
    folder_id = drive.place.get("folder_id") or "root"
    # Turns that begin in one folder at the same moment share one call. The session tells apart who may see what.
    asked = {"folder_id": folder_id, "limit": LISTED_ITEMS}
    listed = await _listings.do((drive.toolbox, folder_id), lambda: drive.call(LIST_FOLDER, asked))
    found = drive.noted(LIST_FOLDER, listed)
    if found is None:
        return ""
    return json_section("listing", [_facts(item, "id", "kind", "name") for item in found.get("items", [])])
