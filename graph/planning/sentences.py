"""Sentences about a plan, for the person."""

import re
from collections.abc import Sequence
from typing import Final

from drive_server.kernel.texts import Texts
from graph.language import Language, join_names
from graph.state import Plan, Step, Turn

TEXTS: Final = Texts.beside(__file__)
REPORTED_CHARACTERS: Final = 160
"""Limit of a step's result in the report; the step itself has said all of it."""
_ENDS: Final = re.compile(r"^\W+|\W+$")
_CODE: Final = re.compile(r"^[a-z_]+: ")


def needs(step: Step, language: Language) -> str:
    """Return why a step that needs this one is skipped."""
    status = TEXTS.say(f"status.{step['status']}", language)
    return TEXTS.say("plan.needs", language, title=step["title"], status=status)


def closing(plan: Plan, turn: Turn) -> str:
    """Return the closing text of a plan: a report, or its failures and skipped steps; empty for a single step's."""
    steps, language = plan["steps"], turn["language"]
    if len(steps) > 1 and all(step["status"] == "completed" for step in steps):
        return report(steps, turn)
    lines = [_failure(step, language) for step in steps if step["status"] == "failed"]
    if plan.get("status") == "stopped":
        lines.append(TEXTS.say("plan.stopped", language))
    lines += _open_questions(steps, language)
    skipped = [step for step in steps if step["status"] == "skipped"]
    by_stop = [step for step in skipped if step["error"] in {None, TEXTS.say("plan.limit", language)}]
    by_need = [step for step in skipped if step not in by_stop and not step["attempts"]]
    if len(steps) > 1:
        lines += [_rejection(step, language) for step in skipped if step["attempts"] and step["error"]]
    if by_need:
        lines.append(TEXTS.say("plan.skipped", language, titles=_titles(by_need, language)))
    if by_stop:
        lines.append(TEXTS.say("plan.left", language, titles=_titles(by_stop, language)))
    return "\n".join([*lines, _completed(steps, language), *_changes(turn)]) if lines else ""


def report(steps: Sequence[Step], turn: Turn) -> str:
    """Return the report of a plan that succeeded: the result of each step, and how much was changed."""
    language = turn["language"]
    lines = [TEXTS.say("plan.report", language, count=len(steps))]
    lines += [f"{number}. {_outcome(step)}" for number, step in enumerate(steps, 1)]
    return "\n".join([*lines, *(["", *_changes(turn)] if turn["changes"] else [])])


def _changes(turn: Turn) -> list[str]:
    count = len(turn["changes"])
    return [TEXTS.say("plan.changes", turn["language"], count=count)] if count else []


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
    lines = [TEXTS.say("plan.waits", language, title=step["title"]) for step in asking]
    later = [step for step in steps if step["status"] == "pending" and step not in asking]
    return [*lines, TEXTS.say("plan.later", language, titles=_titles(later, language))] if asking and later else lines


def without_code(refusal: str) -> str:
    """Return a refusal of the drive without the code that it begins with, which is for programs."""
    return _CODE.sub("", refusal)


def revision(why: str, language: Language) -> str:
    """Return the sentence for a plan that goes on in another way."""
    return TEXTS.say("plan.revised", language, why=why).strip()


def _completed(steps: Sequence[Step], language: Language) -> str:
    done = [step for step in steps if step["status"] == "completed"]
    if not done:
        return TEXTS.say("plan.nothing_done", language)
    return TEXTS.say("plan.done", language, titles=_titles(done, language))


def _failure(step: Step, language: Language) -> str:
    return TEXTS.say("plan.failed", language, title=step["title"], error=without_code(step["error"] or ""))


def _rejection(step: Step, language: Language) -> str:
    return TEXTS.say(f"plan.{step.get('refusal', 'rejected')}", language, title=step["title"])


def _titles(steps: Sequence[Step], language: Language) -> str:
    return join_names((f"“{step['title']}”" for step in steps), language)
