"""A labelled utterance of the router's test sets: its specialist, and whether its words alone decide.

Labels follow `graph/routing/route.md` and the specialists' tools: only `document_agent` can restore a version, only
`drive_agent` undoes, creates and answers who has access. A plan is several actions of which one changes something.
"""

from dataclasses import dataclass
from typing import Final, Literal

from graph.state import AgentName

DOCUMENT: Final = "document_agent"
DRIVE: Final = "drive_agent"
SEARCH: Final = "search_agent"

Kind = Literal["everyday", "negation", "reported", "about", "second"]
"""`about`: how something is done, or whether it should be. `second`: two things in one message, of two agents."""


@dataclass(frozen=True, slots=True)
class RoutingCase:
    """One utterance and its label.

    `agent` is None where only the conversation before can decide: no pattern may fire. `also` holds agents that are as
    right; in a plan, those that take another of its steps. `clear` is False where words alone need not decide: staying
    silent is right, and firing is right only with the label. With `silent` the words only speak of a request, so that
    no pattern may fire, whoever it names; `kind` is the class of such sentences. `mixed` is a Chinese sentence or name
    with English words.
    """

    text: str
    agent: AgentName | None
    language: Literal["en", "zh", "mixed"]
    in_document: bool = False
    needs_plan: bool = False
    also: tuple[AgentName, ...] = ()
    clear: bool = True
    silent: bool = False
    kind: Kind = "everyday"

    def __post_init__(self) -> None:
        if self.agent is None and (self.clear or self.needs_plan or self.also):
            raise ValueError(f"without an agent nothing else is known: {self.text}")

    def accepts(self, agent: AgentName, *, needs_plan: bool) -> bool:
        """Return whether this decision, made by words alone, is right."""
        return not self.silent and self.is_for(agent) and needs_plan == self.needs_plan

    def is_for(self, agent: AgentName) -> bool:
        """Return whether the agent may take it, however that was decided."""
        return agent in (self.agent, *self.also)
