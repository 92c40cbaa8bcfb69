"""How often words alone decide who takes a message, and how often rightly: `python -m benchmarks.routing`.

Over the labelled utterances of `tests/graph/nodes`: the 200 by which the patterns were written, their near misses, 100
kept apart, and 100 unseen, by somebody who had not seen the patterns.
Only figures are printed, no text: a pattern written for a text of the last two makes their score worthless.
"""

import argparse
import time
from collections.abc import Sequence
from dataclasses import dataclass

from benchmarks.fixtures.table import print_table
from graph.routing.intents import pattern_agent, read_intent
from graph.routing.likely import likeliest
from graph.settings import AgentSettings
from tests.graph.routing.routing_cases import RoutingCase
from tests.graph.routing.routing_heldout import ROUTING_HELDOUT
from tests.graph.routing.routing_near_misses import ROUTING_NEAR_MISSES
from tests.graph.routing.routing_set import ROUTING_SET
from tests.graph.routing.routing_unseen import ROUTING_UNSEEN

LANGUAGES = ("en", "zh", "mixed")


@dataclass(frozen=True, slots=True)
class Score:
    """Of so many cases, in how many a pattern fired, and in how many of these it was right."""

    cases: int
    fired: int
    right: int

    @property
    def precision(self) -> float:
        """The share of rights among those that fired; 1 if none did."""
        return self.right / self.fired if self.fired else 1.0

    @property
    def share(self) -> float:
        """The share of cases that need no model call."""
        return self.fired / self.cases if self.cases else 0.0


def score(cases: Sequence[RoutingCase]) -> Score:
    """Let the patterns decide each case."""
    verdicts = [verdict for case in cases if (verdict := _is_right(case)) is not None]
    return Score(len(cases), len(verdicts), sum(verdicts))


def score_likeliest(cases: Sequence[RoutingCase]) -> Score:
    """Let the score decide each case that the patterns leave open; it fires where it is sure."""
    left = [case for case in cases if case.agent is not None and _is_right(case) is None]
    verdicts = [verdict for case in left if (verdict := _is_likely_right(case)) is not None]
    return Score(len(left), len(verdicts), sum(verdicts))


def _is_likely_right(case: RoutingCase) -> bool | None:
    """Return whether the score names the specialist; None where it is so unsure that the specialist may ask."""
    intent = read_intent(case.text, in_document=case.in_document)
    likely = likeliest(case.text, intent, in_document=case.in_document)
    return None if likely.confidence < AgentSettings().route_confidence else likely.agent in (case.agent, *case.also)


def _is_right(case: RoutingCase) -> bool | None:
    """Return whether the patterns decided rightly; None if they said nothing."""
    intent = read_intent(case.text, in_document=case.in_document)
    agent = pattern_agent(intent)
    return None if agent is None else case.accepts(agent, needs_plan=intent.several)


def _rows(cases: Sequence[RoutingCase]) -> list[list[str]]:
    groups = {"all": cases, **{name: [case for case in cases if case.language == name] for name in LANGUAGES}}
    return [_row(name, score(group)) for name, group in groups.items()]


def _row(name: str, reached: Score) -> list[str]:
    counts = [str(reached.cases), str(reached.fired), str(reached.fired - reached.right)]
    return [name, *counts, f"{reached.precision:.3f}", f"{reached.share:.0%}"]


def _microseconds(cases: Sequence[RoutingCase], rounds: int) -> float:
    """Return the CPU time of one decision."""
    begun = time.process_time()
    for _ in range(rounds):
        score(cases)
    return (time.process_time() - begun) / (rounds * len(cases)) * 1_000_000


def main() -> None:
    """Print the tables and the time of a decision."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=20)
    rounds = parser.parse_args().rounds
    header = ["language", "cases", "fired", "wrong", "precision", "without a model"]
    print_table("Routing by words: the set", header, _rows(ROUTING_SET))
    print_table("Routing by words: near misses", header, _rows(ROUTING_NEAR_MISSES))
    print_table("Routing by words: kept apart", header, _rows(ROUTING_HELDOUT))
    print_table("Routing by words: unseen", header, _rows(ROUTING_UNSEEN))
    scored = {"kept apart": ROUTING_HELDOUT, "unseen": ROUTING_UNSEEN}
    scored = {"the set": ROUTING_SET, "near misses": ROUTING_NEAR_MISSES, **scored}
    rows = [_row(name, score_likeliest(cases)) for name, cases in scored.items()]
    header = ["", "no pattern", "sure", "wrong", "precision", "share"]
    print_table("Routing by score what no pattern knows", header, rows)
    print(f"\nOne decision: {_microseconds(ROUTING_SET, rounds):.0f} µs of CPU")


if __name__ == "__main__":
    main()
