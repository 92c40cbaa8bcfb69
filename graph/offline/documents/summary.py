"""Extractive summaries and answers: the sentences of a text that say most, in their order. Nothing is made up."""

import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from graph.offline.documents.sentences import Sentence
from graph.offline.understanding.language import has_han, terms

FEWEST, MOST = 3, 5
TOPIC_WEIGHT: Final = 3.0
SURE_ENOUGH: Final = 0.5
MOST_SENTENCES: Final = 2_000
_AMOUNT = re.compile(
    r"how (?:many|much|long|often|big|far|old|late|early|soon)|when|what (?:time|date|day|amount|price|number|"
    r"percentage)|deadline|几|多少|多久|多长|何时|什么时候|期限|哪天|多大",
    re.IGNORECASE,
)
_NUMBER = re.compile(
    r"\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|twelve|half|monday|tuesday|wednesday|thursday|"
    r"friday)\b|[一二三四五六七八九十百]",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Passage:
    """Sentences that answer a question. `fit` is how much of the question they speak of, 0 to 1."""

    sentences: tuple[Sentence, ...]
    fit: float

    @property
    def text(self) -> str:
        """The sentences as they stand."""
        between = "" if has_han(self.sentences[0].text) else " "
        return between.join(sentence.text for sentence in self.sentences)

    @property
    def first_line(self) -> int:
        """The line where it begins, from 1."""
        return self.sentences[0].line

    @property
    def last_line(self) -> int:
        """The line where it ends."""
        return self.sentences[-1].last_line


def key_sentences(sentences: Sequence[Sentence], topic: str = "") -> list[Sentence]:
    """Return the three to five sentences that say most of a text, or most about the topic, in the text's order."""
    considered = sentences[:MOST_SENTENCES]
    if len(considered) <= FEWEST:
        return list(considered)
    bags = [set(terms(f"{sentence.text}")) for sentence in considered]
    wanted = set(terms(topic))
    common = Counter(term for bag in bags for term in bag)
    scores = [
        _score(sentence, bag, wanted, common, len(considered)) for sentence, bag in zip(considered, bags, strict=True)
    ]
    count = max(FEWEST, min(MOST, len(considered) // 3))
    chosen = _without_repeats(sorted(range(len(considered)), key=lambda index: (-scores[index], index)), bags, count)
    on_topic = [
        index for index in chosen if wanted and (wanted & (bags[index] | set(terms(considered[index].heading))))
    ]
    return [considered[index] for index in sorted(on_topic or chosen)]


def _score(sentence: Sentence, bag: set[str], wanted: set[str], common: Counter[str], total: int) -> float:
    if not bag:
        return 0.0
    central = sum(math.log1p(common[term]) for term in bag) / (len(bag) + 4)
    heading = set(terms(sentence.heading))
    topical = TOPIC_WEIGHT * (len(wanted & bag) + 0.7 * len(wanted & heading)) / len(wanted) if wanted else 0.0
    titled = 0.3 if heading & bag else 0.0
    figures = 0.15 if _NUMBER.search(sentence.text) else 0.0
    early = 0.4 if sentence.start == 0 or sentence.paragraph <= 1 + total // 20 else 0.0
    return central + topical + titled + figures + early


def _without_repeats(ranked: Sequence[int], bags: Sequence[set[str]], count: int) -> list[int]:
    chosen: list[int] = []
    for index in ranked:
        repeats = any(_overlap(bags[index], bags[other]) > 0.7 for other in chosen)
        if not repeats:
            chosen.append(index)
        if len(chosen) == count:
            break
    return chosen


def _overlap(left: set[str], right: set[str]) -> float:
    return len(left & right) / max(1, min(len(left), len(right)))


def best_passage(sentences: Sequence[Sentence], question: str) -> Passage | None:
    """Return the sentence that fits a question best, with its neighbour where it goes on; None if none fits."""
    wanted = set(terms(question))
    considered = sentences[:MOST_SENTENCES]
    if not wanted or not considered:
        return None
    bags = [set(terms(sentence.text)) for sentence in considered]
    rarity = _rarity(wanted, bags)
    amount = _AMOUNT.search(question) is not None
    scored = [_fit(sentence, bag, rarity, amount=amount) for sentence, bag in zip(considered, bags, strict=True)]
    best = max(range(len(considered)), key=lambda index: (scored[index], -index))
    if scored[best] <= 0:
        return None
    whole = sum(rarity.values())
    said = bags[best] | set(terms(considered[best].heading))
    fit = sum(weight for term, weight in rarity.items() if term in said) / whole
    return Passage(_with_neighbour(considered, bags, wanted, best), fit)


def _rarity(wanted: set[str], bags: Sequence[set[str]]) -> dict[str, float]:
    return {term: 1.0 + math.log((len(bags) + 1) / (1 + sum(term in bag for bag in bags))) for term in sorted(wanted)}


def _fit(sentence: Sentence, bag: set[str], rarity: dict[str, float], *, amount: bool) -> float:
    heading = set(terms(sentence.heading))
    own = sum(weight for term, weight in rarity.items() if term in bag)
    above = sum(weight for term, weight in rarity.items() if term in heading and term not in bag)
    score = own + 0.5 * above
    if score and amount and _NUMBER.search(sentence.text):
        score += 1.0
    return score


def _with_neighbour(
    sentences: Sequence[Sentence], bags: Sequence[set[str]], wanted: set[str], best: int
) -> tuple[Sentence, ...]:
    following = best + 1
    goes_on = (
        following < len(sentences)
        and sentences[following].paragraph == sentences[best].paragraph
        and (bags[following] & wanted or len(sentences[best].text) < 60)
    )
    return (sentences[best], sentences[following]) if goes_on else (sentences[best],)
