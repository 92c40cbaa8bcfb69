"""The surroundings of a specialist: where the person is, the open document, the folder's listing."""

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Hashable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Final, Generic, TypeVar
from weakref import WeakKeyDictionary

from mcp.types import CallToolResult

from graph.clock import Clock
from graph.drive.connections import Toolbox
from graph.drive.tool_names import FILE_INFO, LIST_FOLDER, READ_FILE, SEARCH_MEANING
from graph.policy.provenance import Read, reads_in
from graph.prompts import json_section, section
from graph.single_flight import SingleFlight
from graph.state import Place

DOCUMENT_CHARACTERS: Final = 30_000
RELATED_CHARACTERS: Final = 5_000
RELATED_HITS: Final = 8
LISTED_ITEMS: Final = 100
KEPT: Final = 64
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
        self.reads.extend(reads_in(self.toolbox.facts_of(tool), result.structuredContent))
        return result.structuredContent


Looking = Callable[[DriveReader], Awaitable[Surroundings]]


class RecentReads(Generic[T]):
    """Caches an answer per key for a few rounds of calls; the key has to tell persons apart."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._seen: OrderedDict[Hashable, tuple[datetime, T]] = OrderedDict()

    async def at(self, key: Hashable, look: Callable[[], Awaitable[T]]) -> T:
        """Return what is to be seen; the oldest of 64 keys is forgotten."""
        known = self._seen.get(key)
        if known and self._clock() - known[0] < FRESH:
            return known[1]
        seen = await look()
        self._seen[key] = (self._clock(), seen)
        self._seen.move_to_end(key)
        if len(self._seen) > KEPT:
            self._seen.popitem(last=False)
        return seen


async def read_document_surroundings(look: DriveReader) -> Surroundings:
    """Return the place, the open document and passages of other files that are related to the question."""
    place, document, related = await asyncio.gather(_place(look), _document(look), _related(look))
    sections = tuple(part for part in (place, document, related) if part)
    return Surroundings(sections, tuple(look.reads))


async def read_folder_surroundings(look: DriveReader) -> Surroundings:
    """Return the place and the listing of the current folder."""
    if look.place.get("file_id") or look.place.get("folder_id"):
        place, listing = await asyncio.gather(_place(look), _listing(look))
    else:
        place, listing = await _place(look), await _listing(look)
    return Surroundings(tuple(part for part in (place, listing) if part), tuple(look.reads))


async def _place(look: DriveReader) -> str:
    file_id, folder_id = look.place.get("file_id"), look.place.get("folder_id")
    file, folder, root = None, None, await _root(look)
    if file_id or folder_id:
        file, folder = await asyncio.gather(_info(look, file_id), _info(look, folder_id))
    shown = {
        "file": _facts(file, "id", "name", "path", "etag") if file_id else None,
        "folder": _facts(folder if folder_id else root, "id", "name", "path"),
        "root_id": root["id"] if root else None,
    }
    missing = [
        kind for kind, wanted, found in (("file", file_id, file), ("folder", folder_id, folder)) if wanted and not found
    ]
    return json_section("place", {**shown, "not_found": missing} if missing else shown)


async def _root(look: DriveReader) -> Mapping[str, Any] | None:
    """Return the root's facts, once for a session: they never change."""
    if look.toolbox not in _roots:
        found = await look.read(FILE_INFO, item_id="root")
        if found is None:
            return None
        _roots[look.toolbox] = found
    return _roots[look.toolbox]


async def _info(look: DriveReader, item_id: str | None) -> Mapping[str, Any] | None:
    return await look.read(FILE_INFO, item_id=item_id) if item_id else None


def _facts(item: Mapping[str, Any] | None, *keys: str) -> dict[str, Any] | None:
    return {key: item.get(key) for key in keys} if item else None


async def _document(look: DriveReader) -> str:
    file_id = look.place.get("file_id")
    if not file_id:
        return ""
    found = await look.read(READ_FILE, file_id=file_id, start=0, end=DOCUMENT_CHARACTERS)
    if found is None:
        return ""
    text = str(found.get("text", ""))[:DOCUMENT_CHARACTERS]
    total = int(found.get("total_characters", len(text)))
    if total > len(text):
        text += f"\n[Cut: {len(text)} of {total} characters. Go on with read_file, start={len(text)}.]"
    return section("document", text)


async def _related(look: DriveReader) -> str:
    """Return passages of other files; the open document is there in full anyway."""
    if not look.place.get("file_id") or not look.query.strip():
        return ""
    found = await look.read(SEARCH_MEANING, query=look.query[:500], limit=RELATED_HITS)
    room = RELATED_CHARACTERS
    passages: list[str] = []
    for hit in (found or {}).get("hits", []):
        passage = f"[{hit['file']['path']}]\n{hit['text']}"
        if hit["file"]["id"] == look.place.get("file_id") or len(passage) > room:
            continue
        passages.append(passage)
        room -= len(passage)
    return section("related", "\n\n".join(passages)) if passages else ""


async def _listing(look: DriveReader) -> str:
    folder_id = look.place.get("folder_id") or "root"
    # Turns that begin in one folder at the same moment look at it once. The session tells apart who may see what.
    asked = {"folder_id": folder_id, "limit": LISTED_ITEMS}
    listed = await _listings.do((look.toolbox, folder_id), lambda: look.call(LIST_FOLDER, asked))
    found = look.noted(LIST_FOLDER, listed)
    if found is None:
        return ""
    return json_section("listing", [_facts(item, "id", "kind", "name") for item in found.get("items", [])])
