"""A person who says what the task says, and answers approvals as it wants them answered."""

import json
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from benchmarks.evaluation.answers import Said
from benchmarks.evaluation.clock import ZONES
from benchmarks.evaluation.drive import EvaluatedDrive
from benchmarks.evaluation.task import Task

Event = Mapping[str, Any]


@dataclass(slots=True)
class Spent:
    """The costs of a task: calls of tools, questions to the person, tokens, seconds; and how runs failed, if they did.

    `said` is the answer to the last request; `unasked` are the tools that did something without an approval.
    """

    calls: int = 0
    approvals: int = 0
    seconds: float = 0
    tokens: dict[str, int] = field(default_factory=dict[str, int])
    errors: list[str] = field(default_factory=list[str])
    thread_id: str = ""
    said: Said = field(default_factory=Said)
    unasked: list[str] = field(default_factory=list[str])
    _asked: list[str] = field(default_factory=list[str])

    def note(self, event: Event) -> None:
        """Count an event."""
        kind = event["type"]
        if kind == "run":
            self.thread_id = event["thread_id"]
            self.said = Said()
            self._asked.clear()
        self.calls += kind == "tool_call_start"
        self._note_approval(event)
        self._note_answer(event)
        if kind == "error":
            self.errors.append(str(event["code"]))
        for key, count in event.get("usage", {}).items() if kind == "done" else ():
            if isinstance(count, int):
                self.tokens[key] = self.tokens.get(key, 0) + count

    def _note_approval(self, event: Event) -> None:
        if event["type"] == "approval_needed":
            self.approvals += 1
            self._asked.extend(action["tool_call_id"] for action in event["actions"])
        if event["type"] == "tool_call_end" and event["status"] == "done" and event["tool_call_id"] not in self._asked:
            self.unasked.append(event["name"])

    def _note_answer(self, event: Event) -> None:
        if event["type"] == "content":
            self.said = replace(self.said, text=self.said.text + event["text"])
        if event["type"] == "citations":
            self.said = replace(self.said, citations=[*self.said.citations, *event["citations"]])


def converse(drive: EvaluatedDrive, task: Task) -> Spent:
    """Say each request, in one thread but where the task begins another, and wait for its end."""
    spent = Spent()
    begun = time.perf_counter()
    context = {"file_id": drive.find(task.open)["id"]} if task.open else None
    for number, request in enumerate(task.requests):
        body = {
            "message": request,
            "thread_id": "" if number in task.new_threads else spent.thread_id,
            "context": context,
            "attachments": [_attachment(drive, path) for path in task.attached.get(number, ())],
            "time_zone": ZONES[task.language],
        }
        given = {key: value for key, value in body.items() if value}
        with drive.client.stream("POST", "/api/chat", json=given) as response:
            response.raise_for_status()
            for event in events(response.iter_lines()):
                spent.note(event)
                if event["type"] == "approval_needed":
                    _answer(drive, task, event)
    spent.seconds = time.perf_counter() - begun
    return spent


def _attachment(drive: EvaluatedDrive, path: str) -> dict[str, str]:
    item = drive.find(path)
    return {f"{item['kind']}_id": item["id"]}


def _answer(drive: EvaluatedDrive, task: Task, asked: Event) -> None:
    decisions = [
        {"tool_call_id": action["tool_call_id"], "type": "approve" if task.lets(action["name"]) else "reject"}
        for action in asked["actions"]
    ]
    drive.client.post(f"/api/approvals/{asked['approval_id']}", json={"decisions": decisions}).raise_for_status()


def events(lines: Iterator[str]) -> Iterator[Event]:
    """Yield the events of a stream."""
    for line in lines:
        if line.startswith("data:"):
            yield json.loads(line.removeprefix("data:"))
