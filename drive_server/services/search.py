"""Search: by name and exact words, and by meaning. Rights are asked of the database before and after the index."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from drive_server.access import Actor, Principal, Scope, require_scope
from drive_server.errors import InvalidInputError
from drive_server.models import Hit, Kind, Page
from drive_server.services.cursors import Cursors
from drive_server.services.items import checked_limit, describe_all
from drive_server.services.name_search import match_names
from drive_server.services.nodes import Located, locate_many
from drive_server.services.search_area import SearchArea, open_area
from drive_server.services.snippets import cut_snippet

if TYPE_CHECKING:
    from collections.abc import Sequence

    from drive_server.knowledge.index import IndexHit, KnowledgeIndex
    from drive_server.storage.database import Database

MAX_QUERY_CHARACTERS = 1000
MAX_FOUND = 1000
MAX_ASKED = 8000
ASKED_PER_WANTED = 4
TEXT_SHARE = 0.6
# So much of an item's id tells it from all others that a query finds.
MARK_CHARACTERS = 16


@dataclass(frozen=True, slots=True)
class _Candidate:
    """A hit before its item is described."""

    file_id: str
    score: float
    text: str
    start: int = 0
    end: int = 0
    heading: str = ""
    page: int | None = None


class SearchService:
    """Finds what the caller may see now: rights given or taken a moment ago hold, and the trash is left out."""

    def __init__(self, database: "Database", index: "KnowledgeIndex") -> None:
        self._database = database
        self._index = index

    async def find(
        self,
        actor: Actor,
        query: str,
        *,
        folder: str | None = None,
        kind: str | None = None,
        limit: int = 20,
        cursor: str | None = None,
    ) -> Page[Hit]:
        """Return items whose names have all words of the query, then files whose text has them, each item once.

        The text of a hit is the name, or at most 500 characters around the words. `note` says how many files could
        not be searched for their text yet. At most 1,000 hits are found in all. The cursor knows what was shown: no
        item comes twice, however the ranks change in between.
        Raises `InvalidInputError` for a query that is empty or over 1,000 characters, and for an unknown kind.
        """
        require_scope(actor.principal, Scope.READ)
        wanted, wanted_kind, size = _checked_query(query), _checked_kind(kind), checked_limit(limit)
        cursors = Cursors(self._database.signer, actor.user_id, "search", wanted, folder, wanted_kind)
        shown = _unpacked(cursors.unseal(cursor)) if cursor is not None else []
        last = min(len(shown) + size, MAX_FOUND)
        async with self._database.read() as session:
            area = await open_area(session, actor.principal, folder)
            names = await match_names(session, area.visible, wanted, wanted_kind)
        found = [_Candidate(match.id, match.score, match.name) for match in names]
        if len(found) <= last and wanted_kind != "folder":
            passages = await self._passages(
                actor.principal, area, wanted, "text", last + 1, known={match.id for match in names}
            )
            found += _below_names(passages, wanted)
        left = [candidate for candidate in found if candidate.file_id[:MARK_CHARACTERS] not in shown]
        page = left[: last - len(shown)]
        hits = await self._describe(actor.principal, area, page)
        more = len(left) > len(page) and last < MAX_FOUND
        return Page(tuple(hits), cursors.seal(_packed(shown, page)) if more else None, note=area.note)

    async def semantic(self, actor: Actor, query: str, *, folder: str | None = None, limit: int = 10) -> Page[Hit]:
        """Return the passages that fit the meaning of the query best, whole; a file may have several.

        `note` and errors are as for `find`.
        """
        require_scope(actor.principal, Scope.READ)
        wanted, size = _checked_query(query), checked_limit(limit)
        async with self._database.read() as session:
            area = await open_area(session, actor.principal, folder)
        passages = await self._passages(actor.principal, area, wanted, "hybrid", size)
        found = [_whole(hit) for hit in passages[:size]]
        return Page(tuple(await self._describe(actor.principal, area, found)), note=area.note)

    async def _passages(
        self,
        principal: Principal,
        area: SearchArea,
        query: str,
        mode: Literal["hybrid", "text"],
        needed: int,
        known: set[str] | None = None,
    ) -> "list[IndexHit]":
        """Ask the index for more and more until enough is left of what the caller may see.

        With `known`, the ids of items that are hits already, each further file counts once.
        """
        if not area.owner_ids and not area.file_ids:
            return []
        asked = needed
        while True:
            asked = min(asked * ASKED_PER_WANTED, MAX_ASKED)
            hits = await self._index.search(
                query, owner_ids=area.owner_ids, file_ids=area.file_ids, mode=mode, limit=asked
            )
            kept = await self._keep_visible(principal, area, hits)
            if known is not None:
                kept = _one_per_file(kept, known)
            if len(kept) >= needed or len(hits) < asked or asked == MAX_ASKED:
                return kept

    async def _keep_visible(
        self, principal: Principal, area: SearchArea, hits: "Sequence[IndexHit]"
    ) -> "list[IndexHit]":
        """Keep passages of live files that the caller may see now, and only of the content that the file has now."""
        async with self._database.read() as session:
            seen = await locate_many(session, principal, [hit.file_id for hit in hits])
        current = {file_id: located.row.version for file_id, located in seen.items() if area.holds(located)}
        return [hit for hit in hits if current.get(hit.file_id) == hit.version]

    async def _describe(self, principal: Principal, area: SearchArea, found: "Sequence[_Candidate]") -> list[Hit]:
        async with self._database.read() as session:
            seen = await locate_many(session, principal, [candidate.file_id for candidate in found])
            visible: list[Located] = [located for located in seen.values() if area.holds(located)]
            items = {item.id: item for item in await describe_all(session, visible)}
        return [
            Hit(
                item=items[candidate.file_id],
                score=candidate.score,
                text=candidate.text,
                start=candidate.start,
                end=candidate.end,
                heading=candidate.heading,
                page=candidate.page,
            )
            for candidate in found
            if candidate.file_id in items
        ]


def _checked_query(query: str) -> str:
    wanted = " ".join(query.split()) if len(query) <= MAX_QUERY_CHARACTERS else query
    if len(wanted) > MAX_QUERY_CHARACTERS:
        raise InvalidInputError(
            "The query is too long.",
            hint=f"Use at most {MAX_QUERY_CHARACTERS} characters.",
            details={"limit": MAX_QUERY_CHARACTERS},
        )
    if not wanted or any(character == "\0" or "\ud800" <= character <= "\udfff" for character in wanted):
        raise InvalidInputError("There is nothing to search for.", hint="Give some words.")
    return wanted


def _packed(shown: list[str], page: "Sequence[_Candidate]") -> bytes:
    return bytes.fromhex("".join([*shown, *(candidate.file_id[:MARK_CHARACTERS] for candidate in page)]))


def _unpacked(packed: bytes) -> list[str]:
    marks = packed.hex()
    return [marks[start : start + MARK_CHARACTERS] for start in range(0, len(marks), MARK_CHARACTERS)]


def _checked_kind(kind: str | None) -> Kind | None:
    if kind not in (None, "file", "folder"):
        raise InvalidInputError("There is no such kind of item.", hint="Use file or folder.")
    return kind


def _one_per_file(hits: "Sequence[IndexHit]", known: set[str]) -> "list[IndexHit]":
    best: dict[str, IndexHit] = {}
    for hit in hits:
        if hit.file_id not in known:
            best.setdefault(hit.file_id, hit)
    return list(best.values())


def _below_names(hits: "Sequence[IndexHit]", query: str) -> list[_Candidate]:
    """Scale the scores of passages so that they stay in their order below those of names."""
    top = max((hit.score for hit in hits), default=0.0) or 1.0
    return [_cut(hit, query, TEXT_SHARE * hit.score / top) for hit in hits]


def _cut(hit: "IndexHit", query: str, score: float) -> _Candidate:
    text, offset = cut_snippet(hit.text, query)
    start = hit.start + offset
    return _Candidate(hit.file_id, score, text, start, start + len(text), hit.heading, hit.page)


def _whole(hit: "IndexHit") -> _Candidate:
    return _Candidate(hit.file_id, hit.score, hit.text, hit.start, hit.end, hit.heading, hit.page)
