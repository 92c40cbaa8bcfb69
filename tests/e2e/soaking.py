"""Stories of a service that is killed again and again: rounds of work, brought to their end however often it dies.

`make soak` kills it 200 times; SOAK_KILLS is the number, SOAK_SEED another series.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final, Protocol

import httpx
import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.e2e.killed import Victim
    from tests.e2e.person import Person

SEED: Final = os.environ.get("SOAK_SEED", "soak")
SECONDS_A_KILL: Final = 30
SOAKS: Final = "SOAK_KILLS" in os.environ
AT_NIGHT: Final = pytest.mark.skipif(not SOAKS, reason="takes long, and differs little from another test: make soak")


def kills(default: int) -> int:
    """Return how often to kill."""
    return int(os.environ.get("SOAK_KILLS", str(default)))


class Round(Protocol):
    """A round of work. Both raise `httpx.TransportError` when the service is killed, and may then be tried again."""

    def go_on(self, person: Person) -> None:
        """Do the work that is left."""
        ...

    def check(self, person: Person) -> None:
        """Compare what is there with what should be."""
        ...


class Soak:
    """One round after the other, however often the service dies meanwhile."""

    def __init__(self, begin: Callable[[int], Round]) -> None:
        self._begin = begin
        self._current: Round | None = None
        self.rounds = 0

    def serve(self, victim: Victim, place: int) -> None:
        """Work on the service until it dies at the place, and kill it at the latest then; 0: it must not die."""
        try:
            if victim.url:
                person = victim.person()
                with person.http:
                    self._finish(person)
                    self.rounds += 1
                    self._current = self._begin(self.rounds)
                    self._finish(person)
        except httpx.TransportError:
            assert place, "it ended by itself"
        finally:
            victim.kill()

    def _finish(self, person: Person) -> None:
        if self._current:
            self._current.go_on(person)
            self._current.check(person)
            self._current = None
