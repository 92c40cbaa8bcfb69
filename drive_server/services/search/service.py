"""Search: by name and exact words, and by meaning. The database checks rights before and after the index."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from sqlalchemy import bindparam, select
from sqlalchemy.ext.asyncio import AsyncSession

from drive_server.kernel.access import Actor, Principal, Scope, require_person, require_scope
from drive_server.kernel.errors import InvalidInputError
from drive_server.kernel.messages import Language, Message, join_sentences, render
from drive_server.kernel.pagination import Cursors
from drive_server.kernel.sql.database import Database
from drive_server.knowledge.index.health import DamagedIndexError
from drive_server.knowledge.index.index import IndexHit
from drive_server.knowledge.index.queries import parse
from drive_server.knowledge.index.reranking import MAX_PASSAGES, Reranker
from drive_server.knowledge.index_process.passage_index import PassageIndex
from drive_server.models.base import Page
from drive_server.models.items import Item, Kind
from drive_server.models.search import Hit
from drive_server.services.documents.service import DocumentService
from drive_server.services.search.filters import NO_FILTER, SearchFilter
from drive_server.services.search.fuzzy_names import match_near_names, may_be_name
from drive_server.services.search.names import NameMatch, list_latest, match_names
from drive_server.services.search.order import Candidate, Question, in_one_order, one_per_file, pack_marks, unpack_marks
from drive_server.services.search.scope import SearchArea, open_area
from drive_server.services.tree.items import checked_limit, describe_all
from drive_server.services.tree.nodes import NodeView, locate_many
from drive_server.storage.tables.index import IndexEntryRow

MAX_QUERY_CHARACTERS = 1000
MAX_SHOWN_CHARACTERS = 100
MAX_FOUND = 1000
MAX_ASKED = 8000
ASKED_PER_WANTED = 4
SHARE_OF_NAMES = 2
"""A hybrid search has one name at most for so many hits."""
# Building it takes longer than the database takes to answer it.
_PARTIAL = select(IndexEntryRow.file_id, IndexEntryRow.omissions).where(
    IndexEntryRow.file_id.in_(bindparam("ids", expanding=True)), IndexEntryRow.is_partial
)


@dataclass(frozen=True, slots=True)
class _Found:
    """The hits of a page, and their candidates; `is_full`: there is more than fits on it."""

    candidates: Sequence[Candidate]
    hits: tuple[Hit, ...]
    is_full: bool


class SearchService:
    """Finds items that the caller may see now: rights given or taken a moment ago hold, and the trash is left out."""

    def __init__(self, database: Database, index: PassageIndex, reranker: Reranker | None = None) -> None:
        self._database = database
        self._index = index
        self._reranker = reranker

    async def find(
        self,
        actor: Actor,
        query: str,
        *,
        folder: str | None = None,
        kind: str | None = None,
        only: SearchFilter = NO_FILTER,
        limit: int = 20,
        cursor: str | None = None,
        language: Language = "en",
    ) -> Page[Hit]:
        """Return items whose names have all words of the query, then files whose text has them, each item once.

        With an empty query, all items that a folder, kind or filter leaves, the last changed ones first. The text of a
        hit is the name, or at most 500 characters around the words. `note` says, in the language, how many files could
        not be searched for their text yet. At most 1,000 hits are found in all. The cursor knows the hits already
        shown: no item comes twice, however the ranks change in between. Raises `InvalidInputError` for a query over
        1,000 characters, or an empty one without a folder, kind or filter, for an unknown kind and for a filter that
        makes no sense, and `ForbiddenError` for a caller by a link.
        """
        _require_searcher(actor.principal)
        wanted_kind, size = _checked_kind(kind), checked_limit(limit)
        is_limited = bool(folder or kind or only != NO_FILTER)
        wanted = _checked_query(query) if query.strip() or not is_limited else ""
        conditions = only.conditions(actor.principal, wanted_kind)
        cursors = Cursors(self._database.signer, actor.user_id, "search", wanted, folder, wanted_kind, *only.key())
        shown = unpack_marks(cursors.unseal(cursor)) if cursor is not None else []
        question = Question(wanted, "text", min(size, MAX_FOUND - len(shown)), shown=shown, answers_only=True)

        async def names(session: AsyncSession) -> tuple[SearchArea, Question, _Found | None]:
            area = await open_area(session, actor.principal, folder, conditions)
            names, near = await _match_names(session, area, wanted, wanted_kind)
            asked = replace(question, names=names, near=near)
            only_names = not wanted or wanted_kind == "folder"
            return area, asked, await _page_of_names(session, actor.principal, area, asked, only=only_names)

        area, question, found = await self._database.look(names)
        if found is None:
            found = await self._ask(actor.principal, area, question)
        if wanted and not question.is_answered(found.candidates):
            found = await self._with_slips(actor.principal, area, question, wanted_kind) or found
        more = found.is_full and len(shown) + question.size < MAX_FOUND
        following = cursors.seal(pack_marks(shown, found.candidates)) if more else None
        return Page(found.hits, following, note=self._note(area, language) if wanted else "")

    async def semantic(
        self,
        actor: Actor,
        query: str,
        *,
        folder: str | None = None,
        only: SearchFilter = NO_FILTER,
        limit: int = 10,
        mode: Literal["hybrid", "words", "vector"] = "hybrid",
        language: Language = "en",
    ) -> Page[Hit]:
        """Return the passages that fit the meaning of the query best, whole; a file may have several.

        With a reranker the order is its, as far as it judges; it sees only passages that the caller may see.
        `words` and `vector` ask one side only, to compare with. `note` and errors are as for `find`.
        """
        _require_searcher(actor.principal)
        wanted, size = _checked_query(query), checked_limit(limit)
        reranker = self._reranker if mode == "hybrid" else None
        question = Question(wanted, mode, max(size, MAX_PASSAGES) if reranker else size, answers_only=mode == "hybrid")
        conditions = only.conditions(actor.principal, "file")
        area = await self._database.look(lambda session: open_area(session, actor.principal, folder, conditions))
        found = await self._ask(actor.principal, area, question)
        hits = await _reranked(reranker, wanted, found.hits) if reranker else found.hits
        return Page(hits[:size], note=self._note(area, language))

    async def hybrid(
        self,
        actor: Actor,
        query: str,
        *,
        folder: str | None = None,
        only: SearchFilter = NO_FILTER,
        limit: int = 10,
        language: Language = "en",
    ) -> tuple[Sequence[Hit], Page[Hit]]:
        """Return the items that `find` finds by their names, half of `limit` at most, and the page of `semantic`.

        A search of both at once: the caller's area is looked up once, and the index is asked once.
        """
        _require_searcher(actor.principal)
        wanted, size = _checked_query(query), checked_limit(limit)
        conditions, most = only.conditions(actor.principal, None), max(1, size // SHARE_OF_NAMES)
        passages = max(size, MAX_PASSAGES) if self._reranker else size
        question = Question(wanted, "hybrid", passages, answers_only=True)

        async def names(session: AsyncSession) -> tuple[SearchArea, Question]:
            area = await open_area(session, actor.principal, folder, conditions)
            names, near = await _match_names(session, area, wanted, None)
            named = [*names, *near][:most]
            return area, replace(question, names=named, size=passages + len(named))

        area, asked = await self._database.look(names)
        found = await self._ask(actor.principal, area, asked)
        named = [hit for hit in found.hits if not hit.version]
        if may_be_name(parse(wanted).words) and not asked.is_answered(found.candidates):
            named = await self._named_nearly(actor.principal, area, replace(question, size=most))
        hits = tuple(hit for hit in found.hits if hit.version)
        hits = await _reranked(self._reranker, wanted, hits) if self._reranker else hits
        return named, Page(hits[:size], note=self._note(area, language))

    async def _named_nearly(self, principal: Principal, area: SearchArea, question: Question) -> Sequence[Hit]:
        """Return items whose names have a slip of the pen in them or the query."""

        async def look(session: AsyncSession) -> Sequence[Hit]:
            words = parse(question.query).words
            near = _candidates(await match_near_names(session, area.visible, words, None, with_slips=True))
            return (await _page(session, principal, area, replace(question, names=near), ())).hits if near else ()

        return await self._database.look(look)

    async def near(self, actor: Actor, texts: Sequence[str], *, without: str, limit: int = 10) -> Page[Hit]:
        """Return the files that have passages near to any of the texts, each once, without the one of that id."""
        _require_searcher(actor.principal)
        questions = [Question(_checked_query(text), "hybrid", checked_limit(limit)) for text in texts]
        async with self._database.read() as session:
            area = await open_area(session, actor.principal, None)
        answers = [await self._others(area, question, without) for question in questions]
        async with self._database.read() as session:
            question = Question("", "hybrid", checked_limit(limit))
            found = await _page(session, actor.principal, area, question, in_one_order(answers))
        return Page(found.hits, note=self._note(area))

    async def _others(self, area: SearchArea, question: Question, excluded_id: str) -> list[IndexHit]:
        """Ask for more and more until there are enough other files: a long file fills many places with itself."""
        asked = question.wanted
        while True:
            asked = min(asked * ASKED_PER_WANTED, MAX_ASKED)
            hits = await self._passages(area, question, asked)
            others = one_per_file(hits, (excluded_id,))
            if len(others) >= question.wanted or len(hits) < asked or asked == MAX_ASKED:
                return others

    async def _ask(self, principal: Principal, area: SearchArea, question: Question) -> _Found:
        """Ask the index for more and more until the page is full of items that the caller may see."""
        asked = question.wanted
        while True:
            asked = min(asked * ASKED_PER_WANTED, MAX_ASKED)
            hits = await self._passages(area, question, asked)
            found = await self._shown(principal, area, question, hits)
            if found.is_full or len(hits) < asked or asked == MAX_ASKED:
                return found

    async def _shown(
        self, principal: Principal, area: SearchArea, question: Question, hits: Sequence[IndexHit]
    ) -> _Found:
        return await self._database.look(lambda session: _page(session, principal, area, question, hits))

    async def _with_slips(
        self, principal: Principal, area: SearchArea, question: Question, kind: Kind | None
    ) -> _Found | None:
        """Return the page with items whose names have a slip of the pen in them or the query; None without any."""
        async with self._database.read() as session:
            words = parse(question.query).words
            near = _candidates(await match_near_names(session, area.visible, words, kind, with_slips=True))
            if near and kind == "folder":
                return await _page(session, principal, area, replace(question, near=near), ())
        return await self._ask(principal, area, replace(question, near=near)) if near else None

    async def _passages(self, area: SearchArea, question: Question, asked: int) -> list[IndexHit]:
        if area.is_empty:
            return []
        try:
            return await self._index.search(
                question.query,
                owner_ids=area.owner_ids,
                file_ids=area.file_ids,
                mode=question.mode,
                limit=asked,
                answers_only=question.answers_only,
            )
        except DamagedIndexError:
            return []  # logged where it came from; the index is derived, and names are found without it

    def _note(self, area: SearchArea, language: Language = "en") -> str:
        """Return sentences about possible gaps in the answer."""
        health, notes = self._index.health, area.notes
        if health.is_incomplete:
            is_degraded = health.state == "degraded"
            notes.insert(0, Message.of("search_degraded") if is_degraded else Message.of("search_rebuilding"))
        return join_sentences((render(note, language) for note in notes), language)


async def _match_names(
    session: AsyncSession, area: SearchArea, wanted: str, kind: Kind | None
) -> tuple[list[Candidate], list[Candidate]]:
    """Return the items whose names have the words of the query, as they are or with other accents and signs.

    An empty query has all items, the last changed first.
    A strict query's phrases have to be there, and nothing that it excludes. Names that have the words only in another
    form come second, unless one has them as they are: then they belong to these.
    """
    if not wanted:
        return _candidates(await list_latest(session, area.visible, kind, MAX_FOUND)), []
    query = parse(wanted)
    found = await match_names(session, area.visible, query.words, kind)
    near = await match_near_names(session, area.visible, query.words, kind, with_slips=False)
    known = {match.id for match in found}
    others = [match for match in near if match.id not in known]
    if query.is_strict:
        admits = query.passage_filter()
        return _candidates(match for match in (*found, *others) if admits(match.name)), []
    return (_candidates((*found, *others)), []) if found else ([], _candidates(others))


def _candidates(matches: Iterable[NameMatch]) -> list[Candidate]:
    return [Candidate(match.id, match.score, match.name) for match in matches]


async def _page_of_names(
    session: AsyncSession, principal: Principal, area: SearchArea, question: Question, *, only: bool
) -> _Found | None:
    """Return the page if names fill it, or if there is to be nothing else on it."""
    if only or len(replace(question, near=()).candidates(())) > question.size:
        return await _page(session, principal, area, question, ())
    return None


async def _page(
    session: AsyncSession, principal: Principal, area: SearchArea, question: Question, hits: Sequence[IndexHit]
) -> _Found:
    if area.needs_filter and hits:
        inside = await area.among(session, [hit.file_id for hit in hits])
        hits = [hit for hit in hits if hit.file_id in inside]
    confirmed = await _confirmed(session, principal, area, question.candidates(hits), question.size + 1)
    page = confirmed[: question.size]
    places = {node.id: node for _, node in page}
    items = {item.id: item for item in await describe_all(session, list(places.values()))}
    omissions = await _omissions(session, places)
    return _Found(
        candidates=[candidate for candidate, _ in page],
        hits=tuple(
            _hit(candidate, items[candidate.file_id], omissions.get(candidate.file_id, {})) for candidate, _ in page
        ),
        is_full=len(confirmed) > question.size,
    )


async def _omissions(session: AsyncSession, ids: Iterable[str]) -> dict[str, Mapping[str, int]]:
    """Return the omissions of those of the files of a page that were not read whole."""
    wanted = list(ids)
    rows = await session.execute(_PARTIAL, {"ids": wanted}) if wanted else ()
    return {row.file_id: row.omissions for row in rows}


async def _confirmed(
    session: AsyncSession, principal: Principal, area: SearchArea, candidates: Sequence[Candidate], most: int
) -> list[tuple[Candidate, NodeView]]:
    """Return the first candidates that the caller may see now, passages only of the file's newest content."""
    confirmed: list[tuple[Candidate, NodeView]] = []
    start, size = 0, most
    while start < len(candidates) and len(confirmed) < most:
        batch = candidates[start : start + size]
        start, size = start + size, 2 * size
        nodes = await locate_many(session, principal, [candidate.file_id for candidate in batch])
        found = [(candidate, nodes[candidate.file_id]) for candidate in batch if candidate.file_id in nodes]
        confirmed += [(candidate, node) for candidate, node in found if _stands(candidate, node, area)]
    return confirmed[:most]


