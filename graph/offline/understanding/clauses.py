"""A message cut into clauses, each as it was written and as the router's patterns read it."""

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from graph.offline.understanding.grammar import word
from graph.routing.intent_table import ROWS, VERBS, Row
from graph.routing.intents import row_of
from graph.routing.placing import CHANGES
from graph.routing.wording import bare, bare_span, clauses, correct, is_negated, prepare

MARK: Final = "[\ue000-\uf8ff]"
"""Stands for quoted or dictated text."""
FIRST_MARK: Final = 0xE000
_WIDTH: Final = {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)} | {0x3000: 32, 0xA0: 32, 0x2018: 39, 0x2019: 39}
"""Full-width characters as their plain ones: one for one, so that places stay."""
_FOR_GOOD: Final = re.compile(r"\b(?:permanently|for good|forever|irrevocably|completely)\b|彻底|永久")
_FORBIDS: Final = re.compile(r".{0,4}(?:不要|不用|不必|不准|请勿|不许|不得|别(?![的人处家墅称名]))")
_NAME_END: Final = re.compile(r"[^\s,，。;；:：]*\)")
_CHINESE: Final = tuple(
    (row.action, re.compile("|".join(filter(None, (row.verbs, row.endings)))))
    for row in ROWS
    if row.group in CHANGES and (row.verbs or row.endings)
)


class Clause(NamedTuple):
    """One clause.

    `said` is in the person's own letters, `plain` is the form for the router's patterns, `row` its row.
    """

    said: str
    plain: str
    row: Row | None
    negated: bool
    ends_in_colon: bool = False
    for_good: bool = False


class Message:
    """A message whose quoted and dictated parts are put aside, so that they are never taken for a request."""

    def __init__(self, text: str) -> None:
        self._aside: list[str] = []
        self.dictated = ""
        self.dictated_plainly = ""
        masked = word("quoted").sub(lambda quote: self._put_aside(next(filter(None, quote.groups()), "")), text)
        plain = " ".join(self._without_dictation(masked).translate(_WIDTH).split())
        plain = word("softeners").sub("", word("clipped").sub(r"\1's", plain))
        placed = word("placed_first").fullmatch(plain)
        plain = f"{placed['rest']} in {placed['place']}" if placed else plain
        self.text = " ".join(word("makes_folder").sub(" ", plain).split())
        self.makes_folder = self.text != plain
        if both := word("folder_and_file").fullmatch(self.text):
            self.text, self.makes_folder = f"create a file {both['name']} in {both['place']}{both['rest']}", True

    def _put_aside(self, text: str) -> str:
        self._aside.append(text)
        return chr(FIRST_MARK + len(self._aside) - 1)

    def _without_dictation(self, text: str) -> str:
        for pattern, head in (("dictated", "takes_text"), ("dictated_new", "makes_file")):
            found = word(pattern).search(text)
            if found and word(head).match(bare(text[: found.start()].lower())):
                content = found["content"] or found["zh"]
                quote = re.match(MARK, content)
                end = 1 if quote else len(content)
                self.dictated = quote[0] if quote else self._put_aside(self.restored(content.rstrip()))
                self.dictated_plainly = "" if quote else self.dictated
                return f"{text[: found.start()].rstrip(' ,，')} {self.dictated} {content[end:].lstrip(' ,，')}"
        return text

    def restored(self, text: str) -> str:
        """Return a part of the text with the parts that were put aside in it again."""
        return re.sub(MARK, lambda mark: self._aside[ord(mark[0]) - FIRST_MARK], text)

    def quoted(self, text: str) -> str:
        """Return a part of the text with the parts that were put aside in quotation marks."""
        return re.sub(MARK, lambda mark: f"“{self._aside[ord(mark[0]) - FIRST_MARK]}”", text)

    @property
    def prepared(self) -> str:
        """The text as the router's patterns read it, without asides such as "if you have time"."""
        return prepare(self.quoted(self.text))

    def clauses(self) -> Iterator[Clause]:
        """Yield the clauses in order."""
        low, at = self.text.lower(), 0
        low = low if len(low) == len(self.text) else self.text
        for part in clauses(low, VERBS):
            found = low.find(part, at)
            said = self.text[found : found + len(part)] if found >= 0 else part
            if found >= 0:
                at = found + len(part)
                closing = _NAME_END.match(self.text, at) if said.count("(") > said.count(")") else None
                said += closing[0] if closing else ""
            yield self._clause(said, ends_in_colon=self.text[at : at + 1] == ":")

    def _clause(self, said: str, *, ends_in_colon: bool) -> Clause:
        prepared = prepare(self.quoted(said)).strip(" -,，;；")
        plain = bare(prepared)
        first, blank, rest = plain.partition(" ")
        plain = correct(first, VERBS) + blank + rest
        start, end = bare_span(said.lower()) if len(said.lower()) == len(said) else (0, len(said))
        own = said[start:end].strip() or said
        for_good, negated = bool(_FOR_GOOD.search(prepared)), is_negated(prepared) or bool(_FORBIDS.match(prepared))
        row = row_of(plain) or row_of(plain.removesuffix("QUOTE").strip()) if plain else None
        return Clause(own, plain, row, negated, ends_in_colon, for_good)


def spoken_of(clause: str) -> str:
    """Return the change that a clause names anywhere, as an action of the router's table; empty if none."""
    if word("emptying").search(clause):
        return "empty_trash"
    words = clause.split()
    for at, one in enumerate(words):
        cut = one.removesuffix("ing") if one.endswith("ing") else one.removesuffix("ed")
        verb = next((verb for verb in (one, cut, f"{cut}e", cut[:-1]) if verb in VERBS), "")
        row = row_of(" ".join([verb, *words[at + 1 :]])) if verb else None
        if row and row.group in CHANGES:
            return row.action
    return next((action for action, pattern in _CHINESE if pattern.search(clause)), "")
