"""The order of hits on a page, names and passages together. Pure."""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from drive_server.kernel.text.characters import fold_places, fold_words
from drive_server.knowledge.index.index import IndexHit
from drive_server.knowledge.index.matching import word_stem
from drive_server.knowledge.index.queries import parse

MAX_SNIPPET_CHARACTERS = 500
LEAD_CHARACTERS = 120


def cut_snippet(text: str, query: str, limit: int = MAX_SNIPPET_CHARACTERS) -> tuple[str, int]:
    """Return at most `limit` characters of the text around the first word of the query in it, and where they start."""
    if len(text) <= limit:
        return text, 0
    place = _first_place(text, query)
    start = max(0, min(place - LEAD_CHARACTERS, len(text) - limit))
    start = _next_word(text, start, place)
    return text[start : _last_word(text, start, start + limit)], start


def _first_place(text: str, query: str) -> int:
    folded, places = fold_places(text)
    wanted = fold_words(query)
    starts = [folded.find(wanted)]
    if starts == [-1]:
        starts = [folded.find(word) for word in wanted.split()]
    return places[min((start for start in starts if start >= 0), default=0)]


def _next_word(text: str, start: int, place: int) -> int:
    """Move on to the beginning of a word, where there is one before the place."""
    if start == 0:
        return 0
    space = re.compile(r"\s+").search(text, start, place)
    return space.end() if space else start


def _last_word(text: str, start: int, end: int) -> int:
    """Move back to the end of a word, where the cut would be in the middle of one and there is a blank before it."""
    if end >= len(text) or text[end].isspace() or not (text[end - 1].isalnum() and text[end].isalnum()):
        return end
    blank = max(text.rfind(mark, start, end) for mark in " \n\t")
    return blank if blank > start else end


TEXT_SHARE = 0.6
RANK_CONSTANT = 60
# So much of an item's id tells it from all others that a query finds.
MARK_CHARACTERS = 16


@dataclass(frozen=True, slots=True)
class Candidate:
    """A hit before its item is described. `version` is the content that a passage stands in, None for a name."""

    file_id: str
    score: float
    text: str
    start: int = 0
    end: int = 0
    heading: str = ""
    page: int | None = None
    version: int | None = None
    place: str = ""

    @property
    def mark(self) -> str:
        """The mark of this hit in a cursor."""
        return self.file_id[:MARK_CHARACTERS]


@dataclass(frozen=True, slots=True)
class Question:
    """The request for a page: `size` hits beyond those whose marks are in `shown`.

    With the mode `text` each file counts once, and those of `names` come first. Names that are only nearly the query,
    `near`, come before texts unless these have its very words. With `answers_only`, passages of which none answers the
    query are no hits.
    """

    query: str
    mode: Literal["hybrid", "text", "words", "vector"]
    size: int
    names: Sequence[Candidate] = ()
    near: Sequence[Candidate] = ()
    shown: Sequence[str] = ()
    answers_only: bool = False

    @property
    def wanted(self) -> int:
        """Return how many hits fill the page and show whether there is another."""
        return len(self.shown) + self.size + 1

    def is_answered(self, found: Sequence[Candidate]) -> bool:
        """Return whether the hits match the query to the word, so that no similar names are needed."""
        if self.names or self.near or parse(self.query).is_strict:
            return True
        return bool(found) and _has_words(found[0], self.query)

    def candidates(self, hits: Sequence[IndexHit]) -> list[Candidate]:
        """Return the best first, scored by place: the index's own scores would disclose other people's texts."""
        if self.mode != "text":
            return [*self.names, *(_whole(hit, 1 / (1 + place)) for place, hit in enumerate(hits))]
        passages = one_per_file(hits, {name.file_id for name in self.names})
        cut = [_cut(hit, parse(self.query).words, TEXT_SHARE / (1 + place)) for place, hit in enumerate(passages)]
        shown = set(self.shown)
        ordered = (*self.names, *self._with_near_names(cut))
        return [candidate for candidate in ordered if candidate.mark not in shown]

    def _with_near_names(self, cut: list[Candidate]) -> list[Candidate]:
        if not self.near or not cut or not _has_words(cut[0], self.query):
            excluded = {name.file_id for name in self.near}
            return [*self.near, *(candidate for candidate in cut if candidate.file_id not in excluded)]
        excluded = {candidate.file_id for candidate in cut}
        later = (name for name in self.near if name.file_id not in excluded)
        return [*cut, *(replace(name, score=TEXT_SHARE / (1 + place)) for place, name in enumerate(later, len(cut)))]


def pack_marks(shown: Sequence[str], page: Sequence[Candidate]) -> bytes:
    """Return the content of a cursor: the marks of everything shown until now."""
    return bytes.fromhex("".join([*shown, *(candidate.mark for candidate in page)]))


def unpack_marks(packed: bytes) -> list[str]:
    """Return the marks in a cursor."""
    marks = packed.hex()
    return [marks[start : start + MARK_CHARACTERS] for start in range(0, len(marks), MARK_CHARACTERS)]


def in_one_order(answers: Sequence[Sequence[IndexHit]]) -> list[IndexHit]:
    """Merge answers by reciprocal rank fusion (Cormack et al. 2009, k = 60), each file with its highest passage."""
    scores: dict[str, float] = {}
    best: dict[str, tuple[int, IndexHit]] = {}
    for answer in answers:
        for place, hit in enumerate(answer):
            scores[hit.file_id] = scores.get(hit.file_id, 0.0) + 1 / (RANK_CONSTANT + place + 1)
            if hit.file_id not in best or place < best[hit.file_id][0]:
                best[hit.file_id] = (place, hit)
    return [best[file_id][1] for file_id in sorted(scores, key=lambda file_id: (-scores[file_id], file_id))]


def one_per_file(hits: Sequence[IndexHit], excluded: Collection[str]) -> list[IndexHit]:
    """Return the first passage of each file, without the files that are known."""
    best: dict[str, IndexHit] = {}
    for hit in hits:
        if hit.file_id not in excluded:
            best.setdefault(hit.file_id, hit)
    return list(best.values())


def _has_words(candidate: Candidate, query: str) -> bool:
    text = fold_words(f"{candidate.heading} {candidate.text}")
    return all(word_stem(word) in text for word in fold_words(parse(query).words).split())


def _cut(hit: IndexHit, query: str, score: float) -> Candidate:
    text, offset = cut_snippet(hit.text, query)
    start = hit.start + offset
    return Candidate(hit.file_id, score, text, start, start + len(text), hit.heading, hit.page, hit.version, hit.place)


def _whole(hit: IndexHit, score: float) -> Candidate:
    return Candidate(hit.file_id, score, hit.text, hit.start, hit.end, hit.heading, hit.page, hit.version, hit.place)
