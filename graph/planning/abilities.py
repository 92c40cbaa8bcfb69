"""The table of abilities that specialists lack, and the words of a step that ask for them, in English and Chinese.

The words are read by the router's patterns, which recognise quotations, names and prohibitions. Doubtful cases are let
through: the specialist has no tool for it anyway.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from graph.planning.shape import PlannedStep
from graph.routing.intents import read_intent
from graph.state import AgentName

ORGANISE: Final = frozenset(
    {"create_folder", "create_file", "copy", "move", "rename", "delete", "restore", "share", "compile"}
)
EDIT: Final = frozenset({"edit"})


@dataclass(frozen=True, slots=True)
class Limit:
    """`actions` of the router's table that the specialist never does, who does them, and words that make it fine."""

    actions: frozenset[str]
    who: str
    fine: re.Pattern[str] | None = None


CANNOT: Final[Mapping[AgentName, Sequence[Limit]]] = {
    # It brings back earlier versions of a document, which is a change of its text.
    "document_agent": (Limit(ORGANISE, "drive_agent", re.compile(r"\bversions?\b|版本", re.IGNORECASE)),),
    "drive_agent": (Limit(EDIT, "document_agent"),),
    "search_agent": (Limit(ORGANISE, "drive_agent"), Limit(EDIT, "document_agent")),
}

DICTATED: Final = re.compile(r"[:：].*", re.DOTALL)
"""A colon and the text to write after it, which asks for nothing."""
CREATES_A_FILE: Final = re.compile(
    r"\b(?:create|make|write|save)\b.{0,24}\b(?:file|document)\b|(?:新建|创建).{0,8}(?:文件(?!夹)|文档)",
    re.IGNORECASE,
)


def problems_of_abilities(steps: Sequence[PlannedStep], *, in_document: bool) -> list[str]:
    """Return the steps that their specialists can't carry out, each with the reason.

    In the open document no step creates a file either.
    """
    found = [problem for step in steps if (problem := cannot(step.agent, step.instruction, in_document=in_document))]
    if in_document:
        found += [
            f"in the open document no step may create a file: {step.title}"
            for step in steps
            if step.agent != "search_agent" and CREATES_A_FILE.search(step.instruction)
        ]
    return found


def cannot(agent: AgentName, instruction: str, *, in_document: bool) -> str | None:
    """Return the reason why the specialist can't carry out the instruction, None if it can."""
    said = DICTATED.sub("", instruction)
    asked = {ask.action for ask in read_intent(said, in_document=in_document).asks if ask.sure}
    for limit in CANNOT[agent]:
        wrong = sorted(asked & limit.actions)
        if wrong and not (limit.fine and limit.fine.search(instruction)):
            return f"{agent} can't do this ({wrong[0].replace('_', ' ')}), {limit.who} can: {instruction[:200]}"
    return None
