"""The syntax of queries: words, "a phrase", -without, one OR another. Pure; described in docs/SEARCH.md."""

import re
from collections.abc import Callable
from dataclasses import dataclass

from drive_server.kernel.text.characters import CJK, fold_case, fold_words

_QUOTES = {'"': '"', "“": "”", "„": "“", "«": "»", "「": "」", "『": "』", "《": "》", "＂": "＂"}
_PHRASE = "|".join(f"{first}[^{first}{last}]+{last}" for first, last in _QUOTES.items())
_TOKEN = re.compile(rf"(?P<minus>-?)(?P<phrase>{_PHRASE})(?=[\s,.;:!?，。；：！？]|$)|(?P<word>\S+)")
_EITHER = frozenset(("OR", "|"))
_EXCLUDED_WORD = re.compile(r"-[^\W\d_].*")
_EDGE_SPACE = re.compile(f"(?<=[{CJK}]) (?=[{CJK}])")
_QUESTION = re.compile(
    r"\W*(?:how|what|whats|when|where|which|who|whom|whose|why|is|are|am|was|were|do|does|did|can|could|should|would"
    r"|will|may|must|has|have|had|if)\b|.*(?:\?\s*$|\b(?-i:I)\b|\b(?:my|me|you|your|we|our)\b)",
    re.IGNORECASE | re.DOTALL,
)
"""A question, or a statement about oneself, in English; a question mark at the end in any Western language."""
_ANY_CJK = re.compile(f"[{CJK}]")
_LETTER = rf"[^\W_{CJK}]"


@dataclass(frozen=True, slots=True)
class Term:
    """A word, or a phrase."""

    text: str
    is_phrase: bool = False


@dataclass(frozen=True, slots=True)
class Query:
    """A parsed query: one term of each group is required, and none of the excluded ones allowed."""

    groups: tuple[tuple[Term, ...], ...]
    excluded: tuple[Term, ...] = ()

    @property
    def words(self) -> str:
        """All terms but the excluded ones, without syntax."""
        return " ".join(term.text for group in self.groups for term in group)

    @property
    def is_question(self) -> bool:
        """True if it is asked as one asks a person, in a Western language."""
        return _QUESTION.match(self.words) is not None and not _ANY_CJK.search(self.words)

    @property
    def phrases(self) -> tuple[Term, ...]:
        """The required phrases."""
        return tuple(group[0] for group in self.groups if len(group) == 1 and group[0].is_phrase)

    @property
    def alternatives(self) -> tuple[tuple[Term, ...], ...]:
        """The groups of several terms, of which one is enough."""
        return tuple(group for group in self.groups if len(group) > 1)

    @property
    def is_strict(self) -> bool:
        """True if a passage with all the words may still be filtered out."""
        return bool(self.phrases or self.excluded)

    def without_phrases(self) -> "Query":
        """Return the query with its phrases as words like others."""
        return Query(tuple(tuple(Term(term.text) for term in group) for group in self.groups), self.excluded)

    def passage_filter(self) -> Callable[[str], bool]:
        """Return a function that tests whether a passage has the phrases, and no excluded term."""
        wanted = [_pattern(_compared(term.text)) for term in self.phrases]
        unwanted = [_pattern(_compared(term.text)) for term in self.excluded if term.is_phrase]
        words = [_pattern(fold_words(term.text)) for term in self.excluded if not term.is_phrase]

        def admits(passage: str) -> bool:
            text = _compared(passage)
            if not all(one.search(text) for one in wanted) or any(one.search(text) for one in unwanted):
                return False
            return not (words and any(one.search(_EDGE_SPACE.sub("", fold_words(passage))) for one in words))

        return admits


def parse(text: str) -> Query:
    """Parse a query. A query of nothing but exclusions is taken as words."""
    groups: list[list[Term]] = []
    excluded: list[Term] = []
    joins = False
    tokens = list(_TOKEN.finditer(text))
    for number, token in enumerate(tokens):
        if token[0] in _EITHER and groups and not joins and number + 1 < len(tokens):
            joins = True
            continue
        term, is_excluded = _term(token)
        if is_excluded:
            excluded.append(term)
        elif joins:
            groups[-1].append(term)
        else:
            groups.append([term])
        joins = False
    if not groups:
        return Query(tuple((Term(word),) for word in text.split()))
    return Query(tuple(map(tuple, groups)), tuple(excluded))


def _term(token: re.Match[str]) -> tuple[Term, bool]:
    """Return the term of a token, and whether it is excluded. `-5` and `--all` are words."""
    phrase = " ".join((token["phrase"] or "")[1:-1].split())
    if phrase:
        return Term(phrase, is_phrase=True), bool(token["minus"])
    word = token[0]
    if _EXCLUDED_WORD.fullmatch(word):
        return Term(word[1:]), True
    return Term(word), False


def _pattern(text: str) -> re.Pattern[str]:
    """Return the pattern that finds a text as whole words; in CJK, which has no spaces, anywhere."""
    before = f"(?<!{_LETTER})" if re.match(_LETTER, text) else ""
    after = f"(?!{_LETTER})" if re.search(f"{_LETTER}$", text) else ""
    return re.compile(before + re.escape(text) + after)


def _compared(text: str) -> str:
    """Return a text in the form in which phrases are compared, with accents: lines of CJK join without a space."""
    return _EDGE_SPACE.sub("", fold_case(text))
