"""The intents of a message, as far as words alone tell with high confidence, in English and Chinese. No model.

It rather says nothing than something wrong: an action only spoken of, asked about, forbidden or set under a condition
is no request, and one clause that it does not understand can make all of it doubtful.
"""

import re
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from graph.routing import cues
from graph.routing.intent_table import DRIVE, ROWS, VERBS, Row
from graph.routing.placing import CHANGES, READ_HERE, Ask, asks_the_text, is_unsure, placed, unsure, unsure_here
from graph.routing.wording import MARKS, bare, clauses, correct, is_negated, prepare
from graph.state import AgentName

READ_CHARACTERS: Final = 2_000
"""A longer message carries its material along, and the words of that prove nothing."""
SHORT_WORDS: Final = 2
SHORT_HAN: Final = 4
"""So short a clause before the first request changes nothing: "sorry", "quick one"."""
ONCE: Final = frozenset({"create_folder", "create_file", "move", "rename", "delete"})
"""Asked for twice in one message, these are one thing done to two, or two steps: words alone don't tell."""
POINTED: Final = frozenset({"read", "restore", "copy", "find"})
"""Said of nothing but "it", these may be about a file or about a text."""
NOTHING: Final = r"(?!)"


@dataclass(frozen=True, slots=True)
class Intent:
    """The intents of a message, in order. `doubtful` if it may mean more than its words say."""

    asks: tuple[Ask, ...]
    doubtful: bool

    @property
    def actions(self) -> frozenset[str]:
        """All actions of the message."""
        return frozenset(ask.action for ask in self.asks)

    @property
    def several(self) -> bool:
        """True if more than one thing is to be done, one of them a change: that needs a plan."""
        groups = {ask.group for ask in self.asks}
        return (
            not self.doubtful
            and (len(self.actions) > 1 or "compile" in self.actions)
            and bool(groups & CHANGES)
            and groups != {"edit"}
        )


class _Pattern:
    """A row of the table, ready to read clauses."""

    def __init__(self, row: Row) -> None:
        self.row = row

    # Compiled for the first message: that takes longer than to load all other modules of routing.
    @cached_property
    def _english(self) -> re.Pattern[str]:
        return re.compile(self.row.english)

    @cached_property
    def _verbs(self) -> re.Pattern[str]:
        return re.compile(self.row.verbs or NOTHING)

    @cached_property
    def _endings(self) -> re.Pattern[str]:
        return re.compile(self.row.endings or NOTHING)

    @cached_property
    def _forms(self) -> re.Pattern[str]:
        return re.compile(self.row.forms or NOTHING)

    @cached_property
    def _objects(self) -> re.Pattern[str]:
        return re.compile(f"{self.row.verbs or NOTHING}|{self.row.endings or NOTHING}")

    def finds(self, clause: str) -> bool:
        """Say whether the clause asks for this action."""
        if self._english.match(clause):
            return True
        return cues.HAN.search(clause) is not None and (self._forms.search(clause) is not None or self.leads(clause))

    def leads(self, clause: str) -> bool:
        """Say whether the clause begins with this action's Chinese verb."""
        leading = self._verbs.match(clause)
        if leading and self.row.group in ("look", "inspect"):
            return True
        if leading is None or cues.METHOD.search(clause):
            return False
        return not cues.TELLS.search(clause) and not cues.ATTRIBUTE.match(clause, leading.end())

    def follows(self, clause: str) -> bool:
        """Say whether the clause goes on to this action after another verb, with no comma between."""
        verbs = self._endings.finditer(clause, 2)
        return any(cues.SECOND_VERB.search(verb.group()) and "的" not in clause[verb.end() :] for verb in verbs)

    def ends(self, clause: str) -> bool:
        """Say whether the clause names its object first, and then the action."""
        if not cues.HAN.search(clause) or any(cue.search(clause) for cue in (cues.TELLS, cues.SPOKEN_OF, cues.FORBIDS)):
            return False
        taken = cues.OBJECT_FIRST.match(clause)
        verbs = self._objects.finditer(clause, taken.end()) if taken else self._endings.finditer(clause)
        return any(not cues.ATTRIBUTE.match(clause, verb.end()) for verb in verbs)


_PATTERNS: Final = tuple(_Pattern(row) for row in ROWS)
_UNKNOWN_ROW: Final = next(row for row in ROWS if row.action == "unknown")
_TALK: Final = next(pattern for pattern in _PATTERNS if pattern.row.action == "talk")


def read_intent(text: str, *, in_document: bool) -> Intent:
    """Read a message. With an open document, deleting or moving a part of a text is an edit of it."""
    if len(text) > READ_CHARACTERS:
        return Intent((), doubtful=True)
    prepared = prepare(text)
    if _is_talk(prepared):
        return Intent((Ask("talk", "talk", DRIVE),), doubtful=False)
    asks: list[Ask] = []
    questions = False
    doubtful = (cues.TAKEN_BACK.search(prepared) or cues.REFERS.search(_of_itself(prepared))) is not None
    for place, clause in enumerate(clauses(prepared, VERBS)):
        if cues.REPORTED.search(clause):
            doubtful = doubtful or not asks
            break
        if asks and asks[-1].action == "rename" and cues.NAMED_NOW.match(bare(clause)):
            continue
        found = _asks(clause, in_document=in_document, first=place == 0)
        asks += found
        if not (found or is_negated(clause)) and _is_doubtful(bare(clause), first=not asks):
            is_question = cues.OF_CONTENT.match(bare(clause)) is not None
            questions, doubtful = questions or is_question, doubtful or not is_question
    asks = [ask for ask in asks if ask.action != "talk"] or asks
    doubtful = doubtful or (questions and not _looks(asks))
    return Intent(tuple(asks), doubtful or _contradict(asks) or cues.FOLLOWING.match(prepared) is not None)


