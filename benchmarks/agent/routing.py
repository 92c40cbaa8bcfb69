"""How often a message goes to the right specialist, and how often words alone say so.

    python -m benchmarks.agent.routing

Over the labelled utterances of `tests/graph/routing`: the 200 by which the patterns were written, their near misses,
practice in the classes that fool patterns (negation, reported speech, questions about doing, a second intent), and four
sets held out: 100 kept apart, 100 by somebody who had not seen the patterns, 144 of which half are of those classes,
and 192 written after the patterns had been mended for them. No model is asked: what no pattern routes, the score does,
as it does with a key alone.
Only figures are printed, no text: a pattern written for a text held out makes its score worthless.
"""

import argparse
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, get_args

from langchain_core.messages import HumanMessage

from benchmarks.fixtures.table import print_table
from graph.routing.route import by_pattern, by_score
from graph.settings import AgentSettings
from graph.state import Route, State
from tests.graph.routing.routing_afterwards import ROUTING_AFTERWARDS
from tests.graph.routing.routing_cases import Kind, RoutingCase
from tests.graph.routing.routing_classes import ROUTING_CLASSES
from tests.graph.routing.routing_heldout import ROUTING_HELDOUT
from tests.graph.routing.routing_near_misses import ROUTING_NEAR_MISSES
from tests.graph.routing.routing_practice import ROUTING_PRACTICE
from tests.graph.routing.routing_set import ROUTING_SET
from tests.graph.routing.routing_unseen import ROUTING_UNSEEN

LANGUAGES = ("en", "zh", "mixed")
SETS: Final[Mapping[str, Sequence[RoutingCase]]] = {
    "the set": ROUTING_SET,
    "near misses": ROUTING_NEAR_MISSES,
    "practice": ROUTING_PRACTICE,
    "kept apart": ROUTING_HELDOUT,
    "unseen": ROUTING_UNSEEN,
    "classes": ROUTING_CLASSES,
    "afterwards": ROUTING_AFTERWARDS,
}
HELD_OUT: Final = (*ROUTING_HELDOUT, *ROUTING_UNSEEN, *ROUTING_CLASSES, *ROUTING_AFTERWARDS)


@dataclass(frozen=True, slots=True)
class Score:
    """A number of cases, in how many of them something was decided, and in how many of these rightly."""

    cases: int
    fired: int
    right: int

    @property
    def precision(self) -> float:
        """The share of rights among those that fired; 1 if none did."""
        return self.right / self.fired if self.fired else 1.0

    @property
    def share(self) -> float:
        """The share of cases that are decided."""
        return self.fired / self.cases if self.cases else 0.0


def score(cases: Sequence[RoutingCase]) -> Score:
    """Let the patterns decide each case."""
    return _scored([_is_right(case) for case in cases])


def score_routes(cases: Sequence[RoutingCase]) -> Score:
    """Let patterns and the score decide who takes each case that has a specialist."""
    return _scored([case.is_for(_decided(case)["agent"]) for case in cases if case.agent])


def score_plans(cases: Sequence[RoutingCase]) -> Score:
    """Let patterns and the score decide whether each case needs a plan."""
    return _scored([_decided(case)["needs_plan"] == case.needs_plan for case in cases if case.agent])


def score_likeliest(cases: Sequence[RoutingCase]) -> Score:
    """Let the score decide each case that the patterns leave open; it fires where it is sure."""
    return _scored([_is_likely_right(case) for case in cases if case.agent and _is_right(case) is None])


def _scored(verdicts: Sequence[bool | None]) -> Score:
    fired = [verdict for verdict in verdicts if verdict is not None]
    return Score(len(verdicts), len(fired), sum(fired))


def _is_likely_right(case: RoutingCase) -> bool | None:
    """Return whether the score names the specialist; None where it is so unsure that the specialist may ask."""
    likely = by_score(_state(case), _threshold())
    return None if likely["confidence"] < _threshold() else case.is_for(likely["agent"])


def _is_right(case: RoutingCase) -> bool | None:
    """Return whether the patterns decided rightly; None if they said nothing."""
    route = by_pattern(_state(case))
    return case.accepts(route["agent"], needs_plan=route["needs_plan"]) if route else None


def _decided(case: RoutingCase) -> Route:
    state = _state(case)
    return by_pattern(state) or by_score(state, _threshold())


def _state(case: RoutingCase) -> State:
    return {"messages": [HumanMessage(case.text)], "place": {"file_id": "open"} if case.in_document else {}}


def _threshold() -> float:
    return AgentSettings().route_confidence


def _by_language(cases: Sequence[RoutingCase]) -> dict[str, list[RoutingCase]]:
    return {"all": list(cases), **{name: [case for case in cases if case.language == name] for name in LANGUAGES}}


def _by_kind(cases: Sequence[RoutingCase]) -> dict[str, list[RoutingCase]]:
    return {kind: [case for case in cases if case.kind == kind] for kind in get_args(Kind)}


HEADER: Final = ("", "cases", "routes", "plans", "fired", "wrong", "precision", "by words")


def _row(name: str, cases: Sequence[RoutingCase]) -> list[str]:
    fired = score(cases)
    decided = [f"{one(cases).precision:.3f}" for one in (score_routes, score_plans)]
    by_words = [str(fired.fired), str(fired.fired - fired.right), f"{fired.precision:.3f}", f"{fired.share:.0%}"]
    return [name, str(len(cases)), *decided, *by_words]


def _print_groups(title: str, groups: Mapping[str, Sequence[RoutingCase]]) -> None:
    print_table(title, HEADER, [_row(name, cases) for name, cases in groups.items()])


def _likely_row(name: str, cases: Sequence[RoutingCase]) -> list[str]:
    reached = score_likeliest(cases)
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
    for name, cases in SETS.items():
        _print_groups(f"Routing: {name}", _by_language(cases))
    _print_groups("Routing: classes and afterwards, one kind by one", _by_kind((*ROUTING_CLASSES, *ROUTING_AFTERWARDS)))
    _print_groups("Routing: all that is held out", _by_language(HELD_OUT))
    header = ["", "no pattern", "sure", "wrong", "precision", "share"]
    print_table("Routing by score what no pattern knows", header, [_likely_row(*one) for one in SETS.items()])
    print(f"\nOne decision: {_microseconds(ROUTING_SET, rounds):.0f} µs of CPU")


if __name__ == "__main__":
    main()
