"""Texts about a plan for the person, in both languages."""

import re
from collections.abc import Mapping, Sequence
from typing import Final

from graph.state import Language, Plan, Step, StepStatus

TEXTS: Final[Mapping[str, Mapping[Language, str]]] = {
    "limit": {"en": "The turn came to one of its limits.", "zh": "本轮已达到上限。"},
    "needs": {
        "en": "Skipped, because it needs “{title}”, which {status}.",
        "zh": "已跳过：它依赖的“{title}”{status}。",
    },
    "failed": {"en": "The step “{title}” failed: {error}", "zh": "步骤“{title}”失败：{error}"},
    "rejected": {
        "en": "The step “{title}” was not done, because you rejected it.",
        "zh": "步骤“{title}”未执行，因为你拒绝了它。",
    },
    "skipped": {"en": "Skipped, because they need it: {titles}.", "zh": "因依赖它而跳过：{titles}。"},
    "left": {"en": "Not done any more: {titles}.", "zh": "不再执行：{titles}。"},
    "done": {"en": "Done: {titles}.", "zh": "已完成：{titles}。"},
    "nothing_done": {"en": "No step was done.", "zh": "没有完成任何步骤。"},
    "stopped": {"en": "I stopped the plan, as you asked.", "zh": "已按你的要求停止计划。"},
    "revised": {"en": "The plan was changed after a failure. {why}", "zh": "有步骤失败，计划已调整。{why}"},
}
_CODE: Final = re.compile(r"^[a-z_]+: ")
STATUSES: Final[Mapping[StepStatus, Mapping[Language, str]]] = {
    "failed": {"en": "failed", "zh": "失败了"},
    "skipped": {"en": "was not done", "zh": "没有执行"},
}


def needs(step: Step, language: Language) -> str:
    """Return why a step that needs this one is skipped."""
    return TEXTS["needs"][language].format(title=step["title"], status=STATUSES[step["status"]][language])


def closing(plan: Plan, language: Language) -> str:
    """Return the closing text of a plan that did not go as planned; empty if all of it was done."""
    steps = plan["steps"]
    lines = [_failure(step, language) for step in steps if step["status"] == "failed"]
    if plan.get("status") == "stopped":
        lines.append(TEXTS["stopped"][language])
    skipped = [step for step in steps if step["status"] == "skipped"]
    by_stop = [step for step in skipped if step["error"] in {None, TEXTS["limit"][language]}]
    by_need = [step for step in skipped if step not in by_stop and not step["attempts"]]
    if by_need:
        lines += [_rejection(step, language) for step in skipped if step["attempts"] and step["error"]]
        lines.append(TEXTS["skipped"][language].format(titles=_titles(by_need, language)))
    if by_stop:
        lines.append(TEXTS["left"][language].format(titles=_titles(by_stop, language)))
    return "\n".join([*lines, _what_was_done(steps, language)]) if lines else ""


def without_code(refusal: str) -> str:
    """Return a refusal of the drive without the code that it begins with, which is for programs."""
    return _CODE.sub("", refusal)


def revision(why: str, language: Language) -> str:
    """Return what is told when a plan goes on in another way."""
    return TEXTS["revised"][language].format(why=why).strip()


def _what_was_done(steps: Sequence[Step], language: Language) -> str:
    done = [step for step in steps if step["status"] == "completed"]
    if not done:
        return TEXTS["nothing_done"][language]
    return TEXTS["done"][language].format(titles=_titles(done, language))


def _failure(step: Step, language: Language) -> str:
    return TEXTS["failed"][language].format(title=step["title"], error=without_code(step["error"] or ""))


def _rejection(step: Step, language: Language) -> str:
    return TEXTS["rejected"][language].format(title=step["title"])


def _titles(steps: Sequence[Step], language: Language) -> str:
    quoted = [f"“{step['title']}”" for step in steps]
    return ("、" if language == "zh" else ", ").join(quoted)