def _stands(candidate: Candidate, node: NodeView, area: SearchArea) -> bool:
    return area.holds(node) and candidate.version in (None, node.row.version)


def _hit(candidate: Candidate, item: Item, omissions: Mapping[str, int]) -> Hit:
    return Hit(
        item=item,
        score=candidate.score,
        text=candidate.text,
        start=candidate.start,
        end=candidate.end,
        heading=candidate.heading,
        page=candidate.page,
        version=candidate.version or 0,
        place=candidate.place,
        omissions=omissions,
    )


async def _reranked(reranker: Reranker, query: str, hits: tuple[Hit, ...]) -> tuple[Hit, ...]:
    """Return the hits in the reranker's order; their scores say their places."""
    order = await reranker.rerank(query, [f"{hit.heading}\n{hit.text}".strip() for hit in hits])
    return tuple(replace(hits[place], score=hit.score) for place, hit in zip(order, hits, strict=True))


def with_nothing_found(page: Page[Hit], query: str, language: Language = "en") -> Page[Hit]:
    """Return a page; one without hits with a note that says so, before the note about unsearched files."""
    if page.items:
        return page
    if not query.strip():
        return replace(page, note=render(Message.of("nothing_fits"), language))
    shown = query if len(query) <= MAX_SHOWN_CHARACTERS else f"{query[:MAX_SHOWN_CHARACTERS]}…"
    nothing = render(Message.of("nothing_found", query=" ".join(shown.split())), language)
    return replace(page, note=" ".join(note for note in (nothing, page.note) if note))


