"""Texts about a plan for the person, in both languages."""

import re
from collections.abc import Mapping, Sequence
from typing import Final

from graph.language import Language
from graph.state import Plan, Step, StepStatus, Turn

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
    "expired": {
        "en": "The step “{title}” was not done, because its approval expired before anyone answered.",
        "zh": "步骤“{title}”未执行，因为审批在答复之前已过期。",
    },
    "answered": {
        "en": "The step “{title}” was not done, because you answered something else.",
        "zh": "步骤“{title}”未执行，因为你给出了其他答复。",
    },
    "unclear": {
        "en": "The step “{title}” was not done, because the answer to its approval could not be used.",
        "zh": "步骤“{title}”未执行，因为无法使用对其审批的答复。",
    },
    "skipped": {"en": "Skipped, because they need it: {titles}.", "zh": "因依赖它而跳过：{titles}。"},
    "left": {"en": "Not done any more: {titles}.", "zh": "不再执行：{titles}。"},
    "done": {"en": "Done: {titles}.", "zh": "已完成：{titles}。"},
    "nothing_done": {"en": "No step was done.", "zh": "没有完成任何步骤。"},
    "report": {"en": "All {count} steps are done:", "zh": "{count} 个步骤均已完成："},
    "changes": {
        "en": "Changes in your drive: {count}. You can undo them.",
        "zh": "云盘中的更改：{count} 项，可以撤销。",
    },
    "waits": {"en": "“{title}” waits for your answer.", "zh": "“{title}”在等你回答。"},
    "later": {"en": "After it: {titles}.", "zh": "之后执行：{titles}。"},
    "stopped": {"en": "I stopped the plan, as you asked.", "zh": "已按你的要求停止计划。"},
    "revised": {"en": "The plan was changed after a failure. {why}", "zh": "有步骤失败，计划已调整。{why}"},
}
REPORTED_CHARACTERS: Final = 160
"""Limit of a step's result in the report; the step itself has said all of it."""
_ENDS: Final = re.compile(r"^\W+|\W+$")
_CODE: Final = re.compile(r"^[a-z_]+: ")
STATUSES: Final[Mapping[StepStatus, Mapping[Language, str]]] = {
    "failed": {"en": "failed", "zh": "失败了"},
    "skipped": {"en": "was not done", "zh": "没有执行"},
}


def needs(step: Step, language: Language) -> str:
    """Return why a step that needs this one is skipped."""
    return TEXTS["needs"][language].format(title=step["title"], status=STATUSES[step["status"]][language])


def closing(plan: Plan, turn: Turn) -> str:
    """Return the closing text of a plan: a report, or its failures and skipped steps; empty for a single step's."""
    steps, language = plan["steps"], turn["language"]
    if len(steps) > 1 and all(step["status"] == "completed" for step in steps):
        return report(steps, turn)
    lines = [_failure(step, language) for step in steps if step["status"] == "failed"]
    if plan.get("status") == "stopped":
        lines.append(TEXTS["stopped"][language])
    lines += _open_questions(steps, language)
    skipped = [step for step in steps if step["status"] == "skipped"]
    by_stop = [step for step in skipped if step["error"] in {None, TEXTS["limit"][language]}]
    by_need = [step for step in skipped if step not in by_stop and not step["attempts"]]
    if len(steps) > 1:
        lines += [_rejection(step, language) for step in skipped if step["attempts"] and step["error"]]
    if by_need:
        lines.append(TEXTS["skipped"][language].format(titles=_titles(by_need, language)))
    if by_stop:
        lines.append(TEXTS["left"][language].format(titles=_titles(by_stop, language)))
    return "\n".join([*lines, _completed(steps, language), *_changes(turn)]) if lines else ""


def report(steps: Sequence[Step], turn: Turn) -> str:
    """Return the report of a plan that succeeded: the result of each step, and how much was changed."""
    language = turn["language"]
    lines = [TEXTS["report"][language].format(count=len(steps))]
    lines += [f"{number}. {_outcome(step)}" for number, step in enumerate(steps, 1)]
    return "\n".join([*lines, *(["", *_changes(turn)] if turn["changes"] else [])])


def _changes(turn: Turn) -> list[str]:
    count = len(turn["changes"])
    return [TEXTS["changes"][turn["language"]].format(count=count)] if count else []


def _outcome(step: Step) -> str:
    first = (step["result"] or "").strip().partition("\n")[0].strip()
    said = first if len(first) <= REPORTED_CHARACTERS else f"{first[:REPORTED_CHARACTERS].rstrip()}…"
    return step["title"] if _is_said(said, step["title"]) else f"{step['title']}: {said}"


def _is_said(said: str, title: str) -> bool:
    """Say whether a step's result is empty, or its title but for signs around it and for capitals."""
    words, more = (_ENDS.sub("", text).casefold() for text in (said, title))
    return words in {"", more}


def _open_questions(steps: Sequence[Step], language: Language) -> list[str]:
    asking = [step for step in steps if step.get("question")]
    lines = [TEXTS["waits"][language].format(title=step["title"]) for step in asking]
    later = [step for step in steps if step["status"] == "pending" and step not in asking]
    return [*lines, TEXTS["later"][language].format(titles=_titles(later, language))] if asking and later else lines


def without_code(refusal: str) -> str:
    """Return a refusal of the drive without the code that it begins with, which is for programs."""
    return _CODE.sub("", refusal)


def revision(why: str, language: Language) -> str:
    """Return the sentence for a plan that goes on in another way."""
    return TEXTS["revised"][language].format(why=why).strip()


def _completed(steps: Sequence[Step], language: Language) -> str:
    done = [step for step in steps if step["status"] == "completed"]
    if not done:
        return TEXTS["nothing_done"][language]
    return TEXTS["done"][language].format(titles=_titles(done, language))


def _failure(step: Step, language: Language) -> str:
    return TEXTS["failed"][language].format(title=step["title"], error=without_code(step["error"] or ""))


def _rejection(step: Step, language: Language) -> str:
    return TEXTS[step.get("refusal", "rejected")][language].format(title=step["title"])


def _titles(steps: Sequence[Step], language: Language) -> str:
    quoted = [f"“{step['title']}”" for step in steps]
    return ("、" if language == "zh" else ", ").join(quoted)
