"""A message of several requests as steps: the answers to `TaskPlan` and `RevisedPlan`."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from graph.offline.reading.conversation import Conversation
from graph.offline.routing import agent_for, decide, language_of
from graph.offline.scripts.finding import folder_of
from graph.offline.understanding.intent import Intent
from graph.offline.understanding.requests import understand
from graph.routing.many_files import of_each
from graph.state import Language

MOST_STEPS: Final = 8
MAKES: Final = frozenset({"create_folder", "create_file", "save", "rename"})
WHY: Final[Mapping[Language, str]] = {
    "en": "The offline model knows no other way, so it goes on with what does not need that step.",
    "zh": "离线模型没有别的办法，只继续不依赖该步骤的部分。",
}


def plan(conversation: Conversation) -> dict[str, Any]:
    """Return the arguments of `TaskPlan`: one step for each request, in the person's words and order."""
    asked = conversation.asked
    each = of_each(asked)
    if each is not None:
        step = _step("1", asked, "search_agent", asked)
        return {"steps": [{**step, "kind": "map", "folder": folder_of(each).text}]}
    intents = understand(asked, file_open=conversation.sections.file is not None)[:MOST_STEPS]
    steps: list[dict[str, Any]] = []
    for number, intent in enumerate(intents, 1):
        said = intent.said[:1].upper() + intent.said[1:]
        needs = _needed(intents[: number - 1], intent)
        steps.append({**_step(str(number), said, agent_for(intent), said), "depends_on": needs})
    return {"steps": steps or [_step("1", asked, decide(conversation)["agent"], asked)]}


def _step(key: str, title: str, agent: str, instruction: str) -> dict[str, Any]:
    return {"id": key, "title": " ".join(title.split())[:60] or "…", "agent": agent, "instruction": instruction or "…"}


def _needed(earlier: Sequence[Intent], intent: Intent) -> list[str]:
    """Return the ids of the earlier steps that make something that this one names or points to."""
    refs = [ref for ref in (intent.target, intent.destination) if ref]
    points = any(ref.is_pronoun or ref.form == "summary" for ref in refs)
    points = points or (intent.target is None and intent.action not in MAKES)
    makers = [(str(at), one.names) for at, one in enumerate(earlier, 1) if one.action in MAKES]
    named = [at for at, names in makers if any(name and name in intent.said for name in names)]
    return named or ([str(len(earlier))] if points and earlier else [])


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
