"""What came of calls, in words."""

from collections.abc import Mapping, Sequence
from typing import Any

from graph.offline.reading.results import Result
from graph.offline.replay import Request
from graph.offline.speech.wording import quoted
from graph.offline.task import Task


def what_of(task: Task, one: Request, name: str) -> str:
    """Return what a call was to do, such as `share “plan.md” with bob@example.com`."""
    values: Mapping[str, Any] = {"email": "", "version": "", **one.args}
    return task.say(f"do_{one.name}", **{key: values[key] for key in ("email", "version")}, name=quoted(name))


def failed(task: Task, result: Result, what: str) -> str:
    """Return the sentence that says what did not happen and why."""
    if result.failure == "error":
        return task.say("failed", what=what, message=result.message or result.text)
    return task.say(result.failure or "unknown", what=what, message=_their_words(result))


def _their_words(result: Result) -> str:
    for mark in ("instead:", "回复："):
        if mark in result.message:
            return result.message.split(mark, 1)[1].strip()
    return result.message


def failures(task: Task, wanted: Sequence[Request], names: Sequence[str], results: Sequence[Result]) -> list[str]:
    """Return a sentence for what did not happen; calls that failed alike are told of once."""
    alike: dict[tuple[str, str], list[int]] = {}
    for index, result in enumerate(results):
        if not result.worked:
            alike.setdefault((result.failure, result.message), []).append(index)
    told: list[str] = []
    for indexes in alike.values():
        first = indexes[0]
        what = what_of(task, wanted[first], names[first])
        if len(indexes) > 1:
            what = task.say("do_many", first=what, count=len(indexes) - 1)
        told.append(failed(task, results[first], what))
    return told