def is_talk(text: str) -> bool:
    """Say whether the whole message is small talk or about the assistant itself: it is about nothing in the drive."""
    return len(text) <= READ_CHARACTERS and _is_talk(prepare(text))


def _is_talk(prepared: str) -> bool:
    return _TALK.finds(prepared.strip(" !?.。！？~～,，"))


def _of_itself(prepared: str) -> str:
    """Return it without an "instead" that goes back to its own words: "don't copy it, move it instead"."""
    return prepared.removesuffix("instead") if cues.INSTEAD.search(prepared) else prepared


def _asks(clause: str, *, in_document: bool, first: bool) -> list[Ask]:
    """Return the request of a clause; two if it asks in Chinese to find something and goes on with it."""
    said = _corrected(bare(clause))
    if not said or is_negated(clause) or cues.CONTROL.match(said):
        return []
    row = row_of(said)
    if row is None:
        return [READ_HERE] if in_document and asks_the_text(said) else []
    rows = _rows(row, said)
    if first and not in_document and row.action in POINTED and cues.BARE.match(said):
        return [unsure(row)]
    if (len(rows) > 1 and not cues.FOUND.match(said)) or any(is_unsure(one, said) for one in rows):
        return [unsure_here(row, said) if in_document else unsure(row)]
    return [placed(one, said, in_document=in_document) for one in rows]


def row_of(said: str) -> Row | None:
    """Return the row of the table that a clause without courtesies fits."""
    return next((pattern.row for pattern in _PATTERNS if pattern.finds(said)), None) or _by_ending(said)


def _rows(row: Row, said: str) -> list[Row]:
    """Return the row, and with it the change with which a Chinese clause goes on that begins with another request."""
    leads = row.group != "inspect" and cues.HAN.search(said) is not None
    if not leads or not any(one.row is row and one.leads(said) for one in _PATTERNS):
        return [row]
    others = (one for one in _PATTERNS if one.row.group == "organise" and one.row is not row)
    return [row, *(one.row for one in others if one.follows(said))][:2]


def _by_ending(said: str) -> Row | None:
    """Return the row by the verb behind the object; with two of them, one thing is asked for after the other."""
    rows = [pattern.row for pattern in _PATTERNS if pattern.ends(said)]
    changes = [row for row in rows if row.group == "organise"]
    return _UNKNOWN_ROW if len(changes) > 1 else next(iter(rows), None)


def _corrected(clause: str) -> str:
    first, blank, rest = clause.partition(" ")
    return correct(first, VERBS) + blank + rest


def _is_doubtful(said: str, *, first: bool) -> bool:
    """Say whether a clause that no row fits may change the meaning of the others."""
    if not said or said in MARKS or (first and cues.COMPLAINT.fullmatch(said)) or cues.TERMS.fullmatch(said):
        return False
    if (
        cues.ASKING.match(said)
        or cues.CONTROL.match(said)
        or cues.ASKED_IN_CHINESE.search(said)
        or (not first and (cues.OTHER_VERB.match(said) or cues.ALSO_WANTED.match(said)))
        or said.split(" ", 1)[0] in VERBS
        or (cues.CHINESE_VERB.search(said) and not cues.PURPOSE.match(said))
    ):
        return True
    short = len(said.split()) <= SHORT_WORDS if said.isascii() else len(said) <= SHORT_HAN
    return first and not short


def _looks(asks: list[Ask]) -> bool:
    """Say whether a question beside them only names the wanted fact: "search my files: how long is the lease?"."""
    return bool(asks) and all(ask.group == "look" for ask in asks)


def _contradict(asks: list[Ask]) -> bool:
    """Say whether the clauses do not go together: something unsure, one action twice, or looks of two specialists."""
    groups = {ask.group for ask in asks}
    if "other" in groups or not all(ask.sure or (ask.apart and len(groups) > 1) for ask in asks):
        return True
    twice = [ask.action for ask in asks if ask.action in ONCE]
    if len(asks) > 1 and len(twice) > len(set(twice)):
        return True
    if groups == {"look", "edit"}:
        return not any(ask.apart for ask in asks)
    return not groups & CHANGES and len({ask.agent for ask in asks}) > 1


def pattern_agent(intent: Intent) -> AgentName | None:
    """Return the specialist that the words name with high confidence; None if they leave it open."""
    if intent.doubtful or not intent.asks:
        return None
    agents: list[AgentName] = [ask.agent for ask in intent.asks]
    return DRIVE if DRIVE in agents else agents[0]
