"""Extractive summaries and answers: the sentences of a text that say most, in their order. Nothing is made up."""

import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from graph.offline.documents.sentences import Sentence
from graph.offline.understanding.terms import has_han, respelt, terms

FEWEST, MOST = 3, 6
TOPIC_WEIGHT: Final = 3.0
SURE_ENOUGH: Final = 0.55
OWN_ENOUGH: Final = 0.5
IN_CONTEXT: Final = 1.0
ABSENT: Final = 0.75
ACROSS: Final = 0.3
MOST_SENTENCES: Final = 2_000
MOST_QUOTED: Final = 3
_NUMBER: Final = re.compile(
    r"\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|twelve|half|monday|tuesday|wednesday|thursday|"
    r"friday)\b|[一二三四五六七八九十百]",
    re.IGNORECASE,
)
_DATE: Final = re.compile(
    r"\b(?:19|20)\d\d\b|\b(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|june?|july?|aug(?:ust)?|sept?(?:ember)?"
    r"|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\b|\bmay \d|\d may\b|\b(?:mon|tues|wednes|thurs|fri|satur|sun)day\b"
    r"|\d{1,2}[:.]\d\d\b|\b(?:noon|midnight|o'clock)\b|\d\s?[年月日号点]|[一二三四五六七八九十][月日点]|周[一二三四五六日]",
    re.IGNORECASE,
)
_ASKS_DATE: Final = r"\bwhen\b|\bwhat (?:time|date|day)\b|\bdeadline\b|何时|什么时候|哪[天年月]|几[号月点]|到期"
_ASKS_NUMBER: Final = (
    r"\bhow (?:many|much|long|often|big|far|old|late|early|soon)\b|\bwhat (?:amount|price|number|percentage)\b"
    r"|几(?!乎)|多少|多久|多长|期限|多大|多高"
)
_KINDS: Final = tuple(
    (re.compile(asks, re.IGNORECASE), kind) for asks, kind in ((_ASKS_DATE, _DATE), (_ASKS_NUMBER, _NUMBER))
)
"""What an answer has to have in it, by how the question asks."""
SEVERAL: Final = re.compile(r"\band\b|,|，|、|和|与|以及|分别", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Passage:
    """Sentences that answer a question. `fit` is how much of the question they and the file's name speak of, 0 to 1."""

    sentences: tuple[Sentence, ...]
    fit: float
    own: float = 1.0

    @property
    def is_sure(self) -> bool:
        """Whether they speak of enough of the question to be called an answer."""
        return self.fit >= SURE_ENOUGH and self.own >= OWN_ENOUGH


def key_sentences(sentences: Sequence[Sentence], topic: str = "") -> list[Sentence]:
    """Return the sentences that say most of a text or of a topic in it, in order: three to six, of each section one."""
    considered = sentences[:MOST_SENTENCES]
    if len(considered) <= FEWEST:
        return list(considered)
    bags = [set(terms(sentence.text)) for sentence in considered]
    wanted = set(terms(topic))
    common = Counter(term for bag in bags for term in bag)
    scores = [_score(*pair, wanted, common, len(considered)) for pair in zip(considered, bags, strict=True)]
    ranked = sorted(range(len(considered)), key=lambda index: (-scores[index], index))
    sections: dict[str, int] = {}
    for index in ranked if not wanted else ():
        sections.setdefault(considered[index].heading, index)
    firsts = list(sections.values()) if len(sections) <= MOST else []
    count = max(FEWEST, min(MOST, max(len(considered) // 3, len(firsts))))
    chosen = list(dict.fromkeys([*firsts, *ranked]))[:count]
    on_topic = [at for at in chosen if wanted & (bags[at] | set(terms(considered[at].heading)))]
    return [considered[at] for at in sorted(on_topic or chosen)]


def _score(sentence: Sentence, bag: set[str], wanted: set[str], common: Counter[str], total: int) -> float:
    heading = set(terms(sentence.heading))
    central = sum(math.log1p(common[term]) for term in bag) / (len(bag) + 4)
    topical = TOPIC_WEIGHT * (len(wanted & bag) + 0.7 * len(wanted & heading)) / len(wanted) if wanted else 0.0
    return central + topical + (0.4 if sentence.paragraph <= 1 + total // 20 else 0.0)


def best_passage(sentences: Sequence[Sentence], question: str, context: str = "") -> Passage | None:
    """Return the sentence that speaks of most of a question, with others where it asks for several things."""
    considered = sentences[:MOST_SENTENCES]
    bags = [set(terms(sentence.text)) for sentence in considered]
    above = set(terms(context))
    wanted = respelt(terms(question), set[str]().union(above, *bags))
    if not wanted or not considered:
        return None
    rarity = _rarity(wanted, bags, above | set[str]().union(*(terms(one.heading) for one in considered)))
    kind = next((kind for asks, kind in _KINDS if asks.search(question)), None)
    typed = [kind is None or kind.search(sentence.text) is not None for sentence in considered]
    scored = [
        _fit(sentence, bag, rarity, above) + fits for sentence, bag, fits in zip(considered, bags, typed, strict=True)
    ]
    best = max(range(len(considered)), key=lambda index: (scored[index], -index))
    if scored[best] <= typed[best] and not (kind and typed[best] and wanted & above):
        return None
    chosen = _covering(considered, bags, rarity, above, best, several=SEVERAL.search(question) is not None)
    said = set[str]().union(*(bags[at] | set(terms(considered[at].heading)) for at in chosen))
    whole = sum(rarity.values())
    fit = (
        sum(weight * (1 if one in said else IN_CONTEXT) for one, weight in rarity.items() if one in said | above)
        / whole
    )
    rest = sum(weight for one, weight in rarity.items() if one not in above)
    own = sum(weight for one, weight in rarity.items() if one in said - above) / rest if rest else 1.0
    return Passage(tuple(considered[at] for at in sorted(chosen)), fit, own if typed[best] else 0.0)


def _rarity(wanted: set[str], bags: Sequence[set[str]], elsewhere: set[str]) -> dict[str, float]:
    """Return how much each term tells: the rarer, the more. Pairs of characters across two words tell nothing."""
    counts = {one: sum(one in bag for bag in bags) for one in wanted}
    present = {one for one, count in counts.items() if count} | (wanted & elsewhere)
    absent = ABSENT * (1.0 + math.log(len(bags) + 1))
    found: dict[str, float] = {}
    for one, count in sorted(counts.items()):
        across = (
            has_han(one) and one not in present and any(other[-1] == one[0] or other[0] == one[-1] for other in present)
        )
        found[one] = ACROSS if across else 1.0 + math.log((len(bags) + 1) / (1 + count)) if one in present else absent
    return found


def _fit(sentence: Sentence, bag: set[str], rarity: dict[str, float], above: set[str]) -> float:
    heading = set(terms(sentence.heading)) - above
    return sum(weight * (1 if term in bag else 0.5) for term, weight in rarity.items() if term in bag | heading)


def _covering(
    sentences: Sequence[Sentence],
    bags: Sequence[set[str]],
    rarity: dict[str, float],
    above: set[str],
    best: int,
    *,
    several: bool,
) -> list[int]:
    """Return the best sentence; those under the same heading if that was asked for, or those for what is missing."""
    chosen, missing = [best], set(rarity) - bags[best]
    if (set(terms(sentences[best].heading)) - above) & missing:
        same = [at for at, one in enumerate(sentences) if one.heading == sentences[best].heading and at > best]
        return [best, *same[: MOST_QUOTED - 1]] if not bags[best] & set(rarity) else chosen
    while several and missing and len(chosen) < MOST_QUOTED:
        other = max(range(len(bags)), key=lambda at: (len(bags[at] & missing), -at))
        if not bags[other] & missing:
            break
        chosen.append(other)
        missing -= bags[other]
    return chosen
