"""A model that carries whole turns, behind any provider's rules: it answers by what a request wants.

It checks the structure that every provider demands of every request, and counts what its provider refused.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, Final, Literal

from tests.fakes.openai_server import Failure, Reply, Stream

Request = dict[str, Any]
Rules = Callable[[Request], Reply]

ORDER: Final = re.compile(r"\b(find|rename|create|delete)\b")
CALLS: Final[dict[str, tuple[str, dict[str, Any]]]] = {
    "find": ("read_file", {"file_id": "a"}),
    "rename": ("rename_item", {"item_id": "a", "name": "c"}),
    "create": ("create_folder", {"name": "New"}),
    "delete": ("trash_item", {"item_id": "b"}),
}
"""The calls that a word in a request leads to."""
KINDS: Final = {
    '<answer file="part 1">': "parts",
    "You read one file": "map",
    "You bring together": "whole",
    "<conversation>": "summary",
}
"""Requests for text alone, by words in them that no other has."""


def kind_of(request: Request) -> str:
    """Return what a request wants: a route, a plan, a file's part, the whole of files, a summary, or the turn."""
    named = str(request.get("response_format", "")) + str(request.get("tools", ""))[:400]
    text = str(request["messages"])
    for schema, kind in (("RouteDecision", "route"), ("TaskPlan", "plan"), ("RevisedPlan", "revise")):
        if f"'{schema}'" in named or f'"title": "{schema}"' in text or f"tool {schema}" in text:
            return kind
    if is_json_alone(request):
        return "route" if "needs_plan" in text else "plan"
    return next((kind for words, kind in KINDS.items() if words in text), "turn") if "tools" not in request else "turn"


def is_json_alone(request: Request) -> bool:
    """Say whether the answer is wanted as JSON in the text, without a tool."""
    return "Answer with one JSON object alone" in str(request["messages"][0]["content"])


def problem_in(request: Request) -> str:
    """Return what every provider would refuse in the order of the messages; empty if it is right."""
    messages: list[Request] = request["messages"]
    roles = [message["role"] for message in messages]
    if roles[-1] == "assistant":
        return "the last message is the assistant's"
    if any(role in {"system", "developer"} for role in roles[1:]):
        return "a system message inside"
    waiting = list[str]()
    for message in messages:
        if message["role"] == "tool":
            if message["tool_call_id"] not in waiting:
                return "a result without its call"
            waiting.remove(message["tool_call_id"])
        elif waiting:
            return "a call without its result"
        if message["role"] == "user" and not str(message["content"]).strip():
            return "an empty message of the person"
        waiting += [call["id"] for call in message.get("tool_calls") or ()]
    return "a call without its result" if waiting else ""


@dataclass
class Conductor:
    """`rules` are a provider's: its refusals go out. `plan` is the plan; `refuse_first` refuses a kind's first request.

    `said` is what a file says, at the end. `problems` are faults in requests that any provider would refuse, `kinds`
    counts what was answered.
    """

    rules: Rules = lambda _: Stream([])
    plan: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    refuse_first: dict[str, Failure] = field(default_factory=dict[str, Failure])
    problems: list[str] = field(default_factory=list[str])
    refused: list[str] = field(default_factory=list[str])
    kinds: Counter[str] = field(default_factory=Counter[str])
    asked: list[tuple[str, Request]] = field(default_factory=list[tuple[str, Request]])
    finish: str = "stop"
    said: str = ""
    thinks: bool = False
    usage: Literal["own chunk", "last chunk", "none"] = "own chunk"

    def __call__(self, request: Request) -> Reply:
        """Answer a request."""
        reply = self._reply(request)
        return replace(reply, usage=self.usage) if isinstance(reply, Stream) else reply

    def _reply(self, request: Request) -> Reply:
        kind = kind_of(request)
        self.asked.append((kind, request))
        if problem := problem_in(request):
            self.problems.append(f"{kind}: {problem}")
        reply = self.rules(request)
        if isinstance(reply, Failure):
            self.refused.append(reply.message)
            return reply
        if kind in self.refuse_first:
            return self.refuse_first.pop(kind)
        self.kinds[kind] += 1
        return self._answer(kind, request)

    def _answer(self, kind: str, request: Request) -> Reply:
        if kind in {"route", "plan", "revise"}:
            return _shaped(request, self._shape(kind))
        if kind != "turn":
            return Stream([{"content": f"The {kind}: it says 30 days. {self.said}"}])
        wanted = _wanted(request["messages"])
        return _call(*wanted, thinks=self.thinks) if wanted else self._done()

    def _done(self) -> Stream:
        return Stream([{"content": "Done."}], finish=self.finish)

    def _shape(self, kind: str) -> dict[str, Any]:
        if kind == "route":
            return {"agent": "drive_agent", "needs_plan": bool(self.plan), "confidence": 0.9, "reason": "So it is."}
        return {"steps": self.plan, "bounds": None} if kind == "plan" else {"steps": [], "why": "No way."}


def _wanted(messages: list[Request]) -> tuple[str, dict[str, Any]] | None:
    """Return the call that the newest request or step asks for, unless it was made since."""
    system = str(messages[0]["content"])
    place = max(number for number, message in enumerate(messages) if message["role"] == "user")
    step = re.search(r"<step>.*?</step>", system, re.DOTALL)
    order = ORDER.search(step[0] if step else str(messages[place]["content"]))
    if order is None:
        return None
    made = [call["function"]["name"] for message in messages[place:] for call in message.get("tool_calls") or ()]
    call = CALLS[order[1]]
    return None if call[0] in made else call


def _call(name: str, args: dict[str, Any], *, thinks: bool) -> Stream:
    made = {"index": 0, "id": f"call_0123456789_{name}", "function": {"name": name, "arguments": json.dumps(args)}}
    thought = [{"reasoning_content": "Let me see."}] if thinks else []
    return Stream([*thought, {"tool_calls": [made]}], finish="tool_calls")


def _shaped(request: Request, shape: dict[str, Any]) -> Stream:
    """Return a shape as the request allows: a call that is demanded, else JSON in the text."""
    is_demanded = request.get("tool_choice") not in {None, "auto", "none"}
    name = request["tools"][0]["function"]["name"] if is_demanded else ""
    return _call(name, shape, thinks=False) if name else Stream([{"content": json.dumps(shape)}])
