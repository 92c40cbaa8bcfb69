"""Choose the facts for a model: facts that share words with the request first, short ones before long ones."""

import re
from collections.abc import Sequence
from typing import Final

from graph.memory.facts import Fact
from graph.messages.tokens import tokens_of
from graph.prompts import json_section

FACT_TOKENS: Final = 800
_WORD: Final = re.compile(r"[^\W_\u3400-\u9fff]{2,}|[\u3400-\u9fff]+")
_COMMON: Final = frozenset({"the", "my", "is", "are", "of", "to", "in", "and", "for", "it", "me", "that", "with", "on"})


def facts_section(facts: Sequence[Fact], request: str, budget: int = FACT_TOKENS) -> str:
    """Return the facts that fit in `budget` tokens as a section for the system message; empty without any."""
    told: list[dict[str, str]] = []
    for fact in by_relevance(facts, request):
        entry = {"id": fact["id"], "fact": fact["text"], "from": fact["source"].get("name", "the person")}
        budget -= tokens_of(str(entry))
        if budget < 0:
            break
        told.append(entry)
    return json_section("memories", told) if told else ""


def by_relevance(facts: Sequence[Fact], request: str) -> list[Fact]:
    """Return the facts by how many words they share with the request; then the short, then the new ones."""
    wanted = words_of(request)
    newest = sorted(facts, key=lambda fact: fact["updated_at"], reverse=True)
    return sorted(newest, key=lambda fact: (-len(words_of(fact["text"]) & wanted), len(fact["text"]) // 80))


def words_of(text: str) -> set[str]:
    """Return the words of a text; of Chinese, its pairs of characters."""
    found: set[str] = set()
    for run in _WORD.findall(text.casefold()):
        if "\u3400" <= run[0] <= "\u9fff":
            found |= {run[index : index + 2] for index in range(max(1, len(run) - 1))}
        elif run not in _COMMON:
            found.add(run)
    return found
