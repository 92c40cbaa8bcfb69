"""A person who says what the task says, and answers approvals as it wants them answered."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from benchmarks.evaluation.drive import EvaluatedDrive
from benchmarks.evaluation.task import Task

Event = Mapping[str, Any]


@dataclass(slots=True)
class Spent:
    """What the task took: calls of tools, questions to the person, tokens; and how runs failed, if they did."""

    calls: int = 0
    approvals: int = 0
    tokens: dict[str, int] = field(default_factory=dict[str, int])
    errors: list[str] = field(default_factory=list[str])

    def note(self, event: Event) -> None:
        """Count an event."""
        kind = event["type"]
        self.calls += kind == "tool_call_start"
        self.approvals += kind == "approval_needed"
        if kind == "error":
            self.errors.append(str(event["code"]))
        for key, count in event.get("usage", {}).items() if kind == "done" else ():
            if isinstance(count, int):
                self.tokens[key] = self.tokens.get(key, 0) + count


def converse(drive: EvaluatedDrive, task: Task) -> Spent:
    """Say each request in one thread, and wait for its end."""
    spent, thread_id = Spent(), None
    context = {"file_id": drive.find(task.open)["id"]} if task.open else None
    for request in task.requests:
        body = {"message": request, "thread_id": thread_id, "context": context}
        given = {key: value for key, value in body.items() if value}
        with drive.client.stream("POST", "/api/chat", json=given) as response:
            response.raise_for_status()
            for event in _events(response.iter_lines()):
                spent.note(event)
                thread_id = event["thread_id"] if event["type"] == "run" else thread_id
                if event["type"] == "approval_needed":
                    _answer(drive, task, event)
    return spent


def _answer(drive: EvaluatedDrive, task: Task, asked: Event) -> None:
    decisions = [
        {"tool_call_id": action["tool_call_id"], "type": "approve" if task.lets(action["name"]) else "reject"}
        for action in asked["actions"]
    ]
    drive.client.post(f"/api/approvals/{asked['approval_id']}", json={"decisions": decisions}).raise_for_status()


def _events(lines: Iterator[str]) -> Iterator[Event]:
    for line in lines:
        if line.startswith("data:"):
            yield json.loads(line.removeprefix("data:"))
