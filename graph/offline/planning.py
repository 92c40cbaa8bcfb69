"""A message of several requests as steps: the answers to `TaskPlan` and `RevisedPlan`."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from graph.offline.reading.conversation import Conversation
from graph.offline.routing import decide, language_of
from graph.offline.understanding.intents import Intent, agent_for
from graph.offline.understanding.references import CURRENT_FOLDER
from graph.offline.understanding.rendering import instruction, title
from graph.offline.understanding.requests import understand
from graph.routing.many_files import of_each
from graph.state import Language

MOST_STEPS: Final = 8
MAKES: Final = frozenset({"create_folder", "create_file", "save_summary"})
"""What makes something that a later step may name."""
RENAMES: Final = frozenset({"rename"})
_NAMED: Final = re.compile(r"[“「\"']([^”」\"']{1,200})[”」\"']|`([^`]{1,200})`")
WHY: Final[Mapping[Language, str]] = {
    "en": "The offline model knows no other way, so it goes on with what does not need that step.",
    "zh": "离线模型没有别的办法，只继续不依赖该步骤的部分。",
}


def plan(conversation: Conversation) -> dict[str, Any]:
    """Return the arguments of `TaskPlan`: one step for each request, in order. What is not understood is one step."""
    language = language_of(conversation)
    if (folder := _folder_of_each(conversation.asked)) is not None:
        return {"steps": [_map(conversation.asked, folder)]}
    intents = understand(conversation.asked, file_open=conversation.sections.file is not None)[:MOST_STEPS]
    steps: list[dict[str, Any]] = [
        {
            "id": str(number),
            "title": title(intent, language),
            "agent": agent_for(intent),
            "instruction": instruction(intent, language),
        }
        for number, intent in enumerate(intents, 1)
    ]
    for number, step in enumerate(steps):
        step["depends_on"] = _needed(steps[:number], intents[:number], str(step["instruction"]))
    asked = conversation.asked
    whole = {
        "title": " ".join(asked.split())[:60] or "…",
        "agent": decide(conversation)["agent"],
        "instruction": asked or "…",
    }
    return {"steps": steps or [whole]}


def revise(conversation: Conversation) -> dict[str, Any]:
    """Return the arguments of `RevisedPlan`: what is left and needs no step that did not succeed."""
    steps = conversation.sections.plan_so_far
    lost = {str(step["id"]) for step in steps if step.get("status") in {"failed", "skipped"}}
    left: list[dict[str, Any]] = []
    for step in steps:
        if step.get("status") != "pending":
            continue
        needed = [str(key) for key in step.get("depends_on", [])]
        if lost & set(needed):
            lost.add(str(step["id"]))
        else:
            kept = ("title", "agent", "instruction", "kind", "folder")
            left.append({"id": f"n{step['id']}", **{key: step[key] for key in kept if step.get(key)}, "needs": needed})
    ids = {str(one["id"]).removeprefix("n") for one in left}
    for one in left:
        one["depends_on"] = [f"n{key}" if key in ids else key for key in one.pop("needs")]
    return {"why": WHY[language_of(conversation)], "steps": left}


def _folder_of_each(asked: str) -> str | None:
    """Return the folder of which each file and then the whole is asked about, empty for the current one; else None."""
    each = of_each(asked)
    intents = understand(each, file_open=False) if each else ()
    if each is None or not intents or intents[0].kind != "map_files":
        return None if each is None else ""
    target = intents[0].target
    return "" if target is None or target == CURRENT_FOLDER else target.text


def _map(asked: str, folder: str) -> dict[str, Any]:
    shown = " ".join(asked.split())[:60] or "…"
    return {
        "id": "1",
        "title": shown,
        "agent": "search_agent",
        "instruction": asked,
        "kind": "map",
        "folder": folder,
    }


def _needed(earlier: Sequence[Mapping[str, Any]], intents: Sequence[Intent], said: str) -> list[str]:
    """Return the ids of the earlier steps that make, or rename, something that this one names."""
    found: list[str] = []
    for step, intent in zip(earlier, intents, strict=True):
        names = [first or second for first, second in _NAMED.findall(str(step["instruction"]))]
        made = names[:1] if intent.kind in MAKES else names[-1:] if intent.kind in RENAMES else []
        if any(name in said for name in made):
            found.append(str(step["id"]))
    return found