def _require_searcher(principal: Principal) -> None:
    """Raise `ForbiddenError` for a visitor by a link, who would search all that the link's maker has."""
    require_person(principal)
    require_scope(principal, Scope.READ)


def _checked_query(query: str) -> str:
    wanted = " ".join(query.split()) if len(query) <= MAX_QUERY_CHARACTERS else query
    if len(wanted) > MAX_QUERY_CHARACTERS:
        raise InvalidInputError(
            Message.of("query_too_long", limit=MAX_QUERY_CHARACTERS), details={"limit": MAX_QUERY_CHARACTERS}
        )
    if not wanted or any(character == "\0" or "\ud800" <= character <= "\udfff" for character in wanted):
        raise InvalidInputError(Message.of("nothing_to_search"))
    return wanted


def _checked_kind(kind: str | None) -> Kind | None:
    if kind not in (None, "file", "folder"):
        raise InvalidInputError("There is no such kind of item.", hint="Use file or folder.")
    return kind


MAX_READ_CHARACTERS = 1_000_000
EXCERPTS = 5
EXCERPT_CHARACTERS = 500
_BREAK = re.compile(r"[\s。！？；]")


class RelatedFiles:
    """Takes excerpts of a file's text, and asks the search for each of them."""

    def __init__(self, documents: DocumentService, search: SearchService) -> None:
        self._documents = documents
        self._search = search

    async def find(self, actor: Actor, ref: str, *, limit: int = 10) -> Page[Hit]:
        """Return other files, each once with its passage that fits best: those near to most excerpts come first.

        `note` and rights are as for `SearchService.find`. Raises `UnsupportedContentError` for a file without text, and
        as `DocumentService.read_text` does for a missing one.
        """
        size = checked_limit(limit)
        read = await self._documents.read_text(actor, ref, limit=MAX_READ_CHARACTERS)
        return await self._search.near(actor, excerpts(read.text), without=read.item.id, limit=size)


def excerpts(text: str) -> list[str]:
    """Return at most five parts of the text, 500 characters each at most: its beginning, and others evenly apart."""
    stride = max(EXCERPT_CHARACTERS, len(text) // EXCERPTS)
    parts = [_excerpt(text, start) for start in range(0, len(text), stride)][:EXCERPTS]
    return list(dict.fromkeys(part for part in parts if part))


def _excerpt(text: str, start: int) -> str:
    part = text[start : start + EXCERPT_CHARACTERS]
    word = _BREAK.search(part) if start else None
    return " ".join(part[word.end() if word else 0 :].replace("\0", " ").split())
